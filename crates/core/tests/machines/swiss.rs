//! Swiss pairings: no pairing is better, by trying all of them.

use super::formats::{make, plan, won};
use crate::support::plan::numbered;
use agon_bots::Dice;
use agon_core::{Fault, FaultKind, How, PlayerName, Ties, Tournament, TournamentCommand};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// One player so far, counted from the rounds.
#[derive(Clone, Default)]
struct Counted {
    points: i64,
    byes: i64,
    balance: i64,
    met: BTreeMap<PlayerName, i64>,
}

fn counted(tournament: &Tournament, rounds: usize) -> BTreeMap<PlayerName, Counted> {
    let mut all: BTreeMap<PlayerName, Counted> =
        tournament.plan().players.iter().map(|one| (one.clone(), Counted::default())).collect();
    for round in &tournament.rounds()[..rounds] {
        for (plan, result) in round.matches.iter().zip(&round.results) {
            let result = result.as_ref().expect("a result");
            for (seat, other) in [(0, 1), (1, 0)] {
                let own = all.get_mut(&plan.players[seat]).expect("a player");
                own.balance += 1 - 2 * seat as i64;
                if result.how == How::Void {
                    continue;
                }
                *own.met.entry(plan.players[other].clone()).or_default() += 1;
                if result.winners.contains(&plan.players[seat]) {
                    own.points += 2 / result.winners.len() as i64;
                }
            }
        }
        for player in round.byes.iter().filter_map(|bye| bye.player.as_ref()) {
            let own = all.get_mut(player).expect("a player");
            (own.points, own.byes) = (own.points + 2, own.byes + 1);
        }
    }
    all
}

/// Second byes, rematches, squared differences of scores, and squared imbalance of seats.
type Cost = [i64; 4];

fn cost_of_pair(one: &PlayerName, other: &PlayerName, all: &BTreeMap<PlayerName, Counted>) -> Cost {
    let (a, b) = (&all[one], &all[other]);
    let seats = |first: i64, last: i64| (first + 1).pow(2) + (last - 1).pow(2);
    let imbalance = seats(a.balance, b.balance).min(seats(b.balance, a.balance));
    let met = a.met.get(other).copied().unwrap_or(0);
    [0, met, (a.points - b.points).pow(2), imbalance]
}

fn cost_of_bye(
    player: &PlayerName,
    left: &[PlayerName],
    all: &BTreeMap<PlayerName, Counted>,
) -> Cost {
    let least = left.iter().map(|one| all[one].points).min().expect("players");
    let own = &all[player];
    [own.byes, 0, (own.points - least).pow(2), own.balance.pow(2)]
}

fn sum(one: Cost, other: Cost) -> Cost {
    std::array::from_fn(|at| one[at] + other[at])
}

/// The smallest cost of all pairings of `rest`, with a bye for one of `left` if it is odd.
fn best(rest: &[PlayerName], left: &[PlayerName], all: &BTreeMap<PlayerName, Counted>) -> Cost {
    let Some((first, others)) = rest.split_first() else { return [0; 4] };
    let without = |at: usize| -> Vec<PlayerName> {
        let kept = others.iter().enumerate().filter(|(place, _)| *place != at);
        kept.map(|(_, player)| player.clone()).collect()
    };
    let pairs = (0..others.len())
        .map(|at| sum(cost_of_pair(first, &others[at], all), best(&without(at), left, all)));
    let bye =
        (rest.len() % 2 == 1).then(|| sum(cost_of_bye(first, left, all), best(others, left, all)));
    pairs.chain(bye).min().expect("a pairing")
}

/// The cost of the latest round.
fn drawn(tournament: &Tournament, left: &[PlayerName]) -> Cost {
    let all = counted(tournament, tournament.rounds().len() - 1);
    let round = tournament.rounds().last().expect("a round");
    let pairs = round.matches.iter().map(|plan| {
        let [one, other] = [&plan.players[0], &plan.players[1]];
        let mut cost = cost_of_pair(one, other, &all);
        cost[3] = (all[one].balance + 1).pow(2) + (all[other].balance - 1).pow(2);
        cost
    });
    let byes = round
        .byes
        .iter()
        .map(|bye| cost_of_bye(bye.player.as_ref().expect("a player"), left, &all));
    pairs.chain(byes).fold([0; 4], sum)
}

proptest! {
    #![proptest_config(crate::support::cases::cases(60))]

    #[test]
    fn no_other_pairing_of_up_to_eight_players_is_better(
        players in 2usize..=8, rounds in 1usize..=7, seed: u64, may_leave: bool,
    ) {
        let mut plan = plan(&format!("swiss:rounds={rounds}"), players);
        plan.policy.rules.ties = Ties::Share;
        let mut swiss = make(plan);
        let mut dice = Dice::new("swiss", &seed.to_string());
        let mut left = swiss.plan().players.clone();
        while !swiss.is_over() {
            let all = counted(&swiss, swiss.rounds().len() - 1);
            prop_assert_eq!(drawn(&swiss, &left), best(&left, &left, &all));
            for open in swiss.open_matches().cloned().collect::<Vec<_>>() {
                let [one, other] = [&open.players[0], &open.players[1]];
                let winners = match dice.below(10) {
                    0 => Vec::new(),
                    1 | 2 => vec![one.clone(), other.clone()],
                    3..=6 => vec![one.clone()],
                    _ => vec![other.clone()],
                };
                if may_leave && left.len() > 2 && dice.below(12) == 0 {
                    let player = left.swap_remove(dice.below(left.len()));
                    left.sort();
                    let fault = Fault::new(FaultKind::Withdrew, "withdrew", "went home");
                    swiss.step(TournamentCommand::Drop { player, fault }).unwrap();
                }
                let (id, result) = (open.id.clone(), won(winners));
                swiss.step(TournamentCommand::Report { id, result, head: None }).unwrap();
            }
        }
    }
}

/// Plays a Swiss tournament in which the better player usually wins. Returns how many pairs met
/// twice, and how many players had two byes.
fn repeats(players: usize, rounds: usize, seed: u64) -> (usize, usize) {
    let mut swiss = make(plan(&format!("swiss:rounds={rounds}"), players));
    let mut dice = Dice::new("strengths", &seed.to_string());
    let strengths: BTreeMap<PlayerName, usize> =
        swiss.plan().players.iter().map(|one| (one.clone(), dice.below(1_000))).collect();
    while !swiss.is_over() {
        for open in swiss.open_matches().cloned().collect::<Vec<_>>() {
            let luck: Vec<usize> =
                open.players.iter().map(|one| strengths[one] + dice.below(400)).collect();
            let winner = open.players[usize::from(luck[1] > luck[0])].clone();
            let (id, result) = (open.id, won(vec![winner]));
            swiss.step(TournamentCommand::Report { id, result, head: None }).unwrap();
        }
    }
    let all = counted(&swiss, swiss.rounds().len());
    let again = all.values().flat_map(|one| one.met.values()).filter(|times| **times > 1).count();
    (again / 2, all.values().filter(|one| one.byes > 1).count())
}

#[test]
fn large_fields_have_no_rematch_and_no_second_bye() {
    assert_eq!(repeats(150, 7, 1), (0, 0));
    assert_eq!(repeats(201, 5, 2), (0, 0));
}

/// Takes a second with the optimiser on: `docs/decisions/0026-own-matching.md` has the figures.
#[test]
#[ignore = "long without the optimiser"]
fn two_thousand_players_have_no_rematch_in_eleven_rounds() {
    assert_eq!(repeats(2_000, 11, 3), (0, 0));
    assert_eq!(repeats(2_001, 11, 4), (0, 0));
}

/// Players at tables, counted from the rounds: points, byes, and how often each met each other.
fn counted_at_tables(swiss: &Tournament, rounds: usize) -> BTreeMap<PlayerName, Counted> {
    let mut all: BTreeMap<PlayerName, Counted> =
        swiss.plan().players.iter().map(|one| (one.clone(), Counted::default())).collect();
    for round in &swiss.rounds()[..rounds] {
        let seats = round.matches.iter().map(|plan| plan.players.len()).max().unwrap_or(2) as i64;
        for (plan, result) in round.matches.iter().zip(&round.results) {
            let result = result.as_ref().expect("a result");
            for player in &plan.players {
                let others = plan.players.iter().filter(|other| *other != player);
                let is_first = |one: &PlayerName| result.winners.contains(one);
                let won: i64 = others
                    .clone()
                    .map(|other| 1 + i64::from(is_first(player)) - i64::from(is_first(other)))
                    .sum();
                let own = all.get_mut(player).expect("a player");
                own.points += won + seats - plan.players.len() as i64;
                others.for_each(|other| *own.met.entry(other.clone()).or_default() += 1);
            }
        }
        for player in round.byes.iter().filter_map(|bye| bye.player.as_ref()) {
            let own = all.get_mut(player).expect("a player");
            (own.points, own.byes) = (own.points + 2 * (seats - 1), own.byes + 1);
        }
    }
    all
}

/// Rematches, and squared differences of scores.
fn cost_of_table(table: &[PlayerName], all: &BTreeMap<PlayerName, Counted>) -> [i64; 2] {
    let mut cost = [0, 0];
    for (at, one) in table.iter().enumerate() {
        for other in &table[at + 1..] {
            cost[0] += all[one].met.get(other).copied().unwrap_or(0);
            cost[1] += (all[one].points - all[other].points).pow(2);
        }
    }
    cost
}

/// The smallest cost of all divisions of `rest` into tables of these sizes.
fn best_tables(
    rest: &[PlayerName],
    sizes: &[usize],
    all: &BTreeMap<PlayerName, Counted>,
) -> [i64; 2] {
    let Some((first, others)) = rest.split_first() else { return [0, 0] };
    let mut best = [i64::MAX; 2];
    let mut tried = Vec::new();
    for (at, size) in sizes.iter().enumerate().filter(|(_, size)| **size <= rest.len()) {
        if tried.contains(size) {
            continue;
        }
        tried.push(*size);
        let left: Vec<usize> = [&sizes[..at], &sizes[at + 1..]].concat();
        // Every choice of companions for the first player.
        for chosen in 0u32..1 << others.len() {
            if chosen.count_ones() as usize != size - 1 {
                continue;
            }
            let is_in = |(place, _): &(usize, &PlayerName)| chosen & (1 << place) != 0;
            let (table, apart): (Vec<_>, Vec<_>) = others.iter().enumerate().partition(is_in);
            let names = |some: Vec<(usize, &PlayerName)>| -> Vec<PlayerName> {
                some.into_iter().map(|(_, player)| player.clone()).collect()
            };
            let table = [vec![first.clone()], names(table)].concat();
            let [met, scores] = cost_of_table(&table, all);
            if [met, scores] < best {
                let rest = best_tables(&names(apart), &left, all);
                best = best.min([met + rest[0], scores + rest[1]]);
            }
        }
    }
    best
}

/// Plays a Swiss tournament at tables with random winners, and calls `check` for every round.
fn play_tables(
    (players, min, max): (usize, usize, usize),
    rounds: usize,
    dice: &mut Dice,
    mut check: impl FnMut(&Tournament),
) {
    let mut plan = crate::support::plan::of_preset("fish", "", numbered(players));
    let format = format!("swiss:min={min},max={max},rounds={rounds}");
    plan.policy.format = agon_core::Format::read(&format, &(2..=4)).expect("a format");
    plan.policy.greeting = agon_core::Greeting::None;
    plan.policy.farewell = agon_core::Farewell::None;
    let mut swiss = make(plan);
    while !swiss.is_over() {
        check(&swiss);
        for open in swiss.open_matches().cloned().collect::<Vec<_>>() {
            let winner = open.players[dice.below(open.players.len())].clone();
            let (id, result) = (open.id.clone(), won(vec![winner]));
            swiss.step(TournamentCommand::Report { id, result, head: None }).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(crate::support::cases::cases(60))]

    /// Players who sit out have had no more byes than anybody who plays, so nobody has a second bye
    /// while somebody else has had none. Everybody else sits at one table, and sizes differ by one.
    #[test]
    fn tables_have_fair_byes_and_even_sizes(
        players in 3usize..=30,
        min in 2usize..=4,
        more in 0usize..=2,
        rounds in 1usize..=6,
        seed: u64,
    ) {
        let max = (min + more).clamp(3, 4);
        prop_assume!(players >= min && min <= max);
        let mut dice = Dice::new("tables", &seed.to_string());
        let mut wrong = None;
        play_tables((players, min, max), rounds, &mut dice, |swiss| {
            let all = counted_at_tables(swiss, swiss.rounds().len() - 1);
            let round = swiss.rounds().last().expect("a round");
            let mut seated: Vec<&PlayerName> =
                round.matches.iter().flat_map(|plan| &plan.players).collect();
            let idle: Vec<&PlayerName> =
                round.byes.iter().filter_map(|bye| bye.player.as_ref()).collect();
            let most = idle.iter().map(|one| all[*one].byes).max();
            let least = seated.iter().map(|one| all[*one].byes).min();
            let sizes: Vec<usize> = round.matches.iter().map(|plan| plan.players.len()).collect();
            let uneven = sizes.iter().max().unwrap_or(&0) - sizes.iter().min().unwrap_or(&0);
            seated.extend(&idle);
            seated.sort();
            seated.dedup();
            let fits = sizes.iter().all(|size| (min..=max).contains(size));
            if most > least && least.is_some() || seated.len() != players || uneven > 1 || !fits {
                wrong = Some(format!("{sizes:?}, byes {most:?} and {least:?}"));
            }
        });
        prop_assert_eq!(wrong, None);
    }
}

/// The smallest cost of all divisions into tables of these sizes; those who sit out may be any with
/// the fewest byes. First byes of players who had one, then rematches, then differences of scores.
fn best_division(sizes: &[usize], all: &BTreeMap<PlayerName, Counted>) -> [i64; 3] {
    let players: Vec<PlayerName> = all.keys().cloned().collect();
    let least_points = all.values().map(|one| one.points).min().unwrap_or(0);
    let idle = players.len() - sizes.iter().sum::<usize>();
    let chosen = (0u32..1 << players.len()).filter(|set| set.count_ones() as usize == idle);
    let costs = chosen.map(|set| {
        let is_idle = |(at, _): &(usize, &PlayerName)| set & (1 << at) != 0;
        let (out, seated): (Vec<_>, Vec<_>) = players.iter().enumerate().partition(is_idle);
        let out: Vec<PlayerName> = out.into_iter().map(|(_, one)| one.clone()).collect();
        let seated: Vec<PlayerName> = seated.into_iter().map(|(_, one)| one.clone()).collect();
        let [byes, above] = cost_of_idle(&out, least_points, all);
        let [met, scores] = best_tables(&seated, sizes, all);
        [byes, met, scores + above]
    });
    costs.min().expect("a division")
}

fn cost_of_idle(
    out: &[PlayerName],
    least_points: i64,
    all: &BTreeMap<PlayerName, Counted>,
) -> [i64; 2] {
    let out = || out.iter().map(|one| &all[one]);
    [out().map(|one| one.byes).sum(), out().map(|one| (one.points - least_points).pow(2)).sum()]
}

/// No division of few players is better than the drawn one, by trying all divisions into tables of
/// the same sizes.
#[test]
fn no_other_division_of_up_to_nine_players_is_better() {
    let (mut rounds, mut with_rematches) = (0, 0);
    let mut dice = Dice::new("tables", "gap");
    for players in 6..=9 {
        for (min, max) in [(2, 3), (3, 3), (2, 4), (3, 4), (4, 4)] {
            for _ in 0..12 {
                play_tables((players, min, max), 4, &mut dice, |swiss| {
                    let all = counted_at_tables(swiss, swiss.rounds().len() - 1);
                    let round = swiss.rounds().last().expect("a round");
                    let sizes = round.matches.iter().map(|plan| plan.players.len());
                    let sizes: Vec<usize> = sizes.collect();
                    let out: Vec<PlayerName> =
                        round.byes.iter().filter_map(|bye| bye.player.clone()).collect();
                    let costs = round.matches.iter().map(|plan| cost_of_table(&plan.players, &all));
                    let met = costs.fold([0, 0], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
                    let least_points = all.values().map(|one| one.points).min().unwrap_or(0);
                    let [byes, above] = cost_of_idle(&out, least_points, &all);
                    let own = [byes, met[0], met[1] + above];
                    assert_eq!(own, best_division(&sizes, &all), "{sizes:?}");
                    rounds += 1;
                    with_rematches += usize::from(own[1] > 0);
                });
            }
        }
    }
    assert!(with_rematches > 100, "{with_rematches} of {rounds} rounds had unavoidable rematches");
}

/// Plays rounds at tables, and counts those with a rematch, and those of them that were not proven
/// to be impossible without one.
fn rematches_at_tables(
    (players, min, max): (usize, usize, usize),
    rounds: usize,
    seed: u64,
) -> (usize, usize) {
    let (mut again, mut not_proven) = (0, 0);
    let mut dice = Dice::new("many tables", &seed.to_string());
    play_tables((players, min, max), rounds, &mut dice, |swiss| {
        let round = swiss.rounds().last().expect("a round");
        let has = |text: &str| round.matches.iter().any(|plan| plan.reason.contains(text));
        again += usize::from(has("meet again"));
        not_proven += usize::from(has("no round without rematches was found"));
    });
    (again, not_proven)
}

#[test]
fn large_fields_at_tables_have_no_rematch() {
    assert_eq!(rematches_at_tables((100, 3, 4), 6, 1), (0, 0));
    assert_eq!(rematches_at_tables((150, 3, 3), 6, 2), (0, 0));
    assert_eq!(rematches_at_tables((40, 4, 4), 5, 3), (0, 0));
}

/// `docs/decisions/0043-tables-by-search.md` has the figures.
#[test]
#[ignore = "long without the optimiser"]
fn two_thousand_players_at_tables_have_no_rematch() {
    for (min, max) in [(3, 3), (3, 4), (4, 4)] {
        assert_eq!(rematches_at_tables((2_000, min, max), 11, 4), (0, 0));
    }
}

/// Prints how often rounds have a rematch, and how often it is not proven that one is needed.
#[test]
#[ignore = "prints figures for docs/decisions/0043-tables-by-search.md"]
fn rematches_of_middling_fields() {
    for (players, min, max) in [
        (12, 3, 3),
        (13, 3, 4),
        (15, 3, 3),
        (16, 4, 4),
        (18, 3, 3),
        (24, 3, 4),
        (30, 3, 3),
        (60, 4, 4),
    ] {
        for rounds in [players / max / 2, players / max, 2 * players / max] {
            let (mut again, mut not_proven) = (0, 0);
            for seed in 0..10 {
                let (some, of_them) = rematches_at_tables((players, min, max), rounds, seed);
                (again, not_proven) = (again + some, not_proven + of_them);
            }
            eprintln!(
                "{players} players at {min} to {max}: {again} of {} rounds have a rematch, for \
                 {not_proven} it is not proven that one is needed",
                10 * rounds
            );
        }
    }
}
