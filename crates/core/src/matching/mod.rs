//! Perfect matchings of smallest total cost, for pairings: `docs/decisions/0026-own-matching.md`.
//!
//! [`cheapest`] pairs an even number of nodes such that the sum of the costs of all pairs is as
//! small as possible. Its time grows with the third power of the number of nodes, so it is meant
//! for a few hundred. Its dual values prove that the result is optimal. A caller that has many more
//! nodes of few kinds can solve a small part, and extend the proof to the rest (`swiss.rs`).

mod blossom;

use blossom::Solver;

/// The cost of a pair. Costs are integers, so results are exact and the same everywhere.
pub(crate) type Cost = i128;

/// A perfect matching of smallest cost, with its proof.
pub(crate) struct Matching {
    solver: Solver,
}

/// Pairs the nodes `0..count` at the smallest total cost. Among equally good matchings, it prefers
/// pairs in `preferred`.
pub(crate) fn cheapest(
    count: usize,
    cost: impl Fn(usize, usize) -> Cost,
    preferred: impl IntoIterator<Item = (usize, usize)>,
) -> Matching {
    assert!(count.is_multiple_of(2), "an odd number of nodes has no perfect matching");
    let mut solver = Solver::new(count, |one, other| -cost(one, other));
    solver.solve(preferred);
    Matching { solver }
}

impl Matching {
    /// The partner of each node.
    pub(crate) fn partners(&self) -> &[usize] {
        self.solver.partners()
    }

    /// By how much a pair of this cost is too dear to improve the matching, in halves; negative if
    /// it may improve it. Both nodes may be the same one: then it is a pair of two nodes like it.
    pub(crate) fn slack(&self, one: usize, other: usize, cost: Cost) -> Cost {
        self.solver.slack(one, other, -cost)
    }

    /// Returns whether two nodes are in the same blossoms, so that pairs of nodes like them may be
    /// added to the matching without changing the proof.
    pub(crate) fn in_same_blossoms(&self, one: usize, other: usize) -> bool {
        self.solver.blossoms(one).eq(self.solver.blossoms(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The smallest total cost, by trying all perfect matchings of the nodes in `left`.
    fn by_trying(left: &[usize], cost: &impl Fn(usize, usize) -> Cost) -> Cost {
        let Some((first, rest)) = left.split_first() else { return 0 };
        let with = |at: usize| {
            let others: Vec<usize> = rest
                .iter()
                .enumerate()
                .filter(|(place, _)| *place != at)
                .map(|(_, n)| *n)
                .collect();
            cost(*first, rest[at]) + by_trying(&others, cost)
        };
        (0..rest.len()).map(with).min().expect("an even number of nodes")
    }

    fn total(partners: &[usize], cost: &impl Fn(usize, usize) -> Cost) -> Cost {
        for (node, partner) in partners.iter().enumerate() {
            assert_eq!(partners[*partner], node, "{partners:?}");
            assert_ne!(*partner, node);
        }
        let pairs = partners.iter().enumerate().filter(|(node, partner)| node < partner);
        pairs.map(|(node, partner)| cost(node, *partner)).sum()
    }

    /// A cost between nodes from a seed.
    fn drawn(seed: u64, range: u64) -> impl Fn(usize, usize) -> Cost {
        move |one, other| {
            let (low, high) = (one.min(other) as u64, one.max(other) as u64);
            let mut word = seed ^ (low << 32 | high).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            Cost::from((word ^ (word >> 31)) % range)
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn matchings_cost_as_little_as_the_best_of_all(
            half in 1usize..=5, seed: u64, range in 1u64..40,
        ) {
            let cost = drawn(seed, range);
            let all: Vec<usize> = (0..half * 2).collect();
            let found = cheapest(half * 2, &cost, []);
            for one in 0..half * 2 {
                for other in one + 1..half * 2 {
                    prop_assert!(found.slack(one, other, cost(one, other)) >= 0);
                }
                let partner = found.partners()[one];
                prop_assert_eq!(found.slack(one, partner, cost(one, partner)), 0);
            }
            prop_assert_eq!(total(found.partners(), &cost), by_trying(&all, &cost));
        }
    }

    #[test]
    fn no_nodes_need_no_pairs() {
        assert_eq!(cheapest(0, |_, _| 0, []).partners(), [0; 0]);
    }
}
