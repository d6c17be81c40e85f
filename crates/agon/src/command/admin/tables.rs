//! Tables of the server's answers. Missing fields are left out, because the server may be older or
//! newer than this program.

use crate::show;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::IsTerminal;

/// Formats an answer.
pub(super) type Table = fn(&Value) -> String;

fn colour() -> bool {
    show::colour(std::io::stdout().is_terminal())
}

/// One field as text; empty if it is missing.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn rows(list: &Value, fields: &[&str], right: &[usize]) -> String {
    let mut rows = vec![fields.iter().map(|field| field.replace('_', " ")).collect::<Vec<_>>()];
    for entry in list.as_array().into_iter().flatten() {
        rows.push(fields.iter().map(|field| text(&entry[*field])).collect());
    }
    show::table(&rows, right, colour())
}

pub(super) fn tournaments(found: &Value) -> String {
    let list = &found["tournaments"];
    match list.as_array().is_some_and(Vec::is_empty) {
        true => "There are no tournaments.\n".into(),
        false => rows(list, &["id", "standing", "game", "players", "winners", "reason"], &[3]),
    }
}

pub(super) fn accounts(found: &Value) -> String {
    rows(&found["accounts"], &["account", "kind", "role", "blacklisted"], &[])
}

pub(super) fn account(found: &Value) -> String {
    let list = Value::Array(vec![found.clone()]);
    let mut out = rows(&list, &["account", "kind", "role", "wire", "blacklisted"], &[]);
    for (game, counts) in found["statistics"]["by_game"].as_object().into_iter().flatten() {
        let [won, lost] = ["won", "lost"].map(|word| text(&counts["matches"][word]));
        let [low, value, high] = ["low", "value", "high"]
            .map(|word| counts["rating"][word].as_f64().unwrap_or_default());
        let reach = (high - low) / 2.0;
        let _ = writeln!(out, "{game}: matches {won}–{lost}, rating {value:.0} ± {reach:.0}");
    }
    out
}

pub(super) fn queue(found: &Value) -> String {
    let players = found["players"].as_array().cloned().unwrap_or_default();
    if players.is_empty() {
        return format!("Nobody waits in {}.\n", text(&found["queue"]));
    }
    let lines = players.iter().zip(1..);
    lines.map(|(player, at)| format!("{at:>4}  {}\n", text(player))).collect()
}

pub(super) fn tournament(found: &Value) -> String {
    show::tournament(found, colour())
}

pub(super) fn of_match(found: &Value) -> String {
    let place = &found["match"];
    let mut out = format!(
        "{} of {}: {} · {} · best of {}\n",
        text(&place["id"]),
        text(&place["tournament"]),
        show::on_wires(found).join(", "),
        text(&found["standing"]),
        text(&place["best_of"]),
    );
    let mut rows = vec![["game", "seats", "scores", "winners"].map(String::from).to_vec()];
    for (game, number) in place["games"].as_array().into_iter().flatten().zip(1..) {
        let mut row = vec![number.to_string()];
        row.extend(["seats", "scores", "winners"].map(|field| text(&game[field])));
        rows.push(row);
    }
    out.push_str(&show::table(&rows, &[0], colour()));
    let winners = text(&found["result"]["winners"]);
    if !winners.is_empty() {
        let _ = writeln!(out, "Won by {winners}.");
    }
    out
}

/// Every counter, summed over its labels; no histograms.
fn counts(metrics: &Value) -> BTreeMap<&str, f64> {
    let mut counts = BTreeMap::new();
    for (name, value) in metrics.as_object().into_iter().flatten() {
        let name = name.split('{').next().unwrap_or(name);
        let histogram = ["_bucket", "_sum", "_count"].iter().any(|end| name.ends_with(end));
        if !histogram && name != "agon_build_info" {
            *counts.entry(name).or_default() += value.as_f64().unwrap_or_default();
        }
    }
    counts
}

pub(super) fn status(found: &Value) -> String {
    let mut out = format!("{}: {}\n\n", text(&found["server"]), text(&found["status"]));
    let rows: Vec<Vec<String>> = std::iter::once(vec!["what".to_owned(), "count".to_owned()])
        .chain(counts(&found["metrics"]).into_iter().map(|(name, value)| {
            let name = name.trim_start_matches("agon_").trim_end_matches("_total");
            vec![name.replace('_', " "), value.to_string()]
        }))
        .collect();
    out.push_str(&show::table(&rows, &[1], colour()));
    let live = found["tournaments"].as_array().cloned().unwrap_or_default();
    let live = live
        .into_iter()
        .filter(|one| matches!(one["standing"].as_str(), Some("open" | "inviting" | "running")));
    let live = Value::Array(live.collect());
    if live.as_array().is_some_and(|live| !live.is_empty()) {
        let _ =
            write!(out, "\n{}", self::rows(&live, &["id", "standing", "game", "players"], &[3]));
    }
    out
}
