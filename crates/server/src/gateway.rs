//! The native wire over TCP: one task a connection, lines in and out.

use crate::engine::{Handle, Input};
use agon_wire::lines::Lines;
use agon_wire::native;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};

/// Bounds on connections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Connections at once.
    pub connections_max: usize,
    /// Connections at once from one address.
    pub connections_per_address_max: usize,
    /// Lines that may wait for a reader.
    pub outbox_lines_max: usize,
    /// The longest line a player may send.
    pub line_bytes_max: usize,
    /// Lines of one connection that may wait for the engine; more stay in the socket.
    pub inbox_lines_max: usize,
    /// How long a connection may be silent in the middle of a write.
    pub write_ms_max: u64,
    /// How long a connection may take to log in.
    pub login_ms_max: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections_max: 20_000,
            connections_per_address_max: 2_000,
            outbox_lines_max: 64,
            line_bytes_max: native::LINE_BYTES_MAX,
            inbox_lines_max: 32,
            write_ms_max: 10_000,
            login_ms_max: 10_000,
        }
    }
}

/// Numbers for connections, over all gateways.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Accepts connections until the task is dropped.
pub async fn serve_tcp(listener: TcpListener, engine: Handle, limits: Limits) {
    let places = Arc::new(Semaphore::new(limits.connections_max));
    let guests = Arc::new(Guests::default());
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        // A failed accept (too many open files) passes; give others time to close.
        let Ok((socket, peer)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Some(guest) = guests.enter(peer.ip(), limits.connections_per_address_max) else {
            turn_away(&socket);
            continue;
        };
        let (engine, limits) = (engine.clone(), limits.clone());
        tokio::spawn(async move {
            visit(socket, peer.ip(), &engine, &limits).await;
            drop((place, guest));
        });
    }
}

/// One connection from its first byte to its last.
async fn visit(socket: TcpStream, peer: IpAddr, engine: &Handle, limits: &Limits) {
    let _ = socket.set_nodelay(true);
    let conn = NEXT.fetch_add(1, Ordering::Relaxed);
    let (out, outbox) = mpsc::channel(limits.outbox_lines_max);
    engine.send(Input::Opened { conn, out, from: peer });
    let (mut from, to) = socket.into_split();
    let patience = Duration::from_millis(limits.write_ms_max);
    let writer = write_all(to, outbox, patience);
    let reader = async {
        let mut lines = Lines::new(limits.line_bytes_max);
        let mut piece = vec![0; 4096];
        let room = Arc::new(Semaphore::new(limits.inbox_lines_max.max(1)));
        while let Ok(count @ 1..) = from.read(&mut piece).await {
            lines.push(&piece[..count]);
            while let Some(line) = lines.take() {
                let line = read_line(conn, line.map_err(|long| long.to_string()));
                let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
                engine.send(line);
                // The engine takes inputs in order: this one is run when the line was taken.
                engine.send(Input::Call(Box::new(move |_| drop(place))));
            }
        }
    };
    let login = async {
        loop {
            tokio::time::sleep(Duration::from_millis(limits.login_ms_max.max(1))).await;
            engine.send(Input::LoginDue { conn });
        }
    };
    // Whichever ends first ends the visit: a reader at its end, or an outbox that was dropped.
    tokio::select! {
        () = reader => {}
        () = writer => {}
        () = login => {}
    }
    engine.send(Input::Closed { conn });
}

/// How many connections there are from each address.
#[derive(Default)]
struct Guests(Mutex<HashMap<IpAddr, usize>>);

/// A connection that is counted as long as this lives.
struct Guest {
    guests: Arc<Guests>,
    from: IpAddr,
}

impl Guests {
    fn enter(self: &Arc<Guests>, from: IpAddr, max: usize) -> Option<Guest> {
        let mut counts = self.0.lock().unwrap_or_else(|broken| broken.into_inner());
        let count = counts.entry(from).or_default();
        if *count >= max {
            return None;
        }
        *count += 1;
        Some(Guest { guests: Arc::clone(self), from })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut counts = self.guests.0.lock().unwrap_or_else(|broken| broken.into_inner());
        if let Some(count) = counts.get_mut(&self.from) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.from);
            }
        }
    }
}

/// Says why, as far as that fits into an empty socket, and closes.
fn turn_away(socket: &TcpStream) {
    let detail = "too many connections from this address; close one".to_owned();
    let (code, id, accepted) = ("too-many-connections", None, None);
    let line = native::encode(&native::ToPlayer::Error { code, id, detail, accepted });
    let _ = socket.try_write(&line);
}

async fn write_all(
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut outbox: mpsc::Receiver<Vec<u8>>,
    patience: Duration,
) {
    let mut batch = Vec::new();
    while let Some(line) = outbox.recv().await {
        batch.clear();
        batch.extend_from_slice(&line);
        while let Ok(line) = outbox.try_recv() {
            batch.extend_from_slice(&line);
        }
        match tokio::time::timeout(patience, to.write_all(&batch)).await {
            Ok(Ok(())) => {}
            _ => return,
        }
    }
    let _ = to.shutdown().await;
}

fn read_line(conn: u64, line: Result<&[u8], String>) -> Input {
    let line = match line {
        Ok(line) => line,
        Err(why) => return Input::Bad { conn, why, line: String::new() },
    };
    match native::decode(line) {
        Ok(message) => Input::Said { conn, message },
        Err(bad) => {
            let line = String::from_utf8_lossy(&line[..line.len().min(500)]).into_owned();
            Input::Bad { conn, why: bad.to_string(), line }
        }
    }
}
