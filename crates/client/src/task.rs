//! The task behind a client: it holds the connection, reconnects when it closes, and sends an
//! answer exactly once for every time the server requests it.

use super::memory::{Memory, RequestAction};
use super::message::{Message, Refused, Welcome};
use super::transport::{NodeAddress, Wire};
use super::{ClientError, ClientEvent, ClientSettings, Login};
use agon_wire::native::PROTOCOL_VERSION;
use serde_json::json;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How many events wait here, besides those in the channel, before the task stops reading the
/// socket.
const PENDING_MAX: usize = 64;
/// How long a login may take.
const LOGIN: Duration = Duration::from_secs(30);
/// How long one of several nodes may take for its first message before the client tries the next.
/// A node whose process hangs accepts connections. Checking a password may take longer.
const FIRST_MESSAGE_OF_NODE: Duration = Duration::from_secs(3);
/// After this long without a message, the task sends a ping; after as long again, the connection
/// counts as lost.
const QUIET: Duration = Duration::from_secs(20);

/// Commands of the client to its task.
#[derive(Debug)]
pub(super) enum Command {
    Answer { id: String, line: String },
    Line(String),
}

pub(super) struct Task {
    settings: ClientSettings,
    token: Option<String>,
    events: mpsc::Sender<Result<ClientEvent, ClientError>>,
    commands: mpsc::Receiver<Command>,
    pending: VecDeque<ClientEvent>,
    wire: Wire,
    /// The place of the current node in the server's address.
    node: usize,
    memory: Memory,
    /// When the last message arrived, and whether a ping was sent since.
    heard: Instant,
    pinged: bool,
}

/// Why a connection ended.
enum Over {
    /// The client was dropped.
    Dropped,
    Lost,
    Failed(ClientError),
}

/// The next thing to handle.
enum Next {
    Room(bool),
    Command(Option<Command>),
    Line(io::Result<String>),
    Quiet,
}

impl Task {
    /// Connects and logs in.
    pub(super) async fn connect(
        settings: ClientSettings,
        events: mpsc::Sender<Result<ClientEvent, ClientError>>,
        commands: mpsc::Receiver<Command>,
    ) -> Result<(Task, Welcome), ClientError> {
        let mut token = match &settings.login {
            Login::Token(token) => Some(token.clone()),
            Login::Password { .. } => None,
        };
        let mut node = 0;
        let (wire, welcome) = log_in(&settings, &mut token, &mut node).await?;
        let task = Task {
            settings,
            token,
            events,
            commands,
            pending: VecDeque::new(),
            wire,
            node,
            memory: Memory::new(),
            heard: Instant::now(),
            pinged: false,
        };
        Ok((task, welcome))
    }

    pub(super) fn token(&self) -> Option<String> {
        self.token.clone()
    }

    pub(super) async fn run(mut self) {
        loop {
            let error = match self.talk().await {
                Over::Dropped => return,
                Over::Failed(error) => error,
                Over::Lost => {
                    self.pending.push_back(ClientEvent::Lost);
                    match self.come_back().await {
                        Ok(()) => continue,
                        Err(error) => error,
                    }
                }
            };
            for event in self.pending {
                if self.events.send(Ok(event)).await.is_err() {
                    return;
                }
            }
            let _ = self.events.send(Err(error)).await;
            return;
        }
    }

    async fn talk(&mut self) -> Over {
        loop {
            match self.next().await {
                Next::Room(false) | Next::Command(None) => return Over::Dropped,
                Next::Room(true) => {}
                Next::Command(Some(command)) => {
                    let line = match command {
                        Command::Answer { id, line } => self.memory.answered(&id, line),
                        Command::Line(line) => Some(line),
                    };
                    if let Some(line) = line
                        && self.wire.send(&line).await.is_err()
                    {
                        return Over::Lost;
                    }
                }
                Next::Line(Err(_)) => return Over::Lost,
                Next::Line(Ok(line)) => {
                    (self.heard, self.pinged) = (Instant::now(), false);
                    if let Err(over) = self.hear(line).await {
                        return over;
                    }
                }
                Next::Quiet if self.pinged => return Over::Lost,
                Next::Quiet => {
                    (self.heard, self.pinged) = (Instant::now(), true);
                    if self.wire.send(r#"{"type":"ping"}"#).await.is_err() {
                        return Over::Lost;
                    }
                }
            }
        }
    }

    async fn next(&mut self) -> Next {
        let Task { events, commands, pending, wire, .. } = self;
        let (waits, room) = (!pending.is_empty(), pending.len() < PENDING_MAX);
        tokio::select! {
            permit = events.reserve(), if waits => match (permit, pending.pop_front()) {
                (Ok(permit), Some(event)) => {
                    permit.send(Ok(event));
                    Next::Room(true)
                }
                _ => Next::Room(false),
            },
            command = commands.recv() => Next::Command(command),
            line = wire.receive(), if room => Next::Line(line),
            () = tokio::time::sleep_until(self.heard + QUIET), if room => Next::Quiet,
        }
    }

    async fn hear(&mut self, line: String) -> Result<(), Over> {
        match Message::read(line) {
            Message::Request(request) => match self.memory.asked(request) {
                RequestAction::Deliver(event) => self.pending.push_back(*event),
                RequestAction::Resend(line) => {
                    self.wire.send(&line).await.map_err(|_| Over::Lost)?;
                }
            },
            Message::Notice(notice) => {
                self.memory.noticed(&notice);
                self.pending.push_back(ClientEvent::Notice(notice));
            }
            Message::Refused(refused) if refused.code == "taken-over" => {
                return Err(Over::Failed(ClientError::TakenOver));
            }
            Message::Refused(refused) => self.pending.push_back(ClientEvent::Refused(refused)),
            Message::Done(what) => self.pending.push_back(ClientEvent::Done(what)),
            Message::Welcome(_) | Message::Other => {}
        }
        Ok(())
    }

    /// Reconnects: soon at first, then less and less often. Of several nodes, the client tries the
    /// next one first: the lost one may accept a connection without serving it.
    async fn come_back(&mut self) -> Result<(), ClientError> {
        self.node += 1;
        let mut wait_ms = self.settings.back_off_ms.max(1);
        for _ in 0..self.settings.tries_max {
            while let Ok(permit) = self.events.try_reserve()
                && let Some(event) = self.pending.pop_front()
            {
                permit.send(Ok(event));
            }
            // Adds up to half of the wait, so that not all clients reconnect at once.
            let jitter = random() % (wait_ms / 2 + 1);
            tokio::select! {
                () = self.events.closed() => return Err(ClientError::Ended),
                () = tokio::time::sleep(Duration::from_millis(wait_ms + jitter)) => {}
            }
            wait_ms = wait_ms.saturating_mul(2).min(self.settings.back_off_ms_max.max(1));
            match log_in(&self.settings, &mut self.token, &mut self.node).await {
                Ok((wire, welcome)) => {
                    self.wire = wire;
                    (self.heard, self.pinged) = (Instant::now(), false);
                    self.memory.connection += 1;
                    self.pending.push_back(ClientEvent::Back { active: welcome.active });
                    return Ok(());
                }
                Err(ClientError::Login(refused)) if is_final(&refused) => {
                    return Err(ClientError::Login(refused));
                }
                Err(_) => {}
            }
        }
        let (server, tries) = (self.settings.server.to_string(), self.settings.tries_max);
        Err(ClientError::GaveUp { server, tries })
    }
}

/// Returns whether another attempt would be rejected as well. All other errors are temporary.
fn is_final(refused: &Refused) -> bool {
    matches!(refused.code.as_str(), "wrong-credentials" | "malformed" | "refused")
}

/// An unpredictable number, good enough to spread clients out.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Logs in to the first node that accepts the player, beginning with `node`, and sets `node` to it.
async fn log_in(
    settings: &ClientSettings,
    token: &mut Option<String>,
    node: &mut usize,
) -> Result<(Wire, Welcome), ClientError> {
    let nodes = settings.server.nodes();
    let first_max = if nodes.len() > 1 { FIRST_MESSAGE_OF_NODE } else { LOGIN };
    let mut tries = 0;
    loop {
        *node %= nodes.len();
        let trying = log_in_to(&nodes[*node], settings, token, first_max);
        let tried = tokio::time::timeout(LOGIN, trying).await;
        tries += 1;
        let error = match tried.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
            Ok(Ok(done)) => return Ok(done),
            Ok(Err(refused)) if is_final(&refused) => return Err(ClientError::Login(refused)),
            Ok(Err(refused)) => ClientError::Login(refused),
            Err(why) => ClientError::Unreachable { server: settings.server.to_string(), why },
        };
        if tries == nodes.len() {
            return Err(error);
        }
        *node += 1;
    }
}

/// Connects, sends `hello` and logs in: by token if there is one, else by password.
async fn log_in_to(
    node: &NodeAddress,
    settings: &ClientSettings,
    token: &mut Option<String>,
    first_max: Duration,
) -> io::Result<Result<(Wire, Welcome), Refused>> {
    let mut wire = in_time(first_max, Wire::open(node)).await?;
    wire.send(&hello(settings)).await?;
    let mut first_max = Some(first_max);
    loop {
        let by_token = token.is_some();
        wire.send(&login(settings, token.as_deref())).await?;
        match welcomed(&mut wire, &mut first_max).await? {
            Ok(welcome) => {
                if welcome.token.is_some() {
                    token.clone_from(&welcome.token);
                }
                return Ok(Ok((wire, welcome)));
            }
            // The token has expired; fall back to the password, if there is one.
            Err(refused)
                if refused.code == "wrong-credentials"
                    && by_token
                    && matches!(settings.login, Login::Password { .. }) =>
            {
                *token = None;
            }
            Err(refused) => return Ok(Err(refused)),
        }
    }
}

async fn in_time<T>(limit: Duration, what: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    tokio::time::timeout(limit, what).await.map_err(|_| io::ErrorKind::TimedOut)?
}

/// Waits for the answer to a login. The first message on a connection must arrive in `first_max`.
async fn welcomed(
    wire: &mut Wire,
    first_max: &mut Option<Duration>,
) -> io::Result<Result<Welcome, Refused>> {
    loop {
        let line = match first_max.take() {
            Some(limit) => in_time(limit, wire.receive()).await?,
            None => wire.receive().await?,
        };
        match Message::read(line) {
            Message::Welcome(welcome) => return Ok(Ok(welcome)),
            Message::Refused(refused) => return Ok(Err(refused)),
            _ => {}
        }
    }
}

fn hello(settings: &ClientSettings) -> String {
    let mut hello = json!({"type": "hello", "protocol": PROTOCOL_VERSION, "name": settings.name});
    if let Some(nonce) = &settings.nonce {
        hello["nonce"] = json!(nonce);
    }
    if let Some(proposal) = &settings.proposal {
        hello["proposal"] = json!(proposal);
    }
    if settings.history {
        hello["history"] = json!(true);
    }
    hello.to_string()
}

fn login(settings: &ClientSettings, token: Option<&str>) -> String {
    let login = match (&settings.login, token) {
        (_, Some(token)) => json!({"type": "login", "token": token}),
        (Login::Token(token), None) => json!({"type": "login", "token": token}),
        (Login::Password { account, password, register, kind }, None) => json!({
            "type": "login",
            "account": account,
            "password": password,
            "register": register,
            "kind": kind,
        }),
    };
    login.to_string()
}
