//! Plans of tournaments and matches for tests.

use agon_core::{MatchId, MatchPlan, PlayerName, Preset, Raw, TournamentPlan};
use agon_games::Registry;

pub(crate) fn name(text: &str) -> PlayerName {
    PlayerName::new(text).expect("a name")
}

pub(crate) fn names<T: AsRef<str>>(texts: &[T]) -> Vec<PlayerName> {
    texts.iter().map(|text| name(text.as_ref())).collect()
}

/// Players called `p1`, `p2` and so on.
pub(crate) fn numbered(count: usize) -> Vec<PlayerName> {
    (1..=count).map(|number| name(&format!("p{number}"))).collect()
}

/// A tournament of a preset; `config` overrides the preset's where it is not empty.
pub(crate) fn of_preset(preset: &str, config: &str, players: Vec<PlayerName>) -> TournamentPlan {
    let preset = Preset::named(preset).expect("a preset");
    let games = Registry::standard();
    let kind = games.kind(preset.game).expect("a game");
    let config = if config.is_empty() { preset.config } else { config };
    TournamentPlan {
        id: "t".into(),
        preset: Some(preset.name.into()),
        game: preset.game.into(),
        config: Raw(kind.check_config(config).expect("a configuration")),
        policy: preset.policy,
        players,
    }
}

/// The first match of such a tournament, between all its players.
pub(crate) fn match_of(plan: &TournamentPlan) -> MatchPlan {
    MatchPlan {
        tournament: plan.id.clone(),
        id: MatchId::of(1, 1),
        round: 1,
        players: plan.players.clone(),
        reason: "a test".into(),
        game: plan.game.clone(),
        config: plan.config.clone(),
        rules: plan.policy.rules.clone(),
    }
}
