//! An engine that is driven by hand: one thread, a clock that is told, connections without sockets.
//!
//! For whoever wants to run the engine in a world of their own making, such as the simulator. What
//! the engine does is the same; only who wakes it, and who writes and reads for it, is another.

use super::journal::StreamKey;
use super::{ConnId, Engine, EngineError, Input, Settings};
use crate::auth::Hashers;
use crate::gateway::{Came, Framing, Limits, Out, Outbox, read_line};
use crate::wires::Wire;
use agon_core::lobby::{AccountKind, Lobby, LobbyCommand, LobbyRejection, Role};
use agon_core::{Match, Millis, PlayerName, Secret, TournamentId};
use agon_games::Registry;
use agon_players::Houses;
use agon_store::Log;
use std::cmp::Reverse;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::{Semaphore, mpsc};

/// The engine, and the numbers of its connections.
pub struct Driven {
    engine: Engine,
    next_conn: ConnId,
    limits: Limits,
}

/// The server's end of a connection: what a gateway holds of it.
pub struct Socket {
    conn: ConnId,
    framing: Framing,
    outbox: mpsc::Receiver<Out>,
    room: Arc<Semaphore>,
}

impl Socket {
    /// Takes the next line that is to be written; it counts as written at `now`.
    pub fn write_one(&mut self, now: Millis) -> Option<Vec<u8>> {
        loop {
            return match self.outbox.try_recv().ok()? {
                Out::Line(line, note) | Out::Rest(line, note) => {
                    if let Some(note) = note {
                        note.store(now, Ordering::Release);
                    }
                    Some(line)
                }
                Out::Tell(_) | Out::Heartbeat | Out::Pong(_) | Out::Close(_) => continue,
            };
        }
    }

    /// Lines that wait to be written.
    pub fn waiting(&self) -> usize {
        self.outbox.len()
    }

    /// Whether the engine will say nothing more on it.
    pub fn is_dropped(&self) -> bool {
        self.outbox.is_closed()
    }

    /// Whether the engine has nothing more to say on it: it is to be closed.
    pub fn is_over(&self) -> bool {
        self.outbox.is_empty() && self.outbox.is_closed()
    }
}

impl Driven {
    /// Opens an engine over a log at `now`, without threads.
    pub fn open(
        log: Arc<dyn Log>,
        games: Registry,
        houses: Houses,
        settings: Settings,
        limits: Limits,
        now: Millis,
    ) -> Result<Driven, EngineError> {
        let mut engine = Engine::empty(log, games, houses, settings, now, Hashers::new(None));
        engine.recover()?;
        engine.submit_decided();
        Ok(Driven { engine, next_conn: 1, limits })
    }

    /// Opens a connection.
    pub fn connect(&mut self) -> Socket {
        let conn = self.next_conn;
        self.next_conn += 1;
        let (out, outbox) = Outbox::new(conn, Wire::Tcp, self.limits.outbox_lines_max, None);
        let from = IpAddr::V4(Ipv4Addr::LOCALHOST);
        self.engine.handle.send(Input::Opened { conn, out, from });
        let framing = Framing::lines(self.limits.line_bytes_max);
        Socket {
            conn,
            framing,
            outbox,
            room: Arc::new(Semaphore::new(self.limits.inbox_lines_max)),
        }
    }

    /// Passes on bytes that were read from a connection at `at`, line by line. Stops when as many
    /// lines wait as may: the others come with the next bytes.
    pub fn hear(&mut self, socket: &mut Socket, bytes: &[u8], at: Millis) {
        socket.framing.push(bytes);
        let conn = socket.conn;
        while let Ok(place) = Arc::clone(&socket.room).try_acquire_owned() {
            let input = match socket.framing.take() {
                None => return,
                Some(Came::Message(line)) => match read_line(line) {
                    Ok(message) => Input::Said { conn, message, at, place },
                    Err((why, line)) => Input::Bad { conn, why, line, place },
                },
                Some(Came::Bad(why)) => Input::Bad { conn, why, line: String::new(), place },
                Some(_) => continue,
            };
            self.engine.handle.send(input);
        }
    }

    /// Tells the engine that a connection is gone.
    pub fn close(&mut self, socket: Socket) {
        self.engine.handle.send(Input::Closed { conn: socket.conn });
    }

    /// Takes everything that waits, does what is due at `now`, and hands the log what was decided.
    pub fn step(&mut self, now: Millis) -> Result<(), EngineError> {
        self.engine.now = now;
        loop {
            let mut heard = false;
            while let Ok(input) = self.engine.inbox.try_recv() {
                heard = true;
                self.engine.take(input);
                if let Some(error) = self.engine.failed.take() {
                    return Err(error);
                }
            }
            self.engine.on_time(now);
            self.engine.submit_decided();
            if let Some(error) = self.engine.failed.take() {
                return Err(error);
            }
            // What was decided may have been answered at once.
            if !heard {
                return Ok(());
            }
        }
    }

    /// When something is due next.
    pub fn next_due(&self) -> Option<Millis> {
        self.engine.timers.peek().map(|Reverse((at, _))| *at)
    }

    /// Makes an account that comes with this token, if there is none.
    pub fn account(
        &mut self,
        account: PlayerName,
        role: Role,
        token: &str,
    ) -> Result<(), LobbyRejection> {
        if self.engine.lobby.account(&account).is_some() {
            return Ok(());
        }
        let (name, kind, password) = (account.clone(), AccountKind::Program, None);
        self.engine.command(LobbyCommand::Register { account: name, kind, role, password })?;
        self.engine.issue_token(account, token).map(|_| ())
    }

    /// Whether a player is here, over whichever connection.
    pub fn is_here(&self, player: &PlayerName) -> bool {
        self.engine.conn_of(player).is_some()
    }

    /// Connections the engine knows of.
    pub fn connections(&self) -> usize {
        self.engine.sessions.len()
    }

    /// The lobby, if nothing of it is on its way to the log.
    pub fn durable_lobby(&self) -> Option<&Lobby> {
        self.engine.is_durable(&StreamKey::Lobby).then_some(&self.engine.lobby)
    }

    /// The matches that run of which nothing is on its way to the log, each with the secret of its
    /// tournament.
    pub fn durable_matches(&self) -> impl Iterator<Item = (&TournamentId, &Match, &Secret)> {
        let durable = self
            .engine
            .matches
            .iter()
            .filter(|(key, _)| self.engine.is_durable(&StreamKey::Match((*key).clone())));
        durable.filter_map(|(key, live)| {
            let tournament = self.engine.tournaments.get(&key.0)?;
            Some((&key.0, &live.played, &tournament.secret))
        })
    }
}
