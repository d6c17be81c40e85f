//! The exam of a program that connects by itself: its login, its games, and other messages.

mod lost;

use crate::Stop;
use crate::doctor::exam::play::Played;
use crate::doctor::exam::talk::{self, Asker, line};
use crate::doctor::host::{By, Host, Started};
use crate::doctor::positions::positions;
use crate::doctor::report::{Exam, ExamReport, Failure, Findings, Verdict};
use crate::doctor::session::{Said, Session, Stopped};
use crate::doctor::settings::{ExamSettings, ExamStep, GameExam};
use crate::doctor::table::{Case, Maker};
use agon_core::{PlayerName, Secret};
use serde_json::json;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// How long past its limit an answer is waited for.
const SLOW: Duration = Duration::from_secs(5);

/// Examines the program that connects; starts the program in the settings, if there is one.
pub async fn examine_guest(
    settings: &ExamSettings,
    address: &str,
    stop: Stop,
    tell: &(dyn Fn(ExamStep) + Sync),
    say: &(dyn Fn(&SocketAddr) + Sync),
) -> std::io::Result<ExamReport> {
    let mut report = ExamReport {
        command: settings.words.clone(),
        seed: settings.seed,
        games: Vec::new(),
        exams: Vec::new(),
        stopped: false,
    };
    let Some(game) = settings.games.first() else { return Ok(report) };
    let patience = game.limit() + SLOW;
    let (limit, by_hand) = (settings.hello_limit, settings.words.is_empty());
    let host = Host::bind(address, settings.seed, stop, limit, patience, by_hand).await?;
    say(&host.address());
    let started = match &settings.words[..] {
        [] => None,
        words => Some(Started::start(words, host.address())?),
    };
    report.games.push(game.name().to_owned());
    let total = settings.positions() / 2 + settings.whole_games() * 40 + lost::CUTS.1 + 10;
    let mut visit =
        Visit { settings, game, host, tell, done: 0, total, session: None, gone: false };
    report.stopped = visit.examine(&mut report.exams).await.is_err();
    if let Some(started) = started {
        let stderr = started.end().await;
        let failures = report.exams.iter_mut().flat_map(|exam| &mut exam.failures);
        failures.for_each(|failure| *failure = failure.clone().stderr(&stderr));
    }
    Ok(report)
}

/// A guest, and how far its exam is.
struct Visit<'a> {
    settings: &'a ExamSettings,
    game: &'a GameExam,
    host: Host,
    tell: &'a (dyn Fn(ExamStep) + Sync),
    done: usize,
    total: usize,
    session: Option<Session>,
    /// True if it was waited for in vain.
    gone: bool,
}

impl Visit<'_> {
    async fn examine(&mut self, exams: &mut Vec<Exam>) -> Result<(), Stopped> {
        let connect = self.connect().await?;
        let here = connect.verdict != Verdict::Fail;
        exams.push(connect);
        if !here {
            return Ok(());
        }
        let played = self.play().await?;
        let (any, clean) = (played.any_answer(), played.is_clean());
        exams.extend(played.into_exams(self.game));
        if !any || self.gone {
            return Ok(());
        }
        self.talk(exams, clean).await?;
        for name in ["together", "cut", "restart", "taken-over"] {
            let exam = match (self.gone, name) {
                (true, _) => {
                    let why = "skipped: the program does not reconnect";
                    Findings::default().into_exam(name, self.game.name(), Verdict::Skipped, why)
                }
                (false, "together") => self.together().await?,
                (false, "cut") => self.cut().await?,
                (false, "restart") => self.restart().await?,
                (false, _) => self.taken_over().await?,
            };
            exams.push(exam);
        }
        Ok(())
    }

    fn step(&mut self, exam: &'static str) {
        self.done += 1;
        let (game, done) = (self.game.name(), self.done);
        (self.tell)(ExamStep { exam, game, done, total: self.total.max(done) });
    }

    /// A maker of matches with the guest; no other has the same round.
    fn maker(&self, round: u32) -> Maker {
        let name = PlayerName::new("candidate").expect("a name of letters");
        let (kind, rules) = (self.game.kind.clone(), self.game.rules.clone());
        Maker::new(kind, rules, name, self.settings.seed, round, true)
    }

    fn exam(&self, findings: Findings, name: &'static str, detail: impl Into<String>) -> Exam {
        findings.into_exam(name, self.game.name(), Verdict::Pass, detail)
    }

    /// The guest, as soon as it is there (again), in the middle of its tournaments.
    async fn meet(&mut self, others: &[&str]) -> Result<Result<By, Failure>, Stopped> {
        let (mut session, by) = match self.host.guest().await? {
            Ok(guest) => guest,
            Err(failure) => {
                self.gone = true;
                return Ok(Err(failure));
            }
        };
        for tournament in ["exam"].iter().chain(others) {
            session.send(&self.about(tournament)).await;
        }
        self.session = Some(session);
        Ok(Ok(by))
    }

    /// The notice that a tournament is played in.
    fn about(&self, tournament: &str) -> Vec<u8> {
        let commitment = Secret::from_seed_number(self.settings.seed).commitment();
        let (game, about) = (self.game.name(), "tournament");
        let data = json!({"tournament": tournament, "game": game, "commitment": commitment});
        line(&json!({"type": "notice", "about": about, "data": data}))
    }

    async fn connect(&mut self) -> Result<Exam, Stopped> {
        self.step("connect");
        let mut findings = Findings::default();
        let detail = match self.meet(&[]).await? {
            Ok(_) => {
                let hello = self.session.as_ref().map(|session| session.hello.name.as_str());
                let name = hello.unwrap_or_default().chars().filter(|letter| !letter.is_control());
                format!("{:?} logged in", name.take(60).collect::<String>())
            }
            Err(failure) => {
                findings.add(failure);
                "no login".into()
            }
        };
        Ok(self.exam(findings, "connect", detail))
    }

    /// Asks; a guest that hangs up is waited for.
    async fn ask(&mut self, case: &Case, played: &mut Played) -> Result<Option<String>, Stopped> {
        self.step("answers");
        if self.session.is_none() {
            let _ = self.meet(&[]).await?;
        }
        let Some(session) = &mut self.session else {
            let fix = "reconnect, and log in with the token from the welcome";
            played.lose(Failure::new(
                "the program closed the connection and does not \
                reconnect",
                fix,
            ));
            return Ok(None);
        };
        let reply = session.ask(case).await?;
        played.take(case, &reply.said, reply.took, &reply.strays, self.game.limit());
        played.note_twice(session);
        if let Said::Answer(answer) = reply.said {
            return Ok(case.check(&answer).is_ok().then_some(answer));
        }
        self.session = None;
        let (what, fix) = missing(&reply.said);
        played.lose(Failure::new(what, fix).sent(&case.line));
        Ok(None)
    }

    async fn play(&mut self) -> Result<Played, Stopped> {
        let mut maker = self.maker(1);
        let (count, shapes) = (self.settings.positions() / 2, &self.game.shapes);
        let cases = tokio::task::block_in_place(|| positions(&mut maker, shapes, count));
        let until = Instant::now() + self.settings.time_box();
        let mut played = Played::default();
        'games: for number in 0..self.settings.whole_games() {
            let mut table = maker.table(&self.game.shapes[number % self.game.shapes.len()]);
            while let (notices, Some(case)) = table.next() {
                if played.is_over(until) {
                    break 'games;
                }
                if let Some(session) = &mut self.session {
                    for notice in &notices {
                        session.send(notice).await;
                    }
                }
                let answer = self.ask(&case, &mut played).await?;
                let answer = answer.unwrap_or_else(|| table.any_answer(&case));
                table.answer(&answer);
            }
        }
        played.jump(cases.len());
        for case in &cases {
            if played.is_over(until) {
                break;
            }
            self.ask(case, &mut played).await?;
        }
        Ok(played)
    }

    async fn talk(&mut self, exams: &mut Vec<Exam>, clean: bool) -> Result<(), Stopped> {
        let mut maker = self.maker(5);
        let mut asker = Asker::new(maker.table(&self.game.shapes[0]));
        self.step("pieces");
        let mut findings = Findings::default();
        if let Some(session) = &mut self.session
            && let Some((failure, ..)) = talk::in_pieces(session, &mut asker).await?
        {
            self.session = None;
            findings.add(failure);
        }
        exams.push(self.exam(findings, "pieces", "requests that arrive in pieces"));
        for saying in talk::sayings(&asker.notices, true) {
            if self.gone {
                break;
            }
            let saying = saying.without(exams);
            self.step(saying.name);
            let mut asker = Asker::new(maker.table(&self.game.shapes[0]));
            let mut findings = Findings::default();
            for said in &saying.lines {
                let Some(case) = asker.case() else { break };
                if let Err(failure) = self.here().await? {
                    findings.add(failure);
                    break;
                }
                let Some(session) = &mut self.session else { break };
                let one = std::slice::from_ref(said);
                let case = match saying.name {
                    "unknown" => talk::with_unknown_fields(&case),
                    _ => case,
                };
                if let Some((failure, said)) = talk::converse(session, one, &case, clean).await? {
                    findings.add(Failure { fix: saying.fix.into(), ..failure });
                    if !matches!(said, Said::Answer(_)) {
                        self.session = None;
                    }
                }
            }
            let detail = format!("{} messages, and a request after each", saying.lines.len());
            exams.push(self.exam(findings, saying.name, detail));
        }
        Ok(())
    }

    /// Makes sure that the guest is there.
    async fn here(&mut self) -> Result<Result<(), Failure>, Stopped> {
        if self.session.is_some() {
            return Ok(Ok(()));
        }
        Ok(self.meet(&[]).await?.map(drop))
    }
}

/// Says what is missing, and how to fix it.
fn missing(said: &Said) -> (String, &'static str) {
    match said {
        Said::Flood(why) => (
            format!("the program floods: {why}"),
            "send one answer per request, and only messages of the protocol",
        ),
        Said::Gone => (
            "the program closed the connection".into(),
            "keep the connection; its \
            stderr may show the cause",
        ),
        _ => (
            "the program does not answer".into(),
            "send the answer with the request's id, and \
                end the line",
        ),
    }
}
