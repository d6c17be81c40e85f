//! Counts of connections, requests or observers by address.

use crate::address;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

/// The counts by address.
#[derive(Default)]
pub(crate) struct Guests(Mutex<HashMap<IpAddr, usize>>);

/// A counted connection; dropping it uncounts it.
pub(crate) struct Guest {
    guests: Arc<Guests>,
    from: IpAddr,
}

impl Guests {
    /// Counts one more, unless there are `max`.
    pub(crate) fn enter(self: &Arc<Guests>, from: IpAddr, max: usize) -> Option<Guest> {
        let from = address::counted(from);
        let mut counts = self.0.lock().unwrap_or_else(|broken| broken.into_inner());
        let count = counts.entry(from).or_default();
        if *count >= max {
            if *count == 0 {
                counts.remove(&from);
            }
            return None;
        }
        *count += 1;
        Some(Guest { guests: Arc::clone(self), from })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut counts = self.guests.0.lock().unwrap_or_else(|broken| broken.into_inner());
        if let Some(count) = counts.get_mut(&self.from) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.from);
            }
        }
    }
}
