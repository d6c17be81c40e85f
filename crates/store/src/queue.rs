//! The bounded queue in front of a writer thread.
//!
//! Unlike a channel, it hands over all waiting items together, as a group commit needs. It never
//! blocks its own consumer: a callback on the writer thread may submit the next append even when
//! the queue is full.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
    emptied: Condvar,
    items_max: usize,
}

struct State<T> {
    items: VecDeque<T>,
    consumer: Option<ThreadId>,
    closed: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new(items_max: usize) -> Self {
        let state = State { items: VecDeque::new(), consumer: None, closed: false };
        Queue {
            state: Mutex::new(state),
            filled: Condvar::new(),
            emptied: Condvar::new(),
            items_max,
        }
    }

    /// Adds an item, waiting for room; returns it if the queue is closed.
    pub(crate) fn push(&self, item: T) -> Result<(), T> {
        let mut state = self.lock();
        if state.consumer != Some(thread::current().id()) {
            let full = |state: &mut State<T>| state.items.len() >= self.items_max && !state.closed;
            state = self.emptied.wait_while(state, full).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return Err(item);
        }
        state.items.push_back(item);
        if state.items.len() == 1 {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// Waits for items; false once closed and empty. The caller is the consumer from now on.
    pub(crate) fn wait(&self) -> bool {
        let mut state = self.lock();
        state.consumer = Some(thread::current().id());
        let idle = |state: &mut State<T>| state.items.is_empty() && !state.closed;
        state = self.filled.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner);
        !state.items.is_empty()
    }

    /// Moves all items to `batch`.
    pub(crate) fn take(&self, batch: &mut Vec<T>) {
        batch.extend(self.lock().items.drain(..));
        self.emptied.notify_all();
    }

    /// Returns whether no item waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().items.is_empty()
    }

    /// Accepts no more items; those in the queue are still handed out.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
        self.emptied.notify_all();
    }

    /// Accepts no more items and drops those in the queue.
    pub(crate) fn abandon(&self) {
        self.close();
        // Dropped outside the lock: an item may push from its destructor.
        let items = std::mem::take(&mut self.lock().items);
        drop(items);
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // No foreign code runs under the lock, so its state is consistent even after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Waits for items and takes them; false once closed and empty.
    fn take<T>(queue: &Queue<T>, batch: &mut Vec<T>) -> bool {
        let found = queue.wait();
        queue.take(batch);
        found
    }

    #[test]
    fn everything_waiting_is_taken_at_once_and_in_order() {
        let queue = Queue::new(10);
        (0..5).for_each(|n| queue.push(n).unwrap());
        let mut batch = Vec::new();
        assert!(take(&queue, &mut batch));
        assert_eq!(batch, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_full_queue_makes_others_wait_but_not_the_consumer() {
        let queue = Arc::new(Queue::new(2));
        queue.push(0).unwrap();
        assert!(take(&queue, &mut Vec::new()));
        // This thread is the consumer now.
        (1..=5).for_each(|n| queue.push(n).unwrap());
        let other = thread::spawn({
            let queue = Arc::clone(&queue);
            move || queue.push(6)
        });
        let mut batch = Vec::new();
        while batch.len() < 6 {
            assert!(take(&queue, &mut batch));
        }
        assert_eq!(batch, [1, 2, 3, 4, 5, 6]);
        other.join().unwrap().unwrap();
    }

    #[test]
    fn a_closed_queue_refuses_and_drains() {
        let queue = Queue::new(2);
        queue.push(1).unwrap();
        queue.close();
        assert_eq!(queue.push(2), Err(2));
        let mut batch = Vec::new();
        assert!(take(&queue, &mut batch));
        assert_eq!(batch, [1]);
        batch.clear();
        assert!(!take(&queue, &mut batch));
    }

    #[test]
    fn closing_wakes_waiting_callers() {
        let queue = Arc::new(Queue::new(1));
        queue.push(1).unwrap();
        let waiting = thread::spawn({
            let queue = Arc::clone(&queue);
            move || queue.push(2)
        });
        queue.abandon();
        assert_eq!(waiting.join().unwrap(), Err(2));
    }
}
