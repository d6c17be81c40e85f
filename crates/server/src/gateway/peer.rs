//! The wires of other systems over TCP: JSON values both ways, call and answer.
//!
//! This module serves one connection, from its name to its end. It owns the socket, the timeouts
//! and the order of sign-ups. `talk.rs` pairs replies with calls, `agon_wire` translates, and the
//! engine decides.
//!
//! Sign-ups are processed in the order in which connections were accepted. A connection that does
//! not send its name within `order_ms` gives up its place in that order. So nobody waits longer
//! than that for earlier connections. It may still sign up until `sign_up_ms` is over.

use super::arrivals::{ArrivalTurn, Arrivals};
use super::connection::{self, RelayedSeat};
use super::outbox::{Liveness, Out, Outbox};
use super::peer_observer::serve_observer;
use super::{Gateway, Limits, Stream};
use crate::clock::now_ms;
use crate::cluster::{Accepted, PortConnections};
use crate::driver::Handle;
use crate::engine::seat_side::{GRACE_MS, PAUSE_MS, Talk};
use crate::engine::{CloseReason, ConnId, Input, PeerSaid, Peers, SeatKind, Tell};
use crate::net::socket;
use agon_core::{Millis, PlayerName, Timestamp};
use agon_wire::fish::observer::Follow;
use agon_wire::peer::Speaker;
use agon_wire::sign_up::{BadSignUp, Newcomer};
use agon_wire::values::{self, Values};
use std::io::ErrorKind;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

/// How many bytes to read at once.
const READ_BYTES: usize = 8 * 1024;

/// How long to wait before looking again whether a reply is on its way.
const LOOK_MS: Millis = 20;

/// How long a call may be on its way to the node with the socket.
const RELAY_MS_MAX: Millis = 2_000;

/// How long a pause completes a number or a word.
const PAUSE: Duration = Duration::from_millis(PAUSE_MS);

/// Accepts programs until the task is dropped.
pub async fn serve_peers(incoming: impl Into<PortConnections>, gateway: Gateway, peers: Peers) {
    let mut incoming = incoming.into();
    let (peers, arrivals) = (Arc::new(peers), Arc::new(Arrivals::default()));
    loop {
        let room = gateway.place().await;
        let (accepted, from) = incoming.accept().await;
        let Some(guest) = gateway.guest(from) else {
            gateway.engine().meters().turned_away.add();
            continue;
        };
        let place = arrivals.enter();
        let (gateway, peers) = (gateway.clone(), Arc::clone(&peers));
        tokio::spawn(async move {
            visit(&gateway, accepted, from, &peers, place).await;
            drop((room, guest));
        });
    }
}

/// Serves a connection until one of the ends closes it.
async fn visit(
    gateway: &Gateway,
    accepted: Accepted,
    from: IpAddr,
    peers: &Peers,
    place: ArrivalTurn,
) {
    let order = Duration::from_millis(peers.order_ms);
    let (place, arrival) = hold(place, order, arrive(gateway, accepted, peers)).await;
    let mut arrived = match arrival {
        Some(Arrival::Player(arrived)) => *arrived,
        Some(Arrival::Observer(socket, follow)) => {
            drop(place);
            return serve_observer(gateway, socket, from, peers, follow).await;
        }
        None => {
            tracing::debug!(%from, wire = peers.wire().word(), "a connection did not sign up");
            return;
        }
    };
    if let Some(place) = &place
        && !arrived.wait_for_turn(place).await
    {
        return;
    }
    let Arrived { mut socket, name, speaker, values } = arrived;
    let (engine, limits) = (gateway.engine(), gateway.limits());
    if !gateway.0.sign_ups.take(from, limits.sign_ups_per_minute_max, now_ms()) {
        engine.meters().turned_away.add();
        tracing::info!(%from, wire = peers.wire().word(), "too many sign-ups from one address");
        return;
    }
    let (conn, wire) = (connection::number(), peers.wire());
    let seat = SeatKind::program(wire);
    let (out, outbox) = Outbox::new(conn, seat, limits.outbox_lines_max, None);
    let liveness = Arc::clone(out.liveness());
    gateway.0.connections.add(&liveness);
    engine.meters().opened(wire).add();
    tracing::debug!(conn = conn.0, %from, wire = wire.word(), "a connection was opened");
    engine.open(conn, out, from);
    let relayed = RelayedSeat::new(socket.relay().cloned(), conn);
    let talk = Talk::new(speaker, values);
    let (listens, series) = (talk.listens(), Arc::clone(&peers.series));
    let said = PeerSaid::SignUp { name, strict: peers.strict_names, listens, series };
    engine.send(Input::Peer { conn, said, at: now_ms() });
    // The engine takes inputs in order, so the next connection may sign up.
    drop(place);
    let mut visit = Visit { conn, engine, liveness: &liveness, limits, talk, silent_at: None };
    let said_all = visit.run(&mut socket, outbox).await;
    relayed.close(engine, conn);
    connection::note_end(engine, &liveness, conn);
    if said_all {
        socket::linger(&mut socket).await;
    }
}

/// Runs a future, and gives up the place in the order of sign-ups if it takes too long.
async fn hold<T>(
    place: ArrivalTurn,
    order: Duration,
    what: impl Future<Output = T>,
) -> (Option<ArrivalTurn>, T) {
    let mut what = pin!(what);
    match timeout(order, &mut what).await {
        Ok(done) => (Some(place), done),
        Err(_) => {
            drop(place);
            (None, what.await)
        }
    }
}

/// The kind of a connection, by its first value.
enum Arrival {
    Player(Box<Arrived>),
    Observer(Stream, Follow),
}

/// A program that has sent its name.
struct Arrived {
    socket: Stream,
    name: PlayerName,
    speaker: Speaker,
    /// The input after the name.
    values: Values,
}

impl Arrived {
    /// Waits until all earlier connections have signed up or given up their places; `false` if this
    /// one closes first.
    async fn wait_for_turn(&mut self, place: &ArrivalTurn) -> bool {
        let mut piece = [0; 512];
        loop {
            let has_room = self.values.rest().len() < READ_BYTES;
            tokio::select! {
                biased;
                () = place.turn() => return true,
                read = self.socket.read(&mut piece), if has_room => match read {
                    Ok(count @ 1..) => self.values.push(&piece[..count]),
                    _ => return false,
                },
            }
        }
    }
}

/// Makes the TLS handshake if needed, and reads the kind of the connection.
async fn arrive(gateway: &Gateway, accepted: Accepted, peers: &Peers) -> Option<Arrival> {
    let mut socket = match peers.tls {
        true => gateway.stream(accepted).await?,
        false => gateway.plain(accepted),
    };
    let patience = Duration::from_millis(peers.sign_up_ms);
    match timeout(patience, introduction(&mut socket, peers)).await.ok()?? {
        Introduction::Player(name, speaker, values) => {
            Some(Arrival::Player(Box::new(Arrived { socket, name, speaker: *speaker, values })))
        }
        Introduction::Observer(follow) => Some(Arrival::Observer(socket, follow)),
    }
}

/// The first value of a connection.
enum Introduction {
    Player(PlayerName, Box<Speaker>, Values),
    Observer(Follow),
}

/// Reads the first value of a connection; `None` if it is not an introduction.
async fn introduction(socket: &mut Stream, peers: &Peers) -> Option<Introduction> {
    let mut newcomer = Newcomer::new(values::Limits::default(), peers.strict_names);
    let mut piece = [0; 512];
    let first = loop {
        if let Some(first) = newcomer.take() {
            break first;
        }
        match timeout(PAUSE, socket.read(&mut piece)).await {
            Ok(Ok(count @ 1..)) => newcomer.push(&piece[..count]),
            Ok(_) => return None,
            Err(_) => match newcomer.flush() {
                Some(first) => break first,
                None => continue,
            },
        }
    };
    let introduced = first.and_then(|first| match peers.language.observer(&first) {
        Some(follow) => follow.map(Introduction::Observer),
        None => {
            let (name, speaker) = peers.language.sign_up(&first, peers.strict_names)?;
            Ok(Introduction::Player(name, Box::new(speaker), newcomer.into_values()))
        }
    });
    match introduced {
        Ok(introduction) => Some(introduction),
        Err(why) => {
            let wire = peers.wire().word();
            tracing::info!(wire, %why, "a sign-up cannot be read");
            if let BadSignUp::Http = why {
                let _ = socket.write_all(wrong_port(wire).as_bytes()).await;
                let _ = socket.shutdown().await;
                socket::linger(socket).await;
            }
            None
        }
    }
}

/// The reply to a browser or a probe.
fn wrong_port(wire: &str) -> String {
    let text = format!("This port is for {wire} programs. It does not speak HTTP.\n");
    let length = text.len();
    format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{text}"
    )
}

/// A connection that signed up, and its socket.
struct Visit<'a> {
    conn: ConnId,
    engine: &'a Handle,
    liveness: &'a Liveness,
    limits: &'a Limits,
    talk: Talk,
    /// When to close the connection because the open call is unanswered; the engine has its own
    /// deadline.
    silent_at: Option<Timestamp>,
}

impl Visit<'_> {
    /// Serves the connection to its end; returns whether everything was written, so that the other
    /// end may be given time to read it.
    async fn run(&mut self, socket: &mut Stream, mut outbox: mpsc::Receiver<Out>) -> bool {
        let mut piece = [0; READ_BYTES];
        let (mut read_at, mut pause_until) = (now_ms(), None);
        loop {
            let said = self.talk.pair();
            self.pass_on(said, read_at);
            if let Some(tell) = self.talk.next_waiting() {
                match self.say(socket, tell).await {
                    true => continue,
                    false => return false,
                }
            }
            let silent = self.silent_at.filter(|_| self.talk.limit_ms().is_some());
            tokio::select! {
                out = outbox.recv(), if self.talk.takes_more() => match out {
                    Some(Out::Tell(tell)) => {
                        if let Some(tell) = self.talk.take(*tell)
                            && !self.say(socket, tell).await
                        {
                            return false;
                        }
                    }
                    Some(Out::Close(_)) | None => return socket.shutdown().await.is_ok(),
                    Some(_) => {}
                },
                read = socket.read(&mut piece), if self.talk.has_room() => {
                    let Ok(count @ 1..) = read else { return false };
                    read_at = match socket.relay() {
                        Some(relay) => relay.read_at(),
                        None => self.engine.read_at(),
                    };
                    pause_until = Some(Instant::now() + PAUSE);
                    self.liveness.heard(read_at);
                    self.talk.push(&piece[..count]);
                }
                () = at(pause_until), if self.talk.is_inside() && pause_until.is_some() => {
                    pause_until = None;
                    let said = self.talk.flush();
                    self.pass_on(said, read_at);
                }
                () = past(silent), if silent.is_some() => {
                    let now = now_ms();
                    let mut heard_until = self.engine.meters().reads.heard_until(now);
                    if socket.relay().is_some() {
                        heard_until = heard_until.min(self.engine.relay_times().passed_until());
                    }
                    if silent.is_some_and(|silent| heard_until < silent) {
                        // The reply may be in the socket, or on its way: the server itself is late.
                        continue;
                    }
                    self.liveness.ends(CloseReason::Silent);
                    return false;
                }
            }
        }
    }

    fn pass_on(&self, said: Option<PeerSaid>, at: Timestamp) {
        if let Some(said) = said {
            self.engine.send(Input::Peer { conn: self.conn, said, at });
        }
    }

    /// Sends a message; `false` if the other end is gone.
    async fn say(&mut self, socket: &mut Stream, tell: Tell) -> bool {
        let words = self.talk.say(tell);
        if !words.text.is_empty() && !self.write(socket, &words.text).await {
            return false;
        }
        let now = now_ms();
        if let Some(limit_ms) = words.limit_ms() {
            // It takes no longer until a relayed call is written, or the connection is lost.
            let relay_ms = socket.relay().map_or(0, |_| RELAY_MS_MAX);
            self.silent_at = Some(now.saturating_add(limit_ms + GRACE_MS + relay_ms));
        }
        let (delivered, said) = self.talk.said(words);
        match (delivered, socket.relay()) {
            (Some(ask), Some(relay)) => relay.deliver(self.engine, self.conn, ask),
            (Some(ask), None) => {
                self.engine.send(Input::Delivered { conn: self.conn, ask, at: now });
            }
            (None, _) => {}
        }
        self.pass_on(said, now);
        true
    }

    async fn write(&mut self, socket: &mut Stream, text: &str) -> bool {
        let patience = Duration::from_millis(self.limits.write_ms_max);
        let written = socket::write(socket, text.as_bytes(), patience).await;
        if written.as_ref().is_err_and(|error| error.kind() == ErrorKind::TimedOut) {
            self.liveness.ends(CloseReason::Unwritable);
        }
        written.is_ok()
    }
}

/// Waits until the server's clock has passed `then`, at least for a moment.
async fn past(then: Option<Timestamp>) {
    let left_ms = then.map_or(0, |then| then.since(now_ms()));
    tokio::time::sleep(Duration::from_millis(left_ms.max(LOOK_MS))).await;
}

/// Waits until `then`, or for ever.
async fn at(then: Option<Instant>) {
    match then {
        Some(then) => sleep_until(then).await,
        None => std::future::pending().await,
    }
}
