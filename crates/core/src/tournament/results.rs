//! Standings and results of a tournament, from its rounds.

use super::{Field, Merit, Phase, PlayerRecord, Tournament, TournamentFormat};
use crate::fault::{FaultKind, Faulted};
use crate::ids::{MatchId, PlayerName};
use crate::report::{
    Bye, GameEnd, GameResult, How, MatchReport, MatchResult, PlayerSummary, Results, RoundResult,
};
use std::collections::{BTreeSet, HashMap};

impl Tournament {
    /// The results so far; final once the tournament is over.
    pub fn results(&self) -> Results {
        let rounds = self.state.rounds.iter().zip(1..).map(|(round, number)| RoundResult {
            round: number,
            stage: round.stage.clone(),
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
        let format = self.plan.policy.format.rules();
        let field = self.field();
        let mut standings = field.standings(format);
        if !self.rounds_are_over() {
            let lost = self.state.rounds.iter().flat_map(|round| format.eliminated(round, &field));
            place_eliminated_last(&mut standings, &lost.collect());
        }
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
            format: self.plan.policy.format.name().into(),
            best_of: self.plan.policy.rules.best_of,
            duplicate: self.plan.policy.rules.duplicate,
            sprt: self.plan.policy.rules.sprt.clone(),
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
}

impl Field<'_> {
    /// The records of all players so far, in order of sign-up.
    pub(super) fn records(&self) -> Vec<PlayerRecord> {
        let mut records: HashMap<&PlayerName, PlayerRecord> =
            self.players.iter().map(|player| (player, self.blank(player))).collect();
        for faulted in self.faults {
            let outside = MatchId::from("-");
            if let Some(record) = records.get_mut(&faulted.player) {
                record.summary.faults.push((outside, faulted.clone()));
            }
        }
        for (round, number) in self.rounds.iter().zip(1..) {
            for (plan, result) in round.matches.iter().zip(&round.results) {
                let Some(result) = result else { continue };
                for player in &plan.players {
                    let Some(record) = records.get_mut(player) else { continue };
                    record.reached = number;
                    add_match(&mut record.summary, &plan.id, result);
                }
            }
            for bye in &round.byes {
                add_bye(&mut records, bye, number);
            }
        }
        self.players.iter().filter_map(|player| records.remove(player)).collect()
    }

    /// All players with their rank, best first.
    fn standings(&self, format: &dyn TournamentFormat) -> Vec<PlayerSummary> {
        let records = self.records();
        let merits = format.merits(&records, self);
        let summaries = records.into_iter().zip(&merits).map(|(record, merit)| PlayerSummary {
            tie_breaks: format.shown(merit),
            ..record.summary
        });
        rank(summaries.zip(merits.iter().cloned()).collect())
    }

    fn blank(&self, player: &PlayerName) -> PlayerRecord {
        let (has_won, is_out) = (self.winners.contains(player), self.is_out(player));
        PlayerRecord { summary: blank(player), reached: 0, has_won, is_out }
    }
}

/// Sorts by merit, keeps the order of sign-up among equals, and assigns ranks.
fn rank(mut all: Vec<(PlayerSummary, Merit)>) -> Vec<PlayerSummary> {
    all.sort_by(|(_, one), (_, other)| other.cmp(one));
    let mut rank = 0;
    for at in 0..all.len() {
        if at == 0 || all[at].1 != all[at - 1].1 {
            rank = at as u32 + 1;
        }
        all[at].0.rank = rank;
    }
    all.into_iter().map(|(summary, _)| summary).collect()
}

/// Moves eliminated players behind those who are still in, in the order of their places. Without
/// this, a player who lost early in a round would stand above players who still play that round.
fn place_eliminated_last(standings: &mut [PlayerSummary], places: &HashMap<&PlayerName, u32>) {
    standings.sort_by_key(|summary| places.get(&summary.player).copied().unwrap_or(0));
    let (mut rank, mut before) = (0, None);
    for (summary, at) in standings.iter_mut().zip(1..) {
        // Equal merit was an equal rank among all players.
        if before.replace(summary.rank) != Some(summary.rank) {
            rank = at;
        }
        summary.rank = places.get(&summary.player).copied().unwrap_or(rank);
    }
}

fn add_bye(records: &mut HashMap<&PlayerName, PlayerRecord>, bye: &Bye, round: u32) {
    let Some(player) = &bye.player else { return };
    if let Some(record) = records.get_mut(player) {
        record.reached = round;
        match &bye.walkover {
            Some(_) => record.summary.matches_won += 1,
            None => record.summary.byes += 1,
        }
    }
    if let Some(loser) = bye.walkover.as_ref().and_then(|name| records.get_mut(name)) {
        loser.summary.matches_lost += 1;
    }
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
        tie_breaks: Vec::new(),
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
            luck: Vec::new(),
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

    /// Matches won, lost and drawn, games won, lost and tied, and points.
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
    fn only_games_that_count_are_added_up() {
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
        let all =
            merits.iter().map(|(player, first, then)| (blank(&name(player)), vec![*first, *then]));
        let ranked = rank(all.collect());
        let ranked: Vec<(&str, u32)> =
            ranked.iter().map(|summary| (summary.player.as_str(), summary.rank)).collect();
        assert_eq!(ranked, [("b", 1), ("c", 1), ("d", 3), ("a", 4), ("e", 4), ("f", 6)]);
    }
}
