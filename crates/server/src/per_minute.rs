//! A limit on how often a minute one address may do something: sign up with only a name, or become a
//! guest.

use crate::address;
use agon_core::{Millis, Timestamp};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;

/// How many addresses are remembered; those that did the least lately are forgotten first.
const ADDRESSES_MAX: usize = 20_000;

const MINUTE_MS: Millis = 60_000;

/// The number of actions of every address in the last minute.
#[derive(Default)]
pub(crate) struct PerMinute(Mutex<HashMap<IpAddr, Recent>>);

/// How often an address may still do it.
struct Recent {
    left: f64,
    at: Timestamp,
}

impl PerMinute {
    /// Returns whether this address may do it once more now.
    pub(crate) fn take(&self, from: IpAddr, per_minute_max: u32, now: Timestamp) -> bool {
        let most = f64::from(per_minute_max);
        let refilled = |recent: &Recent| {
            let since = now.since(recent.at) as f64;
            (recent.left + since * most / MINUTE_MS as f64).min(most)
        };
        let mut all = self.0.lock().unwrap_or_else(|broken| broken.into_inner());
        if all.len() >= ADDRESSES_MAX {
            all.retain(|_, recent| refilled(recent) < most);
        }
        if all.len() >= ADDRESSES_MAX {
            all.retain(|_, recent| refilled(recent) < most / 2.0);
        }
        let recent = all.entry(address::counted(from)).or_insert(Recent { left: most, at: now });
        (recent.left, recent.at) = (refilled(recent), now);
        let may = recent.left >= 1.0;
        if may {
            recent.left -= 1.0;
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_a_minute_of_one_address_are_limited() {
        let sign_ups = PerMinute::default();
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let taken =
            (0..1_000).filter(|_| sign_ups.take(one, 300, Timestamp::from_ms(1_000))).count();
        assert_eq!(taken, 300);
        assert!(sign_ups.take(other, 300, Timestamp::from_ms(1_000)), "others have their own");
        let later =
            (0..1_000).filter(|_| sign_ups.take(one, 300, Timestamp::from_ms(11_000))).count();
        assert_eq!(later, 50);
    }

    #[test]
    fn number_of_addresses_is_limited() {
        let sign_ups = PerMinute::default();
        for number in 0..3 * ADDRESSES_MAX as u32 {
            sign_ups.take(IpAddr::from(number.to_be_bytes()), 300, Timestamp::default());
        }
        assert!(sign_ups.0.lock().unwrap().len() <= ADDRESSES_MAX);
    }
}
