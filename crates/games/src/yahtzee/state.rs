//! A game in progress: the current turn, the choices so far, and the check of answers.
//!
//! The state is small and flat, because players simulate it by the million. A [`Side`] holds
//! together what a decision needs; the rest is read once a turn, or for a view.

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
    /// The current turn, from 0; 13 after the last.
    turn: u8,
    /// The seats that have not scored in this turn, as bits; none once the game is over.
    unfinished: u8,
    latest: u8,
    rule: Rule,
    source: DiceSource,
    removed: SeatSet,
    /// By turn, then by seat: the finished turns; later ones are new.
    records: [[Record; SEATS]; 16],
    /// The dice of seat 0, or of both seats if they have the same; then those of seat 1.
    sequences: [[Sequence; TURNS]; SEATS],
}

/// One seat's card, and its choices in the current turn.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(64))]
pub(super) struct Side {
    now: Record,
    pub(super) card: Card,
}

/// The latest step, as far as dice are concerned.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Latest {
    /// A turn began.
    Turn,
    /// This seat chose keepers.
    Keep(Seat),
    /// Nothing was rolled.
    Other,
}

/// [`Latest::Turn`] in the state, where smaller numbers are seats that chose keepers.
const TURN: u8 = 2;
/// [`Latest::Other`] in the state.
const OTHER: u8 = 3;

/// Every seat, as bits.
const BOTH: u8 = 0b11;

/// A legal answer.
pub(super) enum Move {
    Keep(Places),
    Score(ScoreBox),
}

impl Side {
    const NEW: Side = Side { now: Record::NEW, card: Card::EMPTY };

    /// Fills a box with five alike, which may earn a bonus.
    #[cold]
    fn fill_alike(&mut self, at: ScoreBox, hand: Hand, count: usize, rule: Rule) {
        let (points, bonus) = self.card.worth(hand, at, rule);
        self.card.fill(at, points, count);
        if bonus {
            self.card.add_bonus();
            self.now.add_bonus();
        }
    }

    /// The current turn; the last one after the end.
    pub(super) fn now(&self) -> Record {
        self.now.played()
    }
}

impl Yahtzee {
    /// The state before the first turn.
    #[inline(always)]
    pub(super) fn start(config: &Config, seed: &Seed) -> Yahtzee {
        let mut game = Yahtzee {
            sides: [Side::NEW; SEATS],
            turn: 0,
            unfinished: BOTH,
            latest: TURN,
            rule: config.rule,
            source: config.dice,
            removed: SeatSet::EMPTY,
            records: [[Record::NEW; SEATS]; 16],
            sequences: [[Sequence::NONE; TURNS]; SEATS],
        };
        let [one, two] = &mut game.sequences;
        match config.dice {
            DiceSource::Duplicate => draw(seed, "dice", one),
            DiceSource::Independent => {
                draw(seed, "dice.0", one);
                draw(seed, "dice.1", two);
            }
        }
        game
    }

    /// The state before the first turn, if the first turns have fixed dice.
    #[cold]
    pub(super) fn start_fixed(config: &Config, seed: &Seed) -> Result<Yahtzee, SetupError> {
        let fixed = config.fixed_sequences()?;
        let mut game = Yahtzee::start(config, seed);
        for sequences in &mut game.sequences {
            sequences[..fixed.len()].copy_from_slice(&fixed);
        }
        Ok(game)
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
        match self.latest {
            TURN => Latest::Turn,
            OTHER => Latest::Other,
            seat => Latest::Keep(Seat(seat)),
        }
    }

    #[inline]
    pub(super) fn sides(&self) -> &[Side; SEATS] {
        &self.sides
    }

    /// How far `seat` is in the current turn.
    #[inline]
    pub(super) fn step(&self, seat: Seat) -> Step {
        self.sides[seat.index()].now.step()
    }

    /// The dice sequence of `seat` in a turn.
    #[inline]
    pub(super) fn sequence(&self, seat: usize, turn: usize) -> &Sequence {
        let own = self.source == DiceSource::Independent;
        &self.sequences[seat & usize::from(own)][turn]
    }

    /// The choices of `seat` in a finished turn.
    pub(super) fn record(&self, seat: usize, turn: usize) -> Record {
        self.records[turn][seat]
    }

    /// The dice of `seat` in the current turn; `None` after the last turn.
    pub(super) fn dice_of(&self, seat: Seat) -> Option<Dice> {
        let now = self.sides[seat.index()].now();
        (self.turn() < TURNS).then(|| self.sequence(seat.index(), self.turn()).on_table(now))
    }

    pub(super) fn removed_seats(&self) -> SeatSet {
        self.removed
    }

    /// The seats that have not scored in this turn; empty once the game is over.
    #[inline]
    pub(super) fn unfinished(&self) -> SeatSet {
        SeatSet::from_bits((self.unfinished & BOTH).into())
    }

    /// An empty box that `seat` may fill, picked evenly by 64 random bits.
    #[inline]
    pub(super) fn pick_box(&self, seat: Seat, choice: u64) -> ScoreBox {
        if self.rule == Rule::ForcedJoker {
            return self.pick_forced(seat, choice);
        }
        self.sides[seat.index()].card.nth_empty(scale(choice, self.empty_boxes()))
    }

    #[cold]
    fn pick_forced(&self, seat: Seat, choice: u64) -> ScoreBox {
        let open = self.sides[seat.index()].card.open(self.hand(seat), self.rule);
        open.nth(scale(choice, open.len()))
    }

    /// How many empty boxes a seat has before it scores in this turn: every turn fills one.
    #[inline]
    fn empty_boxes(&self) -> usize {
        TURNS.wrapping_sub(self.turn())
    }

    /// Ends the game, unless it is over.
    pub(super) fn take_out(&mut self, seat: Seat) {
        if seat.index() < SEATS && !self.unfinished().is_empty() {
            self.removed.insert(seat);
            self.latest = OTHER;
            self.unfinished = 0;
            self.sides.iter_mut().for_each(|side| side.now.end());
        }
    }

    /// The move that `answer` means, if `seat` may give it now.
    #[inline(always)]
    pub(super) fn judge(&self, seat: Seat, answer: &Answer) -> Result<Move, Refusal> {
        // Rare parts are taken by value, so that a common answer need not be in memory at all.
        let Some(side) = self.sides.get(seat.index()) else { return Err(not_asked(seat)) };
        match *answer {
            Answer::Keep(keep) if side.now.step() < Step::Score => match keep {
                Keep::Places(places) => Ok(Move::Keep(places)),
                Keep::Values(values) => self.places_of(seat, values).map(Move::Keep),
            },
            Answer::Score(score) if side.now.step() == Step::Score => {
                if !side.card.is_empty(score.at) {
                    return Err(box_filled(score.at));
                }
                if self.rule == Rule::ForcedJoker {
                    self.check_forced(seat, score.at)?;
                }
                if score.dice.is_some() || score.points.is_some() {
                    self.check_claims(seat, score)?;
                }
                Ok(Move::Score(score.at))
            }
            Answer::NoSuchBox if side.now.step() == Step::Score => Err(no_such_box()),
            _ => Err(wrong_step(seat, side.now.step())),
        }
    }

    #[inline(always)]
    pub(super) fn play(&mut self, seat: Seat, choice: Move) {
        match choice {
            Move::Keep(places) => {
                self.sides[seat.index()].now.keep(places);
                self.latest = seat.0;
            }
            Move::Score(at) => self.score(seat, at),
        }
    }

    #[inline(always)]
    fn score(&mut self, seat: Seat, at: ScoreBox) {
        let (hand, turn, count) = (self.hand(seat), self.turn(), self.empty_boxes());
        let side = &mut self.sides[seat.index()];
        if hand.alike() == 0 {
            side.card.fill(at, hand.points(at), count);
        } else {
            side.fill_alike(at, hand, count, self.rule);
        }
        side.now.score(at);
        self.records[turn % 16][seat.index()] = side.now;
        self.unfinished &= !(1 << seat.0);
        self.latest = OTHER;
        if self.unfinished == 0 {
            self.turn += 1;
            if self.turn() < TURNS {
                self.start_turn();
            }
        }
    }

    #[inline(always)]
    fn start_turn(&mut self) {
        self.sides[0].now = Record::NEW;
        self.sides[1].now = Record::NEW;
        self.unfinished = BOTH;
        self.latest = TURN;
    }

    /// The hand of a seat that must score.
    #[inline]
    fn hand(&self, seat: Seat) -> Hand {
        self.sequence(seat.index(), self.turn()).hand(self.sides[seat.index()].now)
    }

    /// The dice of a seat with an open question.
    fn on_table(&self, seat: Seat) -> Dice {
        self.dice_of(seat).expect("a seat that is asked has dice")
    }

    #[cold]
    fn places_of(&self, seat: Seat, values: Values) -> Result<Places, Refusal> {
        let dice = self.on_table(seat);
        Places::of_values(values.as_slice(), dice).ok_or_else(|| {
            Refusal::illegal("keepers-not-held", format!("{values:?} are not among {dice:?}"))
        })
    }

    /// Checks whether the dice are a joker that must go elsewhere.
    #[cold]
    fn check_forced(&self, seat: Seat, at: ScoreBox) -> Result<(), Refusal> {
        let side = &self.sides[seat.index()];
        if side.card.open(self.hand(seat), self.rule).has(at) {
            return Ok(());
        }
        let detail = format!("{:?} may not go into {at}", self.on_table(seat));
        Err(Refusal::illegal("joker-forced", detail))
    }

    /// Checks the dice and points that the player claims.
    #[cold]
    fn check_claims(&self, seat: Seat, score: Score) -> Result<(), Refusal> {
        let dice = self.on_table(seat);
        if let Some(claimed) = score.dice
            && Places::of_values(claimed.as_slice(), dice) != Some(Places::ALL)
        {
            let detail = format!("the dice are {dice:?}, not {claimed:?}");
            return Err(Refusal::illegal("wrong-dice", detail));
        }
        let card = &self.sides[seat.index()].card;
        let points = i32::from(card.worth(self.hand(seat), score.at, self.rule).0);
        if let Some(claimed) = score.points
            && claimed != points
        {
            let detail = format!("{} gets {points}, not {claimed}", score.at);
            return Err(Refusal::illegal("wrong-points", detail));
        }
        Ok(())
    }

    /// The places where the latest choice of `seat` rolled new dice.
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
fn no_such_box() -> Refusal {
    Refusal::illegal("no-such-box", "no card has this box")
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

/// `choice` scaled from all 64-bit numbers down to the numbers below `count`.
#[inline]
fn scale(choice: u64, count: usize) -> usize {
    ((u128::from(choice) * count as u128) >> 64) as usize
}
