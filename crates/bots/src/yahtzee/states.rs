//! The states between two turns, and the index of each in a table.
//!
//! A *group* is all states with the same boxes; its states differ in the upper total. Totals that
//! cannot occur have no state. All totals from which the upper bonus is out of reach share one
//! state, because the rest of the game does not depend on them. Groups with more boxes filled come
//! first, so that a turn leads only to states nearer to the start of the table.

use super::card::{Boxes, Card, UPPER_GOAL};
use std::ops::Range;
use std::sync::OnceLock;

/// Stands for totals that cannot occur.
const NOWHERE: u8 = u8::MAX;

/// All states. The same for every rule.
pub(super) struct States {
    /// By the bits of the boxes: the index where the group starts.
    starts: Vec<u32>,
    /// By the bits of the filled upper boxes.
    totals: Vec<Totals>,
    /// The groups by number of filled boxes, thirteen first.
    levels: Vec<Level>,
}

/// The groups with the same number of filled boxes.
pub(super) struct Level {
    /// The groups, in the order of the table.
    pub(super) groups: Vec<Boxes>,
    /// Their range in the table.
    pub(super) range: Range<usize>,
}

/// The upper totals that make a difference when certain upper boxes are filled.
struct Totals {
    /// One total for each state of a group, ascending.
    all: Vec<u8>,
    /// By total: the index of its state in the group.
    places: [u8; UPPER_GOAL as usize + 1],
}

impl States {
    /// The only instance.
    pub(super) fn shared() -> &'static States {
        static SHARED: OnceLock<States> = OnceLock::new();
        SHARED.get_or_init(States::build)
    }

    /// The number of states.
    pub(super) fn count(&self) -> usize {
        self.levels.last().expect("fourteen levels").range.end
    }

    /// The groups by number of filled boxes, thirteen first.
    pub(super) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The upper totals of a group's states, in the order of the table.
    pub(super) fn totals(&self, boxes: Boxes) -> &[u8] {
        &self.totals[boxes.upper_bits()].all
    }

    /// The index in the table of the state with `boxes` and the upper total `upper` (at most 63).
    #[inline]
    pub(super) fn place(&self, boxes: Boxes, upper: u8) -> usize {
        let place = self.totals[boxes.upper_bits()].places[usize::from(upper)];
        debug_assert_ne!(place, NOWHERE, "{boxes:?} with {upper}");
        self.starts[boxes.bits()] as usize + usize::from(place)
    }

    /// The index in the table of the state of `card`.
    pub(super) fn place_of(&self, card: &Card) -> usize {
        self.place(card.boxes(), card.upper())
    }

    fn build() -> States {
        let totals: Vec<Totals> = (0..64).map(Totals::build).collect();
        let mut starts = vec![u32::MAX; Boxes::PATTERNS];
        let mut levels = Vec::new();
        let mut next = 0;
        for filled in (0..=13).rev() {
            let all = (0..Boxes::PATTERNS as u16).filter_map(Boxes::from_bits);
            let groups: Vec<Boxes> = all.filter(|boxes| boxes.filled() == filled).collect();
            let first = next;
            for boxes in &groups {
                starts[boxes.bits()] = next as u32;
                next += totals[boxes.upper_bits()].all.len();
            }
            levels.push(Level { groups, range: first..next });
        }
        States { starts, totals, levels }
    }
}

impl Totals {
    fn build(upper_bits: usize) -> Totals {
        let goal = usize::from(UPPER_GOAL);
        let mut reachable = [false; UPPER_GOAL as usize + 1];
        reachable[0] = true;
        let mut still_to_come = 0;
        for face in 1..=6 {
            if upper_bits >> (face - 1) & 1 == 0 {
                still_to_come += 5 * face;
                continue;
            }
            let before = reachable;
            for total in (0..=goal).filter(|total| before[*total]) {
                (0..=5).for_each(|count| reachable[goal.min(total + count * face)] = true);
            }
        }
        let mut all = Vec::new();
        let mut places = [NOWHERE; UPPER_GOAL as usize + 1];
        for total in 0..=goal {
            let lost = total + still_to_come < goal;
            if lost && !all.is_empty() {
                places[total] = 0;
            } else if lost || reachable[total] {
                places[total] = all.len() as u8;
                all.push(total as u8);
            }
        }
        Totals { all, places }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_games::yahtzee::ScoreBox;

    #[test]
    fn an_empty_card_has_one_state_and_a_full_one_two() {
        let states = States::shared();
        assert_eq!(states.totals(Boxes::EMPTY), [0]);
        let full = ScoreBox::ALL.into_iter().fold(Boxes::EMPTY, Boxes::with);
        assert_eq!(states.totals(full), [0, 63]);
        assert_eq!(states.place(full, 62), states.place(full, 0));
        assert_eq!(states.place_of(&Card::EMPTY) + 1, states.count());
    }

    #[test]
    fn totals_are_multiples_where_one_box_is_filled() {
        let states = States::shared();
        let sixes = Boxes::EMPTY.with(ScoreBox::Sixes);
        assert_eq!(states.totals(sixes), [0, 6, 12, 18, 24, 30]);
    }

    #[test]
    fn groups_lie_end_to_end() {
        let states = States::shared();
        let mut next = 0;
        for level in states.levels() {
            assert_eq!(level.range.start, next);
            for boxes in &level.groups {
                assert_eq!(states.starts[boxes.bits()] as usize, next);
                next += states.totals(*boxes).len();
            }
            assert_eq!(level.range.end, next);
        }
        assert_eq!(next, states.count());
    }
}
