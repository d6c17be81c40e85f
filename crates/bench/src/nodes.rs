//! Players over the Erlang protocol: nodes as OTP makes them, with a few players each, that speak
//! the class protocol.

use super::load::{Load, Responder, drive};
use super::players::State;
use super::wire::{Inbox, Wire};
use agon_wire::erlang::control::{self, Control, Process};
use agon_wire::erlang::decode::TermLimits;
use agon_wire::erlang::frames::{Header, frame};
use agon_wire::erlang::handshake::{Cookie, digest, flags};
use agon_wire::erlang::term::{Atom, Pid, Term};
use anyhow::{Context, Result, bail};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The cookie of the benchmarked server.
pub(super) const COOKIE: &str = "bench";

/// Players of one node.
pub(super) const PLAYERS_EACH: usize = 10;

/// Connects a node with some of the players, and plays until the connection closes.
pub(super) async fn visit(state: &State, load: &Load, players: Range<usize>) -> Result<()> {
    let name = format!("bench{}@localhost", players.start);
    let node = Atom::new(name).context("a short name")?;
    let mut stream = TcpStream::connect(state.place).await.context("failed to connect")?;
    stream.set_nodelay(true)?;
    shake_hands(&mut stream, &node).await?;
    let mut out = Vec::new();
    for player in players.clone() {
        let user = Term::string(&format!("e{player:05}"));
        let both = Term::tuple([user.clone(), Term::string("bench")]);
        let me = pid(&node, player).into();
        let login = Term::tuple([Term::atom("login"), me, user, both]);
        let to = Process::Name(Atom::new("yahtzee_manager").context("a short name")?);
        send(&mut out, Some(pid(&node, player)), to, login);
    }
    stream.write_all(&out).await?;
    let mut responder =
        Players { state, load, node, own: Vec::new(), answered: Vec::new(), here: 0 };
    let over = drive(&mut stream, &mut Inbox::new(), Wire::Terms, load, &mut responder).await;
    state.here.set(state.here.get() - responder.here);
    state.lost.set(state.lost.get() + 1);
    over
}

fn pid(node: &Atom, player: usize) -> Pid {
    Pid { node: node.clone(), id: player as u32 + 1, serial: 0, creation: 1 }
}

fn send(out: &mut Vec<u8>, from: Option<Pid>, to: Process, message: Term) {
    out.extend(control::encode(&Control::Send { from, to, message }).unwrap_or_default());
}

/// Performs the connecting side of a handshake.
async fn shake_hands(stream: &mut TcpStream, node: &Atom) -> Result<()> {
    let name = frame(Header::Two, |out| {
        out.push(b'N');
        out.extend(flags::OFFERED.to_be_bytes());
        out.extend(1_u32.to_be_bytes());
        out.extend((node.as_str().len() as u16).to_be_bytes());
        out.extend_from_slice(node.as_str().as_bytes());
    });
    stream.write_all(&name).await?;
    if read_frame(stream).await? != b"sok" {
        bail!("the server lets no node in");
    }
    let challenge = read_frame(stream).await?;
    let challenge = challenge.get(9..13).and_then(|four| four.try_into().ok());
    let challenge = u32::from_be_bytes(challenge.context("a challenge")?);
    let proof = digest(&Cookie(COOKIE.into()), challenge);
    let reply = frame(Header::Two, |out| {
        out.extend_from_slice(&[b'r', 0, 0, 0, 1]);
        out.extend(proof);
    });
    stream.write_all(&reply).await?;
    read_frame(stream).await?;
    Ok(())
}

async fn read_frame(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let length = stream.read_u16().await.context("the server ended a handshake")?;
    let mut bytes = vec![0; length.into()];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// The players of a node.
struct Players<'a> {
    state: &'a State,
    load: &'a Load,
    node: Atom,
    /// When a player answered, for matches where the next request waits for that answer alone.
    own: Vec<(u64, Instant)>,
    /// Answers that are not written yet: the match, and the player in it.
    answered: Vec<(u64, Option<u64>)>,
    here: usize,
}

fn number(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

impl Responder for Players<'_> {
    fn take(&mut self, message: &[u8], at: Instant, out: &mut Vec<u8>) -> Result<u64> {
        let Some(Control::Send { to: Process::Pid(me), message, .. }) =
            control::decode(message, TermLimits::default())?
        else {
            return Ok(0);
        };
        let fields = message.as_tuple().context("a tuple")?;
        match (fields.first().and_then(Term::as_atom), fields) {
            (Some("logged_in"), [_, _, _, ticket]) => {
                self.here += 1;
                self.state.here.set(self.state.here.get() + 1);
                self.state.tickets.borrow_mut().insert(me.id, ticket.clone());
                Ok(0)
            }
            (Some("start_tournament"), [_, Term::Pid(manager), user, tid]) => {
                let ticket = self.state.tickets.borrow().get(&me.id).cloned();
                let data = Term::tuple([tid.clone(), ticket.context("a ticket")?]);
                let accept = Term::atom("accept_tournament");
                let reply = Term::tuple([accept, me.into(), user.clone(), data]);
                send(out, None, Process::Pid(manager.clone()), reply);
                Ok(1)
            }
            (Some("play_request"), [_, Term::Pid(manager), user, Term::Tuple(data)]) => {
                self.asked(me, manager, user, data, at, out)
            }
            _ => Ok(0),
        }
    }

    fn wrote(&mut self, at: Instant) {
        for (of_match, own) in self.answered.drain(..) {
            match own {
                Some(own) => self.own.push((own, at)),
                None => drop(self.state.passed_on.borrow_mut().insert(of_match, at)),
            }
        }
    }
}

impl Players<'_> {
    fn asked(
        &mut self,
        me: Pid,
        manager: &Pid,
        user: &Term,
        data: &[Term],
        at: Instant,
        out: &mut Vec<u8>,
    ) -> Result<u64> {
        let [reference, tid, Term::Ref(game), roll, _, card, _] = data else {
            bail!("a request has seven fields");
        };
        debug_assert_eq!(me.node, self.node);
        let of_match = number(&game.words[1..]);
        let own_match = number((of_match, me.id));
        let own = self.own.iter().position(|(known, _)| *known == own_match);
        let since = match own {
            Some(own) => Some(self.own.swap_remove(own).1),
            None => self.state.passed_on.borrow().get(&of_match).copied(),
        };
        if let Some(since) = since {
            self.load.latency.borrow_mut().note(at.saturating_duration_since(since));
        }
        let scores = roll.int() == Some(3);
        let mut boxes = card.ints().context("a card")?;
        let free = boxes.position(|points| points == Some(-1)).context("a free box")? as i64;
        let line = if scores { free + 1 } else { 0 };
        let keep = ["true", "true", "false", "false", "false"].map(Term::atom);
        let answer = vec![
            reference.clone(),
            tid.clone(),
            Term::Ref(game.clone()),
            roll.clone(),
            Term::List(keep.into()),
            Term::Int(line),
        ];
        let action = Term::atom("play_action");
        let reply = Term::tuple([action, me.into(), user.clone(), Term::Tuple(answer)]);
        send(out, None, Process::Pid(manager.clone()), reply);
        self.answered.push((of_match, (!scores).then_some(own_match)));
        Ok(1)
    }
}
