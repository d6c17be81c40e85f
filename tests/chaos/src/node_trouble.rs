//! Disturbances of nodes, of their database and of their bus.

use crate::chance::within;
use crate::history::History;
use crate::link::{Cut, Flow, Link, NewConnections};
use crate::nodes::Nodes;
use crate::trouble::{JUMP_S, Pace};
use agon_bots::SplitMix64;
use anyhow::Result;
use rustix::process::Signal;
use std::time::Duration;

/// How long a node stands still or is cut off, so that another one takes over.
const BEYOND_LEASE_MS: (u64, u64) = (3_000, 10_000);

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
    RestartDatabase,
    DatabaseAway,
    RestartBus,
    BusAway,
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
    pub(crate) const ALL: [NodeTrouble; 18] = [
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
        NodeTrouble::RestartDatabase,
        NodeTrouble::DatabaseAway,
        NodeTrouble::RestartBus,
        NodeTrouble::BusAway,
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
            NodeTrouble::RestartDatabase => "database restarted",
            NodeTrouble::DatabaseAway => "database away for a while",
            NodeTrouble::RestartBus => "bus restarted",
            NodeTrouble::BusAway => "bus away for a while",
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
            NodeTrouble::KillAll => {
                let all: Vec<usize> = (0..self.nodes.all.len()).collect();
                self.kill(&all).await?;
            }
            NodeTrouble::StopPlaying => {
                let status = self.nodes.all[playing].stop(self.history).await?;
                if status.code() != Some(0) {
                    self.history.complain(format!("asked to stop, a node ended with {status}"));
                }
                self.nodes.all[playing].launch()?;
            }
            NodeTrouble::PausePlaying => self.pause(playing, self.pace.pause_ms).await,
            NodeTrouble::HangPlaying => self.pause(playing, BEYOND_LEASE_MS).await,
            NodeTrouble::CutPlaying => cut(&self.nodes.links[playing], lost, cut_ms).await,
            NodeTrouble::CutOneWay => {
                cut(&self.nodes.links[playing], (Flow::Free, Flow::Lost), cut_ms).await;
            }
            NodeTrouble::RestartDatabase => {
                self.nodes.database.kill();
                self.nodes.database.resume();
            }
            NodeTrouble::DatabaseAway => {
                self.nodes.database.kill();
                self.wait(self.pace.down_ms).await;
                self.nodes.database.resume();
            }
            NodeTrouble::RestartBus => {
                self.nodes.bus.kill();
                self.nodes.bus.resume();
            }
            NodeTrouble::BusAway => {
                self.nodes.bus.kill();
                self.wait(BEYOND_LEASE_MS).await;
                self.nodes.bus.resume();
            }
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

    async fn wait(&mut self, range: (u64, u64)) {
        let ms = within(self.chance, range);
        tokio::time::sleep(Duration::from_millis(ms)).await;
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
