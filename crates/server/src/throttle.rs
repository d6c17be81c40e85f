//! The limit on password guesses, and how long a guesser has to wait.
//!
//! A guess takes its place in the count before it is checked. So of any number of simultaneous
//! guesses, only as many are checked as if they came one after the other. Guesses are counted
//! twice:
//!
//! - for the account, from everywhere together. A player who logged in from an address before has a
//!   count of their own there, so strangers elsewhere cannot lock them out.
//! - for the address, over all accounts. A correct password frees only its own place.
//!
//! The number of counts is limited, whatever strangers send. `passwords.rs` decides when to ask.

use crate::address;
use agon_core::{Millis, PlayerName, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;

/// Free wrong passwords for one account.
const ACCOUNT_FREE: u32 = 5;
/// Free wrong passwords from one address: a class may share the address.
const ADDRESS_FREE: u32 = 20;
/// The first wait; it doubles with every further wrong password.
const WAIT_MS_MIN: Millis = 1_000;
/// The longest wait.
const WAIT_MS_MAX: Millis = 60_000;
/// After this time one wrong password is forgotten. Longer than any wait, so that waits still grow.
const FORGET_ONE_MS: Millis = 3 * 60_000;
/// The most counts that are kept.
const COUNTS_MAX: usize = 20_000;
/// The most places of logins that are kept, in total and for one address.
const PLACES_MAX: usize = 20_000;
const PLACES_PER_ADDRESS_MAX: usize = 1_000;

/// The subject of a count.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Key {
    /// All guesses from an address.
    Address(IpAddr),
    /// Guesses for an account from addresses where it never logged in.
    Account(PlayerName),
    /// Guesses for an account from an address where it logged in before.
    Known(PlayerName, IpAddr),
}

#[derive(Clone, Copy, Default, Debug)]
struct Count {
    wrong: u32,
    /// Guesses that hold a place and are not decided yet.
    pending: u32,
    latest: Timestamp,
    /// True if the count may be stored in a file. A name without an account may be a password in
    /// the wrong field, and is not written anywhere.
    is_kept: bool,
}

impl Count {
    /// How many wrong passwords still count.
    fn wrong_at(self, now: Timestamp) -> u32 {
        let forgotten = now.since(self.latest) / FORGET_ONE_MS;
        self.wrong.saturating_sub(forgotten.try_into().unwrap_or(u32::MAX))
    }

    /// When the next guess may be checked, if no other is pending.
    fn until(self, free: u32, now: Timestamp) -> Timestamp {
        match self.wrong_at(now).checked_sub(free) {
            None => Timestamp::default(),
            Some(more) => {
                let wait = WAIT_MS_MIN.saturating_mul(1 << more.min(16));
                self.latest.saturating_add(wait.min(WAIT_MS_MAX))
            }
        }
    }

    /// How long one more guess has to wait, if it has to. Pending guesses count as wrong.
    fn wait_ms(self, free: u32, now: Timestamp) -> Option<Millis> {
        if self.wrong_at(now).saturating_add(self.pending) < free {
            return None;
        }
        let wait = self.until(free, now).since(now);
        match self.pending {
            0 => (wait > 0).then_some(wait),
            _ => Some(wait.max(WAIT_MS_MIN)),
        }
    }
}

/// A guess that holds a place in the count of its account.
#[derive(Debug)]
pub(crate) struct CountedGuess {
    account: Key,
    address: Key,
    /// True if it also holds a place in the count of its address.
    started: bool,
}

/// The outcome of a guess.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GuessVerdict {
    Right,
    Wrong,
    /// It was not checked.
    Unchecked,
}

/// The recent guesses, and where accounts have logged in.
#[derive(Default, Debug)]
pub(crate) struct Throttle {
    counts: HashMap<Key, Count>,
    places: HashMap<IpAddr, HashMap<PlayerName, Timestamp>>,
    place_count: usize,
    changed: bool,
}

impl Throttle {
    /// Gives a guess a place in the count of its account; the error says how long it has to wait.
    pub(crate) fn admit(
        &mut self,
        from: IpAddr,
        account: &PlayerName,
        now: Timestamp,
    ) -> Result<CountedGuess, Millis> {
        let from = address::counted(from);
        let known = self.places.get(&from).is_some_and(|names| names.contains_key(account));
        let key = match known {
            true => Key::Known(account.clone(), from),
            false => Key::Account(account.clone()),
        };
        let address = Key::Address(from);
        // A player known at this address does not wait for the guesses of others there.
        let wait_of_address = self.counts.get(&address).filter(|_| !known).and_then(|count| {
            let wait = count.until(ADDRESS_FREE, now).since(now);
            (wait > 0).then_some(wait)
        });
        let wait_of_account =
            self.counts.get(&key).and_then(|count| count.wait_ms(ACCOUNT_FREE, now));
        if let Some(wait) = wait_of_account.into_iter().chain(wait_of_address).max() {
            return Err(wait);
        }
        self.make_room(now);
        let count = self.counts.entry(key.clone()).or_default();
        (count.pending, count.is_kept) = (count.pending + 1, true);
        Ok(CountedGuess { account: key, address, started: false })
    }

    /// Gives a guess a place in the count of its address too, just before it is checked.
    pub(crate) fn start(&mut self, place: &mut CountedGuess, now: Timestamp) -> Result<(), Millis> {
        let known = matches!(place.account, Key::Known(..));
        self.make_room(now);
        let count = self.counts.entry(place.address.clone()).or_default();
        match count.wait_ms(ADDRESS_FREE, now).filter(|_| !known) {
            Some(wait) => Err(wait),
            None => {
                (count.pending, count.is_kept) = (count.pending + 1, true);
                place.started = true;
                Ok(())
            }
        }
    }

    /// Records that a guess is for a name without an account.
    pub(crate) fn keep_secret(&mut self, place: &CountedGuess) {
        if let Some(count) = self.counts.get_mut(&place.account) {
            count.is_kept = false;
        }
    }

    /// Removes a guess from the counts, or counts it as wrong.
    pub(crate) fn settle(&mut self, place: CountedGuess, verdict: GuessVerdict, now: Timestamp) {
        let CountedGuess { account, address, started } = place;
        if verdict == GuessVerdict::Right
            && let (Key::Known(name, _) | Key::Account(name), Key::Address(from)) =
                (&account, &address)
        {
            self.note_login(*from, name.clone(), now);
        }
        for (key, holds, cleared) in
            [(account, true, verdict == GuessVerdict::Right), (address, started, false)]
        {
            let Some(count) = self.counts.get_mut(&key).filter(|_| holds) else { continue };
            count.pending = count.pending.saturating_sub(1);
            if verdict == GuessVerdict::Wrong {
                count.wrong = count.wrong_at(now).saturating_add(1);
                count.latest = now;
                self.changed = true;
            }
            if cleared && count.wrong > 0 {
                count.wrong = 0;
                self.changed = true;
            }
            if count.pending == 0 && count.wrong == 0 {
                self.counts.remove(&key);
            }
        }
    }

    /// Records that an account logged in from an address.
    pub(crate) fn note_login(&mut self, from: IpAddr, account: PlayerName, now: Timestamp) {
        let names = self.places.entry(address::counted(from)).or_default();
        let before = names.insert(account, now);
        self.changed |= before.is_none();
        self.place_count += usize::from(before.is_none());
        if names.len() <= PLACES_PER_ADDRESS_MAX && self.place_count <= PLACES_MAX {
            return;
        }
        if names.len() > PLACES_PER_ADDRESS_MAX {
            forget_half(names, |latest| *latest);
        } else {
            let latest = |names: &HashMap<_, _>| names.values().max().copied().unwrap_or_default();
            forget_half(&mut self.places, latest);
        }
        self.place_count = self.places.values().map(HashMap::len).sum();
    }

    /// Forgets counts that no longer matter, and if that is not enough, the half that matters
    /// least.
    fn make_room(&mut self, now: Timestamp) {
        if self.counts.len() < COUNTS_MAX {
            return;
        }
        self.counts.retain(|_, count| count.pending > 0 || count.wrong_at(now) > 0);
        if self.counts.len() < COUNTS_MAX {
            return;
        }
        let rank = |count: &Count| (count.until(ACCOUNT_FREE, now), count.latest);
        let mut ranks: Vec<_> = self.counts.values().map(rank).collect();
        ranks.sort_unstable();
        let middle = ranks[ranks.len() / 2];
        self.counts.retain(|_, count| count.pending > 0 || rank(count) > middle);
    }
}

/// Forgets the entries that are older than the median.
fn forget_half<K: Eq + Hash, V>(all: &mut HashMap<K, V>, latest: impl Fn(&V) -> Timestamp) {
    let mut times: Vec<Timestamp> = all.values().map(&latest).collect();
    times.sort_unstable();
    let middle = times[times.len() / 2];
    let mut left = all.len() / 2;
    all.retain(|_, value| {
        let old = latest(value) <= middle && left > 0;
        left -= usize::from(old);
        !old
    });
}

/// The counts as stored in a file. Pending guesses are not stored: their callers are gone after a
/// restart.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct Kept {
    version: u32,
    wrong: Vec<(Key, u32, Timestamp)>,
    places: Vec<(IpAddr, PlayerName, Timestamp)>,
}

/// The version of [`Kept`] that this server writes, and the only one it reads.
const KEPT_VERSION: u32 = 1;

impl Kept {
    /// How many counts and places there are.
    pub(crate) fn len(&self) -> usize {
        self.wrong.len() + self.places.len()
    }
}

impl Throttle {
    /// The counts to store, if they changed since the last call.
    pub(crate) fn keep(&mut self, now: Timestamp) -> Option<Kept> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        let kept = |count: &Count| count.is_kept && count.wrong_at(now) > 0;
        let wrong = self.counts.iter().filter(|(_, count)| kept(count));
        let wrong = wrong.map(|(key, count)| (key.clone(), count.wrong, count.latest)).collect();
        let places = self.places.iter().flat_map(|(from, names)| {
            names.iter().map(|(name, latest)| (*from, name.clone(), *latest))
        });
        Some(Kept { version: KEPT_VERSION, wrong, places: places.collect() })
    }

    /// Restores stored counts.
    pub(crate) fn restore(&mut self, kept: Kept) {
        if kept.version != KEPT_VERSION {
            return;
        }
        for (key, wrong, latest) in kept.wrong.into_iter().take(COUNTS_MAX) {
            self.counts.insert(key, Count { wrong, pending: 0, latest, is_kept: true });
        }
        for (from, name, latest) in kept.places.into_iter().take(PLACES_MAX) {
            self.places.entry(from).or_default().insert(name, latest);
        }
        self.place_count = self.places.values().map(HashMap::len).sum();
    }
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

    /// One guess from beginning to end; returns how long it has to wait, if it is not checked.
    fn guess(
        throttle: &mut Throttle,
        from: IpAddr,
        account: &PlayerName,
        verdict: GuessVerdict,
        now: Timestamp,
    ) -> Result<(), Millis> {
        let mut place = throttle.admit(from, account, now)?;
        let started = throttle.start(&mut place, now);
        let verdict = if started.is_ok() { verdict } else { GuessVerdict::Unchecked };
        throttle.settle(place, verdict, now);
        started
    }

    fn wrong(
        throttle: &mut Throttle,
        from: u8,
        account: &str,
        now: Timestamp,
    ) -> Result<(), Millis> {
        guess(throttle, address(from), &name(account), GuessVerdict::Wrong, now)
    }

    fn right(
        throttle: &mut Throttle,
        from: u8,
        account: &str,
        now: Timestamp,
    ) -> Result<(), Millis> {
        guess(throttle, address(from), &name(account), GuessVerdict::Right, now)
    }

    #[test]
    fn five_guesses_are_free_then_waits_grow_up_to_a_bound() {
        let (mut throttle, mut now) = (Throttle::default(), Timestamp::from_ms(1_000_000));
        for _ in 0..5 {
            wrong(&mut throttle, 1, "ann", now).unwrap();
        }
        let mut waits = Vec::new();
        for _ in 0..9 {
            let wait = wrong(&mut throttle, 1, "ann", now).unwrap_err();
            waits.push(wait / 1_000);
            now += wait;
            wrong(&mut throttle, 1, "ann", now).unwrap();
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert!(wrong(&mut throttle, 2, "ann", now).is_err(), "the account waits everywhere");
        wrong(&mut throttle, 2, "bob", now).unwrap();
        now += 60_000;
        right(&mut throttle, 1, "ann", now).unwrap();
        wrong(&mut throttle, 1, "ann", now).unwrap();
    }

    #[test]
    fn simultaneous_guesses_are_not_all_checked() {
        let mut throttle = Throttle::default();
        let ann = name("ann");
        let places: Vec<CountedGuess> = (0..300)
            .filter_map(|_| throttle.admit(address(1), &ann, Timestamp::from_ms(7)).ok())
            .collect();
        assert_eq!(places.len(), 5);
        // Of guesses for many accounts, too, only some are checked before the first is decided.
        let mut throttle = Throttle::default();
        let mut started = 0;
        for number in 0..300 {
            let mut place = throttle
                .admit(address(1), &name(&format!("p{number}")), Timestamp::from_ms(7))
                .unwrap();
            started += u32::from(throttle.start(&mut place, Timestamp::from_ms(7)).is_ok());
        }
        assert_eq!(started, ADDRESS_FREE);
    }

    #[test]
    fn unchecked_guesses_free_their_places() {
        let mut throttle = Throttle::default();
        for _ in 0..100 {
            let place = throttle.admit(address(1), &name("ann"), Timestamp::from_ms(7)).unwrap();
            throttle.settle(place, GuessVerdict::Unchecked, Timestamp::from_ms(7));
        }
        assert!(throttle.counts.is_empty());
    }

    #[test]
    fn a_correct_password_does_not_clear_the_count_of_its_address() {
        let (mut throttle, now) = (Throttle::default(), Timestamp::from_ms(1_000_000));
        for number in 0..ADDRESS_FREE {
            wrong(&mut throttle, 1, &format!("p{number}"), now).unwrap();
            if number < ADDRESS_FREE - 1 {
                right(&mut throttle, 1, "eve", now).unwrap();
            }
        }
        assert!(wrong(&mut throttle, 1, "bob", now).is_err());
        right(&mut throttle, 1, "eve", now).expect("a known player is still let in");
        assert!(wrong(&mut throttle, 1, "bob", now).is_err());
    }

    #[test]
    fn strangers_do_not_lock_a_player_out_where_they_logged_in_before() {
        let (mut throttle, now) = (Throttle::default(), Timestamp::from_ms(1_000_000));
        right(&mut throttle, 1, "ann", now).unwrap();
        while wrong(&mut throttle, 2, "ann", now).is_ok() {}
        right(&mut throttle, 1, "ann", now).unwrap();
        assert!(wrong(&mut throttle, 2, "ann", now).is_err(), "strangers still wait");
        assert!(right(&mut throttle, 3, "ann", now).is_err(), "so does a new place");
        for _ in 0..ACCOUNT_FREE {
            wrong(&mut throttle, 1, "ann", now).unwrap();
        }
        assert!(wrong(&mut throttle, 1, "ann", now).is_err(), "a known place has its own count");
    }

    #[test]
    fn wrong_passwords_are_forgotten_one_after_the_other() {
        let (mut throttle, now) = (Throttle::default(), Timestamp::from_ms(1_000_000));
        for _ in 0..ACCOUNT_FREE {
            wrong(&mut throttle, 1, "ann", now).unwrap();
        }
        let later = now + 2 * FORGET_ONE_MS;
        wrong(&mut throttle, 1, "ann", later).unwrap();
        wrong(&mut throttle, 1, "ann", later).unwrap();
        assert!(wrong(&mut throttle, 1, "ann", later).is_err());
    }

    #[test]
    fn counts_survive_storing_and_restoring() {
        let (mut throttle, now) = (Throttle::default(), Timestamp::from_ms(1_000_000));
        right(&mut throttle, 1, "ann", now).unwrap();
        while wrong(&mut throttle, 2, "ann", now).is_ok() {}
        let text = serde_json::to_string(&throttle.keep(now).unwrap()).unwrap();
        assert!(throttle.keep(now).is_none(), "nothing has changed since");
        let mut again = Throttle::default();
        again.restore(serde_json::from_str(&text).unwrap());
        assert!(wrong(&mut again, 2, "ann", now).is_err());
        right(&mut again, 1, "ann", now).unwrap();
    }

    #[test]
    fn number_of_counts_is_limited() {
        let mut throttle = Throttle::default();
        let count = 3 * COUNTS_MAX as u64;
        for number in 0..count {
            let from = IpAddr::from((number as u32).to_be_bytes());
            let account = name(&format!("guess {number}"));
            guess(&mut throttle, from, &account, GuessVerdict::Wrong, Timestamp::from_ms(number))
                .unwrap();
            guess(&mut throttle, from, &account, GuessVerdict::Right, Timestamp::from_ms(number))
                .unwrap();
        }
        assert!(throttle.counts.len() <= COUNTS_MAX + 1);
        assert!(throttle.places.values().map(HashMap::len).sum::<usize>() <= PLACES_MAX);
        for _ in 0..ACCOUNT_FREE {
            wrong(&mut throttle, 1, "ann", Timestamp::from_ms(count)).unwrap();
        }
        for number in 0..count {
            let from = IpAddr::from((number as u32).to_be_bytes());
            guess(
                &mut throttle,
                from,
                &name(&format!("x {number}")),
                GuessVerdict::Wrong,
                Timestamp::from_ms(count),
            )
            .unwrap();
        }
        assert!(
            wrong(&mut throttle, 1, "ann", Timestamp::from_ms(count)).is_err(),
            "what matters is kept"
        );
    }
}
