//! The players: each logs in with a token, plays, and reconnects when its connection closes.

use super::answer::{Next, ReceivedRequest};
use super::load::{Load, Responder, drive};
use super::nodes;
use super::peer;
use super::server::Operator;
use super::wire::{Inbox, Wire};
use agon_wire::erlang::term::Term;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// How long a player waits before it tries to connect again.
const AGAIN: Duration = Duration::from_millis(50);

/// All players of a run. Dropping it disconnects them.
pub(super) struct Crew {
    pub(super) load: Rc<Load>,
    state: Rc<State>,
    tasks: Vec<JoinHandle<()>>,
    /// How many players there are.
    count: usize,
}

pub(super) struct State {
    pub(super) place: SocketAddr,
    wire: Wire,
    /// How many players are logged in.
    pub(super) here: Cell<usize>,
    /// Connections that closed unexpectedly.
    pub(super) lost: Cell<u64>,
    /// The first error.
    complaint: RefCell<Option<String>>,
    /// By match, when a player last gave an answer that passes the turn to another player.
    pub(super) passed_on: RefCell<HashMap<u64, Instant>>,
    /// The tickets that players on Erlang nodes got at login, by their number.
    pub(super) tickets: RefCell<HashMap<u32, Term>>,
    /// The running tournaments, with the number of their players.
    played: RefCell<HashMap<String, usize>>,
    /// The sizes of tournaments that have ended and not been replaced yet.
    ended: RefCell<Vec<usize>>,
    some_ended: Notify,
}

impl State {
    /// Records that a tournament has ended. Each of its players gets this notification.
    fn ended(&self, notice: &[u8]) -> Result<()> {
        let notice: Value = serde_json::from_slice(notice).context("a notice")?;
        let tournament =
            notice["data"]["tournament"].as_str().context("a tournament that ended")?;
        if let Some(players) = self.played.borrow_mut().remove(tournament) {
            self.ended.borrow_mut().push(players);
            self.some_ended.notify_one();
        }
        Ok(())
    }
}

impl Crew {
    /// Connects players to a server, one for each token (or each name, where the protocol needs no
    /// more).
    pub(super) fn send(place: SocketAddr, wire: Wire, tokens: &[String]) -> Crew {
        let state = Rc::new(State {
            place,
            wire,
            here: Cell::new(0),
            lost: Cell::new(0),
            complaint: RefCell::default(),
            passed_on: RefCell::default(),
            tickets: RefCell::default(),
            played: RefCell::default(),
            ended: RefCell::default(),
            some_ended: Notify::new(),
        });
        let (load, count) = (Rc::new(Load::default()), tokens.len());
        let shared = || (Rc::clone(&state), Rc::clone(&load));
        let tasks = match wire {
            Wire::Terms => {
                let firsts = (0..count).step_by(nodes::PLAYERS_EACH);
                let nodes = firsts.map(|first| {
                    let players = first..(first + nodes::PLAYERS_EACH).min(count);
                    let (state, load) = shared();
                    tokio::task::spawn_local(async move { stay_node(&state, &load, players).await })
                });
                nodes.collect()
            }
            _ => {
                let players = tokens.iter().map(|token| {
                    let ((state, load), token) = (shared(), token.clone());
                    tokio::task::spawn_local(async move { stay(&state, &load, &token).await })
                });
                players.collect()
            }
        };
        Crew { load, state, tasks, count }
    }

    /// Waits until all players are logged in, and returns how long that took.
    pub(super) async fn all_here(&self, patience: Duration) -> Result<Duration> {
        let started = Instant::now();
        while self.state.here.get() < self.count {
            if started.elapsed() > patience {
                let (here, all) = (self.state.here.get(), self.count);
                let complaint = self.state.complaint.borrow().clone().unwrap_or_default();
                bail!("only {here} of {all} players are logged in after {patience:?} {complaint}");
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(started.elapsed())
    }

    /// Records that a tournament with this many players runs.
    pub(super) fn plays(&self, tournament: String, players: usize) {
        self.state.played.borrow_mut().insert(tournament, players);
    }

    /// Replaces every tournament that ends: a match of two players that answer immediately takes
    /// only seconds.
    pub(super) fn start_again(
        &self,
        operator: Operator,
        game: String,
        usual: bool,
    ) -> JoinHandle<()> {
        let state = Rc::clone(&self.state);
        tokio::task::spawn_local(async move {
            for number in 1_u64.. {
                let players = loop {
                    let next = state.ended.borrow_mut().pop();
                    match next {
                        Some(players) => break players,
                        None => state.some_ended.notified().await,
                    }
                };
                let name = format!("bench-again-{number}");
                match operator.tournament(&name, &game, players, usual).await {
                    Ok(()) => drop(state.played.borrow_mut().insert(name, players)),
                    Err(error) => {
                        state.complaint.borrow_mut().get_or_insert(format!("{error:#}"));
                    }
                }
            }
        })
    }

    /// Disconnects all players.
    pub(super) fn leave(&self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }

    /// Waits until all players have noticed that the server ended.
    pub(super) async fn all_gone(&self) {
        while self.state.here.get() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Clears the errors so far, after the benchmark caused them itself.
    pub(super) fn forgive(&self) {
        self.state.lost.set(0);
        *self.state.complaint.borrow_mut() = None;
    }

    /// The first error so far, and how many connections were lost.
    pub(super) fn complaint(&self) -> Option<String> {
        let first = self.state.complaint.borrow().clone()?;
        Some(format!("{first} ({} connections were lost)", self.state.lost.get()))
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Connects, logs in and plays, and reconnects when the connection closes.
async fn stay(state: &State, load: &Load, token: &str) {
    loop {
        let visit = async {
            let (mut stream, mut inbox) = log_in(state, token).await?;
            state.here.set(state.here.get() + 1);
            let mut player = Player { state, load, own: Vec::new(), answered: Vec::new() };
            let over = drive(&mut stream, &mut inbox, state.wire, load, &mut player).await;
            state.here.set(state.here.get() - 1);
            state.lost.set(state.lost.get() + 1);
            over
        };
        if let Err(error) = visit.await {
            state.complaint.borrow_mut().get_or_insert(format!("{error:#}"));
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Does the same for a node with some of the players.
async fn stay_node(state: &State, load: &Load, players: Range<usize>) {
    loop {
        if let Err(error) = nodes::visit(state, load, players.clone()).await {
            state.complaint.borrow_mut().get_or_insert(format!("{error:#}"));
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn log_in(state: &State, token: &str) -> Result<(TcpStream, Inbox)> {
    let mut stream = TcpStream::connect(state.place).await.context("failed to connect")?;
    stream.set_nodelay(true)?;
    let mut inbox = Inbox::new();
    if state.wire == Wire::Values {
        // A name is all the protocol needs, and the server does not reply to it.
        stream.write_all(format!("\"{token}\"").as_bytes()).await?;
        return Ok((stream, inbox));
    }
    state.wire.open(&mut stream, &mut inbox).await?;
    let mut out = Vec::new();
    state.wire.message(r#"{"type":"hello","protocol":1,"name":"bench"}"#, &mut out);
    state.wire.message(&format!(r#"{{"type":"login","token":"{token}"}}"#), &mut out);
    stream.write_all(&out).await?;
    loop {
        while let Some(message) = state.wire.next(&mut inbox)? {
            if message.starts_with(br#"{"type":"welcome""#) {
                return Ok((stream, inbox));
            }
            if message.starts_with(br#"{"type":"error""#) {
                bail!("not let in: {}", String::from_utf8_lossy(message));
            }
        }
        if inbox.fill(&mut stream).await? == 0 {
            bail!("the server closed a connection that wanted to log in");
        }
    }
}

/// One player that is logged in.
struct Player<'a> {
    state: &'a State,
    load: &'a Load,
    /// When it answered, for matches where the next request waits for that answer alone.
    own: Vec<(u64, Instant)>,
    /// Answers that are not written yet.
    answered: Vec<(u64, Next)>,
}

impl Responder for Player<'_> {
    fn take(&mut self, message: &[u8], at: Instant, out: &mut Vec<u8>) -> Result<u64> {
        if self.state.wire == Wire::Values {
            return peer::answer(message, out);
        }
        let Some(asked) = ReceivedRequest::read(message) else {
            if message.starts_with(br#"{"type":"error""#) {
                let complaint = String::from_utf8_lossy(message).into_owned();
                self.state.complaint.borrow_mut().get_or_insert(complaint);
            }
            if message.starts_with(br#"{"type":"notice","about":"tournament-ended""#) {
                self.state.ended(message)?;
            }
            return Ok(0);
        };
        let number = asked.match_number();
        let own = self.own.iter().position(|(known, _)| *known == number);
        let since = match own {
            Some(own) => Some(self.own.swap_remove(own).1),
            None => self.state.passed_on.borrow().get(&number).copied(),
        };
        if let Some(since) = since {
            self.load.latency.borrow_mut().note(at.saturating_duration_since(since));
        }
        let began = self.state.wire.begin(out);
        let next = asked.answer(out)?;
        self.state.wire.end(out, began);
        self.answered.push((number, next));
        Ok(1)
    }

    fn wrote(&mut self, at: Instant) {
        for (number, next) in self.answered.drain(..) {
            match next {
                Next::Own => self.own.push((number, at)),
                Next::Others => {
                    self.state.passed_on.borrow_mut().insert(number, at);
                }
            }
        }
    }
}
