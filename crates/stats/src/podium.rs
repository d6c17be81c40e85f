//! How sure a podium is: the probability that the players in the first places are really the
//! strongest, given all results.

use crate::bradley_terry::Strengths;
use crate::random::RandomNumbers;

/// How sure a podium is. Each value is a probability.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Podium {
    /// The first player is the strongest of all.
    pub winner: f64,
    /// The players on the podium are the strongest, in any order.
    pub set: f64,
    /// The players on the podium are the strongest, in this order.
    pub order: f64,
}

/// How many times strengths are drawn for this many players: fewer for many players, because a
/// draw takes the square of their number. The standard error of a probability is 0.004 for up to
/// 100 players, and at most 0.012.
fn samples(players: usize) -> u32 {
    let players = players.max(1) as u64;
    (200_000_000 / (players * players)).clamp(2_000, 20_000) as u32
}

/// How sure it is that `podium`, a list of players from the best on, is right. Strengths are drawn
/// from the distribution that the results leave, with a fixed seed.
pub fn podium(strengths: &Strengths, podium: &[usize]) -> Podium {
    let mut random = RandomNumbers::new(0x706f_6469_756d);
    let (mut winner, mut set, mut order) = (0u32, 0u32, 0u32);
    let others: Vec<usize> = (0..strengths.len()).filter(|one| !podium.contains(one)).collect();
    let samples = samples(strengths.len());
    for _ in 0..samples {
        let errors = (0..strengths.len()).map(|_| random.normal()).collect();
        let drawn = strengths.sample(errors);
        let of = |player: &usize| drawn[*player];
        let best_other = others.iter().map(of).fold(f64::MIN, f64::max);
        let worst_here = podium.iter().map(of).fold(f64::MAX, f64::min);
        let first = podium.first().map_or(f64::MIN, of);
        let is_set = worst_here > best_other;
        let in_order = podium.windows(2).all(|pair| drawn[pair[0]] > drawn[pair[1]]);
        set += u32::from(is_set);
        order += u32::from(is_set && in_order);
        winner += u32::from(first >= drawn.iter().copied().fold(f64::MIN, f64::max));
    }
    let share = |count: u32| f64::from(count) / f64::from(samples);
    Podium { winner: share(winner), set: share(set), order: share(order) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bradley_terry::Meeting;

    #[test]
    fn two_players_have_a_closed_form() {
        for points in [50.0, 55.0, 60.0, 70.0] {
            let meeting = Meeting::of_games(0, 1, points, 100.0);
            let fitted = Strengths::fit(2, &[meeting], Strengths::PRIOR_GAMES);
            let sure = podium(&fitted, &[0, 1]);
            assert!((sure.order - fitted.superiority(0, 1)).abs() < 0.015, "{points}: {sure:?}");
            assert_eq!((sure.winner, sure.set), (sure.order, 1.0));
        }
    }

    #[test]
    fn equal_players_leave_every_order_open() {
        let meetings: Vec<Meeting> = (0..4)
            .flat_map(|one| (0..one).map(move |other| (one, other)))
            .map(|(one, other)| Meeting::of_games(one, other, 5.0, 10.0))
            .collect();
        let fitted = Strengths::fit(4, &meetings, Strengths::PRIOR_GAMES);
        let sure = podium(&fitted, &[0, 1, 2]);
        assert!((sure.winner - 0.25).abs() < 0.015, "{sure:?}");
        assert!((sure.set - 0.25).abs() < 0.015 && (sure.order - 1.0 / 24.0).abs() < 0.01);
    }
}
