//! A game in progress: whose turn it is, what was chosen, and the judgement of answers.
//!
//! The state is small and flat, since players simulate it by the million: a turn of one seat is two
//! bytes of choices, and the dice on the table are looked up when somebody asks for them.

use super::answer::{Answer, Keep, Places, Score, Values};
use super::card::Card;
use super::config::{Config, DiceSource, Rule};
use super::dice::{Hand, Record, Sequence, Step, draw};
use super::{Dice, ScoreBox, TURNS};
use crate::{Refusal, Seat, SeatSet, Seed, SetupError};

/// Seats in a game.
pub(super) const SEATS: usize = 2;

/// A game of Yahtzee.
#[derive(Clone, PartialEq, Debug)]
pub struct Yahtzee {
    sides: [Side; SEATS],
    /// The turn that is being played, from 0; 13 once all have been.
    turn: u8,
    latest: Latest,
    rule: Rule,
    source: DiceSource,
    removed: SeatSet,
}

/// What one seat has and did.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Side {
    sequences: [Sequence; TURNS],
    /// The finished turns; later ones are new.
    records: [Record; TURNS],
    /// The turn that is being played; the last one once all have been.
    pub(super) now: Record,
    pub(super) card: Card,
}

/// The latest step, as far as luck is concerned.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Latest {
    /// A turn began.
    Turn,
    /// This seat chose keepers.
    Keep(Seat),
    /// Nothing was rolled.
    Other,
}

/// An answer that was found legal.
pub(super) enum Move {
    Keep(Places),
    Score(ScoreBox),
}

impl Side {
    #[inline]
    fn new(sequences: [Sequence; TURNS]) -> Side {
        Side { sequences, records: [Record::NEW; TURNS], now: Record::NEW, card: Card::EMPTY }
    }

    pub(super) fn sequences(&self) -> &[Sequence; TURNS] {
        &self.sequences
    }

    pub(super) fn records(&self) -> &[Record; TURNS] {
        &self.records
    }

    /// The dice on the table in `turn`, which is being played.
    pub(super) fn on_table(&self, turn: usize) -> Dice {
        self.sequences[turn].on_table(self.now)
    }

    /// The hand on the table in `turn`, which is being played.
    #[inline]
    pub(super) fn hand(&self, turn: usize) -> Hand {
        self.sequences[turn].hand(self.now)
    }
}

impl Yahtzee {
    /// Before the first turn.
    #[inline]
    pub(super) fn start(config: &Config, seed: &Seed) -> Result<Yahtzee, SetupError> {
        let mut sides = match config.dice {
            DiceSource::Duplicate => [Side::new(draw(seed, "dice")); SEATS],
            DiceSource::Independent => {
                [Side::new(draw(seed, "dice.0")), Side::new(draw(seed, "dice.1"))]
            }
        };
        if config.fixed_dice.is_some() {
            let fixed = config.fixed_sequences()?;
            for side in &mut sides {
                side.sequences[..fixed.len()].copy_from_slice(&fixed);
            }
        }
        let (source, rule, removed) = (config.dice, config.rule, SeatSet::EMPTY);
        Ok(Yahtzee { sides, turn: 0, latest: Latest::Turn, rule, source, removed })
    }

    #[inline]
    pub(super) fn turn(&self) -> usize {
        usize::from(self.turn)
    }

    pub(super) fn source(&self) -> DiceSource {
        self.source
    }

    #[inline]
    pub(super) fn rule(&self) -> Rule {
        self.rule
    }

    pub(super) fn latest(&self) -> Latest {
        self.latest
    }

    #[inline]
    pub(super) fn sides(&self) -> &[Side; SEATS] {
        &self.sides
    }

    /// The dice before `seat`; `None` once all turns are over.
    pub(super) fn dice_of(&self, seat: Seat) -> Option<Dice> {
        (self.turn() < TURNS).then(|| self.sides[seat.index()].on_table(self.turn()))
    }

    pub(super) fn removed_seats(&self) -> SeatSet {
        self.removed
    }

    /// The seats that have not scored in this turn; nobody once the game is over.
    #[inline]
    pub(super) fn unfinished(&self) -> SeatSet {
        // Nearly always both. As a constant behind a branch it lets a processor go on before it
        // knows what became of the latest answer.
        let both = self.sides[0].now.step() != Step::Done && self.sides[1].now.step() != Step::Done;
        if both && self.removed.is_empty() { SeatSet::first_n(SEATS) } else { self.stragglers() }
    }

    #[cold]
    fn stragglers(&self) -> SeatSet {
        let waits = |seat: &Seat| self.sides[seat.index()].now.step() == Step::Done;
        Seat::all(SEATS).filter(|seat| self.removed.is_empty() && !waits(seat)).collect()
    }

    /// Ends the game, unless it is over.
    pub(super) fn take_out(&mut self, seat: Seat) {
        if seat.index() < SEATS && !self.unfinished().is_empty() {
            self.removed.insert(seat);
            self.latest = Latest::Other;
        }
    }

    /// What `answer` means, if `seat` may give it now.
    #[inline(always)]
    pub(super) fn judge(&self, seat: Seat, answer: &Answer) -> Result<Move, Refusal> {
        // What is rare is taken by value, so that a common answer need not be in memory at all.
        let (Some(side), true) = (self.sides.get(seat.index()), self.removed.is_empty()) else {
            return Err(not_asked(seat));
        };
        match *answer {
            Answer::Keep(keep) if side.now.step() < Step::Score => match keep {
                Keep::Places(places) => Ok(Move::Keep(places)),
                Keep::Values(values) => self.places_of(seat, values).map(Move::Keep),
            },
            Answer::Score(score) if side.now.step() == Step::Score => {
                if !side.card.empty().has(score.at) {
                    return Err(box_filled(score.at));
                }
                if score.dice.is_some() || score.points.is_some() || self.rule == Rule::ForcedJoker
                {
                    self.check_score(seat, score)?;
                }
                Ok(Move::Score(score.at))
            }
            _ => Err(wrong_step(seat, side.now.step())),
        }
    }

    #[inline(always)]
    pub(super) fn play(&mut self, seat: Seat, choice: Move) {
        let turn = self.turn();
        let side = &mut self.sides[seat.index()];
        match choice {
            Move::Keep(places) => {
                side.now.keep(places);
                self.latest = Latest::Keep(seat);
            }
            Move::Score(at) => {
                let bonus = side.card.fill(side.hand(turn), at, self.rule);
                side.now.score(at, bonus);
                self.latest = Latest::Other;
                if self.sides.iter().all(|side| side.now.step() == Step::Done) {
                    self.next_turn();
                }
            }
        }
    }

    #[inline(always)]
    fn next_turn(&mut self) {
        let turn = self.turn();
        self.turn += 1;
        for side in &mut self.sides {
            side.records[turn] = side.now;
            if turn + 1 < TURNS {
                side.now = Record::NEW;
            }
        }
        if turn + 1 < TURNS {
            self.latest = Latest::Turn;
        }
    }

    #[cold]
    fn places_of(&self, seat: Seat, values: Values) -> Result<Places, Refusal> {
        let dice = self.sides[seat.index()].on_table(self.turn());
        Places::of_values(values.as_slice(), dice).ok_or_else(|| {
            Refusal::illegal("keepers-not-held", format!("{values:?} are not among {dice:?}"))
        })
    }

    /// Checks what needs the dice: forced jokers, and what the player claims.
    #[cold]
    fn check_score(&self, seat: Seat, score: Score) -> Result<(), Refusal> {
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
        let attempt = if side.now.step() == Step::Second { 0 } else { 1 };
        Places::from_bits(!side.now.kept(attempt).bits())
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
fn wrong_step(seat: Seat, step: Step) -> Refusal {
    match step {
        Step::First | Step::Second => Refusal::wrong_kind("the question is which dice to keep"),
        Step::Score => Refusal::wrong_kind("the question is which box to fill"),
        Step::Done => not_asked(seat),
    }
}
