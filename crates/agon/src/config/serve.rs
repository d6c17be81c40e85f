//! The settings of a server: flags override environment variables, which override a TOML file.

use super::erlang::{Erlang, ErlangTable};
use super::layers::Layers;
use super::peers::{PeerTable, Port};
use crate::args::{LogFormat, ServeArgs};
use crate::diagnostics;
use crate::exit::Misuse;
use agon_bots::Houses;
use agon_core::lobby::{Announcement, Selection};
use agon_core::{LOG_VERSION, PlayerName, Policy, Preset, Raw, TournamentId};
use agon_games::Registry;
use agon_server::{BusAddress, EngineRole, Limits, SecondLogin, Settings};
use agon_store::{PostgresLog, without_password};
use anyhow::Result;
use serde::Deserialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The default address for players: on this machine only.
const TCP: &str = "127.0.0.1:7300";

/// The default address of the HTTP interface: on this machine only.
const HTTP: &str = "127.0.0.1:7380";

/// The most engine threads of a server.
const ENGINE_THREADS_MAX: u16 = 64;

/// A TOML file with the settings of a server.
#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields)]
struct ServeFile {
    data: Option<PathBuf>,
    store: Option<String>,
    bus: Option<String>,
    tcp: Option<String>,
    http: Option<String>,
    hosts: Option<Vec<String>>,
    token_ms: Option<u64>,
    reconnect_ms: Option<u64>,
    players_may_invite: Option<bool>,
    guests: Option<bool>,
    second_login: Option<SecondLogin>,
    observer_delay_ms: Option<u64>,
    engine_threads: Option<u16>,
    log_version: Option<u32>,
    seed: Option<u64>,
    operator_token_file: Option<PathBuf>,
    log: Option<String>,
    log_format: Option<LogFormat>,
    #[serde(default)]
    tls: TlsTable,
    erlang: Option<ErlangTable>,
    #[serde(default)]
    limits: LimitsTable,
    #[serde(default)]
    fish: PeerTable,
    #[serde(default)]
    trains: PeerTable,
    #[serde(default)]
    tournament: Vec<TournamentTable>,
}

#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields)]
struct LimitsTable {
    connections_max: Option<usize>,
    connections_per_address_max: Option<usize>,
    outbox_lines_max: Option<usize>,
    inbox_lines_max: Option<usize>,
    line_bytes_max: Option<usize>,
    lines_per_second_max: Option<u32>,
    lines_burst_max: Option<u32>,
    write_ms_max: Option<u64>,
    login_ms_max: Option<u64>,
    heartbeat_ms: Option<u64>,
    silence_ms_max: Option<u64>,
    http_requests_max: Option<usize>,
    http_requests_per_address_max: Option<usize>,
    http_bodies_per_address_max: Option<usize>,
    http_body_ms_max: Option<u64>,
    watchers_per_address_max: Option<usize>,
    password_checks_per_address_max: Option<usize>,
    sign_ups_per_minute_max: Option<u32>,
    guests_per_minute_max: Option<u32>,
}

#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields)]
struct TlsTable {
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct TournamentTable {
    name: String,
    preset: String,
    /// How many players to take from the front of the line.
    players: Option<u32>,
    /// Exactly these players; house players are allowed.
    named: Option<Vec<String>>,
    best_of: Option<u32>,
    answer_ms: Option<u64>,
    bank_ms: Option<u64>,
    wait_ms: Option<u64>,
    /// How long house players wait before each answer.
    pace_ms: Option<u64>,
    #[serde(default)]
    start: Start,
}

/// When a tournament of the file starts.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
#[serde(rename_all = "kebab-case")]
enum Start {
    /// As soon as all of its players are connected.
    #[default]
    WhenReady,
}

/// Everything a server needs.
#[derive(Debug)]
pub(crate) struct Serve {
    pub(crate) data: PathBuf,
    /// The database of the log, instead of the folder.
    pub(crate) store: Option<String>,
    /// The bus over which nodes share the work, with the address as it was given.
    pub(crate) bus: Option<(BusAddress, String)>,
    pub(crate) tcp: String,
    pub(crate) http: String,
    /// Names by which browsers reach the server.
    pub(crate) hosts: Vec<String>,
    pub(crate) settings: Settings,
    pub(crate) limits: Limits,
    /// The file for a new operator token, instead of stdout.
    pub(crate) operator_token_file: Option<PathBuf>,
    /// How much to log on stderr.
    pub(crate) log: String,
    pub(crate) log_format: LogFormat,
    /// The server's Erlang node, if it has one.
    pub(crate) erlang: Option<Erlang>,
    /// The files of a certificate and its key.
    pub(crate) tls: Option<(PathBuf, PathBuf)>,
    /// Ports for programs of other systems.
    pub(crate) ports: Vec<Port>,
    /// Tournaments that wait for their players.
    pub(crate) tournaments: Vec<Announcement>,
    /// The source of each setting.
    pub(crate) layers: Layers,
}

impl Serve {
    /// Combines flags, variables and file.
    pub(crate) fn read(args: &ServeArgs) -> Result<Serve> {
        // Parsed here as well, because these errors name the line in the file.
        let _: ServeFile = super::read_toml(args.config.as_deref())?;
        let mut file = super::read_toml(args.config.as_deref())?;
        if let Some(folder) = args.config.as_deref().and_then(Path::parent) {
            resolve_paths(&mut file, folder);
        }
        let serve = Serve::over(file, std::env::vars_os(), args)?;
        let is_alone = serve.settings.role == EngineRole::ALONE;
        if serve.bus.is_some() && serve.store.is_none() {
            let why = "bus: nodes share work only over a database; give --store as well";
            return Err(Misuse(why.into()).into());
        }
        if serve.bus.is_some() && !is_alone {
            let why = "engine_threads: a node with a bus shares its tournaments with other nodes, \
                       and plays on one thread; leave engine_threads out, or the bus";
            return Err(Misuse(why.into()).into());
        }
        Ok(serve)
    }

    /// Like `read`, with the text of the file and the variables given.
    pub(super) fn over(
        file: toml::Table,
        variables: impl Iterator<Item = (OsString, OsString)>,
        args: &ServeArgs,
    ) -> Result<Serve> {
        let mut layers = Layers::over(file);
        layers.take_variables(variables, fits)?;
        Serve::of(layers, args)
    }

    fn of(mut layers: Layers, args: &ServeArgs) -> Result<Serve> {
        let file = layers.table.clone().try_into::<ServeFile>();
        let file = file.map_err(|error| Misuse(error.to_string()))?;
        note_flags(&mut layers, args);
        let mut settings = Settings::default();
        super::set(&mut settings.token_ms, file.token_ms);
        super::set(&mut settings.reconnect_ms, file.reconnect_ms);
        super::set(&mut settings.players_may_invite, file.players_may_invite);
        super::set(&mut settings.guests, file.guests);
        settings.seed = args.seed.or(file.seed);
        settings.role = role(args.engine_threads.or(file.engine_threads).unwrap_or(1))?;
        super::set(&mut settings.log_version, args.log_version.or(file.log_version));
        if !(1..=LOG_VERSION).contains(&settings.log_version) {
            return Err(Misuse(format!("log_version must be 1 to {LOG_VERSION}")).into());
        }
        super::set(&mut settings.second_login, file.second_login);
        super::set(&mut settings.observer_delay_ms, file.observer_delay_ms);
        if settings.observer_delay_ms > Policy::OBSERVER_DELAY_MS_MAX {
            let most = Policy::OBSERVER_DELAY_MS_MAX;
            return Err(Misuse(format!("observer_delay_ms must be at most {most}")).into());
        }
        let data = args.data.clone().or(file.data);
        let log = args.log.clone().or(file.log).unwrap_or_else(|| diagnostics::LEVEL.into());
        diagnostics::parse(&log)?;
        let tls = tls(args, file.tls)?;
        let limits = limits(&file.limits)?;
        let store = store(args.store.clone().or(file.store))?;
        let bus = bus(args.bus.clone().or(file.bus))?;
        Ok(Serve {
            data: data.unwrap_or_else(|| Path::new("agon-data").to_owned()),
            store,
            bus,
            tcp: args.tcp.clone().or(file.tcp).unwrap_or_else(|| TCP.into()),
            http: args.http.clone().or(file.http).unwrap_or_else(|| HTTP.into()),
            hosts: file.hosts.unwrap_or_default(),
            settings,
            limits,
            operator_token_file: args.operator_token_file.clone().or(file.operator_token_file),
            log,
            log_format: args.log_format.or(file.log_format).unwrap_or_default(),
            erlang: file.erlang.map(Erlang::read).transpose()?,
            ports: ports(&file.fish, &file.trains, tls.is_some())?,
            tls,
            tournaments: announcements(&file.tournament)?,
            layers,
        })
    }

    /// Returns whether a setting was given, and is not a default.
    pub(crate) fn is_chosen(&self, path: &str) -> bool {
        self.layers.source(path).is_some()
    }

    /// All settings, as the file has them.
    pub(crate) fn effective(&self) -> serde_json::Value {
        let tls =
            self.tls.as_ref().map(|(cert, key)| serde_json::json!({"cert": cert, "key": key}));
        let tournaments = self.tournaments.iter().map(|announcement| {
            serde_json::json!({
                "name": announcement.id,
                "preset": announcement.preset,
                "best_of": announcement.policy.rules.best_of,
                "selection": announcement.selection,
            })
        });
        let mut all = serde_json::json!({
            "data": self.data,
            "store": self.store.as_deref().map(without_password),
            "bus": self.bus.as_ref().map(|(_, url)| without_password(url)),
            "tcp": self.tcp,
            "http": self.http,
            "hosts": self.hosts,
            "token_ms": self.settings.token_ms,
            "reconnect_ms": self.settings.reconnect_ms,
            "second_login": self.settings.second_login,
            "players_may_invite": self.settings.players_may_invite,
            "guests": self.settings.guests,
            "observer_delay_ms": self.settings.observer_delay_ms,
            "engine_threads": match self.settings.role {
                EngineRole::Lobby { cell_engines } => cell_engines + 1,
                EngineRole::LobbyOfNodes { .. } | EngineRole::Cells => 1,
            },
            "log_version": self.settings.log_version,
            "seed": self.settings.seed,
            "operator_token_file": self.operator_token_file,
            "log": self.log,
            "log_format": self.log_format,
            "tls": tls,
            "erlang": self.erlang.as_ref().map(Erlang::shown),
            "limits": self.limits,
            "tournament": tournaments.collect::<Vec<_>>(),
        });
        self.ports.iter().for_each(|port| all[port.system] = port.effective());
        all
    }
}

/// Settings that name files relative to the settings file.
const RELATIVE_FILES: [(&str, &str); 3] =
    [("fish", "config_file"), ("trains", "config_file"), ("erlang", "cookie_file")];

/// Resolves relative paths in a settings file against its folder.
fn resolve_paths(file: &mut toml::Table, folder: &Path) {
    for (table, field) in RELATIVE_FILES {
        let table = file.get_mut(table).and_then(toml::Value::as_table_mut);
        if let Some(toml::Value::String(path)) = table.and_then(|table| table.get_mut(field)) {
            *path = folder.join(&*path).to_string_lossy().into_owned();
        }
    }
}

/// Checks the text of a server's settings file: see [`super::check_serve_file`].
pub(super) fn check(text: &str) -> Result<()> {
    let path = Path::new("agon.toml");
    let _: ServeFile = super::parse_toml(text, path)?;
    let mut table: toml::Table = super::parse_toml(text, path)?;
    if let Some(toml::Value::Table(erlang)) = table.get_mut("erlang")
        && erlang.remove("cookie_file").is_some()
    {
        erlang.entry("cookie").or_insert_with(|| "from-a-file".into());
    }
    let serve = Serve::of(Layers::over(table), &ServeArgs::default())?;
    serve.layers.describe(&serve.effective());
    Ok(())
}

/// Checks one setting by itself.
fn fits(table: toml::Table) -> Result<(), String> {
    let file = table.try_into::<ServeFile>().map_err(|error| error.message().to_owned())?;
    check_counts(&given(&file.limits)).map_err(|misuse| misuse.0)?;
    file.log.map_or(Ok(()), |level| match diagnostics::parse(&level) {
        Ok(_) => Ok(()),
        Err(misuse) => Err(misuse.0),
    })
}

fn ports(fish: &PeerTable, trains: &PeerTable, certificate: bool) -> Result<Vec<Port>> {
    let ports: Vec<Port> =
        [Port::fish(fish)?, Port::trains(trains)?].into_iter().flatten().collect();
    if let Some(port) = ports.iter().find(|port| port.peers.tls && !certificate) {
        let why =
            "tls = true needs a certificate; name one in [tls], or with --tls-cert and --tls-key";
        return Err(Misuse(format!("[{}]: {why}", port.system)).into());
    }
    Ok(ports)
}

/// Records which settings come from flags.
fn note_flags(layers: &mut Layers, args: &ServeArgs) {
    let given = [
        ("data", args.data.is_some()),
        ("store", args.store.is_some()),
        ("bus", args.bus.is_some()),
        ("tcp", args.tcp.is_some()),
        ("http", args.http.is_some()),
        ("tls.cert", args.tls_cert.is_some()),
        ("tls.key", args.tls_key.is_some()),
        ("engine_threads", args.engine_threads.is_some()),
        ("log_version", args.log_version.is_some()),
        ("seed", args.seed.is_some()),
        ("operator_token_file", args.operator_token_file.is_some()),
        ("log", args.log.is_some()),
        ("log_format", args.log_format.is_some()),
    ];
    given.into_iter().for_each(|(path, given)| layers.flag(path, given));
}

fn announcements(tables: &[TournamentTable]) -> Result<Vec<Announcement>> {
    let mut all: Vec<Announcement> = Vec::new();
    for table in tables {
        let announcement = announcement(table)?;
        if all.iter().any(|other| other.id == announcement.id) {
            let why = format!("there are two tournaments {:?}; rename one", table.name);
            return Err(Misuse(why).into());
        }
        all.push(announcement);
    }
    Ok(all)
}

fn limits(table: &LimitsTable) -> Result<Limits> {
    let limits = given(table);
    check_counts(&limits)?;
    if limits.heartbeat_ms == 0 || limits.silence_ms_max <= limits.heartbeat_ms {
        let why = "[limits]: heartbeat_ms must be at least 1, and silence_ms_max must be larger";
        return Err(Misuse(why.into()).into());
    }
    Ok(limits)
}

/// The defaults, overridden by the table.
fn given(table: &LimitsTable) -> Limits {
    let mut limits = Limits::default();
    super::set(&mut limits.connections_max, table.connections_max);
    super::set(&mut limits.connections_per_address_max, table.connections_per_address_max);
    super::set(&mut limits.outbox_lines_max, table.outbox_lines_max);
    super::set(&mut limits.inbox_lines_max, table.inbox_lines_max);
    super::set(&mut limits.line_bytes_max, table.line_bytes_max);
    super::set(&mut limits.write_ms_max, table.write_ms_max);
    super::set(&mut limits.login_ms_max, table.login_ms_max);
    super::set(&mut limits.lines_per_second_max, table.lines_per_second_max);
    super::set(&mut limits.lines_burst_max, table.lines_burst_max);
    super::set(&mut limits.heartbeat_ms, table.heartbeat_ms);
    super::set(&mut limits.silence_ms_max, table.silence_ms_max);
    super::set(&mut limits.http_requests_max, table.http_requests_max);
    super::set(&mut limits.http_requests_per_address_max, table.http_requests_per_address_max);
    super::set(&mut limits.http_bodies_per_address_max, table.http_bodies_per_address_max);
    super::set(&mut limits.http_body_ms_max, table.http_body_ms_max);
    super::set(&mut limits.watchers_per_address_max, table.watchers_per_address_max);
    super::set(&mut limits.password_checks_per_address_max, table.password_checks_per_address_max);
    super::set(&mut limits.sign_ups_per_minute_max, table.sign_ups_per_minute_max);
    super::set(&mut limits.guests_per_minute_max, table.guests_per_minute_max);
    limits
}

fn check_counts(limits: &Limits) -> Result<(), Misuse> {
    let counts = [
        limits.connections_max,
        limits.connections_per_address_max,
        limits.outbox_lines_max,
        limits.inbox_lines_max,
        limits.line_bytes_max,
        limits.lines_per_second_max as usize,
        limits.lines_burst_max as usize,
        limits.http_requests_max,
        limits.http_requests_per_address_max,
        limits.http_bodies_per_address_max,
        limits.http_body_ms_max as usize,
        limits.watchers_per_address_max,
        limits.password_checks_per_address_max,
        limits.sign_ups_per_minute_max as usize,
        limits.guests_per_minute_max as usize,
    ];
    match counts.iter().all(|count| (1..=1_000_000_000).contains(count)) {
        true => Ok(()),
        false => {
            Err(Misuse("[limits]: every limit must be at least 1 and at most 1000000000".into()))
        }
    }
}

/// Checks the address of the log's database.
fn store(url: Option<String>) -> Result<Option<String>> {
    if let Some(url) = &url {
        PostgresLog::check_address(url).map_err(|error| {
            let next = "write it as postgres://USER:PASSWORD@HOST:5432/DATABASE";
            Misuse(format!("store: {error}; {next}"))
        })?;
    }
    Ok(url)
}

/// Checks the address of the bus.
fn bus(url: Option<String>) -> Result<Option<(BusAddress, String)>> {
    let Some(url) = url else { return Ok(None) };
    let address = BusAddress::parse(&url).map_err(|error| Misuse(format!("bus: {error}")))?;
    Ok(Some((address, url)))
}

/// The certificate and its key: both or neither, each from a flag or from the file.
fn tls(args: &ServeArgs, table: TlsTable) -> Result<Option<(PathBuf, PathBuf)>> {
    match (args.tls_cert.clone().or(table.cert), args.tls_key.clone().or(table.key)) {
        (None, None) => Ok(None),
        (Some(cert), Some(key)) => Ok(Some((cert, key))),
        _ => {
            Err(Misuse("give both tls.cert and tls.key (--tls-cert FILE --tls-key FILE)".into())
                .into())
        }
    }
}

fn announcement(table: &TournamentTable) -> Result<Announcement> {
    let Start::WhenReady = table.start;
    let name = super::checked_name(&table.name)?;
    let wrong = |why: String| Misuse(format!("tournament {name:?}: {why}"));
    let preset = Preset::named(&table.preset).map_err(|error| wrong(error.to_string()))?;
    let kind = Registry::standard().kind(preset.game).cloned();
    let kind = kind.expect("every preset names an existing game");
    let config = kind.check_config(preset.config).expect("presets are checked");
    let mut policy = preset.policy;
    super::set(&mut policy.rules.best_of, table.best_of);
    super::set(&mut policy.rules.time.answer_ms, table.answer_ms);
    super::set(&mut policy.rules.time.bank_ms, table.bank_ms);
    super::set(&mut policy.rules.time.house_pace_ms, table.pace_ms);
    super::set(&mut policy.rules.time.wait_ms, table.wait_ms);
    policy.check().map_err(wrong)?;
    let selection = match (table.players, &table.named) {
        (Some(at_most @ 2..=10_000), None) => Selection::Line { at_most },
        (Some(_), None) => return Err(wrong("players must be between 2 and 10000".into()).into()),
        (None, Some(names)) => {
            let players = names.iter().map(|name| player(preset.game, name));
            let players: Result<Vec<PlayerName>, String> = players.collect();
            Selection::Named { players: players.map_err(wrong)? }
        }
        _ => return Err(wrong("give players = N, or named = [\"ann\", …]".into()).into()),
    };
    Ok(Announcement {
        id: TournamentId::from(name.clone()),
        preset: Some(preset.name.into()),
        game: preset.game.into(),
        config: Raw(config),
        policy,
        selection,
        by: None,
    })
}

fn player(game: &str, name: &str) -> Result<PlayerName, String> {
    if let Some(house) = PlayerName::house_in(name) {
        Houses::standard().make(game, house).map_err(|error| error.to_string())?;
    }
    PlayerName::new(name).map_err(|error| error.to_string())
}

/// The role of the first engine, with so many engine threads in all.
fn role(engine_threads: u16) -> Result<EngineRole> {
    match engine_threads {
        1..=ENGINE_THREADS_MAX => Ok(EngineRole::Lobby { cell_engines: engine_threads - 1 }),
        _ => Err(Misuse(format!("engine_threads must be 1 to {ENGINE_THREADS_MAX}")).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const EXAMPLE: &str = include_str!("../../../../packaging/agon.toml");

    /// The fields of a table, read from the error about an unknown field.
    fn fields(table: &str) -> BTreeSet<String> {
        let text = match table {
            "" => "no_such_field = 1".to_owned(),
            "tournament" => "[[tournament]]\nno_such_field = 1".to_owned(),
            table => format!("[{table}]\nno_such_field = 1"),
        };
        let refused = toml::from_str::<ServeFile>(&text).expect_err("no such field").to_string();
        let (_, known) = refused
            .split_once("expected one of")
            .or(refused.split_once("expected "))
            .expect("a list");
        known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    /// The fields of the example file by table, including those in comments.
    fn shown() -> BTreeSet<(String, String)> {
        let (mut table, mut all) = (String::new(), BTreeSet::new());
        for line in EXAMPLE.lines() {
            let line = line.trim_start_matches(['#', ' ']);
            if let Some(rest) = line.strip_prefix('[') {
                table = rest.trim_start_matches('[').split(']').next().unwrap_or("").to_owned();
            } else if let Some((name, _)) = line.split_once(" = ") {
                all.insert((table.clone(), name.to_owned()));
            }
        }
        all
    }

    #[test]
    fn example_file_has_every_field_of_every_table() {
        let tables = ["tls", "erlang", "limits", "fish", "trains", "tournament"];
        // The example shows one of two fields that exclude each other. It leaves out a removed
        // field, which is read only to name its replacement.
        let (other, gone) = ([("erlang", "cookie"), ("tournament", "named")], "lenient_names");
        let left_out = [&other[..], &[("fish", gone), ("trains", gone)]].concat();
        let shown = shown();
        assert!(tables.iter().all(|table| fields("").contains(*table)));
        for table in ["", "tls", "erlang", "limits", "fish", "trains", "tournament"] {
            for field in fields(table) {
                let here = (table.to_owned(), field.clone());
                let excused = tables.contains(&field.as_str()) && table.is_empty()
                    || left_out.contains(&(table, field.as_str()));
                assert!(excused || shown.contains(&here), "[{table}] lacks {field}");
            }
        }
    }

    #[test]
    fn example_file_has_no_field_that_is_none() {
        for (table, field) in shown() {
            assert!(fields(&table).contains(&field), "[{table}] {field} is not a setting");
        }
    }
}
