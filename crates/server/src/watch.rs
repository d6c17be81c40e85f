//! The queue of one watcher, between the engine's thread and the task that writes to them.
//!
//! A watcher never blocks the engine. The queue is bounded. When it is full, one message with the
//! present state replaces all waiting messages and says so. The receiving end drops messages without
//! a public change, because it is the end that writes the views.

use agon_engine::watch::{About, Shown};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::mpsc;

/// How many messages may wait for a watcher.
const QUEUE_MAX: usize = 16;

/// The messages for a watcher.
struct Queue {
    waiting: VecDeque<Shown>,
    /// The mark of the state the watcher was shown last, or has seen before.
    seen: Option<u64>,
}

/// The sending end of a watcher's queue.
pub(crate) struct Watcher {
    queue: Arc<Mutex<Queue>>,
    wake: mpsc::Sender<()>,
}

/// The receiving end.
pub(crate) struct Watch {
    /// The delayed messages from before the subscription, which come first.
    early: VecDeque<Shown>,
    queue: Arc<Mutex<Queue>>,
    wake: mpsc::Receiver<()>,
    /// Dropped with the watcher, which ends the subscription.
    _end: Option<Box<dyn Send + Sync>>,
}

impl Watch {
    /// Begins with the delayed messages. `end` is dropped when the watcher is gone.
    pub(crate) fn begin(&mut self, early: Vec<Shown>, end: Box<dyn Send + Sync>) {
        self.early = early.into();
        self._end = Some(end);
    }

    /// The next message; `None` when there will be no more.
    pub(crate) fn poll_next(
        &mut self,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Shown>> {
        loop {
            if let Some(shown) = self.next_change() {
                return std::task::Poll::Ready(Some(shown));
            }
            match std::task::ready!(self.wake.poll_recv(context)) {
                Some(()) => {}
                // A message may have arrived between the look at the queue and the drop of the
                // sending end.
                None => return std::task::Poll::Ready(self.next_change()),
            }
        }
    }

    /// The next message that says something new. Its view is written here if no other watcher has
    /// done so.
    fn next_change(&mut self) -> Option<Shown> {
        loop {
            let early = self.early.pop_front();
            let shown = early.or_else(|| locked(&self.queue).waiting.pop_front())?;
            let mark = Some(shown.view.mark());
            let before = std::mem::replace(&mut locked(&self.queue).seen, mark);
            if before != mark || shown.about == About::End {
                return Some(shown);
            }
        }
    }
}

impl Watcher {
    pub(crate) fn new(seen: Option<u64>) -> (Watcher, Watch) {
        let queue = Arc::new(Mutex::new(Queue { waiting: VecDeque::new(), seen }));
        let (wake, woken) = mpsc::channel(1);
        let watcher = Watcher { queue: Arc::clone(&queue), wake };
        (watcher, Watch { early: VecDeque::new(), queue, wake: woken, _end: None })
    }

    /// Returns whether the receiving end is gone.
    pub(crate) fn is_gone(&self) -> bool {
        self.wake.is_closed()
    }

    pub(crate) fn show(&mut self, mut shown: Shown) {
        let mut queue = locked(&self.queue);
        if queue.waiting.len() >= QUEUE_MAX {
            shown.skipped += queue.drop_all();
            if shown.about == About::Change && shown.skipped > 0 {
                shown.about = About::Lagged;
            }
        }
        queue.waiting.push_back(shown);
        drop(queue);
        // If the channel is full, the task has been woken already.
        let _ = self.wake.try_send(());
    }
}

impl Queue {
    /// Drops all messages, and returns how many of them said something new. The others must not
    /// count, because their number would reveal how often players answered.
    fn drop_all(&mut self) -> u64 {
        let mut seen = self.seen;
        let news = self.waiting.drain(..).map(|dropped| {
            let mark = Some(dropped.view.mark());
            dropped.skipped + u64::from(std::mem::replace(&mut seen, mark) != mark)
        });
        news.sum()
    }
}

fn locked(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(|broken| broken.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_core::Timestamp;
    use agon_engine::show::ViewText;
    use std::task::{Context, Poll, Waker};

    fn change(number: usize) -> Shown {
        let view = ViewText::from(Arc::from(number.to_string()));
        Shown::new(About::Change, view, Timestamp::default())
    }

    /// All messages that wait.
    fn shown(watch: &mut Watch) -> Vec<Shown> {
        std::iter::from_fn(|| watch.next_change()).collect()
    }

    #[test]
    fn slow_watcher_gets_one_lagged_message_with_the_latest_state() {
        let (mut watcher, mut watch) = Watcher::new(None);
        (0..=QUEUE_MAX).for_each(|number| watcher.show(change(number)));
        let latest = shown(&mut watch);
        assert_eq!(latest.len(), 1);
        assert_eq!((latest[0].about, latest[0].skipped), (About::Lagged, QUEUE_MAX as u64));
        assert_eq!(*latest[0].view.text(), *QUEUE_MAX.to_string());
        watcher.show(change(99));
        assert_eq!(shown(&mut watch)[0].about, About::Change);
    }

    #[test]
    fn seen_state_is_not_shown_again() {
        let (mut watcher, mut watch) = Watcher::new(Some(change(1).view.mark()));
        watcher.show(change(1));
        assert!(shown(&mut watch).is_empty());
        [2, 2, 1].into_iter().for_each(|number| watcher.show(change(number)));
        assert_eq!(shown(&mut watch).len(), 2);
    }

    #[test]
    fn dropped_messages_without_a_public_change_are_not_counted() {
        let (mut watcher, mut watch) = Watcher::new(None);
        (0..QUEUE_MAX).for_each(|_| watcher.show(change(1)));
        watcher.show(change(2));
        assert_eq!(shown(&mut watch).iter().map(|last| last.skipped).collect::<Vec<_>>(), [1]);
        (0..=QUEUE_MAX).for_each(|_| watcher.show(change(2)));
        watcher.show(change(3));
        let latest = shown(&mut watch);
        assert_eq!((latest[0].about, latest[0].skipped), (About::Change, 0));
    }

    #[test]
    fn end_is_never_lost() {
        let (mut watcher, mut watch) = Watcher::new(None);
        (0..QUEUE_MAX).for_each(|number| watcher.show(change(number)));
        watcher.show(Shown { about: About::End, ..change(QUEUE_MAX - 1) });
        drop(watcher);
        let mut context = Context::from_waker(Waker::noop());
        let next = watch.poll_next(&mut context);
        assert!(matches!(next, Poll::Ready(Some(Shown { about: About::End, .. }))));
        assert!(matches!(watch.poll_next(&mut context), Poll::Ready(None)));
    }
}
