//! Examines whole games and many positions: whether the program answers, legally, in time, and
//! writes nothing else to stdout.

use super::{is_cheating, refused};
use crate::doctor::candidate::{Candidate, no_answer};
use crate::doctor::positions::positions;
use crate::doctor::report::{Exam, Failure, Findings, Verdict};
use crate::doctor::session::{Said, Session, Stopped, Stray};
use crate::doctor::settings::GameExam;
use crate::doctor::table::Case;
use std::time::{Duration, Instant};

/// Processes that may end or hang before the rest is left out.
const LOST_MAX: usize = 5;

/// How many answers are kept to ask the same again.
const KEPT_MAX: usize = 20;

/// The observations of an examination.
#[derive(Default)]
pub(crate) struct Played {
    answers: Findings,
    rules: Findings,
    positions: Findings,
    stdout: Findings,
    late: Findings,
    took_ms: Vec<f64>,
    asked: usize,
    answered: usize,
    /// Requests of positions out of nowhere, of which so many were planned.
    jumped: usize,
    planned: usize,
    /// True if whole games are played; otherwise the exam asks about positions.
    jumping: bool,
    twice: usize,
    lost: usize,
    /// Some requests with their answers.
    pub(crate) kept: Vec<(Case, String)>,
}

impl Played {
    /// Returns whether it answered anything.
    pub(crate) fn any_answer(&self) -> bool {
        self.answered > 0
    }

    /// Returns whether it played whole games by the rules.
    pub(crate) fn is_legal(&self) -> bool {
        self.rules.is_empty() && self.answers.is_empty()
    }

    /// Returns whether it wrote nothing but messages.
    pub(crate) fn is_clean(&self) -> bool {
        self.stdout.is_empty()
    }

    /// The examinations this was.
    pub(crate) fn into_exams(mut self, game: &GameExam) -> Vec<Exam> {
        let name = game.name();
        let answers = format!("{} of {} questions answered", self.answered, self.asked);
        let rules = format!("{} questions of whole games", self.asked - self.jumped);
        let short = match self.jumped < self.planned {
            true => format!(" of {} planned", self.planned),
            false => String::new(),
        };
        let positions = format!("{} positions{short}", self.jumped);
        let time = times(&mut self.took_ms, game.limit());
        let (stdout, good) = match self.twice {
            0 => ("only messages".to_owned(), Verdict::Pass),
            twice => (format!("{twice} answers came twice; the first counts"), Verdict::Note),
        };
        let held = |held: bool| if held { Verdict::Pass } else { Verdict::Skipped };
        let (some, jumped) = (held(self.answered > 0), held(self.jumped > 0));
        vec![
            self.answers.into_exam("answers", name, Verdict::Pass, answers),
            self.rules.into_exam("rules", name, some, rules),
            self.positions.into_exam("positions", name, jumped, positions),
            self.late.into_exam("time", name, some, time),
            self.stdout.into_exam("stdout", name, good, stdout),
        ]
    }

    /// Judges what came back.
    pub(crate) fn take(
        &mut self,
        case: &Case,
        said: &Said,
        took: Duration,
        strays: &[Stray],
        limit: Duration,
    ) {
        self.asked += 1;
        self.jumped += usize::from(self.jumping);
        for stray in strays {
            match stray {
                Stray::NoMessage { why, line } => self.stdout.add(
                    Failure::new(
                        format!(
                            "the program writes a line that is no message while a request is \
                            open: {why}"
                        ),
                        "write messages to stdout and everything else to stderr",
                    )
                    .sent(&case.line)
                    .reply(line),
                ),
                Stray::OtherId(id) => self.unanswered().add(
                    Failure::new(
                        "the program answers a request that is not open",
                        "copy the id of the request into the answer",
                    )
                    .sent(&case.line)
                    .reply(id),
                ),
            }
        }
        let Said::Answer(answer) = said else { return };
        self.answered += 1;
        self.took_ms.push(took.as_secs_f64() * 1000.0);
        if took > limit {
            let what = format!("an answer takes longer than {limit:?}");
            let fix = "answer faster, or play in tournaments with a longer answer_ms; deadline_ms in \
                 the request is the limit";
            let came = format!("{answer}   (after {:.0} ms)", took.as_secs_f64() * 1000.0);
            self.late.add(Failure::new(what, fix).sent(&case.line).reply(&came));
        }
        match case.check(answer) {
            Ok(()) if self.kept.len() < KEPT_MAX => self.kept.push((case.clone(), answer.clone())),
            Ok(()) => {}
            Err(refusal) if is_cheating(&refusal) && !self.jumping => {
                self.rules.add(refused(&refusal, case, answer));
            }
            Err(refusal) => self.unanswered().add(refused(&refusal, case, answer)),
        }
    }

    /// Notes that there is no answer, because the program is gone or silent.
    pub(crate) fn lose(&mut self, failure: Failure) {
        self.lost += 1;
        self.unanswered().add(failure);
    }

    /// Notes that it wrote too much.
    pub(crate) fn flooded(&mut self, failure: Failure) {
        self.lost += 1;
        self.stdout.add(failure);
    }

    /// Notes answers that came twice.
    pub(crate) fn note_twice(&mut self, session: &mut Session) {
        self.twice += std::mem::take(&mut session.twice);
    }

    /// From now on positions are asked about.
    pub(crate) fn jump(&mut self, planned: usize) {
        (self.planned, self.jumping) = (planned, true);
    }

    /// Returns whether it makes no sense to ask on, or the time for it is over.
    pub(crate) fn is_over(&self, until: Instant) -> bool {
        // Silence costs a limit each time.
        let hopeless = self.lost >= LOST_MAX || (self.lost >= 2 && self.answered == 0);
        hopeless || Instant::now() >= until
    }

    /// Where it belongs that there is no answer.
    fn unanswered(&mut self) -> &mut Findings {
        if self.jumping { &mut self.positions } else { &mut self.answers }
    }
}

/// How long answers took, for people.
fn times(took_ms: &mut [f64], limit: Duration) -> String {
    took_ms.sort_by(f64::total_cmp);
    let Some(last) = took_ms.last() else { return "there was no answer to measure".into() };
    let at = |share: f64| took_ms[((took_ms.len() - 1) as f64 * share) as usize];
    let limit_ms = limit.as_millis();
    format!("p50 {:.1} ms, p99 {:.1} ms, max {last:.1} ms; limit {limit_ms} ms", at(0.5), at(0.99))
}

/// A process that is started when there is none.
struct Seat<'c, 'a> {
    candidate: &'c mut Candidate<'a>,
    game: &'c GameExam,
    session: Option<Session>,
}

impl Seat<'_, '_> {
    /// Asks; gives the answer if there is one the rules allow.
    async fn ask(
        &mut self,
        notices: &[Vec<u8>],
        case: &Case,
        played: &mut Played,
    ) -> Result<Option<String>, Stopped> {
        self.candidate.step("answers", self.game);
        if self.session.is_none() {
            match self.candidate.start(self.game).await? {
                Ok(session) => self.session = Some(session),
                Err(failure) => {
                    played.lose(failure);
                    return Ok(None);
                }
            }
        }
        let Some(session) = &mut self.session else { return Ok(None) };
        for notice in notices {
            session.send(notice).await;
        }
        let reply = session.ask(case).await?;
        played.take(case, &reply.said, reply.took, &reply.strays, self.game.limit());
        played.note_twice(session);
        match reply.said {
            Said::Answer(answer) => Ok(case.check(&answer).is_ok().then_some(answer)),
            said => {
                if let Some(session) = self.session.take() {
                    let failure = no_answer(&said, case, session).await;
                    match said {
                        Said::Flood(_) => played.flooded(failure),
                        _ => played.lose(failure),
                    }
                }
                Ok(None)
            }
        }
    }
}

/// Plays whole games and asks about positions.
pub(crate) async fn play(
    candidate: &mut Candidate<'_>,
    game: &GameExam,
) -> Result<Played, Stopped> {
    let (settings, mut maker) = (candidate.settings, candidate.maker(game, 1));
    let cases =
        tokio::task::block_in_place(|| positions(&mut maker, &game.shapes, settings.positions()));
    let until = Instant::now() + settings.time_box();
    let mut played = Played::default();
    let mut seat = Seat { candidate, game, session: None };
    'games: for number in 0..settings.whole_games() {
        let mut table = maker.table(&game.shapes[number % game.shapes.len()]);
        while let (notices, Some(case)) = table.next() {
            if played.is_over(until) {
                break 'games;
            }
            let answer = seat.ask(&notices, &case, &mut played).await?;
            let answer = answer.unwrap_or_else(|| table.any_answer(&case));
            table.answer(&answer);
        }
    }
    played.jump(cases.len());
    for case in &cases {
        if played.is_over(until) {
            break;
        }
        seat.ask(&[], case, &mut played).await?;
    }
    if let Some(session) = seat.session.take() {
        session.finish(Duration::ZERO).await;
    }
    Ok(played)
}

/// Asks the opening question of a game: does the program play it at all?
pub(crate) async fn opening(
    candidate: &mut Candidate<'_>,
    game: &GameExam,
) -> Result<Result<(), Failure>, Stopped> {
    let mut table = candidate.maker(game, 2).table(&game.shapes[0]);
    let (notices, Some(case)) = table.next() else { return Ok(Ok(())) };
    let mut session = match candidate.start(game).await? {
        Ok(session) => session,
        Err(failure) => return Ok(Err(failure)),
    };
    for notice in &notices {
        session.send(notice).await;
    }
    match session.ask(&case).await?.said {
        Said::Answer(answer) => {
            session.finish(Duration::ZERO).await;
            Ok(case.check(&answer).map_err(|refusal| refused(&refusal, &case, &answer)))
        }
        said => Ok(Err(no_answer(&said, &case, session).await)),
    }
}
