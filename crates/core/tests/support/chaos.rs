//! Tournaments of players that mostly play and now and then do the worst they can think of.

use super::plan::{numbered, of_preset};
use super::script::{house, polite};
use super::{CallKind, Operator, Played, Reply, Script, World, ruling};
use agon_bots::Dice;
use agon_core::{
    Fault, Format, Match, MatchCommand, MatchOrder, Pairing, PlayerName, Secret, Ties,
    TournamentPlan,
};
use agon_games::Registry;

/// Which tournament, and how wild.
#[derive(Clone, Debug)]
pub(crate) struct Chaos {
    pub(crate) preset: &'static str,
    /// The format as people write it; empty for that of the preset.
    pub(crate) format: &'static str,
    pub(crate) best_of: u32,
    pub(crate) players: usize,
    pub(crate) seed: u64,
    /// One answer in so many is odd; 0 is never.
    pub(crate) odd_in: usize,
    /// True if an operator interferes.
    pub(crate) ruled: bool,
}

impl Chaos {
    /// The plan of the tournament.
    pub(crate) fn plan(&self) -> TournamentPlan {
        let config = match self.preset {
            "trains" => {
                let color = |at: usize| ["red", "blue", "green", "white"][at * 7 % 5 % 4];
                let deck: Vec<&str> = (0..120).map(color).collect();
                serde_json::json!({"confirm": true, "deck": deck}).to_string()
            }
            "fish" => r#"{"confirm":true,"rows":4,"columns":4,"difficulty":3}"#.into(),
            _ => String::new(),
        };
        let mut plan = of_preset(self.preset, &config, numbered(self.players));
        if self.preset.starts_with("yahtzee") {
            plan.policy.rules.best_of = self.best_of;
            plan.policy.rules.rotate_seats = self.seed.is_multiple_of(3);
        }
        plan.policy.rules.duplicate = self.is_duplicate();
        if !self.format.is_empty() && self.players > 1 {
            plan.policy.format = Format::read(self.format, &(2..=2)).expect("a format");
            plan.policy.pairing =
                if self.seed.is_multiple_of(2) { Pairing::Order } else { Pairing::Random };
            plan.policy.rules.ties = Ties::Share;
            if self.seed % 2 == 1 || plan.policy.check().is_err() {
                plan.policy.rules.ties = Ties::Replay;
            }
            if plan.policy.check().is_err() {
                plan.policy.format.rules().adapt(&mut plan.policy.rules);
            }
        }
        plan
    }

    /// Returns whether its games are duplicated.
    pub(crate) fn is_duplicate(&self) -> bool {
        self.seed % 4 == 1
    }

    /// Plays it, with commands thrown in that must change nothing.
    pub(crate) fn play(&self) -> Played {
        let plan = self.plan();
        let scripts = (0..self.players).map(|_| self.script(&plan.game)).collect();
        let secret = Secret::from_seed_number(self.seed);
        let world = World::new(plan, Registry::standard(), secret, scripts).expect("a plan");
        let mut dice = Dice::new("noise", &self.seed.to_string());
        let world = world.with_noise(Box::new(move |live| noise(live, &mut dice)));
        match self.ruled {
            true => world.with_operator(Operator::new(self.seed)).play(),
            false => world.play(),
        }
    }

    fn script(&self, game: &str) -> Script {
        let mut bot = house(game, "random");
        let (odd_in, seed) = (self.odd_in, self.seed);
        let mut calls = 0;
        Box::new(move |call| {
            calls += 1;
            let mut dice = Dice::new(call.player, &format!("{seed} {calls} {}", call.request));
            if odd_in == 0 || dice.below(odd_in) != 0 {
                return bot(call);
            }
            let answer = match bot(call) {
                Reply::Answer(text) => text,
                _ => String::new(),
            };
            odd(&call.what, &mut dice, answer)
        })
    }
}

fn odd(what: &CallKind<'_>, dice: &mut Dice, answer: String) -> Reply {
    if !matches!(what, CallKind::Game { .. }) && dice.below(2) == 0 {
        return polite(what);
    }
    match dice.below(12) {
        0 => Reply::Hang,
        1 => Reply::Crash(None),
        2..=4 => Reply::Crash(Some(dice.below(70_000) as u64)),
        5 => Reply::text("garbage"),
        6 => Reply::text("\"ok\""),
        7 => Reply::text(r#"{"score":"chance","points":999}"#),
        8 => Reply::text(r#"{"move":[[0,0],[0,0]]}"#),
        9 => Reply::After(dice.below(12_000) as u64, answer),
        10 => Reply::Steal(answer),
        _ => Reply::Withdraw,
    }
}

/// Commands that a well-behaved shell would not send now.
fn noise(live: &Match, dice: &mut Dice) -> Vec<MatchCommand> {
    if dice.below(4) != 0 {
        return Vec::new();
    }
    let player = live.plan().players[dice.below(live.plan().players.len())].clone();
    let stranger = PlayerName::new("nobody").expect("a name");
    let id = &live.plan().id;
    let request = format!("{id}.{}.{}.{}", dice.below(3), dice.below(4), dice.below(20));
    let answer = |player: &PlayerName, request: &str| MatchCommand::Answer {
        player: player.clone(),
        request: request.into(),
        answer: "null".into(),
        took_ms: None,
    };
    let order = |order| MatchCommand::Order { order, ruling: ruling("noise") };
    vec![
        answer(&player, &request),
        answer(&player, &format!("{id}.1.0.result")),
        answer(&player, "r0m0.1.1.1"),
        answer(&stranger, &request),
        MatchCommand::Arrive { player: stranger.clone(), nonce: None },
        MatchCommand::Leave { player: stranger, fault: Fault::disconnected("lost") },
        MatchCommand::Charge { player: player.clone(), fault: Fault::timeout(1) },
        MatchCommand::Expire { player: player.clone() },
        MatchCommand::Arrive { player, nonce: None },
        order(MatchOrder::Reopen),
        order(MatchOrder::Void(dice.below(4) as u32)),
        order(MatchOrder::UndoVoid(dice.below(4) as u32)),
        order(MatchOrder::Resume),
        order(MatchOrder::Pause),
    ]
}
