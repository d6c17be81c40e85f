//! Disturbances of players and their network, several at once. Each lasts for a random time and is
//! then healed. Players who are not touchable are left alone.

use crate::chance::{Bag, within};
use crate::history::History;
use crate::link::{Cut, Flow, NewConnections};
use crate::player::{How, Player};
use crate::process::Process;
use crate::trouble::Pace;
use agon_bots::SplitMix64;
use anyhow::Result;
use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::watch;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Harm {
    Reset,
    Close,
    HalfOpen,
    LostUp,
    LostDown,
    Late,
    Trickle,
    Deaf,
    Mute,
    Partition,
    Refused,
    Silent,
    KillPlayer,
    StopPlayer,
}

const ALL: [Harm; 14] = [
    Harm::Reset,
    Harm::Close,
    Harm::HalfOpen,
    Harm::LostUp,
    Harm::LostDown,
    Harm::Late,
    Harm::Trickle,
    Harm::Deaf,
    Harm::Mute,
    Harm::Partition,
    Harm::Refused,
    Harm::Silent,
    Harm::KillPlayer,
    Harm::StopPlayer,
];

impl Harm {
    fn name(self) -> &'static str {
        match self {
            Harm::Reset => "connection reset",
            Harm::Close => "connection closed",
            Harm::HalfOpen => "connection half open",
            Harm::LostUp => "what a player says is lost",
            Harm::LostDown => "what the server says is lost",
            Harm::Late => "connection slow",
            Harm::Trickle => "connection trickles",
            Harm::Deaf => "player does not read",
            Harm::Mute => "what a player says is held up",
            Harm::Partition => "network partition",
            Harm::Refused => "connections refused",
            Harm::Silent => "connections left silent",
            Harm::KillPlayer => "player killed",
            Harm::StopPlayer => "player stands still",
        }
    }

    fn wants_process(self) -> bool {
        matches!(self, Harm::KillPlayer | Harm::StopPlayer)
    }
}

/// The names of all disturbances.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.into_iter().map(Harm::name)
}

/// Processes of players by their number.
pub(crate) type Processes = BTreeMap<usize, Arc<Mutex<Process>>>;

/// Disturbs players.
pub(crate) struct Harms {
    players: Vec<Arc<Player>>,
    processes: Arc<Processes>,
    history: Arc<History>,
    pace: Pace,
    drawing: Mutex<Drawing>,
}

struct Drawing {
    bag: Bag<Harm>,
    chance: SplitMix64,
    busy: BTreeSet<usize>,
    done: usize,
}

impl Harms {
    pub(crate) fn new(
        players: Vec<Arc<Player>>,
        processes: Arc<Processes>,
        history: Arc<History>,
        pace: Pace,
        chance: SplitMix64,
    ) -> Harms {
        let bag = Bag::new(&ALL);
        let drawing = Mutex::new(Drawing { bag, chance, busy: BTreeSet::new(), done: 0 });
        Harms { players, processes, history, pace, drawing }
    }

    fn drawing(&self) -> MutexGuard<'_, Drawing> {
        self.drawing.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Disturbs players until the run closes and every disturbance has happened at least once.
    pub(crate) async fn make(self: Arc<Self>, closing: watch::Receiver<bool>) -> Result<()> {
        loop {
            let (rest_ms, done) = {
                let mut drawing = self.drawing();
                (within(&mut drawing.chance, self.pace.rest_ms), drawing.done)
            };
            let mut leaving = closing.clone();
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(rest_ms)) => {}
                _ = leaving.wait_for(|closing| *closing && done >= ALL.len()) => {}
            }
            if *closing.borrow() && self.drawing().done >= ALL.len() {
                return Ok(());
            }
            let Some((harm, victims, while_)) = self.draw() else { continue };
            self.history.trouble(harm.name());
            let touches: Vec<usize> =
                victims.iter().map(|number| self.history.touch(*number, harm.name())).collect();
            let done = self.harm(harm, &victims, while_).await;
            touches.into_iter().for_each(|touch| self.history.leave(touch));
            let mut drawing = self.drawing();
            drawing.busy.retain(|number| !victims.contains(number));
            drawing.done += 1;
            drop(drawing);
            done?;
        }
    }

    /// Draws the next disturbance, its players and its duration; `None` if no player is left for
    /// it.
    fn draw(&self) -> Option<(Harm, Vec<usize>, Duration)> {
        let mut drawing = self.drawing();
        let Drawing { bag, chance, busy, .. } = &mut *drawing;
        let harm = bag.draw(chance);
        let fits = |player: &&Arc<Player>| {
            player.touchable
                && !busy.contains(&player.number)
                && (!harm.wants_process() || player.how == How::Process)
        };
        let fit = self.players.iter().filter(fits);
        let mut fit: Vec<usize> = fit.map(|player| player.number).collect();
        chance.shuffle(&mut fit);
        fit.truncate(if harm == Harm::Partition { (self.players.len() / 6).max(2) } else { 1 });
        busy.extend(&fit);
        // Some last long.
        let times = if chance.below(8) == 0 { 3 } else { 1 };
        let while_ = Duration::from_millis(times * within(chance, self.pace.harm_ms));
        match fit.is_empty() {
            true => {
                bag.put_back(harm);
                None
            }
            false => Some((harm, fit, while_)),
        }
    }

    async fn harm(&self, harm: Harm, victims: &[usize], while_: Duration) -> Result<()> {
        let links = || victims.iter().map(|number| &self.players[*number].link);
        let process = |number: &usize| {
            let process = self.processes.get(number).expect("a player that is a process");
            process.lock().unwrap_or_else(|broken| broken.into_inner())
        };
        for link in links() {
            match harm {
                Harm::Reset => link.cut(Cut::Reset),
                Harm::Close => link.cut(Cut::Fin),
                Harm::HalfOpen | Harm::Partition => link.flows(Flow::Lost, Flow::Lost),
                Harm::LostUp => link.flows(Flow::Lost, Flow::Free),
                Harm::LostDown => link.flows(Flow::Free, Flow::Lost),
                Harm::Late => link.flows(Flow::Late(150), Flow::Late(250)),
                Harm::Trickle => link.flows(Flow::Trickle, Flow::Trickle),
                Harm::Deaf => link.flows(Flow::Free, Flow::Held),
                Harm::Mute => link.flows(Flow::Held, Flow::Free),
                Harm::Refused | Harm::Silent => link.cut(Cut::Reset),
                Harm::KillPlayer | Harm::StopPlayer => {}
            }
            match harm {
                Harm::Partition | Harm::Silent => link.new_connections(NewConnections::Silent),
                Harm::Refused => link.new_connections(NewConnections::Refused),
                _ => {}
            }
        }
        match harm {
            // These take effect immediately; disconnected players reconnect by themselves.
            Harm::Reset | Harm::Close => {}
            Harm::KillPlayer => {
                victims.iter().for_each(|number| process(number).kill());
                tokio::time::sleep(while_.min(Duration::from_secs(5))).await;
                for number in victims {
                    process(number).start_again()?;
                }
            }
            Harm::StopPlayer => {
                victims.iter().for_each(|number| process(number).signal(Signal::STOP));
                tokio::time::sleep(while_).await;
                victims.iter().for_each(|number| process(number).signal(Signal::CONT));
            }
            _ => tokio::time::sleep(while_).await,
        }
        links().for_each(|link| link.heal());
        Ok(())
    }
}
