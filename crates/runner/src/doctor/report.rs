//! The report of an exam: one row per examination, with the evidence of each failure.

use serde::Serialize;

/// How many failures of one examination are kept with their evidence; the others are counted.
const FAILURES_MAX: usize = 3;

/// How much of a line is kept as evidence.
const EVIDENCE_BYTES_MAX: usize = 4096;

/// How an examination ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The program passed.
    Pass,
    /// Costs nothing in a tournament, but is worth knowing.
    Note,
    /// Would cost something in a tournament.
    Fail,
    /// Was not held, because of an earlier failure.
    Skipped,
}

/// One thing that went wrong.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Failure {
    /// The failure, in a sentence.
    pub what: String,
    /// The last message to the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// The program's reply.
    #[serde(rename = "came", skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// How to fix it.
    pub fix: String,
    /// The last lines the program wrote to stderr.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
}

/// One examination.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Exam {
    /// Its name.
    pub name: &'static str,
    /// The game it was held in.
    pub game: String,
    /// How it ended.
    pub verdict: Verdict,
    /// Details, in a sentence.
    pub detail: String,
    /// How many things failed.
    pub failed: usize,
    /// The first of them.
    pub failures: Vec<Failure>,
}

/// The whole exam.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ExamReport {
    /// The program and its arguments; empty if it was started by hand.
    pub command: Vec<String>,
    /// The seed of all positions; the same seed gives the same exam.
    pub seed: u64,
    /// The games it plays.
    pub games: Vec<String>,
    /// The examinations, in order.
    pub exams: Vec<Exam>,
    /// True if it was stopped before its end.
    pub stopped: bool,
}

impl ExamReport {
    /// Returns whether nothing failed, and something was examined.
    pub fn passed(&self) -> bool {
        let held = self.exams.iter().any(|exam| exam.verdict != Verdict::Skipped);
        held && !self.stopped && self.exams.iter().all(|exam| exam.verdict != Verdict::Fail)
    }
}

impl Failure {
    /// A failure without evidence.
    pub(crate) fn new(what: impl Into<String>, fix: impl Into<String>) -> Failure {
        Failure { what: what.into(), sent: None, reply: None, fix: fix.into(), stderr: None }
    }

    pub(crate) fn sent(mut self, line: &[u8]) -> Failure {
        self.sent = Some(cut(&String::from_utf8_lossy(line)));
        self
    }

    pub(crate) fn reply(mut self, line: &str) -> Failure {
        self.reply = Some(cut(line));
        self
    }

    /// With the last lines of stderr, if there are any.
    pub(crate) fn stderr(mut self, tail: &[u8]) -> Failure {
        let text = String::from_utf8_lossy(tail);
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let last = lines[lines.len().saturating_sub(12)..].join("\n");
        if !last.is_empty() {
            self.stderr = Some(cut(&last));
        }
        self
    }
}

fn cut(text: &str) -> String {
    let text = text.trim_end();
    match text.char_indices().find(|(at, _)| *at >= EVIDENCE_BYTES_MAX) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
        None => text.to_owned(),
    }
}

/// Failures as they are found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    failed: usize,
    failures: Vec<Failure>,
}

impl Findings {
    pub(crate) fn add(&mut self, failure: Failure) {
        self.failed += 1;
        // Of many that are the same, one shows it.
        let known = self.failures.iter().any(|known| known.what == failure.what);
        if self.failures.len() < FAILURES_MAX && !known {
            self.failures.push(failure);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.failed == 0
    }

    pub(crate) fn count(&self) -> usize {
        self.failed
    }

    /// The examination: failed if anything was found, otherwise `good` with this detail.
    pub(crate) fn into_exam(
        self,
        name: &'static str,
        game: &str,
        good: Verdict,
        detail: impl Into<String>,
    ) -> Exam {
        let verdict = if self.is_empty() { good } else { Verdict::Fail };
        let Findings { failed, failures } = self;
        Exam { name, game: game.into(), verdict, detail: detail.into(), failed, failures }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_evidence_is_cut_between_characters() {
        let long = "ä".repeat(EVIDENCE_BYTES_MAX);
        let failure = Failure::new("what", "fix").reply(&long);
        let came = failure.reply.unwrap();
        assert!(came.len() < EVIDENCE_BYTES_MAX + 40 && came.ends_with("(8192 bytes)"), "{came}");
    }

    #[test]
    fn many_failures_are_counted_and_the_first_kinds_kept() {
        let mut findings = Findings::default();
        for number in 0..100 {
            findings.add(Failure::new(format!("kind {}", number % 7), "fix"));
        }
        let exam = findings.into_exam("rules", "fish", Verdict::Pass, "");
        assert_eq!((exam.failed, exam.failures.len(), exam.verdict), (100, 3, Verdict::Fail));
    }
}
