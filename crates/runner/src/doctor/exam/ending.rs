//! Examines how a program starts and ends: its hello, `end`, the end of its input, and processes it
//! leaves behind.

use crate::Ended;
use crate::doctor::candidate::{Candidate, END_PATIENCE, how};
use crate::doctor::report::{Exam, Failure, Findings, Verdict};
use crate::doctor::session::Stopped;
use crate::doctor::settings::GameExam;
use crate::doctor::table::Case;
use agon_wire::native::{self, ToPlayer};
use std::time::Duration;

/// How long a tournament waits for a program to exit after `end`.
const END_LIMIT: Duration = Duration::from_millis(500);

/// Starts the program once. Fails without a hello.
pub(crate) async fn hello(candidate: &mut Candidate<'_>, game: &GameExam) -> Result<Exam, Stopped> {
    candidate.step("hello", game);
    let (mut findings, mut verdict) = (Findings::default(), Verdict::Pass);
    let detail = match candidate.start(game).await? {
        Err(failure) => {
            findings.add(failure);
            "no hello".to_owned()
        }
        Ok(session) => {
            let took = session.hello_took.as_secs_f64() * 1000.0;
            let (name, banner) = (session.hello.name.clone(), session.banner);
            session.finish(Duration::ZERO).await;
            let name: String =
                name.chars().filter(|letter| !letter.is_control()).take(60).collect();
            match banner {
                0 => format!("{name:?} after {took:.0} ms"),
                lines => {
                    verdict = Verdict::Note;
                    format!("{name:?} after {took:.0} ms; {lines} lines before it are ignored")
                }
            }
        }
    };
    Ok(findings.into_exam("hello", game.name(), verdict, detail))
}

/// Sends `end` after an answer, and another time closes the input without `end`.
pub(crate) async fn end(
    candidate: &mut Candidate<'_>,
    game: &GameExam,
    cases: &[Case],
) -> Result<Vec<Exam>, Stopped> {
    candidate.step("end", game);
    let (mut ends, mut children, mut notes) =
        (Findings::default(), Findings::default(), Vec::new());
    for (word, case) in [("end", cases.first()), ("the end of its input", cases.get(1))] {
        let mut session = match candidate.start(game).await? {
            Ok(session) => session,
            Err(failure) => {
                ends.add(failure);
                continue;
            }
        };
        if let Some(case) = case {
            // Other examinations check the answer.
            session.ask(case).await?;
        }
        if word == "end" {
            let reason = "the tournament is over";
            session
                .send(&native::encode(&ToPlayer::End { won: Some(true), reason, head: None }))
                .await;
        }
        let ended = session.finish(END_PATIENCE).await;
        notes.extend(judge(&ended, word, &mut ends, &mut children));
    }
    let verdict = if notes.is_empty() { Verdict::Pass } else { Verdict::Note };
    let detail = match notes.is_empty() {
        true => "exits after `end`, and at the end of its input".to_owned(),
        false => notes.join("; "),
    };
    let left = "no process is left behind";
    Ok(vec![
        ends.into_exam("end", game.name(), verdict, detail),
        children.into_exam("children", game.name(), Verdict::Pass, left),
    ])
}

/// Judges an end; returns what is unusual about it.
fn judge(
    ended: &Ended,
    word: &str,
    ends: &mut Findings,
    children: &mut Findings,
) -> Option<String> {
    if ended.left > 0 {
        let what = format!(
            "{} processes that the program started still run after \
            {word}",
            ended.left
        );
        let fix = "end your child processes before you exit";
        children.add(Failure::new(what, fix).stderr(&ended.stderr));
    }
    match ended.status {
        None => {
            let what = format!("the program does not exit after {word}");
            let fix = "leave the loop when stdin has no more lines; otherwise Agon kills the \
                program";
            ends.add(Failure::new(what, fix).stderr(&ended.stderr));
            None
        }
        Some(_) if ended.took > END_LIMIT => Some(format!(
            "takes {:.1} s to exit after {word}; a tournament would kill it",
            ended.took.as_secs_f64()
        )),
        Some(status) if !status.success() => Some(format!(
            "exits with an error after {word}: \
            {}",
            how(ended)
        )),
        Some(_) => None,
    }
}
