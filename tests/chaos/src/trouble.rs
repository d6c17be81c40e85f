//! Disturbances of the server or of the nodes, one after the other. Each lasts for a random time and
//! is then healed.

use crate::chance::{Bag, within};
use crate::history::History;
use crate::host::Host;
use crate::node_trouble::{NodeTrouble, NodeTroubles};
use crate::server::{Server, open_files};
use agon_bots::SplitMix64;
use anyhow::{Context, Result};
use rustix::process::Signal;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::watch;

/// How long things last, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Between two disturbances of the server.
    pub(crate) calm_ms: (u64, u64),
    /// Until a killed server is restarted.
    pub(crate) down_ms: (u64, u64),
    /// How long the server stands still.
    pub(crate) pause_ms: (u64, u64),
    /// How long it stands still when that exceeds every answer deadline.
    pub(crate) long_pause_ms: (u64, u64),
    /// How long it can open no more files.
    pub(crate) files_ms: (u64, u64),
    /// Between two disturbances of players, and how long each lasts.
    pub(crate) rest_ms: (u64, u64),
    pub(crate) harm_ms: (u64, u64),
}

/// A disturbance: of one server, or of nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trouble {
    Server(ServerTrouble),
    Nodes(NodeTrouble),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ServerTrouble {
    Kill,
    KillForLonger,
    KillTwice,
    Stop,
    Pause,
    LongPause,
    FullDisk,
    NoFiles,
    ClockAhead,
    ClockBack,
}

impl ServerTrouble {
    const ALL: [ServerTrouble; 10] = [
        ServerTrouble::Kill,
        ServerTrouble::KillForLonger,
        ServerTrouble::KillTwice,
        ServerTrouble::Stop,
        ServerTrouble::Pause,
        ServerTrouble::LongPause,
        ServerTrouble::FullDisk,
        ServerTrouble::NoFiles,
        ServerTrouble::ClockAhead,
        ServerTrouble::ClockBack,
    ];

    fn name(self) -> &'static str {
        match self {
            ServerTrouble::Kill => "server killed",
            ServerTrouble::KillForLonger => "server killed, down for a while",
            ServerTrouble::KillTwice => "server killed, and again while it starts",
            ServerTrouble::Stop => "server asked to stop",
            ServerTrouble::Pause => "server stands still",
            ServerTrouble::LongPause => "server stands still beyond every limit",
            ServerTrouble::FullDisk => "disk full",
            ServerTrouble::NoFiles => "no open files left",
            ServerTrouble::ClockAhead => "clock jumps ahead",
            ServerTrouble::ClockBack => "clock jumps back",
        }
    }
}

impl Trouble {
    fn name(self) -> &'static str {
        match self {
            Trouble::Server(trouble) => trouble.name(),
            Trouble::Nodes(trouble) => trouble.name(),
        }
    }

    /// Returns whether it sets a wall clock.
    fn sets_clock(self) -> bool {
        let server = [ServerTrouble::ClockAhead, ServerTrouble::ClockBack].map(Trouble::Server);
        server.contains(&self) || self == Trouble::Nodes(NodeTrouble::WrongClock)
    }

    /// All disturbances of so many nodes.
    fn all(nodes: usize) -> Vec<Trouble> {
        match nodes {
            0 | 1 => ServerTrouble::ALL.map(Trouble::Server).to_vec(),
            _ => NodeTrouble::ALL.map(Trouble::Nodes).to_vec(),
        }
    }
}

/// The names of all disturbances of so many nodes.
pub(crate) fn names(nodes: usize) -> impl Iterator<Item = &'static str> {
    Trouble::all(nodes).into_iter().map(Trouble::name)
}

/// How long the server may run on a full disk before no byte fits any more, and at all.
const FULL: (Duration, Duration) = (Duration::from_secs(4), Duration::from_secs(30));
/// How far the clock jumps, in seconds.
pub(crate) const JUMP_S: (u64, u64) = (90, 86_400);
/// Connections of strangers at once while open files are limited.
const STRANGERS: usize = 40;

/// Disturbs the server or the nodes.
pub(crate) struct Troubles {
    pub(crate) host: Host,
    pub(crate) nodes: usize,
    pub(crate) history: Arc<History>,
    pub(crate) pace: Pace,
    pub(crate) chance: SplitMix64,
}

impl Troubles {
    /// Makes trouble until the run closes and every disturbance has happened at least once. Returns
    /// the host, running and healed.
    pub(crate) async fn make(mut self, closing: watch::Receiver<bool>) -> Result<Host> {
        let has_clock = self.host.has_clock();
        let mut all = Trouble::all(self.nodes);
        all.retain(|trouble| has_clock || !trouble.sets_clock());
        let (mut bag, mut made) = (Bag::new(&all), 0);
        loop {
            let calm_ms = within(&mut self.chance, self.pace.calm_ms);
            self.calm(calm_ms, closing.clone(), made >= all.len()).await?;
            if *closing.borrow() && made >= all.len() {
                break;
            }
            let trouble = bag.draw(&mut self.chance);
            self.history.trouble(trouble.name());
            let (history, pace, chance) = (&self.history, self.pace, &mut self.chance);
            let done = match (trouble, &mut self.host) {
                (Trouble::Server(trouble), Host::Server(server)) => {
                    ServerTroubles { server, history, pace, chance }.perform(trouble).await
                }
                (Trouble::Nodes(trouble), Host::Nodes(nodes)) => {
                    let database_up = None;
                    NodeTroubles { nodes, history, pace, chance, database_up }
                        .perform(trouble)
                        .await
                }
                _ => unreachable!("the disturbances are those of the host"),
            };
            done.with_context(|| trouble.name())?;
            made += 1;
        }
        self.host.heal_clocks()?;
        Ok(self.host)
    }

    /// Waits between disturbances. Restarts and records a process that ended by itself.
    async fn calm(
        &mut self,
        calm_ms: u64,
        closing: watch::Receiver<bool>,
        may_leave: bool,
    ) -> Result<()> {
        let until = Instant::now() + Duration::from_millis(calm_ms);
        while Instant::now() < until && !(may_leave && *closing.borrow()) {
            self.host.look(&self.history).await?;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }
}

/// Disturbs one server.
struct ServerTroubles<'a> {
    server: &'a mut Server,
    history: &'a History,
    pace: Pace,
    chance: &'a mut SplitMix64,
}

impl ServerTroubles<'_> {
    async fn perform(&mut self, trouble: ServerTrouble) -> Result<()> {
        let (server, history) = (&mut *self.server, self.history);
        let mut drawn = |range| Duration::from_millis(within(self.chance, range));
        match trouble {
            ServerTrouble::Kill => server.kill(history).await?,
            ServerTrouble::KillForLonger => {
                server.kill(history).await?;
                tokio::time::sleep(drawn(self.pace.down_ms)).await;
            }
            ServerTrouble::KillTwice => {
                server.kill(history).await?;
                server.start_in_vain(drawn((1, 150))).await?;
            }
            ServerTrouble::Stop => {
                let status = server.stop(history).await?;
                if status.code() != Some(0) {
                    history.complain(format!("asked to stop, the server ended with {status}"));
                }
            }
            ServerTrouble::Pause => return self.pause(self.pace.pause_ms).await,
            ServerTrouble::LongPause => return self.pause(self.pace.long_pause_ms).await,
            ServerTrouble::FullDisk => return self.fill_disk().await,
            ServerTrouble::NoFiles => return self.take_files().await,
            ServerTrouble::ClockAhead => {
                return server.set_clock(within(self.chance, JUMP_S) as i64);
            }
            ServerTrouble::ClockBack => {
                return server.set_clock(-(within(self.chance, JUMP_S) as i64));
            }
        }
        self.server.start_again(self.history).await
    }

    async fn pause(&mut self, range: (u64, u64)) -> Result<()> {
        let from = self.history.now();
        self.server.signal(Signal::STOP);
        tokio::time::sleep(Duration::from_millis(within(self.chance, range))).await;
        self.server.signal(Signal::CONT);
        self.history.outage(from);
        Ok(())
    }

    /// Lets no file grow: the server must end, and report why.
    async fn fill_disk(&mut self) -> Result<()> {
        self.server.limit_files(Some(self.server.wal_bytes().max(4096)))?;
        let full = Instant::now();
        let status = loop {
            if let Some(status) = self.server.has_ended()? {
                break status;
            }
            if full.elapsed() > FULL.1 {
                self.history.complain("the disk is full, and the server goes on".into());
                return self.server.limit_files(None);
            }
            if full.elapsed() > FULL.0 {
                self.server.limit_files(Some(0))?;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        self.server.goes_down(self.history);
        if status.code() != Some(1) {
            self.history.complain(format!("on a full disk the server ended with {status}"));
        }
        let full_ms = within(self.chance, self.pace.down_ms);
        tokio::time::sleep(Duration::from_millis(full_ms)).await;
        self.server.start_again(self.history).await
    }

    /// Limits the open files to the current number, while strangers connect.
    async fn take_files(&mut self) -> Result<()> {
        // The clock library reads a file, and falls back to the real time if it cannot open it.
        self.server.set_clock(0)?;
        let from = self.history.now();
        let until = Instant::now() + Duration::from_millis(within(self.chance, self.pace.files_ms));
        let has = self.server.alive.pid().and_then(open_files).context("how many files it has")?;
        self.server.limit_open(Some(has + 2))?;
        let address = *self.server.places().tcp.borrow();
        let mut strangers = Vec::new();
        while Instant::now() < until {
            for _ in 0..STRANGERS {
                let coming = TcpStream::connect(address);
                let came = tokio::time::timeout(Duration::from_millis(100), coming).await;
                strangers.extend(came.ok().and_then(Result::ok));
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
            let spare = strangers.len().saturating_sub(3 * STRANGERS);
            strangers.drain(..spare);
        }
        self.server.limit_open(None)?;
        drop(strangers);
        // Players could not reconnect, so this time counts as an outage.
        self.history.outage(from);
        Ok(())
    }
}
