//! `agon serve`: a server for players that come over the network.

use crate::args::ServeArgs;
use crate::config::serve::Serve;
use crate::exit::{Exit, Misuse};
use agon_core::PlayerName;
use agon_core::lobby::{Announcement, Role, Selection};
use agon_games::Registry;
use agon_players::Houses;
use agon_server::web::serve_http;
use agon_server::{Engine, EngineError, Gateway, Handle, Tls, serve_tcp};
use agon_store::{Log, LogError, SqliteLog};
use anyhow::{Context, Result};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

/// The log in the folder of a server.
pub(crate) const LOG_FILE: &str = "agon.sqlite";

/// The account that may do everything.
const OPERATOR: &str = "operator";

/// How often tournaments of the configuration look for their players.
const LOOK_MS: u64 = 50;

pub(crate) fn serve(args: &ServeArgs) -> Result<Exit> {
    let settings = Serve::read(args)?;
    crate::command::solve::use_cache(None);
    let runtime = runtime()?;
    let exit = runtime.block_on(run(args, settings));
    runtime.shutdown_background();
    exit
}

/// The runtime that holds the sockets.
pub(crate) fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // Passwords are hashed on these threads: memory for a few at once, whoever knocks.
        .max_blocking_threads(8)
        .build()
        .context("failed to start the runtime")
}

async fn run(args: &ServeArgs, settings: Serve) -> Result<Exit> {
    // From here on, not from when somebody waits for them: no signal is missed.
    let signals = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let tls = settings.tls.as_ref().map(|(cert, key)| Tls::load(cert, key));
    let tls = tls.transpose().map_err(|error| Misuse(error.to_string()))?.map(Arc::new);
    let (tcp, http) =
        (listen(&settings.tcp, "--tcp").await?, listen(&settings.http, "--http").await?);
    let address =
        |listener: &TcpListener| listener.local_addr().context("failed to read an address");
    let places = Places { tcp: address(&tcp)?, http: address(&http)?, tls: tls.is_some() };
    let log = open_log(&settings.data)?;
    let (games, houses) = (Registry::standard(), Houses::standard());
    let runtime = tokio::runtime::Handle::current();
    let engine = Engine::open(log, games, houses, settings.settings, runtime.clone())
        .map_err(|error| explained(error, &settings.data))?;
    let handle = engine.handle();
    let (over, mut ended) = oneshot::channel();
    std::thread::spawn(move || over.send(engine.run()));
    let token = operator_token(&handle, args.operator_token).await?;
    let gateway = Gateway::start(handle.clone(), settings.limits, tls.clone(), &runtime);
    tokio::spawn(serve_tcp(tcp, gateway.clone()));
    tokio::spawn(serve_http(http, gateway));
    if let Some(tls) = tls {
        tokio::spawn(reload(signal(SignalKind::hangup())?, tls));
    }
    tokio::spawn(announce_all(handle.clone(), settings.tournaments));
    say(args.json, &places, token.as_deref())?;
    let result = tokio::select! {
        result = &mut ended => result,
        () = asked_to_stop(signals, handle) => ended.await,
    };
    let result = result.context("failed: the engine ended without a word")?;
    result.map_err(|error| explained(error, &settings.data))?;
    Ok(Exit::Success)
}

/// Where the server listens.
struct Places {
    tcp: SocketAddr,
    http: SocketAddr,
    tls: bool,
}

async fn listen(address: &str, flag: &str) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let next = match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                format!("another program listens there; stop it, or choose another with {flag}")
            }
            std::io::ErrorKind::InvalidInput => {
                return Misuse(format!("{address:?} is no address; use HOST:PORT")).into();
            }
            _ => format!("choose another with {flag} HOST:PORT"),
        };
        anyhow::anyhow!("failed to listen on {address}: {error}; {next}")
    })
}

/// Opens the log in the folder, and makes the folder if it is not there.
fn open_log(dir: &Path) -> Result<Arc<dyn Log>> {
    use std::os::unix::fs::DirBuilderExt;
    // Passwords' hashes and tournaments' secrets are in it: for its owner only.
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.with_context(|| format!("failed to make the folder {}", dir.display()))?;
    let log = SqliteLog::open(dir.join(LOG_FILE))
        .map_err(|error| explained(EngineError::Log(error), dir))?;
    Ok(Arc::new(log))
}

/// An error with what to do about it.
fn explained(error: EngineError, dir: &Path) -> anyhow::Error {
    let dir = dir.display();
    let next = match &error {
        EngineError::Log(LogError::Locked { .. }) => {
            "stop the other server, or give another folder with --data".to_owned()
        }
        EngineError::Log(LogError::Io { .. }) | EngineError::Append(_) => {
            format!("make sure that {dir} can be written and has room, and start again")
        }
        EngineError::Log(_) | EngineError::Line { .. } | EngineError::Fold { .. } => format!(
            "the log is damaged: put a copy of {dir} back, \
             or see what is left with `agon log repair {dir}`"
        ),
        _ => "start the server again".to_owned(),
    };
    let words = format!("{error}; {next}");
    anyhow::Error::new(error).context(words)
}

/// The operator's token, if this is the first start or a new one was asked for.
async fn operator_token(handle: &Handle, asked: bool) -> Result<Option<String>> {
    let name = PlayerName::new(OPERATOR).expect("a good name");
    let made = handle.call(move |engine| {
        let known = engine.lobby().accounts().any(|(_, account)| account.role == Role::Operator);
        (asked || !known).then(|| engine.operator_token(name))
    });
    let Some(Some(token)) = made.await else { return Ok(None) };
    // If the engine ends instead, that is what will be told.
    Ok(token?.await.ok())
}

fn say(json: bool, places: &Places, token: Option<&str>) -> Result<()> {
    use std::io::Write;
    let Places { tcp, http, tls } = places;
    let (stream, scheme, socket) =
        if *tls { ("tls", "https", "wss") } else { ("tcp", "http", "ws") };
    let websocket = format!("{socket}://{http}/api/v1/play");
    let listeners =
        format!("players: {stream} {tcp}\nplayers: {websocket}\nhttp: {scheme}://{http}/api/v1\n");
    let text = match (json, token) {
        (true, token) => {
            let players = serde_json::json!({"tcp": tcp, "websocket": websocket});
            let mut line = serde_json::json!({"players": players, "http": http, "tls": tls});
            if let Some(token) = token {
                line["operator"] = serde_json::json!({"account": OPERATOR, "token": token});
            }
            format!("{line}\n")
        }
        (false, Some(token)) => format!(
            "operator: token {token} (shown once; agon serve --operator-token makes a new one)\n\
             {listeners}"
        ),
        (false, None) => listeners,
    };
    super::print(&text)?;
    Ok(std::io::stdout().flush()?)
}

/// Waits for the first signal and has the engine stop; the second ends the process.
async fn asked_to_stop((mut interrupt, mut terminate): (Signal, Signal), handle: Handle) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    eprintln!("agon: stopping; the next start goes on from here");
    handle.stop();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        // Nothing is lost: whatever was told is in the log.
        std::process::exit(Exit::Stopped as i32);
    });
}

/// Reads the certificate again at every hang-up.
async fn reload(mut hang_ups: Signal, tls: Arc<Tls>) {
    while hang_ups.recv().await.is_some() {
        match tls.reload() {
            Ok(()) => eprintln!("agon: the certificate was read again"),
            Err(error) => eprintln!("agon: {error}; the old certificate stays"),
        }
    }
}

/// Announces the tournaments of the configuration as their players come.
async fn announce_all(handle: Handle, mut waiting: Vec<Announcement>) {
    let mut timer = tokio::time::interval(Duration::from_millis(LOOK_MS));
    while !waiting.is_empty() {
        timer.tick().await;
        let looked = handle.call(move |engine| {
            waiting.retain(|announcement| look_for_players(engine, announcement));
            waiting
        });
        let Some(left) = looked.await else { return };
        waiting = left;
    }
}

/// Announces a tournament if its players are here; says whether it has to wait.
fn look_for_players(engine: &mut Engine, announcement: &Announcement) -> bool {
    let lobby = engine.lobby();
    if lobby.tournament(&announcement.id).is_some() {
        return false;
    }
    let line = lobby.line();
    let free = |player: &&PlayerName| {
        lobby.account(player).is_some_and(|account| account.blacklisted.is_none())
    };
    let ready = match &announcement.selection {
        Selection::Line { at_most } => line.iter().filter(free).count() >= *at_most as usize,
        Selection::Named { players } => players
            .iter()
            .all(|player| player.as_str().starts_with("house:") || line.contains(player)),
        _ => false,
    };
    if !ready {
        return true;
    }
    let id = &announcement.id;
    match engine.announce(announcement.clone()) {
        Ok(()) => eprintln!("agon: tournament {id} starts"),
        Err(error) => eprintln!("agon: tournament {id} cannot be held: {error}"),
    }
    false
}
