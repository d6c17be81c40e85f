//! Progress of a run on stderr: one line that is overwritten on a terminal, a line now and then
//! elsewhere.

use agon_core::{
    Fault, FaultKind, Format, GameResult, MatchCount, MatchId, PlayerName, SprtRule, TournamentPlan,
};
use agon_runner::RunSettings;
use agon_stats::PairCounts;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Shows the progress of a run.
pub(crate) struct Progress {
    sender: Sender<agon_runner::Progress>,
    decisions: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts the display, unless `quiet`.
    pub(crate) fn start(settings: &RunSettings, quiet: bool) -> Progress {
        let (sender, receiver) = channel();
        let decisions = Arc::new(AtomicU64::new(0));
        let mut view = View::new(&settings.plan, quiet, Arc::clone(&decisions));
        let thread = std::thread::spawn(move || {
            loop {
                match receiver.recv_timeout(Duration::from_millis(200)) {
                    Ok(progress) => view.take(progress),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                view.draw();
            }
            view.clear();
        });
        Progress { sender, decisions, thread: Some(thread) }
    }

    /// The callback of the run.
    pub(crate) fn teller(&self) -> impl Fn(agon_runner::Progress) + Send + Sync + 'static {
        let (sender, decisions) = (self.sender.clone(), Arc::clone(&self.decisions));
        move |progress| match progress {
            // Decisions are too many to wake a thread for each.
            agon_runner::Progress::Decisions(count) => {
                decisions.fetch_add(count, Ordering::Relaxed);
            }
            // After the end the receiver is gone, which does not matter.
            rare => drop(sender.send(rare)),
        }
    }

    /// Ends the display, after all reports are shown.
    pub(crate) fn finish(self) {
        let Progress { sender, thread, .. } = self;
        drop(sender);
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

struct View {
    quiet: bool,
    terminal: bool,
    started: Instant,
    drawn: Option<Instant>,
    round: u32,
    format: Format,
    players: usize,
    total: MatchCount,
    matches_done: usize,
    matches_before: usize,
    games: u64,
    decisions: Arc<AtomicU64>,
    faults: u64,
    /// The sequential tests that are being played, if matches are tests.
    tests: Option<Tests>,
}

/// The progress of sequential tests, from the games that this run has seen.
struct Tests {
    rule: SprtRule,
    /// The first player of each match, its latest game, and the pairs so far.
    matches: BTreeMap<MatchId, (PlayerName, Option<GameResult>, PairCounts)>,
    latest: Option<MatchId>,
}

impl Tests {
    fn take(&mut self, id: MatchId, result: GameResult) {
        let Some((player, open, pairs)) = self.matches.get_mut(&id) else { return };
        self.latest = Some(id);
        let halves = |game: &GameResult| match (game.winners.contains(player), game.winners.len()) {
            (true, 1) => 2,
            (true, _) => 1,
            (false, _) => 0,
        };
        match open.take().filter(|first| first.game + 1 == result.game) {
            Some(first) => pairs.add(halves(&first) + halves(&result)),
            // A resumed run may begin within a pair, whose first game it has not seen.
            None if result.game.is_multiple_of(2) => {}
            None => *open = Some(result),
        }
    }

    fn line(&self) -> Option<String> {
        let (_, _, pairs) = self.matches.get(self.latest.as_ref()?)?;
        let state = self.rule.test().after_pairs(pairs);
        let score = pairs.estimate().map_or(0.0, |estimate| estimate.score * 100.0);
        Some(format!(
            " · {} pairs, {score:.1} % · LLR {:.2} ({:.2}, {:.2})",
            pairs.pairs(),
            state.llr,
            state.lower,
            state.upper
        ))
    }
}

impl View {
    fn new(plan: &TournamentPlan, quiet: bool, decisions: Arc<AtomicU64>) -> View {
        let players = plan.players.len();
        View {
            quiet,
            terminal: std::io::stderr().is_terminal(),
            started: Instant::now(),
            drawn: None,
            round: 0,
            total: plan.policy.format.rules().matches_total(players, &[]),
            players,
            format: plan.policy.format.clone(),
            matches_done: 0,
            matches_before: 0,
            games: 0,
            decisions,
            faults: 0,
            tests: plan.policy.rules.sprt.clone().map(|rule| Tests {
                rule,
                matches: BTreeMap::new(),
                latest: None,
            }),
        }
    }

    fn take(&mut self, progress: agon_runner::Progress) {
        match progress {
            agon_runner::Progress::Round { round, matches, done, before } => {
                // Matches of this and earlier rounds that were over before this run began.
                if self.round == 0 {
                    self.matches_before = before + done;
                    self.matches_done = before + done;
                }
                self.round = round;
                self.total = self.format.rules().matches_total(self.players, &[before, matches]);
            }
            agon_runner::Progress::GameEnded { id, result } => {
                self.games += 1;
                if let Some(tests) = &mut self.tests {
                    tests.take(id, result);
                }
            }
            agon_runner::Progress::MatchEnded { .. } => self.matches_done += 1,
            agon_runner::Progress::Fault { id, faulted } => {
                self.faults += 1;
                let place = id.map_or_else(String::new, |id| format!(" in {id}"));
                let text = format!("{}{place}: {}", faulted.player, reason(&faulted.fault));
                // Many faults are counted, not shown one by one.
                if self.faults <= 20 {
                    self.say(&text);
                }
            }
            agon_runner::Progress::Interrupted { id, game, why } => {
                self.say(&format!("game {game} of {id} is void and played again: {why}"));
            }
            agon_runner::Progress::LuckRenewed { matches } => {
                self.say(&format!(
                    "the luck of this run was kept in memory only and is lost; it is renewed, and \
                     {matches} unfinished matches begin anew"
                ));
            }
            agon_runner::Progress::MatchStarted { id, players } => {
                if let (Some(tests), Some(first)) = (&mut self.tests, players.first()) {
                    tests.matches.insert(id, (first.clone(), None, PairCounts::default()));
                }
            }
            agon_runner::Progress::Decisions(_) => {}
        }
    }

    fn say(&mut self, text: &str) {
        if !self.quiet {
            self.clear();
            eprintln!("  ! {text}");
        }
    }

    /// Draws the line, at most ten times a second on a terminal and every ten seconds elsewhere.
    fn draw(&mut self) {
        let pause =
            if self.terminal { Duration::from_millis(100) } else { Duration::from_secs(10) };
        let since = self.drawn.unwrap_or(self.started).elapsed();
        if self.quiet || since < pause {
            return;
        }
        self.drawn = Some(Instant::now());
        let line = self.line();
        let mut stderr = std::io::stderr().lock();
        let _ = match self.terminal {
            true => write!(stderr, "\r\x1b[K{line}").and_then(|()| stderr.flush()),
            false => writeln!(stderr, "{line}"),
        };
    }

    fn line(&self) -> String {
        let elapsed = self.started.elapsed().as_secs_f64().max(0.001);
        let about = if self.total.is_exact { "" } else { "~" };
        let total = format!("/{about}{}", self.total.matches);
        let faults =
            if self.faults > 0 { format!(" · {} faults", self.faults) } else { String::new() };
        format!(
            "round {} · matches {}{total} · games {} · {:.0} decisions/s{faults}{} · ETA {}",
            self.round.max(1),
            self.matches_done,
            self.games,
            self.decisions.load(Ordering::Relaxed) as f64 / elapsed,
            self.tests.as_ref().and_then(Tests::line).unwrap_or_default(),
            self.eta(elapsed),
        )
    }

    fn eta(&self, elapsed: f64) -> String {
        let played = self.matches_done - self.matches_before;
        match self.total.matches {
            total if played > 0 => {
                let left = total.saturating_sub(self.matches_done) as f64;
                let seconds = (left * elapsed / played as f64).ceil() as u64;
                format!("{}:{:02}", seconds / 60, seconds % 60)
            }
            _ => "–".into(),
        }
    }

    fn clear(&mut self) {
        if self.terminal && self.drawn.is_some() && !self.quiet {
            eprint!("\r\x1b[K");
        }
    }
}

fn reason(fault: &Fault) -> String {
    match fault.kind {
        FaultKind::NoShow | FaultKind::Withdrew => fault.kind.to_string(),
        _ => fault.to_string(),
    }
}
