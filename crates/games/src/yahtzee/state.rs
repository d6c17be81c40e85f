//! A game in progress: whose turn it is, what was chosen, and the judgement of answers.
//!
//! The state is small and flat, since players simulate it by the million: a turn of one seat is two
//! bytes of choices, and the dice on the table are looked up when somebody asks for them.

use super::answer::{Answer, Keep, Places, Question, Score};
use super::card::Card;
use super::config::{Config, DiceSource, Rule};
use super::dice::{Hand, Record, Sequence, draw};
use super::view::View;
use super::{Dice, ScoreBox, TURNS, text};
use crate::{Game, Outcome, Refusal, Seat, SeatSet, Seed, SetupError, Viewer};
use serde_json::json;
use std::ops::RangeInclusive;

/// Seats in a game.
const SEATS: usize = 2;

/// A game of Yahtzee.
#[derive(Clone, PartialEq, Debug)]
pub struct Yahtzee {
    sides: [Side; SEATS],
    /// The turn that is being played, from 0; 13 once all have been.
    turn: u8,
    /// The seats that have not scored in this turn; empty once the game is over.
    awaiting: SeatSet,
    removed: SeatSet,
    source: DiceSource,
    rule: Rule,
    drawn: Drawn,
}

/// What one seat has and did.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Side {
    pub(super) sequences: [Sequence; TURNS],
    pub(super) records: [Record; TURNS],
    pub(super) card: Card,
    pub(super) step: Step,
}

/// How far a seat is in the turn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
pub(super) enum Step {
    /// It chooses keepers of the first roll.
    First,
    /// It chooses keepers of the second roll.
    Second,
    /// It chooses a box.
    Score,
    /// It waits for the other seat.
    Done,
}

/// What the latest step took from luck.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Drawn {
    Nothing,
    /// The first rolls of a turn.
    Turn,
    /// The dice that this seat did not keep.
    Rest(Seat),
}

/// An answer that was found legal.
enum Move {
    Keep(Places),
    Score(ScoreBox),
}

impl Side {
    fn on_table(&self, turn: usize) -> Dice {
        self.sequences[turn].on_table(self.records[turn])
    }

    #[inline]
    fn hand(&self, turn: usize) -> Hand {
        self.sequences[turn].hand(self.records[turn])
    }
}

impl Yahtzee {
    pub(super) fn turn(&self) -> usize {
        usize::from(self.turn)
    }

    pub(super) fn source(&self) -> DiceSource {
        self.source
    }

    pub(super) fn rule(&self) -> Rule {
        self.rule
    }

    pub(super) fn side(&self, seat: usize) -> &Side {
        &self.sides[seat]
    }

    /// The dice before `seat`; `None` once all turns are over.
    pub(super) fn dice_of(&self, seat: Seat) -> Option<Dice> {
        (self.turn() < TURNS).then(|| self.sides[seat.index()].on_table(self.turn()))
    }

    /// What `answer` means, if `seat` may give it now.
    #[inline(always)]
    fn judge(&self, seat: Seat, answer: &Answer) -> Result<Move, Refusal> {
        if !self.awaiting.contains(seat) {
            return Err(not_asked(seat));
        }
        let side = &self.sides[seat.index()];
        match answer {
            Answer::Keep(keep) if side.step < Step::Score => match keep {
                Keep::Places(places) => Ok(Move::Keep(*places)),
                Keep::Values(values) => self.places_of(seat, values.as_slice()).map(Move::Keep),
            },
            Answer::Score(score) if side.step == Step::Score => {
                if !side.card.empty().has(score.at) {
                    return Err(box_filled(score.at));
                }
                if score.dice.is_some() || score.points.is_some() || self.rule == Rule::ForcedJoker
                {
                    self.check_score(seat, score)?;
                }
                Ok(Move::Score(score.at))
            }
            _ => Err(wrong_kind(side.step)),
        }
    }

    #[inline(always)]
    fn play(&mut self, seat: Seat, choice: Move) {
        let turn = self.turn();
        let side = &mut self.sides[seat.index()];
        match choice {
            Move::Keep(places) => {
                if side.step == Step::First {
                    side.records[turn].keep_first(places);
                    side.step = if places == Places::ALL { Step::Score } else { Step::Second };
                } else {
                    side.records[turn].keep_second(places);
                    side.step = Step::Score;
                }
                self.drawn = if places == Places::ALL { Drawn::Nothing } else { Drawn::Rest(seat) };
            }
            Move::Score(at) => {
                let bonus = side.card.fill(side.hand(turn), at, self.rule);
                side.records[turn].score(at, bonus);
                side.step = Step::Done;
                self.drawn = Drawn::Nothing;
                self.awaiting.remove(seat);
                if self.awaiting.is_empty() {
                    self.next_turn();
                }
            }
        }
    }

    #[inline(always)]
    fn next_turn(&mut self) {
        self.turn += 1;
        if self.turn() < TURNS {
            self.awaiting = SeatSet::first_n(SEATS);
            self.drawn = Drawn::Turn;
            self.sides.iter_mut().for_each(|side| side.step = Step::First);
        }
    }

    #[cold]
    fn places_of(&self, seat: Seat, values: &[u8]) -> Result<Places, Refusal> {
        let dice = self.sides[seat.index()].on_table(self.turn());
        Places::of_values(values, dice).ok_or_else(|| {
            Refusal::illegal("keepers-not-held", format!("{values:?} are not among {dice:?}"))
        })
    }

    /// Checks what needs the dice: forced jokers, and what the player claims.
    #[cold]
    fn check_score(&self, seat: Seat, score: &Score) -> Result<(), Refusal> {
        let side = &self.sides[seat.index()];
        let dice = side.on_table(self.turn());
        let hand = side.hand(self.turn());
        if !side.card.open(hand, self.rule).has(score.at) {
            let detail = format!("{dice:?} may not go into {}", score.at);
            return Err(Refusal::illegal("joker-forced", detail));
        }
        if let Some(claimed) = score.dice
            && Places::of_values(claimed.as_slice(), dice) != Some(Places::ALL)
        {
            let detail = format!("the dice are {dice:?}, not {claimed:?}");
            return Err(Refusal::illegal("wrong-dice", detail));
        }
        let points = u16::from(side.card.worth(hand, score.at, self.rule).0);
        if let Some(claimed) = score.points
            && claimed != points
        {
            let detail = format!("{} gets {points}, not {claimed}", score.at);
            return Err(Refusal::illegal("wrong-points", detail));
        }
        Ok(())
    }

    /// The places where the latest choice of `seat` put new dice.
    pub(super) fn rolled(&self, seat: Seat) -> Places {
        let side = &self.sides[seat.index()];
        let attempt = if side.step == Step::Second { 0 } else { 1 };
        Places::from_bits(!side.records[self.turn()].kept(attempt).bits())
    }
}

#[cold]
fn not_asked(seat: Seat) -> Refusal {
    Refusal::not_asked(format!("{seat} owes no answer"))
}

#[cold]
fn box_filled(at: ScoreBox) -> Refusal {
    Refusal::illegal("box-filled", format!("{at} is filled"))
}

#[cold]
fn wrong_kind(step: Step) -> Refusal {
    Refusal::wrong_kind(match step {
        Step::First | Step::Second => "the question is which dice to keep",
        Step::Score | Step::Done => "the question is which box to fill",
    })
}

impl Game for Yahtzee {
    const NAME: &'static str = "yahtzee";
    const SEATS: RangeInclusive<usize> = SEATS..=SEATS;

    type Config = Config;
    type Question = Question;
    type Answer = Answer;
    type View = View;

    #[inline]
    fn new(config: &Config, seats: usize, seed: &Seed) -> Result<Yahtzee, SetupError> {
        if seats != SEATS {
            let (game, min, max) = (Yahtzee::NAME, SEATS, SEATS);
            return Err(SetupError::Seats { game, min, max, given: seats });
        }
        let mut sides = draw(seed, config.dice).map(|sequences| Side {
            sequences,
            records: [Record::NEW; TURNS],
            card: Card::EMPTY,
            step: Step::First,
        });
        if config.fixed_dice.is_some() {
            let fixed = config.fixed_sequences()?;
            sides.iter_mut().for_each(|side| side.sequences[..fixed.len()].copy_from_slice(&fixed));
        }
        Ok(Yahtzee {
            sides,
            turn: 0,
            awaiting: SeatSet::first_n(SEATS),
            removed: SeatSet::EMPTY,
            source: config.dice,
            rule: config.rule,
            drawn: Drawn::Turn,
        })
    }

    fn seats(&self) -> usize {
        SEATS
    }

    #[inline]
    fn awaiting(&self) -> SeatSet {
        self.awaiting
    }

    fn question(&self, seat: Seat) -> Option<Question> {
        if !self.awaiting.contains(seat) {
            return None;
        }
        let side = &self.sides[seat.index()];
        let dice = side.on_table(self.turn());
        match side.step {
            Step::First => Some(Question::Keep { roll: 1, dice }),
            Step::Second => Some(Question::Keep { roll: 2, dice }),
            Step::Score => Some(Question::Score { dice }),
            Step::Done => None,
        }
    }

    fn view(&self, viewer: Viewer) -> View {
        self.view_for(viewer)
    }

    #[inline]
    fn check(&self, seat: Seat, answer: &Answer) -> Result<(), Refusal> {
        self.judge(seat, answer).map(|_| ())
    }

    #[inline]
    fn apply(&mut self, seat: Seat, answer: &Answer) -> Result<(), Refusal> {
        let choice = self.judge(seat, answer)?;
        self.play(seat, choice);
        Ok(())
    }

    fn remove(&mut self, seat: Seat) {
        // With one seat gone the other has won: there is nobody to play for.
        if self.awaiting.is_empty() || seat.index() >= SEATS {
            return;
        }
        self.removed.insert(seat);
        self.awaiting = SeatSet::EMPTY;
        self.drawn = Drawn::Nothing;
    }

    fn removed(&self) -> SeatSet {
        self.removed
    }

    #[inline]
    fn outcome(&self) -> Option<Outcome> {
        self.awaiting.is_empty().then(|| {
            let scores = self.sides.iter().map(|side| i64::from(side.card.total())).collect();
            Outcome::by_score(scores, self.removed)
        })
    }

    fn legal_in(question: &Question, view: &View) -> Vec<Answer> {
        match question {
            Question::Keep { .. } => {
                (0..32).map(|bits| Answer::Keep(Keep::Places(Places::from_bits(bits)))).collect()
            }
            Question::Score { dice } => {
                let card = view.seat.and_then(|seat| view.cards.get(seat.index()));
                let (Some(card), Some(hand)) = (card, Hand::of(*dice)) else { return Vec::new() };
                let open = Card::from_boxes(&card.boxes).open(hand, view.rule);
                ScoreBox::ALL.into_iter().filter(|at| open.has(*at)).map(Answer::score).collect()
            }
        }
    }

    #[inline]
    fn playout_answer(&self, seat: Seat, choice: u64) -> Answer {
        let side = &self.sides[seat.index()];
        if side.step < Step::Score {
            return Answer::Keep(Keep::Places(Places::from_bits((choice >> 59) as u8)));
        }
        // Every turn fills one box, so the turn tells how many are empty.
        let (open, count) = match self.rule {
            Rule::ForcedJoker => {
                let open = side.card.open(side.hand(self.turn()), self.rule);
                (open, open.len())
            }
            Rule::Tournament | Rule::FreeJoker => (side.card.empty(), TURNS - self.turn()),
        };
        let at = (u128::from(choice) * count as u128) >> 64;
        Answer::score(open.nth(at as usize))
    }

    fn drawn(&self) -> Option<serde_json::Value> {
        match self.drawn {
            Drawn::Nothing => None,
            Drawn::Turn => {
                let dice: Vec<Dice> =
                    self.sides.iter().map(|side| side.on_table(self.turn())).collect();
                Some(json!({ "turn": self.turn + 1, "dice": dice }))
            }
            Drawn::Rest(seat) => {
                let (dice, new) =
                    (self.sides[seat.index()].on_table(self.turn()), self.rolled(seat));
                let dice: Vec<u8> = (0..5).filter(|at| new.has(*at)).map(|at| dice[at]).collect();
                Some(json!({ "seat": seat, "dice": dice }))
            }
        }
    }

    fn render(&self, names: &[String], colour: bool) -> String {
        text::render(&self.view_for(Viewer::Full), names, colour)
    }

    fn tell(&self, before: &Yahtzee, seat: Seat, answer: &Answer) -> String {
        text::tell(self, before, seat, answer)
    }

    fn after_undecidable(config: &Config) -> Config {
        Config { dice: DiceSource::Independent, ..config.clone() }
    }
}
