//! The ports for programs of other systems: the tables `[fish]` and `[trains]` of a server's file.

use crate::exit::Misuse;
use agon_core::lobby::{Announcement, Selection, Window};
use agon_core::{Greeting, PlanError, Preset, Raw, TournamentId};
use agon_games::trains::{Config as TrainsConfig, Map, Trains};
use agon_games::{Game, Registry, SetupError};
use agon_server::{AnnounceError, Peers, check_announcement};
use agon_wire::peer::Language;
use agon_wire::{fish, trains};
use anyhow::Result;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// The longest that anything here may wait: a day.
const WAIT_MS_MAX: u64 = 24 * 3_600_000;

/// How long later sign-ups wait for a program to say its name, unless the file says otherwise.
const ORDER_MS: u64 = 1_000;

/// A port for programs of another system. It is closed unless `listen` says where it is.
#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct PeerTable {
    listen: Option<String>,
    vocabulary: Option<String>,
    strict_names: Option<bool>,
    /// A removed setting, read only to name `strict_names` in the error.
    lenient_names: Option<bool>,
    tls: Option<bool>,
    /// The name of its tournaments.
    name: Option<String>,
    preset: Option<String>,
    /// The game's configuration: what differs from the preset.
    config: Option<toml::Table>,
    /// The same from a JSON file; `config` overrides it.
    config_file: Option<PathBuf>,
    at_least: Option<u32>,
    at_most: Option<u32>,
    wait_ms: Option<u64>,
    second_wait_ms: Option<u64>,
    second_at_least: Option<u32>,
    sign_up_ms: Option<u64>,
    order_ms: Option<u64>,
    answer_ms: Option<u64>,
}

/// A port that is to be opened.
#[derive(Debug)]
pub(crate) struct Port {
    /// The system.
    pub(crate) system: &'static str,
    pub(crate) listen: String,
    pub(crate) peers: Peers,
}

/// The defaults of a system.
struct Usual {
    system: &'static str,
    window: Window,
    sign_up_ms: u64,
}

impl Port {
    /// The Fish port, if the file opens one.
    pub(super) fn fish(table: &PeerTable) -> Result<Option<Port>> {
        let language = match table.vocabulary.as_deref() {
            None | Some("auto") => Language::Fish(None),
            Some("call") => Language::Fish(Some(fish::Vocabulary::Call)),
            Some("message") => Language::Fish(Some(fish::Vocabulary::Message)),
            Some(other) => return Err(no_vocabulary("fish", other, "auto, call, message")),
        };
        let window = window(5, 10, 30_000, 5);
        port(table, language, Usual { system: "fish", window, sign_up_ms: 10_000 })
    }

    /// The Trains port, if the file opens one.
    pub(super) fn trains(table: &PeerTable) -> Result<Option<Port>> {
        let language = match table.vocabulary.as_deref() {
            None | Some("course") => Language::Trains(trains::Vocabulary::Course),
            Some("memo") => Language::Trains(trains::Vocabulary::Memo),
            Some(other) => return Err(no_vocabulary("trains", other, "course, memo")),
        };
        let window = window(5, 50, 20_000, 2);
        port(table, language, Usual { system: "trains", window, sign_up_ms: 3_000 })
    }

    /// The effective settings, in the form of the file.
    pub(crate) fn effective(&self) -> Value {
        let series = &self.peers.series;
        let Selection::SignUp(window) = &series.selection else { return Value::Null };
        let vocabulary = match self.peers.language {
            Language::Fish(None) => "auto",
            Language::Fish(Some(fish::Vocabulary::Call)) => "call",
            Language::Fish(Some(fish::Vocabulary::Message)) => "message",
            Language::Trains(trains::Vocabulary::Course) => "course",
            Language::Trains(trains::Vocabulary::Memo) => "memo",
        };
        json!({
            "listen": self.listen,
            "vocabulary": vocabulary,
            "strict_names": self.peers.strict_names,
            "tls": self.peers.tls,
            "name": series.id,
            "preset": series.preset,
            "at_least": window.at_least,
            "at_most": window.at_most,
            "wait_ms": window.wait_ms,
            "second_wait_ms": window.second_wait_ms,
            "second_at_least": window.second_at_least,
            "sign_up_ms": self.peers.sign_up_ms,
            "order_ms": self.peers.order_ms,
            "answer_ms": series.policy.rules.time.answer_ms,
        })
    }
}

fn window(at_least: u32, at_most: u32, wait_ms: u64, second_at_least: u32) -> Window {
    let second_wait_ms = wait_ms;
    Window { at_least, at_most, wait_ms, second_wait_ms, second_at_least, repeat: true }
}

fn no_vocabulary(system: &str, given: &str, known: &str) -> anyhow::Error {
    Misuse(format!("[{system}]: there is no vocabulary {given:?}; there are: {known}")).into()
}

fn port(table: &PeerTable, language: Language, usual: Usual) -> Result<Option<Port>> {
    let Usual { system, mut window, mut sign_up_ms } = usual;
    let Some(listen) = table.listen.clone() else { return Ok(None) };
    let wrong = |why: String| Misuse(format!("[{system}]: {why}"));
    if table.lenient_names.is_some() {
        let why = "lenient_names is gone, because names with digits or without quotes are accepted \
                   now; remove it, or write strict_names = true to refuse them";
        return Err(wrong(why.into()).into());
    }
    let name = super::checked_name(table.name.as_deref().unwrap_or(system))?;
    let preset = Preset::named(table.preset.as_deref().unwrap_or(system));
    let preset = preset.map_err(|error| wrong(error.to_string()))?;
    if preset.game != system {
        let why = format!(
            "preset {} is for the game {}, but this port is for \
                {system}",
            preset.name, preset.game
        );
        return Err(wrong(why).into());
    }
    let config = config(table, &preset).map_err(wrong)?;
    let mut policy = preset.policy;
    if language == Language::Trains(trains::Vocabulary::Memo) {
        // The operator supplies the map: nobody is asked for one, native players included.
        policy.greeting = Greeting::Ready;
    }
    super::set(&mut policy.rules.time.answer_ms, table.answer_ms);
    policy.check().map_err(wrong)?;
    super::set(&mut window.at_most, table.at_most);
    // A smaller at_most also lowers the default of at_least.
    window.at_least = table.at_least.unwrap_or(window.at_least.min(window.at_most));
    let second = table.second_at_least;
    window.second_at_least = second.unwrap_or(window.second_at_least.min(window.at_least));
    super::set(&mut window.wait_ms, table.wait_ms);
    super::set(&mut window.second_wait_ms, table.second_wait_ms);
    super::set(&mut sign_up_ms, table.sign_up_ms);
    window.check().map_err(wrong)?;
    let order_ms = table.order_ms.unwrap_or(ORDER_MS);
    let answer_ms = policy.rules.time.answer_ms;
    let waits = [window.wait_ms, window.second_wait_ms, sign_up_ms, order_ms, answer_ms];
    if waits.iter().any(|wait| *wait > WAIT_MS_MAX) || sign_up_ms == 0 || window.wait_ms == 0 {
        return Err(wrong(format!("every wait must be between 1 and {WAIT_MS_MAX} ms")).into());
    }
    let at_most = window.at_most;
    check_confirms(system, &config).map_err(wrong)?;
    let series = Arc::new(Announcement {
        id: TournamentId::from(name),
        preset: Some(preset.name.into()),
        game: preset.game.into(),
        config: Raw(config),
        policy,
        selection: Selection::SignUp(window),
        by: None,
    });
    check_map(&series, at_most).map_err(wrong)?;
    let games = Registry::standard();
    check_announcement(&series, &games).map_err(|error| wrong(unplayable(system, &error)))?;
    let strict_names = table.strict_names.unwrap_or(false);
    let tls = table.tls.unwrap_or(false);
    let peers = Peers { language, strict_names, sign_up_ms, order_ms, tls, series };
    Ok(Some(Port { system, listen, peers }))
}

/// Refuses a game that would begin without telling programs what they need: their colour, their
/// cards, the map. Only native players see these in every request.
fn check_confirms(system: &str, config: &agon_games::Json) -> Result<(), String> {
    let config: Value = serde_json::from_str(config.get()).unwrap_or_default();
    if config["confirm"] == false {
        let missing = match system {
            "fish" => "programs would never be told their colour",
            _ => "programs would never be sent the map and their cards",
        };
        return Err(format!(
            "config has confirm = false, and {missing}; leave confirm out of this table"
        ));
    }
    Ok(())
}

/// The error for settings that no tournament can be played with: the problem and what to do.
fn unplayable(system: &str, error: &AnnounceError) -> String {
    let next = match (error, system) {
        (AnnounceError::Plan(PlanError::SetUp(SetupError::TooSmall(_))), "fish") => {
            "; give a board with more tiles, or a smaller difficulty"
        }
        _ => "",
    };
    format!("no tournament can be played with these settings: {error}{next}")
}

/// Refuses a Trains map that cannot serve the largest game that the sign-up allows. Where programs
/// propose maps, it is the map that is played on when nobody proposes one.
fn check_map(series: &Announcement, at_most: u32) -> Result<(), String> {
    if series.game != Trains::NAME {
        return Ok(());
    }
    let config = serde_json::from_str::<TrainsConfig>(series.config.get());
    let map = config.map_err(|error| error.to_string())?.map;
    let sizes = series.policy.format.rules().game_sizes(at_most as usize);
    let seats = *sizes.end().max(sizes.start());
    if map.serves(seats) {
        return Ok(());
    }
    let (found, needed) = (map.destination_count(), Map::destinations_needed(seats));
    Err(format!(
        "the map has {found} destinations, and a game of {seats} players needs {needed}: give a \
         map on which connections join more cities, or lower at_most"
    ))
}

/// The preset's configuration, overridden by the file and then by the table.
fn config(table: &PeerTable, preset: &Preset) -> Result<agon_games::Json, String> {
    let object = |text: &str| serde_json::from_str::<serde_json::Map<String, Value>>(text);
    let mut config = object(preset.config).expect("presets are checked");
    if let Some(file) = &table.config_file {
        let shown = file.display();
        let text = std::fs::read_to_string(file).map_err(|error| format!("{shown}: {error}"))?;
        config.extend(object(&text).map_err(|error| format!("{shown}: {error}"))?);
    }
    if let Some(table) = &table.config {
        let text = serde_json::to_string(table).map_err(|error| error.to_string())?;
        config.extend(object(&text).map_err(|error| error.to_string())?);
    }
    let kind = Registry::standard().kind(preset.game).cloned();
    let kind = kind.expect("every preset names an existing game");
    kind.check_config(&Value::Object(config).to_string()).map_err(|error| error.to_string())
}
