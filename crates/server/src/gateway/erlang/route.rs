//! Whom a message is for: a player that is here, the door, or the desk.

use super::desk::{self, Question};
use super::door::Knock;
use super::node::Node;
use super::player::Player;
use super::{Hub, again};
use crate::clock::now_ms;
use crate::gateway::bucket::Bucket;
use agon_core::Millis;
use agon_wire::erlang::session::{Login, Speaks};
use agon_wire::erlang::term::{Pid, Ref, Term};
use agon_wire::erlang::{BadMessage, Message, class, queue, read, referee};
use std::sync::Arc;
use std::time::Duration;

/// Delivers a message that was sent to one of our names. Nothing of it is logged: passwords are in
/// some.
pub(super) async fn deliver(
    hub: &Arc<Hub>,
    node: &Arc<Node>,
    from: Option<&Pid>,
    term: &Term,
    at: Millis,
    bucket: &mut Bucket,
) {
    let message = read(term);
    let player = match &message {
        Ok(message) => player_of(hub, node, message),
        Err(_) => {
            reference_in(hub, term).and_then(|reference| with_reference(hub, node, reference))
        }
    };
    hold_back(player.as_deref(), bucket).await;
    let message = match message {
        Ok(message) => message,
        Err(bad) => return garbled(hub, node, player, term, &bad, at).await,
    };
    if let Some(knock) = knock(&message) {
        if knock.pid().is_some_and(|pid| pid.node != node.name) {
            tracing::info!(node = node.name.as_str(), "a login for a process of another node");
            return;
        }
        // Who waits there waits for hashes of passwords: the node waits with it.
        let _ = node.door.send(knock).await;
        return;
    }
    if let Some(question) = Question::of(&message, from) {
        return desk::ask(hub, node, question);
    }
    if let Some(player) = &player
        && !has_proved(hub, node, player, &message).await
    {
        let to = from.unwrap_or(&player.pid).clone();
        return node.tell(to, queue::not_authenticated(), None);
    }
    let heard = match &player {
        Some(player) => player.session().hear(&message, from),
        None => {
            if let (Message::Queue(_), Some(from)) = (&message, from) {
                node.tell(from.clone(), queue::not_authenticated(), None);
            }
            return;
        }
    };
    match (heard, player) {
        (Ok(deeds), Some(player)) => player.perform(hub, node, deeds, at).await,
        (Err(why), _) => tracing::debug!(node = node.name.as_str(), %why, "not accepted"),
        (Ok(_), None) => {}
    }
}

/// Whether a message of the queue protocol has the right password, where a restart has made the
/// server forget it: it only knows its hash then.
async fn has_proved(hub: &Hub, node: &Node, player: &Player, message: &Message) -> bool {
    let Message::Queue(queue::FromPlayer::Owned { user, password, .. }) = message else {
        return true;
    };
    if !player.session().lacks_password() {
        return true;
    }
    let right = again::prove(hub, node, user, password).await;
    if right {
        player.session().changed_password(password.clone());
    }
    right
}

/// Reads no faster than players may speak.
async fn hold_back(player: Option<&Player>, bucket: &mut Bucket) {
    loop {
        let now = now_ms();
        let wait_ms = match player {
            Some(player) => player.wait_ms(now),
            None => bucket.take(0, now).err(),
        };
        let Some(wait_ms) = wait_ms else { return };
        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
    }
}

/// A message with a name and fields that do not fit: an answer, if it names an open request.
async fn garbled(
    hub: &Hub,
    node: &Node,
    player: Option<Arc<Player>>,
    term: &Term,
    bad: &BadMessage,
    at: Millis,
) {
    tracing::debug!(node = node.name.as_str(), %bad, "not a message of any vocabulary");
    let (Some(player), Some(reference)) = (player, reference_in(hub, term)) else { return };
    let heard = player.session().hear_garbled(reference, bad);
    if let Ok(deeds) = heard {
        player.perform(hub, node, deeds, at).await;
    }
}

/// The first reference of a player's own in a term.
fn reference_in<'a>(hub: &Hub, term: &'a Term) -> Option<&'a Ref> {
    match term {
        Term::Ref(reference) => hub.refs.key_of(reference).map(|_| reference),
        Term::Tuple(items) => items.iter().find_map(|item| reference_in(hub, item)),
        _ => None,
    }
}

fn with_reference(hub: &Hub, node: &Node, reference: &Ref) -> Option<Arc<Player>> {
    hub.refs.key_of(reference).and_then(|key| node.players().with_key(key))
}

/// Who says something, by what only it can know: references of its own, or name and password.
fn player_of(hub: &Hub, node: &Node, message: &Message) -> Option<Arc<Player>> {
    let by_term = |term: &Term| with_reference(hub, node, term.as_reference()?);
    match message {
        Message::Class(said) => match said {
            class::FromPlayer::Logout { ticket, .. } => by_term(ticket),
            class::FromPlayer::Action(action) => by_term(&action.reference),
            // A bad ticket is a reject, if the process that logged in sends it.
            class::FromPlayer::Invited { ticket, pid, .. } => {
                let known = ticket.as_ref().and_then(by_term);
                known.or_else(|| node.players().with_pid(pid))
            }
            _ => None,
        },
        Message::Referee(referee::FromPlayer::Answer { reference, .. }) => {
            with_reference(hub, node, reference)
        }
        Message::Referee(_) => None,
        Message::Queue(queue::FromPlayer::Owned { user, .. }) => node.players().with_user(user),
        Message::Queue(_) => None,
    }
}

/// What has to do with passwords.
fn knock(message: &Message) -> Option<Knock> {
    match message {
        Message::Class(class::FromPlayer::Login { pid, user, password, variant }) => {
            let (pid, user, password) = (pid.clone(), user.clone(), password.clone());
            Some(Knock::Visit(Login { pid, user, password, speaks: Speaks::Class(*variant) }))
        }
        Message::Referee(referee::FromPlayer::Register { pid, reference, user, password }) => {
            let (pid, user, password) = (pid.clone(), user.clone(), password.clone());
            let speaks = Speaks::Referee { login: reference.clone() };
            Some(Knock::Visit(Login { pid, user, password, speaks }))
        }
        Message::Queue(queue::FromPlayer::Login { pid, user, password }) => {
            let (pid, user, password) = (pid.clone(), user.clone(), password.clone());
            Some(Knock::Queue { pid, user, password })
        }
        Message::Queue(queue::FromPlayer::NewPassword { user, new, old }) => {
            let (user, new, old) = (user.clone(), new.clone(), old.clone());
            Some(Knock::NewPassword { user, new, old })
        }
        _ => None,
    }
}
