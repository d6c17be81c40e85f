//! Watchers: subscribers to every public change of a match or a tournament.
//!
//! A watcher never blocks the engine. Each has a bounded queue. When it is full, one message with
//! the present state replaces all waiting messages and says so. Frequent changes are shown at
//! intervals: one message for all watchers, with everything that has changed since the last.
#![expect(missing_docs, reason = "fields say what they hold by their names")]

use super::journal::StreamKey;
use super::show::{self, ShownMatch};
use super::{Effect, Engine, MatchKey, Timer};
use agon_core::{Millis, TournamentId};
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
    pub at: Millis,
    /// By how much it is delayed for watchers.
    pub held_ms: Millis,
    /// Messages that were dropped before this one.
    pub skipped: u64,
}

impl Shown {
    /// The state at `at`.
    pub fn new(about: About, data: Arc<str>, at: Millis) -> Shown {
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

/// All watchers of one topic.
#[derive(Default)]
pub struct Watchers {
    all: Vec<Watching>,
    /// When they were last sent a message.
    shown_at: Millis,
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

impl Engine {
    /// Subscribes to a running topic; returns the delayed messages that come first. The watcher is
    /// sent the present state, unless that is the state it has seen last.
    pub fn watch(
        &mut self,
        id: WatcherId,
        topic: Topic,
        seen: Option<u64>,
    ) -> Result<Vec<Shown>, NoWatch> {
        let data = self.shown(&topic).ok_or(NoWatch::NotRunning)?;
        if self.watcher_count() >= WATCHERS_MAX {
            return Err(NoWatch::Full);
        }
        let over = self.is_over(&topic);
        let mut watching = Watching { id, seen };
        let held = self.held_back(&topic);
        let mut early = Vec::new();
        match held {
            Some(held) => {
                early.extend(held.filter(|shown| watching.seen != Some(shown.mark)));
                watching.seen = early.last().map(|shown| shown.mark).or(watching.seen);
            }
            // The end is in flight, and is sent once it is durable.
            None if over => {}
            None => {
                let shown = Shown::new(About::Snapshot, data, self.now_ms());
                self.show_one(&mut watching, shown);
            }
        }
        self.watchers.entry(topic).or_default().all.push(watching);
        Ok(early)
    }

    /// Ends a watcher's subscription.
    pub(super) fn unwatch(&mut self, id: WatcherId) {
        for watchers in self.watchers.values_mut() {
            watchers.all.retain(|watching| watching.id != id);
        }
        self.watchers.retain(|_, watchers| !watchers.all.is_empty());
    }

    /// Sends a watcher a state, unless it has seen it.
    fn show_one(&mut self, watching: &mut Watching, shown: Shown) {
        // Nothing public has changed.
        if watching.seen == Some(shown.mark) && shown.about != About::End {
            return;
        }
        watching.seen = Some(shown.mark);
        self.effects.push(Effect::Show { watcher: watching.id, shown });
    }

    fn watcher_count(&self) -> usize {
        self.watchers.values().map(|watchers| watchers.all.len()).sum()
    }

    /// Shows the watchers of a stream its state, now or at the next interval. Called when all its
    /// records are durable.
    pub(super) fn show_watchers(&mut self, stream: &StreamKey) {
        if self.watchers.is_empty() {
            return;
        }
        let Some(topic) = Topic::of(stream) else { return };
        let now = self.now_ms();
        let over = self.is_over(&topic);
        let Some(watchers) = self.watchers.get_mut(&topic) else { return };
        let next = watchers.shown_at.saturating_add(APART_MS);
        if over || next <= now {
            return self.show_now(topic, over);
        }
        if !std::mem::replace(&mut watchers.stale, true) {
            self.timers.set(next, Timer::Watch(topic));
        }
    }

    /// Shows the changes since the last message. Changes that are not durable yet are shown when
    /// they are.
    pub(super) fn show_late(&mut self, topic: &Topic) {
        let stale = self.watchers.get(topic).is_some_and(|watchers| watchers.stale);
        if stale && self.is_durable(&topic.stream()) {
            self.show_now(topic.clone(), self.is_over(topic));
        }
    }

    fn show_now(&mut self, topic: Topic, over: bool) {
        let Some(mut watchers) = self.watchers.remove(&topic) else { return };
        let Some(data) = self.shown(&topic) else { return };
        let about = if over { About::End } else { About::Change };
        let mut shown = Shown::new(about, data, self.now_ms());
        shown.held_ms = self.held_ms(&topic);
        for watching in &mut watchers.all {
            self.show_one(watching, shown.clone());
            if over {
                self.effects.push(Effect::EndWatch { watcher: watching.id });
            }
        }
        if !over {
            (watchers.shown_at, watchers.stale) = (self.now_ms(), false);
            self.watchers.insert(topic, watchers);
        }
    }

    fn is_over(&self, topic: &Topic) -> bool {
        match topic {
            Topic::Tournament(id) => self.live_tournament(id).is_none_or(|live| live.is_over()),
            Topic::Match(key) => self.live_match(key).is_none_or(|live| live.result().is_some()),
        }
    }

    /// All public data of a running topic.
    fn shown(&self, topic: &Topic) -> Option<Arc<str>> {
        Some(match topic {
            Topic::Tournament(id) => show::text(&self.shown_tournament(id)?),
            Topic::Match(key) => {
                let live = self.live_match(key)?;
                show::text(&ShownMatch::of(live, self.wires(live)))
            }
        })
    }
}
