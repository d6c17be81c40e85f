//! The view of a game. A turn is hidden from the opponent and the public until both seats have
//! scored in it.

use super::boxes::{Boxes, ScoreBox};
use super::card::YAHTZEE_BONUS;
use super::dice::{Record, Sequence, Step};
use super::state::{Side, Yahtzee};
use super::{Dice, DiceSource, Rule, TURNS};
use crate::{Seat, Viewer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A game as one viewer may see it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// The viewer's seat; `None` for the public and full view.
    pub seat: Option<Seat>,
    /// One sequence of dice for both seats, or one for each.
    pub dice: DiceSource,
    /// The joker rule.
    pub rule: Rule,
    /// The turn that is being played, 1 to 13; 14 once all have been.
    pub turn: u8,
    /// The cards by seat. The viewer's own is up to date, the other as of the end of the last
    /// finished turn.
    pub cards: [CardView; 2],
    /// The finished turns, each by seat.
    pub history: Vec<[Play; 2]>,
    /// The turn that is being played, by seat: `None` where the viewer may not see it.
    pub now: [Option<Play>; 2],
    /// The seats that have not scored in this turn; none once the game is over.
    pub unfinished: Vec<Seat>,
    /// The seats that were taken out of the game.
    pub removed: Vec<Seat>,
    /// The fifteen dice of every turn, by seat, used or not; in the full view only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequences: Option<[Vec<Vec<u8>>; 2]>,
}

/// A card with its sums.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CardView {
    /// The points in every box.
    pub boxes: Boxes,
    /// The points in the upper boxes.
    pub upper: u16,
    /// 35 if they are 63 or more, else 0.
    pub upper_bonus: u16,
    /// How many Yahtzee bonuses of 100 there were.
    pub yahtzee_bonuses: u8,
    /// Everything together.
    pub total: u16,
}

/// One turn of one seat.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Play {
    /// The dice on the table: the first roll, then what lay there after each choice of keepers.
    pub rolls: Vec<Dice>,
    /// The places of the dice kept, for each choice: two of them, or one that kept all.
    pub kept: Vec<[bool; 5]>,
    /// The box that was scored; `None` before that.
    pub scored: Option<Scored>,
}

/// A box that was filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scored {
    /// The box.
    #[serde(rename = "box")]
    pub at: ScoreBox,
    /// The points in it.
    pub points: u8,
    /// 100 for a Yahtzee bonus, else 0.
    pub bonus: u16,
}

impl Yahtzee {
    pub(super) fn view_for(&self, viewer: Viewer) -> View {
        let turn = self.turn();
        let sees = |seat: usize| match viewer {
            Viewer::Seat(own) => own.index() == seat,
            Viewer::Public => false,
            Viewer::Full => true,
        };
        let by_seat = [0, 1];
        View {
            seat: match viewer {
                Viewer::Seat(seat) => Some(seat),
                Viewer::Public | Viewer::Full => None,
            },
            dice: self.source(),
            rule: self.rule(),
            turn: turn as u8 + 1,
            cards: by_seat.map(|seat| card_of(&self.sides()[seat], turn, sees(seat))),
            history: (0..turn)
                .map(|past| {
                    by_seat.map(|seat| {
                        play(
                            &self.sides()[seat],
                            self.sequence(seat, past),
                            self.record(seat, past),
                        )
                    })
                })
                .collect(),
            now: by_seat.map(|seat| {
                (sees(seat) && turn < TURNS).then(|| {
                    let side = &self.sides()[seat];
                    play(side, self.sequence(seat, turn), side.now())
                })
            }),
            unfinished: self.unfinished().collect(),
            removed: self.removed_seats().collect(),
            sequences: (viewer == Viewer::Full).then(|| {
                by_seat.map(|seat| {
                    (0..TURNS).map(|turn| self.sequence(seat, turn).dice().to_vec()).collect()
                })
            }),
        }
    }
}

/// A seat's card; `sees` says whether the viewer may see the current turn.
pub(super) fn card_of(side: &Side, turn: usize, sees: bool) -> CardView {
    let now = side.now();
    if !sees && turn < TURNS && now.step() == Step::Done {
        return side.card.view_before(now.scored(), now.bonus());
    }
    side.card.view()
}

/// A seat's choices in a turn, as far as `record` holds them.
fn play(side: &Side, sequence: &Sequence, record: Record) -> Play {
    let attempts = record.attempts();
    let at = record.scored();
    let bonus = YAHTZEE_BONUS * u16::from(record.bonus());
    let scored = Scored { at, points: side.card.points(at), bonus };
    Play {
        rolls: (0..=attempts).map(|done| sequence.on_table(record.until(done))).collect(),
        kept: (0..attempts).map(|attempt| record.kept(attempt).flags()).collect(),
        scored: (record.step() == Step::Done).then_some(scored),
    }
}

/// Dice that were rolled.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub enum Drawn {
    /// The first roll of a turn.
    Turn {
        /// The turn, from 1.
        turn: u8,
        /// The dice by seat.
        dice: [Dice; 2],
    },
    /// The dice a seat rolled again, left to right.
    Keep {
        /// Which seat.
        seat: Seat,
        /// The new dice alone.
        dice: Vec<u8>,
    },
}
