//! Wrong passwords: how long whoever guesses has to wait. Bounded, whatever strangers send.

use agon_core::{Millis, PlayerName};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

/// Wrong passwords in a row that cost nothing.
const FREE: u32 = 5;
/// The first wait; it doubles with every further wrong password.
const WAIT_MS_MIN: Millis = 1_000;
/// The longest wait.
const WAIT_MS_MAX: Millis = 60_000;
/// After so long without another wrong password, all is forgotten.
const FORGET_MS: Millis = 15 * 60_000;
/// The most addresses and accounts that are remembered.
const REMEMBERED_MAX: usize = 20_000;

/// Who is counted: guesses of many accounts from one place, and of one account from many places.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Key {
    Address(IpAddr),
    Account(PlayerName),
}

#[derive(Clone, Copy, Debug)]
struct Wrong {
    in_a_row: u32,
    latest: Millis,
}

impl Wrong {
    /// When the next try is looked at.
    fn until(self) -> Millis {
        match self.in_a_row.checked_sub(FREE) {
            None => 0,
            Some(more) => {
                let wait = WAIT_MS_MIN.saturating_mul(1 << more.min(16));
                self.latest + wait.min(WAIT_MS_MAX)
            }
        }
    }
}

/// Wrong passwords of late.
#[derive(Default)]
pub(crate) struct Throttle {
    wrong: HashMap<Key, Wrong>,
}

impl Throttle {
    /// How long a try has to wait, if it has to.
    pub(crate) fn wait_ms(
        &self,
        from: IpAddr,
        account: &PlayerName,
        now: Millis,
    ) -> Option<Millis> {
        let keys = keys(from, account);
        let wrong = keys.iter().filter_map(|key| self.wrong.get(key));
        let until = wrong.map(|wrong| wrong.until()).max()?;
        (until > now).then(|| until - now)
    }

    /// A wrong password was given.
    pub(crate) fn wrong(&mut self, from: IpAddr, account: &PlayerName, now: Millis) {
        for key in keys(from, account) {
            self.make_room(now);
            let wrong = self.wrong.entry(key).or_insert(Wrong { in_a_row: 0, latest: now });
            if wrong.latest + FORGET_MS < now {
                wrong.in_a_row = 0;
            }
            wrong.in_a_row = wrong.in_a_row.saturating_add(1);
            wrong.latest = now;
        }
    }

    /// The right password was given.
    pub(crate) fn right(&mut self, from: IpAddr, account: &PlayerName) {
        for key in keys(from, account) {
            self.wrong.remove(&key);
        }
    }

    /// Forgets what is old, and if that is not enough, half of what matters least.
    fn make_room(&mut self, now: Millis) {
        if self.wrong.len() < REMEMBERED_MAX {
            return;
        }
        self.wrong.retain(|_, wrong| wrong.latest + FORGET_MS >= now);
        if self.wrong.len() < REMEMBERED_MAX {
            return;
        }
        let mut untils: Vec<(Millis, Millis)> =
            self.wrong.values().map(|wrong| (wrong.until(), wrong.latest)).collect();
        untils.sort_unstable();
        let middle = untils[untils.len() / 2];
        self.wrong.retain(|_, wrong| (wrong.until(), wrong.latest) > middle);
    }
}

/// One household has a whole network of IPv6 addresses: they count as one.
fn keys(from: IpAddr, account: &PlayerName) -> [Key; 2] {
    let from = match from {
        IpAddr::V4(_) => from,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    };
    [Key::Address(from), Key::Account(account.clone())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> PlayerName {
        PlayerName::new(text).unwrap()
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[test]
    fn five_are_free_then_waits_grow_up_to_a_bound() {
        let (mut throttle, ann, mut now) = (Throttle::default(), name("ann"), 1_000_000);
        for _ in 0..4 {
            throttle.wrong(address(1), &ann, now);
            assert_eq!(throttle.wait_ms(address(1), &ann, now), None);
        }
        let mut waits = Vec::new();
        for _ in 0..9 {
            throttle.wrong(address(1), &ann, now);
            let wait = throttle.wait_ms(address(1), &ann, now).unwrap();
            waits.push(wait / 1_000);
            now += wait;
            assert_eq!(throttle.wait_ms(address(1), &ann, now), None);
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(throttle.wait_ms(address(2), &name("bob"), now), None, "others do not wait");
        throttle.wrong(address(1), &ann, now);
        assert!(throttle.wait_ms(address(2), &ann, now).is_some(), "the account waits");
        assert!(throttle.wait_ms(address(1), &name("bob"), now).is_some(), "the address waits");
        throttle.right(address(1), &ann);
        assert_eq!(throttle.wait_ms(address(1), &ann, now), None);
    }

    #[test]
    fn memory_has_a_bound() {
        let mut throttle = Throttle::default();
        for number in 0..3 * REMEMBERED_MAX as u64 {
            throttle.wrong(address(1), &name(&format!("guess {number}")), number);
        }
        assert!(throttle.wrong.len() <= REMEMBERED_MAX + 1);
        let now = 3 * REMEMBERED_MAX as u64;
        assert!(throttle.wait_ms(address(1), &name("x"), now).is_some(), "what matters is kept");
    }
}
