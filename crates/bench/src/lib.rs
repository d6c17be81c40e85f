//! `agon bench`: the speed of a server on this machine, relative to a bare ping-pong in the same
//! run.
//!
//! Machines differ, and one machine differs from minute to minute. So the benchmark measures pairs,
//! one slice of play and one of ping-pong, and reports the median of their ratios.

mod accounts;
mod answer;
mod args;
mod bare;
mod child;
mod latencies;
mod limits;
mod load;
mod nodes;
mod observers;
mod peer;
mod players;
mod ports;
mod progress;
mod report;
mod server;
mod steady;
mod watchers;
mod wire;

pub use args::{BenchArgs, BenchPartArgs, TransportArg};
pub use bare::{echo, ping};
pub use child::Child;
pub use ports::free_port;

use anyhow::{Context, Result, bail};
use bare::{Bare, SETTLE, Slice, Trips};
use latencies::Latencies;
use load::Load;
use observers::Observers;
use players::Crew;
use progress::Progress;
use report::{BenchReport, Latency, Observed, Paced, Pair, Restarted};
use server::{Folder, Server};
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use wire::Wire;

/// Pairs of slices.
const PAIRS: usize = 5;

/// How long players play before anything is measured.
const WARM_UP: Duration = Duration::from_secs(1);

/// The most spectators, a few less than a server admits.
const WATCHERS_MAX: usize = 1_900;

/// How long all players may take to log in.
const LOGIN_PATIENCE: Duration = Duration::from_secs(120);

/// Arguments that contradict each other, or that this system cannot carry out.
#[derive(Debug)]
pub struct Unmeasurable(String);

impl std::fmt::Display for Unmeasurable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unmeasurable {}

/// Measures, and returns the report; `None` if a signal interrupted the run. `log_file` is the
/// name of the log in a server's data folder.
pub fn bench(args: &BenchArgs, log_file: &str) -> Result<Option<String>> {
    check(args)?;
    // A match takes two players.
    let players = if args.watchers.is_some() { 2 } else { args.players };
    let args = &BenchArgs { players, ..args.clone() };
    let watching = args.observers * args.matches_wanted() + args.watchers.unwrap_or(0);
    limits::raise(args.players + watching + 200)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("failed to start the runtime")?;
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        // However the run ends, it drops what it started: processes and the folder.
        let report = tokio::select! {
            report = run(args, log_file) => report?,
            _ = interrupt.recv() => return Ok(None),
            _ = terminate.recv() => return Ok(None),
        };
        Ok(Some(if args.json { report.json() } else { report.table() }))
    })
}

fn check(args: &BenchArgs) -> Result<()> {
    let wrong = |why: String| Err(Unmeasurable(why).into());
    if !args.address.is_loopback() {
        return wrong(format!("{} is not on this machine; give a loopback address", args.address));
    }
    if args.players < 2 || !args.players.is_multiple_of(2) || args.players > 10_000 {
        return wrong(format!("--players is even, from 2 to 10000, not {}", args.players));
    }
    if args.matches_wanted() == 0 || args.matches_wanted() > 8 * args.players {
        return wrong("--matches is at least 1, and at most 8 for every player".into());
    }
    if args.transport == TransportArg::Fish && (args.game != "fish" || args.restart) {
        return wrong(
            "over the fish wire only --game fish is played, and nobody comes back".into(),
        );
    }
    if args.watchers.is_some_and(|count| count == 0 || count > WATCHERS_MAX) {
        return wrong(format!("--watchers is from 1 to {WATCHERS_MAX}"));
    }
    if args.transport == TransportArg::Erlang && args.remote {
        return wrong("Erlang nodes connect to the node that plays".into());
    }
    if args.transport == TransportArg::Erlang && args.game != "yahtzee" {
        return wrong("players on Erlang nodes play Yahtzee only".into());
    }
    if !(args.seconds >= 1.0 && args.seconds <= 3_600.0) {
        return wrong("--seconds is from 1 to 3600".into());
    }
    Ok(())
}

/// The measurements of a run, and the processes they use.
struct Run<'a> {
    args: &'a BenchArgs,
    progress: Progress,
    server: Server,
    bare: Bare,
    crew: Crew,
    slice: Duration,
    depth: usize,
    /// Replaces every tournament that ends.
    keep_playing: JoinHandle<()>,
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.keep_playing.abort();
    }
}

async fn run(args: &BenchArgs, log_file: &str) -> Result<BenchReport> {
    let (mut run, folder, mut report) = start(args, log_file).await?;
    match (args.watchers, args.steady) {
        (Some(count), _) => report.watched = Some(run.watched(count).await?),
        (None, Some(rate)) => report.steady = Some(run.steady(rate).await?),
        (None, None) => run.measure(&mut report).await?,
    }
    report.complaint = run.crew.complaint();
    run.keep_playing.abort();
    run.crew.leave();
    run.progress.say("stopping");
    run.server.process.stop().await?;
    drop((run, folder));
    Ok(report)
}

/// Starts everything: the server with its players in matches, and the ping-pong.
async fn start<'a>(args: &'a BenchArgs, log_file: &str) -> Result<(Run<'a>, Folder, BenchReport)> {
    let progress = Progress::new(args.quiet);
    let slice = Duration::from_secs_f64(args.seconds / (2 * PAIRS) as f64);
    progress.say("starting a server and its comparison");
    let folder = Folder::make(&args.dir, args.keep)?;
    let (ip, players) = (args.address, args.players);
    let data = folder.path().join("data");
    std::fs::create_dir(&data).context("failed to make a folder")?;
    let file = data.join(log_file);
    // The client of the database may not be used on a thread of the runtime.
    let tokens = std::thread::scope(|scope| {
        let writing = scope.spawn(|| accounts::write(&file, args.store.as_deref(), players));
        writing.join().unwrap_or_else(|_| bail!("failed to make accounts"))
    })?;
    let (server, tokens) = Server::start(folder.path(), ip, tokens, args).await?;
    let in_flight = args.matches_wanted() * seats_asked_at_once(&args.game);
    let in_flight = Some(in_flight).filter(|count| *count < args.players);
    let synced = folder.path().join("synced");
    let mut bare = Bare::start(args.address, args.players, in_flight, &synced).await?;
    let (echo_empty, empty) = (bare.echo.resident()?, server.process.resident()?);
    bare.ready().await?;
    let (wire, place, tokens) = match args.transport {
        TransportArg::Tcp => (Wire::Lines, server.tcp, tokens),
        TransportArg::Ws => (Wire::Frames, server.http, tokens),
        TransportArg::Erlang => (Wire::Terms, server.erlang, tokens),
        TransportArg::Fish => (Wire::Values, server.fish, peer::names(args.players)),
    };
    progress.say("logging in");
    let crew = Crew::send(place, wire, &tokens);
    let connected = crew.all_here(LOGIN_PATIENCE).await?;
    server.all_in_line(args.players, LOGIN_PATIENCE).await?;
    let per = |more: u64, less: u64| more.saturating_sub(less) / args.players as u64;
    let report = BenchReport {
        game: args.game.clone(),
        players: args.players,
        matches: args.matches_wanted(),
        transport: args.transport.name(),
        seconds: args.seconds,
        connect_seconds: connected.as_secs_f64(),
        bytes_per_connection: per(server.process.resident()?, empty),
        bare_bytes_per_connection: per(bare.echo.resident()?, echo_empty),
        ..BenchReport::default()
    };
    progress.say("starting tournaments");
    let operator = server.operator.clone();
    let (game, usual) = (args.game.clone(), args.steady.is_some());
    for (lane, players) in (1..).zip(lanes(args.players, args.matches_wanted())) {
        operator.tournament(&lane_name(lane), &game, players, usual).await?;
        crew.plays(lane_name(lane), players);
    }
    let keep_playing = crew.start_again(operator, game, usual);
    let depth = args.matches_wanted().div_ceil(args.players / 2);
    let run = Run { args, progress, server, bare, crew, slice, depth, keep_playing };
    Ok((run, folder, report))
}

/// The sizes of the tournaments: full ones first, then the rest of the players.
fn lanes(players: usize, matches: usize) -> Vec<usize> {
    let (full, rest) = (matches / (players / 2), matches % (players / 2));
    let rest = (rest > 0).then_some(2 * rest);
    std::iter::repeat_n(players, full).chain(rest).collect()
}

/// How many seats of a match the game asks at once.
fn seats_asked_at_once(game: &str) -> usize {
    if game == "yahtzee" { 2 } else { 1 }
}

fn lane_name(number: usize) -> String {
    format!("bench-{number}")
}

/// How long a slice waits for its first decision.
const FIRST_ANSWER_MAX: Duration = Duration::from_secs(60);

/// The result of a slice of play.
struct Played {
    per_second: f64,
    cpu_us: f64,
    latency: Latencies,
    bytes_up: usize,
    bytes_down: usize,
}

impl Run<'_> {
    /// Takes all measurements with players that the arguments ask for.
    async fn measure(&mut self, report: &mut BenchReport) -> Result<()> {
        self.progress.say("warming up");
        let warm = self.play(WARM_UP, None).await?;
        (report.bytes_up, report.bytes_down) = (warm.bytes_up, warm.bytes_down);
        report.pairs = self.pairs("slice").await?;
        if self.args.half_load {
            report.half_load = Some(self.half_load(report.decisions_per_second()).await?);
        }
        if self.args.observers > 0 {
            report.observers = Some(self.observed().await?);
        }
        if self.args.restart {
            report.restart = Some(self.restart().await?);
        }
        Ok(())
    }

    /// Lets the players play for a while.
    async fn play(&self, length: Duration, apart: Option<Duration>) -> Result<Played> {
        let load: &Load = &self.crew.load;
        load.start(apart);
        tokio::time::sleep(SETTLE).await;
        load.latency.borrow_mut().clear();
        let counts = || (load.answers.get(), load.bytes_up.get(), load.bytes_down.get());
        let (before, cpu, began) = (counts(), self.server.cpu()?, Instant::now());
        tokio::time::sleep(length).await;
        // A short slice on a busy machine may see no answer; then extend it.
        while load.answers.get() == before.0 && began.elapsed() < FIRST_ANSWER_MAX {
            tokio::time::sleep(SETTLE).await;
        }
        let (after, cpu_after, took) = (counts(), self.server.cpu()?, began.elapsed());
        let latency = load.latency.borrow().clone();
        load.drain().await;
        let answers = after.0 - before.0;
        if answers == 0 {
            let why = self.crew.complaint().unwrap_or_else(|| "nobody was asked anything".into());
            anyhow::bail!("failed: no decisions were made: {why}");
        }
        Ok(Played {
            per_second: answers as f64 / took.as_secs_f64(),
            cpu_us: cpu_after.since(&cpu).as_secs_f64() * 1e6 / answers as f64,
            latency,
            bytes_up: ((after.1 - before.1) / answers) as usize,
            bytes_down: ((after.2 - before.2) / answers) as usize,
        })
    }

    /// Measures pairs of slices, one of play and one of ping-pong with messages of the same size.
    async fn pairs(&mut self, what: &str) -> Result<Vec<Pair>> {
        let mut pairs = Vec::with_capacity(PAIRS);
        for number in 1..=PAIRS {
            let left = self.slice.mul_f64((2 * (PAIRS - number + 1)) as f64);
            self.progress.say(&format!("{what} {number} of {PAIRS}, {} s left", left.as_secs()));
            let played = self.play(self.slice, None).await?;
            let slice = Slice {
                seconds: self.slice.as_secs_f64(),
                up: played.bytes_up,
                down: played.bytes_down,
                depth: self.depth,
                sync: false,
            };
            let bare = self.bare.play(slice).await?;
            let in_flight = self.bare.play_in_flight(slice).await?;
            pairs.push(Pair {
                per_second: played.per_second,
                cpu_us: played.cpu_us,
                latency: Latency::of(&played.latency),
                bare,
                in_flight,
                synced: self.synced(slice).await?,
            });
        }
        Ok(pairs)
    }

    /// Measures the ping-pong with a sync for every message, if there is one match.
    async fn synced(&mut self, slice: Slice) -> Result<Option<Trips>> {
        if self.args.matches_wanted() > 1 {
            return Ok(None);
        }
        let slice = Slice { sync: true, ..slice };
        match self.bare.play_in_flight(slice).await? {
            Some(trips) => Ok(Some(trips)),
            None => self.bare.play(slice).await.map(Some),
        }
    }

    /// Measures play at half the full rate.
    async fn half_load(&self, full: f64) -> Result<Paced> {
        self.progress.say("half the load");
        let playing = (2 * self.args.matches_wanted()).min(self.args.players);
        let apart = Duration::from_secs_f64(2.0 * playing as f64 / full);
        let before = self.server.turns().await?;
        let played = self.play(self.slice.max(WARM_UP) * 2, Some(apart)).await?;
        let server_p99 = share_below(&before, &self.server.turns().await?, 0.99);
        let latency = Latency::of(&played.latency);
        Ok(Paced { per_second: played.per_second, latency, server_p99 })
    }

    /// Measures the same pairs with observers on every match.
    async fn observed(&mut self) -> Result<Observed> {
        self.progress.say("letting observers in");
        let lanes = lanes(self.args.players, self.args.matches_wanted());
        let matches = lanes.iter().zip(1..).flat_map(|(players, lane)| {
            (1..=players / 2).map(move |number| (lane_name(lane), format!("r1m{number}")))
        });
        let matches: Vec<(String, String)> = matches.collect();
        let observers = Observers::send(self.server.http, &matches, self.args.observers).await?;
        let (before, began) = (observers.events(), Instant::now());
        let pairs = self.pairs("observed slice").await?;
        let events = (observers.events() - before) as f64 / began.elapsed().as_secs_f64();
        Ok(Observed { each: self.args.observers, events_per_second: events, pairs })
    }

    /// Kills and restarts the server, and waits until all players are back and play.
    async fn restart(&mut self) -> Result<Restarted> {
        self.progress.say("killing the server and starting it again");
        if let Some(complaint) = self.crew.complaint() {
            anyhow::bail!("failed: {complaint}");
        }
        self.crew.load.start(None);
        tokio::time::sleep(SETTLE).await;
        self.server.process.kill();
        self.crew.all_gone().await;
        let began = Instant::now();
        self.server.start_again().await?;
        let listening = began.elapsed();
        self.crew.all_here(LOGIN_PATIENCE).await?;
        let all_back = began.elapsed();
        self.crew.forgive();
        let played = self.play(WARM_UP, None).await?;
        Ok(Restarted {
            listening_seconds: listening.as_secs_f64(),
            all_back_seconds: all_back.as_secs_f64(),
            per_second_after: played.per_second,
        })
    }
}

/// The bound that this share of the counts between two samples stayed below.
fn share_below(before: &[(f64, u64)], after: &[(f64, u64)], share: f64) -> f64 {
    let counted = |at: usize| after[at].1 - before.get(at).map_or(0, |(_, count)| *count);
    let all = after.len().checked_sub(1).map_or(0, counted);
    let due = (all as f64 * share).ceil() as u64;
    let found = (0..after.len()).find(|at| counted(*at) >= due);
    found.map_or(0.0, |at| after[at].0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_covers_only_counts_between_samples() {
        let before = [(1.0, 1_000), (2.0, 1_000), (5.0, 1_000), (f64::INFINITY, 1_000)];
        let after = [(1.0, 1_050), (2.0, 1_090), (5.0, 1_099), (f64::INFINITY, 1_100)];
        assert_eq!(share_below(&before, &after, 0.5), 1.0);
        assert_eq!(share_below(&before, &after, 0.9), 2.0);
        assert_eq!(share_below(&before, &after, 0.99), 5.0);
        assert_eq!(share_below(&before, &after, 1.0), f64::INFINITY);
        assert_eq!(share_below(&[], &[], 0.5), 0.0);
    }

    #[test]
    fn tournaments_make_as_many_matches_as_asked_for() {
        assert_eq!(lanes(10, 5), [10]);
        assert_eq!(lanes(10, 12), [10, 10, 4]);
        assert_eq!(lanes(10, 3), [6]);
        for matches in 1..40 {
            assert_eq!(lanes(10, matches).iter().sum::<usize>(), 2 * matches);
        }
    }
}
