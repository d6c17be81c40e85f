//! Logins and changes of passwords from one node, processed in order: a player who sets a password
//! can log in with it at once.

use super::node::Node;
use super::player::Player;
use super::{Hub, player};
use crate::auth;
use crate::clock::now_ms;
use crate::engine::names;
use crate::engine::query::{Decide, FindAccount, FindPassword};
use crate::passwords::{Attempt, Purpose};
use crate::throttle::GuessVerdict;
use agon_core::lobby::{AccountKind, LobbyCommand, PasswordHash, Role};
use agon_core::{Millis, PlayerName, Timestamp};
use agon_wire::erlang::session::{ErlangLogin, Speaks};
use agon_wire::erlang::term::{Pid, Term};
use agon_wire::erlang::{Password, queue};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How many logins of one node may wait because of earlier wrong passwords.
pub(super) const WAITING_MAX: usize = 64;

/// How long a login may wait in total.
const WAITING_MS_MAX: Millis = 180_000;

/// Why a request is rejected while the server stops.
const STOPPING: &str = "the server stops";

/// A request to log in or to change a password.
pub(super) enum LoginRequest {
    /// Registers or logs in; the time is when the player first asked.
    Login(ErlangLogin, Timestamp),
    /// Logs in by the queue protocol, which has replies for new users and rejected logins.
    Queue { pid: Pid, user: PlayerName, password: Option<Password> },
    /// Sets or changes a password; `from` is notified if that fails.
    NewPassword { user: PlayerName, new: Password, old: Option<Password>, from: Option<Pid> },
}

impl LoginRequest {
    /// The process of the player from now on.
    pub(super) fn pid(&self) -> Option<&Pid> {
        match self {
            LoginRequest::Login(login, _) => Some(&login.pid),
            LoginRequest::Queue { pid, .. } => Some(pid),
            LoginRequest::NewPassword { .. } => None,
        }
    }

    /// The user of the request.
    pub(super) fn user(&self) -> &PlayerName {
        match self {
            LoginRequest::Login(login, _) => &login.user,
            LoginRequest::Queue { user, .. } | LoginRequest::NewPassword { user, .. } => user,
        }
    }
}

/// Processes logins until the node disconnects.
pub(super) async fn keep(hub: Arc<Hub>, node: Arc<Node>, mut logins: mpsc::Receiver<LoginRequest>) {
    while let Some(login_request) = logins.recv().await {
        match login_request {
            LoginRequest::Login(login, since) => player::visit(&hub, &node, login, since).await,
            LoginRequest::Queue { pid, user, password } => {
                by_queue(&hub, &node, pid, user, password).await;
            }
            LoginRequest::NewPassword { user, new, old, from } => {
                if let Err(reason) = set_password(&hub, &node, &user, &new, old).await {
                    let (user, name) = (user.as_str(), node.name.as_str());
                    tracing::info!(node = name, user, reason, "a new password was not set");
                    if let Some(from) = from {
                        node.tell(from, queue::not_authenticated(), None);
                    }
                }
            }
        }
    }
}

/// Retries a login when earlier wrong passwords no longer delay it. The player's protocol has no
/// rejection, so they would wait for ever. `since` is when they first asked.
pub(super) fn try_again(hub: &Arc<Hub>, node: &Arc<Node>, login: ErlangLogin, since: Timestamp) {
    let place = Arc::clone(&node.waiting).try_acquire_owned();
    let over = now_ms().since(since) > WAITING_MS_MAX;
    let Some(place) = place.ok().filter(|_| !over) else {
        let (name, user) = (node.name.as_str(), login.user.as_str());
        let reason = if over { "it waited too long" } else { "too many logins wait" };
        tracing::info!(node = name, user, reason, "a login that waited is given up");
        return;
    };
    let (hub, node) = (Arc::clone(hub), Arc::clone(node));
    tokio::spawn(async move {
        let wait_ms = hub.gateway.engine().passwords().wait_ms(node.from, &login.user, now_ms());
        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        drop(place);
        let known = node.players().with_user(&login.user);
        // The player may have logged in by another message meanwhile.
        if known.is_none_or(|player| player.pid != login.pid) {
            let _ = node.logins.send(LoginRequest::Login(login, since)).await;
        }
    });
}

async fn by_queue(
    hub: &Arc<Hub>,
    node: &Arc<Node>,
    pid: Pid,
    user: PlayerName,
    password: Option<Password>,
) {
    let asked = hub.gateway.engine().ask(FindAccount(user.clone()));
    // A process that was found again after a restart may log in once more.
    let same = |player: Arc<Player>| player.found_again && player.pid == pid;
    let again = node.players().with_user(&user).is_some_and(same);
    match (asked.await, password) {
        (None, _) => {}
        (Some(None), _) => node.tell(pid, queue::new_user(), None),
        (Some(Some((_, wire))), Some(password)) if again || wire.is_none() => {
            let speaks = Speaks::Queue { password: password.clone() };
            let spelt = Term::string(user.as_str());
            let login = ErlangLogin { pid, user, spelt, password, speaks };
            player::visit(hub, node, login, now_ms()).await;
        }
        (Some(Some((_, wire))), _) => {
            let reason =
                if wire.is_some() { "the name is logged in" } else { "there is no password" };
            let (name, user) = (node.name.as_str(), user.as_str());
            tracing::info!(node = name, user, reason, "a login was refused");
            node.tell(pid, queue::not_authenticated(), None);
        }
    }
}

/// Sets the first password of a new account, or changes an existing one; the error says why it was
/// not set.
async fn set_password(
    hub: &Hub,
    node: &Node,
    user: &PlayerName,
    new: &Password,
    old: Option<Password>,
) -> Result<(), &'static str> {
    crate::engine::password::check_length(&new.0)
        .map_err(|_| "the new password is too short or too long")?;
    if user.house().is_some() {
        return Err("the name is one of the server's own players");
    }
    let (engine, from) = (hub.gateway.engine(), node.from);
    let known = engine.ask(FindPassword(user.clone())).await.ok_or(STOPPING)?;
    let is_new = known.is_none();
    let proof = match (known, old) {
        (None, None) => None,
        (Some(Some(kept)), Some(old)) => Some((kept, old)),
        (None, Some(_)) => return Err("the name is not registered: its old password is false"),
        // The password of an existing account can be changed only with the old one.
        _ => return Err("the old password is missing, or the account has none"),
    };
    if is_new && names::check_new(user).is_err() {
        return Err("the name could be mistaken for another; choose a plainer one");
    }
    let purpose = if is_new { Purpose::New } else { Purpose::Proof };
    let attempt = Attempt { from, account: user.clone(), purpose, at: now_ms() };
    let new_text = new.0.clone();
    let checked = engine.passwords().check(attempt, move || hashed(proof, &new_text)).await;
    let hash = checked.map_err(|_| "too many wrong passwords before it")?;
    let hash = hash.ok_or("the old password is wrong")?;
    let (account, password) = (user.clone(), hash);
    let command = match is_new {
        true => {
            let (kind, role, password) = (AccountKind::Program, Role::Player, Some(password));
            LobbyCommand::Register { account, kind, role, password }
        }
        false => LobbyCommand::ChangePassword { account, password, keep: None },
    };
    let done = engine.ask(Decide(command)).await;
    done.ok_or(STOPPING)?.map_err(|_| "the name cannot be registered")?;
    if let Some((_, player)) = hub.player(user) {
        player.session().changed_password(new.clone());
    }
    Ok(())
}

/// Hashes a new password if the old one, where there is one, is right.
fn hashed(
    proof: Option<(PasswordHash, Password)>,
    new: &str,
) -> (GuessVerdict, Option<PasswordHash>) {
    match proof {
        Some((kept, old)) if !auth::matches(&old.0, &kept) => (GuessVerdict::Wrong, None),
        _ => (GuessVerdict::Right, auth::hash(new).ok()),
    }
}
