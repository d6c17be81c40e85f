//! The location of an Erlang process, as the log stores it: all that a restarted server needs to
//! reach the process again, and to speak its vocabulary.

use super::Password;
use super::class::Variant;
use super::refs::Key;
use super::session::{ErlangLogin, Speaks};
use super::term::{Atom, Pid, Ref, Term, Words};
use agon_core::{PlayerName, Raw, TournamentId};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// How many playing processes are kept for one player; beyond that, the oldest is removed.
const PLAYS_MAX: usize = 16;

/// A process of a player, and its vocabulary.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Location {
    /// The name of this server's node.
    own_node: String,
    /// The run of this server's node whose references the player holds.
    pub own_creation: u32,
    /// The process that logged in.
    process: Process,
    /// The address that its node connected from.
    pub from: IpAddr,
    /// The port its node listens on, if EPMD knew it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The key of its session's references, so that its ticket stays valid.
    key: (u32, u32),
    speaks: Vocabulary,
    /// True if its login spelt the name as an atom.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    name_is_atom: bool,
    /// Other processes that play for the player, by tournament.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    plays: Vec<(TournamentId, Process)>,
}

/// A process on a node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Process {
    node: String,
    id: u32,
    serial: u32,
    creation: u32,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Vocabulary {
    Class,
    ClassTupled,
    ClassNoUser,
    Referee { login: Reference },
    Queue,
}

/// A reference that another node made.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Reference {
    node: String,
    creation: u32,
    words: Vec<u32>,
}

/// The process that requested a tournament, and what it needs as an answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Requester {
    process: Process,
    /// The address that its node connected from.
    pub from: IpAddr,
    /// The port its node listens on, if EPMD knew it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The reference of the request, in the referee protocol, which answers at the end. The class
    /// protocol has none, and reports the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<Reference>,
}

impl Location {
    /// The location of a session's process. `own` is any process of this server's node.
    pub fn new(own: &Pid, login: &ErlangLogin, key: Key, from: IpAddr) -> Location {
        let ErlangLogin { pid, spelt, speaks, .. } = login;
        Location {
            own_node: own.node.as_str().to_owned(),
            own_creation: own.creation,
            process: Process::of(pid),
            from,
            port: None,
            key: key.words(),
            speaks: match speaks {
                Speaks::Class(Variant::Plain) => Vocabulary::Class,
                Speaks::Class(Variant::Tupled) => Vocabulary::ClassTupled,
                Speaks::Class(Variant::NoUser) => Vocabulary::ClassNoUser,
                Speaks::Referee { login } => Vocabulary::Referee { login: Reference::of(login) },
                Speaks::Queue { .. } => Vocabulary::Queue,
            },
            name_is_atom: spelt.as_atom().is_some(),
            plays: Vec::new(),
        }
    }

    /// Reads the stored form; `None` if another protocol wrote it.
    pub fn read(kept: &Raw) -> Option<Location> {
        serde_json::from_str(kept.get()).ok()
    }

    /// The stored form.
    pub fn write(&self) -> Raw {
        Raw(agon_games::json(self))
    }

    /// Returns whether this server's node had that name.
    pub fn is_of(&self, own_node: &Atom) -> bool {
        self.own_node == own_node.as_str()
    }

    /// The process that logged in; `None` if the log was tampered with.
    pub fn pid(&self) -> Option<Pid> {
        self.process.pid()
    }

    /// The key of its session's references.
    pub fn key(&self) -> Key {
        Key::of_words(self.key)
    }

    /// Its vocabulary. The password of the queue protocol is not stored: the player must prove it
    /// again.
    pub fn speaks(&self) -> Option<Speaks> {
        Some(match &self.speaks {
            Vocabulary::Class => Speaks::Class(Variant::Plain),
            Vocabulary::ClassTupled => Speaks::Class(Variant::Tupled),
            Vocabulary::ClassNoUser => Speaks::Class(Variant::NoUser),
            Vocabulary::Referee { login } => Speaks::Referee { login: login.reference()? },
            Vocabulary::Queue => Speaks::Queue { password: Password(String::new()) },
        })
    }

    /// The player's name as the process spelt it.
    pub fn spell(&self, user: &PlayerName) -> Term {
        let atom = Atom::new(user.as_str()).filter(|_| self.name_is_atom);
        atom.map_or_else(|| Term::string(user.as_str()), Term::Atom)
    }

    /// The process that plays in a tournament.
    pub fn plays_in(&self, tournament: &TournamentId) -> Option<Pid> {
        let other = self.plays.iter().rev().find(|(id, _)| id == tournament);
        other.map_or_else(|| self.pid(), |(_, process)| process.pid())
    }

    /// Stores other processes that play.
    pub fn set_plays<'a>(&mut self, plays: impl Iterator<Item = (&'a TournamentId, &'a Pid)>) {
        self.plays = plays.map(|(id, pid)| (id.clone(), Process::of(pid))).collect();
        let surplus = self.plays.len().saturating_sub(PLAYS_MAX);
        self.plays.drain(..surplus);
    }
}

impl Requester {
    /// The requesting process; with `reference` in the referee protocol.
    pub fn new(pid: &Pid, reference: Option<&Ref>, from: IpAddr) -> Requester {
        let (process, reference) = (Process::of(pid), reference.map(Reference::of));
        Requester { process, from, port: None, reference }
    }

    /// Reads the stored form; `None` if another protocol wrote it.
    pub fn read(kept: &Raw) -> Option<Requester> {
        serde_json::from_str(kept.get()).ok()
    }

    /// The stored form.
    pub fn write(&self) -> Raw {
        Raw(agon_games::json(self))
    }

    /// The process that gets the answer.
    pub fn pid(&self) -> Option<Pid> {
        self.process.pid()
    }

    /// The reference of the request, in the referee protocol.
    pub fn reference(&self) -> Option<Ref> {
        self.reference.as_ref().and_then(Reference::reference)
    }
}

impl Process {
    fn of(pid: &Pid) -> Process {
        let node = pid.node.as_str().to_owned();
        Process { node, id: pid.id, serial: pid.serial, creation: pid.creation }
    }

    fn pid(&self) -> Option<Pid> {
        let node = Atom::new(&self.node)?;
        Some(Pid { node, id: self.id, serial: self.serial, creation: self.creation })
    }
}

impl Reference {
    fn of(reference: &Ref) -> Reference {
        let node = reference.node.as_str().to_owned();
        Reference { node, creation: reference.creation, words: reference.words.to_vec() }
    }

    fn reference(&self) -> Option<Ref> {
        let (node, words) = (Atom::new(&self.node)?, Words::new(&self.words)?);
        Some(Ref { node, creation: self.creation, words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn location_survives_a_round_trip() {
        let atom = |text: &str| Atom::new(text).unwrap();
        let own = Pid { node: atom("agon@localhost"), id: 1, serial: 0, creation: 77 };
        let pid = |id| Pid { node: atom("eve@box"), id, serial: 3, creation: 5 };
        let login =
            Ref { node: atom("eve@box"), creation: 5, words: Words::new(&[1, 2, 3]).unwrap() };
        let from = IpAddr::from([127, 0, 0, 1]);
        let key = Key::new([7; 8]);
        let user = PlayerName::new("eve").unwrap();
        let login_as = |speaks: &Speaks, spelt: Term| ErlangLogin {
            pid: pid(9),
            user: user.clone(),
            spelt,
            password: Password("swordfish".into()),
            speaks: speaks.clone(),
        };
        let string = Term::string("eve");
        for speaks in [
            Speaks::Class(Variant::Plain),
            Speaks::Class(Variant::Tupled),
            Speaks::Class(Variant::NoUser),
            Speaks::Referee { login },
            Speaks::Queue { password: Password(String::new()) },
        ] {
            let mut location = Location::new(&own, &login_as(&speaks, string.clone()), key, from);
            let cups: Vec<TournamentId> =
                (0..20).map(|number| TournamentId::from(format!("cup-{number}"))).collect();
            let other = pid(10);
            location.set_plays(cups.iter().map(|cup| (cup, &other)));
            location.port = Some(4_321);
            let read = Location::read(&location.write()).unwrap();
            assert_eq!((&read, read.pid(), read.key()), (&location, Some(pid(9)), key));
            assert_eq!(read.speaks(), Some(speaks));
            assert!(read.is_of(&own.node) && !read.is_of(&atom("other@localhost")));
            assert_eq!(read.plays_in(&cups[19]), Some(pid(10)));
            assert_eq!(read.plays_in(&cups[0]), Some(pid(9)), "only the latest are kept");
        }
        let password = Speaks::Queue { password: Password("swordfish".into()) };
        for spelt in [string, Term::atom("eve")] {
            let login = login_as(&password, spelt.clone());
            let kept = Location::new(&own, &login, key, from).write();
            assert!(!kept.get().contains("swordfish"));
            assert_eq!(Location::read(&kept).unwrap().spell(&user), spelt);
        }
    }

    #[test]
    fn requester_survives_a_round_trip() {
        let node = Atom::new("eve@box").unwrap();
        let pid = Pid { node: node.clone(), id: 1, serial: 2, creation: 3 };
        let reference = Ref { node, creation: 3, words: Words::new(&[4, 5]).unwrap() };
        let from = IpAddr::from([10, 0, 0, 1]);
        for reference in [None, Some(&reference)] {
            let kept = Requester::new(&pid, reference, from).write();
            let read = Requester::read(&kept).unwrap();
            assert_eq!((read.pid(), read.reference().as_ref()), (Some(pid.clone()), reference));
        }
        assert_eq!(Requester::read(&Raw::parse("7").unwrap()), None);
    }
}
