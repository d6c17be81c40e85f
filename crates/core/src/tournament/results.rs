//! Standings and results of a tournament, from its rounds.

use super::{Phase, Tournament};
use crate::fault::{FaultKind, Faulted};
use crate::ids::{MatchId, PlayerName};
use crate::policy::Format;
use crate::report::{
    GameEnd, GameResult, How, MatchReport, MatchResult, PlayerSummary, Results, RoundResult,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What one player is ranked by, best first when sorted descending.
type Merit = (u32, u32, i64);

impl Tournament {
    /// The results so far; final once the tournament is over.
    pub fn results(&self) -> Results {
        let rounds = self.state.rounds.iter().zip(1..).map(|(round, number)| RoundResult {
            round: number,
            byes: round.byes.clone(),
            matches: {
                let reported = round.matches.iter().zip(&round.results).zip(&round.overrides);
                let reports = reported.filter_map(|((plan, result), overridden)| {
                    Some(MatchReport {
                        id: plan.id.clone(),
                        players: plan.players.clone(),
                        reason: plan.reason.clone(),
                        result: result.clone()?,
                        overridden: overridden.clone(),
                    })
                });
                reports.collect()
            },
        });
        let rounds: Vec<RoundResult> = rounds.collect();
        let standings = self.standings(&rounds);
        let by_kind = |cheat: bool| -> Vec<PlayerName> {
            let names = standings.iter().filter(|summary| {
                let mut faults = summary.faults.iter().map(|(_, faulted)| &faulted.fault);
                match cheat {
                    true => faults.any(|fault| fault.is_cheat()),
                    false => {
                        faults.any(|fault| fault.kind != FaultKind::Withdrew)
                            && !faults_of(summary).any(|kind| kind == FaultKind::Cheat)
                    }
                }
            });
            names
                .map(|summary| summary.player.clone())
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect()
        };
        let (cheating, failing) = (by_kind(true), by_kind(false));
        Results {
            tournament: self.plan.id.clone(),
            preset: self.plan.preset.clone(),
            game: self.plan.game.clone(),
            format: format_name(&self.plan.policy.format).into(),
            best_of: self.plan.policy.rules.best_of,
            status: match (&self.state.phase, &self.state.interrupted) {
                (Phase::Ended, _) => "ended".into(),
                (Phase::Aborted(reason), _) => format!("aborted: {reason}"),
                (_, Some(interruption)) => format!("interrupted: {}", interruption.why),
                _ => "running".into(),
            },
            interrupted: self.state.interrupted.clone(),
            awarded: self.state.awarded.clone(),
            winners: self.state.winners.clone(),
            standings,
            cheating,
            failing,
            rounds,
            head: None,
        }
    }

    /// Who leads by merit: the winners of a round-robin.
    pub(super) fn leaders(&self) -> Vec<PlayerName> {
        let standings = self.results().standings;
        let out = |player: &PlayerName| {
            self.state.entrants.iter().any(|entrant| entrant.player == *player && entrant.out)
        };
        let best = standings.iter().filter(|summary| !out(&summary.player));
        let rank = best.clone().map(|summary| summary.rank).min();
        best.filter(|summary| Some(summary.rank) == rank)
            .map(|summary| summary.player.clone())
            .collect()
    }

    fn standings(&self, rounds: &[RoundResult]) -> Vec<PlayerSummary> {
        let mut summaries: BTreeMap<&PlayerName, PlayerSummary> =
            self.plan.players.iter().map(|player| (player, blank(player))).collect();
        for faulted in &self.state.faults {
            let outside = MatchId::from("-");
            if let Some(summary) = summaries.get_mut(&faulted.player) {
                summary.faults.push((outside, faulted.clone()));
            }
        }
        let mut reached: BTreeMap<&PlayerName, u32> = BTreeMap::new();
        for round in rounds {
            for report in &round.matches {
                for player in &report.players {
                    reached.insert(player, round.round);
                    if let Some(summary) = summaries.get_mut(player) {
                        add_match(summary, &report.id, &report.result);
                    }
                }
            }
            for bye in &round.byes {
                let Some(player) = &bye.player else { continue };
                reached.insert(player, round.round);
                if let Some(summary) = summaries.get_mut(player) {
                    match &bye.walkover {
                        Some(_) => summary.matches_won += 1,
                        None => summary.byes += 1,
                    }
                }
                if let Some(loser) = bye.walkover.as_ref().and_then(|name| summaries.get_mut(name))
                {
                    loser.matches_lost += 1;
                }
            }
        }
        let thrown_out = self.state.entrants.iter().filter(|entrant| entrant.out);
        let out: BTreeSet<&PlayerName> = thrown_out.map(|entrant| &entrant.player).collect();
        let merit = |summary: &PlayerSummary| -> Merit {
            let won = self.state.winners.contains(&summary.player);
            match self.plan.policy.format {
                Format::RoundRobin => (
                    summary.matches_won * 2 + summary.matches_drawn,
                    summary.games_won,
                    summary.points,
                ),
                _ if won => (u32::MAX, 0, 0),
                // Who was thrown out of a knock-out is behind everybody who played fair.
                Format::Knockout { .. } if out.contains(&summary.player) => (0, 0, 0),
                _ => (reached.get(&summary.player).copied().unwrap_or(0), 0, 0),
            }
        };
        rank(self.plan.players.iter().map(|player| summaries[player].clone()).collect(), merit)
    }
}

/// Sorts by merit, keeps the order of sign-up among equals, and gives ranks.
fn rank(
    mut all: Vec<PlayerSummary>,
    merit: impl Fn(&PlayerSummary) -> Merit,
) -> Vec<PlayerSummary> {
    all.sort_by_key(|summary| Reverse(merit(summary)));
    let merits: Vec<Merit> = all.iter().map(&merit).collect();
    let mut rank = 0;
    for (at, summary) in all.iter_mut().enumerate() {
        if at == 0 || merits[at] != merits[at - 1] {
            rank = at as u32 + 1;
        }
        summary.rank = rank;
    }
    all
}

fn blank(player: &PlayerName) -> PlayerSummary {
    PlayerSummary {
        rank: 0,
        player: player.clone(),
        matches_won: 0,
        matches_lost: 0,
        matches_drawn: 0,
        games_won: 0,
        games_lost: 0,
        games_tied: 0,
        points: 0,
        byes: 0,
        faults: Vec::new(),
    }
}

fn add_match(summary: &mut PlayerSummary, id: &MatchId, result: &MatchResult) {
    let player = &summary.player;
    let own = result.faults.iter().filter(|faulted| faulted.player == *player);
    let own: Vec<(MatchId, Faulted)> = own.map(|faulted| (id.clone(), faulted.clone())).collect();
    if result.how != How::Void {
        match (result.winners.contains(player), result.winners.len()) {
            (true, 1) => summary.matches_won += 1,
            (true, _) => summary.matches_drawn += 1,
            (false, _) => summary.matches_lost += 1,
        }
        let counted = result.games.iter().filter(|game| game.game >= result.counts_from);
        counted.for_each(|game| add_game(summary, game));
    }
    summary.faults.extend(own);
}

fn add_game(summary: &mut PlayerSummary, game: &GameResult) {
    let Some(seat) = game.seats.iter().position(|player| *player == summary.player) else { return };
    if game.end == GameEnd::Void {
        return;
    }
    let points = game.scores.get(seat).copied().unwrap_or(0);
    summary.points = summary.points.saturating_add(points);
    match (game.winners.contains(&summary.player), game.winners.len()) {
        (true, 1) => summary.games_won += 1,
        (true, _) => summary.games_tied += 1,
        (false, _) => summary.games_lost += 1,
    }
}

fn faults_of(summary: &PlayerSummary) -> impl Iterator<Item = FaultKind> {
    summary.faults.iter().map(|(_, faulted)| faulted.fault.kind)
}

fn format_name(format: &Format) -> &'static str {
    match format {
        Format::Bracket { .. } => "bracket",
        Format::Knockout { .. } => "knockout",
        Format::RoundRobin => "round-robin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;

    fn name(text: &str) -> PlayerName {
        PlayerName::new(text).unwrap()
    }

    fn names(texts: &[&str]) -> Vec<PlayerName> {
        texts.iter().map(|text| name(text)).collect()
    }

    fn game(number: u32, end: GameEnd, scores: [i64; 2], winners: &[&str]) -> GameResult {
        GameResult {
            game: number,
            seats: names(&["ann", "bob"]),
            end,
            scores: scores.to_vec(),
            ranks: vec![None; 2],
            winners: names(winners),
            voided: None,
        }
    }

    fn result(how: How, winners: &[&str], games: Vec<GameResult>) -> MatchResult {
        let faults = vec![Faulted {
            player: name("bob"),
            game: None,
            request: None,
            fault: Fault::timeout(5),
        }];
        let (winners, out) = (names(winners), Vec::new());
        MatchResult { winners, how, halves: vec![0; 2], games, counts_from: 2, faults, out }
    }

    /// Matches won, lost and drawn, games won, lost and tied, points.
    fn counts(player: &str, result: &MatchResult) -> [i64; 7] {
        let mut summary = blank(&name(player));
        add_match(&mut summary, &"r1m1".into(), result);
        assert_eq!(summary.faults.len(), usize::from(player == "bob"));
        let matches = [summary.matches_won, summary.matches_lost, summary.matches_drawn];
        let games = [summary.games_won, summary.games_lost, summary.games_tied];
        let mut counts = [0; 7];
        for (count, of) in counts.iter_mut().zip(matches.into_iter().chain(games)) {
            *count = i64::from(of);
        }
        counts[6] = summary.points;
        counts
    }

    #[test]
    fn what_counts_of_a_match_is_counted() {
        let games = vec![
            game(1, GameEnd::Played, [90, 80], &["ann"]), // before it started again
            game(2, GameEnd::Played, [7, 9], &["bob"]),
            game(3, GameEnd::Played, [5, 5], &["ann", "bob"]),
            game(4, GameEnd::Void, [40, 30], &[]),
            game(5, GameEnd::Forfeited { by: name("bob") }, [11, 0], &["ann"]),
            game(6, GameEnd::Played, [20, 1], &["ann"]),
        ];
        let played = result(How::Played, &["ann"], games.clone());
        assert_eq!(counts("ann", &played), [1, 0, 0, 2, 1, 1, 43]);
        assert_eq!(counts("bob", &played), [0, 1, 0, 1, 2, 1, 15]);
        assert_eq!(counts("cat", &played), [0, 1, 0, 0, 0, 0, 0], "it sat in none of them");
        let drawn = result(How::Played, &["ann", "bob"], Vec::new());
        assert_eq!(counts("ann", &drawn), [0, 0, 1, 0, 0, 0, 0]);
        let void = result(How::Void, &[], games);
        assert_eq!(counts("bob", &void), [0; 7], "but its faults are its own");
        assert_eq!(void.faults.len(), 1);
    }

    #[test]
    fn equal_merit_shares_a_rank_and_the_next_is_behind_all() {
        let merits = [("a", 1, 0), ("b", 3, 5), ("c", 3, 5), ("d", 3, 4), ("e", 1, 0), ("f", 0, 9)];
        let all = merits.iter().map(|(player, _, _)| blank(&name(player))).collect();
        let ranked = rank(all, |summary| {
            let own = merits.iter().find(|(player, _, _)| name(player) == summary.player).unwrap();
            (own.1, own.2, 0)
        });
        let ranked: Vec<(&str, u32)> =
            ranked.iter().map(|summary| (summary.player.as_str(), summary.rank)).collect();
        assert_eq!(ranked, [("b", 1), ("c", 1), ("d", 3), ("a", 4), ("e", 4), ("f", 6)]);
    }
}
