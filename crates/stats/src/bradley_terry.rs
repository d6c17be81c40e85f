//! Strengths of many players from all their results: the Bradley–Terry model by maximum likelihood.
//!
//! A player of strength `a` scores `1 / (1 + exp(b - a))` per game against one of strength `b`.
//! A draw counts as half a win, which makes the errors a little too large, never too small. Each
//! player also has a fraction of a drawn game against an average player. It keeps the strength of a
//! player finite who won or lost every game.
//!
//! Games of a duplicate group have the same luck, so they are not independent. The estimates do not
//! depend on that, but their errors do. There the group is the unit: the errors come from the
//! variance of the points per group, as in a pentanomial model, by the sandwich formula `H⁻¹ J
//! H⁻¹`. Here `H` is the information of independent games, and `J` the variance of the slope.
//!
//! A game of three or more players gives a result for every two of them, and these results are not
//! independent either: a player who wins a game of four beats three others at once. The table is
//! the unit then, and `J` grows by the share that the residuals of tables show ([`TableResults`]).

use crate::elementary::exp;
use crate::interval::Interval;
use crate::normal;

/// The games of two players against each other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Meeting {
    /// The first player, as an index.
    pub one: usize,
    /// The second player.
    pub other: usize,
    /// The points of the first player: a win is 1, a draw ½.
    pub points: f64,
    /// The number of games.
    pub games: f64,
    /// The duplicate groups that the games form; `None` if every game has luck of its own.
    pub groups: Option<DuplicateGroups>,
}

/// The results of duplicate groups: the games of a group have the same luck, and players exchange
/// seats between them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DuplicateGroups {
    /// The number of groups.
    pub count: f64,
    /// The sum, over all groups, of the square of the first player's points in a group.
    pub squares: f64,
}

impl Meeting {
    /// A meeting of independent games.
    pub fn of_games(one: usize, other: usize, points: f64, games: f64) -> Meeting {
        Meeting { one, other, points, games, groups: None }
    }

    /// A meeting of duplicate groups of `size` games, from the first player's points in each group.
    pub fn of_groups(one: usize, other: usize, size: usize, points: &[f64]) -> Meeting {
        let count = points.len() as f64;
        let squares = points.iter().map(|own| own * own).sum();
        Meeting {
            one,
            other,
            points: points.iter().sum(),
            games: count * size as f64,
            groups: Some(DuplicateGroups { count, squares }),
        }
    }

    /// The sum of the squared differences between the points of a group and `expected` points.
    fn squared_residuals(&self, groups: &DuplicateGroups, expected: f64) -> f64 {
        let squares = groups.squares - 2.0 * expected * self.points;
        (squares + groups.count * expected * expected).max(0.0)
    }
}

/// A game of three or more players, or a duplicate group of such games: the points of every two of
/// its players.
#[derive(Clone, PartialEq, Debug)]
pub struct TableResults {
    /// The number of players.
    pub size: usize,
    /// The number of games: 1, or the size of a duplicate group.
    pub games: f64,
    /// Two players, and the points of the first one against the second one.
    pub results: Vec<(usize, usize, f64)>,
}

/// The strengths of players, with their errors. The mean strength is 0.
#[derive(Clone, PartialEq, Debug)]
pub struct Strengths {
    /// Natural units: the logarithm of odds.
    values: Vec<f64>,
    /// The Cholesky factor of the information matrix of independent games, row by row.
    factor: Vec<f64>,
    /// The Cholesky factor of the variance of the slope, if games form groups.
    slope_factor: Option<Vec<f64>>,
    /// The variance of a group relative to independent games, over all meetings; 1 without groups.
    dispersion: f64,
    /// The covariance of the centred strengths, row by row.
    covariance: Vec<f64>,
}

/// Elo per natural unit.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

impl Strengths {
    /// The number of drawn games against an average player that each player has in addition.
    pub const PRIOR_GAMES: f64 = 0.5;

    /// The most players whose strengths can be computed together.
    pub const PLAYERS_MAX: usize = 400;

    /// The strengths that explain the meetings best.
    ///
    /// # Panics
    /// If there are more than [`Strengths::PLAYERS_MAX`] players.
    pub fn fit(players: usize, meetings: &[Meeting], prior_games: f64) -> Strengths {
        Strengths::fit_tables(players, meetings, &[], prior_games)
    }

    /// Like [`fit`](Strengths::fit), for meetings of which some come from these tables.
    pub fn fit_tables(
        players: usize,
        meetings: &[Meeting],
        tables: &[TableResults],
        prior_games: f64,
    ) -> Strengths {
        assert!(players <= Strengths::PLAYERS_MAX, "{players} players");
        let mut values = vec![0.0; players];
        let mut factor = Vec::new();
        for _ in 0..100 {
            let (slope, information) = derivatives(&values, meetings, prior_games);
            factor = cholesky(information, players);
            let step = solve(&factor, slope);
            // A long step may overshoot, because the likelihood is not a parabola.
            let longest = step.iter().fold(0.0, |most: f64, one| most.max(one.abs()));
            let scale = if longest > 1.0 { 1.0 / longest } else { 1.0 };
            values.iter_mut().zip(&step).for_each(|(value, step)| *value += scale * step);
            if longest < 1e-10 {
                break;
            }
        }
        let spread = Dispersion::of(&values, meetings);
        let of_tables = dispersion_of_tables(&values, tables);
        let slope_factor = (spread.is_some() || !tables.is_empty()).then(|| {
            let scale = |meeting: &Meeting| {
                of_tables * spread.as_ref().map_or(1.0, |one| one.of_meeting(&values, meeting))
            };
            cholesky(information(&values, meetings, prior_games, scale), players)
        });
        let covariance = centred_covariance(&factor, slope_factor.as_deref(), players);
        let mean = values.iter().sum::<f64>() / players.max(1) as f64;
        values.iter_mut().for_each(|value| *value -= mean);
        let dispersion = spread.map_or(1.0, |spread| spread.pooled);
        Strengths { values, factor, slope_factor, dispersion, covariance }
    }

    /// The number of players.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns whether there are no players.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// A player's strength on the Elo scale, relative to the mean of all.
    pub fn elo(&self, player: usize) -> f64 {
        ELO * self.values[player]
    }

    /// The interval of a player's strength on the Elo scale.
    pub fn interval(&self, player: usize, confidence: f64) -> Interval {
        let error = self.covariance[player * self.len() + player].max(0.0).sqrt();
        Interval::of_normal(self.elo(player), ELO * error, confidence)
    }

    /// The probability that `one` is stronger than `other`.
    pub fn superiority(&self, one: usize, other: usize) -> f64 {
        let error = self.difference_variance(one, other).sqrt();
        if error > 0.0 {
            normal::below((self.values[one] - self.values[other]) / error)
        } else {
            0.5
        }
    }

    /// The players for whom `is_in` holds, the strongest first.
    pub fn ranking(&self, is_in: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.len()).filter(|player| is_in(*player)).collect();
        order.sort_by(|one, other| {
            self.values[*other].total_cmp(&self.values[*one]).then(one.cmp(other))
        });
        order
    }

    /// An upper bound of the probability that the first `places` of a `ranking` are wrong: the sum
    /// over all pairs whose order matters.
    pub fn risk(&self, ranking: &[usize], places: usize) -> f64 {
        let places = places.min(ranking.len());
        let neighbours = ranking[..places].windows(2).map(|pair| (pair[0], pair[1]));
        let last = ranking[..places].last();
        let behind =
            last.into_iter().flat_map(|last| ranking[places..].iter().map(|one| (*last, *one)));
        neighbours.chain(behind).map(|(one, other)| self.superiority(other, one)).sum()
    }

    /// The meetings whose next game says most about the first `places` of a `ranking`, the best
    /// first. No player is in two of them, and each says at least half as much as the first.
    pub fn most_telling(&self, ranking: &[usize], places: usize) -> Vec<(usize, usize)> {
        let mut gains = Vec::new();
        for (at, one) in ranking.iter().enumerate().take(places) {
            for other in &ranking[at + 1..] {
                let variance = self.difference_variance(*one, *other);
                let expected = 1.0 / (1.0 + exp(self.values[*other] - self.values[*one]));
                let information = variance * expected * (1.0 - expected) / self.dispersion;
                // The risk that the order is wrong, times what one more game takes off the
                // variance.
                let gain = self.superiority(*other, *one) * information / (1.0 + information);
                gains.push((gain, *one, *other));
            }
        }
        gains.sort_by(|one, other| other.0.total_cmp(&one.0));
        let least = gains.first().map_or(0.0, |(gain, ..)| gain / 2.0);
        let mut chosen: Vec<(usize, usize)> = Vec::new();
        for (gain, one, other) in gains {
            let is_busy = |player| chosen.iter().any(|pair| pair.0 == player || pair.1 == player);
            if gain >= least && !is_busy(one) && !is_busy(other) {
                chosen.push((one, other));
            }
        }
        chosen
    }

    fn difference_variance(&self, one: usize, other: usize) -> f64 {
        let at = |row: usize, column: usize| self.covariance[row * self.len() + column];
        (at(one, one) + at(other, other) - 2.0 * at(one, other)).max(0.0)
    }

    /// Strengths that the results allow as well: the estimate plus an error, from as many standard
    /// normal numbers as there are players.
    pub(crate) fn sample(&self, errors: Vec<f64>) -> Vec<f64> {
        let errors = match &self.slope_factor {
            Some(slope) => solve(&self.factor, multiply(slope, &errors)),
            None => solve_transposed(&self.factor, errors),
        };
        self.values.iter().zip(errors).map(|(value, error)| value + error).collect()
    }
}

/// How much more the points of duplicate groups vary than those of independent games: 0 if a group
/// always has the expected result, and the size of a group if all its games end alike.
struct Dispersion {
    /// Over all groups of all meetings.
    pooled: f64,
    /// The factor that makes up for the fitted strengths; `None` if there are too few groups.
    correction: Option<f64>,
}

impl Dispersion {
    /// The weight of `pooled` in the dispersion of a meeting, in groups.
    const POOLED_GROUPS: f64 = 5.0;

    /// The dispersion that the residuals show; `None` if no meeting has groups. One more group of
    /// two equal players is assumed whose games end alike, so that few groups are not too sure.
    fn of(values: &[f64], meetings: &[Meeting]) -> Option<Dispersion> {
        let (mut count, mut squares, mut variance, mut most) = (0.0, 0.0, 0.0, 0.0f64);
        let mut has_groups = false;
        for meeting in meetings {
            let Some(groups) = meeting.groups else { continue };
            has_groups = true;
            if groups.count > 0.0 {
                let size = meeting.games / groups.count;
                let share = expected(values[meeting.one] - values[meeting.other]);
                squares += meeting.squared_residuals(&groups, size * share);
                variance += meeting.games * share * (1.0 - share);
                count += groups.count;
                most = most.max(size);
            }
        }
        let free = count - (values.len() as f64 - 1.0);
        let correction = (free > 0.0).then(|| count / free);
        let pooled = correction.map_or(most, |correction| {
            let one_more = most / 4.0;
            let found = squares * correction + most * one_more;
            (found / (variance + one_more)).min(most)
        });
        // Matches may end before the first group is complete. Then nothing is known about groups.
        (has_groups && most > 0.0).then_some(Dispersion { pooled, correction })
    }

    /// The dispersion of one meeting: its own, drawn towards that of all meetings.
    fn of_meeting(&self, values: &[f64], meeting: &Meeting) -> f64 {
        let (Some(groups), Some(correction)) = (meeting.groups, self.correction) else {
            return self.pooled;
        };
        if groups.count == 0.0 {
            return self.pooled;
        }
        let size = meeting.games / groups.count;
        let share = expected(values[meeting.one] - values[meeting.other]);
        let own = meeting.squared_residuals(&groups, size * share) * correction;
        let of_group = size * share * (1.0 - share);
        let assumed = Dispersion::POOLED_GROUPS;
        let found = own + assumed * self.pooled * of_group;
        (found / ((groups.count + assumed) * of_group)).min(size)
    }
}

/// The variance of the points of a player at tables, relative to that of as many independent games
/// against one opponent each.
///
/// If the players of a table of `k` are equally strong and nobody draws, it is `(k + 1) / 3`.
/// Five tables like this are assumed, so that few tables are not too sure.
fn dispersion_of_tables(values: &[f64], tables: &[TableResults]) -> f64 {
    const ASSUMED: f64 = 5.0;
    let (mut together, mut alone, mut sizes) = (0.0, 0.0, 0.0);
    let mut free = 1.0 - values.len() as f64;
    let mut of_player = vec![0.0; values.len()];
    for table in tables {
        for (one, other, points) in &table.results {
            let residual = points - table.games * expected(values[*one] - values[*other]);
            of_player[*one] += residual;
            of_player[*other] -= residual;
            alone += 2.0 * residual * residual;
        }
        for (one, other, _) in &table.results {
            together += of_player[*one] * of_player[*one] + of_player[*other] * of_player[*other];
            (of_player[*one], of_player[*other]) = (0.0, 0.0);
        }
        sizes += table.size as f64;
        free += table.size as f64 - 1.0;
    }
    let count = tables.len() as f64;
    if tables.is_empty() || alone <= 0.0 {
        return 1.0;
    }
    let size = sizes / count;
    // Fitted strengths make residuals smaller.
    let correction = if free > 0.0 { (sizes - count) / free } else { 1.0 };
    let assumed = ASSUMED * alone / count;
    let found = together * correction + assumed * (size + 1.0) / 3.0;
    (found / (alone + assumed)).clamp(1.0, (size - 1.0).max(1.0))
}

/// The score that a player expects per game who is stronger by `difference`.
fn expected(difference: f64) -> f64 {
    1.0 / (1.0 + exp(-difference))
}

/// The derivative of the logarithm of the likelihood, and its information matrix.
fn derivatives(values: &[f64], meetings: &[Meeting], prior_games: f64) -> (Vec<f64>, Vec<f64>) {
    let mut slope = vec![0.0; values.len()];
    for (player, value) in values.iter().enumerate() {
        slope[player] += prior_games * (0.5 - expected(*value));
    }
    for Meeting { one, other, points, games, .. } in meetings {
        let share = expected(values[*one] - values[*other]);
        slope[*one] += points - games * share;
        slope[*other] -= points - games * share;
    }
    (slope, information(values, meetings, prior_games, |_| 1.0))
}

/// The information of all meetings, each multiplied by its `scale`.
fn information(
    values: &[f64],
    meetings: &[Meeting],
    prior_games: f64,
    scale: impl Fn(&Meeting) -> f64,
) -> Vec<f64> {
    let count = values.len();
    let mut information = vec![0.0; count * count];
    for (player, value) in values.iter().enumerate() {
        let share = expected(*value);
        information[player * count + player] += prior_games * share * (1.0 - share);
    }
    for meeting in meetings {
        let (one, other) = (meeting.one, meeting.other);
        let share = expected(values[one] - values[other]);
        let weight = meeting.games * share * (1.0 - share) * scale(meeting);
        information[one * count + one] += weight;
        information[other * count + other] += weight;
        information[one * count + other] -= weight;
        information[other * count + one] -= weight;
    }
    information
}

/// The lower triangular factor of a positive definite matrix.
pub(crate) fn cholesky(mut matrix: Vec<f64>, count: usize) -> Vec<f64> {
    for row in 0..count {
        for column in 0..=row {
            let products =
                (0..column).map(|at| matrix[row * count + at] * matrix[column * count + at]);
            let rest = matrix[row * count + column] - products.sum::<f64>();
            matrix[row * count + column] = match row == column {
                true => rest.max(1e-12).sqrt(),
                false => rest / matrix[column * count + column],
            };
        }
    }
    matrix
}

/// Solves with the matrix of a Cholesky factor.
pub(crate) fn solve(factor: &[f64], mut right: Vec<f64>) -> Vec<f64> {
    let count = right.len();
    for row in 0..count {
        let known = (0..row).map(|at| factor[row * count + at] * right[at]).sum::<f64>();
        right[row] = (right[row] - known) / factor[row * count + row];
    }
    solve_transposed(factor, right)
}

/// Solves with the transpose of a Cholesky factor.
fn solve_transposed(factor: &[f64], mut right: Vec<f64>) -> Vec<f64> {
    let count = right.len();
    for row in (0..count).rev() {
        let known = (row + 1..count).map(|at| factor[at * count + row] * right[at]).sum::<f64>();
        right[row] = (right[row] - known) / factor[row * count + row];
    }
    right
}

/// The product of a Cholesky factor and a vector.
fn multiply(factor: &[f64], right: &[f64]) -> Vec<f64> {
    let row = |row: usize| factor[row * right.len()..].iter().zip(&right[..=row]);
    (0..right.len()).map(|at| row(at).map(|(one, other)| one * other).sum()).collect()
}

/// The product of the transpose of a Cholesky factor and a vector.
fn multiply_transposed(factor: &[f64], right: &[f64]) -> Vec<f64> {
    let count = right.len();
    let of =
        |column: usize| (column..count).map(move |row| factor[row * count + column] * right[row]);
    (0..count).map(|at| of(at).sum()).collect()
}

/// The covariance of strengths whose mean is subtracted: the inverse of the information matrix, or
/// the sandwich if the slope has a variance of its own.
fn centred_covariance(factor: &[f64], slope: Option<&[f64]>, count: usize) -> Vec<f64> {
    let mut covariance = vec![0.0; count * count];
    for column in 0..count {
        let unit = (0..count).map(|at| f64::from(u8::from(at == column))).collect();
        let mut values = solve(factor, unit);
        if let Some(slope) = slope {
            let variance = multiply(slope, &multiply_transposed(slope, &values));
            values = solve(factor, variance);
        }
        for (row, value) in values.into_iter().enumerate() {
            covariance[row * count + column] = value;
        }
    }
    let size = count.max(1) as f64;
    let means: Vec<f64> = (0..count)
        .map(|row| covariance[row * count..][..count].iter().sum::<f64>() / size)
        .collect();
    let mean = means.iter().sum::<f64>() / size;
    for row in 0..count {
        for column in 0..count {
            covariance[row * count + column] += mean - means[row] - means[column];
        }
    }
    covariance
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meeting(one: usize, other: usize, points: f64, games: f64) -> Meeting {
        Meeting::of_games(one, other, points, games)
    }

    #[test]
    fn two_players_differ_by_their_score() {
        let fitted = Strengths::fit(2, &[meeting(0, 1, 750.0, 1_000.0)], 1e-6);
        let difference = fitted.elo(0) - fitted.elo(1);
        assert!((difference - 190.848_5).abs() < 0.01, "{difference}");
        // The closed form: the deviation of the log odds is sqrt(1 / (n p (1 - p))).
        let reach = (fitted.interval(0, 0.95).high - fitted.elo(0)) * 2.0;
        let expected = ELO * normal::Z_95 / (1_000.0 * 0.75 * 0.25_f64).sqrt();
        assert!((reach - expected).abs() < 0.01, "{reach} and {expected}");
        assert!((fitted.superiority(0, 1) + fitted.superiority(1, 0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn strengths_are_transitive_through_common_opponents() {
        let meetings = [meeting(0, 1, 640.0, 1_000.0), meeting(1, 2, 640.0, 1_000.0)];
        let fitted = Strengths::fit(3, &meetings, 1e-6);
        let [first, second, third] = [0, 1, 2].map(|player| fitted.elo(player));
        assert!((first - second - 100.0).abs() < 0.1 && (second - third - 100.0).abs() < 0.1);
        assert!(second.abs() < 1e-3, "the mean is 0: {second}");
        // The two ends never met, so their difference is less sure than that of neighbours.
        assert!(fitted.difference_variance(0, 2) > 1.9 * fitted.difference_variance(0, 1));
    }

    #[test]
    fn a_player_who_won_every_game_has_a_finite_strength() {
        let fitted = Strengths::fit(2, &[meeting(0, 1, 3.0, 3.0)], Strengths::PRIOR_GAMES);
        assert!((150.0..2_000.0).contains(&fitted.elo(0)), "{}", fitted.elo(0));
        let nobody = Strengths::fit(3, &[], Strengths::PRIOR_GAMES);
        assert_eq!(nobody.elo(1), 0.0);
        assert!(Strengths::fit(0, &[], 1.0).is_empty());
    }

    #[test]
    fn the_most_telling_meeting_is_the_closest_one_near_the_top() {
        // 0 is far ahead, 1 and 2 are level, 3 is far behind.
        let meetings = [
            meeting(0, 1, 90.0, 100.0),
            meeting(0, 2, 90.0, 100.0),
            meeting(1, 2, 50.0, 100.0),
            meeting(1, 3, 95.0, 100.0),
            meeting(2, 3, 95.0, 100.0),
        ];
        let fitted = Strengths::fit(4, &meetings, Strengths::PRIOR_GAMES);
        let ranking = fitted.ranking(|_| true);
        assert_eq!((ranking[0], ranking[3]), (0, 3));
        let (one, other) = fitted.most_telling(&ranking, 2)[0];
        assert_eq!((one.min(other), one.max(other)), (1, 2));
        // The second place is a coin toss; the first is not.
        assert!((fitted.risk(&ranking, 2) - 0.5).abs() < 0.01, "{}", fitted.risk(&ranking, 2));
        assert!(fitted.risk(&ranking, 1) < 1e-6);
        assert_eq!(fitted.ranking(|player| player != 0).len(), 3);
    }

    #[test]
    fn telling_meetings_share_no_player() {
        let fitted = Strengths::fit(6, &[], Strengths::PRIOR_GAMES);
        let ranking = fitted.ranking(|_| true);
        let pairs = fitted.most_telling(&ranking, 3);
        let mut players: Vec<usize> = pairs.iter().flat_map(|pair| [pair.0, pair.1]).collect();
        players.sort_unstable();
        players.dedup();
        assert_eq!((pairs.len() * 2, pairs.is_empty()), (players.len(), false));
        assert_eq!(fitted.most_telling(&ranking[..1], 3), []);
    }

    /// The variance of the difference between two players after pairs with these points.
    fn variance_of_pairs(points: &[f64]) -> f64 {
        let meetings = [Meeting::of_groups(0, 1, 2, points)];
        Strengths::fit(2, &meetings, 1e-6).difference_variance(0, 1)
    }

    #[test]
    fn pairs_whose_games_end_alike_count_as_one_game() {
        let mirrored = [vec![2.0; 60], vec![0.0; 40]].concat();
        let single = Strengths::fit(2, &[meeting(0, 1, 60.0, 100.0)], 1e-6);
        let (pairs, games) = (variance_of_pairs(&mirrored), single.difference_variance(0, 1));
        assert!((pairs / games - 1.0).abs() < 0.02, "{pairs} and {games}");
    }

    #[test]
    fn pairs_in_which_luck_cancels_are_surer_than_their_games() {
        let cancelled = [vec![1.0; 80], vec![2.0; 20]].concat();
        let independent = Strengths::fit(2, &[meeting(0, 1, 120.0, 200.0)], 1e-6);
        let (pairs, games) = (variance_of_pairs(&cancelled), independent.difference_variance(0, 1));
        // The variance of these pairs is 0.16, and that of two independent games 0.48.
        assert!((pairs / games - 1.0 / 3.0).abs() < 0.03, "{pairs} and {games}");
        let level = variance_of_pairs(&[1.0; 9]);
        assert!(level > 0.0, "nine level pairs prove nothing for certain: {level}");
    }

    #[test]
    fn meetings_without_a_complete_group_leave_meetings_that_tell_something() {
        let strengths = Strengths::fit(2, &[Meeting::of_groups(0, 1, 2, &[])], 1.0);
        assert_eq!(strengths.most_telling(&[0, 1], 1), [(0, 1)]);
    }

    #[test]
    fn errors_of_pairs_agree_with_the_pentanomial_estimate() {
        let counts = [12, 25, 40, 33, 20];
        let points: Vec<f64> =
            (0..5).flat_map(|halves| vec![halves as f64 / 2.0; counts[halves as usize]]).collect();
        let fitted = Strengths::fit(2, &[Meeting::of_groups(0, 1, 2, &points)], 1e-6);
        let alone = crate::PairCounts(counts.map(|count| count as u64)).estimate().unwrap();
        assert!((fitted.elo(0) - fitted.elo(1) - alone.elo).abs() < 0.01);
        assert!((fitted.superiority(0, 1) - alone.superiority).abs() < 0.002);
        let podium = crate::podium(&fitted, &[0, 1]);
        assert!((podium.winner - alone.superiority).abs() < 0.01, "{podium:?}");
    }

    #[test]
    fn a_few_pairs_are_never_surer_than_single_games() {
        for points in [&[2.0][..], &[1.0], &[2.0, 2.0]] {
            let pairs = variance_of_pairs(points);
            let wins = points.iter().sum::<f64>() / 2.0;
            let meeting = meeting(0, 1, wins, points.len() as f64);
            let games = Strengths::fit(2, &[meeting], 1e-6).difference_variance(0, 1);
            assert!(pairs > 0.3 * games, "{points:?}: {pairs} and {games}");
        }
    }
}
