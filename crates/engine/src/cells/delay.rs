//! Delayed views, so that spectators cannot help players.
//!
//! A tournament's policy or the operator's setting may delay the view of its matches. The engine
//! then keeps how each match stood a while ago, for all readers and all new spectators. A finished
//! match can help nobody: the engine shows it at once.
#![expect(missing_docs, reason = "fields say what they hold by their names")]

use super::Cells;
use super::watch::{About, Shown, Topic};
use crate::MatchKey;
use crate::journal::StreamKey;
use crate::services::Context;
use crate::show::{LiveScore, ViewText};
use agon_core::{Millis, Timestamp, TournamentId};
use std::collections::VecDeque;

/// How many pieces a delay is divided into. Changes within one piece are shown as one.
const PIECES: Millis = 64;

/// How many messages may wait; the oldest are dropped first.
const LINE_MAX: usize = 2 * PIECES as usize;

/// Messages that wait until they may be shown.
pub struct DelayLine {
    delay_ms: Millis,
    /// The messages. Each is the latest of the changes of its piece, with the time of the first.
    waiting: VecDeque<(Timestamp, Shown)>,
}

impl DelayLine {
    pub fn new(delay_ms: Millis) -> DelayLine {
        DelayLine { delay_ms, waiting: VecDeque::new() }
    }

    fn delay_of(&self, shown: &Shown) -> Millis {
        self.delay_ms.max(shown.held_ms)
    }

    pub fn push(&mut self, mut shown: Shown) {
        let is_change = |shown: &Shown| matches!(shown.about, About::Change | About::Lagged);
        let piece_ms = (self.delay_of(&shown) / PIECES).max(1);
        if let Some((since, latest)) = self.waiting.back_mut()
            && shown.at.since(*since) < piece_ms
            && is_change(latest)
            && is_change(&shown)
        {
            shown.skipped += latest.skipped;
            *latest = shown;
            return;
        }
        self.waiting.push_back((shown.at, shown));
        if self.waiting.len() > LINE_MAX
            && let Some((_, dropped)) = self.waiting.pop_front()
            && let Some((_, next)) = self.waiting.front_mut()
        {
            // Nothing is lost if nothing public has changed.
            let is_loss = dropped.view.mark() != next.view.mark();
            next.skipped += dropped.skipped + u64::from(is_loss);
            if next.about == About::Change && next.skipped > 0 {
                next.about = About::Lagged;
            }
        }
    }

    /// When the next one may be shown.
    pub fn next_due(&self) -> Option<Timestamp> {
        let (_, next) = self.waiting.front()?;
        Some(next.at.saturating_add(self.delay_of(next)))
    }

    /// The next one, if it may be shown.
    pub fn pop_due(&mut self, now: Timestamp) -> Option<Shown> {
        self.next_due().filter(|due| *due <= now)?;
        self.waiting.pop_front().map(|(_, shown)| shown)
    }
}

/// A match whose view is delayed.
pub(super) struct HeldBack {
    held_ms: Millis,
    /// The latest state that may be shown.
    visible: Shown,
    line: DelayLine,
}

impl HeldBack {
    fn look(&mut self, now: Timestamp) -> &Shown {
        while let Some(shown) = self.line.pop_due(now) {
            self.visible = shown;
        }
        &self.visible
    }
}

impl Cells {
    /// By how much the view of a tournament's matches is delayed.
    pub(super) fn observer_delay_ms(&self, cx: &Context<'_>, tournament: &TournamentId) -> Millis {
        let live = self.tournament(tournament);
        let own = live.map_or(0, |live| live.plan().policy.observer_delay_ms);
        own.max(cx.settings.observer_delay_ms)
    }

    /// Begins to delay the view of a match, if its tournament asks for that. A game that was
    /// resumed from the log is not shown yet, because its earlier state is not known.
    pub(super) fn begin_to_hold_back(&mut self, cx: &mut Context<'_>, key: &MatchKey) {
        let held_ms = self.observer_delay_ms(cx, &key.tournament);
        let Some(live) = self.live_match(key).filter(|_| held_ms > 0) else { return };
        let (wires, at) = (cx.present.wires(live), cx.now_ms());
        let without_game = ViewText::of_match(live, wires.clone(), false);
        let visible = Shown::new(About::Snapshot, without_game, at);
        let mut line = DelayLine::new(held_ms);
        line.push(Shown::new(About::Change, ViewText::of_match(live, wires, true), at));
        self.held_back.insert(key.clone(), HeldBack { held_ms, visible, line });
    }

    /// Queues the present state of a delayed match. Called when all its records are durable.
    pub(super) fn keep_for_later(&mut self, cx: &mut Context<'_>, stream: &StreamKey) {
        if self.held_back.is_empty() {
            return;
        }
        let StreamKey::Match(key) = stream else { return };
        if !self.held_back.contains_key(key) {
            return;
        }
        let (view, now) = (self.view_of_match(cx, key), cx.now_ms());
        if let Some((view, held)) = view.zip(self.held_back.get_mut(key)) {
            held.look(now);
            held.line.push(Shown::new(About::Change, view, now));
        }
    }

    /// The state of a running match that may be shown.
    pub(crate) fn visible_match(
        &mut self,
        cx: &mut Context<'_>,
        key: &MatchKey,
    ) -> Option<ViewText> {
        let now = cx.now_ms();
        match self.held_back.get_mut(key) {
            Some(held) => Some(held.look(now).view.clone()),
            None => self.view_of_match(cx, key),
        }
    }

    /// The scores of the running matches of a tournament.
    pub(crate) fn live_scores(&self, tournament: &TournamentId) -> Vec<LiveScore> {
        let rounds = self.tournament(tournament).map_or(&[][..], |live| live.rounds());
        let planned = rounds.iter().flat_map(|round| round.matches.iter().zip(&round.results));
        let open = planned.filter(|(_, result)| result.is_none());
        let scores = open.filter_map(|(plan, _)| {
            let key = MatchKey::new(tournament.clone(), plan.id.clone());
            let played = self.live_match(&key).filter(|played| played.result().is_none())?;
            Some(LiveScore::of(played, self.held_back.contains_key(&key)))
        });
        scores.collect()
    }

    /// The messages for a new spectator of a delayed match, each with its due time; `None` if it is
    /// not delayed.
    pub(super) fn held_back(
        &mut self,
        cx: &mut Context<'_>,
        topic: &Topic,
    ) -> Option<impl Iterator<Item = Shown> + use<>> {
        let Topic::Match(key) = topic else { return None };
        let now = cx.now_ms();
        let held = self.held_back.get_mut(key)?;
        let mut first = Shown { about: About::Snapshot, ..held.look(now).clone() };
        // The visible state holds until the next queued change is due.
        first.at = first.at.max(now.before(held.held_ms));
        let later: Vec<Shown> = held.line.waiting.iter().map(|(_, shown)| shown.clone()).collect();
        let held_ms = held.held_ms;
        let all = std::iter::once(first).chain(later.into_iter().map(move |mut shown| {
            shown.held_ms = held_ms;
            shown
        }));
        Some(all)
    }

    /// By how much the view of a topic is delayed.
    pub(crate) fn held_ms(&self, topic: &Topic) -> Millis {
        match topic {
            Topic::Match(key) => self.held_back.get(key).map_or(0, |held| held.held_ms),
            Topic::Tournament(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn change(at: Timestamp) -> Shown {
        Shown::new(About::Change, ViewText::from(Arc::from(at.to_string())), at)
    }

    #[test]
    fn delayed_messages_are_shown_when_due_and_one_piece_is_one_message() {
        let mut line = DelayLine::new(6_400);
        let mut shown = Vec::new();
        for ms in 0..20_000 {
            let now = Timestamp::from_ms(ms);
            if ms % 7 == 0 {
                line.push(change(now));
            }
            while let Some(next) = line.pop_due(now) {
                assert!(next.at + 6_400 <= now, "{} at {now}", next.at);
                assert!(now.since(next.at) <= 6_400 + 100, "held for too long");
                shown.push(next);
            }
            assert!(line.waiting.len() <= 66, "{}", line.waiting.len());
        }
        // The last piece is not over yet.
        assert!(shown.windows(2).all(|two| two[1].at.since(two[0].at) >= 100 - 7));
        while let Some(next) = line.pop_due(Timestamp::MAX) {
            shown.push(next);
        }
        assert!(shown.is_sorted_by_key(|next| next.at));
        assert!(shown.iter().all(|next| next.skipped == 0), "merged changes are no loss");
    }

    #[test]
    fn full_line_drops_messages_and_says_how_many() {
        let mut line = DelayLine::new(64);
        (0..1_000).for_each(|at| line.push(change(Timestamp::from_ms(at))));
        assert_eq!(line.waiting.len(), LINE_MAX);
        let next = line.pop_due(Timestamp::from_ms(1_000)).unwrap();
        assert_eq!(
            (next.about, next.at, next.skipped),
            (About::Lagged, Timestamp::from_ms(872), 872)
        );
        let next = line.pop_due(Timestamp::from_ms(1_000)).unwrap();
        assert_eq!((next.about, next.skipped), (About::Change, 0));
    }

    #[test]
    fn dropped_messages_without_a_public_change_are_not_counted() {
        let mut line = DelayLine::new(64);
        let same = ViewText::from(Arc::from("{}"));
        let at = |ms| Shown::new(About::Change, same.clone(), Timestamp::from_ms(ms));
        (0..1_000).for_each(|ms| line.push(at(ms)));
        let next = line.pop_due(Timestamp::from_ms(1_000)).unwrap();
        assert_eq!((next.about, next.skipped), (About::Change, 0));
    }

    #[test]
    fn end_is_delayed_and_never_merged() {
        let mut line = DelayLine::new(1_000);
        line.push(change(Timestamp::from_ms(5)));
        line.push(Shown { about: About::End, ..change(Timestamp::from_ms(5)) });
        assert_eq!(line.next_due(), Some(Timestamp::from_ms(1_005)));
        assert!(line.pop_due(Timestamp::from_ms(1_004)).is_none());
        let abouts =
            [(); 2].map(|()| line.pop_due(Timestamp::from_ms(1_005)).map(|shown| shown.about));
        assert_eq!(abouts, [Some(About::Change), Some(About::End)]);
    }
}
