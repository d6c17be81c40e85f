//! Disturbances of nodes, of their database and of their bus.

use crate::chance::within;
use crate::history::{History, Ms};
use crate::link::{Cut, Flow, Link, NewConnections};
use crate::nodes::Nodes;
use crate::trouble::{JUMP_S, Pace};
use agon_bots::SplitMix64;
use anyhow::Result;
use rustix::process::Signal;
use std::time::Duration;

/// How long a node stands still or is cut off, so that another one takes over.
const BEYOND_LEASE_MS: (u64, u64) = (3_000, 10_000);

/// How long the bus is away when it is away for long.
const LONG_BUS_MS: (u64, u64) = (10_000, 10_000);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NodeTrouble {
    KillPlaying,
    KillStandby,
    HangStandby,
    KillAll,
    StopPlaying,
    PausePlaying,
    HangPlaying,
    CutPlaying,
    CutOneWay,
    CutStandby,
    CutFromBus,
    CutPlayingFromBus,
    CutBusOneWay,
    RestartDatabase,
    DatabaseAway,
    RestartBus,
    BusAway,
    BusAwayLong,
    RollingRestart,
    Promote,
    Move,
    WrongClock,
}

/// The target of a disturbance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hit {
    /// The node with the lobby.
    Playing,
    /// A node that stands by.
    Standby,
    /// Several nodes, or what they share.
    Shared,
}

impl NodeTrouble {
    pub(crate) const ALL: [NodeTrouble; 22] = [
        NodeTrouble::KillPlaying,
        NodeTrouble::KillStandby,
        NodeTrouble::HangStandby,
        NodeTrouble::KillAll,
        NodeTrouble::StopPlaying,
        NodeTrouble::PausePlaying,
        NodeTrouble::HangPlaying,
        NodeTrouble::CutPlaying,
        NodeTrouble::CutOneWay,
        NodeTrouble::CutStandby,
        NodeTrouble::CutFromBus,
        NodeTrouble::CutPlayingFromBus,
        NodeTrouble::CutBusOneWay,
        NodeTrouble::RestartDatabase,
        NodeTrouble::DatabaseAway,
        NodeTrouble::RestartBus,
        NodeTrouble::BusAway,
        NodeTrouble::BusAwayLong,
        NodeTrouble::RollingRestart,
        NodeTrouble::Promote,
        NodeTrouble::Move,
        NodeTrouble::WrongClock,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            NodeTrouble::KillPlaying => "node that plays killed",
            NodeTrouble::KillStandby => "node that stands by killed",
            NodeTrouble::HangStandby => "node that stands by hangs beyond its lease",
            NodeTrouble::KillAll => "all nodes killed",
            NodeTrouble::StopPlaying => "node that plays asked to stop",
            NodeTrouble::PausePlaying => "node that plays stands still",
            NodeTrouble::HangPlaying => "node that plays hangs beyond its lease",
            NodeTrouble::CutPlaying => "node that plays cut off from the database",
            NodeTrouble::CutOneWay => "node that plays cut off in one direction",
            NodeTrouble::CutStandby => "node that stands by cut off from the database",
            NodeTrouble::CutFromBus => "node that stands by cut off from the bus",
            NodeTrouble::CutPlayingFromBus => "node that plays cut off from the bus",
            NodeTrouble::CutBusOneWay => "node that plays hears nothing from the bus",
            NodeTrouble::RestartDatabase => "database restarted",
            NodeTrouble::DatabaseAway => "database away for a while",
            NodeTrouble::RestartBus => "bus restarted",
            NodeTrouble::BusAway => "bus away for a while",
            NodeTrouble::BusAwayLong => "bus away for ten seconds",
            NodeTrouble::RollingRestart => "all nodes restarted, one after the other",
            NodeTrouble::Promote => "standby of the database promoted",
            NodeTrouble::Move => "log moved to another node",
            NodeTrouble::WrongClock => "clock of a node jumps",
        }
    }

    pub(crate) fn hits(self) -> Hit {
        match self {
            NodeTrouble::KillPlaying
            | NodeTrouble::StopPlaying
            | NodeTrouble::PausePlaying
            | NodeTrouble::HangPlaying
            | NodeTrouble::CutPlaying
            | NodeTrouble::CutOneWay
            | NodeTrouble::CutPlayingFromBus
            | NodeTrouble::CutBusOneWay
            | NodeTrouble::Move
            | NodeTrouble::WrongClock => Hit::Playing,
            NodeTrouble::KillStandby
            | NodeTrouble::HangStandby
            | NodeTrouble::CutStandby
            | NodeTrouble::CutFromBus => Hit::Standby,
            NodeTrouble::KillAll
            | NodeTrouble::RestartDatabase
            | NodeTrouble::DatabaseAway
            | NodeTrouble::RestartBus
            | NodeTrouble::BusAway
            | NodeTrouble::BusAwayLong
            | NodeTrouble::RollingRestart
            | NodeTrouble::Promote => Hit::Shared,
        }
    }
}

/// Disturbs nodes.
pub(crate) struct NodeTroubles<'a> {
    pub(crate) nodes: &'a mut Nodes,
    pub(crate) history: &'a History,
    pub(crate) pace: Pace,
    pub(crate) chance: &'a mut SplitMix64,
    /// When a database that was away accepted connections again.
    pub(crate) database_up: Option<Ms>,
}

impl NodeTroubles<'_> {
    pub(crate) async fn perform(&mut self, trouble: NodeTrouble) -> Result<()> {
        self.nodes.await_play().await?;
        // A node may lose its place between the two lines; any node is good enough then.
        let playing = self.nodes.playing().unwrap_or(0);
        let other = self.nodes.standby();
        let (lost, cut_ms) = ((Flow::Lost, Flow::Lost), within(self.chance, BEYOND_LEASE_MS));
        match trouble {
            NodeTrouble::KillPlaying => self.kill(&[playing]).await?,
            NodeTrouble::KillStandby => self.kill(&[other]).await?,
            NodeTrouble::HangStandby => self.pause(other, BEYOND_LEASE_MS).await,
            NodeTrouble::CutStandby => cut(&self.nodes.links[other], lost, cut_ms).await,
            NodeTrouble::CutFromBus => cut(&self.nodes.bus_links[other], lost, cut_ms).await,
            NodeTrouble::CutPlayingFromBus => {
                cut(&self.nodes.bus_links[playing], lost, cut_ms).await;
            }
            NodeTrouble::CutBusOneWay => {
                cut(&self.nodes.bus_links[playing], (Flow::Free, Flow::Lost), cut_ms).await;
            }
            NodeTrouble::KillAll => {
                let all: Vec<usize> = (0..self.nodes.all.len()).collect();
                self.kill(&all).await?;
            }
            NodeTrouble::StopPlaying => self.restart(playing).await?,
            NodeTrouble::PausePlaying => self.pause(playing, self.pace.pause_ms).await,
            NodeTrouble::HangPlaying => self.pause(playing, BEYOND_LEASE_MS).await,
            NodeTrouble::CutPlaying => cut(&self.nodes.links[playing], lost, cut_ms).await,
            NodeTrouble::CutOneWay => {
                cut(&self.nodes.links[playing], (Flow::Free, Flow::Lost), cut_ms).await;
            }
            NodeTrouble::RestartDatabase => {
                self.nodes.database.kill();
                self.resume_database();
            }
            NodeTrouble::DatabaseAway => {
                self.nodes.database.kill();
                self.wait(self.pace.down_ms).await;
                self.resume_database();
            }
            NodeTrouble::RestartBus => {
                self.nodes.bus.kill();
                self.nodes.bus.resume();
            }
            NodeTrouble::BusAway => self.bus_away(BEYOND_LEASE_MS).await,
            NodeTrouble::BusAwayLong => self.bus_away(LONG_BUS_MS).await,
            NodeTrouble::RollingRestart => self.restart_all().await?,
            NodeTrouble::Promote => self.nodes.database.promote(),
            NodeTrouble::Move => self.nodes.move_log()?,
            NodeTrouble::WrongClock => {
                let ahead = within(self.chance, JUMP_S) as i64;
                let seconds = if self.chance.below(2) == 0 { ahead } else { -ahead };
                self.nodes.all[playing].set_clock(seconds)?;
            }
        }
        self.nodes.await_play().await
    }

    fn resume_database(&mut self) {
        self.nodes.database.resume();
        self.database_up = Some(self.history.now());
    }

    async fn wait(&mut self, range: (u64, u64)) {
        let ms = within(self.chance, range);
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }

    /// Asks a node to stop, and starts it again.
    async fn restart(&mut self, number: usize) -> Result<()> {
        let status = self.nodes.all[number].stop(self.history).await?;
        if status.code() != Some(0) {
            self.history.complain(format!("asked to stop, a node ended with {status}"));
        }
        self.nodes.all[number].launch()
    }

    /// Restarts all nodes as an upgrade does: those that stand by first, one after the other.
    async fn restart_all(&mut self) -> Result<()> {
        let playing = self.nodes.playing().unwrap_or(0);
        let others = (0..self.nodes.all.len()).filter(|number| *number != playing);
        for number in others.chain([playing]).collect::<Vec<_>>() {
            self.restart(number).await?;
            self.nodes.await_all().await?;
        }
        Ok(())
    }

    async fn bus_away(&mut self, range: (u64, u64)) {
        self.nodes.bus.kill();
        self.wait(range).await;
        self.nodes.bus.resume();
    }

    /// Kills nodes, and starts them again after a while.
    async fn kill(&mut self, numbers: &[usize]) -> Result<()> {
        for number in numbers {
            self.nodes.all[*number].signal(Signal::KILL);
        }
        for number in numbers {
            self.nodes.all[*number].ended().await?;
        }
        self.wait(self.pace.down_ms).await;
        numbers.iter().try_for_each(|number| self.nodes.all[*number].launch())
    }

    async fn pause(&mut self, number: usize, range: (u64, u64)) {
        self.nodes.all[number].signal(Signal::STOP);
        self.wait(range).await;
        self.nodes.all[number].signal(Signal::CONT);
    }
}

/// Cuts a node off for a while: the flows say what becomes of the bytes from it and to it.
async fn cut(link: &Link, (up, down): (Flow, Flow), ms: u64) {
    link.flows(up, down);
    link.new_connections(NewConnections::Silent);
    tokio::time::sleep(Duration::from_millis(ms)).await;
    link.heal();
    link.cut(Cut::Reset);
}
