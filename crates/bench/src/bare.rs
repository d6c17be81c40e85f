//! The baseline: a bare ping-pong over TCP with messages of the same size.
//!
//! Both ends are separate processes, as the server is. The echo uses the same runtime as a server;
//! the pinging process uses the same loop as the players. A second pinging process has as many
//! messages in flight as the game has: in a game that asks one seat at a time, half of the players
//! wait. With a single match, the echo can also sync a file for every message.

use super::child::Child;
use super::load::{Load, Responder, drive};
use super::report::Latency;
use super::wire::{Inbox, Wire};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::fs::File;
use std::io::{BufRead, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How long connections may settle before anything is counted.
pub(super) const SETTLE: Duration = Duration::from_millis(200);

/// One slice of ping-pong.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Slice {
    pub(super) seconds: f64,
    /// The size of a message to the echo, and of its reply, in bytes.
    pub(super) up: usize,
    pub(super) down: usize,
    /// Messages in flight at once on every connection.
    pub(super) depth: usize,
    /// True if the echo syncs a file before it answers a message.
    pub(super) sync: bool,
}

/// The result of a slice of ping-pong.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Trips {
    pub(super) per_second: f64,
    /// Processor time of the echo per round trip.
    pub(super) cpu_us: f64,
    pub(super) latency: Latency,
}

/// The counts of the pinging process.
#[derive(Serialize, Deserialize)]
struct Counted {
    count: u64,
    seconds: f64,
    latency: Latency,
}

/// The processes of the ping-pong.
pub(super) struct Bare {
    pub(super) echo: Child,
    ping: Child,
    /// The process with as many messages in flight as the game, where that differs.
    in_flight: Option<Child>,
}

impl Bare {
    /// Starts all processes, which connect immediately. `synced` is the file that the echo may
    /// sync.
    pub(super) async fn start(
        ip: IpAddr,
        connections: usize,
        in_flight: Option<usize>,
        synced: &Path,
    ) -> Result<Bare> {
        let (any, synced) = (SocketAddr::from((ip, 0)).to_string(), synced.to_string_lossy());
        let mut echo = Child::start(&["bench-part", "echo", &any, "--file", &synced])?;
        let place = echo.line().await?;
        let ping = |connections: usize| {
            Child::start(&["bench-part", "ping", place.trim(), &connections.to_string()])
        };
        let (ping, in_flight) = (ping(connections)?, in_flight.map(ping).transpose()?);
        Ok(Bare { echo, ping, in_flight })
    }

    /// Waits until all connections are made.
    pub(super) async fn ready(&mut self) -> Result<()> {
        self.ping.line().await?;
        if let Some(in_flight) = &mut self.in_flight {
            in_flight.line().await?;
        }
        Ok(())
    }

    /// Plays a slice with a message in flight on every connection.
    pub(super) async fn play(&mut self, slice: Slice) -> Result<Trips> {
        play(&self.echo, &mut self.ping, slice).await
    }

    /// Plays a slice with as many messages in flight as the game has, where that differs.
    pub(super) async fn play_in_flight(&mut self, slice: Slice) -> Result<Option<Trips>> {
        match &mut self.in_flight {
            Some(ping) => play(&self.echo, ping, slice).await.map(Some),
            None => Ok(None),
        }
    }
}

async fn play(echo: &Child, ping: &mut Child, slice: Slice) -> Result<Trips> {
    ping.tell(&serde_json::to_string(&slice)?)?;
    ping.line().await?;
    let cpu = echo.cpu()?;
    let counted = ping.line().await?;
    let cpu = echo.cpu()?.since(&cpu);
    let Counted { count, seconds, latency } =
        serde_json::from_str(&counted).context("failed: the ping-pong counts in JSON")?;
    let cpu_us = cpu.as_secs_f64() * 1e6 / (count.max(1) as f64);
    // It sends nothing until the next slice.
    ping.line().await?;
    Ok(Trips { per_second: count as f64 / seconds, cpu_us, latency })
}

/// Answers every line with as many bytes as its first number says, until stdin ends. For a message
/// with the sync mark, the echo syncs `file` first.
pub async fn echo(listener: TcpListener, connections: usize, file: Option<&Path>) -> Result<()> {
    super::limits::raise(connections + 100)?;
    let file = file.map(File::create).transpose().context("failed to make a file")?;
    let file = file.map(Arc::new);
    say(&listener.local_addr()?.to_string())?;
    let over = tokio::task::spawn_blocking(|| {
        for line in std::io::stdin().lock().lines() {
            drop(line);
        }
    });
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer_all(stream, file.clone()));
        }
    });
    over.await?;
    std::process::exit(0)
}

async fn answer_all(mut stream: TcpStream, file: Option<Arc<File>>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut piece, mut out) = (vec![0; 4096], Vec::new());
    let mut due = 0;
    loop {
        let count = stream.read(&mut piece).await?;
        if count == 0 {
            return Ok(());
        }
        out.clear();
        for line in piece[..count].split_inclusive(|byte| *byte == b'\n') {
            // A line that arrives in two pieces has its number in the first.
            due = number(line).unwrap_or(due);
            if let Some(file) = file.as_deref().filter(|_| line.contains(&SYNC)) {
                // Overwrites the same bytes, as a log that is written in place does: the file does
                // not grow.
                file.write_all_at(line, 0)?;
                file.sync_data()?;
            }
            if line.ends_with(b"\n") {
                out.resize(out.len() + due.saturating_sub(1), b'x');
                out.push(b'\n');
            }
        }
        stream.write_all(&out).await?;
    }
}

/// The number a line begins with.
fn number(line: &[u8]) -> Option<usize> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&line[..digits]).ok()?.parse().ok()
}

/// Marks a message that the echo answers after a sync.
const SYNC: u8 = b'!';

/// Sends the next message whenever an answer arrives.
struct Pinger {
    message: Rc<RefCell<Vec<u8>>>,
    load: Rc<Load>,
    asked_at: Option<Instant>,
}

impl Responder for Pinger {
    fn take(&mut self, _: &[u8], at: Instant, out: &mut Vec<u8>) -> Result<u64> {
        if let Some(asked_at) = self.asked_at.take() {
            self.load.latency.borrow_mut().note(at.saturating_duration_since(asked_at));
        }
        out.extend_from_slice(&self.message.borrow());
        Ok(1)
    }

    fn wrote(&mut self, at: Instant) {
        self.asked_at = Some(at);
    }
}

/// Plays a slice for every line of stdin, and ends the process when stdin ends.
pub fn ping(address: SocketAddr, connections: usize) -> Result<()> {
    super::limits::raise(connections + 100)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, play_slices(address, connections))
}

async fn play_slices(address: SocketAddr, connections: usize) -> Result<()> {
    let load = Rc::new(Load::default());
    let message: Rc<RefCell<Vec<u8>>> = Rc::default();
    let mut starts = Vec::new();
    for _ in 0..connections {
        let mut stream = TcpStream::connect(address).await.context("failed to connect")?;
        stream.set_nodelay(true)?;
        let (start, started) = tokio::sync::oneshot::channel::<usize>();
        starts.push(start);
        let (load, message) = (Rc::clone(&load), Rc::clone(&message));
        tokio::task::spawn_local(async move {
            let Ok(depth) = started.await else { return };
            let mut pinger = Pinger { message, load: Rc::clone(&load), asked_at: None };
            let mut first = Vec::new();
            for _ in 0..depth {
                let _ = pinger.take(b"", Instant::now(), &mut first);
            }
            if stream.write_all(&first).await.is_ok() {
                // This task ends with the process.
                let _ =
                    drive(&mut stream, &mut Inbox::new(), Wire::Lines, &load, &mut pinger).await;
            }
        });
    }
    say("ready")?;
    loop {
        let asked = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            std::io::stdin().lock().read_line(&mut line).map(|_| line)
        });
        let asked = asked.await??;
        if asked.is_empty() {
            std::process::exit(0);
        }
        let slice: Slice = serde_json::from_str(&asked)?;
        *message.borrow_mut() = ask(slice);
        load.start(None);
        for start in starts.drain(..) {
            let _ = start.send(slice.depth);
        }
        tokio::time::sleep(SETTLE).await;
        say("counting")?;
        load.latency.borrow_mut().clear();
        let (before, began) = (load.answers.get(), Instant::now());
        tokio::time::sleep(Duration::from_secs_f64(slice.seconds)).await;
        let (count, seconds) = (load.answers.get() - before, began.elapsed().as_secs_f64());
        let latency = Latency::of(&load.latency.borrow());
        say(&serde_json::to_string(&Counted { count, seconds, latency })?)?;
        load.drain().await;
        say("quiet")?;
    }
}

/// A message of the right length that states the length of its reply.
fn ask(slice: Slice) -> Vec<u8> {
    let mut message = format!("{} ", slice.down.max(1)).into_bytes();
    if slice.sync {
        message.push(SYNC);
    }
    message.resize(slice.up.max(message.len() + 1) - 1, b'x');
    message.push(b'\n');
    message
}

fn say(line: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}")?;
    Ok(stdout.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_has_its_length_and_states_that_of_its_answer() {
        let message = ask(Slice { seconds: 1.0, up: 60, down: 2_200, depth: 1, sync: false });
        assert_eq!(message.len(), 60);
        assert!(message.ends_with(b"\n"));
        assert_eq!(number(&message), Some(2_200));
        assert_eq!(number(b"x"), None);
    }
}
