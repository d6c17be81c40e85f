//! How long a tournament has played, for formats that end by time.
//!
//! The clock stands still in a pause, and while no engine plays the tournament. The log has the
//! times of all pauses. It cannot know how long the server was down, so an engine that resumes a
//! tournament records how long it had played by its last record.

use super::Cells;
use crate::journal::StreamKey;
use crate::services::Context;
use crate::timers::Timer;
use crate::{EngineError, MatchKey};
use agon_core::{
    Event, Line, Millis, RecoveredMatch, Timestamp, Tournament, TournamentCommand, TournamentId,
};
use std::collections::HashMap;

/// The version of records that has the time that a tournament has played. Before all nodes read it,
/// the time of a restart counts as played.
const PLAY_TIME_VERSION: u32 = 3;

/// The clock of a tournament's play.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct PlayClock {
    /// How long it ran before `running_since`.
    played_ms: Millis,
    /// Since when it runs; `None` in a pause.
    running_since: Option<Timestamp>,
}

impl PlayClock {
    /// The clock after these lines of the tournament's stream.
    pub(super) fn of(lines: &[Line]) -> PlayClock {
        let mut clock = PlayClock::default();
        lines.iter().for_each(|line| clock.follow(&line.event, line.at));
        clock
    }

    /// Follows an event that was recorded at `at`.
    fn follow(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::TournamentCreated(_) | Event::TournamentResumed(_) => {
                self.running_since = Some(at);
            }
            Event::TournamentPaused(_) | Event::TournamentInterrupted(_) => {
                self.played_ms = self.played_ms(at);
                self.running_since = None;
            }
            Event::PlayTimeCounted(counted) => {
                self.played_ms = counted.played_ms;
                self.running_since = Some(at);
            }
            _ => {}
        }
    }

    /// How long the tournament has played at `now`.
    fn played_ms(&self, now: Timestamp) -> Millis {
        let running = self.running_since.map_or(0, |since| now.since(since));
        self.played_ms.saturating_add(running)
    }

    /// When the tournament has played for `play_ms`; `None` in a pause.
    fn due_at(&self, play_ms: Millis) -> Option<Timestamp> {
        Some(self.running_since?.saturating_add(play_ms.saturating_sub(self.played_ms)))
    }
}

impl Cells {
    /// Follows events that were just committed to a tournament's stream.
    pub(super) fn follow_play_time(
        &mut self,
        cx: &mut Context<'_>,
        id: &TournamentId,
        events: &[Event],
    ) {
        let now = cx.now_ms();
        let Some(live) = self.tournaments.get_mut(id) else { return };
        let before = live.play_clock;
        events.iter().for_each(|event| live.play_clock.follow(event, now));
        if live.play_clock != before {
            self.set_play_timer(cx, id);
        }
    }

    /// Sets the timer for the end of the tournament's play.
    pub(super) fn set_play_timer(&mut self, cx: &mut Context<'_>, id: &TournamentId) {
        let Some(live) = self.tournaments.get(id) else { return };
        let due = live.machine.play_ms().and_then(|play_ms| live.play_clock.due_at(play_ms));
        if let Some(due) = due {
            cx.timers.set(due, Timer::PlayTime(id.clone()));
        }
    }

    /// Ends the time for new rounds, if the tournament has played for so long.
    pub(super) fn play_time_due(&mut self, cx: &mut Context<'_>, id: &TournamentId) {
        let Some(live) = self.tournaments.get(id) else { return };
        let due = live.machine.play_ms().and_then(|play_ms| live.play_clock.due_at(play_ms));
        // A timer from before a pause or a restart fires too early.
        if due.is_some_and(|due| due <= cx.now_ms()) {
            self.step_tournament(cx, id, TournamentCommand::EndPlayTime);
        }
    }

    /// Records how long a resumed tournament had played by the last record before the restart.
    pub(super) fn count_play_time(
        &mut self,
        cx: &mut Context<'_>,
        id: &TournamentId,
        by: Timestamp,
    ) {
        let Some(live) = self.tournaments.get(id) else { return };
        let is_readable = cx.settings.log_version >= PLAY_TIME_VERSION;
        if is_readable && live.machine.play_ms().is_some() && live.machine.paused().is_none() {
            let played_ms = live.play_clock.played_ms(by);
            self.step_tournament(cx, id, TournamentCommand::CountPlayTime { played_ms });
        }
    }
}

/// When the last record of a tournament with a time limit was made: its own, or one of an open
/// match.
pub(super) fn last_record(
    cx: &Context<'_>,
    machine: &Tournament,
    lines: &[Line],
    folded: &HashMap<MatchKey, RecoveredMatch>,
) -> Result<Timestamp, EngineError> {
    let mut last = lines.last().map_or(Timestamp::default(), |line| line.at);
    if machine.play_ms().is_some() {
        for plan in machine.open_matches() {
            let key = MatchKey::new(plan.tournament.clone(), plan.id.clone());
            let own = match folded.get(&key) {
                Some(read) => Some(read.latest_at),
                None => cx.load(&StreamKey::Match(key).name())?.last().map(|line| line.at),
            };
            last = last.max(own.unwrap_or(last));
        }
    }
    Ok(last)
}
