//! Comparison of the players of a tournament: how strong each is, who is better than whom, and how
//! sure that is. It follows from the results alone.
//!
//! Games are the evidence, whatever the format made of them. In games of more than two players,
//! each pair of players counts: the better rank beats the other. Void games do not count, nor do
//! groups of duplicate games with a void game. Games of a group are not independent, so all errors
//! come from the results of groups. Nor are the results of pairs at one table, so the errors of
//! strengths come from those of tables.

use crate::ids::PlayerName;
use crate::policy::SprtRule;
use crate::rating::{counted_games, rank_in};
use crate::report::{GameEnd, GameResult, How, MatchResult, Results};
use agon_stats::{
    EloEstimate, GameCounts, Meeting, PairCounts, SprtVerdict, Strengths, TableResults, elo, podium,
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
    /// The points of the first player in each duplicate group.
    groups: Vec<f64>,
    /// The number of games in such a group.
    group_size: usize,
    test: Option<TestResult>,
}

impl Comparison {
    /// The comparison that follows from results.
    pub fn of(results: &Results) -> Comparison {
        let players: Vec<&PlayerName> = results.standings.iter().map(|one| &one.player).collect();
        let at: BTreeMap<&PlayerName, usize> =
            players.iter().enumerate().map(|(at, player)| (*player, at)).collect();
        let mut games: BTreeMap<(usize, usize), Games> = BTreeMap::new();
        let mut tables = Vec::new();
        for report in results.rounds.iter().flat_map(|round| &round.matches) {
            let seated: Vec<usize> =
                report.players.iter().filter_map(|player| at.get(player).copied()).collect();
            if report.result.how != How::Void && seated.len() == report.players.len() {
                add_match(&mut games, results, &report.result, &seated, &players);
                add_tables(&mut tables, results, &report.result, &seated, &players);
            }
        }
        let meetings: Vec<Meeting> =
            games.iter().map(|((one, other), games)| meeting(*one, *other, games)).collect();
        let fits = (1..=Strengths::PLAYERS_MAX).contains(&players.len()) && !meetings.is_empty();
        let strengths = fits.then(|| {
            let prior_games = Strengths::PRIOR_GAMES;
            Strengths::fit_tables(players.len(), &meetings, &tables, prior_games)
        });
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

fn meeting(one: usize, other: usize, games: &Games) -> Meeting {
    if games.group_size > 0 {
        return Meeting::of_groups(one, other, games.group_size, &games.groups);
    }
    let points = games.counts.wins as f64 + games.counts.draws as f64 / 2.0;
    Meeting::of_games(one, other, points, games.counts.games() as f64)
}

fn add_match(
    games: &mut BTreeMap<(usize, usize), Games>,
    results: &Results,
    result: &MatchResult,
    seated: &[usize],
    players: &[&PlayerName],
) {
    let group_size = if results.duplicate { seated.len().max(1) } else { 1 };
    for group in counted_groups(result, group_size).chunks_exact(group_size) {
        for (first, one) in seated.iter().enumerate() {
            for other in &seated[first + 1..] {
                let (one, other) = (*one.min(other), *one.max(other));
                add_group(games.entry((one, other)).or_default(), group, players, (one, other));
            }
        }
    }
    let (true, &[first, second]) = (results.duplicate, seated) else { return };
    if let Some(rule) = &results.sprt {
        let mut pairs = PairCounts::default();
        let of_pairs = points_of_pairs(result, players[first], players[second]);
        of_pairs.into_iter().for_each(|points| pairs.add((2.0 * points) as usize));
        let entry = games.entry((first.min(second), first.max(second))).or_default();
        entry.test = Some(tested(players[first], rule, &pairs));
    }
}

/// Adds the games of a match of three or more players, or its duplicate groups.
fn add_tables(
    tables: &mut Vec<TableResults>,
    results: &Results,
    result: &MatchResult,
    seated: &[usize],
    players: &[&PlayerName],
) {
    let size = seated.len();
    if size < 3 {
        return;
    }
    let group_size = if results.duplicate { size } else { 1 };
    for group in counted_groups(result, group_size).chunks_exact(group_size) {
        let points = |one: usize, other: usize| -> Option<(usize, usize, f64)> {
            let halves = group.iter().map(|game| halves(game, players[one], players[other]));
            Some((one, other, f64::from(halves.sum::<Option<u32>>()?) / 2.0))
        };
        let pairs = seated
            .iter()
            .enumerate()
            .flat_map(|(first, one)| seated[first + 1..].iter().map(move |other| (*one, *other)));
        let results = pairs.filter_map(|(one, other)| points(one, other)).collect();
        tables.push(TableResults { size, games: group_size as f64, results });
    }
}

/// Adds the games of one group, or a single game, from the view of the player `one`.
fn add_group(
    entry: &mut Games,
    group: &[&GameResult],
    players: &[&PlayerName],
    (one, other): (usize, usize),
) {
    let all: Vec<u32> =
        group.iter().filter_map(|game| halves(game, players[one], players[other])).collect();
    // A game from which both were removed says nothing, and neither does its group.
    if all.len() < group.len() {
        return;
    }
    for halves in &all {
        match halves {
            2 => entry.counts.wins += 1,
            1 => entry.counts.draws += 1,
            _ => entry.counts.losses += 1,
        }
    }
    if group.len() > 1 {
        entry.group_size = group.len();
        let halves = all.iter().sum::<u32>();
        entry.groups.push(f64::from(halves) / 2.0);
        if group.len() == 2 {
            entry.pairs.add(halves as usize);
        }
    }
}

/// The points of one player in each duplicate pair of a match of two that counts.
pub(crate) fn points_of_pairs(
    result: &MatchResult,
    one: &PlayerName,
    other: &PlayerName,
) -> Vec<f64> {
    let points = |pair: &[&GameResult]| -> Option<f64> {
        let halves = halves(pair[0], one, other)? + halves(pair[1], one, other)?;
        Some(f64::from(halves) / 2.0)
    };
    counted_groups(result, 2).chunks_exact(2).filter_map(points).collect()
}

/// The games of a match that count, group by group. Groups count only as a whole.
fn counted_groups(result: &MatchResult, size: usize) -> Vec<&GameResult> {
    if size == 1 {
        return counted_games(result).collect();
    }
    let since: Vec<&GameResult> =
        result.games.iter().filter(|game| game.game >= result.counts_from).collect();
    let whole = since.chunks_exact(size);
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
    let estimate = match games.group_size {
        0 => games.counts.estimate(),
        size => EloEstimate::of_groups(size, &games.groups),
    }?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{MatchReport, PlayerSummary, RoundResult};
    use serde_json::json;

    fn name(text: &str) -> PlayerName {
        PlayerName::new(text).expect("a name")
    }

    /// A game with these players and ranks by seat.
    fn game(number: u32, seats: &[&str], ranks: &[Option<u8>]) -> GameResult {
        let winner = seats.iter().zip(ranks).find(|(_, rank)| **rank == Some(1));
        GameResult {
            game: number,
            seats: seats.iter().map(|seat| name(seat)).collect(),
            end: GameEnd::Played,
            scores: vec![0; seats.len()],
            ranks: ranks.to_vec(),
            winners: winner.map(|(seat, _)| name(seat)).into_iter().collect(),
            luck: Vec::new(),
            voided: None,
        }
    }

    fn report(players: &[&str], games: Vec<GameResult>, how: How) -> MatchReport {
        let result = MatchResult {
            winners: vec![name(players[0])],
            how,
            halves: vec![0; players.len()],
            games,
            counts_from: 1,
            faults: Vec::new(),
            out: Vec::new(),
        };
        MatchReport {
            id: crate::ids::MatchId::of(1, 1),
            players: players.iter().map(|player| name(player)).collect(),
            reason: String::new(),
            result,
            overridden: None,
        }
    }

    /// Results with these players in the standings.
    fn results(players: &[&str], duplicate: bool, matches: Vec<MatchReport>) -> Results {
        let text = json!({
            "tournament": "t", "preset": null, "game": "yahtzee", "format": "round-robin",
            "best_of": 1, "status": "ended", "duplicate": duplicate, "winners": [],
            "standings": [], "cheating": [], "failing": [], "rounds": [],
        });
        let mut results: Results = serde_json::from_value(text).expect("results");
        let summary = |(player, rank): (&&str, u32)| PlayerSummary {
            rank,
            player: name(player),
            matches_won: 0,
            matches_lost: 0,
            matches_drawn: 0,
            games_won: 0,
            games_lost: 0,
            games_tied: 0,
            points: 0,
            byes: 0,
            faults: Vec::new(),
            tie_breaks: Vec::new(),
        };
        results.standings = players.iter().zip(1..).map(summary).collect();
        results.rounds = vec![RoundResult { round: 1, stage: None, byes: Vec::new(), matches }];
        results
    }

    const WON: [Option<u8>; 2] = [Some(1), Some(2)];
    const LOST: [Option<u8>; 2] = [Some(2), Some(1)];

    /// A pair whose games `a` wins or loses; the seats are exchanged.
    fn pair_of(number: u32, first: bool, second: bool) -> [GameResult; 2] {
        let ranks = |won| if won { WON } else { LOST };
        let back: Vec<Option<u8>> = ranks(second).into_iter().rev().collect();
        [game(number, &["a", "b"], &ranks(first)), game(number + 1, &["b", "a"], &back)]
    }

    #[test]
    fn pairs_that_end_alike_count_as_one_game_each() {
        let won =
            |count: u32, at: u32| (0..count).flat_map(move |n| pair_of(at + 2 * n, true, true));
        let lost =
            |count: u32, at: u32| (0..count).flat_map(move |n| pair_of(at + 2 * n, false, false));
        let games: Vec<GameResult> = won(30, 1).chain(lost(10, 61)).collect();
        let of = |duplicate| {
            let matches = vec![report(&["a", "b"], games.clone(), How::Played)];
            Comparison::of(&results(&["a", "b"], duplicate, matches))
        };
        let (pairs, single) = (of(true), of(false));
        assert_eq!(pairs.pairs[0].pairs, Some([10, 0, 0, 0, 30]));
        assert_eq!((pairs.players[0].games, pairs.players[0].points), (80, 60.0));
        let width = |all: &Comparison| {
            let elo = all.players[0].elo.expect("a strength");
            elo.high.expect("finite") - elo.low.expect("finite")
        };
        assert_eq!(pairs.players[0].elo.unwrap().value, single.players[0].elo.unwrap().value);
        let ratio = width(&pairs) / width(&single);
        assert!((ratio - 2.0_f64.sqrt()).abs() < 0.05, "{ratio}");
        let sure = |all: &Comparison| all.podium.as_ref().expect("a podium").winner;
        assert!(sure(&pairs) < sure(&single), "{} and {}", sure(&pairs), sure(&single));
    }

    #[test]
    fn groups_with_a_void_game_and_void_matches_do_not_count() {
        let mut games: Vec<GameResult> = [pair_of(1, true, false), pair_of(3, true, true)].concat();
        games[1].end = GameEnd::Void;
        let void = report(&["a", "b"], pair_of(1, false, false).to_vec(), How::Void);
        let matches = vec![report(&["a", "b"], games, How::Played), void];
        let all = Comparison::of(&results(&["a", "b"], true, matches));
        assert_eq!((all.pairs[0].won, all.pairs[0].lost), (2, 0));
        assert_eq!(all.pairs[0].pairs, Some([0, 0, 0, 0, 1]));
    }

    #[test]
    fn at_a_table_of_three_the_better_rank_beats_the_other() {
        let ranks = [Some(2), Some(1), None];
        let games = vec![game(1, &["a", "b", "c"], &ranks)];
        let matches = vec![report(&["a", "b", "c"], games, How::Played)];
        let all = Comparison::of(&results(&["b", "a", "c"], false, matches));
        let shown: Vec<(&str, &str, u64, u64)> = all
            .pairs
            .iter()
            .map(|pair| (pair.one.as_str(), pair.other.as_str(), pair.won, pair.lost))
            .collect();
        assert_eq!(shown, [("b", "a", 1, 0), ("b", "c", 1, 0), ("a", "c", 1, 0)]);
        let podium = all.podium.expect("a podium");
        assert_eq!(podium.players, ["b", "a", "c"].map(name));
        assert!(podium.winner > podium.order && podium.set == 1.0, "{podium:?}");
    }

    #[test]
    fn performance_is_the_strength_of_the_opponents_and_the_score() {
        let games: Vec<GameResult> =
            (0..8).map(|at| game(at + 1, &["a", "b"], if at < 6 { &WON } else { &LOST })).collect();
        let matches = vec![report(&["a", "b"], games, How::Played)];
        let all = Comparison::of(&results(&["a", "b"], false, matches));
        let [a, b] = &all.players[..] else { panic!("two players") };
        let suggested = elo::difference(0.75);
        let performance = a.performance.expect("a performance");
        assert!((performance - b.elo.unwrap().value.unwrap() - suggested).abs() < 1e-9);
        assert!(all.pairs[0].superiority > 0.9);
        let nothing = Comparison::of(&results(&["a", "b"], false, Vec::new()));
        assert!(nothing.podium.is_none() && nothing.players[0].elo.is_none());
    }
}
