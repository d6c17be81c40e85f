//! Routes a message: to a player who is logged in, to the logins, or to the inquiries.

use super::inquiries::{self, Inquiry};
use super::logins::LoginRequest;
use super::node::Node;
use super::player::Player;
use super::{Hub, OnNode, again};
use crate::clock::now_ms;
use crate::gateway::bucket::Bucket;
use agon_core::{PlayerName, Timestamp};
use agon_wire::erlang::session::{ErlangLogin, Speaks};
use agon_wire::erlang::term::{Pid, Ref, Term};
use agon_wire::erlang::{BadMessage, Message, class, queue, read, referee};
use std::sync::Arc;
use std::time::Duration;

/// Delivers a message to one of our names. Its content is never logged, because it may contain
/// passwords. A rejected message is either answered or logged with the reason.
pub(super) async fn deliver(
    hub: &Arc<Hub>,
    node: &Arc<Node>,
    from: Option<&Pid>,
    term: &Term,
    at: Timestamp,
    bucket: &mut Bucket,
) {
    let message = read(term);
    let player = match &message {
        Ok(message) => player_of(hub, node, message),
        Err(_) => {
            let reference = reference_in(hub, term);
            let player = reference.and_then(|reference| with_reference(hub, node, reference));
            player.map(|player| (Arc::clone(node), player))
        }
    };
    hold_back(player.as_ref().map(|(_, player)| &**player), bucket).await;
    let message = match message {
        Ok(message) => message,
        Err(bad) => return garbled(hub, node, (player, from), term, &bad, at).await,
    };
    if let Some(login_request) = login_request(&message, from) {
        if login_request.pid().is_some_and(|pid| pid.node != node.name) {
            let reason = "the process runs on another node";
            refuse(node, Some(login_request.user()), reason, "a login was refused");
            return not_authenticated(node, from, term);
        }
        // A full queue waits for password hashes, and the node waits with it.
        let _ = node.logins.send(login_request).await;
        return;
    }
    if let Some(inquiry) = Inquiry::of(&message, from) {
        return inquiries::ask(hub, node, inquiry);
    }
    let Some((owner, player)) = player else {
        let user = match &message {
            Message::Queue(queue::FromPlayer::Owned { user, .. }) => Some(user),
            _ => None,
        };
        refuse(node, user, "nobody is logged in who it could be from", NOT_ACCEPTED);
        return not_authenticated(node, from, term);
    };
    if !has_proved(hub, &owner, &player, &message).await {
        refuse(node, Some(&player.user), "the password is wrong", NOT_ACCEPTED);
        return not_authenticated(node, from.or(Some(&player.pid)), term);
    }
    let heard = player.session().hear(&message, term, from, now_ms());
    match heard {
        Ok(outputs) => player.perform(hub, &owner, outputs, at).await,
        Err(why) => refuse(node, Some(&player.user), &why.to_string(), NOT_ACCEPTED),
    }
}

/// The log's text for a rejected message.
const NOT_ACCEPTED: &str = "a message was not accepted";

/// Logs why a message was rejected.
fn refuse(node: &Node, user: Option<&PlayerName>, reason: &str, what: &'static str) {
    let user = user.map_or("unknown", PlayerName::as_str);
    tracing::info!(node = node.name.as_str(), user, reason, "{what}");
}

/// Notifies the sender of a message with a wrong name and password. Other protocols cannot express
/// that.
fn not_authenticated(node: &Node, from: Option<&Pid>, term: &Term) {
    if let (Some(from), true) = (from, queue::needs_password(term)) {
        node.tell(from.clone(), queue::not_authenticated(), None);
    }
}

/// Returns whether a message of the queue protocol has the right password. After a restart the
/// server only knows the hash.
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

/// Reads no faster than players may send.
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

/// Handles a message with a known name and wrong fields: an answer, if it names an open request.
async fn garbled(
    hub: &Arc<Hub>,
    node: &Arc<Node>,
    (player, from): (Option<OnNode>, Option<&Pid>),
    term: &Term,
    bad: &BadMessage,
    at: Timestamp,
) {
    let user = player.as_ref().map(|(_, player)| &player.user);
    refuse(node, user, &bad.to_string(), NOT_ACCEPTED);
    let (Some((owner, player)), Some(reference)) = (player, reference_in(hub, term)) else {
        return not_authenticated(node, from, term);
    };
    let heard = player.session().hear_garbled(reference, bad, term);
    if let Ok(outputs) = heard {
        player.perform(hub, &owner, outputs, at).await;
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

/// The player behind a message, by data that only they know: references of their own, or name and
/// password. The latter may come from any node, and are for the node that the player is on.
fn player_of(hub: &Hub, node: &Arc<Node>, message: &Message) -> Option<OnNode> {
    let by_term = |term: &Term| with_reference(hub, node, term.as_reference()?);
    let here = match message {
        Message::Class(said) => match said {
            class::FromPlayer::Logout { ticket, .. } => by_term(ticket),
            class::FromPlayer::Action(action) => by_term(&action.reference),
            // A bad ticket counts as a rejection if the process that logged in sends it.
            class::FromPlayer::Invited { ticket, pid, .. } => {
                let known = ticket.as_ref().and_then(by_term);
                known.or_else(|| node.players().with_pid(pid))
            }
            _ => None,
        },
        Message::Referee(referee::FromPlayer::Answer { reference, .. }) => {
            with_reference(hub, node, reference)
        }
        Message::Queue(queue::FromPlayer::Owned { user, .. }) => return hub.player(user),
        Message::Referee(_) | Message::Queue(_) => None,
    };
    here.map(|player| (Arc::clone(node), player))
}

/// The login or password change in a message, if it is one.
fn login_request(message: &Message, from: Option<&Pid>) -> Option<LoginRequest> {
    match message {
        Message::Class(class::FromPlayer::Login { pid, user, spelt, password, variant }) => {
            let (pid, user, password) = (pid.clone(), user.clone(), password.clone());
            let (spelt, speaks) = (spelt.clone(), Speaks::Class(*variant));
            Some(LoginRequest::Login(ErlangLogin { pid, user, spelt, password, speaks }, now_ms()))
        }
        Message::Referee(referee::FromPlayer::Register { pid, reference, user, password }) => {
            let (pid, user, password) = (pid.clone(), user.clone(), password.clone());
            let speaks = Speaks::Referee { login: reference.clone() };
            let spelt = Term::string(user.as_str());
            Some(LoginRequest::Login(ErlangLogin { pid, user, spelt, password, speaks }, now_ms()))
        }
        Message::Queue(queue::FromPlayer::Login { pid, user, password }) => {
            let (pid, user, password) = (pid.clone(), user.clone(), password.clone());
            Some(LoginRequest::Queue { pid, user, password })
        }
        Message::Queue(queue::FromPlayer::NewPassword { user, new, old }) => {
            let (user, new, old) = (user.clone(), new.clone(), old.clone());
            Some(LoginRequest::NewPassword { user, new, old, from: from.cloned() })
        }
        _ => None,
    }
}
