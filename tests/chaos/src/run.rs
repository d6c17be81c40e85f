//! A run: start everything, disturb it for a while, heal it, wait for the end, and check.

use crate::blame::{self, Deeds};
use agon_bots::SplitMix64;

use crate::check::{self, Read};
use crate::cups::{Cups, Times};
use crate::harm::{self, Harms, Processes};
use crate::history::{History, Ms};
use crate::host::Host;
use crate::link::Link;
use crate::log::LogPlace;
use crate::player::{self, How, Player, Think};
use crate::process::Process;
use crate::report::{Report, Verified};
use crate::trouble::{self, Pace, Troubles};
use crate::watch::Watcher;
use crate::wire::Transport;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::{JoinSet, block_in_place};

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The binary.
    pub agon: PathBuf,
    /// A folder for all files; it must be empty.
    pub dir: PathBuf,
    /// How long the disturbances last. They continue until each has happened once.
    pub lasting: Duration,
    /// How many nodes. One is a server of its own; more share a database.
    pub nodes: usize,
    /// How many players.
    pub players: usize,
    /// The seed of all random choices.
    pub seed: u64,
    /// Disturbances of seconds instead of tens of seconds, so that all of them fit into half a
    /// minute.
    pub brief: bool,
}

impl Settings {
    fn times(&self) -> Times {
        match self.brief {
            true => Times { answer_ms: 5_000, wait_ms: 10_000, best_of_max: 1 },
            false => Times { answer_ms: 10_000, wait_ms: 60_000, best_of_max: 3 },
        }
    }

    fn pace(&self) -> Pace {
        let answer_ms = self.times().answer_ms;
        match self.brief {
            true => Pace {
                calm_ms: (300, 900),
                down_ms: (200, 1_000),
                pause_ms: (400, 1_200),
                long_pause_ms: (answer_ms + 500, answer_ms + 1_000),
                files_ms: (1_000, 2_000),
                rest_ms: (100, 400),
                harm_ms: (200, 1_500),
            },
            false => Pace {
                calm_ms: (3_000, 15_000),
                down_ms: (500, 8_000),
                pause_ms: (1_000, 8_000),
                long_pause_ms: (answer_ms + 2_000, 20_000),
                files_ms: (3_000, 12_000),
                rest_ms: (2_000, 8_000),
                harm_ms: (300, 20_000),
            },
        }
    }

    fn think(&self) -> Think {
        if self.brief { (10, 40) } else { (40, 160) }
    }

    /// How long tournaments may take to end after healing.
    fn patience(&self) -> Duration {
        Duration::from_secs(if self.brief { 180 } else { 600 })
    }
}

/// The configuration of the server.
const CONFIG: &str = "reconnect_ms = 60000\nlog = \"info\"\n";
/// How long all players together may take for their first login.
pub(crate) const LOGIN: Duration = Duration::from_secs(300);
/// How often the harness checks for its own stalls, and the delay that counts as one.
const TICK: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(1_500));

/// Runs it. Progress goes to `tell`; `interrupted` ends the disturbances early.
pub async fn run(
    settings: &Settings,
    tell: impl Fn(&str) + Send + Sync + 'static,
    interrupted: watch::Receiver<bool>,
) -> Result<Report> {
    ensure!(settings.players >= 8, "at least 8 players are needed");
    let dir = settings.dir.canonicalize().context("the folder of the run")?;
    let agon = settings.agon.canonicalize().context("the binary")?;
    let mut chance = SplitMix64::new(settings.seed);
    let history = Arc::new(History::new());
    let mut host = Host::start(&agon, &dir, CONFIG, settings.nodes, &history).await?;
    if !host.has_clock() {
        tell("there is no libfaketime here, so clocks do not jump: install faketime");
    }
    let (places, operator) = (host.places(), host.operator());
    let players = players(settings.players, &host).await?;
    let watcher = Arc::new(Watcher::new(places.http.clone(), host.alive(), Arc::clone(&history)));
    let settings = settings.clone();
    let mut world = World { settings, dir, agon, history, players, began: 0 };
    let (over, closing) = (watch::Sender::new(false), watch::Sender::new(false));
    let mut helpers = JoinSet::new();
    helpers.spawn(stalls(Arc::clone(&world.history)));
    let every = if world.settings.brief { 1 } else { 5 };
    helpers.spawn(Arc::clone(&watcher).look(Duration::from_secs(every)));
    let processes = world.start_players(&over, &mut chance, &mut helpers)?;
    let cups = Arc::new(Cups::new(
        operator,
        places.http.clone(),
        world.players.clone(),
        Arc::clone(&world.history),
        world.settings.times(),
    ));
    cups.all_known(LOGIN).await?;
    world.began = world.history.now();
    let holding = tokio::spawn(Arc::clone(&cups).hold(chance.fork(), closing.subscribe()));
    let tell: Arc<Tell> = Arc::new(tell);
    helpers.spawn(progress(Arc::clone(&cups), world.clone(), closing.subscribe(), tell.clone()));
    let host = world.chaos(host, &processes, &mut chance, &closing, interrupted).await?;
    tell("healed; waiting for the tournaments to end");
    let ended = tokio::time::timeout(world.settings.patience(), holding).await;
    if ended.is_err() {
        let running = cups.running();
        world.history.complain(format!("these do not end: {running:?}"));
    }
    over.send_replace(true);
    let lasted = world.history.now() - world.began;
    helpers.shutdown().await;
    let (log, servers) = world.end(host, &processes).await?;
    tell("stopped; looking at the log");
    let read = block_in_place(|| {
        check::check(&log, &world.players, &cups.announced(), &world.history, true)
    })?;
    let verified = verify(&world.agon, &log)?;
    drop(servers);
    Ok(world.report(lasted, read, verified, &cups, watcher.peaks()))
}

type Tell = dyn Fn(&str) + Send + Sync;

async fn players(count: usize, host: &Host) -> Result<Vec<Arc<Player>>> {
    let mut players = Vec::new();
    for number in 0..count {
        let places = host.places_of(number);
        // Some of each kind are left alone, and some are disturbed.
        let (how, to) = match number % 8 {
            0 | 3 => (How::Process, &places.tcp),
            1 | 4 | 6 => (How::Task(Transport::WebSocket), &places.http),
            _ => (How::Task(Transport::Tcp), &places.tcp),
        };
        let link = Link::open(to.clone()).await?;
        players.push(Arc::new(Player::new(number, how, number % 3 != 0, link)));
    }
    Ok(players)
}

/// Everything a run has.
#[derive(Clone)]
struct World {
    settings: Settings,
    dir: PathBuf,
    agon: PathBuf,
    history: Arc<History>,
    players: Vec<Arc<Player>>,
    /// When the disturbances began.
    began: Ms,
}

impl World {
    fn start_players(
        &self,
        over: &watch::Sender<bool>,
        chance: &mut SplitMix64,
        helpers: &mut JoinSet<()>,
    ) -> Result<Arc<Processes>> {
        let mut processes = Processes::new();
        for player in &self.players {
            let own = Arc::clone(player);
            if player.how == How::Process {
                let process = Process::start(&self.agon, &self.dir, own)?;
                processes.insert(player.number, Arc::new(Mutex::new(process)));
                continue;
            }
            let (think, history) = (self.settings.think(), Arc::clone(&self.history));
            let (over, silent) = (over.subscribe(), watch::Sender::new(false).subscribe());
            helpers.spawn(player::play(own, history, think, chance.fork(), over, silent));
        }
        let processes = Arc::new(processes);
        helpers.spawn(look_after(Arc::clone(&processes), Arc::clone(&self.history)));
        Ok(processes)
    }

    /// Disturbs server and players for as long as the run lasts; returns the healed host.
    async fn chaos(
        &self,
        host: Host,
        processes: &Arc<Processes>,
        chance: &mut SplitMix64,
        closing: &watch::Sender<bool>,
        mut interrupted: watch::Receiver<bool>,
    ) -> Result<Host> {
        let (history, pace) = (Arc::clone(&self.history), self.settings.pace());
        let (nodes, drawn) = (self.settings.nodes, chance.fork());
        let troubles = Troubles { host, nodes, history, pace, chance: drawn };
        let troubles = tokio::spawn(troubles.make(closing.subscribe()));
        let harms = Arc::new(Harms::new(
            self.players.clone(),
            Arc::clone(processes),
            Arc::clone(&self.history),
            pace,
            chance.fork(),
        ));
        let mut harming = JoinSet::new();
        for _ in 0..(self.settings.players / 12).max(2) {
            harming.spawn(Arc::clone(&harms).make(closing.subscribe()));
        }
        tokio::select! {
            () = tokio::time::sleep(self.settings.lasting) => {}
            _ = interrupted.wait_for(|interrupted| *interrupted) => {}
        }
        closing.send_replace(true);
        while let Some(done) = harming.join_next().await {
            done??;
        }
        troubles.await?
    }

    /// Stops the host cleanly, and reads the records of the players' processes. Returns the log, and
    /// the host with its database.
    async fn end(&self, mut host: Host, processes: &Processes) -> Result<(LogPlace, Host)> {
        for process in processes.values() {
            let mut process = process.lock().unwrap_or_else(|broken| broken.into_inner());
            process.kill();
            process.collect();
        }
        host.stop(&self.history).await?;
        Ok((host.log(), host))
    }

    fn report(
        &self,
        lasted: u64,
        read: Read,
        verified: Verified,
        cups: &Cups,
        peaks: crate::watch::Peaks,
    ) -> Report {
        let (touches, outages) = (self.history.touches(), self.history.outages());
        let stalls = self.history.stalls();
        let (players, answer_ms) = (&self.players[..], self.settings.times().answer_ms);
        let deeds =
            Deeds { players, touches: &touches, outages: &outages, stalls: &stalls, answer_ms };
        let (faults, blamed) = blame::judge(&read.faults, &deeds);
        let mut complaints = self.history.complaints();
        complaints.extend(read.complaints.iter().cloned());
        complaints.extend(blamed.iter().cloned());
        if !verified.ok {
            complaints.push(format!("agon verify: {}", verified.said));
        }
        let troubles = self.history.troubles();
        let never = trouble::names(self.settings.nodes)
            .chain(harm::names())
            .filter(|name| !troubles.contains_key(name));
        complaints.extend(never.map(|name| format!("this was not done at all: {name}")));
        let longest = outages.iter().map(|outage| outage.to - outage.from).max().unwrap_or(0);
        let errors = players.iter().fold(Default::default(), |mut all, player| {
            for (code, count) in &player.record().errors {
                *std::collections::BTreeMap::entry(&mut all, code.to_string()).or_default() +=
                    count;
            }
            all
        });
        let seconds = lasted as f64 / 1_000.0;
        Report {
            seed: self.settings.seed,
            minutes: seconds / 60.0,
            players: players.len(),
            untouched: players.iter().filter(|player| !player.touchable).count(),
            logins: players.iter().map(|player| player.record().logins).sum(),
            tournaments: read.tournament_count(),
            refused: cups.refused(),
            matches: read.match_count(),
            games: read.games,
            events: read.events,
            decisions: read.decisions(),
            decisions_per_second: read.decisions() as f64 / seconds,
            lost: read.lost,
            doubled: read.doubled,
            troubles,
            outage_seconds_max: longest as f64 / 1_000.0,
            outage_seconds: outages.iter().map(|o| o.to - o.from).sum::<u64>() as f64 / 1_000.0,
            stalls: stalls.len(),
            faults,
            unexplained: blamed.len(),
            errors,
            peaks,
            verified,
            complaints,
        }
    }
}

/// Records stalls of the harness, which make players late.
pub(crate) async fn stalls(history: Arc<History>) {
    loop {
        let (from, before) = (history.now(), Instant::now());
        tokio::time::sleep(TICK.0).await;
        if before.elapsed() > TICK.1 {
            history.stall(from);
        }
    }
}

/// Restarts players' processes that ended by themselves.
async fn look_after(processes: Arc<Processes>, history: Arc<History>) {
    loop {
        tokio::time::sleep(Duration::from_millis(500)).await;
        for process in processes.values() {
            let mut process = process.lock().unwrap_or_else(|broken| broken.into_inner());
            if let Err(error) = process.look(&history) {
                history.complain(format!("{}: {error}", process.player.name));
            }
        }
    }
}

/// Reports progress, about every ten seconds.
async fn progress(cups: Arc<Cups>, world: World, closing: watch::Receiver<bool>, tell: Arc<Tell>) {
    let whole = world.settings.lasting.as_secs();
    loop {
        tokio::time::sleep(Duration::from_secs(10)).await;
        let gone = (world.history.now() - world.began) / 1_000;
        let left = match *closing.borrow() {
            true => "healing".to_owned(),
            false => format!("{} s left", whole.saturating_sub(gone)),
        };
        let (over, running) = cups.counts();
        let answers: usize = world.players.iter().map(|player| player.record().sent.len()).sum();
        let troubles: u64 = world.history.troubles().values().sum();
        let complaints = world.history.complaints().len();
        tell(&format!(
            "{gone} s, {left}: {over} tournaments over, {running} running, {answers} answers, \
             {troubles} troubles, {complaints} complaints"
        ));
    }
}

/// Has `agon verify` check a log.
pub(crate) fn verify(agon: &Path, log: &LogPlace) -> Result<Verified> {
    let began = Instant::now();
    let mut command = Command::new(agon);
    command.args(["verify", "--quiet"]).arg(log.argument()).stdin(Stdio::null());
    let output = command.output().context("agon verify")?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    Ok(Verified { ok: output.status.success(), said, seconds: began.elapsed().as_secs_f64() })
}
