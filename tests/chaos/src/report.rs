//! The report of a run, as text and as JSON.

use crate::watch::Peaks;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The result of `agon verify`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Verified {
    pub(crate) ok: bool,
    pub(crate) said: String,
    pub(crate) seconds: f64,
}

/// The report of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub(crate) seed: u64,
    pub(crate) minutes: f64,
    pub(crate) players: usize,
    /// Players that were left alone.
    pub(crate) untouched: usize,
    pub(crate) logins: u64,
    pub(crate) tournaments: usize,
    /// Announcements the server refused, by its message.
    pub(crate) refused: BTreeMap<String, u64>,
    pub(crate) matches: usize,
    pub(crate) games: u64,
    pub(crate) events: u64,
    pub(crate) decisions: usize,
    pub(crate) decisions_per_second: f64,
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
    pub(crate) troubles: BTreeMap<&'static str, u64>,
    pub(crate) outage_seconds_max: f64,
    pub(crate) outage_seconds: f64,
    /// How often the harness itself stalled.
    pub(crate) stalls: usize,
    /// Faults by their code, all of them of players who were disturbed.
    pub(crate) faults: BTreeMap<String, u64>,
    pub(crate) unexplained: usize,
    /// Errors that players were sent.
    pub(crate) errors: BTreeMap<String, u64>,
    pub(crate) peaks: Peaks,
    pub(crate) verified: Verified,
    pub(crate) complaints: Vec<String>,
}

impl Report {
    /// Returns whether everything holds.
    pub fn holds(&self) -> bool {
        self.complaints.is_empty() && self.verified.ok && self.decisions > 0
    }
}

/// How many complaints are shown; the others are in the file.
const SHOWN_MAX: usize = 30;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { seed, minutes, players, untouched, logins, .. } = self;
        writeln!(
            f,
            "seed {seed}: {minutes:.1} minutes, {players} players ({untouched} left alone)"
        )?;
        writeln!(
            f,
            "{} tournaments, {} matches, {} games, {} decisions ({:.0} a second), {} events, \
             {logins} logins",
            self.tournaments,
            self.matches,
            self.games,
            self.decisions,
            self.decisions_per_second,
            self.events,
        )?;
        writeln!(f, "announcements refused: {}", counts(&self.refused))?;
        writeln!(f, "troubles:")?;
        for (what, count) in &self.troubles {
            writeln!(f, "  {count:>6}  {what}")?;
        }
        let (longest, all) = (self.outage_seconds_max, self.outage_seconds);
        writeln!(f, "the server was away for {all:.0} s, at most {longest:.1} s at a time")?;
        writeln!(f, "faults of players that were touched: {}", counts(&self.faults))?;
        writeln!(f, "faults that nothing explains: {}", self.unexplained)?;
        writeln!(f, "errors players were sent: {}", counts(&self.errors))?;
        writeln!(f, "decisions lost: {}, doubled: {}", self.lost, self.doubled)?;
        let Peaks { looks, memory_kb, open_files } = self.peaks;
        let memory = memory_kb as f64 / 1024.0;
        writeln!(
            f,
            "the server took at most {memory:.0} MB and {open_files} open files; its metrics added \
             up {looks} times"
        )?;
        writeln!(f, "{} ({:.1} s)", self.verified.said, self.verified.seconds)?;
        if self.stalls > 0 {
            writeln!(f, "{} times this harness itself did not get on", self.stalls)?;
        }
        for complaint in self.complaints.iter().take(SHOWN_MAX) {
            writeln!(f, "WRONG: {complaint}")?;
        }
        match self.complaints.len() {
            0 => write!(f, "everything holds"),
            count => write!(f, "{count} things are wrong"),
        }
    }
}

fn counts(all: &BTreeMap<String, u64>) -> String {
    let all: Vec<String> = all.iter().map(|(what, count)| format!("{count} {what}")).collect();
    if all.is_empty() { "none".into() } else { all.join(", ") }
}
