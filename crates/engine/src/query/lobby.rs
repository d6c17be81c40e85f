//! The lobby as everybody may see it, and the invitations of a player.
#![expect(missing_docs, reason = "fields say what they hold by their names")]

use super::super::Wire;
use super::super::casual;
use super::super::{Engine, NotObeyed};
use super::Query;
use super::tournaments::TournamentEntry;
use agon_core::lobby::{AccountKind, Invitation, LobbyCommand, Queue, QueueName, Reply, Standing};
use agon_core::{PlayerName, Timestamp, TournamentId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many players, queues and tournaments of each standing are listed; all are counted.
const LISTED_MAX: usize = 500;

/// The lobby.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Lobby")]
pub struct ShownLobby {
    /// How many accounts there are.
    accounts: usize,
    /// How many players are here.
    here: usize,
    /// The players who are here; the first has waited longest. At most 500.
    players: Vec<PlayerHere>,
    /// The queues in which players wait. At most 500.
    queues: Vec<QueueLength>,
    /// How many tournaments there are of each standing.
    counts: TournamentCounts,
    /// Tournaments by standing and name, up to 500 of each standing; without casual games that are
    /// over.
    pub tournaments: Vec<TournamentEntry>,
}

/// A player who is here.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Here")]
struct PlayerHere {
    player: PlayerName,
    kind: AccountKind,
    /// Over which wire; null for a player who has just left, or who uses HTTP only.
    wire: Option<Wire>,
}

/// A queue in which players wait.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Waits")]
struct QueueLength {
    queue: QueueName,
    /// How many places are taken.
    waiting: usize,
}

/// Tournaments by standing.
#[derive(Serialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Counts")]
struct TournamentCounts {
    open: usize,
    inviting: usize,
    running: usize,
    over: usize,
    called_off: usize,
}

impl ShownLobby {
    fn of(engine: &Engine) -> ShownLobby {
        let lobby = engine.lobby.state();
        let here = |player: &PlayerName| {
            let kind = lobby.account(player)?.kind;
            Some(PlayerHere {
                player: player.clone(),
                kind,
                wire: engine.services.present.wire_of(player),
            })
        };
        let length = |(queue, waiting): (&QueueName, &Queue)| QueueLength {
            queue: queue.clone(),
            waiting: waiting.len(),
        };
        let mut counts = TournamentCounts::default();
        let mut listed = [const { Vec::new() }; 5];
        for (id, standing) in lobby.tournaments() {
            let (place, count) = match standing {
                Standing::Open(_) => (0, &mut counts.open),
                Standing::Inviting(_) => (1, &mut counts.inviting),
                Standing::Running(_) => (2, &mut counts.running),
                Standing::Finished(_) => (3, &mut counts.over),
                Standing::CalledOff(_) => (4, &mut counts.called_off),
            };
            *count += 1;
            // Casual games would soon be most of the list; the players' pages have them.
            let is_past = matches!(standing, Standing::Finished(_) | Standing::CalledOff(_));
            if listed[place].len() < LISTED_MAX && !(is_past && casual::names_casual_game(id)) {
                listed[place].push(TournamentEntry::of(engine, id, standing));
            }
        }
        ShownLobby {
            accounts: lobby.accounts().count(),
            here: lobby.line().len(),
            players: lobby.line().iter().filter_map(here).take(LISTED_MAX).collect(),
            queues: lobby.queues().take(LISTED_MAX).map(length).collect(),
            counts,
            tournaments: listed.into_iter().flatten().collect(),
        }
    }
}

/// Asks for the lobby, unless it is still the version the caller has seen.
pub struct LookAtLobby {
    /// The version that came with the latest answer.
    pub seen: Option<u64>,
}

impl Query for LookAtLobby {
    /// The version of the lobby, and the lobby if its version differs from the one seen.
    type Answer = (u64, Option<ShownLobby>);

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let version = engine.lobby_version();
        (version, (self.seen != Some(version)).then(|| ShownLobby::of(engine)))
    }
}

/// An invitation that is open.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Invited")]
pub struct ShownInvitation {
    tournament: TournamentId,
    game: String,
    /// The player who invites.
    by: Option<PlayerName>,
    /// True if players who accepted are asked whether they are ready.
    readying: bool,
    reply: Option<Reply>,
    closes_at: Timestamp,
}

impl ShownInvitation {
    fn of(invitation: &Invitation, player: &PlayerName) -> ShownInvitation {
        ShownInvitation {
            tournament: invitation.announcement.id.clone(),
            game: invitation.announcement.game.clone(),
            by: invitation.announcement.by.clone(),
            readying: invitation.readying,
            reply: invitation.reply(player),
            closes_at: invitation.closes_at,
        }
    }
}

/// Asks for the invitations of a player.
pub struct ListInvitations(pub PlayerName);

impl Query for ListInvitations {
    type Answer = Vec<ShownInvitation>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let invited = engine.lobby.state().invited_to(&self.0);
        invited.map(|invitation| ShownInvitation::of(invitation, &self.0)).collect()
    }
}

/// A player's reply to an invitation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InvitationReply {
    Accept,
    Reject,
    Ready,
}

impl InvitationReply {
    /// The reply in the form that the invitation stores.
    pub fn kept(self) -> Reply {
        match self {
            InvitationReply::Accept => Reply::Accepted,
            InvitationReply::Reject => Reply::Rejected,
            InvitationReply::Ready => Reply::Ready,
        }
    }
}

/// A player replies to an invitation.
pub struct AnswerInvitation {
    pub tournament: TournamentId,
    pub player: PlayerName,
    pub reply: InvitationReply,
}

impl Query for AnswerInvitation {
    type Answer = Result<(), NotObeyed>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let AnswerInvitation { tournament, player, reply } = self;
        engine.known_tournament(&tournament)?;
        let command = match reply {
            InvitationReply::Accept => LobbyCommand::Accept { tournament, player },
            InvitationReply::Reject => LobbyCommand::Reject { tournament, player },
            InvitationReply::Ready => LobbyCommand::BeReady { tournament, player },
        };
        Ok(engine.command(command)?)
    }
}
