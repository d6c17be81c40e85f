//! The exam of a program that speaks on stdin and stdout.

use crate::Stop;
use crate::doctor::candidate::Candidate;
use crate::doctor::exam::{ending, play, restart, talk};
use crate::doctor::report::{Exam, ExamReport, Findings, Verdict};
use crate::doctor::session::Stopped;
use crate::doctor::settings::{ExamSettings, ExamStep, GameExam};

/// The examinations that are the same in every game, held in the first.
const ONCE: [&str; 7] = ["pieces", "notices", "errors", "unknown", "repeat", "end", "children"];

const NO_ANSWERS: &str = "skipped: there were no answers to compare";

/// Examines the program of the settings. Needs a runtime with several threads.
pub async fn examine_program(
    settings: &ExamSettings,
    stop: Stop,
    tell: &(dyn Fn(ExamStep) + Sync),
) -> ExamReport {
    let mut candidate = Candidate::new(settings, stop, tell);
    let mut report = ExamReport {
        command: settings.words.clone(),
        seed: settings.seed,
        games: Vec::new(),
        exams: Vec::new(),
        stopped: false,
    };
    report.stopped = examine(&mut candidate, &mut report).await.is_err();
    report
}

async fn examine(candidate: &mut Candidate<'_>, report: &mut ExamReport) -> Result<(), Stopped> {
    let settings = candidate.settings;
    let Some(first) = settings.games.first() else { return Ok(()) };
    candidate.plan(settings.games.len());
    let games: Vec<&GameExam> = match settings.named {
        true => settings.games.iter().collect(),
        false => games_played(candidate, report).await?,
    };
    if settings.named {
        let hello = ending::hello(candidate, first).await?;
        let silent = hello.verdict == Verdict::Fail;
        report.exams.push(hello);
        if silent {
            return Ok(());
        }
    }
    candidate.plan(games.len());
    let mut talked = false;
    for game in games {
        let answers = in_game(candidate, game, report, !talked).await?;
        talked |= answers;
    }
    if !talked && !report.games.is_empty() {
        skip(report, first, &ONCE, NO_ANSWERS);
    }
    Ok(())
}

/// Which of all games the program plays: those whose opening question it answers by the rules.
async fn games_played<'s>(
    candidate: &mut Candidate<'s>,
    report: &mut ExamReport,
) -> Result<Vec<&'s GameExam>, Stopped> {
    let mut played = Vec::new();
    let mut not = Vec::new();
    for game in &candidate.settings.games {
        // Every game has a hello of its own, and a program may not answer those of other games.
        let hello = ending::hello(candidate, game).await?;
        if hello.verdict == Verdict::Fail {
            not.push((game, hello));
            continue;
        }
        match play::opening(candidate, game).await? {
            Ok(()) => {
                if played.is_empty() {
                    report.exams.push(hello);
                }
                played.push(game);
            }
            Err(failure) => {
                let mut findings = Findings::default();
                findings.add(failure);
                not.push((game, findings.into_exam("plays", game.name(), Verdict::Pass, "")));
            }
        }
    }
    for (game, mut exam) in not {
        if !played.is_empty() {
            let why = exam.failures.first().map_or("", |failure| failure.what.as_str());
            let detail = format!("not examined: {why}; use --game {} to require it", game.name());
            exam = Findings::default().into_exam("plays", game.name(), Verdict::Note, detail);
        }
        report.exams.push(exam);
    }
    Ok(played)
}

/// Examines one game, and with `talk` what is the same in all. Says whether there were answers.
async fn in_game(
    candidate: &mut Candidate<'_>,
    game: &GameExam,
    report: &mut ExamReport,
    talk: bool,
) -> Result<bool, Stopped> {
    report.games.push(game.name().to_owned());
    let played = play::play(candidate, game).await?;
    let (legal, clean) = (played.is_legal(), played.is_clean());
    if !played.any_answer() {
        report.exams.extend(played.into_exams(game));
        skip(report, game, &["restart", "long", "same"], NO_ANSWERS);
        return Ok(false);
    }
    let same = restart::same(candidate, game, &played).await?;
    report.exams.extend(played.into_exams(game));
    report.exams.push(restart::restart(candidate, game, legal).await?);
    report.exams.push(restart::long(candidate, game, legal).await?);
    report.exams.push(same);
    if game.proposals {
        report.exams.push(restart::proposal(candidate, game).await?);
    }
    if talk {
        self::talk(candidate, game, report, clean).await?;
    }
    Ok(true)
}

async fn talk(
    candidate: &mut Candidate<'_>,
    game: &GameExam,
    report: &mut ExamReport,
    clean: bool,
) -> Result<(), Stopped> {
    let mut maker = candidate.maker(game, 5);
    // Every examination has a game of its own: some are short.
    let mut asker = talk::Asker::new(maker.table(&game.shapes[0]));
    let pieces = talk::pieces(candidate, game, &mut asker).await?;
    let reads_lines = pieces.verdict == Verdict::Pass;
    report.exams.push(pieces);
    if reads_lines {
        for saying in talk::sayings(&asker.notices, false) {
            let mut asker = talk::Asker::new(maker.table(&game.shapes[0]));
            let saying = saying.without(&report.exams);
            let exam = talk::say(candidate, game, &saying, &mut asker, clean).await?;
            report.exams.push(exam);
        }
        let mut asker = talk::Asker::new(maker.table(&game.shapes[0]));
        let errors = report.exams.iter().any(|exam| exam.name == "errors" && exam.failed == 0);
        report.exams.push(talk::repeat(candidate, game, &mut asker, errors).await?);
    } else {
        let why = "skipped: the program does not read lines";
        skip(report, game, &["notices", "errors", "unknown", "repeat"], why);
    }
    let mut asker = talk::Asker::new(maker.table(&game.shapes[0]));
    let cases: Vec<_> = (0..2).filter_map(|_| asker.case()).collect();
    report.exams.extend(ending::end(candidate, game, &cases).await?);
    Ok(())
}

fn skip(report: &mut ExamReport, game: &GameExam, names: &[&'static str], why: &str) {
    let exams = names
        .iter()
        .map(|name| Findings::default().into_exam(name, game.name(), Verdict::Skipped, why));
    report.exams.extend(exams.collect::<Vec<Exam>>());
}
