//! Requests that need no login: to start a tournament, and to report on tournaments and players.

use super::dial::Address;
use super::node::{Node, manager};
use super::{Hub, requests};
use crate::engine::query::{AnnounceNumbered, FindAccount, FindStanding, IsLive, NotHeld};
use agon_core::lobby::{Announcement, Draw, QueueName, Selection, Standing, Terms};
use agon_core::{Bracket, PlayerName, Preset, Raw, TournamentId};
use agon_wire::erlang::class::{self, Status};
use agon_wire::erlang::location::Requester;
use agon_wire::erlang::session::QUEUE;
use agon_wire::erlang::term::{Pid, Ref, Term};
use agon_wire::erlang::{Message, queue, referee};
use std::sync::Arc;
use std::time::Duration;

/// The game of this gateway.
const GAME: &str = "yahtzee";

/// How many rounds a tournament of the referee protocol may have.
const ROUNDS: std::ops::RangeInclusive<u32> = 1..=13;

/// Logged when a requested tournament is not held.
const NOT_HELD: &str = "the tournament cannot be held: too few players, or its settings";

/// How often to check a tournament that nobody here plays in; the interval grows.
const LOOK: Duration = Duration::from_millis(200);

/// The longest time between two checks.
const LOOK_MAX: Duration = Duration::from_secs(5);

/// A request, and the process that made it.
pub(super) enum Inquiry {
    /// The class protocol's tournament: its players are drawn from the connected ones.
    Invite { pid: Pid, players: u32, games: u32 },
    /// The referee protocol's tournament: a bracket of the first players in line.
    Bracket { pid: Pid, reference: Ref, slots: u32, games: u32 },
    /// The queue protocol's tournament: the players in the queue.
    Waiting { at_most: u32 },
    /// The state of a tournament.
    Tournament { pid: Pid, tournament: Term },
    /// A player's record, and the form of the reply.
    Player { pid: Pid, user: PlayerName, spelt: Term, form: Form },
    /// An invalid request, and why.
    Nonsense(&'static str),
}

/// The form of a player's record.
pub(super) enum Form {
    Class,
    Referee(Ref),
    Queue,
}

impl Inquiry {
    /// The inquiry in a message, if there is one.
    pub(super) fn of(message: &Message, from: Option<&Pid>) -> Option<Inquiry> {
        let odd = |games: i64| u32::try_from(games).ok().filter(|games| games % 2 == 1);
        let count = |players: i64| u32::try_from(players).ok().filter(|players| *players > 1);
        let asked = match message {
            Message::Class(class::FromPlayer::RequestTournament { pid, players, games }) => {
                let wanted = count(*players).zip(odd(*games));
                let pid = pid.clone();
                let asked = wanted.map(|(players, games)| Inquiry::Invite { pid, players, games });
                asked.ok_or("a tournament needs 2 players and an odd number of games a match")
            }
            Message::Class(class::FromPlayer::TournamentInfo { pid, tournament }) => {
                let (pid, tournament) = (pid.clone(), tournament.clone());
                Ok(Inquiry::Tournament { pid, tournament })
            }
            Message::Class(class::FromPlayer::UserInfo { pid, user, spelt }) => {
                let (pid, user, spelt) = (pid.clone(), user.clone(), spelt.clone());
                Ok(Inquiry::Player { pid, user, spelt, form: Form::Class })
            }
            Message::Referee(referee::FromPlayer::StartTournament {
                pid,
                reference,
                rounds,
                games,
            }) => {
                let slots = u32::try_from(*rounds).ok().filter(|rounds| ROUNDS.contains(rounds));
                let wanted = slots.map(|rounds| 1 << rounds).zip(odd(*games));
                let (pid, reference) = (pid.clone(), reference.clone());
                let asked =
                    wanted.map(|(slots, games)| Inquiry::Bracket { pid, reference, slots, games });
                asked.ok_or("M has to be 1 to 13, and K odd")
            }
            Message::Referee(referee::FromPlayer::StatsRequest { pid, reference, user }) => {
                let (form, spelt) = (Form::Referee(reference.clone()), Term::nil());
                Ok(Inquiry::Player { pid: pid.clone(), user: user.clone(), spelt, form })
            }
            Message::Queue(queue::FromPlayer::StartTournament { players_max }) => {
                let asked = count(*players_max).map(|at_most| Inquiry::Waiting { at_most });
                asked.ok_or("MaxPlayers has to be at least 2")
            }
            Message::Queue(queue::FromPlayer::StatsRequest { user, spelt }) => {
                let asked = from.map(|pid| {
                    let (user, spelt, form) = (user.clone(), spelt.clone(), Form::Queue);
                    Inquiry::Player { pid: pid.clone(), user, spelt, form }
                });
                asked.ok_or("nobody is known to have sent it")
            }
            _ => return None,
        };
        Some(asked.unwrap_or_else(Inquiry::Nonsense))
    }
}

/// Answers an inquiry, unless too many are in progress.
pub(super) fn ask(hub: &Arc<Hub>, node: &Arc<Node>, inquiry: Inquiry) {
    if let Inquiry::Nonsense(reason) = inquiry {
        return ignore(node, reason);
    }
    let Ok(place) = Arc::clone(&hub.asked).try_acquire_owned() else {
        tracing::warn!(node = node.name.as_str(), "too many questions at once; one is dropped");
        return;
    };
    let (hub, node) = (Arc::clone(hub), Arc::clone(node));
    tokio::spawn(async move {
        answer(&hub, &node, inquiry).await;
        drop(place);
    });
}

/// Logs why a process that is not a player gets no answer.
fn ignore(node: &Node, reason: &str) {
    tracing::info!(node = node.name.as_str(), user = "unknown", reason, "a request is ignored");
}

async fn answer(hub: &Arc<Hub>, node: &Node, inquiry: Inquiry) {
    match inquiry {
        Inquiry::Nonsense(reason) => ignore(node, reason),
        Inquiry::Player { pid, user, spelt, form } => {
            player(hub, node, pid, (user, spelt), &form).await;
        }
        Inquiry::Tournament { pid, tournament } => {
            let id = tournament.as_reference().and_then(|it| hub.refs.tournament_of(it));
            let Some(id) = id else { return ignore(node, "there is no such tournament") };
            if let Some(status) = status(hub, id).await {
                let status_term = class::tournament_status(&own(hub, 0), &tournament, &status);
                node.tell(pid, status_term, None);
            }
        }
        Inquiry::Invite { pid, players, games } => {
            let wait_ms = hub.settings.accept_ms;
            let wanted = Wanted { name: "class", preset: "yahtzee-class", games, slots: None };
            // All connected players take part in the draw, including those on other wires.
            let (at_least, at_most) = (2, players.min(Terms::PLAYERS_MAX as u32));
            let draw = Selection::Draw(Draw { at_least, at_most, wait_ms });
            let requester = requester(node, &pid, None);
            let announced = announce(hub, wanted, Some(&requester), draw).await;
            let Ok(id) = announced else { return ignore(node, NOT_HELD) };
            requests::answer(hub, &id, &requester).await;
        }
        Inquiry::Bracket { pid, reference, slots, games } => {
            let (name, preset) = ("referee", "yahtzee-referee");
            let wanted = Wanted { name, preset, games, slots: Some(slots) };
            let requester = requester(node, &pid, Some(&reference));
            let line = Selection::Line { at_most: slots };
            match announce(hub, wanted, Some(&requester), line).await {
                Ok(id) => requests::answer(hub, &id, &requester).await,
                // In a bracket without players, a bye wins.
                Err(NotHeld::Nobody) => {
                    node.tell(pid, referee::tournament_ended(&reference, None), None);
                }
                Err(NotHeld::Refused) => ignore(node, NOT_HELD),
            }
        }
        Inquiry::Waiting { at_most } => {
            let queue = QueueName::new(QUEUE).expect("a good name");
            let (name, preset) = ("queue", "yahtzee-queue");
            let games = hub.settings.queue_games;
            let wanted = Wanted { name, preset, games, slots: None };
            // This protocol has no reply to the requester.
            let waiting = Selection::Queue { queue, at_most };
            if announce(hub, wanted, None, waiting).await.is_err() {
                ignore(node, NOT_HELD);
            }
        }
    }
}

/// The requester of a tournament, in the log's format.
fn requester(node: &Node, pid: &Pid, reference: Option<&Ref>) -> Requester {
    let Address { from, port, .. } = node.address();
    let mut requester = Requester::new(pid, reference, from);
    requester.port = port;
    requester
}

/// The process of ours that answers.
pub(super) fn own(hub: &Hub, name: u32) -> Pid {
    hub.refs.pid(manager(name))
}

async fn player(hub: &Hub, node: &Node, pid: Pid, (user, spelt): (PlayerName, Term), form: &Form) {
    let engine = hub.gateway.engine();
    let known = match engine.ask(FindAccount(user.clone())).await.flatten() {
        Some(_) => match hub.gateway.ledger().record(engine, user.clone(), GAME).await {
            Ok((record, rank)) => Some(referee::Known { record, rank }),
            Err(_) => return ignore(node, "there are no statistics now"),
        },
        None => None,
    };
    let term = match (form, &known) {
        (Form::Class, Some(known)) => class::user_status(&own(hub, 0), &spelt, &known.record),
        (Form::Class, None) => {
            let (name, user) = (node.name.as_str(), user.as_str());
            let reason = "nobody has that name";
            return tracing::info!(node = name, user, reason, "a request is ignored");
        }
        (Form::Referee(reference), known) => referee::stats_response(reference, known.as_ref()),
        (Form::Queue, known) => queue::stats(&spelt, known.as_ref()),
    };
    node.tell(pid, term, None);
}

/// A requested tournament.
struct Wanted {
    /// The beginning of its name.
    name: &'static str,
    preset: &'static str,
    games: u32,
    slots: Option<u32>,
}

/// Announces a tournament, and returns its name.
async fn announce(
    hub: &Hub,
    wanted: Wanted,
    requester: Option<&Requester>,
    selection: Selection,
) -> Result<TournamentId, NotHeld> {
    let preset = Preset::named(wanted.preset).expect("a preset from the list");
    let mut policy = preset.policy.clone();
    policy.rules.best_of = wanted.games;
    policy.rules.time.answer_ms = hub.settings.answer_ms.unwrap_or(policy.rules.time.answer_ms);
    policy.rules.time.wait_ms = hub.settings.wait_ms.unwrap_or(policy.rules.time.wait_ms);
    if wanted.slots.is_some() {
        policy.format = Bracket { slots: wanted.slots, ..Bracket::default() }.into();
    }
    policy.check().map_err(|_| NotHeld::Refused)?;
    let reply_to = requester.map(Requester::write);
    let engine = hub.gateway.engine();
    let kind = engine.games().kind(preset.game).ok_or(NotHeld::Refused)?;
    let config = kind.check_config(preset.config).map_err(|_| NotHeld::Refused)?;
    let announcement = Announcement {
        id: TournamentId::from(wanted.name.to_owned()),
        preset: Some(preset.name.into()),
        game: preset.game.into(),
        config: Raw(config),
        policy,
        selection,
        by: None,
    };
    let announced = engine.ask(AnnounceNumbered { announcement, reply_to });
    announced.await.unwrap_or(Err(NotHeld::Refused))
}

/// The standing of a tournament, as far as it is durable.
async fn standing(hub: &Hub, id: &TournamentId) -> Option<Standing> {
    hub.gateway.engine().ask(FindStanding(id.clone())).await?
}

/// Returns whether a running tournament has its first round.
async fn is_live(hub: &Hub, id: &TournamentId) -> Option<bool> {
    hub.gateway.engine().ask(IsLive(id.clone())).await
}

async fn status(hub: &Hub, id: TournamentId) -> Option<Status> {
    Some(match standing(hub, &id).await? {
        Standing::Open(_) | Standing::Inviting(_) | Standing::Running(_) => Status::InProgress,
        Standing::Finished(winners) => winners.into_iter().next().map_or(Status::Bye, Status::Won),
        Standing::CalledOff(_) => Status::Bye,
    })
}

/// Waits until a tournament may have changed, and longer the next time.
async fn stirred(hub: &Hub, look: &mut Duration) {
    if tokio::time::timeout(*look, hub.stirred.notified()).await.is_err() {
        *look = (*look * 2).min(LOOK_MAX);
    }
}

/// The players of a tournament, once it has started; `None` if it is cancelled.
pub(super) async fn started(hub: &Hub, id: &TournamentId) -> Option<Vec<PlayerName>> {
    let mut look = LOOK;
    loop {
        match standing(hub, id).await? {
            Standing::Running(plan) if is_live(hub, id).await? => {
                return Some(plan.players.clone());
            }
            Standing::Open(_) | Standing::Inviting(_) | Standing::Running(_) => {
                stirred(hub, &mut look).await;
            }
            Standing::Finished(_) => {
                let results = hub.gateway.engine().past_results(id.clone()).await?;
                return Some(results.standings.into_iter().map(|row| row.player).collect());
            }
            Standing::CalledOff(_) => return None,
        }
    }
}

/// The winner of a tournament, once it is over; nobody if a bye won.
pub(super) async fn ended(hub: &Hub, id: &TournamentId) -> Option<Option<PlayerName>> {
    let mut look = LOOK;
    loop {
        match standing(hub, id).await? {
            Standing::Finished(winners) => return Some(winners.into_iter().next()),
            Standing::CalledOff(_) => return Some(None),
            _ => stirred(hub, &mut look).await,
        }
    }
}
