//! The format that plays until the podium is sure, with drawn results.

use crate::support::plan::{numbered, of_preset};
use agon_core::{
    Event, Fault, FaultKind, Format, GameEnd, GameResult, How, MatchPlan, MatchResult, PlayerName,
    Secret, StreamEnd, Ties, Timestamp, Tournament, TournamentCommand, TournamentPlan, UntilSure,
    verify,
};
use agon_games::Registry;
use agon_stats::RandomNumbers;
use agon_stats::elo::expected_score;

fn tournament(players: usize, format: UntilSure) -> Tournament {
    let mut plan = of_preset("yahtzee-class", "", numbered(players));
    plan.policy.format = format.into();
    plan.policy.rules.ties = Ties::Share;
    let kind = Registry::standard().kind("yahtzee").unwrap().clone();
    Tournament::create(plan, kind, Secret::from_seed_number(1)).unwrap().0
}

/// Player `p1` is the strongest, and each next one is `step` Elo weaker.
fn drawn(plan: &MatchPlan, step: f64, random: &mut RandomNumbers) -> MatchResult {
    let number = |player: &PlayerName| player.as_str()[1..].parse::<f64>().unwrap();
    let difference = number(&plan.players[1]) - number(&plan.players[0]);
    let first = random.unit() < expected_score(step * difference);
    let winner = plan.players[usize::from(!first)].clone();
    let game = GameResult {
        game: 1,
        seats: plan.players.clone(),
        end: GameEnd::Played,
        scores: vec![0, 0],
        ranks: if first { vec![Some(1), Some(2)] } else { vec![Some(2), Some(1)] },
        winners: vec![winner.clone()],
        luck: Vec::new(),
        voided: None,
    };
    MatchResult {
        winners: vec![winner],
        how: How::Played,
        halves: if first { vec![2, 0] } else { vec![0, 2] },
        games: vec![game],
        counts_from: 1,
        faults: Vec::new(),
        out: Vec::new(),
    }
}

/// Plays to the end; the matches that were played.
fn play(tournament: &mut Tournament, step: f64, seed: u64) -> Vec<MatchPlan> {
    let mut random = RandomNumbers::new(seed);
    let mut played = Vec::new();
    loop {
        let open = tournament.open_matches().next().cloned();
        let Some(plan) = open else { return played };
        let result = drawn(&plan, step, &mut random);
        played.push(plan.clone());
        let command = TournamentCommand::Report { id: plan.id, result, head: None };
        tournament.step(command).unwrap();
    }
}

#[test]
fn podium_that_became_sure_is_right() {
    let mut right = 0;
    for seed in 0..40 {
        let format = UntilSure { confidence: 90, places: 1, matches_max: 2_000, pairs: false };
        let mut cup = tournament(6, format);
        let played = play(&mut cup, 120.0, seed);
        assert!(cup.is_over() && played.len() < 2_000, "{}", played.len());
        right += usize::from(cup.winners()[0].as_str() == "p1");
        assert_eq!(cup.results().standings[0].player, cup.winners()[0]);
    }
    assert!(right >= 34, "{right} of 40 winners are the strongest");
}

#[test]
fn close_players_near_the_top_play_most() {
    let format = UntilSure { confidence: 95, places: 1, matches_max: 300, pairs: false };
    let mut cup = tournament(6, format);
    let played = play(&mut cup, 60.0, 5);
    let matches = |name: &str| {
        let of = |plan: &&MatchPlan| plan.players.iter().any(|player| player.as_str() == name);
        played.iter().filter(of).count()
    };
    assert!(matches("p1") > 3 * matches("p6"), "{} and {}", matches("p1"), matches("p6"));
    let reason = &played.last().unwrap().reason;
    assert!(reason.contains("their match tells most"), "{reason}");
}

#[test]
fn player_who_withdrew_stands_behind_those_who_play_on() {
    let format = UntilSure { confidence: 95, places: 1, matches_max: 60, pairs: false };
    let mut cup = tournament(5, format);
    let mut random = RandomNumbers::new(3);
    // The strongest player wins nearly every match, and then goes home.
    while cup.rounds().len() < 4 {
        let plan = cup.open_matches().next().cloned().unwrap();
        let result = drawn(&plan, 300.0, &mut random);
        let command = TournamentCommand::Report { id: plan.id, result, head: None };
        cup.step(command).unwrap();
    }
    let leader = cup.results().standings[0].clone();
    assert_eq!(leader.player.as_str(), "p1");
    let fault = Fault::new(FaultKind::Withdrew, "withdrew", "went home");
    cup.step(TournamentCommand::Drop { player: leader.player, fault }).unwrap();
    let places = || {
        let standings = cup.results().standings;
        let at = standings.iter().position(|one| one.player.as_str() == "p1").unwrap();
        (standings[at].rank, standings[at].tie_breaks.clone(), standings.len())
    };
    assert_eq!(places().0 as usize, places().2, "{:?}", cup.results().standings);
    assert_eq!(places().1, leader.tie_breaks, "the strength is still shown");
}

#[test]
fn equal_players_end_after_the_most_matches() {
    let format = UntilSure { confidence: 99, places: 3, matches_max: 30, pairs: false };
    let mut cup = tournament(5, format);
    let played = play(&mut cup, 0.0, 1);
    assert!((30..=32).contains(&played.len()), "{}", played.len());
    assert_eq!(cup.winners().len(), 1);
}

#[test]
fn impossible_options_are_rejected() {
    let check = |confidence, places, matches_max| {
        let mut plan = of_preset("yahtzee-class", "", numbered(4));
        plan.policy.format = UntilSure { confidence, places, matches_max, pairs: false }.into();
        plan.policy.check()
    };
    assert_eq!(check(95, 3, 1_000), Ok(()));
    assert_eq!(check(100, 3, 9).unwrap_err(), "the confidence is 50 to 99 percent, not 100");
    assert_eq!(check(95, 0, 9).unwrap_err(), "1 to 10 places can be made sure, not 0");
    assert_eq!(check(95, 3, 0).unwrap_err(), "matches_max is 1 to 100000, not 0");
}

/// Both games of a pair with the same winner, or one game for each player.
fn drawn_pair(plan: &MatchPlan, step: f64, random: &mut RandomNumbers) -> MatchResult {
    let mut result = drawn(plan, step, random);
    let winner = result.winners[0].clone();
    let mut second = result.games[0].clone();
    (second.game, second.seats) = (2, plan.players.iter().rev().cloned().collect());
    second.ranks.reverse();
    assert_eq!(second.winners, [winner]);
    result.games.push(second);
    result.halves.iter_mut().for_each(|halves| *halves *= 2);
    result
}

fn duplicate_plan(players: usize, format: UntilSure) -> TournamentPlan {
    let mut plan = of_preset("yahtzee-class", "", numbered(players));
    plan.policy.format = format.into();
    (plan.policy.rules.ties, plan.policy.rules.duplicate) = (Ties::Share, true);
    plan
}

/// Plays mirrored pairs to the end; the lines of the log.
fn play_pairs(cup: &mut Tournament, first: &[Event], seed: u64) -> Vec<String> {
    let mut random = RandomNumbers::new(seed);
    let mut end = StreamEnd::new("tournament/t");
    let mut lines = end.record(Timestamp::from_ms(1), first);
    loop {
        let open = cup.open_matches().next().cloned();
        let Some(plan) = open else { return lines };
        let result = drawn_pair(&plan, 60.0, &mut random);
        let command = TournamentCommand::Report { id: plan.id, result, head: None };
        lines.extend(end.record(Timestamp::from_ms(2), &cup.step(command).unwrap()));
    }
}

#[test]
fn mirrored_pairs_prove_no_more_than_single_games() {
    let kind = Registry::standard().kind("yahtzee").unwrap().clone();
    let (mut pairs, mut games) = (0, 0);
    for seed in 0..30 {
        let format = || UntilSure { confidence: 90, places: 1, matches_max: 2_000, pairs: false };
        let plan = duplicate_plan(6, format());
        let secret = Secret::from_seed_number(1);
        let (mut cup, first) = Tournament::create(plan, kind.clone(), secret).unwrap();
        play_pairs(&mut cup, &first, seed);
        pairs += cup.rounds().iter().map(|round| round.matches.len()).sum::<usize>();
        games += play(&mut tournament(6, format()), 60.0, seed).len();
    }
    // Counted as independent, the games of the pairs would end it after half as many matches.
    assert!(pairs * 10 > games * 8, "{pairs} pairs and {games} games");
}

/// The first record of a tournament as an earlier program wrote it.
fn without_pairs(first: &[Event]) -> Vec<String> {
    let lines = StreamEnd::new("tournament/t").record(Timestamp::from_ms(1), first);
    lines.iter().map(|line| line.replacen(",\"pairs\":true", "", 1)).collect()
}

#[test]
fn tournament_of_an_earlier_program_goes_on_counting_games() {
    let games = Registry::standard();
    let kind = games.kind("yahtzee").unwrap().clone();
    let secret = Secret::from_seed_number(1);
    let format = UntilSure { confidence: 80, places: 2, matches_max: 60, pairs: false };
    let plan = duplicate_plan(5, format);
    let (mut cup, first) = Tournament::create(plan, kind, secret.clone()).unwrap();
    let earlier = verify::read(&without_pairs(&first)).unwrap();
    let mut resumed = Tournament::fold(&*earlier, &games, Some(secret)).unwrap();
    let is_by_pairs = |cup: &Tournament| {
        let format = &cup.plan().policy.format;
        matches!(format, Format::UntilSure(format) if format.pairs)
    };
    assert_eq!((is_by_pairs(&cup), is_by_pairs(&resumed)), (true, false));
    play_pairs(&mut cup, &first, 3);
    play_pairs(&mut resumed, &first, 3);
    let matches =
        |cup: &Tournament| -> usize { cup.rounds().iter().map(|round| round.matches.len()).sum() };
    let (now, before) = (matches(&cup), matches(&resumed));
    assert!(before < now, "{before} matches by games, {now} by pairs");
}
