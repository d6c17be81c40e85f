//! Watchers: whoever wants to hear of every public change of a match or a tournament.
//!
//! A watcher never holds the engine up. Each has a queue with a bound; when it is full, all that
//! waits in it is replaced by one message that says so and shows how things stand now. Things that
//! change often are shown now and then: written once for all who watch, with everything that has
//! changed since.

use super::journal::StreamKey;
use super::show::{self, ShownMatch};
use super::{Engine, MatchKey};
use crate::clock;
use agon_core::{Millis, TournamentId};
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::mpsc;

/// Messages that may wait for a watcher.
const QUEUE_MAX: usize = 16;

/// Watchers at once.
pub(crate) const WATCHERS_MAX: usize = 2_000;

/// How far two changes of one thing that are shown lie apart at least.
const APART_MS: Millis = 100;

/// What is watched.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Topic {
    Tournament(TournamentId),
    Match(MatchKey),
}

impl Topic {
    pub(crate) fn stream(&self) -> StreamKey {
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

/// What a message to a watcher is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum About {
    /// How things stood when it began to watch.
    Snapshot,
    /// Something changed.
    Change,
    /// The watcher was too slow; this is how things stand now.
    Lagged,
    /// It is over; the last message.
    End,
}

/// A message to a watcher: everything public about what it watches.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) about: About,
    /// Stands for the data: equal data has equal marks, also after a restart. It is no number of
    /// the log, which would tell how often players answered.
    pub(crate) mark: u64,
    pub(crate) data: Arc<str>,
    /// When things stood so.
    pub(crate) at: Millis,
    /// For how long it is kept from watchers.
    pub(crate) held_ms: Millis,
    /// Messages that were dropped before this one.
    pub(crate) skipped: u64,
}

impl Shown {
    pub(crate) fn new(about: About, data: Arc<str>) -> Shown {
        let mut hasher = DefaultHasher::new();
        data.hash(&mut hasher);
        let (mark, at) = (hasher.finish(), clock::now_ms());
        Shown { about, mark, data, at, held_ms: 0, skipped: 0 }
    }
}

/// The engine's end of a watcher's queue.
pub(crate) struct Watcher {
    queue: Arc<Mutex<VecDeque<Shown>>>,
    wake: mpsc::Sender<()>,
    /// The mark of what it was shown last, or has seen before.
    seen: Option<u64>,
}

/// All that watch one thing.
#[derive(Default)]
pub(crate) struct Watchers {
    all: Vec<Watcher>,
    /// When they were last shown something.
    shown_at: Millis,
    /// Something has changed since, and a timer is set.
    stale: bool,
}

/// The watcher's own end.
pub(crate) struct Watch {
    /// What was held back when it began to watch, and comes first.
    early: VecDeque<Shown>,
    queue: Arc<Mutex<VecDeque<Shown>>>,
    wake: mpsc::Receiver<()>,
}

impl Watch {
    /// The next message; `None` when there will be no more.
    pub(crate) fn poll_next(
        &mut self,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Shown>> {
        loop {
            let early = self.early.pop_front();
            if let Some(shown) = early.or_else(|| locked(&self.queue).pop_front()) {
                return std::task::Poll::Ready(Some(shown));
            }
            match std::task::ready!(self.wake.poll_recv(context)) {
                Some(()) => {}
                // Put there between the look at the queue and the engine's end being dropped.
                None => return std::task::Poll::Ready(locked(&self.queue).pop_front()),
            }
        }
    }
}

impl Watcher {
    pub(crate) fn new(seen: Option<u64>) -> (Watcher, Watch) {
        let queue = Arc::new(Mutex::new(VecDeque::new()));
        let (wake, woken) = mpsc::channel(1);
        let watcher = Watcher { queue: Arc::clone(&queue), wake, seen };
        (watcher, Watch { early: VecDeque::new(), queue, wake: woken })
    }

    /// Whether nobody is at the other end any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.wake.is_closed()
    }

    pub(crate) fn show(&mut self, mut shown: Shown) {
        // Nothing that everybody may see has changed.
        if self.seen == Some(shown.mark) && shown.about != About::End {
            return;
        }
        self.seen = Some(shown.mark);
        let mut queue = locked(&self.queue);
        if queue.len() >= QUEUE_MAX {
            shown.skipped += queue.drain(..).map(|dropped| dropped.skipped + 1).sum::<u64>();
            if shown.about == About::Change {
                shown.about = About::Lagged;
            }
        }
        queue.push_back(shown);
        drop(queue);
        // A full channel has woken it already.
        let _ = self.wake.try_send(());
    }
}

fn locked(queue: &Mutex<VecDeque<Shown>>) -> MutexGuard<'_, VecDeque<Shown>> {
    queue.lock().unwrap_or_else(|broken| broken.into_inner())
}

/// Why nobody more may watch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoWatch {
    /// It does not run.
    NotRunning,
    /// There are too many watchers.
    Full,
}

impl Engine {
    /// Begins to watch something that runs. Unless what the watcher has seen last is what there is
    /// to be seen, it is shown how things stand.
    pub(crate) fn watch(&mut self, topic: Topic, seen: Option<u64>) -> Result<Watch, NoWatch> {
        let data = self.shown(&topic).ok_or(NoWatch::NotRunning)?;
        if self.watcher_count() >= WATCHERS_MAX {
            for watchers in self.watchers.values_mut() {
                watchers.all.retain(|watcher| !watcher.wake.is_closed());
            }
            self.watchers.retain(|_, watchers| !watchers.all.is_empty());
            if self.watcher_count() >= WATCHERS_MAX {
                return Err(NoWatch::Full);
            }
        }
        let over = self.is_over(&topic);
        let (mut watcher, mut watch) = Watcher::new(seen);
        match self.held_back(&topic) {
            Some(held) => {
                watch.early = held.filter(|shown| watcher.seen != Some(shown.mark)).collect();
                watcher.seen = watch.early.back().map(|shown| shown.mark).or(watcher.seen);
            }
            // The end is on its way to the log, and shown when it is there.
            None if over => {}
            None => watcher.show(Shown::new(About::Snapshot, data)),
        }
        self.watchers.entry(topic).or_default().all.push(watcher);
        Ok(watch)
    }

    fn watcher_count(&self) -> usize {
        self.watchers.values().map(|watchers| watchers.all.len()).sum()
    }

    /// Shows watchers of a stream how it stands, or will soon. Called when all of it is durable.
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
            self.set_timer(next, super::Timer::Watch(topic));
        }
    }

    /// Shows what has changed since it was last shown. What is not durable yet is shown when it is.
    pub(super) fn show_late(&mut self, topic: &Topic) {
        let stale = self.watchers.get(topic).is_some_and(|watchers| watchers.stale);
        if stale && self.is_durable(&topic.stream()) {
            self.show_now(topic.clone(), self.is_over(topic));
        }
    }

    fn show_now(&mut self, topic: Topic, over: bool) {
        let Some(mut watchers) = self.watchers.remove(&topic) else { return };
        watchers.all.retain(|watcher| !watcher.wake.is_closed());
        let Some(data) = self.shown(&topic) else { return };
        let about = if over { About::End } else { About::Change };
        let mut shown = Shown::new(about, data);
        shown.held_ms = self.held_ms(&topic);
        watchers.all.iter_mut().for_each(|watcher| watcher.show(shown.clone()));
        if !over && !watchers.all.is_empty() {
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

    /// Everything public about something that runs.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn change(number: usize) -> Shown {
        Shown::new(About::Change, number.to_string().into())
    }

    #[test]
    fn a_slow_watcher_is_told_that_it_lagged_and_shown_the_latest() {
        let (mut watcher, watch) = Watcher::new(None);
        (0..=QUEUE_MAX).for_each(|number| watcher.show(change(number)));
        let queue: Vec<Shown> = locked(&watch.queue).drain(..).collect();
        assert_eq!(queue.len(), 1);
        assert_eq!(queue[0].about, About::Lagged);
        assert_eq!(&*queue[0].data, QUEUE_MAX.to_string());
        watcher.show(change(99));
        assert_eq!(locked(&watch.queue).front().unwrap().about, About::Change);
    }

    #[test]
    fn what_was_seen_is_not_shown_again() {
        let (mut watcher, watch) = Watcher::new(Some(change(1).mark));
        watcher.show(change(1));
        assert!(locked(&watch.queue).is_empty());
        [2, 2, 1].into_iter().for_each(|number| watcher.show(change(number)));
        assert_eq!(locked(&watch.queue).len(), 2);
    }

    #[test]
    fn an_end_is_never_lost() {
        let (mut watcher, mut watch) = Watcher::new(None);
        (0..QUEUE_MAX).for_each(|number| watcher.show(change(number)));
        watcher.show(Shown { about: About::End, ..change(QUEUE_MAX - 1) });
        drop(watcher);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let next = watch.poll_next(&mut context);
        assert!(matches!(next, std::task::Poll::Ready(Some(Shown { about: About::End, .. }))));
        assert!(matches!(watch.poll_next(&mut context), std::task::Poll::Ready(None)));
    }
}
