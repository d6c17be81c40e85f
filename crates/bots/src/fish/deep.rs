//! The search of the champion: alpha–beta over placements and moves with iterative deepening.
//!
//! The player at index 0 of a position maximises the value, and all others minimise it (with more
//! than two players that is the "paranoid" assumption). A table keeps the values of positions that
//! several lines lead to. Values that rest on no estimate are exact at any depth, so the search
//! stops as soon as the whole tree is exact. It is bounded by a number of positions, which makes it
//! repeatable; the clock is a second bound for slow machines.

use super::estimate::{Value, divided, estimate};
use super::field::{Field, PLAYERS_MAX};
use super::position::{Act, Position};
use std::time::Instant;

/// How far a search may go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The deepest iteration, in acts of all players.
    pub(super) depth: u8,
    /// The positions it may examine.
    pub(super) positions: u64,
    /// When it stops even so.
    pub(super) until: Option<Instant>,
}

/// One act of the player to decide, and the value it leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rated {
    pub(super) act: Act,
    pub(super) value: Value,
}

/// How much worse an act is than the best one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss {
    /// The best act.
    pub(super) better: Act,
    pub(super) units: i32,
    /// The same from the iteration before.
    pub(super) before: i32,
    pub(super) exact: bool,
}

const LOWEST: i32 = -1_000_000;
const HIGHEST: i32 = 1_000_000;

/// The depth of a table entry whose value is exact.
const EXACT: u8 = u8::MAX;

/// How many placements the search tries at the root and below.
const PLACEMENTS_AT_ROOT: usize = 12;
const PLACEMENTS_BELOW: usize = 6;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Bound {
    #[default]
    None,
    AtLeast,
    AtMost,
    Equal,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    key: u64,
    units: i32,
    depth: u8,
    bound: Bound,
    best: Act,
}

/// The search ran out of its bounds.
#[derive(Debug)]
pub(super) struct OutOfBounds;

pub(super) struct Deep<'a, const W: usize> {
    field: &'a Field<W>,
    bounds: Bounds,
    positions: u64,
    table: Vec<Entry>,
    /// By player and destination: how often it was the best.
    history: Vec<[u32; PLAYERS_MAX]>,
    /// Lists of acts that are not in use.
    lists: Vec<Vec<(i32, Act)>>,
}

impl<'a, const W: usize> Deep<'a, W> {
    pub(super) fn new(field: &'a Field<W>, bounds: Bounds) -> Deep<'a, W> {
        let entries = (bounds.positions / 2).clamp(1 << 8, 1 << 17).next_power_of_two();
        Deep {
            field,
            bounds,
            positions: 0,
            table: vec![Entry::default(); entries as usize],
            history: vec![[0; PLAYERS_MAX]; field.fish.len()],
            lists: Vec::new(),
        }
    }

    /// The best act of the player at index 0; `None` if there is none. The result is that of the
    /// deepest iteration, or of a later one that was not finished if it found something better.
    pub(super) fn best(&mut self, root: &Position<W>) -> Option<Rated> {
        let mut acts = self.acts(root, PLACEMENTS_AT_ROOT);
        let first = acts.first()?.1;
        let mut best = Rated { act: first, value: Value { units: 0, exact: false } };
        if acts.len() == 1 {
            return Some(best);
        }
        for depth in 1..=self.bounds.depth {
            let (done, found) = self.iterate(root, &mut acts, depth);
            best = found.unwrap_or(best);
            if !done || best.value.exact {
                break;
            }
        }
        Some(best)
    }

    /// One iteration over the acts at the root, which it leaves with the best first. Returns
    /// whether it was finished.
    fn iterate(
        &mut self,
        root: &Position<W>,
        acts: &mut [(i32, Act)],
        depth: u8,
    ) -> (bool, Option<Rated>) {
        let mut best: Option<Rated> = None;
        let mut exact = true;
        for at in 0..acts.len() {
            let act = acts[at].1;
            let alpha = best.map_or(LOWEST, |best| best.value.units);
            let Ok(value) = self.tried(root, act, depth, (alpha, HIGHEST), at > 0) else {
                return (false, best);
            };
            exact &= value.exact;
            if best.is_none_or(|best| value.units > best.value.units) {
                best = Some(Rated { act, value });
                acts[..=at].rotate_right(1);
            }
        }
        if let Some(best) = &mut best {
            best.value.exact = exact;
        }
        (true, best)
    }

    /// How much worse `chosen` is than the best act, iteration by iteration: the best act and the
    /// loss of the last two that were finished. `None` if not even the first was.
    pub(super) fn loss(&mut self, root: &Position<W>, chosen: Act) -> Option<Loss> {
        let mut acts = self.acts(root, PLACEMENTS_AT_ROOT);
        let mut loss: Option<Loss> = None;
        for depth in 1..=self.bounds.depth {
            let (true, Some(best)) = self.iterate(root, &mut acts, depth) else { break };
            let mut exact = best.value.exact;
            let units = if best.act == chosen {
                0
            } else {
                let window = (LOWEST, HIGHEST);
                let Ok(value) = self.tried(root, chosen, depth, window, false) else { break };
                exact &= value.exact;
                best.value.units - value.units
            };
            let before = loss.map_or(units, |loss| loss.units);
            // The beam of placements may have left out a placement that is even better.
            let better = if units > 0 { best.act } else { chosen };
            loss = Some(Loss { better, units: units.max(0), before: before.max(0), exact });
            if exact {
                break;
            }
        }
        loss
    }

    /// The value of an act at `position`. With `doubt`, first asks only whether it is better than
    /// the window's lower end for the player to act.
    fn tried(
        &mut self,
        position: &Position<W>,
        act: Act,
        depth: u8,
        (alpha, beta): (i32, i32),
        doubt: bool,
    ) -> Result<Value, OutOfBounds> {
        let player = usize::from(position.turn);
        let gain = super::estimate::weight(position.players, player)
            * self.field.fish[usize::from(act.from)]
            * super::estimate::FISH;
        let next = position.after(self.field, act);
        let mut search = |alpha: i32, beta: i32| {
            let value = self.value(next, depth - 1, alpha - gain, beta - gain)?;
            Ok(Value { units: value.units + gain, ..value })
        };
        if doubt && beta - alpha > 1 {
            if player == 0 {
                let value = search(alpha, alpha + 1)?;
                if value.units <= alpha || value.units >= beta {
                    return Ok(value);
                }
            } else {
                let value = search(beta - 1, beta)?;
                if value.units >= beta || value.units <= alpha {
                    return Ok(value);
                }
            }
        }
        search(alpha, beta)
    }

    fn count(&mut self) -> Result<(), OutOfBounds> {
        self.positions += 1;
        if self.positions >= self.bounds.positions {
            return Err(OutOfBounds);
        }
        if self.positions.is_multiple_of(1024)
            && self.bounds.until.is_some_and(|until| Instant::now() >= until)
        {
            return Err(OutOfBounds);
        }
        Ok(())
    }

    /// The value of a position, `depth` acts deep. Outside the window it is only a bound.
    fn value(
        &mut self,
        mut position: Position<W>,
        depth: u8,
        alpha: i32,
        beta: i32,
    ) -> Result<Value, OutOfBounds> {
        self.count()?;
        if !position.skip_stuck(self.field) {
            return Ok(Value { units: 0, exact: true });
        }
        let (hint, stored) = self.stored(&position, depth, (alpha, beta));
        if let Some(value) = stored {
            return Ok(value);
        }
        if !position.places()
            && let Some(value) = divided(self.field, &position, &mut self.positions)
            && (value.exact || depth == 0)
        {
            self.keep(&position, depth, value, Bound::Equal, hint);
            return Ok(value);
        }
        if depth == 0 {
            let units = estimate(self.field, &position);
            return Ok(Value { units, exact: false });
        }
        let mut acts = self.acts(&position, PLACEMENTS_BELOW);
        if let Some(at) = acts.iter().position(|(_, act)| *act == hint) {
            acts[..=at].rotate_right(1);
        }
        let found = self.best_of(&position, &acts, depth, (alpha, beta));
        self.lists.push(acts);
        let (value, best) = found?;
        let bound = if value.units <= alpha {
            Bound::AtMost
        } else if value.units >= beta {
            Bound::AtLeast
        } else {
            Bound::Equal
        };
        self.keep(&position, depth, value, bound, best);
        Ok(value)
    }

    /// The value of the best of some acts, and that act. Acts after a cut-off are not tried.
    fn best_of(
        &mut self,
        position: &Position<W>,
        acts: &[(i32, Act)],
        depth: u8,
        (mut alpha, mut beta): (i32, i32),
    ) -> Result<(Value, Act), OutOfBounds> {
        let own = position.turn == 0;
        // Placements outside the beam are not tried, so nothing is exact before the moves.
        let exact = !position.places();
        let mut best = Value { units: if own { LOWEST } else { HIGHEST }, exact };
        let mut best_act = Act::default();
        for (at, (_, act)) in acts.iter().enumerate() {
            let value = self.tried(position, *act, depth, (alpha, beta), at > 0)?;
            best.exact &= value.exact;
            let is_better = if own { value.units > best.units } else { value.units < best.units };
            if !is_better {
                continue;
            }
            (best.units, best_act) = (value.units, *act);
            if own {
                alpha = alpha.max(value.units);
            } else {
                beta = beta.min(value.units);
            }
            if alpha >= beta {
                // The cut-off rests on this act alone.
                best.exact = exact && value.exact;
                let cuts = &mut self.history[usize::from(act.to)][usize::from(position.turn)];
                *cuts = cuts.saturating_add(u32::from(depth) * u32::from(depth));
                break;
            }
        }
        Ok((best, best_act))
    }

    /// The best act that the table has for a position, and its value if that is deep enough for the
    /// window.
    fn stored(
        &self,
        position: &Position<W>,
        depth: u8,
        (alpha, beta): (i32, i32),
    ) -> (Act, Option<Value>) {
        let known = self.table[(position.key as usize) & (self.table.len() - 1)];
        if known.key != position.key || known.bound == Bound::None {
            return (Act::default(), None);
        }
        let is_enough = match known.bound {
            Bound::None => false,
            Bound::Equal => true,
            Bound::AtLeast => known.units >= beta,
            Bound::AtMost => known.units <= alpha,
        };
        let value = Value { units: known.units, exact: known.depth == EXACT };
        (known.best, (is_enough && known.depth >= depth).then_some(value))
    }

    fn keep(&mut self, position: &Position<W>, depth: u8, value: Value, bound: Bound, best: Act) {
        let slot = (position.key as usize) & (self.table.len() - 1);
        let depth = if value.exact { EXACT } else { depth };
        self.table[slot] = Entry { key: position.key, units: value.units, depth, bound, best };
    }

    /// The acts of the player to act, the most promising first; of placements the best `most` only.
    fn acts(&mut self, position: &Position<W>, most: usize) -> Vec<(i32, Act)> {
        let mut acts = self.lists.pop().unwrap_or_default();
        acts.clear();
        let player = usize::from(position.turn);
        if position.places() {
            let sign = if player == 0 { 1 } else { -1 };
            for tile in position.free.iter() {
                let act = Act { from: 0, to: tile as u16 };
                let value = sign * estimate(self.field, &position.after(self.field, act));
                acts.push((value, act));
            }
            self.positions += acts.len() as u64 / 4;
        } else {
            let (field, history) = (self.field, &self.history);
            position.slides(field, |act| {
                let (from, to) = (usize::from(act.from), usize::from(act.to));
                let exits = field.near[to].and(&position.free).len() as i32;
                let threat = field.near[from].and(&position.free).len() as i32;
                let static_order = field.fish[from] * 6 + field.fish[to] * 4 + exits * 2 - threat;
                let learned = history[to][player].min(1 << 20) as i32;
                acts.push((learned * 2 + static_order, act));
            });
        }
        acts.sort_unstable_by(|(a, x), (b, y)| b.cmp(a).then((x.from, x.to).cmp(&(y.from, y.to))));
        if position.places() {
            acts.truncate(most);
        }
        acts
    }
}

#[cfg(test)]
mod tests {
    use super::super::estimate::FISH;
    use super::*;
    use agon_games::fish::{Action, Config, Fish, Phase, State};
    use agon_games::{Game, Seed};
    use proptest::prelude::*;

    /// The fish that the player `wait` turns from acting will catch, minus the mean of the others,
    /// times the number of others, if the others play against them.
    fn plain(state: &State, wait: usize) -> i32 {
        let count = state.players.len();
        let factor = if wait == 0 { (count as i32 - 1).max(1) } else { -1 };
        let values = state.actions().into_iter().map(|action| {
            let next = state.after(action).unwrap();
            let gain = next.players[count - 1].score - state.players[0].score;
            factor * gain as i32 + plain(&next, (wait + count - 1) % count)
        });
        let best = if wait == 0 { values.max() } else { values.min() };
        best.unwrap_or_else(|| {
            let mut passed = state.clone();
            for step in 1..count {
                passed.players.rotate_left(1);
                if !passed.actions().is_empty() {
                    return plain(&passed, (wait + count - step) % count);
                }
            }
            0
        })
    }

    /// The same after an act of the first player.
    fn plain_act(state: &State, field: &Field<1>, act: Act) -> i32 {
        let shape = state.board.shape();
        let at = |tile: u16| shape.position(shape.all().nth(usize::from(tile) - 1).unwrap());
        let next = state.after(Action { from: at(act.from), to: at(act.to) }).unwrap();
        let count = state.players.len();
        let gain = field.fish[usize::from(act.from)] * (count as i32 - 1).max(1);
        gain + plain(&next, count - 1)
    }

    fn without_bounds() -> Bounds {
        Bounds { depth: 100, positions: 1 << 40, until: None }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]

        #[test]
        fn endgames_have_the_value_of_plain_minimax(
            rows in 2..=4u32, columns in 2..=3u32, difficulty in 0..4u32, seats in 2..=3usize,
            number: u64, choices: [u64; 20],
        ) {
            let config = Config { rows, columns, difficulty, ..Config::default() };
            let config = Config { room_check: false, ..config };
            let mut game = Fish::new(&config, seats, &Seed::from_number(number)).unwrap();
            for choice in choices {
                let Some(seat) = game.awaiting().first() else { break };
                let state = State::from(&game);
                let free = state.placements().len();
                if game.phase() == Phase::Move && free <= 5 {
                    let field = Field::<1>::new(&state.board);
                    let root = Position::new(&field, &state, 0);
                    let best = plain(&state, 0);
                    let mut acts = Vec::new();
                    root.slides(&field, |act| acts.push(act));
                    prop_assert_eq!(acts.len(), state.actions().len());
                    for act in acts {
                        let loss = Deep::new(&field, without_bounds()).loss(&root, act).unwrap();
                        let value = plain_act(&state, &field, act);
                        prop_assert!(loss.exact);
                        prop_assert_eq!(loss.units, (best - value) * FISH);
                        prop_assert_eq!(plain_act(&state, &field, loss.better), best);
                    }
                    if state.actions().len() > 1 {
                        let found = Deep::new(&field, without_bounds()).best(&root).unwrap();
                        prop_assert_eq!(plain_act(&state, &field, found.act), best);
                        prop_assert_eq!(found.value, Value { units: best * FISH, exact: true });
                    }
                }
                game.apply(seat, &game.playout_answer(seat, choice)).unwrap();
            }
        }
    }

    #[test]
    fn large_and_small_sets_of_tiles_give_the_same_answers() {
        for number in 0..6 {
            let mut game = Fish::new(&Config::default(), 2, &Seed::from_number(number)).unwrap();
            for choice in 0..10u64 {
                let seat = game.awaiting().first().unwrap();
                let state = State::from(&game);
                let quota = if game.phase() == Phase::Move { 0 } else { 4 };
                let bounds = Bounds { depth: 3, positions: 3_000, until: None };
                let (small, large) = (Field::<1>::new(&state.board), Field::<7>::new(&state.board));
                let one = Deep::new(&small, bounds).best(&Position::new(&small, &state, quota));
                let other = Deep::new(&large, bounds).best(&Position::new(&large, &state, quota));
                assert_eq!(one.map(|best| best.act), other.map(|best| best.act));
                let word = choice.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                game.apply(seat, &game.playout_answer(seat, word)).unwrap();
            }
        }
    }
}
