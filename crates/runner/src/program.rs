//! A player's program in a run: its process, how often it failed, and what it was asked.
//!
//! ```text
//!   Absent ──start──▶ Starting ──hello──▶ Running ──┐
//!      ▲                  │                          │ closed, killed, dismissed
//!      └──── Ending ◀─────┴──────────────────────────┘
//! ```

use crate::local_program::LocalProgram;
use agon_core::{Fault, MatchKey, Millis, PlayerName, Timestamp};
use agon_engine::{AskId, ConnId};
use agon_wire::native::Hello;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};
use std::time::Duration;
use tokio::time::Instant;

/// Lines a program may send before its hello: a banner, or a warning of its interpreter.
pub(crate) const BANNER_MAX: u32 = 100;

/// Starts of a program in a row that fail before it is given up.
pub(crate) const STARTS_MAX: u32 = 3;

/// How many games of a match are played again because a program was killed from outside, before
/// the match ends without a winner.
pub(crate) const INTERRUPTIONS_MAX: usize = 3;

/// How long a program that owes no answer may still compute before it is stopped. Programs that
/// answer faster than this are never stopped, and cost nothing more.
pub(crate) const IDLE: Duration = Duration::from_millis(20);

/// How long a program has to end by itself.
pub(crate) const GRACE: Duration = Duration::from_millis(300);

/// The process of a program.
pub(crate) enum Process {
    /// There is none.
    Absent,
    /// It was started and has not said hello.
    Starting { connection: Box<LocalProgram>, hello_by: Instant, banner: u32 },
    /// It said hello.
    Running(Box<LocalProgram>),
    /// It is being ended. The departure of one that ended by itself counts.
    Ending { by_itself: Option<Stage> },
}

/// How far a process was when it ended by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    Starting,
    Running,
}

/// A request that a program has not answered yet.
pub(crate) struct OpenAsk {
    pub(crate) ask: AskId,
    pub(crate) limit_ms: Millis,
    /// When its time is over.
    pub(crate) deadline: Timestamp,
    /// True if a part of it is still in our buffer.
    pub(crate) is_unwritten: bool,
}

/// A program and how far it is.
pub(crate) struct Program {
    pub(crate) player: PlayerName,
    pub(crate) words: Vec<String>,
    pub(crate) process: Process,
    /// The engine's connection of the player, from the first hello until the program is lost.
    pub(crate) conn: Option<ConnId>,
    /// The hello of the process, until the engine is told.
    pub(crate) hello: Option<Hello>,
    /// The match that it plays.
    pub(crate) in_match: Option<MatchKey>,
    pub(crate) failed_starts: u32,
    /// How often a signal from outside ended it in this match, or while it was greeted.
    pub(crate) killed: u32,
    /// Why it did not start, as far as is known.
    pub(crate) why_not: Option<String>,
    /// True if the engine has been told that it will not come.
    pub(crate) given_up: bool,
    pub(crate) asked: Option<OpenAsk>,
    /// True if this process has been asked anything.
    pub(crate) was_asked: bool,
    /// Since when it owes no answer while it runs.
    pub(crate) idle_since: Option<Instant>,
    pub(crate) waker: Waker,
}

impl Program {
    pub(crate) fn new(player: PlayerName, words: Vec<String>, waker: Waker) -> Program {
        Program {
            player,
            words,
            process: Process::Absent,
            conn: None,
            hello: None,
            in_match: None,
            failed_starts: 0,
            killed: 0,
            why_not: None,
            given_up: false,
            asked: None,
            was_asked: false,
            idle_since: None,
            waker,
        }
    }

    pub(crate) fn is_absent(&self) -> bool {
        matches!(self.process, Process::Absent)
    }

    /// The pipes of a process that said hello.
    pub(crate) fn running(&mut self) -> Option<&mut LocalProgram> {
        match &mut self.process {
            Process::Running(connection) => Some(connection),
            _ => None,
        }
    }

    /// Takes the process to end it. `by_itself` says how far it was, if it ended by itself.
    pub(crate) fn take_process(&mut self, by_itself: Option<Stage>) -> Option<LocalProgram> {
        self.hello = None;
        self.asked = None;
        self.idle_since = None;
        let next = match self.process {
            Process::Starting { .. } | Process::Running(_) => Process::Ending { by_itself },
            Process::Absent | Process::Ending { .. } => return None,
        };
        match std::mem::replace(&mut self.process, next) {
            Process::Starting { connection, .. } | Process::Running(connection) => {
                Some(*connection)
            }
            Process::Absent | Process::Ending { .. } => None,
        }
    }

    /// Returns whether its greeting failed. One that somebody else killed is started again.
    pub(crate) fn failed_greeting(&self) -> bool {
        self.failed_starts > 0 || self.killed as usize > INTERRUPTIONS_MAX
    }

    /// Records a start that failed.
    pub(crate) fn start_failed(&mut self, why: Option<String>) {
        self.failed_starts += 1;
        self.why_not = why.or(self.why_not.take());
    }

    /// The fault of a player whose program does not start, and why, as far as is known.
    pub(crate) fn absence(&self) -> Fault {
        let why = self.why_not.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        Fault::disconnected(format!("{} does not start and say hello{why}", self.words[0]))
    }

    /// When something is due for it that no message brings: its hello, or a pause.
    pub(crate) fn due(&self, pauses: bool) -> Option<Instant> {
        match &self.process {
            Process::Starting { hello_by, .. } => Some(*hello_by),
            _ => self.idle_since.filter(|_| pauses).map(|since| since + IDLE),
        }
    }
}

/// The programs whose pipes have something to read or room to write, each at most once.
#[derive(Default)]
pub(crate) struct ReadyPrograms {
    places: Mutex<Vec<usize>>,
    driver: Mutex<Option<Waker>>,
}

impl ReadyPrograms {
    /// A waker that adds a program to the list.
    pub(crate) fn waker(self: &Arc<ReadyPrograms>, place: usize) -> Waker {
        Arc::new(ProgramWaker { place, ready: Arc::clone(self) }).into()
    }

    /// Moves the list into `into`.
    pub(crate) fn take(&self, into: &mut Vec<usize>) {
        into.append(&mut self.places.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns whether the list has a program; if not, the driver is woken when it has.
    pub(crate) fn poll(&self, driver: &Waker) -> bool {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.is_empty() {
            let mut waiting = self.driver.lock().unwrap_or_else(PoisonError::into_inner);
            *waiting = Some(driver.clone());
        }
        !places.is_empty()
    }
}

struct ProgramWaker {
    place: usize,
    ready: Arc<ReadyPrograms>,
}

impl Wake for ProgramWaker {
    fn wake(self: Arc<ProgramWaker>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<ProgramWaker>) {
        let mut places = self.ready.places.lock().unwrap_or_else(PoisonError::into_inner);
        if !places.contains(&self.place) {
            places.push(self.place);
        }
        drop(places);
        let driver = self.ready.driver.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}
