//! The program under examination: how it is started, and how far the exam is.

use crate::doctor::report::Failure;
use crate::doctor::session::{Said, Session, Stopped};
use crate::doctor::settings::{ExamSettings, ExamStep, GameExam};
use crate::doctor::table::{Case, Maker};
use crate::{Ended, Stop};
use agon_core::{PlayerName, Secret, TournamentId};
use agon_wire::native::{self, ToPlayer};
use std::time::Duration;

/// How long past its limit an answer is waited for: slow is something else than silent.
const SLOW: Duration = Duration::from_secs(5);

/// How long a program has to end by itself before it counts as one that never would.
pub(crate) const END_PATIENCE: Duration = Duration::from_secs(5);

/// The candidate.
pub(crate) struct Candidate<'a> {
    pub(crate) settings: &'a ExamSettings,
    pub(crate) stop: Stop,
    pub(crate) name: PlayerName,
    tell: &'a (dyn Fn(ExamStep) + Sync),
    done: usize,
    total: usize,
    starts: u32,
}

impl<'a> Candidate<'a> {
    pub(crate) fn new(
        settings: &'a ExamSettings,
        stop: Stop,
        tell: &'a (dyn Fn(ExamStep) + Sync),
    ) -> Candidate<'a> {
        let name = PlayerName::new("candidate").expect("a name of letters");
        Candidate { settings, stop, name, tell, done: 0, total: 0, starts: 0 }
    }

    /// Notes how many steps there are about, once it is known how many games are played.
    pub(crate) fn plan(&mut self, games: usize) {
        let (settings, extra) = (self.settings, 8);
        let each = settings.positions() + settings.whole_games() * 40 + settings.restarts() + extra;
        self.total = self.done + games * each + extra;
    }

    /// Reports progress: one more step is done.
    pub(crate) fn step(&mut self, exam: &'static str, game: &GameExam) {
        self.done += 1;
        let (done, total) = (self.done, self.total.max(self.done));
        (self.tell)(ExamStep { exam, game: game.name(), done, total });
    }

    /// A maker of matches in which the candidate plays; no other has the same round.
    pub(crate) fn maker(&self, game: &GameExam, round: u32) -> Maker {
        let (kind, rules) = (game.kind.clone(), game.rules.clone());
        Maker::new(kind, rules, self.name.clone(), self.settings.seed, round, false)
    }

    /// Starts the program and waits for its hello.
    pub(crate) async fn start(
        &mut self,
        game: &GameExam,
    ) -> Result<Result<Session, Failure>, Stopped> {
        let hello = self.hello(game);
        self.start_with(game, &hello).await
    }

    /// The same, with a hello of one's own.
    pub(crate) async fn start_with(
        &mut self,
        game: &GameExam,
        hello: &[u8],
    ) -> Result<Result<Session, Failure>, Stopped> {
        self.starts += 1;
        let mark = format!("agon-doctor-{}-{}", std::process::id(), self.starts);
        let (words, limit) = (&self.settings.words, self.settings.hello_limit);
        let patience = game.limit() + SLOW;
        Session::start(words, &self.name, &mark, hello, limit, patience, &self.stop).await
    }

    pub(crate) fn hello(&self, game: &GameExam) -> Vec<u8> {
        native::encode(&ToPlayer::Hello {
            protocol: native::PROTOCOL_VERSION,
            server: concat!("agon/", env!("CARGO_PKG_VERSION")),
            player: &self.name,
            tournament: &TournamentId::from("exam".to_owned()),
            game: game.name(),
            commitment: &Secret::from_seed_number(self.settings.seed).commitment(),
        })
    }
}

/// Why there is no answer, with the evidence. Ends the program.
pub(crate) async fn no_answer(said: &Said, case: &Case, session: Session) -> Failure {
    const HISTORY: &str = "; if it needs past turns or games in every request, not only in the first \
                           of a match, its hello says \"history\":true";
    let brief = session.brief;
    let ended = session.finish(Duration::from_millis(300)).await;
    let mut failure = match said {
        Said::Silent => Failure::new(
            format!("the program does not answer a {} question", case.ask()),
            "print the answer with the request's id, end the line, and flush stdout",
        ),
        Said::Flood(why) => Failure::new(
            format!("the program floods: {why}"),
            "write only one answer per request to stdout; write logs to stderr",
        ),
        _ => Failure::new(
            format!("the program ends at a {} question: {}", case.ask(), how(&ended)),
            "keep running until the input ends; its stderr may show the cause",
        ),
    };
    if brief {
        failure.fix.push_str(HISTORY);
    }
    failure.sent(if brief { &case.brief } else { &case.line }).stderr(&ended.stderr)
}

/// How a program ended, for people.
pub(crate) fn how(ended: &Ended) -> String {
    match ended.status {
        Some(status) => status.to_string(),
        None => "it closed its output and keeps running".into(),
    }
}
