//! The settings of a run: flags override a TOML file, which overrides a preset. `serve` has the
//! settings of a server.

pub(crate) mod erlang;
pub(crate) mod layers;
pub(crate) mod peers;
pub(crate) mod serve;
pub(crate) mod settings;

use crate::args::{PairingArg, RunArgs};
use crate::command::read_named_ratings;
use crate::exit::Misuse;
use agon_core::{
    AgeOrder, Bracket, CheatCost, CrashCost, Decimal, Farewell, Format, Greeting, MatchRules,
    Pairing, PlayerName, Policy, Preset, Raw, SprtRule, Ties, TimeLimits, TournamentId,
    TournamentPlan, UntilSure,
};
use agon_games::{GameKind, Registry};
use agon_runner::{PlayerSpec, RunSettings, SandboxSettings, name_players};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A TOML file with the settings of a run.
#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunFile {
    preset: Option<String>,
    game: Option<String>,
    name: Option<String>,
    players: Option<Vec<String>>,
    format: Option<String>,
    pairing: Option<PairingArg>,
    best_of: Option<u32>,
    slots: Option<u32>,
    /// The ratings of players, by name.
    ratings: Option<BTreeMap<PlayerName, i64>>,
    concurrency: Option<usize>,
    seed: Option<u64>,
    out: Option<PathBuf>,
    /// The game's configuration.
    config: Option<toml::Table>,
    #[serde(default)]
    limits: Limits,
    crash: Option<CrashCost>,
    cheat: Option<CheatCost>,
    ties: Option<Ties>,
    rotate_seats: Option<bool>,
    duplicate: Option<bool>,
    sprt: Option<SprtSettings>,
}

/// The settings of a sequential test; all have defaults.
#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields)]
struct SprtSettings {
    elo0: Option<f64>,
    elo1: Option<f64>,
    alpha: Option<f64>,
    beta: Option<f64>,
    pairs: Option<u32>,
    model: Option<String>,
}

impl SprtSettings {
    /// Reads `KEY=VALUE` settings from the command line.
    fn read(settings: &[String]) -> Result<SprtSettings> {
        let mut text = String::new();
        for setting in settings {
            let (key, value) = setting.split_once('=').ok_or_else(|| {
                Misuse(format!("--sprt takes KEY=VALUE settings, such as elo1=10, not {setting:?}"))
            })?;
            // TOML has no `.05`.
            let value = if value.starts_with('.') { format!("0{value}") } else { value.into() };
            let is_number = value.parse::<f64>().is_ok();
            let value = if is_number { value } else { format!("{value:?}") };
            text.push_str(&format!("{key} = {value}\n"));
        }
        toml::from_str(&text).map_err(|error| Misuse(format!("--sprt: {}", error.message())).into())
    }

    fn rule(&self) -> Result<SprtRule> {
        let number = |value: Option<f64>, default: f64| {
            Decimal::try_from(value.unwrap_or(default)).map_err(Misuse)
        };
        let normalised = match self.model.as_deref() {
            None | Some("logistic") => false,
            Some("normalised" | "normalized") => true,
            Some(other) => {
                let why = format!("the model of a test is logistic or normalised, not {other:?}");
                return Err(Misuse(why).into());
            }
        };
        Ok(SprtRule {
            elo0: number(self.elo0, 0.0)?,
            elo1: number(self.elo1, 10.0)?,
            alpha: number(self.alpha, 0.05)?,
            beta: number(self.beta, 0.05)?,
            normalised,
            pairs_max: self.pairs.unwrap_or(20_000),
        })
    }
}

#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields)]
struct Limits {
    answer_ms: Option<u64>,
    bank_ms: Option<u64>,
    wait_ms: Option<u64>,
    hello_ms: Option<u64>,
    lapses_max: Option<u32>,
}

impl RunFile {
    /// Reads a file; a missing path is an empty file.
    pub(crate) fn read(path: Option<&Path>) -> Result<RunFile> {
        read_toml(path)
    }
}

/// Reads a TOML file; a missing path is an empty file.
fn read_toml<T: serde::de::DeserializeOwned + Default>(path: Option<&Path>) -> Result<T> {
    let Some(path) = path else { return Ok(T::default()) };
    let unread = |error| Misuse(format!("failed to read {}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(unread)?;
    parse_toml(&text, path)
}

fn parse_toml<T: serde::de::DeserializeOwned>(text: &str, path: &Path) -> Result<T> {
    toml::from_str(text).map_err(|error| {
        let (file, error) = (path.display(), error.to_string());
        Misuse(format!("invalid settings in {file}: {}", error.trim_end())).into()
    })
}

/// Checks a settings file of `agon run` without any flags; an error says what is wrong.
pub fn check_run_file(text: &str) -> Result<(), String> {
    let read = || {
        let file = parse_toml(text, Path::new("run.toml"))?;
        let args = RunArgs { out: Some("out".into()), ..RunArgs::default() };
        new_run(&args, file, &agon_analysis::registry()).map(|_| ())
    };
    read().map_err(|error| format!("{error:#}"))
}

/// Checks an `agon.toml` without flags and variables; an error says what is wrong. It does not open
/// the files that the text names.
pub fn check_serve_file(text: &str) -> Result<(), String> {
    serve::check(text).map_err(|error| format!("{error:#}"))
}

/// Everything a new run needs.
#[derive(Debug)]
pub(crate) struct NewRun {
    pub(crate) settings: RunSettings,
    pub(crate) seed: Option<u64>,
    pub(crate) out: PathBuf,
}

/// Combines flags, file and preset.
pub(crate) fn new_run(args: &RunArgs, file: RunFile, games: &Registry) -> Result<NewRun> {
    let preset = args.preset.clone().or(file.preset.clone());
    let preset = match preset {
        Some(name) => Some(Preset::named(&name).map_err(|error| Misuse(error.to_string()))?),
        None => None,
    };
    let game = args.game.clone().or(file.game.clone());
    let game = match (game, &preset) {
        (Some(game), Some(preset)) if game != preset.game => {
            let why = format!("preset {} is for {}, not {game}", preset.name, preset.game);
            return Err(Misuse(why).into());
        }
        (Some(game), _) => game,
        (None, Some(preset)) => preset.game.to_owned(),
        (None, None) => {
            let presets = Preset::NAMES.join(", ");
            return Err(
                Misuse(format!("give --preset ({presets}) or --game; see `agon list`")).into()
            );
        }
    };
    let known = || format!("there is no game {game:?}; there are: {}", games.names().join(", "));
    let kind = games.kind(&game).ok_or_else(|| Misuse(known()))?;
    let policy = policy(args, &file, preset.as_ref(), &**kind)?;
    let config = game_config(args, &file, preset.as_ref(), &**kind)?;
    let players = players(args, &file)?;
    let name = args.name.clone().or(file.name.clone());
    let name = name.unwrap_or_else(|| preset.as_ref().map_or(game.clone(), |p| p.name.into()));
    let name = checked_name(&name)?;
    let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get());
    let concurrency = args.concurrency.or(file.concurrency).unwrap_or(cores);
    if !(1..=1024).contains(&concurrency) {
        return Err(Misuse(format!("--concurrency is 1 to 1024, not {concurrency}")).into());
    }
    let out = args.out.clone().or(file.out.clone()).map_or_else(|| free_folder(&name), Ok)?;
    let plan = TournamentPlan {
        id: TournamentId::from(name),
        preset: preset.as_ref().map(|preset| preset.name.to_owned()),
        game,
        config,
        policy,
        players: players.iter().map(|player| player.name.clone()).collect(),
    };
    let hello_ms = args.hello_ms.or(file.limits.hello_ms).unwrap_or(10_000);
    let sandbox = SandboxSettings { ponder: args.ponder, ..SandboxSettings::default() };
    let sandbox = args.sandbox.over(sandbox);
    let seed = args.seed.or(file.seed);
    let head_in_results = seed.is_none();
    let settings =
        RunSettings { version: 1, plan, players, concurrency, hello_ms, sandbox, head_in_results };
    Ok(NewRun { settings, seed, out })
}

fn players(args: &RunArgs, file: &RunFile) -> Result<Vec<PlayerSpec>> {
    let specs = match (&args.player[..], &file.players) {
        ([], Some(players)) => players.clone(),
        (given, _) => given.to_vec(),
    };
    if specs.is_empty() {
        let why =
            "give players with --player SPEC…, for example --player house:greedy house:random";
        return Err(Misuse(why.into()).into());
    }
    Ok(name_players(&specs)?)
}

fn policy(
    args: &RunArgs,
    file: &RunFile,
    preset: Option<&Preset>,
    kind: &dyn GameKind,
) -> Result<Policy> {
    let mut policy = preset.map_or_else(plain_policy, |preset| preset.policy.clone());
    if let Some(name) = args.format.as_ref().or(file.format.as_ref()) {
        let seats = kind.seats();
        let format = Format::read(name, &seats).map_err(Misuse)?;
        format.rules().adapt(&mut policy.rules);
        policy.format = format;
    }
    if let Some(confidence) = args.until_sure {
        policy.format =
            UntilSure { confidence, places: 3, matches_max: 1_000, pairs: false }.into();
        (policy.rules.duplicate, policy.rules.ties) = (true, Ties::Share);
    }
    if let Some(slots) = args.slots.or(file.slots) {
        policy.format = policy.format.with_options(&format!("slots={slots}")).map_err(Misuse)?;
    }
    if let Some(pairing) = args.pairing.or(file.pairing) {
        policy.pairing = pairing.policy();
    }
    policy.ratings.extend(file.ratings.clone().unwrap_or_default());
    if let Some(path) = &args.ratings {
        policy.ratings.extend(read_named_ratings(path)?);
    }
    let rules = &mut policy.rules;
    let limits = &file.limits;
    set(&mut rules.best_of, args.best_of.or(file.best_of));
    set(&mut rules.time.answer_ms, args.answer_ms.or(limits.answer_ms));
    set(&mut rules.time.bank_ms, args.bank_ms.or(limits.bank_ms));
    set(&mut rules.time.wait_ms, args.wait_ms.or(limits.wait_ms));
    set(&mut rules.lapses_max, limits.lapses_max);
    set(&mut rules.crash, file.crash);
    set(&mut rules.cheat, file.cheat);
    set(&mut rules.ties, file.ties);
    set(&mut rules.rotate_seats, file.rotate_seats);
    set(&mut rules.duplicate, file.duplicate);
    rules.duplicate |= args.duplicate;
    let sprt = args.sprt.as_ref().map(|settings| SprtSettings::read(settings)).transpose()?;
    if let Some(sprt) = sprt.as_ref().or(file.sprt.as_ref()) {
        rules.duplicate = true;
        rules.sprt = Some(sprt.rule()?);
    }
    policy.check().map_err(Misuse)?;
    Ok(policy)
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// The policy of a game without a preset: a bracket in which a crash costs the game.
fn plain_policy() -> Policy {
    Policy {
        format: Bracket::default().into(),
        pairing: Pairing::Seeded,
        greeting: Greeting::None,
        farewell: Farewell::None,
        rules: MatchRules {
            best_of: 1,
            ties: Ties::Replay,
            crash: CrashCost::ForfeitGame,
            cheat: CheatCost::AsCrash,
            lapses_max: 3,
            rotate_seats: true,
            duplicate: false,
            sprt: None,
            measure_luck: false,
            confirm_result: false,
            time: TimeLimits { answer_ms: 10_000, bank_ms: 0, wait_ms: 60_000, house_pace_ms: 0 },
        },
        age_order: AgeOrder::Ignored,
        observer_delay_ms: 0,
        ratings: BTreeMap::new(),
        unrated: false,
    }
}

/// The game's defaults, overridden in turn by the preset, the file and the flag.
fn game_config(
    args: &RunArgs,
    file: &RunFile,
    preset: Option<&Preset>,
    kind: &dyn GameKind,
) -> Result<Raw> {
    let mut config = serde_json::Map::new();
    let object = |text: &str, what: &str| {
        serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text)
            .map_err(|error| Misuse(format!("{what} is not a JSON object: {error}")))
    };
    if let Some(preset) = preset {
        config.extend(object(preset.config, "the preset's configuration")?);
    }
    if let Some(table) = &file.config {
        let table = serde_json::to_string(table).context("failed to read [config]")?;
        config.extend(object(&table, "[config]")?);
    }
    if let Some(text) = &args.game_config {
        config.extend(object(text, "--game-config")?);
    }
    let text = serde_json::Value::Object(config).to_string();
    let checked = kind.check_config(&text).map_err(|error| Misuse(error.to_string()))?;
    Ok(Raw(checked))
}

/// Checks a tournament's name, which becomes part of file and stream names.
fn checked_name(name: &str) -> Result<String> {
    let fits =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if name.is_empty() || name.len() > 60 || !name.chars().all(fits) || name.starts_with('-') {
        let why = format!(
            "{name:?} is not a valid tournament name; use up to 60 of a-z, 0-9 and \
            -"
        );
        return Err(Misuse(why).into());
    }
    Ok(name.to_owned())
}

/// A name for a new folder in the current one.
fn free_folder(name: &str) -> Result<PathBuf> {
    let taken = |path: &PathBuf| path.exists();
    let paths = (1..10_000).map(|number| match number {
        1 => PathBuf::from(format!("{name}-run")),
        _ => PathBuf::from(format!("{name}-run-{number}")),
    });
    let free = paths.into_iter().find(|path| !taken(path));
    free.context("failed to find a free folder name; give one with --out")
}
