//! The order in which connections were accepted, so that sign-ups are processed in that order.
//!
//! Each connection gets a place when it is accepted. It waits for its turn until every earlier
//! connection has given up its place. A connection gives up its place when it signs up, fails, is
//! closed, or takes too long. The caller decides how long that is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::Notify;

/// Connections that have not signed up yet.
#[derive(Default)]
pub(super) struct Arrivals(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    next: u64,
    turns: BTreeMap<u64, Arc<Notify>>,
}

/// The place of one connection; dropping it gives the place up.
pub(super) struct ArrivalTurn {
    arrivals: Arc<Arrivals>,
    number: u64,
    turn: Arc<Notify>,
}

impl Arrivals {
    /// A place behind all places given so far.
    pub(super) fn enter(self: &Arc<Arrivals>) -> ArrivalTurn {
        let turn = Arc::new(Notify::new());
        let mut waiting = self.waiting();
        let number = waiting.next;
        waiting.next += 1;
        waiting.turns.insert(number, Arc::clone(&turn));
        ArrivalTurn { arrivals: Arc::clone(self), number, turn }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(|broken| broken.into_inner())
    }
}

impl ArrivalTurn {
    /// Waits until no earlier connection has a place. The future can be dropped and created again.
    pub(super) async fn turn(&self) {
        while !self.is_first() {
            self.turn.notified().await;
        }
    }

    fn is_first(&self) -> bool {
        let waiting = self.arrivals.waiting();
        waiting.turns.keys().next() == Some(&self.number)
    }
}

impl Drop for ArrivalTurn {
    fn drop(&mut self) {
        let mut waiting = self.arrivals.waiting();
        waiting.turns.remove(&self.number);
        if let Some(first) = waiting.turns.values().next() {
            first.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn is_due(place: &ArrivalTurn) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(place.turn()).as_mut().poll(&mut context) == Poll::Ready(())
    }

    #[test]
    fn connections_sign_up_in_the_order_they_were_accepted() {
        let arrivals = Arc::new(Arrivals::default());
        let [first, second, third] = [(); 3].map(|()| arrivals.enter());
        assert_eq!([&first, &second, &third].map(is_due), [true, false, false]);
        // A connection in the middle that leaves does not bring anybody's turn forward.
        drop(second);
        assert!(!is_due(&third));
        drop(first);
        assert!(is_due(&third));
        let fourth = arrivals.enter();
        assert!(!is_due(&fourth));
        drop(third);
        assert!(is_due(&fourth));
    }
}
