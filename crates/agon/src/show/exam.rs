//! The report of `agon doctor` as text: progress, a table, and every failure with its evidence.

use super::{paint, table};
use agon_runner::doctor::{ExamReport, Failure, Verdict};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How many characters of a line are shown.
const SHOWN_CHARS_MAX: usize = 400;

/// The report as text.
pub(crate) fn exam(report: &ExamReport, colour: bool) -> String {
    let mut rows = vec![["game", "examination", "", ""].map(String::from).to_vec()];
    for exam in &report.exams {
        let word = word(exam.verdict);
        let detail = match exam.failed {
            0 | 1 => exam.detail.clone(),
            failed => format!("{}; {failed} failures", exam.detail),
        };
        rows.push(vec![exam.game.clone(), exam.name.into(), word.into(), detail]);
    }
    let mut out = table(&rows, &[], colour);
    for exam in report.exams.iter().filter(|exam| !exam.failures.is_empty()) {
        let head = format!("{} {}", exam.game, exam.name);
        let _ = writeln!(out, "\n{}", paint(&head, "1;31", colour));
        exam.failures.iter().for_each(|failure| out.push_str(&failure_text(failure)));
        let rest = exam.failed.saturating_sub(exam.failures.len());
        if rest > 0 {
            let _ = writeln!(out, "  … and {rest} more");
        }
    }
    let _ = writeln!(out, "\n{}", verdict(report, colour));
    out
}

fn verdict(report: &ExamReport, colour: bool) -> String {
    let failed = report.exams.iter().filter(|exam| exam.verdict == Verdict::Fail).count();
    let repeat = format!("repeat with --seed {}", report.seed);
    match (report.stopped, failed) {
        (true, _) => format!("Stopped before the end; {repeat}"),
        (false, 0) => paint(&format!("Passed; {repeat}"), "1;32", colour),
        (false, 1) => paint(&format!("Failed one examination; {repeat}"), "1;31", colour),
        (false, _) => paint(&format!("Failed {failed} examinations; {repeat}"), "1;31", colour),
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Note => "note",
        Verdict::Fail => "FAIL",
        Verdict::Skipped => "–",
    }
}

fn failure_text(failure: &Failure) -> String {
    let mut out = format!("  {}\n", shown(&failure.what));
    let parts = [("sent:", &failure.sent), ("reply:", &failure.reply)];
    for (word, text) in parts {
        for line in text.iter().flat_map(|text| text.lines()).take(8) {
            let _ = writeln!(out, "    {word:<7} {}", shown(line));
        }
    }
    let _ = writeln!(out, "    fix:    {}", failure.fix);
    for line in failure.stderr.iter().flat_map(|text| text.lines()) {
        let _ = writeln!(out, "    stderr: {}", shown(line));
    }
    out
}

/// A line from a program, made safe for a terminal.
fn shown(text: &str) -> String {
    let clean = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
    let mut line: String = text.chars().take(SHOWN_CHARS_MAX).map(clean).collect();
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        line.push_str(" …");
    }
    line
}

/// Shows progress on stderr: one line that is overwritten on a terminal, otherwise a line now and
/// then.
pub(crate) struct ExamProgress {
    quiet: bool,
    terminal: bool,
    started: Instant,
    drawn: Mutex<Option<Instant>>,
}

impl ExamProgress {
    pub(crate) fn new(quiet: bool) -> ExamProgress {
        let terminal = std::io::stderr().is_terminal();
        ExamProgress { quiet, terminal, started: Instant::now(), drawn: Mutex::new(None) }
    }

    pub(crate) fn step(&self, step: &agon_runner::doctor::ExamStep) {
        let pause =
            if self.terminal { Duration::from_millis(100) } else { Duration::from_secs(10) };
        let mut drawn = self.drawn.lock().unwrap_or_else(|broken| broken.into_inner());
        if self.quiet || drawn.unwrap_or(self.started).elapsed() < pause {
            return;
        }
        *drawn = Some(Instant::now());
        let elapsed = self.started.elapsed().as_secs_f64();
        let left = elapsed * (step.total - step.done) as f64 / step.done.max(1) as f64;
        let left = left.ceil() as u64;
        let (done, total) = (step.done, step.total);
        let line = format!(
            "{} {} · {done}/~{total} · ETA {}:{:02}",
            step.game,
            step.exam,
            left / 60,
            left % 60
        );
        match self.terminal {
            true => eprint!("\r\x1b[K{line}"),
            false => eprintln!("{line}"),
        }
    }

    pub(crate) fn clear(&self) {
        let drawn = self.drawn.lock().unwrap_or_else(|broken| broken.into_inner());
        if self.terminal && !self.quiet && drawn.is_some() {
            eprint!("\r\x1b[K");
        }
    }
}
