//! Comparison of the players of a tournament: how strong each is, who is better than whom, and how
//! sure that is. It follows from the results alone.
//!
//! Games are the evidence, whatever the format made of them. In games of more than two players,
//! each pair of players counts: the better rank beats the other. Void games do not count, nor do
//! groups of duplicate games with a void game.

use crate::ids::PlayerName;
use crate::policy::SprtRule;
use crate::rating::{counted_games, rank_in};
use crate::report::{GameEnd, GameResult, How, MatchResult, Results};
use agon_stats::{
    EloEstimate, GameCounts, Meeting, PairCounts, SprtVerdict, Strengths, elo, podium,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Everything that the results of a tournament say about the strength of its players.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Comparison {
    /// The players in the order of the standings.
    pub players: Vec<ComparedPlayer>,
    /// Every two players who met, in the order of the standings.
    pub pairs: Vec<ComparedPair>,
    /// How sure the first places are; absent without games, and for very many players.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub podium: Option<PodiumConfidence>,
}

/// The strength of one player.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct ComparedPlayer {
    /// The rank in the standings.
    pub rank: u32,
    /// The player.
    pub player: PlayerName,
    /// Games against each opponent, added up.
    pub games: u32,
    /// The points of those games: a win is 1, a draw ½.
    pub points: f64,
    /// The strength in Elo, relative to the mean of the field, with its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elo: Option<EloInterval>,
    /// The performance: the mean strength of the opponents, plus the difference that the score
    /// suggests, which is limited to 800.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub performance: Option<f64>,
}

/// An Elo difference with its 95 % interval. A bound is absent if it is infinite.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct EloInterval {
    /// The estimate.
    pub value: Option<f64>,
    /// The lower bound.
    pub low: Option<f64>,
    /// The upper bound.
    pub high: Option<f64>,
}

/// Two players against each other.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct ComparedPair {
    /// The first player.
    pub one: PlayerName,
    /// The second player.
    pub other: PlayerName,
    /// Games that the first player won.
    pub won: u64,
    /// Games that nobody won.
    pub drawn: u64,
    /// Games that the first player lost.
    pub lost: u64,
    /// Duplicate pairs in which the first player took 0, ½, 1, 1½ and 2 points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<[u64; 5]>,
    /// How much stronger the first player is, from these games alone.
    pub elo: EloInterval,
    /// The probability that the first player is the stronger one, from these games alone.
    pub superiority: f64,
    /// The sequential test, if their match was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<TestResult>,
}

/// The end of a sequential test. It is about the first player of the match.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct TestResult {
    /// The first player of the match.
    pub player: PlayerName,
    /// The settings.
    pub rule: SprtRule,
    /// The logarithm of the likelihood ratio.
    pub llr: f64,
    /// The LLR at which H0 is accepted.
    pub lower: f64,
    /// The LLR at which H1 is accepted.
    pub upper: f64,
    /// `h1`: the first player is `elo1` stronger. `h0`: only `elo0`. Absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<TestVerdict>,
}

/// The hypothesis that a sequential test accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestVerdict {
    /// The first player is only `elo0` stronger.
    H0,
    /// The first player is `elo1` stronger.
    H1,
}

/// How sure the first places of a tournament are. Each number is a probability.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct PodiumConfidence {
    /// The players in the first places, at most three.
    pub players: Vec<PlayerName>,
    /// The first of them is the strongest of all.
    pub winner: f64,
    /// They are the strongest, in any order.
    pub set: f64,
    /// They are the strongest, in this order.
    pub order: f64,
}

impl EloInterval {
    fn of(estimate: &EloEstimate) -> EloInterval {
        EloInterval::new(estimate.elo, estimate.interval)
    }

    fn new(value: f64, interval: agon_stats::Interval) -> EloInterval {
        let finite = |bound: f64| bound.is_finite().then_some(bound);
        let (value, low, high) = (finite(value), finite(interval.low), finite(interval.high));
        EloInterval { value, low, high }
    }
}

/// The games of two players, from the view of the one with the better standing.
#[derive(Default)]
struct Games {
    counts: GameCounts,
    pairs: PairCounts,
    test: Option<TestResult>,
}

impl Comparison {
    /// The comparison that follows from results.
    pub fn of(results: &Results) -> Comparison {
        let players: Vec<&PlayerName> = results.standings.iter().map(|one| &one.player).collect();
        let at: BTreeMap<&PlayerName, usize> =
            players.iter().enumerate().map(|(at, player)| (*player, at)).collect();
        let mut games: BTreeMap<(usize, usize), Games> = BTreeMap::new();
        for report in results.rounds.iter().flat_map(|round| &round.matches) {
            let seated: Vec<usize> =
                report.players.iter().filter_map(|player| at.get(player).copied()).collect();
            if report.result.how != How::Void && seated.len() == report.players.len() {
                add_match(&mut games, results, &report.result, &seated, &players);
            }
        }
        let meetings: Vec<Meeting> = games
            .iter()
            .map(|((one, other), games)| Meeting {
                one: *one,
                other: *other,
                points: games.counts.wins as f64 + games.counts.draws as f64 / 2.0,
                games: games.counts.games() as f64,
            })
            .collect();
        let fits = (1..=Strengths::PLAYERS_MAX).contains(&players.len()) && !meetings.is_empty();
        let strengths =
            fits.then(|| Strengths::fit(players.len(), &meetings, Strengths::PRIOR_GAMES));
        Comparison {
            players: compared_players(results, &meetings, strengths.as_ref()),
            pairs: games
                .into_iter()
                .filter_map(|((one, other), games)| pair(players[one], players[other], games))
                .collect(),
            podium: strengths.map(|strengths| confidence(&strengths, &players)),
        }
    }
}

fn add_match(
    games: &mut BTreeMap<(usize, usize), Games>,
    results: &Results,
    result: &MatchResult,
    seated: &[usize],
    players: &[&PlayerName],
) {
    let counted = counted(result, results.duplicate.then_some(seated.len()));
    for game in &counted {
        for (first, one) in seated.iter().enumerate() {
            for other in &seated[first + 1..] {
                let (one, other) = (*one.min(other), *one.max(other));
                let Some(halves) = halves(game, players[one], players[other]) else { continue };
                let counts = &mut games.entry((one, other)).or_default().counts;
                match halves {
                    2 => counts.wins += 1,
                    1 => counts.draws += 1,
                    _ => counts.losses += 1,
                }
            }
        }
    }
    let (true, &[first, second]) = (results.duplicate, seated) else { return };
    let (one, other) = (first.min(second), first.max(second));
    let mut of_match = PairCounts::default();
    let entry = games.entry((one, other)).or_default();
    for pair in counted.chunks_exact(2) {
        let of = |player: usize, against: usize| -> u32 {
            pair.iter().filter_map(|game| halves(game, players[player], players[against])).sum()
        };
        entry.pairs.add(of(one, other) as usize);
        of_match.add(of(first, second) as usize);
    }
    if let Some(rule) = &results.sprt {
        entry.test = Some(tested(players[first], rule, &of_match));
    }
}

/// The games of a match that count. Groups of duplicate games count only as a whole.
fn counted(result: &MatchResult, group: Option<usize>) -> Vec<&GameResult> {
    let Some(size) = group else { return counted_games(result).collect() };
    let since: Vec<&GameResult> =
        result.games.iter().filter(|game| game.game >= result.counts_from).collect();
    let whole = since.chunks_exact(size.max(1));
    let whole = whole.filter(|group| group.iter().all(|game| game.end != GameEnd::Void));
    whole.flatten().copied().collect()
}

/// The half points of one player against another in a game; `None` if both were removed.
fn halves(game: &GameResult, one: &PlayerName, other: &PlayerName) -> Option<u32> {
    match (rank_in(game, one), rank_in(game, other)) {
        (None, None) => None,
        (Some(_), None) => Some(2),
        (None, Some(_)) => Some(0),
        (Some(one), Some(other)) if one == other => Some(1),
        (Some(one), Some(other)) => Some(if one < other { 2 } else { 0 }),
    }
}

fn tested(player: &PlayerName, rule: &SprtRule, pairs: &PairCounts) -> TestResult {
    let state = rule.test().after_pairs(pairs);
    let verdict = state.verdict.map(|verdict| match verdict {
        SprtVerdict::H0 => TestVerdict::H0,
        SprtVerdict::H1 => TestVerdict::H1,
    });
    let (player, rule) = (player.clone(), rule.clone());
    let (llr, lower, upper) = (state.llr, state.lower, state.upper);
    TestResult { player, rule, llr, lower, upper, verdict }
}

fn pair(one: &PlayerName, other: &PlayerName, games: Games) -> Option<ComparedPair> {
    let has_pairs = games.pairs.pairs() > 0;
    let estimate = if has_pairs { games.pairs.estimate() } else { games.counts.estimate() }?;
    let GameCounts { losses: lost, draws: drawn, wins: won } = games.counts;
    Some(ComparedPair {
        one: one.clone(),
        other: other.clone(),
        won,
        drawn,
        lost,
        pairs: has_pairs.then_some(games.pairs.0),
        elo: EloInterval::of(&estimate),
        superiority: estimate.superiority,
        test: games.test,
    })
}

fn compared_players(
    results: &Results,
    meetings: &[Meeting],
    strengths: Option<&Strengths>,
) -> Vec<ComparedPlayer> {
    let compared = results.standings.iter().enumerate().map(|(at, summary)| {
        let (mut games, mut points, mut against) = (0.0, 0.0, 0.0);
        for meeting in meetings {
            let (opponent, own) = match (meeting.one == at, meeting.other == at) {
                (true, _) => (meeting.other, meeting.points),
                (_, true) => (meeting.one, meeting.games - meeting.points),
                _ => continue,
            };
            games += meeting.games;
            points += own;
            against += strengths.map_or(0.0, |all| all.elo(opponent)) * meeting.games;
        }
        let performance = (strengths.is_some() && games > 0.0)
            .then(|| against / games + elo::difference(points / games).clamp(-800.0, 800.0));
        ComparedPlayer {
            rank: summary.rank,
            player: summary.player.clone(),
            games: games as u32,
            points,
            elo: strengths.map(|all| EloInterval::new(all.elo(at), all.interval(at, 0.95))),
            performance,
        }
    });
    compared.collect()
}

fn confidence(strengths: &Strengths, players: &[&PlayerName]) -> PodiumConfidence {
    let places: Vec<usize> = (0..players.len().min(3)).collect();
    let sure = podium(strengths, &places);
    PodiumConfidence {
        players: places.iter().map(|at| players[*at].clone()).collect(),
        winner: sure.winner,
        set: sure.set,
        order: sure.order,
    }
}
