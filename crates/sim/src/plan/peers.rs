//! A port for programs of another system, and the series of tournaments behind it.

use agon_bots::SplitMix64 as Rng;
use agon_core::lobby::{Announcement, Selection, Window};
use agon_core::{Preset, Raw, TournamentId};
use agon_engine::Peers;
use agon_games::Registry;
use agon_wire::peer::Language;
use agon_wire::trains::Vocabulary;
use serde_json::json;
use std::sync::Arc;

/// The prefix of its tournaments' names.
pub(crate) const SERIES: &str = "peers";

/// Draws one for this many players.
pub(super) fn draw(rng: &mut Rng, players: usize) -> Peers {
    let trains = rng.chance(60);
    let (name, language) = match trains {
        true => ("trains", Language::Trains(Vocabulary::Memo)),
        false => ("fish", Language::Fish(None)),
    };
    let preset = Preset::named(name).expect("both games have a preset");
    let config = match trains {
        true => json!({}),
        false => json!({"rows": 4, "columns": 3, "confirm": rng.chance(700)}),
    };
    let games = Registry::standard();
    let kind = games.kind(preset.game).expect("presets name existing games");
    let config = kind.check_config(&config.to_string()).expect("a small board is a board");
    let mut policy = preset.policy;
    policy.rules.time.answer_ms = rng.between(300, 3_000);
    policy.greeting = match trains {
        true => agon_core::Greeting::Ready,
        false => policy.greeting,
    };
    let window = Window {
        at_least: 2,
        at_most: if trains { 2 } else { rng.between(2, players.max(2) as u64) as u32 },
        wait_ms: rng.between(500, 3_000),
        second_wait_ms: 1_000,
        second_at_least: 2,
        repeat: true,
    };
    let series = Announcement {
        id: TournamentId::from(SERIES),
        preset: Some(preset.name.into()),
        game: preset.game.into(),
        config: Raw(config),
        policy,
        selection: Selection::SignUp(window),
        by: None,
    };
    let sign_up_ms = rng.between(500, 3_000);
    // A bot that reconnects is the same player, so no two programs may share a name.
    let (strict_names, order_ms, tls) = (true, 1_000, false);
    Peers { language, strict_names, sign_up_ms, order_ms, tls, series: Arc::new(series) }
}
