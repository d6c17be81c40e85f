//! Watchers: subscribers to every public change of a match or a tournament.
//!
//! A watcher never blocks the engine. Each has a bounded queue. When it is full, one message with
//! the present state replaces all waiting messages and says so. Frequent changes are shown at
//! intervals: one message for all watchers, with everything that has changed since the last. The
//! reader of the queue writes the message as JSON, and drops it if nothing public has changed.
#![expect(missing_docs, reason = "fields say what they hold by their names")]

use super::Cells;
use crate::journal::StreamKey;
use crate::services::{Context, Services};
use crate::show::ViewText;
use crate::timers::Timer;
use crate::{Effect, MatchKey};
use agon_core::{Millis, Timestamp, TournamentId};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// How many watchers may be subscribed at once.
pub const WATCHERS_MAX: usize = 2_000;

/// The minimum time between two shown changes of one topic.
const APART_MS: Millis = 100;

/// The subject that is watched.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Topic {
    Tournament(TournamentId),
    Match(MatchKey),
}

impl Topic {
    pub fn stream(&self) -> StreamKey {
        match self {
            Topic::Tournament(id) => StreamKey::Tournament(id.clone()),
            Topic::Match(key) => StreamKey::Match(key.clone()),
        }
    }

    fn of(stream: &StreamKey) -> Option<Topic> {
        match stream {
            StreamKey::Tournament(id) => Some(Topic::Tournament(id.clone())),
            StreamKey::Match(key) => Some(Topic::Match(key.clone())),
            StreamKey::Lobby | StreamKey::Secret(_) => None,
        }
    }
}

/// The kind of a message to a watcher.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum About {
    /// The state when the subscription began.
    Snapshot,
    /// Something changed.
    Change,
    /// The watcher was too slow; this is the present state.
    Lagged,
    /// The topic is over; this is the last message.
    End,
}

/// A message to a watcher: all public data of the topic.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shown {
    pub about: About,
    pub view: ViewText,
    /// The time of this state.
    pub at: Timestamp,
    /// By how much it is delayed for watchers.
    pub held_ms: Millis,
    /// Messages that were dropped before this one.
    pub skipped: u64,
}

impl Shown {
    /// The state at `at`.
    pub fn new(about: About, view: ViewText, at: Timestamp) -> Shown {
        Shown { about, view, at, held_ms: 0, skipped: 0 }
    }
}

/// The number of a watcher, unique while the server runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct WatcherId(pub u64);

/// All watchers.
#[derive(Default)]
pub(super) struct Watchers(HashMap<Topic, TopicWatchers>);

impl Watchers {
    fn count(&self) -> usize {
        self.0.values().map(|watchers| watchers.all.len()).sum()
    }

    fn end(&mut self, id: WatcherId) {
        for watchers in self.0.values_mut() {
            watchers.all.retain(|watcher| *watcher != id);
        }
        self.0.retain(|_, watchers| !watchers.all.is_empty());
    }
}

/// All watchers of one topic.
#[derive(Default)]
struct TopicWatchers {
    all: Vec<WatcherId>,
    /// When they were last sent a message.
    shown_at: Timestamp,
    /// True if there is a change since, and a timer is set.
    stale: bool,
}

/// Why a subscription is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum NoWatch {
    /// The topic does not run.
    NotRunning,
    /// There are too many watchers.
    Full,
}

impl Cells {
    /// Subscribes to a running topic; returns the delayed messages that come first. Otherwise the
    /// watcher is sent the present state.
    pub(crate) fn watch(
        &mut self,
        cx: &mut Context<'_>,
        id: WatcherId,
        topic: Topic,
    ) -> Result<Vec<Shown>, NoWatch> {
        let view = self.shown(cx, &topic).ok_or(NoWatch::NotRunning)?;
        if self.watchers.count() >= WATCHERS_MAX {
            return Err(NoWatch::Full);
        }
        let over = self.is_over(&topic);
        let held = self.held_back(cx, &topic);
        // The end is in flight, and is sent once it is durable.
        if held.is_none() && !over {
            let shown = Shown::new(About::Snapshot, view, cx.now_ms());
            cx.effects.push(Effect::Show { watcher: id, shown });
        }
        self.watchers.0.entry(topic).or_default().all.push(id);
        Ok(held.into_iter().flatten().collect())
    }

    /// Ends a watcher's subscription.
    pub(crate) fn unwatch(&mut self, id: WatcherId) {
        self.watchers.end(id);
    }

    /// Shows the watchers of a stream its state, now or at the next interval. Called when all its
    /// records are durable.
    pub(super) fn show_watchers(&mut self, cx: &mut Context<'_>, stream: &StreamKey) {
        if self.watchers.0.is_empty() {
            return;
        }
        let Some(topic) = Topic::of(stream) else { return };
        let now = cx.now_ms();
        let over = self.is_over(&topic);
        let Some(watchers) = self.watchers.0.get_mut(&topic) else { return };
        let next = watchers.shown_at.saturating_add(APART_MS);
        if over || next <= now {
            return self.show_now(cx, topic, over);
        }
        if !std::mem::replace(&mut watchers.stale, true) {
            cx.timers.set(next, Timer::Watch(topic));
        }
    }

    /// Shows the changes since the last message. Changes that are not durable yet are shown when
    /// they are.
    pub(super) fn show_late(&mut self, cx: &mut Context<'_>, topic: &Topic) {
        let stale = self.watchers.0.get(topic).is_some_and(|watchers| watchers.stale);
        if stale && cx.is_durable(&topic.stream()) {
            self.show_now(cx, topic.clone(), self.is_over(topic));
        }
    }

    fn show_now(&mut self, cx: &mut Context<'_>, topic: Topic, over: bool) {
        let Some(mut watchers) = self.watchers.0.remove(&topic) else { return };
        let Some(view) = self.shown(cx, &topic) else { return };
        let about = if over { About::End } else { About::Change };
        let mut shown = Shown::new(about, view, cx.now_ms());
        shown.held_ms = self.held_ms(&topic);
        for &watcher in &watchers.all {
            cx.effects.push(Effect::Show { watcher, shown: shown.clone() });
            if over {
                cx.effects.push(Effect::EndWatch { watcher });
            }
        }
        if !over {
            (watchers.shown_at, watchers.stale) = (cx.now_ms(), false);
            self.watchers.0.insert(topic, watchers);
        }
    }

    /// Ends the subscriptions to a tournament and its matches.
    pub(super) fn end_watches_in(&mut self, services: &mut Services, id: &TournamentId) {
        let own = |topic: &Topic, _: &mut TopicWatchers| topic.stream().tournament() == Some(id);
        let mut ended: Vec<_> = self.watchers.0.extract_if(own).collect();
        ended.sort_by(|(one, _), (other, _)| one.cmp(other));
        for watcher in ended.into_iter().flat_map(|(_, watchers)| watchers.all) {
            services.effects.push(Effect::EndWatch { watcher });
        }
    }

    fn is_over(&self, topic: &Topic) -> bool {
        match topic {
            Topic::Tournament(id) => self.tournament(id).is_none_or(|live| live.is_over()),
            Topic::Match(key) => self.live_match(key).is_none_or(|live| live.result().is_some()),
        }
    }

    /// All public data of a running topic.
    fn shown(&self, cx: &Context<'_>, topic: &Topic) -> Option<ViewText> {
        match topic {
            Topic::Tournament(id) => self.shown_tournament(id).map(ViewText::of_tournament),
            Topic::Match(key) => self.view_of_match(cx, key),
        }
    }

    /// The present view of a running match.
    pub(super) fn view_of_match(&self, cx: &Context<'_>, key: &MatchKey) -> Option<ViewText> {
        let live = self.live_match(key)?;
        Some(ViewText::of_match(live, cx.present.wires(live), true))
    }
}
