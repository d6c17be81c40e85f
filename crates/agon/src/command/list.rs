//! `agon list`: games, presets, formats and house players.

use crate::exit::Exit;
use agon_bots::Houses;
use agon_core::{Format, Preset, TieBreak};
use agon_games::Registry;
use anyhow::Result;
use std::fmt::Write;

pub(crate) fn list(json: bool) -> Result<Exit> {
    let text = if json { as_json() } else { as_text() };
    crate::command::print(&text)?;
    Ok(Exit::Success)
}

fn as_json() -> String {
    let (games, houses) = (Registry::standard(), Houses::standard());
    let listed = games.names().into_iter().map(|name| {
        let kind = games.kind(name).expect("a name from the list");
        let players = houses.list(name);
        let players: Vec<_> = players
            .iter()
            .map(|(name, about)| serde_json::json!({"name": format!("house:{name}"), "about": about}))
            .collect();
        serde_json::json!({
            "name": name,
            "players_min": kind.seats().start(),
            "players_max": kind.seats().end(),
            "config": kind.default_config(),
            "house_players": players,
        })
    });
    let presets = Preset::all().into_iter().map(|preset| {
        serde_json::json!({
            "name": preset.name,
            "game": preset.game,
            "about": preset.about,
            "policy": preset.policy,
        })
    });
    let formats = Format::all(&(2..=2)).into_iter().map(|format| {
        serde_json::json!({
            "name": format.name(),
            "about": format.rules().about(),
            "options": format.options(),
        })
    });
    let all = serde_json::json!({
        "games": listed.collect::<Vec<_>>(),
        "formats": formats.collect::<Vec<_>>(),
        "tie_breaks": TieBreak::ALL,
        "presets": presets.collect::<Vec<_>>(),
    });
    format!("{all:#}\n")
}

fn as_text() -> String {
    let (games, houses) = (Registry::standard(), Houses::standard());
    let mut out = String::from("Presets (agon run --preset NAME)\n");
    for preset in Preset::all() {
        let _ = writeln!(out, "  {:<16} {}", preset.name, preset.about);
    }
    out.push_str("\nFormats (agon run --format NAME, or NAME:OPTION=VALUE,…; docs/formats.md)\n");
    for format in Format::all(&(2..=2)) {
        let _ = writeln!(out, "  {:<20} {}", format.name(), format.rules().about());
        if !format.options().is_empty() {
            let _ = writeln!(out, "  {:<20} options: {}", "", format.options().join(", "));
        }
    }
    let tie_breaks = TieBreak::ALL.map(TieBreak::name).join(", ");
    let _ = writeln!(out, "\nTie-breaks (tie_breaks=ONE+ANOTHER)\n  {tie_breaks}");
    for name in games.names() {
        let seats = games.kind(name).expect("a name from the list").seats();
        let count = match seats.start() == seats.end() {
            true => format!("{} players", seats.start()),
            false => format!("{} to {} players", seats.start(), seats.end()),
        };
        let _ = writeln!(out, "\n{name}, {count} (agon run --game {name})");
        for (player, about) in houses.list(name) {
            let _ = writeln!(out, "  house:{player:<12} {about}");
        }
    }
    out
}
