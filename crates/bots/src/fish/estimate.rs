//! The value of a position without looking ahead: exact once no two players share a region of free
//! tiles, else an estimate of how the free tiles will be divided.
//!
//! Values are in parts of a fish ([`FISH`]) and for the player at index 0: their own future catch,
//! minus the mean of the others'. To stay with whole numbers both are multiplied by the number of
//! opponents ([`weight`]).

use super::field::{Bits, Field, PLAYERS_MAX};
use super::position::Position;

/// How many units one fish has.
pub(super) const FISH: i32 = 64;

/// The value of a tile in the estimate, in parts of its fish: to the only player who reaches it
/// first, and to each of several who reach it equally early.
const FIRST: i32 = 44;
const SHARED: i32 = 22;

/// The value of the fish under a penguin in the estimate, by the number of free neighbours. The
/// more there are, the less likely the penguin is shut in before it leaves.
const UNDER: [i32; 7] = [0, 46, 56, 60, 62, 63, 63];

/// The steps that one exact solution of a player's own region may take.
const SOLO_STEPS: u32 = 400;

/// The factor of a player's fish in the value.
#[inline]
pub(super) fn weight(players: u8, player: usize) -> i32 {
    if player == 0 { i32::from(players).max(2) - 1 } else { -1 }
}

/// The value of a position, and whether it is exact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Value {
    pub(super) units: i32,
    pub(super) exact: bool,
}

/// The exact value if no two players share a region and the regions are easy; counts its steps.
pub(super) fn divided<const W: usize>(
    field: &Field<W>,
    position: &Position<W>,
    steps: &mut u64,
) -> Option<Value> {
    let players = usize::from(position.players);
    let mut taken = Bits::EMPTY;
    let mut regions = [Bits::EMPTY; PLAYERS_MAX];
    for (player, region) in regions.iter_mut().enumerate().take(players) {
        *region = field.flood(&beside(field, position, player), &position.free);
        if !region.and(&taken).is_empty() {
            return None;
        }
        taken = taken.or(region);
    }
    let mut value = Value { units: 0, exact: true };
    for (player, region) in regions.iter().enumerate().take(players) {
        let flock = position.flocks[player].tiles();
        let (fish, exact) = alone(field, region, flock, steps);
        value.units += weight(position.players, player) * fish * FISH;
        value.exact &= exact;
    }
    Some(value)
}

/// The free neighbours of a player's penguins.
#[inline]
fn beside<const W: usize>(field: &Field<W>, position: &Position<W>, player: usize) -> Bits<W> {
    let tiles = position.flocks[player].tiles().iter();
    tiles.fold(Bits::EMPTY, |set, tile| set.or(&field.near[usize::from(*tile)])).and(&position.free)
}

/// The most fish that penguins catch in regions that nobody else enters, and whether the number is
/// exact; otherwise it is a lower bound. Groups of penguins that do not meet are solved one by one.
fn alone<const W: usize>(
    field: &Field<W>,
    region: &Bits<W>,
    flock: &[u16],
    steps: &mut u64,
) -> (i32, bool) {
    let (mut fish, mut exact) = (0, true);
    let mut done = [false; super::position::FLOCK_MAX];
    for first in 0..flock.len() {
        if done[first] {
            continue;
        }
        let mut group = Solo { field, penguins: [0; 5], len: 0, best: 0, left: SOLO_STEPS };
        let mut tiles = Bits::EMPTY;
        let mut grown = true;
        group.add(flock[first]);
        done[first] = true;
        while grown {
            grown = false;
            for penguin in &group.penguins[..group.len] {
                let near = field.near[usize::from(*penguin)].and(region);
                tiles = tiles.or(&field.flood(&near, region));
            }
            for (at, penguin) in flock.iter().enumerate() {
                if !done[at] && !field.near[usize::from(*penguin)].and(&tiles).is_empty() {
                    group.add(*penguin);
                    (done[at], grown) = (true, true);
                }
            }
        }
        if !tiles.is_empty() {
            exact &= group.solve(tiles);
            fish += group.best;
            *steps += u64::from(SOLO_STEPS - group.left);
        }
    }
    (fish, exact)
}

/// One player's penguins in a region of their own.
struct Solo<'a, const W: usize> {
    field: &'a Field<W>,
    penguins: [u16; 5],
    len: usize,
    best: i32,
    left: u32,
}

impl<const W: usize> Solo<'_, W> {
    fn add(&mut self, penguin: u16) {
        self.penguins[self.len] = penguin;
        self.len += 1;
    }

    /// Finds the most fish; returns whether it looked at everything that matters.
    fn solve(&mut self, tiles: Bits<W>) -> bool {
        let limit = self.limit(&tiles);
        self.walk(tiles, 0, limit);
        self.left > 0 || self.best == limit
    }

    /// No more fish than these can be caught: every penguin ends on a tile that stays.
    fn limit(&self, tiles: &Bits<W>) -> i32 {
        let mut counts = [0; 6];
        tiles.iter().for_each(|tile| counts[self.field.fish[tile] as usize] += 1);
        for penguin in &self.penguins[..self.len] {
            counts[self.field.fish[usize::from(*penguin)] as usize] += 1;
        }
        let mut keep = self.len as i32;
        let mut sum = 0;
        for (fish, count) in counts.into_iter().enumerate().skip(1) {
            let stay = keep.min(count);
            keep -= stay;
            sum += (count - stay) * fish as i32;
        }
        sum
    }

    fn walk(&mut self, free: Bits<W>, caught: i32, limit: i32) {
        self.best = self.best.max(caught);
        if self.left == 0 || self.best >= limit {
            return;
        }
        self.left -= 1;
        let beside = self.penguins[..self.len]
            .iter()
            .fold(Bits::EMPTY, |set, tile| set.or(&self.field.near[usize::from(*tile)]));
        let open = self.field.flood(&beside, &free);
        if caught + self.open_limit(&open) <= self.best {
            return;
        }
        for at in 0..self.len {
            let from = self.penguins[at];
            let gain = self.field.fish[usize::from(from)];
            // Tiles with few exits first: whoever leaves them for later often loses them.
            let mut targets = [(0u32, 0u16); 24];
            let mut count = 0;
            for direction in 0..6 {
                let mut to = self.field.next[usize::from(from)][direction];
                while free.contains(usize::from(to)) {
                    let exits = self.field.near[usize::from(to)].and(&free).len();
                    if count < targets.len() {
                        targets[count] = (exits, to);
                        count += 1;
                    } else {
                        self.left = 0;
                    }
                    to = self.field.next[usize::from(to)][direction];
                }
            }
            targets[..count].sort_unstable();
            for (_, to) in &targets[..count] {
                let mut rest = free;
                rest.remove(usize::from(*to));
                self.penguins[at] = *to;
                self.walk(rest, caught + gain, limit);
                self.penguins[at] = from;
            }
        }
    }

    /// The fish that are still open to penguins that can move.
    fn open_limit(&self, open: &Bits<W>) -> i32 {
        let moving = self.penguins[..self.len]
            .iter()
            .filter(|tile| !self.field.near[usize::from(**tile)].and(open).is_empty());
        let (mut under, mut smallest) = (0, 0);
        for tile in moving {
            under += self.field.fish[usize::from(*tile)];
            smallest += 1;
        }
        // Each of them stays on some tile in the end.
        self.field.fish_of(open) + under - smallest
    }
}

/// An estimate of the value: every free tile goes to the player who reaches it first, where the
/// first step is a slide and the further ones lead over neighbours.
pub(super) fn estimate<const W: usize>(field: &Field<W>, position: &Position<W>) -> i32 {
    let players = usize::from(position.players);
    let mut reached = [Bits::EMPTY; PLAYERS_MAX];
    let mut value = 0;
    for (player, slides) in reached.iter_mut().enumerate().take(players) {
        let factor = weight(position.players, player);
        for from in position.flocks[player].tiles() {
            let from = usize::from(*from);
            let exits = field.near[from].and(&position.free).len() as usize;
            value += factor * field.fish[from] * UNDER[exits.min(6)];
            for direction in 0..6 {
                let mut to = usize::from(field.next[from][direction]);
                while position.free.contains(to) {
                    slides.insert(to);
                    to = usize::from(field.next[to][direction]);
                }
            }
        }
    }
    let mut unclaimed = position.free;
    loop {
        let mut once = Bits::EMPTY;
        let mut several = Bits::EMPTY;
        for fresh in &reached[..players] {
            several = several.or(&once.and(fresh));
            once = once.or(fresh);
        }
        if once.is_empty() {
            return value;
        }
        unclaimed = unclaimed.without(&once);
        for (player, fresh) in reached.iter_mut().enumerate().take(players) {
            let first = field.fish_of(&fresh.without(&several)) * FIRST;
            let shared = field.fish_of(&fresh.and(&several)) * SHARED;
            value += weight(position.players, player) * (first + shared);
            *fresh = field.around(fresh).and(&unclaimed);
        }
    }
}
