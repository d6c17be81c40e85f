//! A fourth game, to show what adding one takes: this file, and one line where games are listed.
//!
//! Pebbles: a heap, the players in turn take one to three pebbles, who takes the last one wins. How
//! large the heap is is luck.

use crate::support::check::verify_all;
use crate::support::plan::{name, numbered, of_preset};
use crate::support::script::first_legal;
use crate::support::{Call, CallKind, Reply, Script, World};
use agon_core::{Preset, Raw, Secret, TournamentPlan};
use agon_embed::{GameSetup, TurnRequest};
use agon_games::{Game, Luck, Outcome, Refusal, Registry, Seat, SeatSet, Seed, SetupError, Viewer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    heap_max: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config { heap_max: 30 }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
struct View {
    heap: u64,
    turn: Seat,
}

#[derive(Clone, PartialEq, Debug)]
struct Pebbles {
    heap: u64,
    turn: Seat,
    seats: usize,
    removed: SeatSet,
    last: Option<Seat>,
    fresh: bool,
}

impl Pebbles {
    /// The seats still in.
    fn left(&self) -> SeatSet {
        Seat::all(self.seats).filter(|seat| !self.removed.contains(*seat)).collect()
    }

    fn pass_turn(&mut self) {
        let left = self.left();
        let after = left.into_iter().find(|seat| *seat > self.turn);
        self.turn = after.or(left.first()).unwrap_or(self.turn);
    }
}

impl Game for Pebbles {
    const NAME: &'static str = "pebbles";
    const SEATS: RangeInclusive<usize> = 2..=4;
    type Config = Config;
    type Question = View;
    type Answer = u64;
    type View = View;
    type Drawn = serde_json::Value;

    fn new(config: &Config, seats: usize, seed: &Seed) -> Result<Pebbles, SetupError> {
        if config.heap_max == 0 {
            return Err(SetupError::Config("heap_max is at least 1".into()));
        }
        let heap = 1 + Luck::new(seed, "heap").below(0, config.heap_max);
        let (turn, removed, last) = (Seat(0), SeatSet::EMPTY, None);
        Ok(Pebbles { heap, turn, seats, removed, last, fresh: true })
    }

    fn seats(&self) -> usize {
        self.seats
    }

    fn awaiting(&self) -> SeatSet {
        match self.heap == 0 || self.left().is_empty() {
            true => SeatSet::EMPTY,
            false => SeatSet::one(self.turn),
        }
    }

    fn question(&self, seat: Seat) -> Option<View> {
        self.awaiting().contains(seat).then(|| self.view(Viewer::Seat(seat)))
    }

    fn view(&self, _viewer: Viewer) -> View {
        View { heap: self.heap, turn: self.turn }
    }

    fn check(&self, seat: Seat, answer: &u64) -> Result<(), Refusal> {
        if !self.awaiting().contains(seat) {
            return Err(Refusal::not_asked("it is not your turn"));
        }
        if !(1..=3.min(self.heap)).contains(answer) {
            return Err(Refusal::illegal("bad-handful", format!("{answer} of {}", self.heap)));
        }
        Ok(())
    }

    fn apply(&mut self, seat: Seat, answer: &u64) -> Result<(), Refusal> {
        self.check(seat, answer)?;
        (self.heap, self.last, self.fresh) = (self.heap - answer, Some(seat), false);
        self.pass_turn();
        Ok(())
    }

    fn remove(&mut self, seat: Seat) {
        if !self.awaiting().is_empty() {
            self.removed.insert(seat);
            self.fresh = false;
            if seat == self.turn {
                self.pass_turn();
            }
        }
    }

    fn removed(&self) -> SeatSet {
        self.removed
    }

    fn outcome(&self) -> Option<Outcome> {
        self.awaiting().is_empty().then(|| {
            let won = |seat| i64::from(self.last == Some(seat) && self.heap == 0);
            Outcome::by_score(Seat::all(self.seats).map(won).collect(), self.removed)
        })
    }

    fn legal_in(question: &View, _view: &View) -> Vec<u64> {
        (1..=3.min(question.heap)).collect()
    }

    fn drawn(&self) -> Option<serde_json::Value> {
        self.fresh.then(|| self.heap.into())
    }

    fn render(&self, _names: &[String], _colour: bool) -> String {
        format!("{} pebbles\n", self.heap)
    }

    fn tell(&self, _before: &Pebbles, _seat: Seat, answer: &u64) -> String {
        format!("takes {answer}")
    }
}

fn games() -> Registry {
    Registry::standard().with::<Pebbles>()
}

/// A plan for Pebbles under the policy of a preset.
fn plan(preset: &str, players: usize) -> TournamentPlan {
    let games = games();
    let kind = games.kind("pebbles").expect("it is listed");
    let policy = Preset::named(preset).expect("a preset").policy;
    let config = Raw(kind.check_config("{}").expect("a configuration"));
    let base = of_preset(preset, "", numbered(players));
    TournamentPlan { game: "pebbles".into(), config, policy, preset: None, ..base }
}

/// Takes what leaves a multiple of four, if it can.
fn clever() -> Script {
    Box::new(|call: &Call<'_>| match call.what {
        CallKind::Game { seat, game } => {
            let view: View = serde_json::from_str(game.view(Viewer::Seat(seat)).get()).unwrap();
            Reply::Answer((view.heap % 4).max(1).to_string())
        }
        _ => first_legal()(call),
    })
}

fn greedy_hand() -> Script {
    Box::new(|call: &Call<'_>| match call.what {
        CallKind::Game { .. } => Reply::text("7"),
        _ => first_legal()(call),
    })
}

#[test]
fn another_game_plays_under_every_policy_and_verifies() {
    for (preset, players) in
        [("yahtzee-class", 5), ("yahtzee-referee", 3), ("yahtzee-queue", 4), ("fish", 7)]
    {
        let scripts = |odd: bool| -> Vec<Script> {
            let one = |at| if at == 0 && odd { greedy_hand() } else { clever() };
            (0..players).map(one).collect()
        };
        for odd in [false, true] {
            let secret = Secret::from_seed_number(4);
            let world = World::new(plan(preset, players), games(), secret, scripts(odd));
            let played = world.expect("a plan").play();
            verify_all(&played.streams, &games()).unwrap_or_else(|finding| panic!("{finding}"));
            let results = played.results();
            assert_eq!(results.winners.len(), 1, "{preset}");
            assert_eq!(results.cheating.len(), usize::from(odd), "{preset}");
            assert!(!odd || results.winners != [name("p1")], "{preset}");
        }
    }
}

#[test]
fn a_log_of_a_game_nobody_knows_is_a_finding() {
    let secret = Secret::from_seed_number(4);
    let scripts = vec![clever(), clever()];
    let played = World::new(plan("fish", 2), games(), secret, scripts).expect("a plan").play();
    let finding = verify_all(&played.streams, &Registry::standard()).unwrap_err();
    assert!(finding.what.contains("pebbles"), "{finding}");
}

#[test]
fn another_game_runs_at_a_table_of_ones_own() {
    let first = |turn: &TurnRequest<'_, Pebbles>| Pebbles::legal_in(turn.question, turn.view).pop();
    let report = GameSetup::<Pebbles>::new(Config::default())
        .player("bob", |_: &TurnRequest<'_, Pebbles>| Some(0))
        .player("ann", first)
        .run()
        .expect("a game");
    assert_eq!((report.leaderboard[0].name.as_str(), report.leaderboard.len()), ("ann", 1));
    assert_eq!(report.cheating_players, ["bob"]);
}
