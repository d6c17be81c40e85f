//! Opens the server's listeners and prints their addresses.

use super::OPERATOR;
use super::token::Token;
use crate::command::print;
use crate::exit::Misuse;
use anyhow::{Context, Result};
use std::io::{ErrorKind, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use tokio::net::{TcpListener, TcpSocket};

/// How many further ports plain `agon` tries if its own is in use.
const NEXT_MAX: u16 = 20;

/// The backlog of a listener, as far as the system allows. After a restart all players reconnect at
/// once; a connection that finds the backlog full is retried a second later.
const WAITING_MAX: u32 = 4_096;

/// The addresses of the server.
pub(super) struct Places {
    pub(super) tcp: SocketAddr,
    pub(super) http: SocketAddr,
    /// The ports for programs of other systems, by the name of the system.
    pub(super) peers: Vec<(&'static str, SocketAddr)>,
    pub(super) tls: bool,
    /// The name of its Erlang node.
    pub(super) erlang: Option<String>,
}

/// Listens on an address. With `or_next`, takes the next free port if that one is in use.
pub(super) async fn listen(address: &str, flag: &str, or_next: bool) -> Result<TcpListener> {
    let taken = match bind(address).await {
        Ok(listener) => return Ok(listener),
        Err(error) => error,
    };
    if or_next
        && taken.kind() == ErrorKind::AddrInUse
        && let Some(listener) = next_free(address).await
    {
        return Ok(listener);
    }
    let next = match taken.kind() {
        ErrorKind::AddrInUse => {
            format!("another program uses this port; stop it, or choose another port with {flag}")
        }
        ErrorKind::InvalidInput => {
            return Err(Misuse(format!("{address:?} is not an address; use HOST:PORT")).into());
        }
        _ => format!("choose another with {flag} HOST:PORT"),
    };
    Err(anyhow::anyhow!("failed to listen on {address}: {taken}; {next}"))
}

/// Listens on the first free address of a host name.
async fn bind(address: &str) -> std::io::Result<TcpListener> {
    let mut error = None;
    for at in tokio::net::lookup_host(address).await? {
        match open(at) {
            Ok(listener) => return Ok(listener),
            Err(why) => error = Some(why),
        }
    }
    Err(error.unwrap_or_else(|| ErrorKind::InvalidInput.into()))
}

/// Opens a listener.
pub(crate) fn open(at: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if at.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Old connections in TIME_WAIT do not block the port after a restart.
    socket.set_reuseaddr(true)?;
    socket.bind(at)?;
    socket.listen(WAITING_MAX)
}

async fn next_free(address: &str) -> Option<TcpListener> {
    let address: SocketAddr = address.parse().ok()?;
    for step in 1..=NEXT_MAX {
        let next = SocketAddr::new(address.ip(), address.port().checked_add(step)?);
        if let Ok(listener) = open(next) {
            tracing::warn!(taken = %address, chosen = %next, "another program uses the default \
                port");
            return Some(listener);
        }
    }
    None
}

/// Prints the server's addresses, and the operator's token if it is new.
pub(super) fn say(json: bool, places: &Places, token: Option<&Token>) -> Result<()> {
    let Places { tcp, http, peers, tls, erlang } = places;
    let (stream, scheme, socket) =
        if *tls { ("tls", "https", "wss") } else { ("tcp", "http", "ws") };
    let websocket = format!("{socket}://{http}/api/v1/play");
    let open = format!("{scheme}://{}/", reachable(*http));
    let text = if json {
        let mut players = serde_json::json!({"tcp": tcp, "websocket": websocket});
        peers.iter().for_each(|(system, at)| players[system] = serde_json::json!(at));
        let mut line =
            serde_json::json!({"players": players, "http": http, "tls": tls, "open": open});
        if let Some(node) = erlang {
            line["players"]["erlang"] = serde_json::json!(node);
        }
        if let Some(token) = token {
            line["operator"] = match token {
                Token::Said(token) => serde_json::json!({"account": OPERATOR, "token": token}),
                Token::In(file) => serde_json::json!({"account": OPERATOR, "token_file": file}),
            };
        }
        format!("{line}\n")
    } else {
        let operator = token.map(|token| match token {
            Token::Said(token) => format!(
                "operator: token {token} \
                 (shown once; agon serve --operator-token creates a new one)\n"
            ),
            Token::In(file) => format!("operator: token in {}\n", file.display()),
        });
        let peers = peers.iter().map(|(system, at)| format!("players: {system} {at}\n"));
        let peers = peers.collect::<String>();
        let erlang = erlang.as_ref().map(|node| format!("players: erlang {node}\n"));
        format!(
            "{}players: {stream} {tcp}\nplayers: {websocket}\n{peers}{}\
             http: {scheme}://{http}/api/v1\nopen: {open}\n",
            operator.unwrap_or_default(),
            erlang.unwrap_or_default()
        )
    };
    print(&text)?;
    std::io::stdout().flush().context("failed to print the server's addresses")
}

/// An address that a browser on this machine can open.
fn reachable(address: SocketAddr) -> SocketAddr {
    let here: IpAddr = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(here, address.port())
}
