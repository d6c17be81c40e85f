//! The one list of settings of a server that are a single value each.
//!
//! Environment variables, flags, the output of `--check`, the text of `--help`, the sample file
//! `packaging/agon.toml` and the tables in `docs/operate.md` all come from this list. Tests compare
//! them with it; `AGON_RECORD=1` rewrites the two files.

use std::fmt::Write;

/// The type of a setting's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Text,
    Number,
    /// `true` or `false`.
    Switch,
    /// Several texts; in a variable they are separated by commas.
    List,
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// Its place in the file.
    pub(super) path: &'static str,
    pub(super) kind: Kind,
    /// The default, written as in a file.
    default: Option<&'static str>,
    /// Another valid value, written as in a file.
    example: &'static str,
    /// The purpose of the setting, for people.
    about: &'static str,
    /// True if there is a flag for it.
    pub(super) has_flag: bool,
}

impl Setting {
    const fn new(path: &'static str, kind: Kind, default: &'static str) -> Setting {
        let (example, about, has_flag) = ("", "", false);
        Setting { path, kind, default: Some(default), example, about, has_flag }
    }

    const fn unset(path: &'static str, kind: Kind) -> Setting {
        Setting { default: None, ..Setting::new(path, kind, "") }
    }

    const fn number(path: &'static str, default: &'static str) -> Setting {
        Setting { example: "77000", ..Setting::new(path, Kind::Number, default) }
    }

    const fn example(self, example: &'static str) -> Setting {
        Setting { example, ..self }
    }

    const fn about(self, about: &'static str) -> Setting {
        Setting { about, ..self }
    }

    const fn flag(self) -> Setting {
        Setting { has_flag: true, ..self }
    }
}

/// Every setting that is one value. Ports of other systems have more fields, in the file only.
pub(super) const SETTINGS: [Setting; 50] = [
    Setting::new("data", Kind::Text, "\"agon-data\"")
        .example("\"elsewhere\"")
        .about("the folder of the log; only its owner may read it (0700)")
        .flag(),
    Setting::unset("store", Kind::Text)
        .example("\"postgres://agon@db.example/agon\"")
        .about(
            "a PostgreSQL database for the log, instead of the folder; several servers may share \
             it, and one of them plays",
        )
        .flag(),
    Setting::unset("bus", Kind::Text)
        .example("\"nats://bus.example:4222\"")
        .about(
            "a NATS server that the servers of one database share; those that stand by then play \
             tournaments as well",
        )
        .flag(),
    Setting::new("tcp", Kind::Text, "\"127.0.0.1:7300\"")
        .example("\"127.0.0.1:7301\"")
        .about("the address for players; 0.0.0.0 means every address of this machine")
        .flag(),
    Setting::new("http", Kind::Text, "\"127.0.0.1:7380\"")
        .example("\"127.0.0.1:7381\"")
        .about("the address for the page, the HTTP interface and players over WebSocket")
        .flag(),
    Setting::new("hosts", Kind::List, "[]").example("[\"agon.example\", \"games.example\"]").about(
        "host names of this server, besides localhost, the machine's own name and IP addresses; \
         \"*\" allows every name",
    ),
    Setting::number("token_ms", "2592000000").about("how long a token is valid (30 days)"),
    Setting::number("reconnect_ms", "60000")
        .about("how long players have to reconnect after a restart of the server"),
    Setting::new("second_login", Kind::Text, "\"takeover\"").example("\"refuse\"").about(
        "what happens when an account logs in on a second connection: takeover (the new \
         connection wins) or refuse",
    ),
    Setting::new("players_may_invite", Kind::Switch, "false")
        .example("true")
        .about("whether players may invite others to a tournament; operators always may"),
    Setting::new("guests", Kind::Switch, "true")
        .example("false")
        .about("whether strangers may play as guests; a guest chooses a name and a password later"),
    Setting::number("observer_delay_ms", "0").about(
        "the delay with which observers see running matches, up to an hour; a tournament may ask \
         for more",
    ),
    Setting::unset("operator_token_file", Kind::Text)
        .example("\"operator.token\"")
        .about(
            "a file for a new operator token, instead of stdout; only its owner may read it (0600)",
        )
        .flag(),
    Setting::number("engine_threads", "1")
        .example("4")
        .about(
            "how many threads play; with 2 or more, the first has the lobby and the connections, \
             and the others share the tournaments",
        )
        .flag(),
    Setting::number("log_version", "3")
        .example("1")
        .about(
            "the newest version of records that this node reads and writes; a lower one keeps the \
             log readable for the previous version of Agon, in case of a downgrade",
        )
        .flag(),
    Setting::unset("seed", Kind::Number)
        .example("7")
        .about("derive the luck of all tournaments from this number, to repeat an experiment")
        .flag(),
    Setting::new("log", Kind::Text, "\"info\"")
        .example("\"warn\"")
        .about("how much to log on stderr: off, error, warn, info, debug, trace")
        .flag(),
    Setting::new("log_format", Kind::Text, "\"text\"")
        .example("\"json\"")
        .about("the format of these messages: text or json")
        .flag(),
    Setting::unset("tls.cert", Kind::Text)
        .example("\"cert.pem\"")
        .about("the certificate (PEM): every listener then uses TLS; SIGHUP reloads it")
        .flag(),
    Setting::unset("tls.key", Kind::Text)
        .example("\"key.pem\"")
        .about("the private key of the certificate (PEM)")
        .flag(),
    Setting::unset("erlang.cookie_file", Kind::Text).example("\"erlang.cookie\"").about(
        "the file with the node's cookie, relative to this file; alternatively `cookie`, in this \
         file only",
    ),
    Setting::unset("erlang.node", Kind::Text)
        .example("\"agon@localhost\"")
        .about("the node's name; by default agon@localhost"),
    Setting::unset("erlang.listen", Kind::Text)
        .example("\"127.0.0.1:0\"")
        .about("the address of the node; by default any free port of this machine"),
    Setting::unset("erlang.epmd", Kind::Text)
        .example("\"127.0.0.1:4369\"")
        .about("the address of EPMD; by default its usual port on this machine"),
    Setting::unset("erlang.tick_ms", Kind::Number)
        .example("15000")
        .about("the server sends a tick after this much silence; by default 15000"),
    Setting::unset("erlang.accept_ms", Kind::Number)
        .example("10000")
        .about("how long a player has to accept a tournament; by default 10000"),
    Setting::unset("erlang.queue_games", Kind::Number)
        .example("3")
        .about("the number of games in a match of the queue protocol, an odd number; by default 1"),
    Setting::unset("erlang.answer_ms", Kind::Number)
        .example("10000")
        .about("how long a player has for an answer; by default as in the preset"),
    Setting::unset("erlang.wait_ms", Kind::Number)
        .example("60000")
        .about("how long a match waits for an absent player; by default as in the preset"),
    Setting::number("limits.connections_max", "20000")
        .about("simultaneous connections of players, TCP and WebSocket together"),
    Setting::number("limits.connections_per_address_max", "2000").about(
        "simultaneous connections of players from one address; more get \
         `too-many-connections`",
    ),
    Setting::number("limits.outbox_lines_max", "64").about(
        "lines that wait to be sent to one player; the server disconnects a player who \
         falls further behind",
    ),
    Setting::number("limits.inbox_lines_max", "32").about(
        "lines of one connection that wait for the engine; further lines stay in the \
         socket",
    ),
    Setting::number("limits.line_bytes_max", "262144").about("the longest line a player may send"),
    Setting::number("limits.lines_per_second_max", "2000")
        .about("messages a second that the server reads from one connection"),
    Setting::number("limits.lines_burst_max", "4000").about("messages in a burst beyond that rate"),
    Setting::number("limits.write_ms_max", "10000").about(
        "how long a write may take; also, how long an HTTP client may read less than 4 KiB a \
         second before it is disconnected",
    ),
    Setting::number("limits.login_ms_max", "10000").about(
        "how long a connection may take to log in; the TLS handshake and the head of an HTTP \
         request have as long",
    ),
    Setting::number("limits.heartbeat_ms", "15000")
        .example("20000")
        .about("the server sends a heartbeat (TCP) or a ping (WebSocket) after this much silence"),
    Setting::number("limits.silence_ms_max", "45000")
        .about("the server closes a connection after this much silence"),
    Setting::number("limits.http_requests_max", "256")
        .about("simultaneous HTTP requests; more get 503"),
    Setting::number("limits.http_requests_per_address_max", "64")
        .about("simultaneous HTTP requests from one address; more get 429"),
    Setting::number("limits.http_bodies_per_address_max", "32")
        .about("HTTP request bodies from one address that the server reads at once; more get 429"),
    Setting::number("limits.http_body_ms_max", "10000")
        .about("how long the body of an HTTP request may take to arrive"),
    Setting::number("limits.watchers_per_address_max", "500")
        .about("observers from one address, of 2000 in all; more get 429"),
    Setting::number("limits.password_checks_per_address_max", "1000")
        .about("passwords from one address that may wait to be checked"),
    Setting::number("limits.sign_ups_per_minute_max", "300")
        .about("sign-ups a minute from one address at the Fish and Trains ports"),
    Setting::number("limits.guests_per_minute_max", "60")
        .about("new guests a minute from one address; more get 429"),
    Setting::unset("fish.listen", Kind::Text)
        .example("\"127.0.0.1:7310\"")
        .about("the address for programs of the Fish system"),
    Setting::unset("trains.listen", Kind::Text)
        .example("\"127.0.0.1:7320\"")
        .about("the address for programs of the Trains system"),
];

/// The list for `agon serve --help`.
pub(crate) fn help() -> String {
    let mut text = String::new();
    for setting in SETTINGS {
        let value = setting.default.unwrap_or(setting.example);
        let (mark, flag) = match (setting.default, setting.has_flag) {
            (None, true) => ("# ", "; a flag too"),
            (None, false) => ("# ", ""),
            (Some(_), true) => ("", "; a flag too"),
            (Some(_), false) => ("", ""),
        };
        let field = format!("{mark}{} = {value}", setting.path);
        let _ = writeln!(text, "    {field:<46} {}{flag}", setting.about);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::layers::variable;
    use super::*;
    use clap::CommandFactory;
    use std::path::{Path, PathBuf};

    impl Setting {
        /// The table of the file it is in; empty for none.
        fn table(&self) -> &'static str {
            self.path.split_once('.').map_or("", |(table, _)| table)
        }

        fn name(&self) -> &'static str {
            self.path.split_once('.').map_or(self.path, |(_, name)| name)
        }
    }

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// Compares a file with its generated text; rewrites it if AGON_RECORD is set.
    fn compare(path: &str, due: &str) {
        let file = root().join(path);
        if std::env::var_os("AGON_RECORD").is_some() {
            std::fs::write(&file, due).expect("a file");
        }
        let found = std::fs::read_to_string(&file).expect("a file");
        assert!(found == due, "{path} differs from the settings; AGON_RECORD=1 rewrites it");
    }

    const SAMPLE_HEAD: &str = "\
# Settings of a server, with their defaults. Remove the # from the lines you change.
# Flags override environment variables (AGON_TCP, AGON_LIMITS_CONNECTIONS_MAX …), and those override
# this file. `agon serve --check --config agon.toml` prints the result.
";

    const SAMPLE_PORTS: &str = r#"
# Ports for programs of the Fish and Trains systems; each is closed unless `listen` is set.
# docs/operate.md explains the fields. Both tables have the same ones.
# [fish]
# listen = "127.0.0.1:7310"
# vocabulary = "auto"               # decided by the first message; or call, message
# strict_names = false              # true: only letters, in quotes, and every name once
# tls = false
# name = "fish"                     # its tournaments: fish, fish-2, fish-3 …
# preset = "fish"
# at_least = 5
# at_most = 10
# wait_ms = 30000
# second_wait_ms = 30000
# second_at_least = 5
# sign_up_ms = 10000
# order_ms = 1000                   # how long later sign-ups wait for an earlier name
# answer_ms = 10000
# config = { rows = 5, columns = 5 }
# config_file = "fish.json"
# [trains]
# listen = "127.0.0.1:7320"
# vocabulary = "course"             # or memo, where nobody proposes a map
# strict_names = false              # true: only letters, in quotes, and every name once
# tls = false
# name = "trains"
# preset = "trains"
# at_least = 5
# at_most = 50
# wait_ms = 20000
# second_wait_ms = 20000
# second_at_least = 2
# sign_up_ms = 3000
# order_ms = 1000
# answer_ms = 2000
# config = { }
# config_file = "trains.json"       # such as {"map": {…}}

# A tournament that starts as soon as its players are logged in.
# [[tournament]]
# name = "cup"
# preset = "yahtzee-queue"
# players = 8                       # the first in line; or named = ["ann", "house:greedy"]
# best_of = 5
# answer_ms = 10000                 # by default as in the preset; so are bank_ms and wait_ms
# bank_ms = 0
# wait_ms = 60000
# pace_ms = 0                       # house players wait this long, so that people can follow
# start = "when-ready"
"#;

    /// The sample file.
    fn sample() -> String {
        let mut text = SAMPLE_HEAD.to_owned();
        let mut table = "";
        for setting in SETTINGS.iter().filter(|setting| !is_port(setting)) {
            let all_unset = |table| {
                SETTINGS.iter().filter(|one| one.table() == table).all(|one| one.default.is_none())
            };
            if setting.table() != table {
                table = setting.table();
                let mark = if all_unset(table) { "# " } else { "#" };
                let _ = writeln!(text, "\n{mark}[{table}]");
            }
            let _ =
                writeln!(text, "{}# {}", if table.is_empty() { "\n" } else { "" }, setting.about);
            let _ = match setting.default {
                Some(default) => writeln!(text, "#{} = {default}", setting.name()),
                None => writeln!(text, "# {} = {}", setting.name(), setting.example),
            };
        }
        text + SAMPLE_PORTS
    }

    fn is_port(setting: &Setting) -> bool {
        ["fish", "trains"].contains(&setting.table())
    }

    #[test]
    fn sample_file_is_what_the_settings_say() {
        compare("packaging/agon.toml", &sample());
    }

    /// The rows of a table in the documentation.
    fn rows(of: impl Fn(&Setting) -> bool) -> String {
        let mut text = "| field | default | meaning |\n| --- | --- | --- |\n".to_owned();
        for setting in SETTINGS.iter().filter(|setting| of(setting)) {
            let default = setting.default.map_or("none".into(), |value| format!("`{value}`"));
            let _ = writeln!(text, "| `{}` | {default} | {} |", setting.path, setting.about);
        }
        text
    }

    #[test]
    fn tables_of_the_documentation_are_what_the_settings_say() {
        let path = "docs/operate.md";
        let mut page = std::fs::read_to_string(root().join(path)).expect("a page");
        let limits = |setting: &Setting| setting.table() == "limits";
        for (name, rows) in [("settings", rows(|one| !limits(one))), ("limits", rows(limits))] {
            let begin = format!("<!-- {name}: from crates/agon/src/config/settings.rs -->\n");
            let (before, rest) = page.split_once(&begin).expect("a mark before the table");
            let (_, after) = rest.split_once("<!-- end -->\n").expect("a mark behind the table");
            page = format!("{before}{begin}{rows}<!-- end -->\n{after}");
        }
        compare(path, &page);
    }

    #[test]
    fn flags_are_those_of_the_command() {
        let args = crate::args::Args::command();
        let serve = args.find_subcommand("serve").expect("a command");
        let flags: Vec<&str> = serve.get_arguments().filter_map(|arg| arg.get_long()).collect();
        for setting in SETTINGS {
            let flag = setting.path.replace(['_', '.'], "-");
            assert_eq!(flags.contains(&flag.as_str()), setting.has_flag, "--{flag}");
        }
    }

    #[test]
    fn examples_differ_from_defaults_and_have_an_explanation() {
        for Setting { path, default, example, about, .. } in SETTINGS {
            assert_ne!(Some(example), default, "{path}");
            assert!(!example.is_empty() && !about.is_empty() && !about.ends_with('.'), "{path}");
        }
    }

    /// A value of a file as a variable has it.
    fn as_variable(value: &toml::Value) -> String {
        match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Array(all) => all.iter().map(as_variable).collect::<Vec<_>>().join(","),
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Boolean(switch) => switch.to_string(),
            other => panic!("no setting holds {other:?}"),
        }
    }

    /// A value as it stands in a file.
    fn value(text: &str) -> toml::Value {
        let table: toml::Table = toml::from_str(&format!("value = {text}")).expect("TOML");
        table["value"].clone()
    }

    #[test]
    fn every_variable_takes_effect() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("erlang.cookie"), "secret").expect("a file");
        let cookie = dir.path().join("erlang.cookie").display().to_string();
        let example = |setting: &Setting| match setting.path {
            "erlang.cookie_file" => toml::Value::String(cookie.clone()),
            _ => value(setting.example),
        };
        let variables = SETTINGS
            .iter()
            .map(|setting| (variable(setting.path).into(), as_variable(&example(setting)).into()));
        let args = crate::args::ServeArgs::default();
        let read = super::super::serve::Serve::over(toml::Table::new(), variables, &args);
        let effective = read.expect("settings").effective();
        for setting in &SETTINGS {
            let found = effective.pointer(&format!("/{}", setting.path.replace('.', "/")));
            let due = serde_json::to_value(example(setting)).expect("JSON");
            assert_eq!(found, Some(&due), "{}", setting.path);
        }
    }

    #[test]
    fn defaults_are_those_of_the_server() {
        let args = crate::args::ServeArgs::default();
        let none = std::iter::empty();
        let read = super::super::serve::Serve::over(toml::Table::new(), none, &args);
        let effective = read.expect("settings").effective();
        for setting in SETTINGS {
            let found = effective.pointer(&format!("/{}", setting.path.replace('.', "/")));
            let found = found.filter(|found| !found.is_null()).cloned();
            let due = setting.default.map(|text| serde_json::to_value(value(text)).expect("JSON"));
            assert_eq!(found, due, "{}", setting.path);
        }
    }
}
