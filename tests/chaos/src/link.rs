//! The network between one player and the server: a relay that can disturb traffic. Every player
//! has their own port, and all their traffic goes through it.

use anyhow::{Context, Result};
use socket2::SockRef;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// How the relay treats the bytes of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    Free,
    /// Each piece is delayed by this much.
    Late(u64),
    /// A few bytes at a time.
    Trickle,
    /// The relay reads nothing, so the sender's buffers fill up.
    Held,
    /// The relay reads everything and forwards nothing, as on a half-open connection.
    Lost,
}

/// How the relay treats new connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NewConnections {
    Open,
    /// Closed immediately.
    Refused,
    /// Accepted and left without a reply.
    Silent,
}

/// How connections are closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cut {
    /// With a FIN, as if the other end had closed it.
    Fin,
    /// With a reset.
    Reset,
}

/// The state of a link. Connections that are older than `cut_at` are closed.
#[derive(Clone, Copy, Debug)]
struct Weather {
    up: Flow,
    down: Flow,
    new_connections: NewConnections,
    cut_at: u64,
    cut: Cut,
}

const FAIR: Weather = Weather {
    up: Flow::Free,
    down: Flow::Free,
    new_connections: NewConnections::Open,
    cut_at: 0,
    cut: Cut::Reset,
};

/// How long connecting to the server may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of a trickle, and the pause between.
const DRIPS: (usize, Duration) = (48, Duration::from_millis(4));

/// A player's connection to the server.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) address: SocketAddr,
    weather: Arc<watch::Sender<Weather>>,
    /// Where the latest connection leads.
    leads_to: LeadsTo,
}

type LeadsTo = Arc<Mutex<Option<SocketAddr>>>;

impl Link {
    /// Opens a relay to the address that `server` currently holds.
    pub(crate) async fn open(server: watch::Receiver<SocketAddr>) -> Result<Link> {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("a port for a player")?;
        let address = listener.local_addr()?;
        let weather = Arc::new(watch::Sender::new(FAIR));
        let leads_to = LeadsTo::default();
        tokio::spawn(take_in(listener, server, Arc::clone(&weather), Arc::clone(&leads_to)));
        Ok(Link { address, weather, leads_to })
    }

    /// Where the latest connection leads.
    pub(crate) fn leads_to(&self) -> Option<SocketAddr> {
        *self.leads_to.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn flows(&self, up: Flow, down: Flow) {
        self.weather.send_modify(|weather| (weather.up, weather.down) = (up, down));
    }

    pub(crate) fn new_connections(&self, new_connections: NewConnections) {
        self.weather.send_modify(|weather| weather.new_connections = new_connections);
    }

    /// Closes all current connections.
    pub(crate) fn cut(&self, cut: Cut) {
        self.weather.send_modify(|weather| {
            weather.cut_at += 1;
            weather.cut = cut;
        });
    }

    /// Heals the link. Connections that lost bytes are useless, so they are closed.
    pub(crate) fn heal(&self) {
        let was = *self.weather.borrow();
        if was.up == Flow::Lost
            || was.down == Flow::Lost
            || was.new_connections == NewConnections::Silent
        {
            self.cut(Cut::Reset);
        }
        self.weather.send_modify(|weather| *weather = Weather { cut_at: weather.cut_at, ..FAIR });
    }
}

async fn take_in(
    listener: TcpListener,
    server: watch::Receiver<SocketAddr>,
    weather: Arc<watch::Sender<Weather>>,
    leads_to: LeadsTo,
) {
    loop {
        let Ok((player, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (now, to) = (*weather.borrow(), *server.borrow());
        *leads_to.lock().unwrap_or_else(PoisonError::into_inner) = Some(to);
        let mut seen = weather.subscribe();
        match now.new_connections {
            NewConnections::Refused => end(&player, Cut::Reset),
            NewConnections::Silent => drop(tokio::spawn(async move {
                let _ = seen.wait_for(|weather| weather.cut_at > now.cut_at).await;
                end(&player, Cut::Reset);
            })),
            NewConnections::Open => drop(tokio::spawn(relay(player, to, seen, now.cut_at))),
        }
    }
}

fn end(socket: &TcpStream, cut: Cut) {
    if cut == Cut::Reset {
        let _ = SockRef::from(socket).set_linger(Some(Duration::ZERO));
    }
}

async fn relay(
    mut player: TcpStream,
    to: SocketAddr,
    mut weather: watch::Receiver<Weather>,
    born: u64,
) {
    let server = tokio::time::timeout(PATIENCE, TcpStream::connect(to)).await;
    let Ok(Ok(mut server)) = server else { return end(&player, Cut::Reset) };
    for socket in [&player, &server] {
        let _ = socket.set_nodelay(true);
    }
    let cut = {
        let (from_player, to_player) = player.split();
        let (from_server, to_server) = server.split();
        let up = pump(from_player, to_server, weather.clone(), |weather| weather.up);
        let down = pump(from_server, to_player, weather.clone(), |weather| weather.down);
        tokio::select! {
            done = async { tokio::try_join!(up, down) } => match done {
                Ok(_) => Cut::Fin,
                Err(_) => Cut::Reset,
            },
            seen = weather.wait_for(|weather| weather.cut_at > born) => {
                seen.map_or(Cut::Reset, |weather| weather.cut)
            }
        }
    };
    [&player, &server].into_iter().for_each(|socket| end(socket, cut));
}

/// Forwards one direction until it ends.
async fn pump(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    mut weather: watch::Receiver<Weather>,
    of: impl Fn(&Weather) -> Flow,
) -> io::Result<()> {
    let mut piece = vec![0; 16 * 1024];
    loop {
        let mut flow = of(&weather.borrow_and_update());
        if flow == Flow::Held {
            let _ = weather.changed().await;
            continue;
        }
        let count = tokio::select! {
            count = from.read(&mut piece) => count?,
            // The state of the link changed while nothing was sent.
            _ = weather.changed() => continue,
        };
        if count == 0 {
            return to.shutdown().await;
        }
        let mut rest = &piece[..count];
        while !rest.is_empty() {
            flow = of(&weather.borrow());
            let now = match flow {
                Flow::Free => rest.len(),
                Flow::Late(wait_ms) => {
                    tokio::time::sleep(Duration::from_millis(wait_ms)).await;
                    rest.len()
                }
                Flow::Trickle => {
                    tokio::time::sleep(DRIPS.1).await;
                    rest.len().min(DRIPS.0)
                }
                Flow::Held => {
                    let _ = weather.wait_for(|weather| of(weather) != Flow::Held).await;
                    continue;
                }
                Flow::Lost => break,
            };
            to.write_all(&rest[..now]).await?;
            rest = &rest[now..];
        }
    }
}
