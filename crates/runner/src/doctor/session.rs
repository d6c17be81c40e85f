//! The conversation with a program: what is sent, what comes back, and unexpected lines.

use crate::doctor::report::Failure;
use crate::doctor::socket::Socket;
use crate::doctor::table::Case;
use crate::{Ended, LocalProgram, ProgramOutput, Sandbox, Stderr, Stop};
use agon_core::PlayerName;
use agon_wire::native::{FromPlayer, Hello};
use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Lines nobody asked for before the program counts as flooding, as in a tournament.
const STRAYS_MAX: usize = 100;

/// The exam was asked to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stopped;

/// Where a program's messages go.
pub(crate) enum Wire {
    Pipe(Box<LocalProgram>),
    Socket(Box<Socket>),
}

/// The reply to a request.
#[derive(Debug)]
pub(crate) enum Said {
    /// An answer under the right id.
    Answer(String),
    /// Nothing in time.
    Silent,
    /// The program ended, or closed its output.
    Gone,
    /// More than anybody asked for.
    Flood(String),
}

/// A line that was no answer to what was asked.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Stray {
    /// A line that is no message.
    NoMessage { why: String, line: String },
    /// An answer to a request that is not open.
    OtherId(String),
}

/// The reply, its time, and the messages beside it.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) said: Said,
    pub(crate) took: Duration,
    pub(crate) strays: Vec<Stray>,
}

/// A program that said hello.
pub(crate) struct Session {
    wire: Wire,
    stop: Stop,
    patience: Duration,
    answered: HashSet<String>,
    /// The matches whose history it was shown.
    shown: HashSet<String>,
    /// True if the latest request was without history.
    pub(crate) brief: bool,
    /// Answers to requests that were answered before.
    pub(crate) twice: usize,
    pub(crate) hello: Hello,
    /// How long it took to say hello, and how many lines came before.
    pub(crate) hello_took: Duration,
    pub(crate) banner: usize,
}

impl Session {
    /// Starts a program, says hello and waits for its own.
    pub(crate) async fn start(
        words: &[String],
        player: &PlayerName,
        mark: &str,
        hello: &[u8],
        hello_limit: Duration,
        patience: Duration,
        stop: &Stop,
    ) -> Result<Result<Session, Failure>, Stopped> {
        let sandbox = Arc::new(Sandbox::none());
        let mut connection =
            match LocalProgram::start(words, player, Some(mark), Stderr::Keep, &sandbox) {
                Ok(connection) => connection,
                Err(error) => {
                    let fix = "check the command after --, and that it can be run in this folder";
                    return Ok(Err(Failure::new(
                        format!(
                            "the program cannot be started: \
                        {error}"
                        ),
                        fix,
                    )));
                }
            };
        connection.send(hello);
        let started = Instant::now();
        let mut banner = 0;
        let wire = Wire::Pipe(Box::new(connection));
        let mut greeting = Greeting { wire, stop: stop.clone(), until: started + hello_limit };
        let (why, came) = loop {
            match greeting.next().await? {
                Some(ProgramOutput::Message(FromPlayer::Hello(hello))) => {
                    let session = Session::new(greeting.wire, hello, patience, stop);
                    return Ok(Ok(Session { hello_took: started.elapsed(), banner, ..session }));
                }
                Some(ProgramOutput::Bad { .. }) if banner < STRAYS_MAX => banner += 1,
                Some(ProgramOutput::Flushed) => {}
                Some(ProgramOutput::Bad { why, line }) => break (why, Some(line)),
                Some(ProgramOutput::Refused { why } | ProgramOutput::Flood { why }) => {
                    break (why, None);
                }
                Some(ProgramOutput::Closed) => break ("it ended".to_owned(), None),
                Some(ProgramOutput::Message(_)) => {
                    break ("it answered before the hello".to_owned(), None);
                }
                None => break (format!("no line came within {hello_limit:?}"), None),
            }
        };
        let ended = greeting.wire.finish(Duration::from_millis(300)).await;
        let status = ended.status.map_or_else(String::new, |status| format!(" ({status})"));
        let fix = "read one line from stdin, then print \
                   {\"type\":\"hello\",\"protocol\":1,\"name\":\"my bot\"} and flush stdout";
        let mut failure = Failure::new(format!("the program says no hello: {why}{status}"), fix);
        failure = failure.sent(hello).stderr(&ended.stderr);
        Ok(Err(came.iter().fold(failure, |failure, line| failure.reply(line))))
    }

    /// A program that came over a socket and logged in.
    pub(crate) fn over(socket: Socket, hello: Hello, patience: Duration, stop: &Stop) -> Session {
        Session::new(Wire::Socket(Box::new(socket)), hello, patience, stop)
    }

    fn new(wire: Wire, hello: Hello, patience: Duration, stop: &Stop) -> Session {
        Session {
            wire,
            stop: stop.clone(),
            patience,
            answered: HashSet::new(),
            shown: HashSet::new(),
            brief: false,
            twice: 0,
            hello,
            hello_took: Duration::ZERO,
            banner: 0,
        }
    }

    /// Sends bytes: a line, or a part of one, or several.
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        match &mut self.wire {
            Wire::Pipe(connection) => drop(connection.send(bytes)),
            Wire::Socket(socket) => socket.send(bytes).await,
        }
    }

    /// Sends a request as a tournament would, and waits for its answer: only the first one of a
    /// match has the history, unless the program asked for it.
    pub(crate) async fn ask(&mut self, case: &Case) -> Result<Reply, Stopped> {
        self.expect();
        let first = self.shown.insert(case.of_match().to_owned());
        self.brief = !first && !self.hello.history;
        self.send(if self.brief { &case.brief } else { &case.line }).await;
        self.hear(&case.id).await
    }

    /// Notes that what comes from now on was asked for.
    pub(crate) fn expect(&mut self) {
        if let Wire::Pipe(connection) = &mut self.wire {
            connection.asked();
        }
    }

    /// Waits for the answer to a request that was sent.
    pub(crate) async fn hear(&mut self, id: &str) -> Result<Reply, Stopped> {
        let mut started = Instant::now();
        let mut strays = Vec::new();
        let said = loop {
            let until = started + self.patience;
            let incoming = next(&mut self.wire, &self.stop, until).await?;
            match incoming {
                None => break Said::Silent,
                Some(ProgramOutput::Closed) => break Said::Gone,
                Some(ProgramOutput::Flood { why }) => break Said::Flood(why),
                // The clock starts when the last byte was written.
                Some(ProgramOutput::Flushed) => started = Instant::now(),
                Some(ProgramOutput::Message(FromPlayer::Answer { id: given, answer })) => {
                    if given.as_str() == id {
                        self.answered.insert(id.to_owned());
                        break Said::Answer(answer);
                    }
                    match self.answered.contains(given.as_str()) {
                        true => self.twice += 1,
                        false => strays.push(Stray::OtherId(given.as_str().to_owned())),
                    }
                }
                Some(ProgramOutput::Message(FromPlayer::Hello(_))) => {}
                Some(ProgramOutput::Message(FromPlayer::Lobby(said))) => match &mut self.wire {
                    Wire::Socket(socket) => socket.serve(&said).await,
                    Wire::Pipe(_) => {
                        let why = "lobby messages work only over sockets".to_owned();
                        strays.push(Stray::NoMessage { why, line: format!("{said:?}") });
                    }
                },
                Some(ProgramOutput::Bad { why, line }) => {
                    strays.push(Stray::NoMessage { why, line })
                }
                Some(ProgramOutput::Refused { why }) => {
                    strays.push(Stray::NoMessage { why, line: String::new() });
                }
            }
            if strays.len() + self.twice > STRAYS_MAX {
                break Said::Flood(format!("it sent over {STRAYS_MAX} lines without a request"));
            }
        };
        Ok(Reply { said, took: started.elapsed(), strays })
    }

    /// Waits for the answers to several requests; gives those that did not come.
    pub(crate) async fn hear_all<'r>(&mut self, ids: &[&'r str]) -> Result<Vec<&'r str>, Stopped> {
        let mut left = ids.to_vec();
        let until = Instant::now() + self.patience;
        while !left.is_empty() {
            match next(&mut self.wire, &self.stop, until).await? {
                Some(ProgramOutput::Message(FromPlayer::Answer { id, .. })) => {
                    left.retain(|wanted| *wanted != id.as_str());
                    self.answered.insert(id.as_str().to_owned());
                }
                None | Some(ProgramOutput::Closed | ProgramOutput::Flood { .. }) => break,
                Some(_) => {}
            }
        }
        Ok(left)
    }

    /// Ends the program's input, gives it `grace`, and then ends it.
    pub(crate) async fn finish(self, grace: Duration) -> Ended {
        self.wire.finish(grace).await
    }
}

/// A program that has not said hello yet.
struct Greeting {
    wire: Wire,
    stop: Stop,
    until: Instant,
}

impl Greeting {
    async fn next(&mut self) -> Result<Option<ProgramOutput>, Stopped> {
        next(&mut self.wire, &self.stop, self.until).await
    }
}

impl Wire {
    async fn finish(self, grace: Duration) -> Ended {
        match self {
            Wire::Pipe(connection) => connection.finish(grace).await,
            Wire::Socket(_) => {
                Ended { status: None, took: Duration::ZERO, left: 0, stderr: Vec::new() }
            }
        }
    }
}

/// The next message; `None` if none arrives by then.
pub(crate) async fn next(
    wire: &mut Wire,
    stop: &Stop,
    until: Instant,
) -> Result<Option<ProgramOutput>, Stopped> {
    let incoming = async {
        match wire {
            Wire::Pipe(connection) => poll_fn(|context| connection.poll(context)).await,
            Wire::Socket(socket) => socket.next().await,
        }
    };
    tokio::select! {
        biased;
        () = stop.wait() => Err(Stopped),
        incoming = incoming => Ok(Some(incoming)),
        () = tokio::time::sleep_until(until) => Ok(None),
    }
}
