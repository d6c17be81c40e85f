//! References that Agon makes: unique in a run of the node, and distinguished by their last word.
//!
//! A tournament or game has the same reference for every player, also after a restart of the server
//! that keeps the run of its node. Tickets and requests belong to one player; two of their words
//! are random, so that nobody can answer for another player.

use super::term::{Atom, Pid, Ref};
use agon_core::TournamentId;
use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

/// How many tournaments can be asked about; beyond that, the oldest is removed.
const TOURNAMENTS_MAX: usize = 20_000;

/// The first word of a reference has at most 18 bits.
const FIRST_WORD_MAX: u32 = (1 << 18) - 1;

/// A bit in the last word of references to tournaments and games. Random ones do not have it.
const PUBLIC: u32 = 1 << 31;

/// The random part of the references of one session.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key(u32, u32);

impl Key {
    /// A key of random bits.
    pub fn new(random: [u8; 8]) -> Key {
        let [one, two] = [&random[..4], &random[4..]]
            .map(|half| u32::from_be_bytes([half[0], half[1], half[2], half[3]]));
        Key(one, two & !PUBLIC)
    }

    /// The key as numbers, for the log.
    pub(crate) fn words(self) -> (u32, u32) {
        (self.0, self.1)
    }

    /// The key with these stored numbers.
    pub(crate) fn of_words((one, two): (u32, u32)) -> Key {
        Key(one, two & !PUBLIC)
    }
}

/// The node's own name, run and references.
#[derive(Debug)]
pub struct Refs {
    node: Atom,
    creation: u32,
    tournaments: Mutex<Tournaments>,
}

#[derive(Debug, Default)]
struct Tournaments {
    numbers: HashMap<TournamentId, u32>,
    ids: HashMap<u32, TournamentId>,
    order: VecDeque<u32>,
}

impl Refs {
    /// References of a run of a node.
    pub fn new(node: Atom, creation: u32) -> Refs {
        Refs { node, creation, tournaments: Mutex::default() }
    }

    /// The node's name.
    pub fn node(&self) -> &Atom {
        &self.node
    }

    /// A process of Agon, by number.
    pub fn pid(&self, id: u32) -> Pid {
        Pid { node: self.node.clone(), id, serial: 0, creation: self.creation }
    }

    /// Returns whether a process is, or could be, one of Agon's in this run.
    pub fn is_own(&self, pid: &Pid) -> bool {
        pid.node == self.node && pid.creation == self.creation
    }

    /// The reference of a tournament.
    pub fn tournament(&self, id: &TournamentId) -> Ref {
        let mut known = self.tournaments.lock().unwrap_or_else(|broken| broken.into_inner());
        if let Some(number) = known.numbers.get(id) {
            return self.make([0, *number, PUBLIC]);
        }
        if known.order.len() == TOURNAMENTS_MAX
            && let Some(oldest) = known.order.pop_front()
            && let Some(id) = known.ids.remove(&oldest)
        {
            known.numbers.remove(&id);
        }
        let mut number = hash(id.as_str());
        while known.ids.contains_key(&number) {
            number = number.wrapping_add(1);
        }
        known.numbers.insert(id.clone(), number);
        known.ids.insert(number, id.clone());
        known.order.push_back(number);
        self.make([0, number, PUBLIC])
    }

    /// The reference of a game of a match of a tournament.
    pub fn game(&self, tournament: &Ref, round: u32, number: u32, game: u32) -> Ref {
        let of_match = PUBLIC | (round & 0xff) << 20 | (number & 0xf_ffff);
        self.make([game & FIRST_WORD_MAX, tournament.words[1], of_match])
    }

    /// The tournament that a reference of this run identifies.
    pub fn tournament_of(&self, reference: &Ref) -> Option<TournamentId> {
        match self.words(reference)? {
            [0, number, PUBLIC] => {
                let known = self.tournaments.lock().unwrap_or_else(|broken| broken.into_inner());
                known.ids.get(&number).cloned()
            }
            _ => None,
        }
    }

    /// A reference of one session: 0 is its ticket, others are requests and monitors.
    pub fn own(&self, key: Key, number: u32) -> Ref {
        self.make([number & FIRST_WORD_MAX, key.0, key.1])
    }

    /// The session of a reference, if it can be one.
    pub fn key_of(&self, reference: &Ref) -> Option<Key> {
        let [_, one, two] = self.words(reference)?;
        (two & PUBLIC == 0).then_some(Key(one, two))
    }

    fn make(&self, words: [u32; 3]) -> Ref {
        Ref { node: self.node.clone(), creation: self.creation, words: words.into() }
    }

    /// The words of a reference that was made in this run.
    fn words(&self, reference: &Ref) -> Option<[u32; 3]> {
        let own = reference.node == self.node && reference.creation == self.creation;
        <[u32; 3]>::try_from(&reference.words[..]).ok().filter(|_| own)
    }
}

/// A number for a tournament that is stable across restarts: FNV-1a.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refs(creation: u32) -> Refs {
        Refs::new(Atom::new("agon@localhost").unwrap(), creation)
    }

    #[test]
    fn references_are_recognised_only_in_their_own_run() {
        let (refs, other) = (refs(7), refs(8));
        let (cup, fish) = (TournamentId::from("cup"), TournamentId::from("fish"));
        let made = refs.tournament(&cup);
        assert_eq!((refs.tournament(&cup), refs.tournament_of(&made)), (made.clone(), Some(cup)));
        assert_ne!(refs.tournament(&fish), made);
        assert_eq!(other.tournament_of(&made), None);
        let again = Refs::new(Atom::new("agon@localhost").unwrap(), 7);
        assert_eq!(again.tournament(&fish), refs.tournament(&fish), "whatever came before it");
        assert_eq!(again.tournament(&TournamentId::from("cup")), made);
        let game = refs.game(&made, 1, 2, 3);
        assert_eq!((refs.tournament_of(&game), refs.key_of(&game)), (None, None));
        assert_ne!(refs.game(&made, 2, 1, 3), game);
        let key = Key::new([0xff; 8]);
        let ticket = refs.own(key, 0);
        assert_eq!((refs.key_of(&ticket), refs.tournament_of(&ticket)), (Some(key), None));
        assert_eq!(other.key_of(&ticket), None);
        assert_eq!(refs.key_of(&made), None);
    }

    #[test]
    fn the_oldest_tournaments_are_forgotten() {
        let refs = refs(7);
        let id = |number: usize| TournamentId::from(format!("t{number}"));
        let first = refs.tournament(&id(0));
        (1..TOURNAMENTS_MAX).for_each(|number| drop(refs.tournament(&id(number))));
        assert_eq!(refs.tournament_of(&first), Some(id(0)));
        let last = refs.tournament(&id(TOURNAMENTS_MAX));
        assert_eq!(refs.tournament_of(&first), None);
        assert_eq!(refs.tournament_of(&last), Some(id(TOURNAMENTS_MAX)));
    }
}
