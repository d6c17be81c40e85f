//! Many spectators of one match: their cost for the server, and their effect on the players.
//!
//! Beside the spectators that read, some never do: a slow spectator must not slow a game.

use super::observers::Observers;
use super::report::{Latency, Watched};
use super::{Run, lane_name};
use anyhow::{Context, Result};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// The time between two answers of each player. Two players give ten events a second, which is how
/// often spectators get an update.
const APART: Duration = Duration::from_millis(200);

/// How many spectators never read.
const ASLEEP: usize = 10;

impl Run<'_> {
    /// Measures ten events a second, without spectators and with all of them.
    pub(super) async fn watched(&self, count: usize) -> Result<Watched> {
        let length = Duration::from_secs_f64(self.args.seconds / 2.0);
        self.progress.say("ten events a second, unwatched");
        let alone = self.play(length, Some(APART)).await?;
        self.progress.say("letting watchers in");
        let (tournament, id) = (lane_name(1), "r1m1".to_owned());
        let asleep = sleepers(self.server.http, &tournament, &id).await?;
        let wanted = [(tournament, id)];
        let watchers = Observers::send(self.server.http, &wanted, count).await?;
        self.progress.say("ten events a second, watched");
        let (before, began) = (watchers.events(), Instant::now());
        let played = self.play(length, Some(APART)).await?;
        let events = (watchers.events() - before) as f64 / began.elapsed().as_secs_f64();
        drop(asleep);
        let cores = |cpu_us: f64, per_second: f64| cpu_us * per_second / 1e6;
        Ok(Watched {
            watchers: count,
            asleep: ASLEEP,
            events_per_second: events / count as f64,
            cores: cores(played.cpu_us, played.per_second),
            cores_unwatched: cores(alone.cpu_us, alone.per_second),
            latency: Latency::of(&played.latency),
            latency_unwatched: Latency::of(&alone.latency),
        })
    }
}

/// Opens connections that request the events of a match and never read them.
async fn sleepers(http: SocketAddr, tournament: &str, id: &str) -> Result<Vec<TcpStream>> {
    let mut all = Vec::with_capacity(ASLEEP);
    for _ in 0..ASLEEP {
        let mut stream = TcpStream::connect(http).await.context("failed to connect")?;
        let path = format!("/api/v1/tournaments/{tournament}/matches/{id}/events");
        let request = format!("GET {path} HTTP/1.1\r\nhost: {http}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.context("failed to ask for events")?;
        all.push(stream);
    }
    Ok(all)
}
