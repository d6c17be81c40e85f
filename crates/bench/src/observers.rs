//! Observers: connections that watch matches over server-sent events, on a thread of their own.

use anyhow::{Result, bail};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long all observers may take to connect.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a refused observer waits before it retries.
const AGAIN: Duration = Duration::from_millis(20);

/// All observers. Dropping it disconnects them.
pub(super) struct Observers {
    seen: Arc<Seen>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Seen {
    here: AtomicU64,
    events: AtomicU64,
    over: AtomicBool,
}

impl Observers {
    /// Connects this many observers to each of these matches, and waits until all are connected.
    pub(super) async fn send(
        http: SocketAddr,
        matches: &[(String, String)],
        each: usize,
    ) -> Result<Observers> {
        let seen = Arc::new(Seen::default());
        let wanted = matches.iter().cycle().take(matches.len() * each).cloned().collect::<Vec<_>>();
        let count = wanted.len() as u64;
        let shared = Arc::clone(&seen);
        let thread = std::thread::spawn(move || watch_all(http, wanted, &shared));
        let observers = Observers { seen, thread: Some(thread) };
        let deadline = Instant::now() + PATIENCE;
        while observers.seen.here.load(Ordering::Relaxed) < count {
            if Instant::now() > deadline {
                let here = observers.seen.here.load(Ordering::Relaxed);
                bail!("failed: the server lets only {here} of {count} observers watch");
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(observers)
    }

    /// Events that all observers have received so far.
    pub(super) fn events(&self) -> u64 {
        self.seen.events.load(Ordering::Relaxed)
    }
}

impl Drop for Observers {
    fn drop(&mut self) {
        self.seen.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn watch_all(http: SocketAddr, wanted: Vec<(String, String)>, seen: &Arc<Seen>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    // Without a runtime no observer connects, and the waiting caller reports that.
    let Ok(runtime) = runtime else { return };
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async move {
        for (tournament, id) in wanted {
            let seen = Arc::clone(seen);
            tokio::task::spawn_local(async move {
                // Retries while the server is busy, until the waiting caller gives up.
                while watch(http, &tournament, &id, &seen).await.is_err() {
                    tokio::time::sleep(AGAIN).await;
                }
            });
            tokio::task::yield_now().await;
        }
        while !seen.over.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
}

async fn watch(http: SocketAddr, tournament: &str, id: &str, seen: &Seen) -> Result<()> {
    let mut stream = TcpStream::connect(http).await?;
    let request = format!(
        "GET /api/v1/tournaments/{tournament}/matches/{id}/events HTTP/1.1\r\nhost: {http}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut piece = vec![0; 16 * 1024];
    let count = stream.read(&mut piece).await?;
    if !piece[..count].starts_with(b"HTTP/1.1 200") {
        bail!("refused");
    }
    seen.here.fetch_add(1, Ordering::Relaxed);
    loop {
        let count = stream.read(&mut piece).await?;
        if count == 0 {
            return Ok(());
        }
        let events = piece[..count].windows(7).filter(|seven| seven == b"\nevent:").count();
        let first = usize::from(piece[..count].starts_with(b"event:"));
        seen.events.fetch_add((events + first) as u64, Ordering::Relaxed);
    }
}
