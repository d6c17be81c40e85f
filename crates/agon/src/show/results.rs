//! The end of a tournament as text: bracket, rounds or cross-table, standings, faults.

use super::comparison::comparison;
use super::{bracket, paint, table};
use agon_core::{Comparison, How, MatchReport, PlayerName, PlayerSummary, Results, RoundResult};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A drawing of one format, for up to this many players.
struct Drawing {
    format: &'static str,
    players_max: usize,
    draw: fn(&Results, bool) -> String,
}

/// The formats that have a drawing of their own. All others are drawn round by round.
const DRAWINGS: [Drawing; 2] = [
    Drawing { format: "bracket", players_max: 64, draw: bracket::draw },
    Drawing { format: "round-robin", players_max: 24, draw: cross_table },
];

/// The results as text.
pub(crate) fn results(results: &Results, colour: bool) -> String {
    let mut out = String::new();
    let best_of =
        if results.best_of > 1 { format!(", best of {}", results.best_of) } else { String::new() };
    let head = format!("{} · {} · {}{best_of}", results.tournament, results.game, results.format);
    let _ = writeln!(out, "{}\n", paint(&head, "1", colour));
    let fits = |drawing: &&Drawing| {
        drawing.format == results.format && results.standings.len() <= drawing.players_max
    };
    out.push_str(&match DRAWINGS.iter().find(fits) {
        Some(drawing) => (drawing.draw)(results, colour),
        None => rounds(&results.rounds),
    });
    out.push_str(&third_place(results));
    let _ = writeln!(out, "\n{}", standings(results, colour));
    out.push_str(&comparison(&Comparison::of(results), colour));
    out.push_str(&faults(&results.standings, colour));
    out.push_str(&voids(&results.rounds, colour));
    let _ = writeln!(out, "{}", paint(&winners(results), "1;32", colour));
    out
}

/// The reason of every pairing and every bye, round by round.
pub(crate) fn reasons(results: &Results, colour: bool) -> String {
    let mut out = format!("{}\n", paint("Pairings and byes", "1", colour));
    for round in &results.rounds {
        for report in &round.matches {
            let names: Vec<&str> = report.players.iter().map(PlayerName::as_str).collect();
            let _ = writeln!(out, "  {} {}: {}", report.id, names.join(" – "), report.reason);
        }
        for bye in &round.byes {
            let name = bye.player.as_ref().map_or("nobody", PlayerName::as_str);
            let _ = writeln!(out, "  round {}, bye for {name}: {}", round.round, bye.reason);
        }
    }
    out.push('\n');
    out
}

fn winners(results: &Results) -> String {
    let names: Vec<&str> = results.winners.iter().map(PlayerName::as_str).collect();
    match (&names[..], results.status.as_str()) {
        (_, status) if status != "ended" => format!("Not over: {status}"),
        ([], _) => "Nobody won.".into(),
        ([winner], _) => format!("{winner} wins."),
        (several, _) => format!("{} share first place.", several.join(", ")),
    }
}

fn standings(results: &Results, colour: bool) -> String {
    let mut head = ["rank", "player", "matches", "games", "points", "byes", "faults"]
        .map(String::from)
        .to_vec();
    let names = results.tie_breaks();
    head.splice(2..2, names.iter().map(|name| (*name).to_owned()));
    let mut rows = vec![head];
    let shown = 40;
    for summary in results.standings.iter().take(shown) {
        let counts = |won, lost, drawn| match drawn {
            0 => format!("{won}–{lost}"),
            _ => format!("{won}–{lost}–{drawn}"),
        };
        let value = |name: &&str| {
            let own = summary.tie_breaks.iter().find(|one| one.by == *name);
            own.map_or_else(String::new, |one| one.value.to_string())
        };
        let mut row = vec![
            summary.rank.to_string(),
            summary.player.to_string(),
            counts(summary.matches_won, summary.matches_lost, summary.matches_drawn),
            counts(summary.games_won, summary.games_lost, summary.games_tied),
            summary.points.to_string(),
            if summary.byes > 0 { summary.byes.to_string() } else { String::new() },
            if summary.faults.is_empty() {
                String::new()
            } else {
                summary.faults.len().to_string()
            },
        ];
        row.splice(2..2, names.iter().map(value));
        rows.push(row);
    }
    let right: Vec<usize> = (0..rows[0].len()).filter(|column| *column != 1).collect();
    let mut text = table(&rows, &right, colour);
    let rest = results.standings.len().saturating_sub(shown);
    if rest > 0 {
        let _ = writeln!(text, "… and {rest} more; all of them are in results.json");
    }
    text
}

/// Every loss by fault with its reason.
fn faults(standings: &[PlayerSummary], colour: bool) -> String {
    let mut lines = Vec::new();
    for summary in standings {
        for (id, faulted) in &summary.faults {
            let place = match (id.as_str(), faulted.game) {
                ("-", _) => "outside matches".to_owned(),
                (id, Some(game)) => format!("{id} game {game}"),
                (id, None) => id.to_owned(),
            };
            lines.push(format!("  {} ({place}): {}", summary.player, faulted.fault));
        }
    }
    list(lines, &paint("Faults", "1;31", colour))
}

/// The first lines of a list under its title; nothing if the list is empty.
fn list(mut lines: Vec<String>, title: &str) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let rest = lines.len().saturating_sub(30);
    lines.truncate(30);
    if rest > 0 {
        lines.push(format!("  … and {rest} more; all of them are in results.json"));
    }
    format!("{title}\n{}\n\n", lines.join("\n"))
}

/// Every void game and match, with its reason. No player is charged for these.
fn voids(rounds: &[RoundResult], colour: bool) -> String {
    let mut lines = Vec::new();
    for report in rounds.iter().flat_map(|round| &round.matches) {
        for game in &report.result.games {
            if let Some(ruling) = &game.voided {
                lines.push(format!("  {} game {}: {}", report.id, game.game, ruling.why));
            }
        }
        if let Some(by) = report.overridden.as_ref().filter(|by| by.winners.is_empty()) {
            lines.push(format!("  {}: {}", report.id, by.ruling.why));
        }
    }
    list(lines, &paint("Void, and nobody's fault", "1;33", colour))
}

fn rounds(rounds: &[RoundResult]) -> String {
    let mut out = String::new();
    for round in rounds {
        let _ = match &round.stage {
            Some(stage) => writeln!(out, "Stage {}, round {}", stage.number, round.round),
            None => writeln!(out, "Round {}", round.round),
        };
        let ids = round.matches.iter().map(|report| report.id.as_str().len());
        let width = ids.take(60).max().unwrap_or(0);
        for report in round.matches.iter().take(60) {
            let _ = writeln!(out, "  {:width$}  {}", report.id.as_str(), played(report));
        }
        if round.matches.len() > 60 {
            let _ = writeln!(out, "  … and {} more", round.matches.len() - 60);
        }
        let idle: Vec<&str> =
            round.byes.iter().filter_map(|bye| Some(bye.player.as_ref()?.as_str())).collect();
        let _ = match idle.len() {
            0 => Ok(()),
            1..=10 => writeln!(out, "  bye: {}", idle.join(", ")),
            count => writeln!(out, "  byes: {} and {} more", idle[..10].join(", "), count - 10),
        };
    }
    out
}

/// The match for third place, which a bracket does not draw.
fn third_place(results: &Results) -> String {
    let last = results.rounds.last().filter(|_| results.format == "bracket");
    let third =
        last.and_then(|round| round.matches.iter().find(|one| one.id.as_str().ends_with("m2")));
    let third = third.filter(|report| report.reason.starts_with("third place"));
    third.map_or_else(String::new, |report| format!("\nThird place: {}\n", played(report)))
}

/// A match in one line: the players, their scores, and who advances.
fn played(report: &MatchReport) -> String {
    let last = report.result.games.last();
    let names = report.players.iter().map(|player| {
        let seat = last.and_then(|game| game.seats.iter().position(|name| name == player));
        let score = seat.zip(last).map(|(seat, game)| format!(" {}", game.scores[seat]));
        let mark = if report.result.winners.contains(player) { "*" } else { "" };
        format!("{player}{mark}{}", score.unwrap_or_default())
    });
    let how = match report.result.how {
        How::Played => "",
        How::Forfeit => " (forfeit)",
        How::NoShow => " (no show)",
        How::Void => " (void)",
        How::Lot => " (by lot)",
        How::Overridden => " (by an operator)",
    };
    format!("{}{how}", names.collect::<Vec<_>>().join(" · "))
}

/// The score of every player against every other: games won, halves for ties.
fn cross_table(results: &Results, colour: bool) -> String {
    // Players meet several times in a tournament of several cycles.
    let mut halves: BTreeMap<(&PlayerName, &PlayerName), u32> = BTreeMap::new();
    for report in results.rounds.iter().flat_map(|round| &round.matches) {
        if let [one, other] = &report.players[..] {
            *halves.entry((one, other)).or_default() += report.result.halves[0];
            *halves.entry((other, one)).or_default() += report.result.halves[1];
        }
    }
    let half = |halves: u32| match halves % 2 {
        0 => (halves / 2).to_string(),
        _ => format!("{}½", halves / 2),
    };
    let mut scores: BTreeMap<(&PlayerName, &PlayerName), String> =
        halves.into_iter().map(|(pair, won)| (pair, half(won))).collect();
    for bye in results.rounds.iter().flat_map(|round| &round.byes) {
        if let (Some(winner), Some(loser)) = (&bye.player, &bye.walkover) {
            scores.insert((winner, loser), "+".into());
            scores.insert((loser, winner), "–".into());
        }
    }
    let players: Vec<&PlayerName> = results.standings.iter().map(|s| &s.player).collect();
    let mut rows = vec![vec!["".to_owned(), "".to_owned()]];
    rows[0].extend((1..=players.len()).map(|number| number.to_string()));
    for (at, player) in players.iter().enumerate() {
        let mut row = vec![(at + 1).to_string(), player.to_string()];
        row.extend(players.iter().map(|other| {
            if player == other {
                return "·".to_owned();
            }
            scores.get(&(*player, *other)).cloned().unwrap_or_default()
        }));
        rows.push(row);
    }
    let right: Vec<usize> = (0..players.len() + 2).filter(|column| *column != 1).collect();
    table(&rows, &right, colour)
}
