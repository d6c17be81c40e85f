//! Logins and new passwords of a node, one after the other: who sets a password and then logs in
//! with it finds it set.

use super::node::Node;
use super::{Hub, player};
use crate::auth;
use crate::clock::now_ms;
use crate::engine::StreamKey;
use crate::names;
use crate::passwords::{Attempt, Purpose};
use crate::throttle::Verdict;
use agon_core::PlayerName;
use agon_core::lobby::{AccountKind, LobbyCommand, PasswordHash, Role};
use agon_wire::erlang::session::{Login, Speaks};
use agon_wire::erlang::term::Pid;
use agon_wire::erlang::{Password, queue};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Whoever wants in, or something changed about it.
pub(super) enum Knock {
    /// Registers or logs in.
    Visit(Login),
    /// Logs in by the queue protocol, which tells more.
    Queue { pid: Pid, user: PlayerName, password: Option<Password> },
    /// Sets or changes a password.
    NewPassword { user: PlayerName, new: Password, old: Option<Password> },
}

impl Knock {
    /// The process that is to be reached from now on.
    pub(super) fn pid(&self) -> Option<&Pid> {
        match self {
            Knock::Visit(login) => Some(&login.pid),
            Knock::Queue { pid, .. } => Some(pid),
            Knock::NewPassword { .. } => None,
        }
    }
}

/// Opens for whoever knocks, until the node is gone.
pub(super) async fn keep(hub: Arc<Hub>, node: Arc<Node>, mut knocks: mpsc::Receiver<Knock>) {
    while let Some(knock) = knocks.recv().await {
        match knock {
            Knock::Visit(login) => player::visit(&hub, &node, login).await,
            Knock::Queue { pid, user, password } => {
                by_queue(&hub, &node, pid, user, password).await;
            }
            Knock::NewPassword { user, new, old } => {
                if set_password(&hub, &node, &user, &new, old).await.is_none() {
                    let user = user.as_str();
                    tracing::info!(user, from = %node.from, "a new password was not set");
                }
            }
        }
    }
}

async fn by_queue(
    hub: &Arc<Hub>,
    node: &Arc<Node>,
    pid: Pid,
    user: PlayerName,
    password: Option<Password>,
) {
    let name = user.clone();
    let asked = hub.gateway.engine().ask(vec![StreamKey::Lobby], move |engine| {
        (engine.lobby().account(&name).is_some(), engine.wire_of(&name).is_some())
    });
    match (asked.await, password) {
        (None, _) => {}
        (Some((false, _)), _) => node.tell(pid, queue::new_user(), None),
        (Some((true, false)), Some(password)) => {
            let speaks = Speaks::Queue { password: password.clone() };
            player::visit(hub, node, Login { pid, user, password, speaks }).await;
        }
        (Some((true, _)), _) => node.tell(pid, queue::not_authenticated(), None),
    }
}

/// Sets the first password of a new account, or changes the one it has; `None` if it is not set.
async fn set_password(
    hub: &Hub,
    node: &Node,
    user: &PlayerName,
    new: &Password,
    old: Option<Password>,
) -> Option<()> {
    auth::check_length(&new.0).ok()?;
    if user.as_str().starts_with(crate::engine::HOUSE) {
        return None;
    }
    let (engine, name, from) = (hub.gateway.engine(), user.clone(), node.from);
    let (known, passwords) = engine
        .ask(vec![StreamKey::Lobby], move |engine| {
            let known = engine.lobby().account(&name).map(|account| account.password.clone());
            (known, engine.passwords())
        })
        .await?;
    let is_new = known.is_none();
    let proof = match (known, old) {
        (None, None) => None,
        (Some(Some(kept)), Some(old)) => Some((kept, old)),
        // Nobody sets the password of an account that has one without knowing it.
        _ => return None,
    };
    if is_new && names::check_new(user).is_err() {
        return None;
    }
    let purpose = if is_new { Purpose::New } else { Purpose::Proof };
    let attempt = Attempt { from, account: user.clone(), purpose, at: now_ms() };
    let new_text = new.0.clone();
    let checked = passwords.check(attempt, move || hashed(proof, &new_text));
    let hash = checked.await.ok()??;
    let (account, password) = (user.clone(), hash);
    let command = match is_new {
        true => {
            let (kind, role, password) = (AccountKind::Program, Role::Player, Some(password));
            LobbyCommand::Register { account, kind, role, password }
        }
        false => LobbyCommand::ChangePassword { account, password, keep: None },
    };
    let done = engine.ask(vec![StreamKey::Lobby], move |engine| engine.command(command)).await;
    done?.ok()?;
    let player = node.players().with_user(user);
    if let Some(player) = player {
        player.session().changed_password(new.clone());
    }
    Some(())
}

/// Hashes a new password if the old one, where there is one, is right.
fn hashed(proof: Option<(PasswordHash, Password)>, new: &str) -> (Verdict, Option<PasswordHash>) {
    match proof {
        Some((kept, old)) if !auth::matches(&old.0, &kept) => (Verdict::Wrong, None),
        _ => (Verdict::Right, auth::hash(new).ok()),
    }
}
