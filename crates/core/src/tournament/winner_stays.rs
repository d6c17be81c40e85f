//! Winner stays: the first two players meet, and the winner meets the next player in order.
//!
//! This format exists for tests only. It shows that a format is one file and one line in the table
//! of `format.rs`: the tests below play, fold and verify a tournament of it, and nothing else in
//! the program knows it.

use super::format::elimination;
use super::{
    DrawnMatch, Field, MatchCount, Merit, NextRound, PlayerRecord, Round, TournamentFormat,
};
use crate::ids::{MatchId, PlayerName, Timestamp};
use crate::policy::MatchRules;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The winner of each match meets the next player in order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WinnerStays {
    /// True if the last player in order begins.
    pub last_begins: bool,
}

impl TournamentFormat for WinnerStays {
    fn for_seats(_: RangeInclusive<usize>) -> WinnerStays {
        WinnerStays { last_begins: false }
    }

    fn about(&self) -> &'static str {
        "The winner of each match meets the next player in order"
    }

    fn check(&self, _: &MatchRules) -> Result<(), String> {
        Ok(())
    }

    fn next_round(&self, order: &[PlayerName], field: &Field<'_>) -> NextRound {
        let mut order: Vec<&PlayerName> = order.iter().collect();
        if self.last_begins {
            order.reverse();
        }
        let met = |player: &PlayerName| {
            let mut all = field.rounds.iter().flat_map(|round| &round.matches);
            all.any(|plan| plan.players.contains(player))
        };
        let last = field.rounds.last().and_then(|round| round.results[0].as_ref());
        let champion = last.and_then(|result| result.winners.first());
        let mut waiting = order.into_iter().filter(|player| !met(player) && !field.is_out(player));
        let champion = champion.filter(|player| !field.is_out(player)).or_else(|| waiting.next());
        let (Some(champion), Some(next)) = (champion, waiting.next()) else {
            return NextRound::Winners(champion.into_iter().cloned().collect());
        };
        let id = MatchId::of(field.next_number(), 1);
        let reason = format!("{champion} stays, and {next} is the next in order");
        let players = vec![champion.clone(), next.clone()];
        NextRound::Round(vec![DrawnMatch { id, players, reason }], Vec::new())
    }

    fn merits(&self, records: &[PlayerRecord], _: &Field<'_>) -> Vec<Merit> {
        records.iter().map(elimination::merit).collect()
    }

    fn eliminated<'a>(&self, round: &'a Round, field: &Field<'a>) -> Vec<(&'a PlayerName, u32)> {
        let lost_before = |player: &PlayerName| {
            field.rounds.iter().flat_map(Round::losers).position(|loser| loser == player)
        };
        let place = |player| field.players.len() - lost_before(player).unwrap_or(0);
        round.losers().map(|player| (player, place(player) as u32)).collect()
    }

    fn matches_total(&self, players: usize, _: &[usize]) -> MatchCount {
        MatchCount { matches: players.saturating_sub(1), is_exact: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::StreamEnd;
    use crate::fair::Secret;
    use crate::line::Line;
    use crate::plan::TournamentPlan;
    use crate::preset::Preset;
    use crate::report::{How, MatchResult};
    use crate::tournament::{Format, Tournament, TournamentCommand};
    use crate::verify;
    use agon_games::Registry;

    fn name(text: &str) -> PlayerName {
        PlayerName::new(text).unwrap()
    }

    fn plan(format: Format) -> TournamentPlan {
        let preset = Preset::named("yahtzee-class").unwrap();
        let kind = Registry::standard().kind(preset.game).unwrap().clone();
        TournamentPlan {
            id: "t".into(),
            preset: None,
            game: preset.game.into(),
            config: crate::ids::Raw(kind.check_config(preset.config).unwrap()),
            policy: crate::policy::Policy { format, ..preset.policy },
            players: ["ann", "bob", "cat", "dan"].map(name).to_vec(),
        }
    }

    fn won_by(winner: &str) -> MatchResult {
        MatchResult {
            winners: vec![name(winner)],
            how: How::Played,
            halves: vec![0; 2],
            games: Vec::new(),
            counts_from: 1,
            faults: Vec::new(),
            out: Vec::new(),
        }
    }

    /// Plays a tournament to its end with the given winner in each round. Returns it and its log.
    fn play(format: Format, winners: &[&str]) -> (Tournament, Vec<String>) {
        let plan = plan(format);
        let kind = Registry::standard().kind(&plan.game).unwrap().clone();
        let mut end = StreamEnd::new("tournament/t");
        let (mut cup, events) =
            Tournament::create(plan, kind, Secret::from_seed_number(1)).unwrap();
        let mut lines = end.record(Timestamp::from_ms(1), &events);
        for (winner, at) in winners.iter().zip(2..) {
            let id = cup.open_matches().next().expect("a match is open").id.clone();
            let head = Some(StreamEnd::new("match").head().unwrap().clone());
            let report = TournamentCommand::Report { id, result: won_by(winner), head };
            lines.extend(end.record(Timestamp::from_ms(at), &cup.step(report).unwrap()));
        }
        (cup, lines)
    }

    #[test]
    fn a_format_of_one_file_is_found_by_name_in_policies() {
        let format: Format =
            serde_json::from_str(r#"{"kind":"winner-stays","last_begins":true}"#).unwrap();
        assert_eq!(format, WinnerStays { last_begins: true }.into());
        let usual = Format::named("winner-stays", &(2..=2)).unwrap();
        assert_eq!(usual, WinnerStays { last_begins: false }.into());
        assert_eq!(plan(usual).policy.check(), Ok(()));
    }

    #[test]
    fn a_format_of_one_file_is_played_folded_and_verified() {
        let (cup, lines) = play(WinnerStays { last_begins: true }.into(), &["cat", "cat", "ann"]);
        assert!(cup.is_over());
        let pairs: Vec<String> = cup
            .rounds()
            .iter()
            .map(|round| round.matches[0].players.iter().map(PlayerName::as_str).collect())
            .collect();
        assert_eq!(pairs, ["dancat", "catbob", "catann"]);
        let standings = cup.results().standings;
        let ranks: Vec<(&str, u32)> =
            standings.iter().map(|one| (one.player.as_str(), one.rank)).collect();
        assert_eq!(ranks, [("ann", 1), ("cat", 2), ("bob", 3), ("dan", 4)]);
        let games = Registry::standard();
        let read: Vec<Line> = lines.iter().map(|text| Line::read(text).unwrap()).collect();
        assert!(Tournament::fold(&read, &games, None).unwrap().same_state(&cup));
        let stream = verify::read(&lines).unwrap();
        let check = verify::verify_tournament(&stream, &games, None).unwrap();
        assert_eq!((check.events, check.results), (lines.len() as u64, cup.results()));
        let forged =
            lines.iter().map(|line| line.replace("[\"cat\",\"bob\"]", "[\"cat\",\"ann\"]"));
        let stream = verify::read(&forged.collect::<Vec<_>>()).unwrap();
        let finding = verify::verify_tournament(&stream, &games, None).unwrap_err();
        assert_eq!((finding.seq, finding.event.as_str()), (4, "round-paired"), "{finding}");
    }

    #[test]
    fn losers_leave_a_format_of_one_file_with_its_places() {
        let (cup, _) = play(WinnerStays { last_begins: false }.into(), &["bob", "cat"]);
        assert_eq!(cup.departures(|_| false), [(name("ann"), 4), (name("bob"), 3)]);
        assert_eq!(cup.departure(&name("cat")), None);
    }
}
