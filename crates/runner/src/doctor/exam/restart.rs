//! A new process for every question, long requests, the same question twice: everything that a
//! program without memory passes by itself.

use super::play::Played;
use super::refused;
use crate::doctor::candidate::{Candidate, no_answer};
use crate::doctor::report::{Exam, Failure, Findings, Verdict};
use crate::doctor::session::{Said, Stopped};
use crate::doctor::settings::GameExam;
use crate::doctor::table::Case;
use agon_core::{CrashCost, Ties};
use std::time::{Duration, Instant};

/// Games before the one that is asked about, in the longest of matches.
const GAMES_BEFORE: u32 = 90;

/// Kills the program at every move of a game; the new one is sent the same request, and nothing
/// of what came before.
pub(crate) async fn restart(
    candidate: &mut Candidate<'_>,
    game: &GameExam,
    legal: bool,
) -> Result<Exam, Stopped> {
    let settings = candidate.settings;
    let until = Instant::now() + settings.time_box();
    let (mut findings, mut moves, mut asked) = (Findings::default(), 0, 0);
    let mut maker = candidate.maker(game, 3);
    let mut table = maker.table(&game.shapes[0]);
    while moves < settings.restarts() && findings.count() < 5 && Instant::now() < until {
        let (_, Some(case)) = table.next() else {
            table = maker.table(&game.shapes[moves % game.shapes.len()]);
            continue;
        };
        let mut answer = None;
        if asked % settings.restart_every() == 0 {
            moves += 1;
            candidate.step("restart", game);
            answer = answer_alone(candidate, game, &case, legal, &mut findings).await?;
        }
        asked += 1;
        let answer = answer.filter(|answer| case.check(answer).is_ok());
        let answer = answer.unwrap_or_else(|| table.any_answer(&case));
        table.answer(&answer);
    }
    let detail = format!("restarted at {moves} moves");
    Ok(findings.into_exam("restart", game.name(), Verdict::Pass, detail))
}

/// Asks a new process one question.
async fn answer_alone(
    candidate: &mut Candidate<'_>,
    game: &GameExam,
    case: &Case,
    legal: bool,
    findings: &mut Findings,
) -> Result<Option<String>, Stopped> {
    const FIX: &str = "use only the request itself: its view and question contain all \
                       there is to know, and notices are not sent again";
    let mut session = match candidate.start(game).await? {
        Ok(session) => session,
        Err(failure) => {
            findings.add(failure);
            return Ok(None);
        }
    };
    match session.ask(case).await?.said {
        Said::Answer(answer) => {
            session.finish(Duration::ZERO).await;
            if let (Err(refusal), true) = (case.check(&answer), legal) {
                let mut failure = refused(&refusal, case, &answer);
                failure.what = format!("after a restart {}", failure.what);
                failure.fix = FIX.into();
                findings.add(failure);
            }
            Ok(Some(answer))
        }
        said => {
            let mut failure = no_answer(&said, case, session).await;
            failure.what = format!("after a restart {}", failure.what);
            failure.fix = FIX.into();
            findings.add(failure);
            Ok(None)
        }
    }
}

/// A request as long as they get: the largest board or map, at the end of a long match.
pub(crate) async fn long(
    candidate: &mut Candidate<'_>,
    game: &GameExam,
    legal: bool,
) -> Result<Exam, Stopped> {
    candidate.step("long", game);
    let mut maker = candidate.maker(game, 4);
    maker.rules.best_of = 99;
    maker.rules.ties = Ties::Replay;
    maker.rules.crash = CrashCost::ForfeitGame;
    maker.rules.confirm_result = false;
    maker.rules.rotate_seats = true;
    let mut table = maker.table(&game.longest);
    table.next();
    if game.longest.seats == 2 {
        table.pile_up_games(GAMES_BEFORE);
    }
    let mut findings = Findings::default();
    let (_, Some(case)) = table.next() else {
        let exam = findings.into_exam("long", game.name(), Verdict::Skipped, "nothing is asked");
        return Ok(exam);
    };
    answer_alone(candidate, game, &case, legal, &mut findings).await?;
    let detail = format!("a request of {} bytes", case.line.len());
    Ok(findings.into_exam("long", game.name(), Verdict::Pass, detail))
}

/// Asks a new process what was answered before. Other answers are no failure.
pub(crate) async fn same(
    candidate: &mut Candidate<'_>,
    game: &GameExam,
    played: &Played,
) -> Result<Exam, Stopped> {
    candidate.step("same", game);
    let (mut asked, mut equal) = (0, 0);
    if let Ok(mut session) = candidate.start(game).await? {
        for (case, before) in &played.kept {
            let Said::Answer(answer) = session.ask(case).await?.said else { break };
            asked += 1;
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
            equal += usize::from(value(&answer) == value(before));
        }
        session.finish(Duration::ZERO).await;
    }
    let verdict = if equal == asked { Verdict::Pass } else { Verdict::Note };
    let detail = match equal == asked {
        true => format!("the same answer to {asked} repeated requests"),
        false => format!("another answer to {} of {asked} repeated requests", asked - equal),
    };
    Ok(Findings::default().into_exam("same", game.name(), verdict, detail))
}

/// The program's proposal before a tournament.
pub(crate) async fn proposal(
    candidate: &mut Candidate<'_>,
    game: &GameExam,
) -> Result<Exam, Stopped> {
    candidate.step("proposal", game);
    let (mut findings, mut verdict) = (Findings::default(), Verdict::Pass);
    let detail = match candidate.start(game).await? {
        Err(failure) => {
            findings.add(failure);
            "no hello".to_owned()
        }
        Ok(session) => {
            let proposal = session.hello.proposal.clone();
            session.finish(Duration::ZERO).await;
            let seats = *game.kind.seats().end();
            match proposal.filter(|proposal| proposal.get() != "null") {
                None => "none; the game's default is played".to_owned(),
                Some(given) => match game.kind.propose(&game.config, given.get(), seats) {
                    agon_games::Proposal::Fits(_) => format!("fits {seats} players"),
                    agon_games::Proposal::Unfit(why) => {
                        verdict = Verdict::Note;
                        format!("not for {seats} players: {why}")
                    }
                    agon_games::Proposal::Refused(refusal) => {
                        let fix = "read about proposals in docs/protocol/native.md, or send none";
                        let what = format!("the proposal is rejected: {refusal}");
                        findings.add(Failure::new(what, fix).reply(given.get()));
                        "refused".to_owned()
                    }
                },
            }
        }
    };
    Ok(findings.into_exam("proposal", game.name(), verdict, detail))
}
