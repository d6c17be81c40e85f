//! The search through all divisions that can be better than a known one.

use super::{REMATCH, SEARCH_MAX, Search};
use crate::matching::Cost;

/// A set of players.
type Set = u128;

const _: () = assert!(SEARCH_MAX <= Set::BITS as usize, "a set holds all players of a search");

/// A search through divisions. The player with the fewest new opponents chooses companions first,
/// or sits out; then the next one, and so on. A branch ends as soon as it cannot become better.
pub(super) struct Exact {
    pairs: Vec<Vec<Cost>>,
    idle: Vec<Cost>,
    /// The opponents of each player who would not be met again.
    new: Vec<Set>,
    /// The cost of one rematch.
    rematch: Cost,
    /// The sizes of tables that are not filled yet, each with how many there are.
    sizes: Vec<(usize, usize)>,
    idle_left: usize,
    left: Set,
    groups: Vec<Vec<usize>>,
    sitting_out: Vec<usize>,
    best: Cost,
    found: Option<Vec<Vec<usize>>>,
    steps_left: u32,
}

impl Exact {
    /// A search for a division that costs less than `best`. `part` says what counts of each cost.
    pub(super) fn new(search: &Search, part: impl Fn(Cost) -> Cost, best: Cost) -> Exact {
        let count = search.names.len();
        let new = |one: usize| {
            let others = (0..count).filter(|other| *other != one);
            let new = others.filter(|other| search.pairs[one][*other] < REMATCH);
            new.fold(0, |set, other| set | 1 << other)
        };
        let mut sizes: Vec<(usize, usize)> = Vec::new();
        for table in &search.groups[..search.groups.len() - 1] {
            match sizes.iter_mut().find(|(size, _)| *size == table.len()) {
                Some((_, tables)) => *tables += 1,
                None => sizes.push((table.len(), 1)),
            }
        }
        let row = |row: &Vec<Cost>| row.iter().map(|cost| part(*cost)).collect();
        Exact {
            pairs: search.pairs.iter().map(row).collect(),
            idle: search.idle.iter().map(|cost| part(*cost)).collect(),
            new: (0..count).map(new).collect(),
            rematch: part(REMATCH),
            sizes,
            idle_left: search.idle_group().len(),
            left: (0..count).fold(0, |set, one| set | 1 << one),
            groups: Vec::new(),
            sitting_out: Vec::new(),
            best,
            found: None,
            steps_left: 0,
        }
    }

    /// Returns the best division if it costs less than the known one, and whether all others that
    /// could be better were tried.
    pub(super) fn search(mut self, steps: u32) -> (Option<Vec<Vec<usize>>>, bool) {
        self.steps_left = steps;
        if self.best > self.still_needed() {
            self.place(0);
        }
        (self.found, self.steps_left > 0)
    }

    fn players(set: Set) -> impl Iterator<Item = usize> {
        (0..Set::BITS as usize).filter(move |at| set & (1 << at) != 0)
    }

    /// The least cost of the rematches among the players who are left.
    fn still_needed(&self) -> Cost {
        let open = self.sizes.iter().filter(|(_, tables)| *tables > 0);
        let smallest = open.map(|(size, _)| *size).min().unwrap_or(1);
        let lacking = |one: usize| {
            (smallest - 1).saturating_sub((self.new[one] & self.left).count_ones() as usize)
        };
        let all: usize = Exact::players(self.left).map(lacking).sum();
        let of_idle = self.idle_left * (smallest - 1);
        self.rematch * (all.saturating_sub(of_idle).div_ceil(2) as Cost)
    }

    /// Gives the next player a place; the places so far cost `spent`.
    fn place(&mut self, spent: Cost) {
        let new = |one: &usize| (self.new[*one] & self.left).count_ones();
        let Some(player) = Exact::players(self.left).min_by_key(new) else {
            self.best = spent;
            let groups = self.groups.iter().chain([&self.sitting_out]);
            self.found = Some(groups.cloned().collect());
            return;
        };
        self.left &= !(1 << player);
        let mut others: Vec<usize> = Exact::players(self.left).collect();
        others.sort_by_key(|other| self.pairs[player][*other]);
        for at in 0..self.sizes.len() {
            let (size, tables) = self.sizes[at];
            if tables == 0 {
                continue;
            }
            self.sizes[at].1 -= 1;
            self.groups.push(vec![player]);
            self.join(size - 1, &others, spent);
            self.groups.pop();
            self.sizes[at].1 += 1;
        }
        if self.idle_left > 0 {
            self.idle_left -= 1;
            self.sitting_out.push(player);
            self.go_on(spent + self.idle[player]);
            self.sitting_out.pop();
            self.idle_left += 1;
        }
        self.left |= 1 << player;
    }

    /// Gives the latest table `missing` more of `others`.
    fn join(&mut self, missing: usize, others: &[usize], spent: Cost) {
        if missing == 0 {
            return self.go_on(spent);
        }
        for (at, other) in others.iter().enumerate() {
            if others.len() - at < missing {
                return;
            }
            let Some(left) = self.steps_left.checked_sub(1) else { return };
            self.steps_left = left;
            let table = self.groups.last().expect("a table");
            let added: Cost = table.iter().map(|one| self.pairs[*one][*other]).sum();
            if spent + added >= self.best {
                continue;
            }
            self.left &= !(1 << other);
            self.groups.last_mut().expect("a table").push(*other);
            self.join(missing - 1, &others[at + 1..], spent + added);
            self.groups.last_mut().expect("a table").pop();
            self.left |= 1 << other;
        }
    }

    fn go_on(&mut self, spent: Cost) {
        if spent + self.still_needed() < self.best {
            self.place(spent);
        }
    }
}
