//! Playing on a server from a Rust program.
//!
//! A [`Client`] connects, logs in, and delivers requests and notifications as [`ClientEvent`]s. When the
//! connection closes, it reconnects with its token. It sends an answer that may have been lost
//! again if, and only if, the server repeats the request. [`play`] runs a [`Player`] on a client:
//!
//! ```no_run
//! use agon_client::{Address, Client, ClientError, ClientSettings, Login, Request, Until, play};
//! use agon_games::Game;
//! use agon_games::yahtzee::Yahtzee;
//!
//! # async fn example() -> Result<(), ClientError> {
//! let login = Login::password("ann", "swordfish").register();
//! let settings = ClientSettings::new(Address::parse("127.0.0.1:7300")?, login);
//! let mut client = Client::connect(settings).await?;
//! client.enqueue("yahtzee-queue").await?;
//! // Any legal answer will do: the first one.
//! let mut player = |request: &Request| {
//!     let (question, view) = (request.question_as::<Yahtzee>()?, request.view_as::<Yahtzee>()?);
//!     let answer = Yahtzee::legal_in(&question, &view).into_iter().next();
//!     Ok(agon_games::json(&answer))
//! };
//! let won = play(&mut client, &mut player, Until::Tournaments(1)).await?;
//! println!("{} of 1 won", won);
//! # Ok(())
//! # }
//! ```
//!
//! [`http`] is the other interface: one request at a time, and server-sent events. Both work with
//! or without TLS; [`CERTIFICATES`] names the trusted certificates, if not those of the system.
#![forbid(unsafe_code)]

#[cfg(feature = "house")]
mod house;
pub mod http;
mod memory;
mod message;
mod play;
mod running;
mod socket;
mod task;
mod transport;

#[cfg(feature = "house")]
pub use house::House;
pub use message::{InMatch, Notice, Refused, Request};
pub use play::{Player, Until, play};
pub use running::Running;
pub use socket::CERTIFICATES;
pub use transport::Address;

use agon_core::lobby::AccountKind;
use agon_core::{Age, Nonce, PlayerName, TournamentId};
use agon_games::Json;
use std::fmt;
use task::{Command, Task};
use tokio::sync::mpsc;

/// How many events may wait for the reader.
const EVENTS_MAX: usize = 256;
/// How many commands may wait for the connection.
const COMMANDS_MAX: usize = 64;

/// How to log in.
#[derive(Clone)]
pub enum Login {
    /// By name and password.
    Password {
        /// The account.
        account: String,
        /// Its password.
        password: String,
        /// True to create the account if there is none.
        register: bool,
        /// The kind of a new account: a program or a person.
        kind: AccountKind,
    },
    /// By a token of an earlier login.
    Token(String),
}

impl Login {
    /// By name and password.
    pub fn password(account: impl Into<String>, password: impl Into<String>) -> Login {
        let (account, password, kind) = (account.into(), password.into(), AccountKind::Program);
        Login::Password { account, password, register: false, kind }
    }

    /// Also creates the account if there is none.
    #[must_use]
    pub fn register(mut self) -> Login {
        if let Login::Password { register, .. } = &mut self {
            *register = true;
        }
        self
    }

    /// Marks a new account as a person's.
    #[must_use]
    pub fn person(mut self) -> Login {
        if let Login::Password { kind, .. } = &mut self {
            *kind = AccountKind::Person;
        }
        self
    }
}

impl fmt::Debug for Login {
    /// Without passwords and tokens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Login::Password { account, .. } => write!(f, "Password({account:?}, …)"),
            Login::Token(_) => f.write_str("Token(…)"),
        }
    }
}

/// Where to play, under which account, and how to reconnect.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// The server.
    pub server: Address,
    /// How to log in.
    pub login: Login,
    /// The name of the program.
    pub name: String,
    /// The player's contribution to the randomness of its games.
    pub nonce: Option<Nonce>,
    /// The configuration that the player proposes to tournaments that ask for one.
    pub proposal: Option<Json>,
    /// True if every request includes past turns and finished games.
    pub history: bool,
    /// The first wait before a reconnect, in milliseconds; it doubles every time.
    pub back_off_ms: u64,
    /// The longest wait before a reconnect.
    pub back_off_ms_max: u64,
    /// After how many failed attempts in a row to give up.
    pub tries_max: u32,
}

impl ClientSettings {
    /// The defaults: attempts at most five seconds apart, for about an hour.
    pub fn new(server: Address, login: Login) -> ClientSettings {
        ClientSettings {
            server,
            login,
            name: concat!("agon-client/", env!("CARGO_PKG_VERSION")).into(),
            nonce: None,
            proposal: None,
            history: false,
            back_off_ms: 25,
            back_off_ms_max: 5_000,
            tries_max: 1_000,
        }
    }
}

/// An event that a client delivers.
#[derive(Debug)]
pub enum ClientEvent {
    /// A question to answer.
    Request(Request),
    /// The server repeated a request, with a new deadline; it still needs one answer.
    Again(Request),
    /// A notification.
    Notice(Notice),
    /// The server rejected a message; it changed nothing.
    Refused(Refused),
    /// The server carried out a request to the lobby of this type.
    Done(String),
    /// The connection is lost; the client reconnects.
    Lost,
    /// The client has reconnected.
    Back {
        /// How many tournaments the player is in.
        active: u64,
    },
}

/// Why a client cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Not the address of a server.
    #[error("{0:?} is no address of a server; use HOST:PORT, tls://HOST:PORT or wss://HOST")]
    Address(String),
    /// The server cannot be reached.
    #[error("failed to reach {server}: {why}")]
    Unreachable {
        /// Where.
        server: String,
        /// Why.
        why: std::io::Error,
    },
    /// The server rejected the login.
    #[error("failed to log in: {0}")]
    Login(Refused),
    /// The account logged in elsewhere.
    #[error("the account logged in on another connection")]
    TakenOver,
    /// The client could not reconnect.
    #[error("gave up on {server} after {tries} tries")]
    GaveUp {
        /// Where.
        server: String,
        /// How many attempts it made.
        tries: u32,
    },
    /// The player cannot read a request.
    #[error("failed to read a request: {0}")]
    Request(String),
    /// The player has no answer.
    #[error("failed to answer: {0}")]
    Player(String),
    /// The client has already ended.
    #[error("the client has ended")]
    Ended,
}

/// A connection to a server that reconnects by itself. Dropping it closes the connection; in a
/// match, that counts as a disconnect.
#[derive(Debug)]
pub struct Client {
    account: PlayerName,
    token: Option<String>,
    events: mpsc::Receiver<Result<ClientEvent, ClientError>>,
    commands: mpsc::Sender<Command>,
}

impl Client {
    /// Connects and logs in. The client reconnects only after this first login succeeded.
    pub async fn connect(settings: ClientSettings) -> Result<Client, ClientError> {
        let (sender, events) = mpsc::channel(EVENTS_MAX);
        let (commands, asked) = mpsc::channel(COMMANDS_MAX);
        let (task, welcome) = Task::connect(settings, sender, asked).await?;
        let token = task.token();
        tokio::spawn(task.run());
        Ok(Client { account: welcome.account, token, events, commands })
    }

    /// The account.
    pub fn account(&self) -> &PlayerName {
        &self.account
    }

    /// The token to reconnect with, also from another process.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// The next event. Cancellation-safe.
    pub async fn next(&mut self) -> Result<ClientEvent, ClientError> {
        self.events.recv().await.unwrap_or(Err(ClientError::Ended))
    }

    /// Answers a request. The client does not send answers to requests that are not open.
    pub async fn answer(&self, id: &str, answer: &Json) -> Result<(), ClientError> {
        let id = id.to_owned();
        let line = serde_json::json!({"type": "answer", "id": id, "answer": answer}).to_string();
        self.send(Command::Answer { id, line }).await
    }

    /// Like `answer`, with a line that is the whole message, for programs that write messages
    /// themselves.
    pub async fn answer_line(&self, id: &str, line: String) -> Result<(), ClientError> {
        self.send(Command::Answer { id: id.to_owned(), line }).await
    }

    /// Sends a line as it is, once. An invalid message may cost a match.
    pub async fn line(&self, line: String) -> Result<(), ClientError> {
        self.send(Command::Line(line)).await
    }

    /// Enters a queue once more.
    pub async fn enqueue(&self, queue: &str) -> Result<(), ClientError> {
        self.lobby(serde_json::json!({"type": "enqueue", "queue": queue})).await
    }

    /// Leaves a queue once.
    pub async fn dequeue(&self, queue: &str) -> Result<(), ClientError> {
        self.lobby(serde_json::json!({"type": "dequeue", "queue": queue})).await
    }

    /// Signs up for a tournament. The age orders players in games that go by it.
    pub async fn sign_up(
        &self,
        tournament: &TournamentId,
        age: Option<Age>,
    ) -> Result<(), ClientError> {
        let mut message = serde_json::json!({"type": "sign-up", "tournament": tournament});
        if let Some(age) = age {
            message["age"] = serde_json::json!(age);
        }
        self.lobby(message).await
    }

    /// Withdraws a sign-up, or leaves a running tournament.
    pub async fn withdraw(&self, tournament: &TournamentId) -> Result<(), ClientError> {
        self.lobby(serde_json::json!({"type": "withdraw", "tournament": tournament})).await
    }

    /// Accepts an invitation, in reply to the notification `invitation`.
    pub async fn accept(&self, tournament: &TournamentId) -> Result<(), ClientError> {
        self.lobby(serde_json::json!({"type": "accept", "tournament": tournament})).await
    }

    /// Rejects an invitation, or withdraws its acceptance.
    pub async fn reject(&self, tournament: &TournamentId) -> Result<(), ClientError> {
        self.lobby(serde_json::json!({"type": "reject", "tournament": tournament})).await
    }

    /// Confirms readiness for a tournament, in reply to the notification `ready-asked`.
    pub async fn ready(&self, tournament: &TournamentId) -> Result<(), ClientError> {
        self.lobby(serde_json::json!({"type": "ready", "tournament": tournament})).await
    }

    /// Announces a tournament: the object of `POST /api/v1/tournaments`. Its result arrives as the
    /// notification `tournament-result`.
    pub async fn announce(&self, tournament: &serde_json::Value) -> Result<(), ClientError> {
        self.lobby(serde_json::json!({"type": "announce", "tournament": tournament})).await
    }

    /// Subscribes to notifications `sign-up-open` for all sign-ups, as long as this connection
    /// lasts.
    pub async fn subscribe(&self) -> Result<(), ClientError> {
        self.lobby(serde_json::json!({"type": "subscribe"})).await
    }

    async fn lobby(&self, message: serde_json::Value) -> Result<(), ClientError> {
        self.line(message.to_string()).await
    }

    async fn send(&self, command: Command) -> Result<(), ClientError> {
        self.commands.send(command).await.map_err(|_| ClientError::Ended)
    }
}
