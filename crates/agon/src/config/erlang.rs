//! The `[erlang]` section: this server as a node of Erlang players.

use crate::exit::Misuse;
use agon_core::Preset;
use agon_server::{ErlangCookie, ErlangSettings, NodeName};
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The default name of the node.
const NODE: &str = "agon@localhost";

/// The default address of the node: on this machine only, on any free port.
const LISTEN: &str = "127.0.0.1:0";

/// The default address of EPMD: its usual port, on this machine only.
const EPMD: &str = "127.0.0.1:4369";

/// The section of the file. Without it the server has no node.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct ErlangTable {
    node: Option<String>,
    cookie: Option<String>,
    cookie_file: Option<PathBuf>,
    listen: Option<String>,
    epmd: Option<String>,
    tick_ms: Option<u64>,
    accept_ms: Option<u64>,
    answer_ms: Option<u64>,
    wait_ms: Option<u64>,
    queue_games: Option<u32>,
}

/// The settings of a server's node.
#[derive(Debug)]
pub(crate) struct Erlang {
    pub(crate) listen: String,
    pub(crate) settings: ErlangSettings,
    cookie_file: Option<PathBuf>,
}

impl Erlang {
    /// Checks the section and fills in defaults.
    pub(super) fn read(table: ErlangTable) -> Result<Erlang, Misuse> {
        let wrong = |why: String| Misuse(format!("[erlang]: {why}"));
        let cookie = cookie(table.cookie, table.cookie_file.as_ref()).map_err(wrong)?;
        let node = NodeName::new(table.node.as_deref().unwrap_or(NODE)).map_err(wrong)?;
        let epmd = table.epmd.as_deref().unwrap_or(EPMD);
        let epmd: SocketAddr = epmd
            .parse()
            .map_err(|_| wrong(format!("epmd: {epmd:?} is not an address; use IP:PORT")))?;
        let tick_ms = table.tick_ms.unwrap_or(15_000);
        let accept_ms = table.accept_ms.unwrap_or(10_000);
        if tick_ms == 0 || accept_ms == 0 || table.answer_ms == Some(0) {
            return Err(wrong("tick_ms, accept_ms and answer_ms must be at least 1".into()));
        }
        let queue_games = table.queue_games.unwrap_or(1);
        let mut policy = Preset::named("yahtzee-queue").expect("a preset from the list").policy;
        policy.rules.best_of = queue_games;
        policy.check().map_err(|why| wrong(format!("queue_games: {why}")))?;
        let (answer_ms, wait_ms) = (table.answer_ms, table.wait_ms);
        let settings = ErlangSettings {
            node,
            cookie,
            epmd,
            tick_ms,
            accept_ms,
            answer_ms,
            wait_ms,
            queue_games,
        };
        let listen = table.listen.unwrap_or_else(|| LISTEN.into());
        Ok(Erlang { listen, settings, cookie_file: table.cookie_file })
    }

    /// As the file has it, without the cookie.
    pub(super) fn shown(&self) -> serde_json::Value {
        serde_json::json!({
            "node": self.settings.node.to_string(),
            "cookie_file": self.cookie_file,
            "listen": self.listen,
            "epmd": self.settings.epmd,
            "tick_ms": self.settings.tick_ms,
            "accept_ms": self.settings.accept_ms,
            "answer_ms": self.settings.answer_ms,
            "wait_ms": self.settings.wait_ms,
            "queue_games": self.settings.queue_games,
        })
    }
}

fn cookie(text: Option<String>, file: Option<&PathBuf>) -> Result<ErlangCookie, String> {
    let text = match (text, file) {
        (Some(text), None) => text,
        (None, Some(file)) => {
            let read = std::fs::read_to_string(file);
            let read = read.map_err(|error| {
                format!("failed to read the cookie from {}: {error}", file.display())
            })?;
            read.trim().to_owned()
        }
        _ => {
            return Err("give a cookie, or a cookie_file (as ~/.erlang.cookie of the players), \
                 and not both"
                .into());
        }
    };
    ErlangCookie::new(&text)
}
