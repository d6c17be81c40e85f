//! Verifies a match while its stream is read, without keeping the stream.
//!
//! This way is quick and says nothing about what is wrong: a stream that it does not accept is
//! verified whole, by [`verify_match`](super::verify_match). It needs the secret of the tournament,
//! because the games' own secrets come behind their answers in the log.

use super::{MatchCheck, MatchProgress};
use crate::chain::Head;
use crate::fair::Secret;
use crate::ids::Timestamp;
use crate::line::{AnswerLine, Line};
use crate::lobby::Cheat;
use crate::match_::{LatestGame, Secrets};
use crate::plan::MatchPlan;
use agon_games::Registry;
use std::sync::Arc;

/// A match that is verified while its stream is read.
pub struct RunningMatchCheck<'a> {
    name: Arc<str>,
    games: &'a Registry,
    /// The secret of the tournament.
    tournament: &'a Secret,
    /// The chain after the latest line.
    head: Head,
    /// The number and the time of the latest line.
    seq: u64,
    at: Timestamp,
    /// The lines so far of a record that is not whole yet.
    record: Vec<Line>,
    latest_game: LatestGame,
    /// `None` before the first record.
    progress: Option<MatchProgress>,
}

impl<'a> RunningMatchCheck<'a> {
    /// The match of the stream called `name`, before its first line.
    pub fn new(name: &str, games: &'a Registry, tournament: &'a Secret) -> RunningMatchCheck<'a> {
        RunningMatchCheck {
            name: name.into(),
            games,
            tournament,
            head: Head::first(name),
            seq: 0,
            at: Timestamp::default(),
            record: Vec::new(),
            latest_game: LatestGame::default(),
            progress: None,
        }
    }

    /// Verifies a whole stream; `None` if only [`verify_match`](super::verify_match) can.
    pub fn of_lines(mut self, lines: &[impl AsRef<str>]) -> Option<MatchCheck> {
        lines.iter().all(|line| self.add(line.as_ref())).then(|| self.finish()).flatten()
    }

    /// Verifies the next line. Returns `false` if the stream must be verified whole.
    #[must_use]
    pub fn add(&mut self, text: &str) -> bool {
        self.add_answer(text).or_else(|| self.add_line(text)).is_some()
    }

    /// Verifies a record that is one accepted answer, as most are.
    fn add_answer(&mut self, text: &str) -> Option<()> {
        let MatchProgress { played, check } = self.progress.as_mut()?;
        let line = AnswerLine::split(text, &self.name)?;
        let is_next = line.seq == self.seq + 1 && line.more == 0 && self.record.is_empty();
        let in_time = line.answer.took_ms <= played.plan().rules.time.answer_ms;
        if !is_next || line.at < self.at || !in_time {
            return None;
        }
        let accepted = played.answer_again(line.at, &line.answer);
        if !accepted.is_some_and(|accepted| line.answer.is(&accepted)) {
            // The match may have changed, so it accepts no other line.
            self.progress = None;
            return None;
        }
        check.events += 1;
        (self.seq, self.at, self.head) = (line.seq, line.at, self.head.after(text));
        Some(())
    }

    /// Verifies any other line.
    fn add_line(&mut self, text: &str) -> Option<()> {
        let line = Line::read_of(text, Some(&self.name)).ok()?;
        let is_next = line.seq == self.seq + 1 && line.stream == self.name && line.at >= self.at;
        let fits = self
            .record
            .last()
            .is_none_or(|last| last.more == line.more.saturating_add(1) && last.at == line.at);
        let head_fits = line.event.own_head().is_none_or(|head| head == Some(&self.head));
        if !(is_next && fits && head_fits) {
            return None;
        }
        (self.seq, self.at, self.head) = (line.seq, line.at, self.head.after(text));
        let is_last = line.more == 0;
        self.record.push(line);
        if is_last { self.add_record() } else { Some(()) }
    }

    /// Verifies a whole record.
    fn add_record(&mut self) -> Option<()> {
        let record = std::mem::take(&mut self.record);
        match &mut self.progress {
            Some(progress) => progress.add(&record).ok()?.is_none().then_some(())?,
            None if record[0].seq == 1 => {
                let secrets =
                    |plan: &MatchPlan| Ok(Secrets::Known(self.tournament.of_match(&plan.id)));
                self.progress = Some(MatchProgress::begin(&record, self.games, secrets).ok()?);
            }
            None => return None,
        }
        let MatchProgress { check, .. } = self.progress.as_mut()?;
        for line in &record {
            let cheat = Cheat::of(&check.plan, line.seq, &line.event);
            check.cheats.extend(cheat.map(|cheat| (cheat, line.at)));
            if let Some((game, secret)) = self.latest_game.revealed_by(&line.event)
                && self.tournament.of_match(&check.plan.id).of_game(game) != *secret
            {
                return None;
            }
            if line.event.own_head().is_some() {
                // This is the head after the last line of the record, which ends a match.
                (line.more == 0).then(|| check.heads.push(self.head.clone()))?;
            }
        }
        Some(())
    }

    /// The result of verifying all lines; `None` if there were none, or if the stream must be
    /// verified whole.
    pub fn finish(self) -> Option<MatchCheck> {
        let is_whole = self.record.is_empty();
        self.progress.filter(|_| is_whole).map(MatchProgress::finish)
    }
}
