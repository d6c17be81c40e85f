//! What anybody on a node may ask, logged in or not: tournaments, and how things stand.

use super::Hub;
use super::node::{Node, manager};
use crate::engine::{AnnounceError, StreamKey};
use agon_core::lobby::{Announcement, Draw, LobbyRejection, QueueName, Selection, Standing, Terms};
use agon_core::{Format, PlayerName, Preset, Raw, TournamentId};
use agon_wire::erlang::class::{self, Status};
use agon_wire::erlang::session::QUEUE;
use agon_wire::erlang::term::{Pid, Ref, Term};
use agon_wire::erlang::{Message, queue, referee};
use std::sync::Arc;
use std::time::Duration;

/// How often to look at a tournament that nobody here plays in.
const LOOK: Duration = Duration::from_millis(200);

/// A question, and who asks it.
pub(super) enum Question {
    /// The class protocol's tournament: players are drawn from those who are connected.
    Invite { pid: Pid, players: u32, games: u32 },
    /// The referee protocol's: a bracket of the first in line.
    Bracket { pid: Pid, reference: Ref, slots: u32, games: u32 },
    /// The queue protocol's: those who wait.
    Waiting { at_most: u32 },
    /// How a tournament stands.
    Tournament { pid: Pid, tournament: Term },
    /// What a player has done, and in which form to say it.
    Player { pid: Pid, user: PlayerName, form: Form },
    /// Something nobody can want: a match of an even number of games, a tournament of nobody.
    Nonsense,
}

/// How a record is shown.
pub(super) enum Form {
    Class,
    Referee(Ref),
    Queue,
}

impl Question {
    /// The question a message asks, if it asks one.
    pub(super) fn of(message: &Message, from: Option<&Pid>) -> Option<Question> {
        let odd = |games: i64| u32::try_from(games).ok().filter(|games| games % 2 == 1);
        let count = |players: i64| u32::try_from(players).ok().filter(|players| *players > 1);
        let asked = match message {
            Message::Class(class::FromPlayer::RequestTournament { pid, players, games }) => {
                let wanted = count(*players).zip(odd(*games));
                let pid = pid.clone();
                wanted.map(|(players, games)| Question::Invite { pid, players, games })
            }
            Message::Class(class::FromPlayer::TournamentInfo { pid, tournament }) => {
                let (pid, tournament) = (pid.clone(), tournament.clone());
                Some(Question::Tournament { pid, tournament })
            }
            Message::Class(class::FromPlayer::UserInfo { pid, user }) => {
                Some(Question::Player { pid: pid.clone(), user: user.clone(), form: Form::Class })
            }
            Message::Referee(referee::FromPlayer::StartTournament {
                pid,
                reference,
                rounds,
                games,
            }) => {
                let slots = u32::try_from(*rounds).ok().filter(|rounds| (1..=13).contains(rounds));
                let wanted = slots.map(|rounds| 1 << rounds).zip(odd(*games));
                let (pid, reference) = (pid.clone(), reference.clone());
                wanted.map(|(slots, games)| Question::Bracket { pid, reference, slots, games })
            }
            Message::Referee(referee::FromPlayer::StatsRequest { pid, reference, user }) => {
                let form = Form::Referee(reference.clone());
                Some(Question::Player { pid: pid.clone(), user: user.clone(), form })
            }
            Message::Queue(queue::FromPlayer::StartTournament { players_max }) => {
                count(*players_max).map(|at_most| Question::Waiting { at_most })
            }
            Message::Queue(queue::FromPlayer::StatsRequest { user }) => from.map(|pid| {
                Question::Player { pid: pid.clone(), user: user.clone(), form: Form::Queue }
            }),
            _ => return None,
        };
        Some(asked.unwrap_or(Question::Nonsense))
    }
}

/// Takes a question up, unless too many are being answered.
pub(super) fn ask(hub: &Arc<Hub>, node: &Arc<Node>, question: Question) {
    if let Question::Nonsense = question {
        tracing::debug!(node = node.name.as_str(), "a question that makes no sense is ignored");
        return;
    }
    let Ok(place) = Arc::clone(&hub.asked).try_acquire_owned() else {
        tracing::warn!(node = node.name.as_str(), "too many questions at once; one is dropped");
        return;
    };
    let (hub, node) = (Arc::clone(hub), Arc::clone(node));
    tokio::spawn(async move {
        answer(&hub, &node, question).await;
        drop(place);
    });
}

async fn answer(hub: &Arc<Hub>, node: &Node, question: Question) {
    match question {
        Question::Nonsense => {}
        Question::Player { pid, user, form } => player(hub, node, pid, user, &form).await,
        Question::Tournament { pid, tournament } => {
            let id = tournament.as_reference().and_then(|it| hub.refs.tournament_of(it));
            let Some(id) = id else { return };
            if let Some(status) = status(hub, id).await {
                let told = class::tournament_status(&own(hub, 0), &tournament, &status);
                node.tell(pid, told, None);
            }
        }
        Question::Invite { pid, players, games } => {
            let wait_ms = hub.settings.accept_ms;
            let wanted = Wanted { name: "class", preset: "yahtzee-class", games, slots: None };
            // The draw is among all connected players: those on other wires are asked as well.
            let (at_least, at_most) = (2, players.min(Terms::PLAYERS_MAX as u32));
            let draw = Selection::Draw(Draw { at_least, at_most, wait_ms });
            let announced = announce(hub, wanted, draw);
            let Ok(id) = announced.await else { return };
            if let Some(players) = started(hub, node, &id).await {
                let tournament = hub.refs.tournament(&id);
                node.tell(
                    pid,
                    class::tournament_started(&own(hub, 0), &tournament, &players),
                    None,
                );
            }
        }
        Question::Bracket { pid, reference, slots, games } => {
            let (name, preset) = ("referee", "yahtzee-referee");
            let wanted = Wanted { name, preset, games, slots: Some(slots) };
            let announced = announce(hub, wanted, Selection::Line { at_most: slots });
            let winner = match announced.await {
                Ok(id) => ended(hub, node, &id).await,
                // A bye wins.
                Err(NotHeld::Nobody) => Some(None),
                Err(NotHeld::Refused) => None,
            };
            let Some(winner) = winner else { return };
            node.tell(pid, referee::tournament_ended(&reference, winner.as_ref()), None);
        }
        Question::Waiting { at_most } => {
            let queue = QueueName::new(QUEUE).expect("a good name");
            let (name, preset) = ("queue", "yahtzee-queue");
            let wanted = Wanted { name, preset, games: 1, slots: None };
            // Who asks is told nothing, in this vocabulary.
            let _ = announce(hub, wanted, Selection::Queue { queue, at_most }).await;
        }
    }
}

/// The process of ours that answers.
fn own(hub: &Hub, name: u32) -> Pid {
    hub.refs.pid(manager(name))
}

async fn player(hub: &Hub, node: &Node, pid: Pid, user: PlayerName, form: &Form) {
    let (engine, name) = (hub.gateway.engine(), user.clone());
    let known =
        engine.ask(vec![StreamKey::Lobby], move |engine| engine.lobby().account(&name).is_some());
    if known.await != Some(true) {
        return;
    }
    let Ok(record) = hub.gateway.ledger().record(engine, user.clone()).await else { return };
    let told = match form {
        Form::Class => class::user_status(&own(hub, 0), &user, &record),
        Form::Referee(reference) => referee::stats_response(reference, &record),
        Form::Queue => queue::stats(&user, &record),
    };
    node.tell(pid, told, None);
}

/// A tournament that is asked for.
struct Wanted {
    /// What its name begins with.
    name: &'static str,
    preset: &'static str,
    games: u32,
    slots: Option<u32>,
}

/// Why a tournament is not held.
enum NotHeld {
    /// Nobody is there to play.
    Nobody,
    /// It cannot be; the operator is told why.
    Refused,
}

/// Holds a tournament, and says how it is called.
async fn announce(
    hub: &Hub,
    wanted: Wanted,
    selection: Selection,
) -> Result<TournamentId, NotHeld> {
    let preset = Preset::named(wanted.preset).expect("a preset of the list");
    let mut policy = preset.policy.clone();
    policy.rules.best_of = wanted.games;
    policy.rules.time.answer_ms = hub.settings.answer_ms.unwrap_or(policy.rules.time.answer_ms);
    policy.rules.time.wait_ms = hub.settings.wait_ms.unwrap_or(policy.rules.time.wait_ms);
    if wanted.slots.is_some() {
        policy.format = Format::Bracket { slots: wanted.slots };
    }
    policy.check().map_err(|_| NotHeld::Refused)?;
    let announced = hub.gateway.engine().ask(vec![StreamKey::Lobby], move |engine| {
        let kind = engine.archive().games.kind(preset.game).cloned().ok_or(NotHeld::Refused)?;
        let config = kind.check_config(preset.config).map_err(|_| NotHeld::Refused)?;
        let mut ids =
            (1_u64..).map(|number| TournamentId::from(format!("{}-{number}", wanted.name)));
        let free = ids.find(|id| engine.lobby().tournament(id).is_none());
        let id = free.expect("there are more numbers than tournaments");
        let announcement = Announcement {
            id: id.clone(),
            preset: Some(preset.name.into()),
            game: preset.game.into(),
            config: Raw(config),
            policy,
            selection,
            by: None,
        };
        match engine.announce(announcement) {
            Ok(()) => Ok(id),
            Err(AnnounceError::Lobby(LobbyRejection::Nobody)) => Err(NotHeld::Nobody),
            Err(why) => {
                tracing::info!(tournament = %id, %why, "a tournament that was asked for is not held");
                Err(NotHeld::Refused)
            }
        }
    });
    announced.await.unwrap_or(Err(NotHeld::Refused))
}

/// Where a tournament stands, as far as is durable.
async fn standing(hub: &Hub, id: &TournamentId) -> Option<Standing> {
    let id = id.clone();
    let streams = vec![StreamKey::Tournament(id.clone()), StreamKey::Lobby];
    let asked =
        hub.gateway.engine().ask(streams, move |engine| engine.lobby().tournament(&id).cloned());
    asked.await?
}

/// Whether a tournament that runs has its first round.
async fn is_live(hub: &Hub, id: &TournamentId) -> Option<bool> {
    let id = id.clone();
    let streams = vec![StreamKey::Tournament(id.clone())];
    let engine = hub.gateway.engine();
    engine.ask(streams, move |engine| engine.live_tournament(&id).is_some()).await
}

async fn status(hub: &Hub, id: TournamentId) -> Option<Status> {
    Some(match standing(hub, &id).await? {
        Standing::Open(_) | Standing::Inviting(_) | Standing::Running(_) => Status::InProgress,
        Standing::Finished(winners) => winners.into_iter().next().map_or(Status::Bye, Status::Won),
        Standing::CalledOff(_) => Status::Bye,
    })
}

/// Waits until something may have happened to a tournament; `false` if nobody is told any more.
async fn stirred(hub: &Hub, node: &Node) -> bool {
    let _ = tokio::time::timeout(LOOK, hub.stirred.notified()).await;
    !node.pen.is_closed()
}

/// Who plays in a tournament, once it has started; `None` if it is called off.
async fn started(hub: &Hub, node: &Node, id: &TournamentId) -> Option<Vec<PlayerName>> {
    loop {
        match standing(hub, id).await? {
            Standing::Running(plan) if is_live(hub, id).await? => {
                return Some(plan.players.clone());
            }
            Standing::Open(_) | Standing::Inviting(_) | Standing::Running(_) => {
                if !stirred(hub, node).await {
                    return None;
                }
            }
            Standing::Finished(_) => {
                let id = id.clone();
                let engine = hub.gateway.engine();
                let results = engine.call(move |engine| engine.past_results(&id)).await?;
                let results = results.ok().flatten()?;
                return Some(results.standings.into_iter().map(|row| row.player).collect());
            }
            Standing::CalledOff(_) => return None,
        }
    }
}

/// Who won a tournament, once it is over; nobody if a bye did.
async fn ended(hub: &Hub, node: &Node, id: &TournamentId) -> Option<Option<PlayerName>> {
    loop {
        match standing(hub, id).await? {
            Standing::Finished(winners) => return Some(winners.into_iter().next()),
            Standing::CalledOff(_) => return Some(None),
            _ => {
                if !stirred(hub, node).await {
                    return None;
                }
            }
        }
    }
}
