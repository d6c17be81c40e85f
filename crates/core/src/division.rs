//! Divisions of players into tables at small cost: `docs/decisions/0043-tables-by-search.md`.
//!
//! The best division into tables of three or more is an NP-hard problem. Up to [`EXACT_MAX`]
//! players the search tries all divisions that can be better, so its result is the best one. For
//! more players it looks for a division without rematches, and then for close scores. All limits
//! count steps and not time, so the same players are divided alike on every machine.

mod exact;
mod local;

use crate::matching::Cost;
use exact::Exact;

/// The cost of two players who met before, once for each time. It is more than all differences of
/// scores of a round.
pub(crate) const REMATCH: Cost = 1 << 60;

/// The cost of one more bye of a player who had one. It is more than all rematches of a round.
pub(crate) const BYE: Cost = 1 << 100;

/// Up to this many players, the result is the best of all divisions.
const EXACT_MAX: usize = 12;

/// The most players of one search; of more players, those around a rematch are divided anew.
const SEARCH_MAX: usize = 100;

/// The most searches in a round of more than [`SEARCH_MAX`] players.
const SEARCHES: usize = 10;

/// How many players an exact search may try at a table, for few players and for many.
const STEPS_FEW: u32 = 2_000_000;
const STEPS_MANY: u32 = 60_000;

/// A division of players, who are numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Division {
    /// The players of each table.
    pub(crate) tables: Vec<Vec<usize>>,
    /// The players who sit out.
    pub(crate) idle: Vec<usize>,
    /// True if it is proven that no division has fewer rematches.
    pub(crate) is_proven: bool,
}

/// The costs of a division.
pub(crate) trait Costs {
    /// The cost of two players at one table.
    fn pair(&self, one: usize, other: usize) -> Cost;

    /// The cost of a player who sits out.
    fn idle(&self, player: usize) -> Cost;
}

/// Improves a division. The sizes of its tables stay the same.
pub(crate) fn improved(costs: &impl Costs, start: Division) -> Division {
    let count = start.idle.len() + start.tables.iter().map(Vec::len).sum::<usize>();
    if count <= SEARCH_MAX {
        let mut search = Search::new(costs, &start);
        let is_proven = search.run();
        return Division { is_proven, ..search.division() };
    }
    let mut division = start;
    for _ in 0..SEARCHES {
        let again = |table: &Vec<usize>| rematches_at(costs, table) > 0;
        let Some(at) = division.tables.iter().position(again) else { break };
        if !improve_around(costs, &mut division, at) {
            break;
        }
    }
    division.is_proven = division.tables.iter().all(|table| rematches_at(costs, table) == 0);
    division
}

/// Divides the players of the tables around one of them anew. Returns whether that helped.
fn improve_around(costs: &impl Costs, division: &mut Division, at: usize) -> bool {
    let count = division.tables.len();
    let largest = division.tables.iter().map(Vec::len).max().unwrap_or(1);
    let width = (SEARCH_MAX / largest.max(1)).clamp(1, count);
    let from = at.saturating_sub(width / 2).min(count - width);
    let tables = division.tables[from..from + width].to_vec();
    let part = Division { tables, ..Division::default() };
    let mut search = Search::new(costs, &part);
    let before = search.total(&search.groups);
    search.run();
    let is_better = search.total(&search.groups) < before;
    division.tables.splice(from..from + width, search.division().tables);
    is_better
}

fn rematches_at(costs: &impl Costs, table: &[usize]) -> Cost {
    let pairs = table
        .iter()
        .enumerate()
        .flat_map(|(at, one)| table[at + 1..].iter().map(move |other| (*one, *other)));
    pairs.map(|(one, other)| costs.pair(one, other) / REMATCH).sum()
}

/// The search for a division of a few players, who are the numbers from 0 on.
struct Search {
    /// The numbers that the caller knows them by.
    names: Vec<usize>,
    /// The cost of each pair, and of each player who sits out.
    pairs: Vec<Vec<Cost>>,
    idle: Vec<Cost>,
    /// The tables, and behind them the players who sit out.
    groups: Vec<Vec<usize>>,
}

impl Search {
    fn new(costs: &impl Costs, start: &Division) -> Search {
        let groups = start.tables.iter().chain([&start.idle]);
        let mut names: Vec<usize> = groups.clone().flatten().copied().collect();
        names.sort_unstable();
        let place = |name: &usize| names.binary_search(name).expect("a player of the division");
        let groups = groups.map(|group| group.iter().map(place).collect()).collect();
        let row = |one: &usize| names.iter().map(|other| costs.pair(*one, *other)).collect();
        let pairs = names.iter().map(row).collect();
        let idle = names.iter().map(|name| costs.idle(*name)).collect();
        Search { names, pairs, idle, groups }
    }

    fn division(&self) -> Division {
        let name = |group: &Vec<usize>| group.iter().map(|at| self.names[*at]).collect();
        let mut tables: Vec<Vec<usize>> = self.groups.iter().map(name).collect();
        let idle = tables.pop().unwrap_or_default();
        Division { tables, idle, is_proven: false }
    }

    /// Improves the groups. Returns whether no division has fewer rematches.
    fn run(&mut self) -> bool {
        self.descend();
        if self.names.len() <= EXACT_MAX {
            let exact = Exact::new(self, |cost| cost, self.total(&self.groups));
            let (better, is_complete) = exact.search(STEPS_FEW);
            self.groups = better.unwrap_or(std::mem::take(&mut self.groups));
            return is_complete;
        }
        let least = self.rematches_at_least();
        if self.rematches() > least {
            self.wander(least);
        }
        if self.rematches() == least {
            return true;
        }
        // Byes stay few while rematches are counted alone.
        let of_rematches = |cost: Cost| cost / REMATCH;
        let exact = Exact::new(self, of_rematches, self.total_of(&self.groups, of_rematches));
        let (better, is_complete) = exact.search(STEPS_MANY);
        if let Some(better) = better {
            self.groups = better;
            self.descend();
        }
        is_complete
    }

    /// The rematches that nobody can avoid, because a player has not enough new opponents.
    fn rematches_at_least(&self) -> Cost {
        let tables = &self.groups[..self.groups.len() - 1];
        let smallest = tables.iter().map(Vec::len).min().unwrap_or(1);
        let lacking = |one: usize| {
            let new = |other: &usize| *other != one && self.pairs[one][*other] < REMATCH;
            (smallest - 1).saturating_sub((0..self.names.len()).filter(new).count())
        };
        let mut lacking: Vec<usize> = (0..self.names.len()).map(lacking).collect();
        // The players who lack most may be those who sit out.
        lacking.sort_unstable();
        lacking.truncate(self.names.len() - self.idle_group().len());
        lacking.iter().sum::<usize>().div_ceil(2) as Cost
    }

    fn rematches(&self) -> Cost {
        let tables = &self.groups[..self.groups.len() - 1];
        tables.iter().map(|table| self.table(table, |cost| cost / REMATCH)).sum()
    }

    fn total(&self, groups: &[Vec<usize>]) -> Cost {
        self.total_of(groups, |cost| cost)
    }

    fn total_of(&self, groups: &[Vec<usize>], part: impl Fn(Cost) -> Cost) -> Cost {
        let Some((idle, tables)) = groups.split_last() else { return 0 };
        let idle: Cost = idle.iter().map(|one| part(self.idle[*one])).sum();
        idle + tables.iter().map(|table| self.table(table, &part)).sum::<Cost>()
    }

    fn table(&self, table: &[usize], part: impl Fn(Cost) -> Cost) -> Cost {
        let pairs = table
            .iter()
            .enumerate()
            .flat_map(|(at, one)| table[at + 1..].iter().map(move |other| (*one, *other)));
        pairs.map(|(one, other)| part(self.pairs[one][other])).sum()
    }

    fn idle_group(&self) -> &[usize] {
        self.groups.last().map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Players with scores and byes, some of whom have met.
    #[derive(Clone, Debug)]
    struct Players {
        scores: Vec<i64>,
        byes: Vec<u32>,
        met: Vec<Vec<u32>>,
    }

    impl Costs for Players {
        fn pair(&self, one: usize, other: usize) -> Cost {
            let difference = Cost::from(self.scores[one] - self.scores[other]);
            Cost::from(self.met[one.min(other)][one.max(other)]) * REMATCH + difference * difference
        }

        fn idle(&self, player: usize) -> Cost {
            let score = Cost::from(self.scores[player]);
            Cost::from(self.byes[player]) * BYE + score * score
        }
    }

    fn players(count: usize) -> impl Strategy<Value = Players> {
        let met = prop_oneof![3 => Just(0u32), 2 => Just(1), 1 => Just(2)];
        let scores = proptest::collection::vec(0i64..6, count);
        let byes = proptest::collection::vec(0u32..2, count);
        let met = proptest::collection::vec(proptest::collection::vec(met, count), count);
        (scores, byes, met).prop_map(|(mut scores, byes, met)| {
            scores.sort_unstable_by(|one, other| other.cmp(one));
            Players { scores, byes, met }
        })
    }

    /// Tables of these sizes in order, and the rest sit out.
    fn in_order(count: usize, sizes: &[usize]) -> Division {
        let mut from = 0;
        let tables = sizes.iter().map(|size| {
            from += size;
            (from - size..from).collect()
        });
        Division { tables: tables.collect(), idle: (from..count).collect(), is_proven: false }
    }

    fn cost(players: &Players, division: &Division) -> Cost {
        let idle: Cost = division.idle.iter().map(|one| players.idle(*one)).sum();
        let pairs = division.tables.iter().flat_map(|table| {
            table
                .iter()
                .enumerate()
                .flat_map(|(at, one)| table[at + 1..].iter().map(move |other| (*one, *other)))
        });
        idle + pairs.map(|(one, other)| players.pair(one, other)).sum::<Cost>()
    }

    /// The smallest cost of all divisions, by giving each player a place at each table in turn.
    fn by_trying(players: &Players, left: &mut Division, sizes: &[usize], next: usize) -> Cost {
        let count = players.scores.len();
        if next == count {
            return cost(players, left);
        }
        let mut best = Cost::MAX;
        let mut tried_empty = Vec::new();
        for at in 0..sizes.len() {
            let is_empty = left.tables[at].is_empty();
            if left.tables[at].len() == sizes[at] || is_empty && tried_empty.contains(&sizes[at]) {
                continue;
            }
            if is_empty {
                tried_empty.push(sizes[at]);
            }
            left.tables[at].push(next);
            best = best.min(by_trying(players, left, sizes, next + 1));
            left.tables[at].pop();
        }
        if left.idle.len() < count - sizes.iter().sum::<usize>() {
            left.idle.push(next);
            best = best.min(by_trying(players, left, sizes, next + 1));
            left.idle.pop();
        }
        best
    }

    fn is_division(division: &Division, count: usize, sizes: &[usize]) -> bool {
        let mut found: Vec<usize> = division.tables.iter().map(Vec::len).collect();
        let mut wanted = sizes.to_vec();
        found.sort_unstable();
        wanted.sort_unstable();
        let mut all: Vec<usize> = division.tables.iter().flatten().copied().collect();
        all.extend(&division.idle);
        all.sort_unstable();
        found == wanted && all.into_iter().eq(0..count)
    }

    const SIZES: [&[usize]; 10] = [
        &[3, 3],
        &[3, 4],
        &[4, 4],
        &[3, 3, 2],
        &[3, 3, 3],
        &[2, 2, 2, 2],
        &[3, 3, 4],
        &[5, 4],
        &[8],
        &[2, 3, 3],
    ];

    proptest! {
        #[test]
        fn no_other_division_of_few_players_is_better(
            (players, sizes) in (0..SIZES.len(), 0usize..3).prop_flat_map(|(at, idle)| {
                let count = (SIZES[at].iter().sum::<usize>() + idle).min(10);
                (players(count), Just(SIZES[at]))
            })
        ) {
            let count = players.scores.len();
            let division = improved(&players, in_order(count, sizes));
            prop_assert!(is_division(&division, count, sizes), "{division:?}");
            prop_assert!(division.is_proven);
            let empty = vec![Vec::new(); sizes.len()];
            let mut left = Division { tables: empty, ..Division::default() };
            let least = by_trying(&players, &mut left, sizes, 0);
            prop_assert_eq!(cost(&players, &division), least);
        }

        /// Players of one table of a random division have not met, so that there is one without
        /// rematches.
        #[test]
        fn hidden_division_without_rematches_is_found(
            mut players in players(24),
            order in Just((0..24).collect::<Vec<usize>>()).prop_shuffle(),
        ) {
            for table in order.chunks(3) {
                for one in table {
                    table.iter().for_each(|other| players.met[*one][*other] = 0);
                }
            }
            let sizes = [3; 8];
            let division = improved(&players, in_order(24, &sizes));
            prop_assert!(is_division(&division, 24, &sizes), "{division:?}");
            prop_assert!(division.is_proven);
            prop_assert!(cost(&players, &division) < REMATCH);
        }
    }

    /// Of 300 players, only those of one table have met.
    #[test]
    fn rematch_among_many_players_is_avoided() {
        let mut players =
            Players { scores: vec![0; 300], byes: vec![0; 300], met: vec![vec![0; 300]; 300] };
        for one in 150..153 {
            (150..153).for_each(|other| players.met[one][other] = 1);
        }
        let sizes = [3; 100];
        let division = improved(&players, in_order(300, &sizes));
        assert!(is_division(&division, 300, &sizes), "{division:?}");
        assert!(division.is_proven);
        assert_eq!(cost(&players, &division), 0);
    }

    #[test]
    fn unavoidable_rematches_are_proven_to_be() {
        let all_met =
            Players { scores: vec![0; 15], byes: vec![0; 15], met: vec![vec![1; 15]; 15] };
        let division = improved(&all_met, in_order(15, &[3; 5]));
        assert!(division.is_proven);
        assert_eq!(cost(&all_met, &division) / REMATCH, 15);
    }
}
