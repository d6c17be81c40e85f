//! The queue of one watcher, between the engine's thread and the task that writes to them.
//!
//! A watcher never blocks the engine. The queue is bounded. When it is full, one message with the
//! present state replaces all waiting messages and says so.

use agon_engine::watch::{About, Shown};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::mpsc;

/// How many messages may wait for a watcher.
const QUEUE_MAX: usize = 16;

/// The sending end of a watcher's queue.
pub(crate) struct Watcher {
    queue: Arc<Mutex<VecDeque<Shown>>>,
    wake: mpsc::Sender<()>,
    /// The mark of the state the watcher was shown last, or has seen before.
    seen: Option<u64>,
}

/// The receiving end.
pub(crate) struct Watch {
    /// The delayed messages from before the subscription, which come first.
    early: VecDeque<Shown>,
    queue: Arc<Mutex<VecDeque<Shown>>>,
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
            let early = self.early.pop_front();
            if let Some(shown) = early.or_else(|| locked(&self.queue).pop_front()) {
                return std::task::Poll::Ready(Some(shown));
            }
            match std::task::ready!(self.wake.poll_recv(context)) {
                Some(()) => {}
                // A message may have arrived between the look at the queue and the drop of the
                // sending end.
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
        (watcher, Watch { early: VecDeque::new(), queue, wake: woken, _end: None })
    }

    /// Whether the receiving end is gone.
    pub(crate) fn is_gone(&self) -> bool {
        self.wake.is_closed()
    }

    pub(crate) fn show(&mut self, mut shown: Shown) {
        // Nothing public has changed.
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
        // If the channel is full, the task has been woken already.
        let _ = self.wake.try_send(());
    }
}

fn locked(queue: &Mutex<VecDeque<Shown>>) -> MutexGuard<'_, VecDeque<Shown>> {
    queue.lock().unwrap_or_else(|broken| broken.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_core::Timestamp;

    fn change(number: usize) -> Shown {
        Shown::new(About::Change, number.to_string().into(), Timestamp::default())
    }

    #[test]
    fn slow_watcher_gets_one_lagged_message_with_the_latest_state() {
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
    fn seen_state_is_not_shown_again() {
        let (mut watcher, watch) = Watcher::new(Some(change(1).mark));
        watcher.show(change(1));
        assert!(locked(&watch.queue).is_empty());
        [2, 2, 1].into_iter().for_each(|number| watcher.show(change(number)));
        assert_eq!(locked(&watch.queue).len(), 2);
    }

    #[test]
    fn end_is_never_lost() {
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
