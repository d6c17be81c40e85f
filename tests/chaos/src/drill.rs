//! A drill: one fault of the nodes after the other, under the load of many matches, and how long each
//! kept the matches waiting.

use crate::check;
use crate::cups::{Cups, Times};
use crate::history::{History, Ms};
use crate::link::Link;
use crate::node_trouble::{Hit, NodeTrouble, NodeTroubles};
use crate::nodes::Nodes;
use crate::player::{self, How, Player};
use crate::report::Verified;
use crate::run::{LOGIN, stalls, verify};
use crate::trouble::Pace;
use crate::wire::Transport;
use agon_bots::SplitMix64;
use anyhow::{Context, Result, ensure};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::{JoinSet, block_in_place};

/// The settings of a drill.
#[derive(Clone, Debug)]
pub struct Drill {
    /// The binary.
    pub agon: PathBuf,
    /// An empty folder for all files.
    pub dir: PathBuf,
    /// How many nodes; at least two.
    pub nodes: usize,
    /// How many matches of two players.
    pub matches: usize,
    /// The seed of all random choices.
    pub seed: u64,
}

/// The faults, in this order: tournaments of a node that was lost do not return to it.
const FAULTS: [NodeTrouble; 19] = [
    NodeTrouble::KillStandby,
    NodeTrouble::CutFromBus,
    NodeTrouble::KillPlaying,
    NodeTrouble::HangStandby,
    NodeTrouble::HangPlaying,
    NodeTrouble::StopPlaying,
    NodeTrouble::CutStandby,
    NodeTrouble::CutPlaying,
    NodeTrouble::CutOneWay,
    NodeTrouble::RestartDatabase,
    NodeTrouble::DatabaseAway,
    NodeTrouble::Promote,
    NodeTrouble::RestartBus,
    NodeTrouble::BusAway,
    NodeTrouble::BusAwayLong,
    NodeTrouble::CutPlayingFromBus,
    NodeTrouble::CutBusOneWay,
    NodeTrouble::WrongClock,
    NodeTrouble::RollingRestart,
];

/// How long players think, in milliseconds. With 1,000 matches that is 1,000 answers a second.
const THINK_MS: (u64, u64) = (500, 1_500);
/// Longer than every fault: nobody is charged for the time that they think.
const TIMES: Times = Times { answer_ms: 60_000, wait_ms: 60_000, best_of_max: Times::BEST_OF_MAX };
/// A killed node is started again after eight seconds, when another one has taken over.
const PACE: Pace = Pace {
    calm_ms: (0, 0),
    down_ms: (8_000, 8_000),
    pause_ms: (1_000, 1_000),
    long_pause_ms: (10_000, 10_000),
    files_ms: (0, 0),
    rest_ms: (0, 0),
    harm_ms: (0, 0),
};
/// How long all matches may take until they continue after a fault.
const PATIENCE: Duration = Duration::from_secs(180);
/// How long every match plays undisturbed before each fault.
const CALM: Duration = Duration::from_secs(4);
/// How often to look.
const LOOK: Duration = Duration::from_millis(50);

/// The effect of one fault.
#[derive(Clone, Debug, Serialize)]
struct Effect {
    fault: &'static str,
    /// Matches whose players were connected to other nodes than the one that was hit.
    elsewhere: Gaps,
    /// All other matches.
    hit: Gaps,
    /// How long after the end of the fault the last match continued.
    all_back_ms: Ms,
    /// The same after the database accepted connections again, if it was away.
    after_database_ms: Option<Ms>,
}

/// How long matches waited for the server.
#[derive(Clone, Copy, Default, Debug, Serialize)]
struct Gaps {
    matches: usize,
    half_ms: Ms,
    p99_ms: Ms,
    max_ms: Ms,
}

impl Gaps {
    fn of(mut waits: Vec<Ms>) -> Gaps {
        waits.sort_unstable();
        let at = |percent: usize| {
            let rank = (waits.len() * percent).div_ceil(100).max(1);
            waits.get(rank - 1).copied().unwrap_or(0)
        };
        Gaps { matches: waits.len(), half_ms: at(50), p99_ms: at(99), max_ms: at(100) }
    }
}

/// The figures of a drill.
#[derive(Clone, Debug, Serialize)]
pub struct DrillReport {
    nodes: usize,
    matches: usize,
    seed: u64,
    /// Waits of the matches before the first fault.
    calm: Gaps,
    effects: Vec<Effect>,
    decisions: usize,
    lost: u64,
    doubled: u64,
    charged: BTreeMap<String, u64>,
    /// How often the harness itself stalled.
    stalls: usize,
    verified: Verified,
    complaints: Vec<String>,
}

impl DrillReport {
    /// Returns whether nothing was lost, doubled or charged.
    pub fn holds(&self) -> bool {
        self.complaints.is_empty()
            && self.verified.ok
            && self.charged.is_empty()
            && self.lost + self.doubled == 0
            && self.decisions > 0
    }
}

/// Runs it. Progress goes to `tell`; `interrupted` leaves out the remaining faults.
pub async fn drill(
    drill: &Drill,
    tell: impl Fn(&str),
    mut interrupted: watch::Receiver<bool>,
) -> Result<DrillReport> {
    ensure!(drill.nodes >= 2, "a drill needs at least two nodes; give --nodes 3");
    ensure!(drill.matches >= 1, "a drill needs at least one match");
    let mut chance = SplitMix64::new(drill.seed);
    let mut playing = Playing::start(drill, &mut chance, &tell).await?;
    let calm = playing.calm().await?;
    let mut effects = Vec::new();
    for (number, fault) in FAULTS.into_iter().enumerate() {
        if *interrupted.borrow_and_update() {
            break;
        }
        tell(&format!("fault {} of {}: {}", number + 1, FAULTS.len(), fault.name()));
        effects.push(playing.perform(fault, &mut chance).await?);
        playing.calm().await?;
    }
    let announced = playing.stop().await?;
    tell("stopped; checking the log");
    let Playing { agon, nodes, players, history, .. } = &playing;
    let log = nodes.log();
    let read = block_in_place(|| check::check(&log, players, &announced, history, false))?;
    let verified = verify(agon, &log)?;
    let mut complaints = history.complaints();
    complaints.extend(read.complaints.iter().cloned());
    let mut charged = BTreeMap::<String, u64>::new();
    for one in &read.faults {
        *charged.entry(one.faulted.fault.code.to_string()).or_default() += 1;
    }
    Ok(DrillReport {
        nodes: drill.nodes,
        matches: drill.matches,
        seed: drill.seed,
        calm,
        effects,
        decisions: read.decisions(),
        lost: read.lost,
        doubled: read.doubled,
        charged,
        stalls: history.stalls().len(),
        verified,
        complaints,
    })
}

/// The configuration of the nodes, for so many matches of players from one address.
fn config(matches: usize) -> String {
    let connections = 4 * matches + 1_000;
    format!(
        "reconnect_ms = 60000\nlog = \"info\"\n[limits]\nconnections_max = {connections}\n\
         connections_per_address_max = {connections}\nlogin_ms_max = 120000\n\
         password_checks_per_address_max = {connections}\n"
    )
}

/// Players that are left alone, half of them over WebSocket, on all nodes.
async fn players(count: usize, nodes: &Nodes) -> Result<Vec<Arc<Player>>> {
    let mut players = Vec::new();
    for number in 0..count {
        let places = nodes.places_of(number);
        let (transport, to) = match number % 4 {
            0 | 3 => (Transport::Tcp, places.tcp),
            _ => (Transport::WebSocket, places.http),
        };
        let link = Link::open(to).await?;
        players.push(Arc::new(Player::new(number, How::Task(transport), false, link)));
    }
    Ok(players)
}

/// The nodes, and the players whose matches run.
struct Playing {
    agon: PathBuf,
    nodes: Nodes,
    players: Vec<Arc<Player>>,
    history: Arc<History>,
    cups: Cups,
    /// Ends the players.
    over: watch::Sender<bool>,
    /// True when players answer no more.
    silent: watch::Sender<bool>,
    helpers: JoinSet<()>,
}

impl Playing {
    /// Starts the nodes, logs the players in, and starts their matches.
    async fn start(
        drill: &Drill,
        chance: &mut SplitMix64,
        tell: &impl Fn(&str),
    ) -> Result<Playing> {
        let dir = drill.dir.canonicalize().context("the folder of the run")?;
        let agon = drill.agon.canonicalize().context("the binary")?;
        let history = Arc::new(History::new());
        tell("starting a database with a standby, a bus and the nodes");
        let config = config(drill.matches);
        let nodes = Nodes::start(&agon, &dir, &config, drill.nodes, &history).await?;
        nodes.await_all().await?;
        let players = players(2 * drill.matches, &nodes).await?;
        let (over, silent) = (watch::Sender::new(false), watch::Sender::new(false));
        let mut helpers = JoinSet::new();
        helpers.spawn(stalls(Arc::clone(&history)));
        for player in &players {
            let (own, history) = (Arc::clone(player), Arc::clone(&history));
            let (over, silent) = (over.subscribe(), silent.subscribe());
            helpers.spawn(player::play(own, history, THINK_MS, chance.fork(), over, silent));
        }
        tell(&format!("logging in {} players", players.len()));
        let (operator, http) = (nodes.operator.clone(), nodes.places().http);
        let cups = Cups::new(operator, http, players.clone(), Arc::clone(&history), TIMES);
        cups.all_known(LOGIN).await?;
        tell(&format!("starting {} matches", drill.matches));
        cups.start_pairs(over.subscribe()).await;
        let refused = cups.refused();
        ensure!(refused.is_empty(), "the server refuses tournaments: {refused:?}");
        Ok(Playing { agon, nodes, players, history, cups, over, silent, helpers })
    }

    /// Waits until every answer that was sent is in the log, and stops the nodes. Returns the names
    /// of the tournaments.
    async fn stop(&mut self) -> Result<BTreeSet<String>> {
        self.silent.send_replace(true);
        tokio::time::sleep(CALM).await;
        for node in &mut self.nodes.all {
            node.stop(&self.history).await?;
        }
        self.over.send_replace(true);
        self.helpers.shutdown().await;
        Ok(self.cups.announced())
    }

    /// Waits until every node is ready and all matches have played undisturbed for a while; returns
    /// their waits in that time.
    async fn calm(&mut self) -> Result<Gaps> {
        self.nodes.await_all().await?;
        self.all_asked(self.history.now()).await?;
        self.history.waits.begin();
        tokio::time::sleep(CALM).await;
        let waits = self.history.waits.snapshot();
        Ok(Gaps::of(waits.values().map(|wait| wait.longest).collect()))
    }

    /// Waits until all matches had a request after this time.
    async fn all_asked(&self, since: Ms) -> Result<()> {
        let matches = self.players.len() / 2;
        let asked = async {
            loop {
                let waits = self.history.waits.snapshot();
                let asked = waits.values().filter(|wait| wait.asked_at > since).count();
                if asked >= matches {
                    return;
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::time::timeout(PATIENCE, asked).await.context("some matches do not continue")
    }

    /// Performs a fault, and measures how long it keeps the matches waiting.
    async fn perform(&mut self, fault: NodeTrouble, chance: &mut SplitMix64) -> Result<Effect> {
        let hit = match fault.hits() {
            Hit::Playing => self.nodes.playing(),
            Hit::Standby => Some(self.nodes.standby()),
            Hit::Shared => None,
        };
        let is_hit = self.matches_of(hit);
        self.history.waits.begin();
        let (nodes, history) = (&mut self.nodes, &self.history);
        let mut troubles = NodeTroubles { nodes, history, pace: PACE, chance, database_up: None };
        troubles.perform(fault).await?;
        let (database_up, ended) = (troubles.database_up, self.history.now());
        let mut after_database_ms = None;
        if let Some(up) = database_up {
            self.all_asked(up).await?;
            after_database_ms = Some(self.history.now() - up);
        }
        self.all_asked(ended).await?;
        let all_back_ms = self.history.now() - ended;
        let waits = self.history.waits.snapshot();
        let of = |wanted: bool| {
            let some = waits.iter().filter(|(id, _)| is_hit.get(*id) == Some(&wanted));
            Gaps::of(some.map(|(_, wait)| wait.longest).collect())
        };
        let (fault, elsewhere, hit) = (fault.name(), of(false), of(true));
        Ok(Effect { fault, elsewhere, hit, all_back_ms, after_database_ms })
    }

    /// All matches, each with whether one of its players is connected to this node. What several
    /// nodes share hits every match.
    fn matches_of(&self, node: Option<usize>) -> BTreeMap<Box<str>, bool> {
        let places = node.map(|node| {
            let places = self.nodes.all[node].places();
            [*places.tcp.borrow(), *places.http.borrow()]
        });
        let is_there = |player: &Arc<Player>| match (player.link.leads_to(), places) {
            (Some(to), Some(places)) => places.contains(&to),
            (_, None) => true,
            (None, _) => false,
        };
        let pairs = self.players.chunks(2).enumerate();
        pairs
            .map(|(number, pair)| (format!("fish-{number}").into(), pair.iter().any(is_there)))
            .collect()
    }
}

impl fmt::Display for DrillReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DrillReport { nodes, matches, seed, decisions, .. } = self;
        writeln!(f, "seed {seed}: {nodes} nodes, {matches} matches, {decisions} decisions")?;
        writeln!(
            f,
            "\nHow long matches waited for the server, in seconds. `hit` are those with a player on \
             the node of the fault.\n`all back` counts from the end of the fault, `database` from when \
             the database accepts connections.\n"
        )?;
        writeln!(
            f,
            "{:<46} {:>7} {:>6} {:>6} {:>6}   {:>7} {:>6} {:>6} {:>6}   {:>9} {:>9}",
            "fault",
            "others",
            "half",
            "99 %",
            "most",
            "hit",
            "half",
            "99 %",
            "most",
            "all back",
            "database"
        )?;
        let seconds = |ms: Ms| format!("{:.2}", ms as f64 / 1_000.0);
        let gaps = |gaps: &Gaps| {
            let [half, p99, max] = [gaps.half_ms, gaps.p99_ms, gaps.max_ms].map(seconds);
            format!("{:>7} {half:>6} {p99:>6} {max:>6}", gaps.matches)
        };
        writeln!(f, "{:<46} {}", "none", gaps(&self.calm))?;
        for Effect { fault, elsewhere, hit, all_back_ms, after_database_ms } in &self.effects {
            let (elsewhere, hit) = (gaps(elsewhere), gaps(hit));
            let all_back = seconds(*all_back_ms);
            let database = after_database_ms.map(seconds).unwrap_or_default();
            writeln!(f, "{fault:<46} {elsewhere}   {hit}   {all_back:>9} {database:>9}")?;
        }
        writeln!(f, "\ndecisions lost: {}, doubled: {}", self.lost, self.doubled)?;
        let charged: Vec<String> =
            self.charged.iter().map(|(what, count)| format!("{count} {what}")).collect();
        let charged = if charged.is_empty() { "nobody".into() } else { charged.join(", ") };
        writeln!(f, "charged: {charged}")?;
        writeln!(f, "{} ({:.1} s)", self.verified.said, self.verified.seconds)?;
        if self.stalls > 0 {
            writeln!(f, "{} times this harness itself did not get on", self.stalls)?;
        }
        for complaint in self.complaints.iter().take(30) {
            writeln!(f, "WRONG: {complaint}")?;
        }
        write!(f, "{}", if self.holds() { "everything holds" } else { "NOT everything holds" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_ranks_of_the_waits() {
        let Gaps { matches, half_ms, p99_ms, max_ms } = Gaps::of((1..=200).rev().collect());
        assert_eq!((matches, half_ms, p99_ms, max_ms), (200, 100, 198, 200));
        assert_eq!(Gaps::of(vec![7]).p99_ms, 7);
        assert_eq!(Gaps::of(Vec::new()).matches, 0);
    }
}
