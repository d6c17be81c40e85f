//! Examines messages besides requests: notices, errors, messages of later versions, messages in
//! pieces, and repeated messages. The program must still answer the next request.

use crate::doctor::candidate::{Candidate, no_answer};
use crate::doctor::report::{Exam, Failure, Findings, Verdict};
use crate::doctor::session::{Reply, Said, Session, Stopped, Stray};
use crate::doctor::settings::GameExam;
use crate::doctor::table::{Case, Table};
use agon_wire::native::{self, ToPlayer};
use serde_json::{Value, json};
use std::time::Duration;

/// Between two pieces of a line, so that they are read one by one.
const PAUSE: Duration = Duration::from_millis(40);

/// How often a line is sent in pieces.
const ROUNDS: usize = 3;

/// A kind of thing that is said before a request.
pub(crate) struct Saying {
    pub(crate) name: &'static str,
    pub(crate) lines: Vec<Vec<u8>>,
    pub(crate) fix: &'static str,
}

/// A match to ask from.
pub(crate) struct Asker {
    table: Table,
    pub(crate) notices: Vec<Vec<u8>>,
    next: Option<Case>,
}

impl Asker {
    pub(crate) fn new(mut table: Table) -> Asker {
        let (notices, next) = table.next();
        Asker { table, notices, next }
    }

    /// The next question; some answer is taken for given.
    pub(crate) fn case(&mut self) -> Option<Case> {
        let case = self.next.take()?;
        let answer = self.table.any_answer(&case);
        self.table.answer(&answer);
        self.next = self.table.next().1;
        Some(case)
    }
}

/// The messages besides requests, by examination. The last one has every known kind, as a later
/// version might send it.
pub(crate) fn sayings(notices: &[Vec<u8>], socket: bool) -> Vec<Saying> {
    let mut told = notices.to_vec();
    told.push(line(&json!({"type": "notice", "about": "told", "data": {"ask": "exam"}})));
    told.push(line(&json!({"type": "notice", "about": "game-over", "data": true})));
    if socket {
        let over = json!({"tournament": "earlier", "match": "r1m1", "won": false});
        told.push(line(&json!({"type": "notice", "about": "match-over", "data": over})));
        let over = json!({"tournament": "earlier", "won": false});
        told.push(line(&json!({"type": "notice", "about": "tournament-over", "data": over})));
    }
    let error = |code, id, accepted: Option<Value>| {
        let (detail, accepted) =
            ("an exam".to_owned(), accepted.map(|value| agon_games::json(&value)));
        native::encode(&ToPlayer::Error { code, id, detail, accepted })
    };
    let errors = vec![
        error("repeated", Some("r0m0.1.0.0"), Some(json!({"exam": true}))),
        error("repeated", Some("r0m0.1.0.0"), None),
        error("late", Some("r0m0.1.0.1"), None),
        error("foreign", Some("r0m0.9.9.9"), None),
        error("malformed", None, None),
    ];
    let unknown = vec![
        line(&json!({"type": "weather", "forecast": {"sun": [1, 2, 3]}})),
        line(&json!({"type": "notice", "about": "weather", "data": {"sun": true}, "since": 2})),
        line(&json!({"type": "error", "code": "weather", "detail": "it rains", "until": null})),
    ];
    let mut all = vec![
        Saying { name: "notices", lines: told, fix: "read notices and do not reply to them" },
        Saying {
            name: "errors",
            lines: errors,
            fix: "an error means that your message had no effect: continue, and do not reply to it",
        },
    ];
    if socket {
        let beat = line(&json!({"type": "heartbeat"}));
        let lines = vec![beat.clone(), beat.clone(), beat];
        all.push(Saying {
            name: "heartbeat",
            lines,
            fix: "read heartbeats and do not reply to them",
        });
    }
    all.push(Saying {
        name: "unknown",
        lines: unknown,
        fix: "ignore unknown messages and fields: later versions have more of them",
    });
    all
}

impl Saying {
    /// Without messages of a type whose own examination failed.
    pub(crate) fn without(mut self, exams: &[Exam]) -> Saying {
        let failed = |name| exams.iter().any(|exam| exam.name == name && exam.failed > 0);
        for (name, kind) in [("notices", "\"notice\""), ("errors", "\"error\"")] {
            if self.name == "unknown" && failed(name) {
                self.lines.retain(|line| !String::from_utf8_lossy(line).contains(kind));
            }
        }
        self
    }
}

/// One message as a line.
pub(crate) fn line(value: &Value) -> Vec<u8> {
    native::encode(value)
}

/// The request with fields that no version has yet.
pub(crate) fn with_unknown_fields(case: &Case) -> Case {
    let mut case = case.clone();
    if let Ok(mut request) = serde_json::from_slice::<Value>(&case.line) {
        request["weather"] = json!({"sun": [1, 2, 3]});
        request["match"]["weather"] = json!("sun");
        case.line = line(&request);
        case.brief = case.line.clone();
    }
    case
}

/// Sends `lines` and then a request. An unexpected or a missing reply is a failure.
pub(crate) async fn converse(
    session: &mut Session,
    lines: &[Vec<u8>],
    case: &Case,
    clean: bool,
) -> Result<Option<(Failure, Said)>, Stopped> {
    for line in lines {
        session.send(line).await;
    }
    let reply = session.ask(case).await?;
    let sent: Vec<u8> = lines.concat();
    let Reply { said, strays, .. } = reply;
    let failure = |what: String| Failure::new(what, "").sent(&sent);
    Ok(match (&said, strays.first()) {
        (Said::Silent, _) => {
            Some((failure("the program does not answer the next request".into()), said))
        }
        (Said::Gone, _) => Some((
            failure(
                "the program ends or closes the \
            connection"
                    .into(),
            ),
            said,
        )),
        (Said::Flood(why), _) => Some((failure(format!("the program floods: {why}")), said)),
        (Said::Answer(_), Some(Stray::OtherId(id))) => Some((
            failure(
                "the program replies to a message that needs no \
                reply"
                    .into(),
            )
            .reply(id),
            said,
        )),
        (Said::Answer(_), Some(Stray::NoMessage { line, .. })) if clean => Some((
            failure(
                "the program replies to a message that needs no \
                reply"
                    .into(),
            )
            .reply(line),
            said,
        )),
        (Said::Answer(_), _) => None,
    })
}

/// Says something to a new process and then asks it; if that fails, says the lines one by one to
/// find out which.
pub(crate) async fn say(
    candidate: &mut Candidate<'_>,
    game: &GameExam,
    said: &Saying,
    asker: &mut Asker,
    clean: bool,
) -> Result<Exam, Stopped> {
    candidate.step(said.name, game);
    let unknown = said.name == "unknown";
    let mut findings = Findings::default();
    let all = trial(candidate, game, &said.lines, asker, clean, unknown).await?;
    if let Some(whole) = all {
        for line in &said.lines {
            let one = std::slice::from_ref(line);
            if let Some(failure) = trial(candidate, game, one, asker, clean, false).await? {
                findings.add(failure);
            }
        }
        if findings.is_empty() {
            findings.add(whole);
        }
    }
    let mut exam = findings.into_exam(
        said.name,
        game.name(),
        Verdict::Pass,
        format!("{} messages, then a request", said.lines.len()),
    );
    for failure in &mut exam.failures {
        failure.fix = said.fix.into();
    }
    Ok(exam)
}

async fn trial(
    candidate: &mut Candidate<'_>,
    game: &GameExam,
    lines: &[Vec<u8>],
    asker: &mut Asker,
    clean: bool,
    unknown: bool,
) -> Result<Option<Failure>, Stopped> {
    let Some(mut case) = asker.case() else { return Ok(None) };
    let mut hello = candidate.hello(game);
    if unknown {
        case = with_unknown_fields(&case);
        if let Ok(mut value) = serde_json::from_slice::<Value>(&hello) {
            value["weather"] = json!("sun");
            hello = line(&value);
        }
    }
    let mut session = match candidate.start_with(game, &hello).await? {
        Ok(session) => session,
        Err(failure) => return Ok(Some(failure)),
    };
    let found = converse(&mut session, lines, &case, clean).await?;
    let Some((failure, said)) = found else {
        session.finish(Duration::ZERO).await;
        return Ok(None);
    };
    // Its last words are on stderr.
    let stderr = no_answer(&said, &case, session).await.stderr;
    Ok(Some(Failure { stderr, ..failure }))
}

/// Requests whose lines come in pieces.
pub(crate) async fn pieces(
    candidate: &mut Candidate<'_>,
    game: &GameExam,
    asker: &mut Asker,
) -> Result<Exam, Stopped> {
    candidate.step("pieces", game);
    let mut findings = Findings::default();
    match candidate.start(game).await? {
        Err(failure) => findings.add(failure),
        Ok(mut session) => {
            if let Some((mut failure, said, case)) = in_pieces(&mut session, asker).await? {
                failure.stderr = no_answer(&said, &case, session).await.stderr;
                findings.add(failure);
            } else {
                session.finish(Duration::ZERO).await;
            }
        }
    }
    let detail = format!("{ROUNDS} requests that arrive in pieces");
    Ok(findings.into_exam("pieces", game.name(), Verdict::Pass, detail))
}

/// Sends requests in pieces.
pub(crate) async fn in_pieces(
    session: &mut Session,
    asker: &mut Asker,
) -> Result<Option<(Failure, Said, Case)>, Stopped> {
    let fix = "split the input into lines: one read may return half a line, or several";
    for _ in 0..ROUNDS {
        let Some(case) = asker.case() else { return Ok(None) };
        session.expect();
        for piece in case.line.chunks(case.line.len() / 3 + 1) {
            session.send(piece).await;
            tokio::time::sleep(PAUSE).await;
        }
        let said = session.hear(&case.id).await?.said;
        if !matches!(said, Said::Answer(_)) {
            let what = "the program does not answer a request that arrived in pieces";
            return Ok(Some((Failure::new(what, fix).sent(&case.line), said, case)));
        }
    }
    Ok(None)
}

/// The same request again, the reply that it was answered already, and the next request.
pub(crate) async fn repeat(
    candidate: &mut Candidate<'_>,
    game: &GameExam,
    asker: &mut Asker,
    with_error: bool,
) -> Result<Exam, Stopped> {
    candidate.step("repeat", game);
    let mut findings = Findings::default();
    let (mut detail, mut verdict) = ("a repeated request".to_owned(), Verdict::Pass);
    let (Some(first), Some(second)) = (asker.case(), asker.case()) else {
        return Ok(findings.into_exam("repeat", game.name(), Verdict::Skipped, "too short a game"));
    };
    match candidate.start(game).await? {
        Err(failure) => findings.add(failure),
        Ok(mut session) => {
            let before = session.ask(&first).await?.said;
            let id = Some(first.id.as_str());
            let (code, accepted) = ("repeated", None);
            let error = ToPlayer::Error { code, id, detail: "an exam".into(), accepted };
            session.send(&first.line).await;
            if with_error {
                session.send(&native::encode(&error)).await;
            }
            let reply = session.ask(&second).await?;
            if !matches!(before, Said::Answer(_)) || !matches!(reply.said, Said::Answer(_)) {
                let lost = if matches!(before, Said::Answer(_)) { &reply.said } else { &before };
                let mut failure = no_answer(lost, &second, session).await;
                failure.what = format!("after a repeated request: {}", failure.what);
                failure.fix = "the same id means the same question: answer it again, and \
                    continue"
                    .into();
                findings.add(failure);
            } else {
                if session.twice == 0 {
                    verdict = Verdict::Note;
                    detail =
                        "it ignores a request that comes again: if its answer was lost on the \
                              way, it is never given"
                            .into();
                }
                session.finish(Duration::ZERO).await;
            }
        }
    }
    Ok(findings.into_exam("repeat", game.name(), verdict, detail))
}
