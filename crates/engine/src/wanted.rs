//! A tournament that somebody asks for, over any wire: a preset or a game, the differences from it,
//! and the players.

use agon_core::lobby::{Announcement, Selection};
use agon_core::{PlayerName, Policy, Preset, Raw, TournamentId};
use agon_games::Registry;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The longest id of a tournament, in characters.
const ID_CHARS_MAX: usize = 60;

/// The most ratings that a policy takes from the ladder: they are written to the log.
const RATINGS_MAX: usize = 1_000;

/// The requested tournament.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    id: String,
    #[serde(default)]
    preset: Option<String>,
    #[serde(default)]
    game: Option<String>,
    /// The fields of the game's configuration that differ from the preset, or from the game.
    #[serde(default)]
    config: Option<serde_json::Map<String, Value>>,
    /// The fields of the policy that differ from the preset; all of them without one.
    #[serde(default)]
    policy: Option<Value>,
    selection: Selection,
    /// House players who sign up at once, where players sign up.
    #[serde(default)]
    house_players: Vec<PlayerName>,
}

impl Wanted {
    /// Returns whether it is by invitation.
    pub(crate) fn invites(&self) -> bool {
        matches!(self.selection, Selection::Invitation(_))
    }

    /// Takes the house players who sign up at once.
    pub(crate) fn take_house_players(&mut self) -> Result<Vec<PlayerName>, String> {
        let all = std::mem::take(&mut self.house_players);
        if let Some(other) = all.iter().find(|player| player.house().is_none()) {
            return Err(format!("{other} is no house player; let them sign up themselves"));
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = all.iter().find(|player| !seen.insert(*player)) {
            return Err(format!("{twice} is named twice; name every house player once"));
        }
        match &self.selection {
            Selection::SignUp(window) if all.len() > window.at_most as usize => Err(format!(
                "{} house players do not fit into a tournament of at most {}; raise the maximum, \
                 or choose fewer house players",
                all.len(),
                window.at_most
            )),
            Selection::SignUp(_) => Ok(all),
            _ if all.is_empty() => Ok(all),
            _ => Err("house players can sign up only where players sign up; name them among the \
                      players"
                .into()),
        }
    }

    /// The game whose ladder gives the ratings: the tournament is seeded or paired by rating, and the
    /// request gives no ratings. `None` if no ratings are needed.
    pub fn rated_game(&self) -> Option<String> {
        let preset = self.preset.as_deref().and_then(|name| Preset::named(name).ok());
        let mut policy = preset.as_ref().map_or(json!({}), |preset| json!(preset.policy));
        merge(&mut policy, self.policy.clone().unwrap_or(json!({})));
        let is_by_rating = policy["pairing"] == "rating" || policy["format"]["kind"] == "arena";
        let is_given = policy["ratings"].as_object().is_some_and(|given| !given.is_empty());
        let game = self.game.clone().or_else(|| Some(preset?.game.to_owned()));
        game.filter(|_| is_by_rating && !is_given)
    }

    /// Sets the ratings of the policy: those of the named players, or of everybody who may come.
    pub fn set_ratings(&mut self, ratings: impl IntoIterator<Item = (PlayerName, i64)>) {
        let plays = |player: &PlayerName| match &self.selection {
            Selection::Named { players } => players.contains(player),
            _ => true,
        };
        let ratings = ratings.into_iter().filter(|(player, _)| plays(player)).take(RATINGS_MAX);
        let ratings: BTreeMap<PlayerName, i64> = ratings.collect();
        if !ratings.is_empty() {
            self.policy.get_or_insert_with(|| json!({}))["ratings"] = json!(ratings);
        }
    }

    /// Builds the announcement; all errors in the request are reported here.
    pub fn announcement(self, games: &Registry, by: PlayerName) -> Result<Announcement, String> {
        check_id(&self.id)?;
        let preset = self.preset.as_deref().map(Preset::named).transpose();
        let preset = preset.map_err(|unknown| unknown.to_string())?;
        let game = match (&preset, self.game) {
            (Some(preset), Some(game)) if game != preset.game => {
                return Err(format!(
                    "the preset {} is for {}; choose another preset or another game",
                    preset.name, preset.game
                ));
            }
            (Some(preset), _) => preset.game.to_owned(),
            (None, Some(game)) => game,
            (None, None) => {
                return Err("the request names neither a preset nor a game; choose one".into());
            }
        };
        let kind = games.kind(&game).ok_or_else(|| {
            let known = games.names().join(", ");
            format!("there is no game {game:?}; there are: {known}")
        })?;
        let mut config: Value = preset.as_ref().map_or(json!({}), |preset| {
            serde_json::from_str(preset.config).expect("presets have configurations that are JSON")
        });
        merge(&mut config, Value::Object(self.config.unwrap_or_default()));
        let config = kind
            .check_config(&config.to_string())
            .map_err(|error| without_place(&error.to_string()))?;
        let mut policy = preset.as_ref().map_or(json!({}), |preset| json!(preset.policy));
        merge(&mut policy, self.policy.unwrap_or(json!({})));
        let policy: Policy = serde_json::from_value(policy)
            .map_err(|error| format!("the policy cannot be read: {error}; correct it"))?;
        policy.check()?;
        Ok(Announcement {
            id: TournamentId::from(self.id),
            preset: preset.map(|preset| preset.name.to_owned()),
            game,
            config: Raw(config),
            policy,
            selection: self.selection,
            by: Some(by),
        })
    }
}

/// An error without the place in the text that a parser read. The server has put that text
/// together, and nobody else has seen it.
fn without_place(error: &str) -> String {
    let digits = |text: &str| text.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
    let cut = error.split_once(" at line ").and_then(|(before, after)| {
        let after = digits(digits(after).strip_prefix(" column ")?);
        Some(format!("{before}{after}"))
    });
    cut.unwrap_or_else(|| error.to_owned())
}

/// Checks an id: it becomes part of stream names and URLs.
fn check_id(id: &str) -> Result<(), String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let fits = (1..=ID_CHARS_MAX).contains(&id.len()) && !id.starts_with('-');
    match fits && id.bytes().all(plain) {
        true => Ok(()),
        false => Err(format!(
            "{id:?} is not a tournament's name; use small letters, digits and hyphens, at most \
             {ID_CHARS_MAX}, and begin with a letter or a digit"
        )),
    }
}

/// Merges objects field by field; objects of another `kind` are replaced.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from))
            if from.get("kind").is_none_or(|kind| into.get("kind") == Some(kind)) =>
        {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}
