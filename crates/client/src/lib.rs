//! Playing on a server from a Rust program.
//!
//! A [`Client`] connects, logs in, and gives requests and notices as [`Event`]s. When the connection
//! is lost it comes back by itself with its token, and an answer that may have been lost on the way
//! is sent again when, and only when, the server asks for it again. [`play`] puts a [`Player`] on it:
//!
//! ```no_run
//! use agon_client::{Address, Client, ClientError, Login, Request, Settings, Until, play};
//! use agon_games::Game;
//! use agon_games::yahtzee::Yahtzee;
//!
//! # async fn example() -> Result<(), ClientError> {
//! let login = Login::password("ann", "swordfish").register();
//! let settings = Settings::new(Address::parse("127.0.0.1:7300")?, login);
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
//! [`http`] is the other interface: one request at a time, and server-sent events. Both are spoken
//! with TLS or without; [`CERTIFICATES`] names whom to trust, if not those the system trusts.
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

/// Events that wait for their reader.
const EVENTS_MAX: usize = 256;
/// Commands that wait for the connection.
const COMMANDS_MAX: usize = 64;

/// How to prove who one is.
#[derive(Clone)]
pub enum Login {
    /// By name and password.
    Password {
        /// The account.
        account: String,
        /// Its password.
        password: String,
        /// Make the account if there is none.
        register: bool,
        /// What sort of player a new account is: a program or a person.
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

    /// The same, making the account if there is none.
    #[must_use]
    pub fn register(mut self) -> Login {
        if let Login::Password { register, .. } = &mut self {
            *register = true;
        }
        self
    }

    /// The same; a new account is a person's.
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

/// Where to play, as whom, and how to come back.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The server.
    pub server: Address,
    /// Who.
    pub login: Login,
    /// What the program calls itself.
    pub name: String,
    /// What it adds to the luck of its games.
    pub nonce: Option<Nonce>,
    /// The configuration it proposes where a tournament asks for one.
    pub proposal: Option<Json>,
    /// Whether every request shows past turns and finished games.
    pub history: bool,
    /// The first wait before coming back, in milliseconds; every next one is twice as long.
    pub back_off_ms: u64,
    /// The longest wait before coming back.
    pub back_off_ms_max: u64,
    /// After how many tries in a row to give up.
    pub tries_max: u32,
}

impl Settings {
    /// The usual ones: tries come within five seconds of each other, for about an hour.
    pub fn new(server: Address, login: Login) -> Settings {
        Settings {
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

/// What a client hears.
#[derive(Debug)]
pub enum Event {
    /// A question to answer.
    Request(Request),
    /// The same question came again, with its time anew; it is still to be answered, once.
    Again(Request),
    /// Something to know.
    Notice(Notice),
    /// Something that was sent changed nothing.
    Refused(Refused),
    /// A request to the lobby was done: its type.
    Done(String),
    /// The connection is lost; the client is coming back.
    Lost,
    /// It is back.
    Back {
        /// How many tournaments it plays in.
        active: u64,
    },
}

/// Why a client cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Not the address of a server.
    #[error("{0:?} is no address of a server; use HOST:PORT, tls://HOST:PORT or wss://HOST")]
    Address(String),
    /// Nobody answers there.
    #[error("failed to reach {server}: {why}")]
    Unreachable {
        /// Where.
        server: String,
        /// Why.
        why: std::io::Error,
    },
    /// The server does not let it in.
    #[error("failed to log in: {0}")]
    Login(Refused),
    /// The account logged in elsewhere.
    #[error("the account logged in on another connection")]
    TakenOver,
    /// The server did not come back.
    #[error("gave up on {server} after {tries} tries")]
    GaveUp {
        /// Where.
        server: String,
        /// How often.
        tries: u32,
    },
    /// A request that this player cannot read.
    #[error("failed to read a request: {0}")]
    Request(String),
    /// The player has no answer.
    #[error("failed to answer: {0}")]
    Player(String),
    /// The client ended before.
    #[error("the client has ended")]
    Ended,
}

/// A connection to a server that comes back by itself. Dropping it ends it: in matches that is a lost
/// connection.
#[derive(Debug)]
pub struct Client {
    account: PlayerName,
    token: Option<String>,
    events: mpsc::Receiver<Result<Event, ClientError>>,
    commands: mpsc::Sender<Command>,
}

impl Client {
    /// Connects and logs in. Only later losses of the connection are made good.
    pub async fn connect(settings: Settings) -> Result<Client, ClientError> {
        let (told, events) = mpsc::channel(EVENTS_MAX);
        let (commands, asked) = mpsc::channel(COMMANDS_MAX);
        let (task, welcome) = Task::connect(settings, told, asked).await?;
        let token = task.token();
        tokio::spawn(task.run());
        Ok(Client { account: welcome.account, token, events, commands })
    }

    /// Who it is.
    pub fn account(&self) -> &PlayerName {
        &self.account
    }

    /// The token to come back with, also from another process.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// The next thing that happens. Can be dropped and called again without loss.
    pub async fn next(&mut self) -> Result<Event, ClientError> {
        self.events.recv().await.unwrap_or(Err(ClientError::Ended))
    }

    /// Answers a request. Answers to requests that are not open are not sent.
    pub async fn answer(&self, id: &str, answer: &Json) -> Result<(), ClientError> {
        let id = id.to_owned();
        let line = serde_json::json!({"type": "answer", "id": id, "answer": answer}).to_string();
        self.send(Command::Answer { id, line }).await
    }

    /// The same with a line that is the whole message; for programs that speak for themselves.
    pub async fn answer_line(&self, id: &str, line: String) -> Result<(), ClientError> {
        self.send(Command::Answer { id: id.to_owned(), line }).await
    }

    /// Sends a line as it is. What is no message may cost a match; nothing is sent again.
    pub async fn line(&self, line: String) -> Result<(), ClientError> {
        self.send(Command::Line(line)).await
    }

    /// Waits in a queue once more.
    pub async fn enqueue(&self, queue: &str) -> Result<(), ClientError> {
        self.lobby(serde_json::json!({"type": "enqueue", "queue": queue})).await
    }

    /// Waits in a queue once less.
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

    /// Takes a sign-up back, or leaves a tournament that runs.
    pub async fn withdraw(&self, tournament: &TournamentId) -> Result<(), ClientError> {
        self.lobby(serde_json::json!({"type": "withdraw", "tournament": tournament})).await
    }

    /// Accepts an invitation, as the notice `invitation` asks for.
    pub async fn accept(&self, tournament: &TournamentId) -> Result<(), ClientError> {
        self.lobby(serde_json::json!({"type": "accept", "tournament": tournament})).await
    }

    /// Rejects an invitation, or takes its acceptance back.
    pub async fn reject(&self, tournament: &TournamentId) -> Result<(), ClientError> {
        self.lobby(serde_json::json!({"type": "reject", "tournament": tournament})).await
    }

    /// Is ready for a tournament, as the notice `ready-asked` asks for.
    pub async fn ready(&self, tournament: &TournamentId) -> Result<(), ClientError> {
        self.lobby(serde_json::json!({"type": "ready", "tournament": tournament})).await
    }

    /// Holds a tournament: the object of `POST /api/v1/tournaments`. Its result comes as the notice
    /// `tournament-result`.
    pub async fn announce(&self, tournament: &serde_json::Value) -> Result<(), ClientError> {
        self.lobby(serde_json::json!({"type": "announce", "tournament": tournament})).await
    }

    /// Has all sign-ups told of by notices `sign-up-open`, as long as this connection lasts.
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
