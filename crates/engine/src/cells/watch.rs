//! Watchers: subscribers to every public change of a match or a tournament.
//!
//! A watcher never blocks the engine. Each has a bounded queue. When it is full, one message with
//! the present state replaces all waiting messages and says so. Frequent changes are shown at
//! intervals: one message for all watchers, with everything that has changed since the last.
#![expect(missing_docs, reason = "fields say what they hold by their names")]

use super::Cells;
use crate::journal::StreamKey;
use crate::services::{Context, Services};
use crate::show::{self, ShownMatch};
use crate::timers::Timer;
use crate::{Effect, MatchKey};
use agon_core::{Millis, Timestamp, TournamentId};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// How many watchers may be subscribed at once.
pub const WATCHERS_MAX: usize = 2_000;

/// The minimum time between two shown changes of one topic.
const APART_MS: Millis = 100;

/// The subject that is watched.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
#[derive(Clone, Debug)]
pub struct Shown {
    pub about: About,
    /// Identifies the data: equal data has equal marks, also after a restart. It is not a number of
    /// the log, which would reveal how often players answered.
    pub mark: u64,
    pub data: Arc<str>,
    /// The time of this state.
    pub at: Timestamp,
    /// By how much it is delayed for watchers.
    pub held_ms: Millis,
    /// Messages that were dropped before this one.
    pub skipped: u64,
}

impl Shown {
    /// The state at `at`.
    pub fn new(about: About, data: Arc<str>, at: Timestamp) -> Shown {
        let mut hasher = DefaultHasher::new();
        data.hash(&mut hasher);
        let mark = hasher.finish();
        Shown { about, mark, data, at, held_ms: 0, skipped: 0 }
    }
}

/// The number of a watcher, unique while the server runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WatcherId(pub u64);

/// A watcher, and the last state it was shown.
struct Watching {
    id: WatcherId,
    /// The mark of the state it was shown last, or has seen before.
    seen: Option<u64>,
}

/// All watchers.
#[derive(Default)]
pub(super) struct Watchers(HashMap<Topic, TopicWatchers>);

impl Watchers {
    fn count(&self) -> usize {
        self.0.values().map(|watchers| watchers.all.len()).sum()
    }

    fn end(&mut self, id: WatcherId) {
        for watchers in self.0.values_mut() {
            watchers.all.retain(|watching| watching.id != id);
        }
        self.0.retain(|_, watchers| !watchers.all.is_empty());
    }
}

/// All watchers of one topic.
#[derive(Default)]
struct TopicWatchers {
    all: Vec<Watching>,
    /// When they were last sent a message.
    shown_at: Timestamp,
    /// Whether there is a change since, and a timer is set.
    stale: bool,
}

/// Why a subscription is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoWatch {
    /// The topic does not run.
    NotRunning,
    /// There are too many watchers.
    Full,
}

impl Cells {
    /// Subscribes to a running topic; returns the delayed messages that come first. The watcher is
    /// sent the present state, unless that is the state it has seen last.
    pub(crate) fn watch(
        &mut self,
        cx: &mut Context<'_>,
        id: WatcherId,
        topic: Topic,
        seen: Option<u64>,
    ) -> Result<Vec<Shown>, NoWatch> {
        let data = self.shown(cx, &topic).ok_or(NoWatch::NotRunning)?;
        if self.watchers.count() >= WATCHERS_MAX {
            return Err(NoWatch::Full);
        }
        let over = self.is_over(&topic);
        let mut watching = Watching { id, seen };
        let held = self.held_back(cx, &topic);
        let mut early = Vec::new();
        match held {
            Some(held) => {
                early.extend(held.filter(|shown| watching.seen != Some(shown.mark)));
                watching.seen = early.last().map(|shown| shown.mark).or(watching.seen);
            }
            // The end is in flight, and is sent once it is durable.
            None if over => {}
            None => {
                let shown = Shown::new(About::Snapshot, data, cx.now_ms());
                show_one(cx, &mut watching, shown);
            }
        }
        self.watchers.0.entry(topic).or_default().all.push(watching);
        Ok(early)
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
        let Some(data) = self.shown(cx, &topic) else { return };
        let about = if over { About::End } else { About::Change };
        let mut shown = Shown::new(about, data, cx.now_ms());
        shown.held_ms = self.held_ms(&topic);
        for watching in &mut watchers.all {
            show_one(cx, watching, shown.clone());
            if over {
                cx.effects.push(Effect::EndWatch { watcher: watching.id });
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
        for watching in ended.into_iter().flat_map(|(_, watchers)| watchers.all) {
            services.effects.push(Effect::EndWatch { watcher: watching.id });
        }
    }

    fn is_over(&self, topic: &Topic) -> bool {
        match topic {
            Topic::Tournament(id) => self.tournament(id).is_none_or(|live| live.is_over()),
            Topic::Match(key) => self.live_match(key).is_none_or(|live| live.result().is_some()),
        }
    }

    /// All public data of a running topic.
    fn shown(&self, cx: &Context<'_>, topic: &Topic) -> Option<Arc<str>> {
        Some(match topic {
            Topic::Tournament(id) => show::text(&self.shown_tournament(id)?),
            Topic::Match(key) => {
                let live = self.live_match(key)?;
                show::text(&ShownMatch::of(live, cx.present.wires(live)))
            }
        })
    }
}

/// Sends a watcher a state, unless it has seen it.
fn show_one(cx: &mut Context<'_>, watching: &mut Watching, shown: Shown) {
    // Nothing public has changed.
    if watching.seen == Some(shown.mark) && shown.about != About::End {
        return;
    }
    watching.seen = Some(shown.mark);
    cx.effects.push(Effect::Show { watcher: watching.id, shown });
}
