//! An operator that interferes by chance, and what a shell does about it.

use super::{Live, World};
use agon_bots::Dice;
use agon_core::{
    Match, MatchCommand, MatchId, MatchOrder, PlayerName, Ruling, TournamentCommand,
    TournamentOrder, Why,
};

/// An operator's ruling.
pub(crate) fn ruling(why: &str) -> Ruling {
    let by = PlayerName::new("olga").expect("a name");
    Ruling { by, why: Why::new(why).expect("a reason") }
}

/// The operator's next action.
pub(crate) struct Operator {
    dice: Dice,
    /// One step in so many pauses the tournament.
    pause_in: usize,
    pauses_left: u32,
}

impl Operator {
    pub(crate) fn new(seed: u64) -> Operator {
        let mut dice = Dice::new("operator", &seed.to_string());
        let pause_in = 3 + dice.below(200);
        Operator { dice, pause_in, pauses_left: 6 }
    }
}

impl World {
    /// Lets an operator interfere; `true` if it did, or if nothing may move by itself now.
    pub(super) fn operate(&mut self) -> bool {
        let Some(mut operator) = self.operator.take() else { return false };
        let acted = match self.tournament.paused().is_some() {
            true => {
                self.rule(&mut operator.dice);
                true
            }
            false => {
                let pause = operator.pauses_left > 0 && operator.dice.below(operator.pause_in) == 0;
                if pause {
                    operator.pauses_left -= 1;
                    self.order(TournamentOrder::Pause);
                    self.follow();
                }
                pause
            }
        };
        self.operator = Some(operator);
        acted
    }

    fn order(&mut self, order: TournamentOrder) {
        self.step(TournamentCommand::Order { order, ruling: ruling("by chance") });
    }

    fn rule(&mut self, dice: &mut Dice) {
        let round = self.tournament.rounds().last();
        let plans = round.map_or(&[][..], |round| &round.matches[..]);
        let plan = (!plans.is_empty()).then(|| plans[dice.below(plans.len())].clone());
        let Some(plan) = plan.filter(|_| dice.below(12) > 2) else {
            return match dice.below(2) {
                0 => self.let_come(),
                _ => self.resume(),
            };
        };
        let id = plan.id;
        match dice.below(8) {
            0..=2 => self.order_game(&id, MatchOrder::Void(dice.below(5) as u32)),
            3 => self.order_game(&id, MatchOrder::UndoVoid(dice.below(5) as u32)),
            4 => {
                let winners = plan.players.into_iter().filter(|_| dice.below(2) == 0).collect();
                self.order(TournamentOrder::Override { id, winners });
            }
            5 => self.order(TournamentOrder::Replay { id }),
            6 => self.order(TournamentOrder::Undo { id }),
            _ => self.let_come(),
        }
    }

    /// Messages in flight arrive during the pause.
    fn let_come(&mut self) {
        if let Some((at, _)) = self.coming.keys().next() {
            self.now = self.now.max(*at);
            self.take_coming();
        }
        let open: Vec<MatchId> =
            self.tournament.open_matches().map(|plan| plan.id.clone()).collect();
        for id in &open {
            self.report_if_over(id);
        }
    }

    fn order_game(&mut self, id: &MatchId, order: MatchOrder) {
        let Some(hand) = self.matches.get(id) else { return };
        let before: Match = hand.live.clone();
        let command = MatchCommand::Order { order, ruling: ruling("by chance") };
        if self.step_match(id, command).is_err() {
            assert!(self.matches[id].live.same_state(&before), "{order:?} was refused");
        }
    }

    fn resume(&mut self) {
        self.order(TournamentOrder::Resume);
        self.greeted.clear();
        self.follow();
    }

    /// Brings all matches into line with the tournament.
    fn follow(&mut self) {
        let paused = self.tournament.paused().is_some();
        let open: Vec<MatchId> =
            self.tournament.open_matches().map(|plan| plan.id.clone()).collect();
        for id in open {
            let replays = self.tournament.replays(&id).len();
            let ended = self.ended.get(&id);
            if !paused && ended.is_some_and(|hand| (hand.live.reopened() as usize) < replays) {
                let hand = self.ended.remove(&id).expect("the entry exists");
                self.matches.insert(id.clone(), hand);
                self.obey(&id, MatchOrder::Reopen);
                self.call_in(&id);
                continue;
            }
            let Some(Live { live, delivered, .. }) = self.matches.get_mut(&id) else { continue };
            if live.result().is_some() {
                continue;
            }
            if paused {
                self.obey(&id, MatchOrder::Pause);
            } else if self.tournament.overridden(&id).is_some() {
                self.obey(&id, MatchOrder::CallOff);
            } else {
                delivered.clear();
                self.obey(&id, MatchOrder::Resume);
            }
        }
    }

    fn obey(&mut self, id: &MatchId, order: MatchOrder) {
        let command = MatchCommand::Order { order, ruling: ruling("the tournament says so") };
        assert!(self.step_match(id, command).is_ok(), "{id}: {order:?}");
    }
}
