//! One match between players of which at least one is a program: requests out, answers in, time.

use crate::connection::{Connection, Departure, Incoming};
use crate::host::{RunError, Shared};
use crate::house::{HouseTable, house_answer};
use crate::program::{GRACE, IDLE, JUNK_MAX, Program, STARTS_MAX};
use crate::progress::Progress;
use agon_core::{
    Command, CrashCost, Event, Fault, FaultKind, Head, Match, MatchOrder, MatchResult, Pending,
    PlayerName, Rejection, RequestId, Ruling, StreamEnd, Why,
};
use agon_wire::native::{self, FromPlayer, ToPlayer};
use agon_wire::request::{RequestWriter, Shows};
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;
use tokio::time::Instant;

/// Writes the events of one match.
pub(crate) struct Commit {
    pub(crate) end: StreamEnd,
}

impl Commit {
    /// Steps the match, commits what follows, and only then reports it. A rejected command is
    /// given back.
    pub(crate) fn step(
        &mut self,
        shared: &Shared,
        played: &mut Match,
        command: Command,
    ) -> Result<Result<Vec<Event>, Rejection>, RunError> {
        let now = shared.now_ms();
        let events = match played.step(now, command) {
            Ok(events) if events.is_empty() => return Ok(Ok(events)),
            Ok(events) => events,
            Err(rejection) => return Ok(Err(rejection)),
        };
        shared.append(&mut self.end, now, &events)?;
        for event in &events {
            self.report(shared, played, event);
        }
        Ok(Ok(events))
    }

    /// The match's result and the head of its stream, once it is over.
    pub(crate) fn over(&self, played: &Match) -> Option<MatchOver> {
        let result = played.result()?.clone();
        Some(MatchOver { result, head: self.end.head().cloned() })
    }

    fn report(&self, shared: &Shared, played: &Match, event: &Event) {
        let id = || played.plan().id.clone();
        let progress = match event {
            Event::AnswerAccepted(_) => Progress::Decisions(1),
            Event::GameEnded(ended) => {
                Progress::GameEnded { id: id(), result: ended.result.clone() }
            }
            Event::PlayerFaulted(faulted) => {
                Progress::Fault { id: Some(id()), faulted: faulted.faulted.clone() }
            }
            Event::PlayerLeft(left) => {
                Progress::Fault { id: Some(id()), faulted: left.faulted.clone() }
            }
            Event::WaitExpired(expired) => {
                Progress::Fault { id: Some(id()), faulted: expired.faulted.clone() }
            }
            _ => return,
        };
        (shared.tell)(progress);
    }
}

/// How a match ended, with the head of its stream.
pub(crate) struct MatchOver {
    pub(crate) result: MatchResult,
    pub(crate) head: Option<Head>,
}

/// The name under which the referee rules by itself.
const REFEREE: &str = "agon";

/// How many games of a match are played again because a program was killed from outside, before
/// the match ends without a winner.
pub(crate) const INTERRUPTIONS_MAX: usize = 3;

/// How a match came out.
pub(crate) enum Played {
    /// It is over.
    Over(MatchOver),
    /// The run was asked to stop.
    Stopped,
    /// It cannot be decided: its programs are killed from outside again and again.
    Abandoned(Ruling),
}

/// Why waiting ended.
enum Woke {
    Program(usize, Incoming),
    Time,
    Stop,
}

/// A ruling of the referee itself.
pub(crate) fn ruling(why: &str) -> Ruling {
    let text: String = why.chars().filter(|letter| !letter.is_control()).take(200).collect();
    let why = Why::new(text.trim()).expect("a short text without control characters");
    Ruling { by: PlayerName::new(REFEREE).expect("a name of letters"), why }
}

/// A match at play.
pub(crate) struct Play<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) played: Match,
    pub(crate) commit: Commit,
    pub(crate) programs: &'a mut Vec<Program>,
    pub(crate) houses: &'a mut HouseTable,
    pub(crate) requests: RequestWriter,
    /// The request that is being written; kept, so that not every one needs memory of its own.
    pub(crate) line: Vec<u8>,
}

impl Play<'_> {
    /// Plays to the end, or until the run is asked to stop.
    pub(crate) async fn run(mut self) -> Result<Played, RunError> {
        if self.played.paused().is_some() {
            // The run was killed while a game was being voided.
            self.order(MatchOrder::Resume, &ruling("the run goes on")).await?;
        }
        self.meet().await;
        loop {
            if self.shared.stop.is_asked() {
                return Ok(Played::Stopped);
            }
            if let Some(over) = self.commit.over(&self.played) {
                return Ok(Played::Over(over));
            }
            if let Some(ruling) = self.abandoned() {
                return Ok(Played::Abandoned(ruling));
            }
            self.start_programs();
            self.arrivals().await?;
            // Giving up on somebody may have ended the match: then nothing would wake us.
            if self.played.result().is_some() || self.ask().await? {
                continue;
            }
            match self.wait().await {
                Woke::Stop => {}
                Woke::Time => self.on_time().await?,
                Woke::Program(at, incoming) => self.on_incoming(at, incoming).await?,
            }
        }
    }

    /// Starts all programs and hears their hellos. Only then do waits count: after a resume
    /// everybody has to start, which is nobody's fault.
    async fn meet(&mut self) {
        for program in self.programs.iter_mut() {
            program.given_up = false;
            program.killed = 0;
            if program.connection.as_mut().is_some_and(Connection::has_ended) {
                program.end(self.shared, Duration::ZERO).await;
            }
        }
        self.start_programs();
        for program in self.programs.iter_mut() {
            program.await_hello(self.shared).await;
        }
    }

    async fn step(&mut self, command: Command) -> Result<Result<(), Rejection>, RunError> {
        let events = match self.commit.step(self.shared, &mut self.played, command)? {
            Ok(events) => events,
            Err(rejection) => return Ok(Err(rejection)),
        };
        if !matches!(events[..], [Event::AnswerAccepted(_)]) {
            self.requests.forget();
        }
        for event in &events {
            let faulted = match event {
                Event::PlayerFaulted(faulted) => &faulted.faulted,
                Event::PlayerLeft(left) => &left.faulted,
                _ => continue,
            };
            // Whatever state the program is in after a fault, a fresh one is better.
            if let Some(program) =
                self.programs.iter_mut().find(|program| program.player == faulted.player)
            {
                program.end(self.shared, Duration::ZERO).await;
            }
        }
        Ok(Ok(()))
    }

    /// Starts the programs that are not running and still have something to play for.
    fn start_programs(&mut self) {
        let remove = self.played.plan().rules.crash == CrashCost::Remove
            || self.played.plan().players.len() > 2;
        for program in self.programs.iter_mut() {
            let lost = remove && self.played.faults().iter().any(|f| f.player == program.player);
            let give_up = lost || program.given_up || program.failed_starts >= STARTS_MAX;
            if program.connection.is_none() && !give_up {
                program.start(self.shared);
            }
        }
    }

    async fn arrivals(&mut self) -> Result<(), RunError> {
        for player in self.played.plan().players.clone() {
            if self.played.is_here(&player) {
                continue;
            }
            let program = self.programs.iter_mut().find(|program| program.player == player);
            let nonce = match &program {
                None => None,
                Some(program) if program.ready() => {
                    let hello = program.connection.as_ref().and_then(|c| c.hello.as_ref());
                    hello.and_then(|hello| hello.nonce.clone())
                }
                Some(_) => continue,
            };
            self.step(Command::Arrive { player, nonce }).await?.ok();
        }
        self.give_up_hopeless().await
    }

    /// Nobody need wait for a program that cannot be started.
    async fn give_up_hopeless(&mut self) -> Result<(), RunError> {
        for at in 0..self.programs.len() {
            let program = &mut self.programs[at];
            if program.failed_starts < STARTS_MAX || program.given_up {
                continue;
            }
            program.given_up = true;
            let (player, fault) = (program.player.clone(), program.absence());
            self.step(Command::Leave { player: player.clone(), fault }).await?.ok();
            self.step(Command::Expire { player }).await?.ok();
        }
        Ok(())
    }

    /// Delivers open requests; `true` if something was answered at once, so that there may be more.
    async fn ask(&mut self) -> Result<bool, RunError> {
        for pending in self.played.pending() {
            let at = self.programs.iter().position(|program| program.player == pending.player);
            let Some(at) = at else {
                let answer = tokio::task::block_in_place(|| self.house_answer(&pending));
                let (player, request) = (pending.player, pending.id);
                let command = Command::Answer { player, request, answer, took_ms: None };
                self.step(command).await?.ok();
                return Ok(true);
            };
            if !self.programs[at].ready() || self.programs[at].sent.as_ref() == Some(&pending.id) {
                continue;
            }
            if self.tell_only(at, &pending) {
                let answer = "\"ok\"".to_owned();
                let (player, request) = (pending.player, pending.id);
                let command = Command::Answer { player, request, answer, took_ms: Some(0) };
                self.step(command).await?.ok();
                return Ok(true);
            }
            self.send_request(at, &pending);
        }
        Ok(false)
    }

    fn house_answer(&mut self, pending: &Pending) -> String {
        house_answer(&self.played, &pending.player, &pending.id, pending.ask, self.houses)
    }

    /// Delivers what only tells as a notice; `true` if this was such a request.
    fn tell_only(&mut self, at: usize, pending: &Pending) -> bool {
        let Some(notice) = self.played.notice(pending) else { return false };
        self.send(at, &ToPlayer::notice(notice.about, Some(notice.data)));
        true
    }

    fn send_request(&mut self, at: usize, pending: &Pending) {
        let program = &mut self.programs[at];
        let Some(connection) = &mut program.connection else { return };
        let id = &self.played.plan().id;
        let wants_history = connection.hello.as_ref().is_some_and(|hello| hello.history);
        let shows = match connection.shown.as_ref() == Some(id) && !wants_history {
            true => Shows::Score,
            false => Shows::History,
        };
        connection.shown = Some(id.clone());
        let limit_ms = pending.limit_ms;
        self.requests.write(&self.played, None, pending, limit_ms, shows, &mut self.line);
        connection.asked();
        program.unwritten = !connection.send(&self.line);
        program.sent = Some(pending.id.clone());
        program.idle_since = None;
        program.failed_starts = 0;
        // The clock starts again once the last byte is out, but it runs: a program that does not
        // read, or closed its input, must not hold up the match for ever.
        self.played.delivered(&pending.id, self.shared.now_ms());
    }

    fn send(&mut self, at: usize, message: &ToPlayer<'_>) {
        self.programs[at].idle_since = Some(Instant::now());
        if let Some(connection) = &mut self.programs[at].connection {
            connection.send(&native::encode(message));
        }
    }

    /// Waits for a message, a deadline or a stop. Messages come first, so that an answer that is
    /// there is read before its time is said to be up.
    async fn wait(&mut self) -> Woke {
        let now = self.shared.now_ms();
        let due = self
            .played
            .deadline()
            .map(|at| Instant::now() + Duration::from_millis(at.saturating_sub(now)));
        let hello = self.programs.iter().filter_map(|program| {
            program.hello_by.filter(|_| !program.ready() && program.connection.is_some())
        });
        let idle = self.programs.iter().filter_map(|program| program.idle_since);
        let idle = idle.filter(|_| self.shared.pauses).map(|since| since + IDLE);
        let until = hello.chain(due).chain(idle).min();
        let programs = &mut *self.programs;
        let next = poll_fn(|cx| {
            for (at, program) in programs.iter_mut().enumerate() {
                if let Some(connection) = &mut program.connection
                    && let Poll::Ready(incoming) = connection.poll(cx)
                {
                    return Poll::Ready((at, incoming));
                }
            }
            Poll::Pending
        });
        let timer = async {
            match until {
                Some(until) => tokio::time::sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            (at, incoming) = next => Woke::Program(at, incoming),
            () = self.shared.stop.wait() => Woke::Stop,
            () = timer => Woke::Time,
        }
    }

    async fn on_time(&mut self) -> Result<(), RunError> {
        for at in 0..self.programs.len() {
            let program = &mut self.programs[at];
            if program.idle_since.is_some_and(|since| since + IDLE <= Instant::now()) {
                program.pause(self.shared);
            }
            let late = program.hello_by.is_some_and(|by| by <= Instant::now());
            if late && !program.ready() && program.connection.is_some() {
                program.failed_starts += 1;
                program.end(self.shared, Duration::ZERO).await;
            }
        }
        while let Some(command) = self.played.due(self.shared.now_ms()) {
            if let Some(at) = self.stopped_from_outside(&command) {
                let words = "a signal stopped it, and the referee did not send it".to_owned();
                let player = self.programs[at].player.clone();
                self.programs[at].end(self.shared, Duration::ZERO).await;
                self.interrupt(at, player, &words).await?;
                break;
            }
            if self.step(command).await?.is_err() {
                break;
            }
        }
        Ok(())
    }

    async fn on_incoming(&mut self, at: usize, incoming: Incoming) -> Result<(), RunError> {
        let player = self.programs[at].player.clone();
        match incoming {
            Incoming::Flushed => {
                let program = &mut self.programs[at];
                if std::mem::take(&mut program.unwritten)
                    && let Some(sent) = &program.sent
                {
                    self.played.delivered(sent, self.shared.now_ms());
                }
                Ok(())
            }
            Incoming::Message(FromPlayer::Hello(hello)) => {
                if let Some(connection) = &mut self.programs[at].connection {
                    connection.hello.get_or_insert(hello);
                }
                Ok(())
            }
            Incoming::Message(FromPlayer::Answer { id, answer }) => {
                self.on_answer(at, player, id, answer).await
            }
            Incoming::Message(FromPlayer::Lobby(_)) => {
                let why = "there is no lobby on a pipe: the run knows its players".to_owned();
                self.on_bad(at, player, why, "").await
            }
            Incoming::Bad { why, line } => self.on_bad(at, player, why, &line).await,
            Incoming::Refused { why } => {
                self.programs[at].failed_starts = STARTS_MAX;
                self.dismiss(at, why).await
            }
            Incoming::Flood { why } => self.dismiss(at, why).await,
            Incoming::Closed => self.on_closed(at).await,
        }
    }

    /// Ends a program because of what it sent.
    async fn dismiss(&mut self, at: usize, why: String) -> Result<(), RunError> {
        let program = &mut self.programs[at];
        let (ready, asked) = (program.ready(), program.sent.is_some());
        program.end(self.shared, Duration::ZERO).await;
        self.lose(at, ready, asked, "disconnected", why).await
    }

    /// A program ended, or closed its output.
    async fn on_closed(&mut self, at: usize) -> Result<(), RunError> {
        let program = &mut self.programs[at];
        let (ready, asked) = (program.ready(), program.sent.is_some());
        let Departure { words, code, from_outside } = program.end(self.shared, GRACE).await;
        if from_outside {
            let player = program.player.clone();
            return self.interrupt(at, player, &words).await;
        }
        self.lose(at, ready, asked, code, format!("the program ended: {words}")).await
    }

    /// The game in progress counts for nothing, because somebody else ended or stopped a program.
    /// Nobody is charged; the program is started again.
    async fn interrupt(
        &mut self,
        at: usize,
        player: PlayerName,
        words: &str,
    ) -> Result<(), RunError> {
        self.programs[at].killed += 1;
        let Some(game) = self.played.referee().map(|referee| referee.number()) else {
            return Ok(());
        };
        let ruling = ruling(&format!("killed-from-outside: the program of {player}: {words}"));
        self.order(MatchOrder::Pause, &ruling).await?;
        self.order(MatchOrder::Void(game), &ruling).await?;
        (self.shared.tell)(Progress::Interrupted {
            id: self.played.plan().id.clone(),
            game,
            why: ruling.why.to_string(),
        });
        self.order(MatchOrder::Resume, &ruling).await
    }

    async fn order(&mut self, order: MatchOrder, ruling: &Ruling) -> Result<(), RunError> {
        let ruling = ruling.clone();
        self.step(Command::Order { order, ruling }).await?.ok();
        Ok(())
    }

    /// Why the match is given up, if it has been interrupted too often.
    fn abandoned(&self) -> Option<Ruling> {
        let own = |ruling: &&Ruling| ruling.by.as_str() == REFEREE;
        let voids = self.played.finished().filter_map(|(result, _)| result.voided.as_ref());
        let voids = voids.filter(own).count();
        let killed = self.programs.iter().find(|one| one.killed as usize > INTERRUPTIONS_MAX);
        if voids <= INTERRUPTIONS_MAX && killed.is_none() {
            return None;
        }
        let why = "killed-from-outside: programs of this match are killed again and again, so \
                   nobody wins it";
        Some(ruling(why))
    }

    /// The program whose silence is due to be charged, if somebody else stopped it.
    fn stopped_from_outside(&self, command: &Command) -> Option<usize> {
        let Command::Charge { player, fault } = command else { return None };
        let at = self.programs.iter().position(|program| program.player == *player)?;
        let connection = self.programs[at].connection.as_ref()?;
        let silent = fault.kind == FaultKind::Timeout;
        (silent && connection.is_stopped_from_outside()).then_some(at)
    }

    /// Notes that a program is gone by its own fault.
    async fn lose(
        &mut self,
        at: usize,
        ready: bool,
        asked: bool,
        code: &'static str,
        why: String,
    ) -> Result<(), RunError> {
        let program = &mut self.programs[at];
        // One that goes before it was asked anything has not really started.
        if !asked {
            program.failed_starts += 1;
            program.why_not = Some(why.clone());
        }
        if ready {
            let fault = Fault::new(FaultKind::Disconnected, code, why);
            let player = program.player.clone();
            self.step(Command::Leave { player, fault }).await?.ok();
        }
        Ok(())
    }

    async fn on_answer(
        &mut self,
        at: usize,
        player: PlayerName,
        id: RequestId,
        answer: String,
    ) -> Result<(), RunError> {
        let request = id.clone();
        let command = Command::Answer { player, request, answer, took_ms: None };
        let Err(rejection) = self.step(command).await? else {
            self.programs[at].idle_since = Some(Instant::now());
            return Ok(());
        };
        let (code, accepted) = match &rejection {
            Rejection::Repeated { accepted } => ("repeated", accepted.clone().map(|raw| raw.0)),
            Rejection::Late | Rejection::Over => ("late", None),
            _ => ("foreign", None),
        };
        let detail = rejection.to_string();
        self.send(at, &ToPlayer::Error { code, id: Some(id.as_str()), detail, accepted });
        self.count_junk(at).await
    }

    /// A line that is no message: the answer to the open request, if one is open; junk otherwise.
    async fn on_bad(
        &mut self,
        at: usize,
        player: PlayerName,
        why: String,
        line: &str,
    ) -> Result<(), RunError> {
        if !self.programs[at].ready() {
            self.programs[at].why_not = Some(why.clone());
        } else if self.programs[at].sent.is_some() {
            let fault = Fault::malformed(why.clone(), line);
            let charged = self.step(Command::Charge { player, fault }).await?;
            if charged.is_ok() {
                return Ok(());
            }
        }
        self.send(
            at,
            &ToPlayer::Error { code: "malformed", id: None, detail: why, accepted: None },
        );
        self.count_junk(at).await
    }

    async fn count_junk(&mut self, at: usize) -> Result<(), RunError> {
        let Some(connection) = &mut self.programs[at].connection else { return Ok(()) };
        connection.junk += 1;
        if connection.junk <= JUNK_MAX {
            return Ok(());
        }
        self.dismiss(at, format!("sent over {JUNK_MAX} lines nobody asked for")).await
    }
}
