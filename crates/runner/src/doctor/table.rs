//! A match between the candidate and others that play at random or as a house player does. What
//! the candidate is asked comes from the match machine itself, encoded as a run or a server does.

use crate::doctor::shapes::Shape;
use agon_bots::{Dice, HousePlayer, Houses};
use agon_core::{
    Ask, Fault, Match, MatchCommand, MatchId, MatchPlan, MatchRules, Pending, PlayerName, Raw,
    RequestId, Secret, Secrets, Timestamp, TournamentId,
};
use agon_games::{GameKind, GameState, Refusal, Seat};
use agon_wire::native::{self, ToPlayer};
use agon_wire::request::{RequestWriter, Shows};
use std::sync::Arc;

/// One question to the candidate, with the position it is about.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// As the answer must carry it.
    pub(crate) id: String,
    /// The request with the history of its match, and its line end.
    pub(crate) line: Vec<u8>,
    /// The same without the history.
    pub(crate) brief: Vec<u8>,
    pub(crate) seat: Seat,
    pub(crate) game: Box<dyn GameState>,
}

impl Case {
    /// The match it is of, as its id names it.
    pub(crate) fn of_match(&self) -> &str {
        self.id.split('.').next().unwrap_or_default()
    }

    /// Checks that the rules allow this answer.
    pub(crate) fn check(&self, answer: &str) -> Result<(), Refusal> {
        self.game.check(self.seat, answer).map(drop)
    }

    /// The question, in a word.
    pub(crate) fn ask(&self) -> String {
        let question = self.game.question(self.seat);
        let value: Option<serde_json::Value> =
            question.and_then(|question| serde_json::from_str(question.get()).ok());
        let ask = value.as_ref().and_then(|value| value["ask"].as_str());
        ask.unwrap_or("question").to_owned()
    }
}

/// How matches are made.
pub(crate) struct Maker {
    pub(crate) kind: Arc<dyn GameKind>,
    pub(crate) rules: MatchRules,
    pub(crate) tournament: TournamentId,
    /// Over sockets ids begin with the tournament's name.
    pub(crate) prefixed: bool,
    pub(crate) candidate: PlayerName,
    pub(crate) seed: u64,
    pub(crate) houses: Houses,
    /// Matches of one maker are of one round, so that no two makers give the same ids.
    round: u32,
    made: u32,
}

/// A match in progress.
pub(crate) struct Table {
    played: Match,
    candidate: PlayerName,
    tournament: TournamentId,
    prefixed: bool,
    house: Option<Box<dyn HousePlayer>>,
    dice: Dice,
    /// True if others may be removed on the way.
    removals: bool,
}

impl Maker {
    pub(crate) fn new(
        kind: Arc<dyn GameKind>,
        rules: MatchRules,
        candidate: PlayerName,
        seed: u64,
        round: u32,
        prefixed: bool,
    ) -> Maker {
        let tournament = TournamentId::from("exam".to_owned());
        let houses = Houses::standard();
        Maker { kind, rules, tournament, prefixed, candidate, seed, houses, round, made: 0 }
    }

    /// A new match in which everybody is there. No two of a maker have the same ids.
    pub(crate) fn table(&mut self, shape: &Shape) -> Table {
        self.made += 1;
        let id = MatchId::of(self.round, self.made);
        let mut dice = Dice::new(&self.seed.to_string(), id.as_str());
        let own = dice.below(shape.seats);
        let other = |number: usize| PlayerName::new(&format!("other-{number}"));
        let names = (0..shape.seats).map(|seat| match seat == own {
            true => self.candidate.clone(),
            false => other(seat).expect("a name of letters"),
        });
        let plan = MatchPlan {
            tournament: self.tournament.clone(),
            id: id.clone(),
            round: self.round,
            players: names.collect(),
            reason: "an exam".into(),
            game: self.kind.name().into(),
            config: Raw::parse(&shape.config).expect("shapes are JSON"),
            rules: self.rules.clone(),
        };
        let secrets = Secrets::Known(Secret::from_seed_number(self.seed).of_match(&id));
        let players = plan.players.clone();
        let (mut played, _) =
            Match::create(plan, Arc::clone(&self.kind), secrets, Timestamp::default())
                .expect("shapes were set up before");
        for player in players {
            let _ = played.step(Timestamp::default(), MatchCommand::Arrive { player, nonce: None });
        }
        let greedy = dice.below(2) == 1;
        let house = self.houses.make(self.kind.name(), "greedy").ok().filter(|_| greedy);
        let removals = shape.seats > 2 && dice.below(3) == 0;
        let (candidate, tournament) = (self.candidate.clone(), self.tournament.clone());
        let prefixed = self.prefixed;
        Table { played, candidate, tournament, prefixed, house, dice, removals }
    }
}

impl Table {
    /// Lets the others play until the candidate is asked something. Gives the lines of notices
    /// that come before the question, and the question; none if the match is over.
    pub(crate) fn next(&mut self) -> (Vec<Vec<u8>>, Option<Case>) {
        let mut notices = Vec::new();
        while self.played.result().is_none() {
            let pending = self.played.pending();
            let own = pending.iter().find(|pending| pending.player == self.candidate);
            let Some(next) = own.or_else(|| pending.first()) else { break };
            let next = next.clone();
            if next.player != self.candidate {
                self.play_other(&next);
            } else if let Some(notice) = self.notice(&next) {
                notices.push(notice);
                self.step_answer(&next, "\"ok\"".into());
            } else if let Some(case) = self.case(&next) {
                return (notices, Some(case));
            }
        }
        (notices, None)
    }

    /// The candidate's answer to the latest question, if the rules allow it.
    pub(crate) fn answer(&mut self, answer: &str) {
        let own = self.played.pending().into_iter().find(|open| open.player == self.candidate);
        if let Some(pending) = own {
            self.step_answer(&pending, answer.to_owned());
        }
    }

    /// Some legal answer to the question, as the others would give it.
    pub(crate) fn any_answer(&mut self, case: &Case) -> String {
        if let Some(house) = &mut self.house {
            let name = self.candidate.as_str();
            return house.answer(name, &case.id, case.seat, &*case.game).get().to_owned();
        }
        let legal = case.game.legal(case.seat);
        legal[self.dice.below(legal.len())].get().to_owned()
    }

    /// Ends games by somebody else's fault and by the candidate's in turn, as often as the match
    /// allows it.
    pub(crate) fn pile_up_games(&mut self, count: u32) {
        for game in 0..count {
            let pending = self.played.pending();
            let wanted = |open: &&Pending| (open.player == self.candidate) == (game % 2 == 0);
            let Some(open) = pending.iter().find(wanted).or_else(|| pending.first()) else {
                return;
            };
            let (player, fault) = (open.player.clone(), Fault::timeout(10_000));
            let _ = self
                .played
                .step(Timestamp::default(), MatchCommand::Charge { player: player.clone(), fault });
            let _ = self
                .played
                .step(Timestamp::default(), MatchCommand::Arrive { player, nonce: None });
        }
    }

    fn play_other(&mut self, pending: &Pending) {
        if self.removals && self.dice.below(12) == 0 {
            self.removals = false;
            let (player, fault) = (pending.player.clone(), Fault::timeout(10_000));
            let _ = self.played.step(Timestamp::default(), MatchCommand::Charge { player, fault });
            return;
        }
        let answer = match (pending.ask, self.played.referee()) {
            (Ask::Game(seat), Some(referee)) if !referee.game().only_tells(seat) => {
                let game = referee.game();
                match &mut self.house {
                    Some(house) => {
                        let (name, id) = (pending.player.as_str(), pending.id.as_str());
                        house.answer(name, id, seat, game).get().to_owned()
                    }
                    None => {
                        let legal = game.legal(seat);
                        legal[self.dice.below(legal.len())].get().to_owned()
                    }
                }
            }
            _ => "\"ok\"".to_owned(),
        };
        self.step_answer(pending, answer);
    }

    fn step_answer(&mut self, pending: &Pending, answer: String) {
        let (player, request) = (pending.player.clone(), pending.id.clone());
        let _ = self.played.step(
            Timestamp::default(),
            MatchCommand::Answer { player, request, answer, took_ms: Some(0) },
        );
    }

    /// The request as a notice; `None` if it is a question.
    fn notice(&self, pending: &Pending) -> Option<Vec<u8>> {
        let notice = self.played.notice(pending)?;
        Some(native::encode(&ToPlayer::notice(notice.about, Some(notice.data))))
    }

    fn case(&self, pending: &Pending) -> Option<Case> {
        let Ask::Game(seat) = pending.ask else { return None };
        let game = self.played.referee()?.game();
        let id = match self.prefixed {
            true => RequestId::from(format!("{}:{}", self.tournament, pending.id)),
            false => pending.id.clone(),
        };
        let prefix = Some(&self.tournament).filter(|_| self.prefixed);
        let write = |shows: Shows| {
            let (mut requests, mut line) = (RequestWriter::default(), Vec::new());
            let limit_ms = pending.limit_ms;
            let asks = requests.write(&self.played, prefix, pending, limit_ms, shows, &mut line);
            asks.then_some(line)
        };
        let (line, brief) = (write(Shows::History)?, write(Shows::Score)?);
        Some(Case { id: id.as_str().to_owned(), line, brief, seat, game: game.boxed_clone() })
    }
}
