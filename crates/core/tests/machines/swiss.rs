//! Swiss pairings: no pairing is better, by trying all of them.

use super::formats::{make, plan, won};
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
