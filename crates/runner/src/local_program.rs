//! A program on this machine as a player: its process group, its pipes, and messages over them.
//!
//! Runs, the doctor, `agon join` and `agon play` start their programs here. Reading and writing
//! never block; unread data waits in a bounded buffer. Ending a program kills its whole process
//! group.

use crate::evidence::StderrTail;
use crate::leftovers;
use crate::sandbox::{Confined, Sandbox};
use agon_core::PlayerName;
use agon_wire::lines::{Lines, TooLong};
use agon_wire::native::{self, BadMessage, FromPlayer};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe;

/// How many bytes may wait for a program that does not read.
const OUT_BYTES_MAX: usize = 1 << 20;

/// How many bytes a program may send between two requests: a few of the longest lines.
const IN_BYTES_MAX: usize = 4 * native::LINE_BYTES_MAX;

/// How often one poll reads, so that a program that never pauses leaves time for everybody else.
const READS_MAX: u32 = 4;

/// An input from a program.
#[derive(Debug)]
pub enum ProgramOutput {
    /// A message.
    Message(FromPlayer),
    /// A line that is no message.
    Bad {
        /// The reason.
        why: String,
        /// Its beginning.
        line: String,
    },
    /// A hello that makes playing impossible.
    Refused {
        /// Why.
        why: String,
    },
    /// More bytes than anybody asked for.
    Flood {
        /// How many.
        why: String,
    },
    /// Everything sent so far has been written to its pipe.
    Flushed,
    /// It closed its output, or ended.
    Closed,
}

impl ProgramOutput {
    /// Reads a line that came.
    pub fn read(line: Result<&[u8], TooLong>) -> ProgramOutput {
        let line = match line {
            Ok(line) => line,
            Err(long) => return ProgramOutput::Bad { why: long.to_string(), line: String::new() },
        };
        match native::decode(line) {
            Ok(message) => ProgramOutput::Message(message),
            Err(bad @ BadMessage::Version(_)) => ProgramOutput::Refused { why: bad.to_string() },
            Err(bad) => {
                let line = String::from_utf8_lossy(&line[..line.len().min(500)]).into_owned();
                ProgramOutput::Bad { why: bad.to_string(), line }
            }
        }
    }
}

/// Variables of the environment that no program is handed.
const SECRETS: [&str; 2] = ["AGON_PASSWORD", "AGON_TOKEN"];

/// Signals that a process gets from others, not for something it did.
const FROM_OTHERS: [Signal; 8] = [
    Signal::KILL,
    Signal::TERM,
    Signal::INT,
    Signal::HUP,
    Signal::QUIT,
    Signal::USR1,
    Signal::USR2,
    Signal::ALARM,
];

/// A program and all its child processes. Dropping this kills them.
struct Group {
    confined: Confined,
    id: Pid,
}

/// How a program ended by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Departure {
    /// For people.
    pub(crate) words: String,
    /// The code of its fault.
    pub(crate) code: &'static str,
    /// True if a signal ended it that neither the referee nor the program itself sent.
    pub(crate) from_outside: bool,
}

/// How a program ended, and what it left.
#[derive(Debug)]
pub struct Ended {
    /// How; `None` if it did not end by itself.
    pub status: Option<ExitStatus>,
    /// How long that took from when its input ended.
    pub took: Duration,
    /// How many processes it started and left running. They are gone now.
    pub left: usize,
    /// The end of what it wrote to stderr.
    pub stderr: Vec<u8>,
}

/// Where the stderr of a program goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stderr {
    /// Its end is kept, as evidence.
    Keep,
    /// To our own stderr.
    Inherit,
    /// To our own stderr, and its end to the caller: `LocalProgram::take_stderr`.
    Copy,
    /// Nowhere.
    Discard,
}

/// Output of a program: a line, or something about the pipes.
#[derive(Debug)]
pub enum Output<T> {
    /// A line, as the caller reads it.
    Line(T),
    /// More bytes than anybody asked for.
    Flood {
        /// How many.
        why: String,
    },
    /// Everything sent so far has been written to its pipe.
    Flushed,
    /// It closed its output, or ended.
    Closed,
}

/// A program's stderr, which goes to our own stderr as well.
struct CopiedStderr {
    pipe: pipe::Receiver,
    /// The end of what nobody has taken yet.
    tail: Vec<u8>,
}

impl CopiedStderr {
    /// How many bytes are kept until somebody takes them.
    const BYTES_MAX: usize = 8 * 1024;

    /// Reads what has come, so that the program never waits for us.
    fn poll(&mut self, context: &mut Context<'_>) {
        let mut piece = [0; 4096];
        for _ in 0..READS_MAX {
            let mut buffer = ReadBuf::new(&mut piece);
            match Pin::new(&mut self.pipe).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => self.copy(buffer.filled()),
                _ => return,
            }
        }
        context.waker().wake_by_ref();
    }

    /// Takes everything that is in the pipe now.
    fn take(&mut self) -> Vec<u8> {
        let mut piece = [0; 4096];
        for _ in 0..READS_MAX * READS_MAX {
            // Tokio would only read once it has heard of the bytes, and that may be later.
            let Ok(count @ 1..) = rustix::io::read(&self.pipe, &mut piece) else { break };
            self.copy(&piece[..count]);
        }
        std::mem::take(&mut self.tail)
    }

    fn copy(&mut self, bytes: &[u8]) {
        // A closed terminal does not stop a player.
        let _ = io::Write::write_all(&mut io::stderr(), bytes);
        self.tail.extend_from_slice(bytes);
        let over = self.tail.len().saturating_sub(CopiedStderr::BYTES_MAX);
        self.tail.drain(..over);
    }
}

/// A running program. Dropping this kills it.
pub struct LocalProgram {
    group: Group,
    stdin: pipe::Sender,
    stdout: pipe::Receiver,
    lines: Lines,
    out: Vec<u8>,
    out_from: usize,
    read: Box<[u8]>,
    evidence: Option<StderrTail>,
    copied: Option<CopiedStderr>,
    mark: Option<String>,
    /// Bytes since the last request.
    taken: usize,
    /// True if its processes are stopped.
    paused: bool,
}

impl LocalProgram {
    /// Starts a program in the sandbox, in a process group of its own, with the run's mark in its
    /// environment if it has one.
    pub fn start(
        words: &[String],
        player: &PlayerName,
        mark: Option<&str>,
        stderr: Stderr,
        sandbox: &Arc<Sandbox>,
    ) -> io::Result<LocalProgram> {
        let mut confined = sandbox.start(words, |command| {
            command.env("AGON_PLAYER", player.as_str());
            if let Some(mark) = mark {
                command.env(leftovers::MARK, mark);
            }
            for secret in SECRETS {
                command.env_remove(secret);
            }
            command.process_group(0);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(match stderr {
                Stderr::Keep | Stderr::Copy => Stdio::piped(),
                Stderr::Inherit => Stdio::inherit(),
                Stderr::Discard => Stdio::null(),
            });
        })?;
        let child = confined.child();
        let id = Pid::from_raw(child.id() as i32).expect("process ids are positive");
        let gone = || io::Error::other("the program's pipes are gone");
        let stdin = pipe::Sender::from_owned_fd(child.stdin.take().ok_or_else(gone)?.into())?;
        let stdout = pipe::Receiver::from_owned_fd(child.stdout.take().ok_or_else(gone)?.into())?;
        let piped = child.stderr.take();
        let piped = piped.map(|piped| pipe::Receiver::from_owned_fd(piped.into())).transpose()?;
        let (copied, kept) = match stderr {
            Stderr::Copy => (piped, None),
            _ => (None, piped),
        };
        Ok(LocalProgram {
            group: Group { confined, id },
            stdin,
            stdout,
            lines: Lines::new(native::LINE_BYTES_MAX),
            out: Vec::new(),
            out_from: 0,
            read: vec![0; 16 * 1024].into_boxed_slice(),
            evidence: kept.map(StderrTail::collect),
            copied: copied.map(|pipe| CopiedStderr { pipe, tail: Vec::new() }),
            mark: mark.map(str::to_owned),
            taken: 0,
            paused: false,
        })
    }

    /// Takes the end of what the program has written to stderr since the last call, if that is
    /// copied. A program that writes to stderr and then answers has written it before the answer.
    pub fn take_stderr(&mut self) -> Vec<u8> {
        self.copied.as_mut().map(CopiedStderr::take).unwrap_or_default()
    }

    /// Records that a request is open: what the program sends from now on is an answer.
    pub fn asked(&mut self) {
        self.taken = 0;
    }

    /// Returns whether the process has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.group.confined.child().try_wait(), Ok(None))
    }

    /// Stops the program until it is next sent something, so that it takes no time from others.
    pub(crate) fn pause(&mut self) {
        self.paused = self.paused || self.group.pause(true);
    }

    /// Returns whether a foreign signal stopped the program, so that its silence is not its fault.
    pub(crate) fn is_stopped_from_outside(&self) -> bool {
        let stat = format!("/proc/{}/stat", self.group.id.as_raw_nonzero());
        let text = std::fs::read_to_string(stat).unwrap_or_default();
        let state = text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        !self.paused && state == Some('T')
    }

    fn go_on(&mut self) {
        if std::mem::take(&mut self.paused) {
            self.group.pause(false);
        }
    }

    /// Sends a line, or as much of it as the pipe takes now; the rest goes as the program reads.
    /// `true` if all of it is in the pipe.
    pub fn send(&mut self, line: &[u8]) -> bool {
        self.go_on();
        if self.out_from == self.out.len() {
            self.out.clear();
            self.out_from = 0;
            match self.stdin.try_write(line) {
                Ok(count) if count == line.len() => return true,
                Ok(count) => self.out.extend_from_slice(&line[count..]),
                // A closed pipe is noticed by reading: the program is ending.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.out.extend_from_slice(line);
                }
                Err(_) => return false,
            }
        } else if self.out.len() + line.len() <= OUT_BYTES_MAX {
            self.out.extend_from_slice(line);
        }
        false
    }

    /// The next message from the program.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<ProgramOutput> {
        self.poll_output(context, ProgramOutput::read).map(|output| match output {
            Output::Line(incoming) => incoming,
            Output::Flood { why } => ProgramOutput::Flood { why },
            Output::Flushed => ProgramOutput::Flushed,
            Output::Closed => ProgramOutput::Closed,
        })
    }

    /// The next line from the program, as `read` reads it.
    pub fn poll_output<T>(
        &mut self,
        context: &mut Context<'_>,
        read: impl Fn(Result<&[u8], TooLong>) -> T,
    ) -> Poll<Output<T>> {
        if let Some(copied) = &mut self.copied {
            copied.poll(context);
        }
        if self.flush(context).is_ready() {
            return Poll::Ready(Output::Flushed);
        }
        for _ in 0..READS_MAX {
            if let Some(line) = self.lines.take() {
                return Poll::Ready(Output::Line(read(line)));
            }
            if self.taken > IN_BYTES_MAX {
                let why = format!("sent over {IN_BYTES_MAX} bytes nobody asked for");
                return Poll::Ready(Output::Flood { why });
            }
            let mut buffer = ReadBuf::new(&mut self.read);
            match Pin::new(&mut self.stdout).poll_read(context, &mut buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.taken += buffer.filled().len();
                    self.lines.push(buffer.filled());
                }
                Poll::Ready(_) => return Poll::Ready(Output::Closed),
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Ready when waiting bytes have just all been written.
    fn flush(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.out_from < self.out.len() {
            let rest = &self.out[self.out_from..];
            match Pin::new(&mut self.stdin).poll_write(context, rest) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(count @ 1..)) => self.out_from += count,
                Poll::Ready(_) => {
                    self.out.clear();
                    self.out_from = 0;
                    return Poll::Pending;
                }
            }
            if self.out_from == self.out.len() {
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }

    /// Closes the input, gives the program `grace` to exit, then kills the whole group. Keeps its
    /// stderr in `evidence_dir`. Returns how it ended.
    pub(crate) async fn close(
        mut self,
        grace: Duration,
        evidence_dir: &Path,
        player: &PlayerName,
    ) -> Departure {
        self.go_on();
        let LocalProgram { mut group, stdin, stdout, evidence, .. } = self;
        drop(stdin);
        let status = group.end_within(grace).await;
        let departure = group.departure(status);
        // Also after a normal exit, because forked processes are still in the group.
        drop(group);
        drop(stdout);
        if let Some(evidence) = evidence {
            // Evidence is a courtesy: a full disk does not stop a tournament for it.
            let _ = evidence.save(evidence_dir, player.as_str()).await;
        }
        departure
    }

    /// Like `close`, with a full report: also on what the program left running, in its group or
    /// outside of it.
    pub async fn finish(mut self, grace: Duration) -> Ended {
        self.go_on();
        let LocalProgram { mut group, stdin, stdout, evidence, mut copied, mark, .. } = self;
        drop(stdin);
        let started = tokio::time::Instant::now();
        let status = group.end_within(grace).await;
        let took = started.elapsed();
        let left = match mark.as_ref().filter(|_| status.is_some()) {
            Some(mark) => leftovers::after(mark).await,
            None => 0,
        };
        drop(group);
        drop(stdout);
        mark.iter().for_each(|mark| leftovers::end(mark));
        let stderr = match (evidence, &mut copied) {
            (Some(evidence), _) => evidence.tail().await,
            (None, Some(copied)) => copied.take(),
            (None, None) => Vec::new(),
        };
        Ended { status, took, left, stderr }
    }
}

impl Group {
    /// Waits until the program has ended by itself, or `grace` is over.
    async fn end_within(&mut self, grace: Duration) -> Option<ExitStatus> {
        let deadline = tokio::time::Instant::now() + grace;
        let mut ended = self.confined.child().try_wait().ok().flatten();
        let mut pause = Duration::from_micros(200);
        while ended.is_none() && tokio::time::Instant::now() < deadline {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(20));
            ended = self.confined.child().try_wait().ok().flatten();
        }
        ended
    }

    /// Classifies an end. In a PID namespace only the program itself can signal its processes, so
    /// only the process we started shows a foreign signal.
    fn departure(&self, status: Option<ExitStatus>) -> Departure {
        let plain = |words: String| Departure { words, code: "disconnected", from_outside: false };
        let Some(status) = status else {
            return plain("closed its output without ending".into());
        };
        let closed = self.confined.is_closed();
        // The sandbox reports a child that a signal ended as a shell does.
        let inner = status.code().filter(|code| closed && *code > 128).map(|code| code - 128);
        if let Some((code, what)) = self.confined.limit_reached(inner.or(status.signal())) {
            return Departure { words: what, code, from_outside: false };
        }
        let outer = status.signal().and_then(Signal::from_named_raw);
        if let Some(signal) = outer.filter(|signal| FROM_OTHERS.contains(signal)) {
            let words =
                format!("signal {} ended it, and the referee did not send it", signal.as_raw());
            return Departure { words, code: "killed-from-outside", from_outside: true };
        }
        if self.confined.is_wrapped() && status.code() == Some(127) {
            return plain(
                "exit status 127: a command was not found; a sandbox shows a program only the \
                 system and its own folders"
                    .into(),
            );
        }
        match inner {
            Some(signal) => plain(format!("signal {signal} from one of its own processes")),
            None => plain(status.to_string()),
        }
    }

    /// Stops all processes or lets them go on. `false` if that is not possible.
    fn pause(&self, paused: bool) -> bool {
        let signal = if paused { Signal::STOP } else { Signal::CONT };
        // Behind a sandbox the program is in a session of its own, which no signal to the group
        // reaches.
        self.confined.pause(paused)
            || !self.confined.is_wrapped() && kill_process_group(self.id, signal).is_ok()
    }
}

impl std::fmt::Debug for LocalProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalProgram").field("group", &self.group.id).finish_non_exhaustive()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // An error means that the group is empty already.
        let _ = kill_process_group(self.id, Signal::KILL);
        let _ = self.confined.child().wait();
    }
}
