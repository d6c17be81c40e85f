//! Tournaments and matches from the HTTP interface as text. Missing fields are left out, because
//! the server may be older or newer than this program.

use super::{paint, results, table};
use agon_core::Results;
use agon_games::Registry;
use serde_json::Value;
use std::fmt::Write;

/// A tournament: its sign-up, its pairings, or its results.
pub(crate) fn tournament(found: &Value, colour: bool) -> String {
    let standing = word(&found["standing"]);
    let mut out = String::new();
    match serde_json::from_value::<Results>(found["results"].clone()) {
        Ok(all) if standing == "over" => return results(&all, colour),
        Ok(all) => {
            let games: usize = all
                .rounds
                .iter()
                .flat_map(|round| &round.matches)
                .map(|report| report.result.games.len())
                .sum();
            let head = format!(
                "{} · {} · {} · {standing} · {games} games in finished matches",
                all.tournament, all.game, all.format
            );
            let _ = writeln!(out, "{}\n", paint(&head, "1", colour));
        }
        Err(_) => {
            let game = word(&found["plan"]["game"]);
            let head = format!("{} · {game} · {standing}", word(&found["id"]));
            let _ = writeln!(out, "{}\n", paint(&head, "1", colour));
            let players = list(&found["plan"]["players"]);
            if !players.is_empty() {
                let _ = writeln!(out, "players: {}", players.join(", "));
            }
            if let Some(why) = found["reason"].as_str() {
                let _ = writeln!(out, "{why}");
            }
        }
    }
    let missing = list(&found["results"]["interrupted"]["missing"]);
    if !missing.is_empty() {
        let why = word(&found["results"]["interrupted"]["why"]);
        let _ = writeln!(out, "{why}.\nmissing: {}\n", missing.join(", "));
    } else if found["paused"].is_object() {
        let [by, why] = ["by", "why"].map(|field| word(&found["paused"][field]));
        let _ = writeln!(out, "paused by {by}: {why}\n");
    }
    let pairings = found["pairings"].as_array();
    if let Some(pairings) = pairings.filter(|pairings| !pairings.is_empty()) {
        let mut rows = vec![["match", "players", "", "why"].map(String::from).to_vec()];
        rows.extend(pairings.iter().map(|pairing| {
            let over = if pairing["over"] == true { "over" } else { "plays" };
            let players = list(&pairing["players"]).join(" – ");
            vec![word(&pairing["match"]), players, over.to_owned(), word(&pairing["reason"])]
        }));
        out.push_str(&table(&rows, &[], colour));
    }
    out
}

/// A match: its score, and the board of the current or last game.
pub(crate) fn of_match(found: &Value, games: &Registry, colour: bool) -> String {
    let place = &found["match"];
    let players = on_wires(found);
    let won = place["won"].as_array().into_iter().flatten().map(ToString::to_string);
    let won = won.map(|won| won.trim_end_matches(".0").to_owned()).collect::<Vec<_>>().join(":");
    let head = format!(
        "{} of {} · {} · {won} (best of {}) · {}",
        word(&place["id"]),
        word(&place["tournament"]),
        players.join(" – "),
        place["best_of"].as_u64().unwrap_or(1),
        word(&found["standing"]),
    );
    let mut out = format!("{}\n\n", paint(&head, "1", colour));
    let (running, latest) = (&found["in_progress"], &found["latest"]);
    let (view, seats) = match running.is_object() {
        true => (&running["view"], list(&running["seats"])),
        false => (&latest["view"], list(&latest["result"]["seats"])),
    };
    if let Some(kind) = games.kind(&word(&found["game"]))
        && view.is_object()
    {
        match kind.draw(&view.to_string(), &seats, colour) {
            Ok(drawn) => out.push_str(&drawn),
            Err(refusal) => {
                let _ = writeln!(
                    out,
                    "(this version of agon cannot draw the board: \
                    {})",
                    refusal.detail
                );
            }
        }
    }
    if found["result"].is_object() {
        let winners = list(&found["result"]["winners"]);
        let line = match &winners[..] {
            [] => "\nNobody won.".to_owned(),
            winners => format!("\nWon by {}.", winners.join(", ")),
        };
        let _ = writeln!(out, "{}", paint(&line, "1;32", colour));
    }
    out
}

/// The players of a match, each with the protocol they are connected with.
pub(crate) fn on_wires(found: &Value) -> Vec<String> {
    let players = list(&found["match"]["players"]).into_iter();
    let named = players.map(|player| match found["wires"][&player].as_str() {
        Some(wire) => format!("{player} ({wire})"),
        None => player,
    });
    named.collect()
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(word).collect()
}
