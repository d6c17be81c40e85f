//! `agon serve`: a server for players who connect over the network.

mod check;
mod listen;
mod notify;
pub(crate) mod store;
mod token;
mod waiting;

use crate::args::{Args, Command, ServeArgs};
use crate::config::serve::Serve;
use crate::diagnostics;
use crate::exit::{Exit, Misuse};
use agon_bots::Houses;
use agon_core::PlayerName;
use agon_server::query::{IssueOperatorToken, OpenSignUp};
use agon_server::web::{Hosts, answer_starting, serve_http};
use agon_server::{
    Driver, EngineRole, Gateway, Handle, PortConnections, RelayPort, Relays, ServerError,
    StandbyListener, Tls, serve_erlang, serve_peers, serve_tcp,
};
use agon_store::{Log, LogError, without_password};
use anyhow::{Context, Result};
use clap::Parser;
pub(crate) use listen::open;
use listen::{Places, listen};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{oneshot, watch};

/// The log in the folder of a server.
pub(crate) const LOG_FILE: &str = "agon.sqlite";

/// The file with the counts of wrong passwords, beside the log.
const PASSWORDS_FILE: &str = "agon.sqlite.passwords";

/// The names of ports, the same on all nodes of a cluster.
const TCP: &str = "tcp";
const HTTP: &str = "http";

/// The operator's account.
const OPERATOR: &str = "operator";

/// Plain `agon`: a server with settings from the environment. If a default port is in use, it takes
/// the next free one.
pub(crate) fn plain() -> Result<Exit> {
    let args = Args::try_parse_from(["agon", "serve"]).map(|args| args.command);
    let Ok(Some(Command::Serve(args))) = args else {
        return Err(Misuse(
            "invalid environment variable; run `agon serve --check` for \
                details"
                .into(),
        )
        .into());
    };
    start(&args, true)
}

pub(crate) fn serve(args: &ServeArgs) -> Result<Exit> {
    start(args, false)
}

fn start(args: &ServeArgs, or_next: bool) -> Result<Exit> {
    let settings = Serve::read(args)?;
    if args.check {
        return check::check(&settings, args.json);
    }
    let level = diagnostics::parse(&settings.log)?;
    let diagnostics = diagnostics::start(level, settings.log_format);
    for name in &settings.layers.unknown {
        tracing::warn!(name, "unknown environment variable; it is not a setting of the server");
    }
    crate::command::solve::use_cache(None);
    let (runtime, pages) = (runtime()?, pages_runtime()?);
    let ended = runtime.block_on(run(args, settings, or_next, pages.handle()));
    runtime.shutdown_background();
    pages.shutdown_background();
    match ended? {
        Ended::Stopped => Ok(Exit::Success),
        Ended::LeaseLost { is_drained } => {
            drop(diagnostics);
            Err(start_again(is_drained).into())
        }
    }
}

/// Why a server ended without an error.
enum Ended {
    /// The operator stopped it.
    Stopped,
    /// The node lost its lease on a shared log. It starts again and stands by; it takes no work if
    /// an operator has drained it.
    LeaseLost { is_drained: bool },
}

/// Replaces this process by a new one with the same arguments, which waits for the database and for
/// the log. Returns only if that fails.
fn start_again(is_drained: bool) -> std::io::Error {
    let mut args: Vec<_> = std::env::args_os().skip(1).collect();
    args.retain(|arg| arg != "--operator-token" && arg != "--rejoin" && arg != "--drained");
    if args.is_empty() {
        args.push("serve".into());
    }
    args.push("--rejoin".into());
    args.extend(is_drained.then(|| "--drained".into()));
    // Not the path of the program: an upgrade may have replaced the file.
    std::process::Command::new("/proc/self/exe").args(args).exec()
}

/// The nice value of the threads that read players' sockets, relative to the engine.
const NICER: i32 = 5;

/// The nice value of the threads that serve pages, read the log for them, and check passwords.
const NICER_PAGES: i32 = 10;

/// The most threads for blocking work: reading the log, and checking passwords.
const PAGES_BLOCKING_MAX: usize = 64;

/// The runtime that holds the sockets of players.
///
/// Its threads give way to the engine, which incoming answers would otherwise interrupt one by one;
/// see docs/decisions/0015-readers-give-way.md.
pub(crate) fn runtime() -> Result<Runtime> {
    nicer(tokio::runtime::Builder::new_multi_thread().max_blocking_threads(8), NICER)
}

/// The runtime of everything a stranger can request: pages and password checks. Its threads give
/// way to those that hold players' sockets; see
/// docs/decisions/0021-pages-have-their-own-threads.md.
fn pages_runtime() -> Result<Runtime> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads((cores / 2).max(2)).thread_name("pages");
    nicer(builder.max_blocking_threads(PAGES_BLOCKING_MAX), NICER_PAGES)
}

fn nicer(builder: &mut tokio::runtime::Builder, by: i32) -> Result<Runtime> {
    let nice = rustix::process::getpriority_process(None).map_or(by, |nice| nice + by);
    let start = move || {
        // Changes this thread only. Without permission nothing changes.
        let _ = rustix::process::setpriority_process(None, nice);
    };
    builder.enable_all().on_thread_start(start).build().context("failed to start the runtime")
}

async fn run(
    args: &ServeArgs,
    mut settings: Serve,
    or_next: bool,
    pages: &tokio::runtime::Handle,
) -> Result<Ended> {
    // Installed here, so that no signal is missed before somebody waits for it.
    let mut signals = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let tls = settings.tls.as_ref().map(|(cert, key)| Tls::load(cert, key));
    let tls = tls.transpose().map_err(|error| Misuse(error.to_string()))?.map(Arc::new);
    let or_next = |path: &str| or_next && !settings.is_chosen(path);
    let (tcp_next, http_next) = (or_next("tcp"), or_next("http"));
    let tcp = listen(&settings.tcp, "--tcp", tcp_next).await?;
    let http = listen(&settings.http, "--http", http_next).await?;
    let address =
        |listener: &TcpListener| listener.local_addr().context("failed to read an address");
    let mut ports = Vec::new();
    for port in std::mem::take(&mut settings.ports) {
        let listener = listen(&port.listen, &format!("{}.listen", port.system), false).await?;
        ports.push((port, listener));
    }
    let peers = ports.iter().map(|(port, at)| Ok((port.system, address(at)?)));
    let erlang = match &settings.erlang {
        Some(node) => Some((listen(&node.listen, "erlang.listen", false).await?, &node.settings)),
        None => None,
    };
    let places = Places {
        tcp: address(&tcp)?,
        http: address(&http)?,
        peers: peers.collect::<Result<_>>()?,
        tls: tls.is_some(),
        erlang: erlang.as_ref().map(|(_, node)| node.node.to_string()),
    };
    // HTTP requests that come before the log is read get 503.
    let (up, heard) = oneshot::channel();
    let (reason, reasons) = watch::channel(store::STARTING);
    let relay = settings.store.is_some().then(|| RelayPort::new(settings.limits.clone()));
    let starting = tokio::spawn(answer_starting(http, tls.clone(), relay.clone(), reasons, heard));
    let own = StandbyListener { port: TCP, listener: &tcp, tls: tls.clone() };
    let others = ports.iter().map(|(port, listener)| {
        let tls = tls.clone().filter(|_| port.peers.tls);
        StandbyListener { port: port.system, listener, tls }
    });
    let standby = store::Standby {
        address: places.tcp.to_string(),
        listeners: std::iter::once(own).chain(others).collect(),
        relay,
        reason: &reason,
        rejoins: args.rejoin,
        drained: args.drained,
    };
    let Some(store::OpenLog { log, shared, node, nodes, log_version }) =
        store::open(&settings, standby, &mut signals, pages).await?
    else {
        return Ok(Ended::Stopped);
    };
    settings.settings.log_version = log_version;
    let opening = || open_engine(Arc::clone(&log), nodes, &settings, pages);
    let driver = tokio::task::block_in_place(opening)?;
    let handle = driver.handle();
    if let Some(shared) = &shared {
        let log = Arc::downgrade(shared);
        tokio::spawn(store::raise_log_version(log, handle.clone(), log_version));
    }
    let (over, mut ended) = oneshot::channel();
    std::thread::spawn(move || over.send(driver.run()));
    let token = operator_token(&handle, args.operator_token).await?;
    let token = token.map(|token| token::keep(token, settings.operator_token_file.as_deref()));
    let token = token.transpose()?;
    drop(up);
    let http = starting.await.context("failed to listen for HTTP")?;
    let runtime = tokio::runtime::Handle::current();
    let gateway = Gateway::start(handle.clone(), settings.limits, tls.clone(), &runtime);
    if let Some((listener, node)) = erlang {
        serve_erlang(listener, gateway.clone(), node.clone()).await?;
    }
    let bus = settings.bus.as_ref().map(|(address, _)| address.clone());
    let relays = bus.map(|address| Relays::start(address, node, handle.clone()));
    let incoming = |port: &str, listener: TcpListener| match &relays {
        Some(relays) => relays.incoming(port, listener),
        None => PortConnections::from(listener),
    };
    tokio::spawn(serve_tcp(incoming(TCP, tcp), gateway.clone()));
    for (port, listener) in ports {
        let series = Arc::clone(&port.peers.series);
        if let Some(opened) = handle.ask(OpenSignUp(series)).await {
            opened.map_err(|error| Misuse(format!("[{}]: {error}", port.system)))?;
        }
        tokio::spawn(serve_peers(incoming(port.system, listener), gateway.clone(), port.peers));
    }
    let hosts = hosts(&settings.hosts);
    let http = incoming(HTTP, http);
    pages.spawn(async move {
        match http.moved_here() {
            Ok(http) => {
                let (host, players) = (Arc::clone(gateway.host()), gateway.player_sockets());
                serve_http(http, host, players, hosts).await;
            }
            Err(error) => tracing::error!(%error, "failed to listen for HTTP"),
        }
    });
    if let Some(tls) = tls {
        tokio::spawn(reload(signal(SignalKind::hangup())?, tls));
    }
    tokio::spawn(waiting::announce_all(handle.clone(), settings.tournaments));
    listen::say(args.json, &places, token.as_ref())?;
    tracing::info!(tcp = %places.tcp, http = %places.http, tls = places.tls, "the server is up");
    notify::tell("READY=1");
    tokio::spawn(notify::keep_watchdog(handle.clone()));
    let (result, lease_lost) = tokio::select! {
        result = &mut ended => {
            let is_drained = shared.as_ref().is_some_and(|log| log.is_drained());
            (result, Ended::LeaseLost { is_drained })
        }
        () = asked_to_stop(signals, handle) => (ended.await, Ended::Stopped),
    };
    drop(shared);
    if let Some(relays) = relays {
        tokio::task::block_in_place(|| relays.stop());
    }
    let result = result.context("the engine ended without an error; this is a bug")?;
    match result {
        Err(error) if settings.store.is_some() && error.may_stand_by() => {
            tracing::warn!("{error}; this node closes its connections");
            // Closing the log could wait long for the database. The process ends anyway.
            std::mem::forget(log);
            return Ok(lease_lost);
        }
        result => result.map_err(|error| explained(error, &settings.data))?,
    }
    tokio::task::block_in_place(|| drop(log));
    tracing::info!("stopped");
    Ok(Ended::Stopped)
}

/// The host names of the server: those in the settings, and the name of this machine.
fn hosts(set: &[String]) -> Hosts {
    let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let local = format!("{machine}.local");
    Hosts::new(set.iter().cloned().chain([machine, local]))
}

/// Reads the log and resumes everything that is in progress.
fn open_engine(
    log: Arc<dyn Log>,
    nodes: Option<store::Nodes>,
    settings: &Serve,
    pages: &tokio::runtime::Handle,
) -> Result<Driver> {
    let started = Instant::now();
    let (games, houses) = (agon_analysis::registry(), Houses::standard());
    let (mut own, limits) = (settings.settings.clone(), &settings.limits);
    let links = nodes.map(|nodes| {
        own.role = EngineRole::LobbyOfNodes { joined: nodes.joined };
        nodes.links
    });
    let driver = Driver::open_among(links, log, games, houses, own, limits, pages.clone())
        .map_err(|error| explained(error, &settings.data))?;
    match settings.store {
        Some(_) => driver.handle().note_takeover(started.elapsed()),
        None => driver.keep_password_counts(settings.data.join(PASSWORDS_FILE)),
    }
    let status = driver.status();
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        store = settings.store.as_deref().map(without_password),
        data = %settings.data.display(),
        accounts = status.accounts,
        tournaments = status.tournaments,
        matches = status.matches,
        took_ms = started.elapsed().as_millis() as u64,
        "the log was read"
    );
    Ok(driver)
}

/// An error with what to do about it.
fn explained(error: ServerError, dir: &Path) -> anyhow::Error {
    let dir = dir.display();
    let next = match &error {
        ServerError::Log(LogError::Locked { .. }) => {
            "stop the other server, or give another folder with --data".to_owned()
        }
        ServerError::Log(away @ LogError::Io { kind: ErrorKind::NotConnected, .. }) => {
            store::next_step(away).to_owned()
        }
        ServerError::Log(LogError::Io { .. }) | ServerError::Append(_) => {
            format!("make sure that {dir} is writable and the disk has room, then start again")
        }
        ServerError::Log(_) | ServerError::Engine(_) => format!(
            "the log is damaged: restore a backup of {dir}, or run `agon log repair {dir}` to see \
             what can be saved"
        ),
        _ => "start the server again".to_owned(),
    };
    let words = format!("{error}; {next}");
    anyhow::Error::new(error).context(words)
}

/// The operator's token, at the first start or if a new one is wanted.
async fn operator_token(handle: &Handle, asked: bool) -> Result<Option<String>> {
    let account = PlayerName::new(OPERATOR).expect("a good name");
    // If the engine ends instead, its error is reported.
    match handle.ask(IssueOperatorToken { account, only_first: !asked }).await {
        Some(token) => Ok(token?),
        None => Ok(None),
    }
}

/// Stops the engine at the first signal; the second one ends the process.
async fn asked_to_stop((mut interrupt, mut terminate): (Signal, Signal), handle: Handle) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    tracing::info!("stopping; the next start continues from here");
    notify::tell("STOPPING=1");
    handle.stop();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        // Nothing is lost: everything that was acknowledged is in the log.
        std::process::exit(Exit::Stopped as i32);
    });
}

/// Reloads the certificate at every SIGHUP.
async fn reload(mut hang_ups: Signal, tls: Arc<Tls>) {
    while hang_ups.recv().await.is_some() {
        match tls.reload() {
            Ok(()) => tracing::info!("the certificate was reloaded"),
            Err(error) => tracing::error!("{error}; the old certificate stays"),
        }
    }
}
