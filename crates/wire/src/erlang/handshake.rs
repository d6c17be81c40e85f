//! The distribution handshake: names, flags, and a proof by both sides that they know the cookie.
//!
//! Players' nodes connect to Agon, which is the [`Acceptor`]. After a restart Agon connects to the
//! nodes of players who were logged in, and is the [`Initiator`].

use super::frames::{Header, frame};
use super::term::Atom;
use md5::{Digest, Md5};
use std::fmt;

/// The longest message of a handshake.
pub const FRAME_MAX: usize = 1_024;

/// Capability flags of nodes.
pub mod flags {
    /// Wide references.
    pub const EXTENDED_REFERENCES: u64 = 0x4;
    /// Monitors on processes.
    pub const DIST_MONITOR: u64 = 0x8;
    /// Funs.
    pub const FUN_TAGS: u64 = 0x10;
    /// Monitors on registered names.
    pub const DIST_MONITOR_NAME: u64 = 0x20;
    /// Funs, newer.
    pub const NEW_FUN_TAGS: u64 = 0x80;
    /// Wide pids and ports.
    pub const EXTENDED_PIDS_PORTS: u64 = 0x100;
    /// External funs.
    pub const EXPORT_PTR_TAG: u64 = 0x200;
    /// Bit strings.
    pub const BIT_BINARIES: u64 = 0x400;
    /// Floats as eight bytes.
    pub const NEW_FLOATS: u64 = 0x800;
    /// Atoms in UTF-8.
    pub const UTF8_ATOMS: u64 = 0x1_0000;
    /// Maps.
    pub const MAP_TAG: u64 = 0x2_0000;
    /// Creations of 32 bits.
    pub const BIG_CREATION: u64 = 0x4_0000;
    /// The handshake of OTP 23.
    pub const HANDSHAKE_23: u64 = 0x100_0000;
    /// Unlink requests have an id.
    pub const UNLINK_ID: u64 = 0x200_0000;
    /// All flags that OTP 25 requires.
    pub const MANDATORY_25: u64 = 1 << 36;
    /// Pids and ports of 64 bits.
    pub const V4_NC: u64 = 1 << 34;

    /// Flags that a peer must offer, because it could not read our messages without them.
    pub const DEMANDED: u64 = EXTENDED_REFERENCES
        | EXTENDED_PIDS_PORTS
        | NEW_FLOATS
        | UTF8_ATOMS
        | BIG_CREATION
        | HANDSHAKE_23;

    /// Flags that Agon offers. The flag for published nodes is not among them: Agon stays hidden.
    pub const OFFERED: u64 = DEMANDED
        | DIST_MONITOR
        | FUN_TAGS
        | DIST_MONITOR_NAME
        | NEW_FUN_TAGS
        | EXPORT_PTR_TAG
        | BIT_BINARIES
        | MAP_TAG
        | UNLINK_ID
        | MANDATORY_25
        | V4_NC;

    /// The flags that [`MANDATORY_25`] implies; nodes that set it may leave these out.
    pub const IN_MANDATORY_25: u64 = EXTENDED_REFERENCES
        | FUN_TAGS
        | EXTENDED_PIDS_PORTS
        | UTF8_ATOMS
        | NEW_FUN_TAGS
        | BIG_CREATION
        | NEW_FLOATS
        | MAP_TAG
        | EXPORT_PTR_TAG
        | BIT_BINARIES
        | HANDSHAKE_23;
}

/// The node at the other end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Peer {
    /// Its name, with the host.
    pub node: Atom,
    /// Its capability flags.
    pub flags: u64,
    /// Identifies the run of the node.
    pub creation: u32,
}

/// Why a handshake fails.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotLetIn {
    /// A message that is not the next one of a handshake.
    #[error("not the next message of a handshake")]
    Malformed,
    /// A node from before OTP 23, or one that cannot read our messages.
    #[error("{node:?} lacks flags {missing:#x}; OTP 23 or later is needed")]
    TooOld {
        /// The node.
        node: Atom,
        /// The flags it lacks.
        missing: u64,
    },
    /// The node refuses the connection, or is about to connect by itself.
    #[error("{node:?} answered {status:?}")]
    Refused {
        /// The node.
        node: Atom,
        /// The status it sent.
        status: String,
    },
    /// Another node answered than the expected one.
    #[error("{node:?} is there instead")]
    Other {
        /// The node.
        node: Atom,
    },
    /// The cookies differ. The peer only sees that the connection closes.
    #[error(
        "{node:?} has another cookie; start it with -setcookie and the cookie of this server, \
         or put that into its ~/.erlang.cookie"
    )]
    WrongCookie {
        /// The node.
        node: Atom,
    },
}

/// The next step of the accepting side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HandshakeStep {
    /// Send this and wait for the next message.
    Send(Vec<u8>),
    /// Send this; the handshake is complete. Later frames have lengths of four bytes.
    Done {
        /// The last message.
        send: Vec<u8>,
        /// The peer.
        peer: Peer,
    },
}

/// A cookie. `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Cookie(pub String);

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// The accepting side of one handshake.
#[derive(Clone, Debug)]
pub struct Acceptor {
    node: Atom,
    creation: u32,
    cookie: Cookie,
    challenge: u32,
    peer: Option<Peer>,
}

impl Acceptor {
    /// Starts a handshake of `node` in the run `creation`. `challenge` must be random: an attacker
    /// who could predict it could replay a recorded answer.
    pub fn new(node: Atom, creation: u32, cookie: Cookie, challenge: u32) -> Acceptor {
        Acceptor { node, creation, cookie, challenge, peer: None }
    }

    /// Processes the next message of the peer, without its length.
    pub fn message(&mut self, bytes: &[u8]) -> Result<HandshakeStep, NotLetIn> {
        match self.peer.take() {
            None => {
                self.peer = Some(name(bytes)?);
                Ok(HandshakeStep::Send(self.challenge()))
            }
            Some(peer) => {
                let reply = bytes.strip_prefix(b"r").ok_or(NotLetIn::Malformed)?;
                let (theirs, proof) = reply.split_first_chunk().ok_or(NotLetIn::Malformed)?;
                if proof.len() != 16 {
                    return Err(NotLetIn::Malformed);
                }
                if !equal(proof, &digest(&self.cookie, self.challenge)) {
                    return Err(NotLetIn::WrongCookie { node: peer.node });
                }
                let proof = digest(&self.cookie, u32::from_be_bytes(*theirs));
                let send = frame(Header::Two, |out| {
                    out.push(b'a');
                    out.extend(proof);
                });
                Ok(HandshakeStep::Done { send, peer })
            }
        }
    }

    /// The status `ok`, then the challenge.
    fn challenge(&self) -> Vec<u8> {
        let mut send = frame(Header::Two, |out| out.extend_from_slice(b"sok"));
        send.extend(frame(Header::Two, |out| {
            out.push(b'N');
            out.extend(flags::OFFERED.to_be_bytes());
            out.extend(self.challenge.to_be_bytes());
            out.extend(self.creation.to_be_bytes());
            write_name(out, &self.node);
        }));
        send
    }
}

/// The next step of the connecting side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// Send this, if it is not empty, and wait for the next message.
    Send(Vec<u8>),
    /// The nodes are connected. Later frames have lengths of four bytes.
    Done(Peer),
}

/// The connecting side of one handshake.
#[derive(Clone, Debug)]
pub struct Initiator {
    node: Atom,
    creation: u32,
    cookie: Cookie,
    challenge: u32,
    /// The expected node.
    wanted: Atom,
    stage: Stage,
}

#[derive(Clone, PartialEq, Debug)]
enum Stage {
    /// The peer says whether it accepts the connection.
    Status,
    Challenge,
    /// The peer's proof.
    Proof(Peer),
}

impl Initiator {
    /// Starts a handshake of `node` in the run `creation` with the node `wanted`. `challenge` must
    /// be random.
    pub fn new(
        node: Atom,
        creation: u32,
        cookie: Cookie,
        challenge: u32,
        wanted: Atom,
    ) -> Initiator {
        Initiator { node, creation, cookie, challenge, wanted, stage: Stage::Status }
    }

    /// The first message.
    pub fn name(&self) -> Vec<u8> {
        frame(Header::Two, |out| {
            out.push(b'N');
            out.extend(flags::OFFERED.to_be_bytes());
            out.extend(self.creation.to_be_bytes());
            write_name(out, &self.node);
        })
    }

    /// Processes the next message of the peer, without its length.
    pub fn message(&mut self, bytes: &[u8]) -> Result<Next, NotLetIn> {
        match &self.stage {
            Stage::Status => {
                let status = bytes.strip_prefix(b"s").ok_or(NotLetIn::Malformed)?;
                self.stage = Stage::Challenge;
                match status {
                    b"ok" | b"ok_simultaneous" => Ok(Next::Send(Vec::new())),
                    // The peer has not noticed that the previous connection closed; this one
                    // replaces it.
                    b"alive" => {
                        Ok(Next::Send(frame(Header::Two, |out| out.extend_from_slice(b"strue"))))
                    }
                    other => {
                        let status = String::from_utf8_lossy(&other[..other.len().min(40)]).into();
                        Err(NotLetIn::Refused { node: self.wanted.clone(), status })
                    }
                }
            }
            Stage::Challenge => {
                let (theirs, peer) = challenge(bytes)?;
                if peer.node != self.wanted {
                    return Err(NotLetIn::Other { node: peer.node });
                }
                let proof = digest(&self.cookie, theirs);
                let reply = frame(Header::Two, |out| {
                    out.push(b'r');
                    out.extend(self.challenge.to_be_bytes());
                    out.extend(proof);
                });
                self.stage = Stage::Proof(peer);
                Ok(Next::Send(reply))
            }
            Stage::Proof(peer) => {
                let proof = bytes.strip_prefix(b"a").ok_or(NotLetIn::Malformed)?;
                match equal(proof, &digest(&self.cookie, self.challenge)) {
                    true => Ok(Next::Done(peer.clone())),
                    false => Err(NotLetIn::WrongCookie { node: peer.node.clone() }),
                }
            }
        }
    }
}

/// Decodes the challenge of the accepting node, with its name and flags.
fn challenge(bytes: &[u8]) -> Result<(u32, Peer), NotLetIn> {
    let rest = bytes.strip_prefix(b"N").ok_or(NotLetIn::Malformed)?;
    let (flags, rest) = rest.split_first_chunk::<8>().ok_or(NotLetIn::Malformed)?;
    let (theirs, rest) = rest.split_first_chunk::<4>().ok_or(NotLetIn::Malformed)?;
    // Apart from the challenge, the fields are those of a connecting node's name message.
    let mut own = vec![b'N'];
    own.extend(flags);
    own.extend(rest);
    Ok((u32::from_be_bytes(*theirs), name(&own)?))
}

fn write_name(out: &mut Vec<u8>, node: &Atom) {
    let name = node.as_str().as_bytes();
    out.extend((name.len() as u16).to_be_bytes());
    out.extend_from_slice(name);
}

/// Computes the proof of knowing a cookie.
pub fn digest(cookie: &Cookie, challenge: u32) -> [u8; 16] {
    Md5::new().chain_update(&cookie.0).chain_update(challenge.to_string()).finalize().into()
}

/// Compares in constant time, so that timing does not reveal where two proofs differ.
fn equal(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |diff, (one, other)| diff | (one ^ other)) == 0
}

/// Decodes the first message: the peer's name and flags.
fn name(bytes: &[u8]) -> Result<Peer, NotLetIn> {
    let (tag, rest) = bytes.split_first().ok_or(NotLetIn::Malformed)?;
    let (flags, creation, name) = match tag {
        b'N' => {
            let (flags, rest) = rest.split_first_chunk().ok_or(NotLetIn::Malformed)?;
            let (creation, rest) = rest.split_first_chunk().ok_or(NotLetIn::Malformed)?;
            let (length, name) = rest.split_first_chunk().ok_or(NotLetIn::Malformed)?;
            // Later versions add fields after the name.
            let length = usize::from(u16::from_be_bytes(*length));
            let name = name.get(..length).ok_or(NotLetIn::Malformed)?;
            (u64::from_be_bytes(*flags), u32::from_be_bytes(*creation), name)
        }
        // Nodes before OTP 23 start with this, and so do newer ones that do not know the peer's
        // version.
        b'n' => {
            let (version_and_flags, name) =
                rest.split_first_chunk::<6>().ok_or(NotLetIn::Malformed)?;
            let flags =
                version_and_flags[2..].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
            (flags, 0, name)
        }
        _ => return Err(NotLetIn::Malformed),
    };
    let name = std::str::from_utf8(name).map_err(|_| NotLetIn::Malformed)?;
    let node = Atom::new(name).filter(|_| is_node(name)).ok_or(NotLetIn::Malformed)?;
    let known = match flags & flags::MANDATORY_25 {
        0 => flags,
        _ => flags | flags::IN_MANDATORY_25,
    };
    match flags::DEMANDED & !known {
        0 if *tag == b'N' => Ok(Peer { node, flags: known, creation }),
        missing => Err(NotLetIn::TooOld { node, missing }),
    }
}

/// Returns whether this is `name@host`, with both parts present and printable.
fn is_node(name: &str) -> bool {
    let parts = name.split_once('@');
    let full = parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
    full && !name.chars().any(char::is_control)
}
