//! One game without a server: for people who embed Agon in a program of their own.
//!
//! Set up a game, hand it players as plain functions or as values of a type that implements
//! [`Player`], subscribe to updates and to the final report, and run it to the end. Who cheats or
//! fails is out at once, as in the Fish and Trains rules; the others play on.
//!
//! ```
//! use agon_core::driver::Table;
//! use agon_games::{Game, fish};
//!
//! let config = fish::Config { rows: 4, columns: 4, difficulty: 2, ..Default::default() };
//! let first = |ask: &agon_core::driver::Asked<'_, fish::Fish>| {
//!     fish::Fish::legal_in(ask.question, ask.view).into_iter().next()
//! };
//! let mut updates = 0;
//! let report = Table::<fish::Fish>::new(config)
//!     .seed_number(7)
//!     .player("ann", first)
//!     .player("bob", first)
//!     .player("cat", |_: &agon_core::driver::Asked<'_, fish::Fish>| None)
//!     .on_update(|_view| updates += 1)
//!     .run()
//!     .unwrap();
//! assert_eq!(report.failing_players, ["cat"]);
//! assert_eq!(report.leaderboard.len(), 2);
//! assert!(updates > 8);
//! ```

use agon_games::{Game, Outcome, Refusal, RefusalKind, Seat, Seed, SetupError, Viewer};
use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One question to a player.
#[derive(Debug)]
pub struct Asked<'a, G: Game> {
    /// The seat it plays.
    pub seat: Seat,
    /// What is asked.
    pub question: &'a G::Question,
    /// All it may know.
    pub view: &'a G::View,
}

/// A player of `G`. Functions from [`Asked`] to an optional answer are players.
pub trait Player<G: Game> {
    /// The answer; `None` is a failure to answer, and so is a panic.
    fn answer(&mut self, asked: &Asked<'_, G>) -> Option<G::Answer>;
}

impl<G: Game, F: FnMut(&Asked<'_, G>) -> Option<G::Answer>> Player<G> for F {
    fn answer(&mut self, asked: &Asked<'_, G>) -> Option<G::Answer> {
        self(asked)
    }
}

/// How a game ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Report {
    /// Who neither cheated nor failed, best first, with points and rank.
    pub leaderboard: Vec<Standing>,
    /// Who broke a rule, in the order it happened.
    pub cheating_players: Vec<String>,
    /// Who gave no answer, or one of the wrong kind, in the order it happened.
    pub failing_players: Vec<String>,
    /// The reason for each of them, by name.
    pub reasons: Vec<(String, String)>,
}

/// A line of the leaderboard.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Standing {
    /// Who.
    pub name: String,
    /// Points.
    pub score: i64,
    /// Rank, 1 is first, shared by equals.
    pub rank: u8,
}

type Update<'a, G> = Box<dyn FnMut(&<G as Game>::View) + 'a>;
type OnReport<'a> = Box<dyn FnMut(&Report) + 'a>;

/// A game to be played: its set-up, players and observers.
pub struct Table<'a, G: Game> {
    config: G::Config,
    seed: Seed,
    players: Vec<(String, Box<dyn Player<G> + 'a>)>,
    on_update: Vec<Update<'a, G>>,
    on_report: Vec<OnReport<'a>>,
}

impl<'a, G: Game> Table<'a, G> {
    /// A game under `config`, with luck from seed number 0 until another is given.
    pub fn new(config: G::Config) -> Table<'a, G> {
        let seed = Seed::from_number(0);
        let (on_update, on_report) = (Vec::new(), Vec::new());
        Table { config, seed, players: Vec::new(), on_update, on_report }
    }

    /// Luck from a seed.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Luck from a number.
    #[must_use]
    pub fn seed_number(self, number: u64) -> Self {
        self.seed(Seed::from_number(number))
    }

    /// Seats a player; seats go in the order of calls.
    #[must_use]
    pub fn player(mut self, name: &str, player: impl Player<G> + 'a) -> Self {
        self.players.push((name.to_owned(), Box::new(player)));
        self
    }

    /// Subscribes to every update: the public view after set-up, every answer and every removal,
    /// and the full view at the end.
    #[must_use]
    pub fn on_update(mut self, observer: impl FnMut(&G::View) + 'a) -> Self {
        self.on_update.push(Box::new(observer));
        self
    }

    /// Subscribes to the final report.
    #[must_use]
    pub fn on_report(mut self, observer: impl FnMut(&Report) + 'a) -> Self {
        self.on_report.push(Box::new(observer));
        self
    }

    /// Plays the game to its end.
    pub fn run(mut self) -> Result<Report, SetupError> {
        let count = self.players.len();
        if !G::SEATS.contains(&count) {
            let (min, max) = (*G::SEATS.start(), *G::SEATS.end());
            return Err(SetupError::Seats { game: G::NAME, min, max, given: count });
        }
        let mut game = G::new(&self.config, count, &self.seed)?;
        let mut out = Vec::new();
        self.update(&game);
        while let Some(seat) = game.awaiting().first() {
            if let Err((kind, reason)) = self.turn(&mut game, seat) {
                out.push((seat, kind, reason));
                game.remove(seat);
            }
            self.update(&game);
        }
        let outcome = game.outcome().expect("nobody is asked any more, so the game is over");
        let report = self.report(&outcome, &out);
        self.on_report.iter_mut().for_each(|observer| observer(&report));
        Ok(report)
    }

    /// Asks one seat and applies its answer, or says why it is out.
    fn turn(&mut self, game: &mut G, seat: Seat) -> Result<(), (RefusalKind, String)> {
        let question = game.question(seat).expect("an awaited seat has a question");
        let view = game.view(Viewer::Seat(seat));
        let asked = Asked { seat, question: &question, view: &view };
        let player = &mut self.players[seat.index()].1;
        let answer = catch_unwind(AssertUnwindSafe(|| player.answer(&asked)))
            .map_err(|_| (RefusalKind::Malformed, "panicked".to_owned()))?
            .ok_or((RefusalKind::Malformed, "gave no answer".to_owned()))?;
        game.apply(seat, &answer).map_err(|refusal: Refusal| (refusal.kind, refusal.to_string()))
    }

    fn update(&mut self, game: &G) {
        if self.on_update.is_empty() {
            return;
        }
        let viewer = if game.outcome().is_some() { Viewer::Full } else { Viewer::Public };
        let view = game.view(viewer);
        self.on_update.iter_mut().for_each(|observer| observer(&view));
    }

    fn report(&self, outcome: &Outcome, out: &[(Seat, RefusalKind, String)]) -> Report {
        let name = |seat: Seat| self.players[seat.index()].0.clone();
        let ranked = Seat::all(self.players.len()).filter_map(|seat| {
            let rank = outcome.ranks[seat.index()]?;
            Some(Standing { name: name(seat), score: outcome.scores[seat.index()], rank })
        });
        let mut leaderboard: Vec<Standing> = ranked.collect();
        leaderboard.sort_by_key(|standing| standing.rank);
        let of_kind = |cheat: bool| {
            let those = out.iter().filter(|(_, kind, _)| (*kind == RefusalKind::Illegal) == cheat);
            those.map(|(seat, _, _)| name(*seat)).collect()
        };
        let reasons = out.iter().map(|(seat, _, reason)| (name(*seat), reason.clone())).collect();
        Report {
            leaderboard,
            cheating_players: of_kind(true),
            failing_players: of_kind(false),
            reasons,
        }
    }
}

impl<G: Game> std::fmt::Debug for Table<'_, G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&String> = self.players.iter().map(|(name, _)| name).collect();
        f.debug_struct("Table").field("game", &G::NAME).field("players", &names).finish()
    }
}
