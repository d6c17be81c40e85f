//! A small server for one guest: it lets a program connect and log in, and can cut it off.

use crate::doctor::report::Failure;
use crate::doctor::session::{Session, Stopped};
use crate::doctor::socket::Socket;
use crate::{LocalProgram, ProgramOutput, Sandbox, Stderr, Stop};
use agon_core::PlayerName;
use agon_wire::native::{self, FromPlayer, Hello, ToLobby, ToPlayer};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Lines a guest may send before it has logged in.
const LINES_BEFORE_LOGIN_MAX: usize = 100;

/// How long a person may take to start the program by hand.
const BY_HAND_LIMIT: Duration = Duration::from_secs(600);

/// How a guest logged in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum By {
    Password,
    Token,
}

/// Where guests connect.
pub(crate) struct Host {
    listener: Option<TcpListener>,
    address: SocketAddr,
    stop: Stop,
    token: String,
    /// The account that logged in first; later logins must use the same.
    account: Option<PlayerName>,
    come_limit: Duration,
    patience: Duration,
    by_hand: bool,
}

impl Host {
    pub(crate) async fn bind(
        address: &str,
        seed: u64,
        stop: Stop,
        come_limit: Duration,
        patience: Duration,
        by_hand: bool,
    ) -> std::io::Result<Host> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        // Not a secret: every program that connects is examined, and nothing is at stake.
        let token = format!("{seed:064x}");
        let listener = Some(listener);
        Ok(Host { listener, address, stop, token, account: None, come_limit, patience, by_hand })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Is not there any more, as when the server is stopped.
    pub(crate) fn close(&mut self) {
        self.listener = None;
    }

    /// Listens again at the same address.
    pub(crate) async fn open(&mut self) -> std::io::Result<()> {
        self.listener = Some(TcpListener::bind(self.address).await?);
        Ok(())
    }

    /// Returns whether a program connects within `limit`.
    pub(crate) async fn is_called(&self, limit: Duration) -> Result<bool, Stopped> {
        let until = Instant::now() + limit;
        Ok(self.accept(until).await?.is_some())
    }

    /// The next guest, once it has said hello and logged in.
    pub(crate) async fn guest(&mut self) -> Result<Result<(Session, By), Failure>, Stopped> {
        let patient = self.by_hand && self.account.is_none();
        let limit = if patient { BY_HAND_LIMIT } else { self.come_limit };
        let until = Instant::now() + limit;
        let Some(mut socket) = self.accept(until).await? else {
            let what = format!("no program connects within {limit:?}");
            let fix = "connect to the server, and reconnect after every lost connection";
            return Ok(Err(Failure::new(what, fix)));
        };
        let server = concat!("agon/", env!("CARGO_PKG_VERSION"));
        let greeting = ToPlayer::Greeting { protocol: native::PROTOCOL_VERSION, server };
        socket.send(&native::encode(&greeting)).await;
        let mut hello: Option<Hello> = None;
        let mut last = String::new();
        for _ in 0..LINES_BEFORE_LOGIN_MAX {
            let incoming = tokio::select! {
                biased;
                () = self.stop.wait() => return Err(Stopped),
                incoming = socket.next() => Some(incoming),
                () = tokio::time::sleep_until(until) => None,
            };
            let Some(incoming) = incoming else {
                return Ok(Err(no_login("it did not log in in time", &last)));
            };
            match incoming {
                ProgramOutput::Message(FromPlayer::Hello(said)) => hello = hello.or(Some(said)),
                ProgramOutput::Message(FromPlayer::Lobby(ToLobby::Ping {})) => {
                    socket.serve(&ToLobby::Ping {}).await;
                }
                ProgramOutput::Message(_) if hello.is_none() => {
                    let detail = "say hello first".to_owned();
                    socket.send(&error("unexpected", detail)).await;
                }
                ProgramOutput::Message(FromPlayer::Lobby(login @ ToLobby::Login { .. })) => {
                    if let Some(by) = self.log_in(&mut socket, &login).await
                        && let Some(hello) = hello
                    {
                        let session = Session::over(socket, hello, self.patience, &self.stop);
                        return Ok(Ok((session, by)));
                    }
                }
                ProgramOutput::Message(_) => {
                    socket.send(&error("not-logged-in", "log in first".into())).await;
                }
                ProgramOutput::Bad { why, line } => {
                    socket.send(&error("malformed", why)).await;
                    last = line;
                }
                ProgramOutput::Refused { why } | ProgramOutput::Flood { why } => {
                    return Ok(Err(no_login(&why, &last)));
                }
                ProgramOutput::Flushed => {}
                ProgramOutput::Closed => {
                    return Ok(Err(no_login("it closed the connection", &last)));
                }
            }
        }
        Ok(Err(no_login("it kept sending other messages", &last)))
    }

    /// Accepts the token, or any password.
    async fn log_in(&mut self, socket: &mut Socket, login: &ToLobby) -> Option<By> {
        let ToLobby::Login { account, password, token, .. } = login else { return None };
        let known = self.account.clone();
        let (by, account) = match (token, account, password, known) {
            (Some(token), _, _, Some(known)) if *token == self.token => (By::Token, known),
            (None, Some(account), Some(_), known)
                if known.as_ref().is_none_or(|known| known == account) =>
            {
                (By::Password, account.clone())
            }
            _ => {
                let detail = "unknown account, wrong password, or invalid token";
                socket.send(&error("wrong-credentials", detail.to_owned())).await;
                return None;
            }
        };
        let token = (by == By::Password).then_some(self.token.as_str());
        let welcome = ToPlayer::Welcome { account: &account, token, active: 1, waiting: 0 };
        socket.send(&native::encode(&welcome)).await;
        self.account = Some(account);
        Some(by)
    }

    async fn accept(&self, until: Instant) -> Result<Option<Socket>, Stopped> {
        let Some(listener) = &self.listener else { return Ok(None) };
        loop {
            let accepted = tokio::select! {
                biased;
                () = self.stop.wait() => return Err(Stopped),
                accepted = listener.accept() => accepted,
                () = tokio::time::sleep_until(until) => return Ok(None),
            };
            match accepted {
                Ok((stream, _)) => return Ok(Some(Socket::new(stream))),
                // Too many open files, or a guest that disconnected already: continue with the next
                // one.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }
}

fn no_login(why: &str, last: &str) -> Failure {
    let fix = "after the greeting send {\"type\":\"hello\",\"protocol\":1,\"name\":…}, then \
               {\"type\":\"login\",\"account\":…,\"password\":…}, or one with a token";
    let failure = Failure::new(format!("the program does not log in: {why}"), fix);
    if last.is_empty() { failure } else { failure.reply(last) }
}

/// An error as a line.
pub(crate) fn error(code: &str, detail: String) -> Vec<u8> {
    native::encode(&ToPlayer::Error { code, id: None, detail, accepted: None })
}

/// A program that was started to connect. Its output is read and discarded.
pub(crate) struct Started {
    over: Option<oneshot::Sender<()>>,
    task: JoinHandle<crate::Ended>,
}

impl Started {
    /// Starts a command with `{server}` replaced by the address.
    pub(crate) fn start(words: &[String], address: SocketAddr) -> std::io::Result<Started> {
        let place = address.to_string();
        let words: Vec<String> =
            words.iter().map(|word| word.replace("{server}", &place)).collect();
        let name = PlayerName::new("candidate").expect("a name of letters");
        let mark = format!("agon-doctor-{}-guest", std::process::id());
        let sandbox = Arc::new(Sandbox::none());
        let mut connection =
            LocalProgram::start(&words, &name, Some(&mark), Stderr::Keep, &sandbox)?;
        let (over, mut told) = oneshot::channel();
        let task = tokio::spawn(async move {
            loop {
                connection.asked();
                tokio::select! {
                    biased;
                    _ = &mut told => break,
                    incoming = poll_fn(|context| connection.poll(context)) => {
                        if matches!(incoming, ProgramOutput::Closed) {
                            break;
                        }
                    }
                }
            }
            connection.finish(Duration::from_millis(500)).await
        });
        Ok(Started { over: Some(over), task })
    }

    /// Ends the program and returns its stderr.
    pub(crate) async fn end(mut self) -> Vec<u8> {
        if let Some(over) = self.over.take() {
            // If the program has ended already, nobody receives this.
            let _ = over.send(());
        }
        self.task.await.map(|ended| ended.stderr).unwrap_or_default()
    }
}
