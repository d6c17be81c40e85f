//! Tournaments: listing, the state of one, announcing, signing up and withdrawing.
#![expect(missing_docs, reason = "fields say what they hold by their names")]

use super::super::journal::StreamKey;
use super::super::show::{ShownPlan, ShownReply, ShownTournament};
use super::super::{AnnounceError, Engine, NotObeyed};
use super::operator::Written;
use super::{ListWindow, Query};
use crate::Wanted;
use agon_core::lobby::{Announcement, Lobby, LobbyCommand, LobbyRuling, Role, Standing};
use agon_core::{Age, PlayerName, TournamentId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A tournament in a list.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "standing", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "Listed")]
pub enum TournamentEntry {
    /// Players may sign up.
    Open { id: TournamentId, game: String, players: usize },
    /// Players are invited; `players` counts those who come.
    Inviting { id: TournamentId, game: String, players: usize },
    /// It runs.
    Running {
        id: TournamentId,
        game: String,
        players: usize,
        /// True if it is interrupted because a restart of the server disconnected players.
        #[serde(skip_serializing_if = "Option::is_none")]
        interrupted: Option<bool>,
        /// True if it is paused.
        #[serde(skip_serializing_if = "Option::is_none")]
        paused: Option<bool>,
    },
    /// It is over.
    Over { id: TournamentId, winners: Vec<PlayerName> },
    /// It was not held.
    CalledOff { id: TournamentId, reason: String },
}

impl TournamentEntry {
    pub(super) fn of(engine: &Engine, id: &TournamentId, standing: &Standing) -> TournamentEntry {
        let id = id.clone();
        match standing {
            Standing::Open(up) => {
                let (game, players) = (up.announcement.game.clone(), up.players.len());
                TournamentEntry::Open { id, game, players }
            }
            Standing::Inviting(invitation) => {
                let game = invitation.announcement.game.clone();
                TournamentEntry::Inviting { id, game, players: invitation.coming().count() }
            }
            Standing::Running(plan) => {
                let (paused, interrupted) = engine.rests(&plan.id);
                let (paused, interrupted) = (paused.then_some(true), interrupted.then_some(true));
                let (game, players) = (plan.game.clone(), plan.players.len());
                TournamentEntry::Running { id, game, players, interrupted, paused }
            }
            Standing::Finished(winners) => TournamentEntry::Over { id, winners: winners.clone() },
            Standing::CalledOff(why) => TournamentEntry::CalledOff { id, reason: why.clone() },
        }
    }
}

/// A page of tournaments, by name.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Tournaments")]
pub struct TournamentPage {
    tournaments: Vec<TournamentEntry>,
    /// The value of `after` for the next page; null on the last.
    next: Option<TournamentId>,
}

/// Asks for the rulings of operators about a tournament that the lobby keeps.
pub struct FindLobbyRulings(pub TournamentId);

impl Query for FindLobbyRulings {
    type Answer = Vec<LobbyRuling>;

    fn answer(self, engine: &mut Engine) -> Vec<LobbyRuling> {
        engine.lobby.state().rulings(&self.0).to_vec()
    }
}

/// Asks for the rulings of operators about an account; `None` if there is no such account.
pub struct FindAccountRulings(pub PlayerName);

impl Query for FindAccountRulings {
    type Answer = Option<Vec<LobbyRuling>>;

    fn answer(self, engine: &mut Engine) -> Option<Vec<LobbyRuling>> {
        let lobby = engine.lobby.state();
        lobby.account(&self.0)?;
        Some(lobby.account_rulings(&self.0).to_vec())
    }
}

/// Asks for a page of all tournaments, or of those that one account announced.
pub struct ListTournaments {
    pub window: ListWindow,
    pub by: Option<PlayerName>,
}

impl Query for ListTournaments {
    type Answer = TournamentPage;

    fn answer(self, engine: &mut Engine) -> TournamentPage {
        let (lobby, by) = (engine.lobby.state(), self.by.as_ref());
        let all = lobby.tournaments().filter(|(id, _)| by.is_none() || lobby.asker(id) == by);
        let entry = |id, standing| TournamentEntry::of(engine, id, standing);
        let (tournaments, next) = self.window.of(all, TournamentId::as_str, entry);
        TournamentPage { tournaments, next }
    }
}

/// A tournament as the engine knows it.
#[derive(Serialize, Deserialize)]
pub enum FoundTournament {
    /// There is no such tournament.
    Nothing,
    /// It has not started, or never will.
    NotStarted(ShownTournament),
    /// The tournament runs.
    Running(ShownTournament),
    /// The tournament is over; the log has it.
    Over,
}

/// Asks for the state of a tournament.
#[derive(Clone, Serialize, Deserialize)]
pub struct FindTournament(pub TournamentId);

impl Query for FindTournament {
    type Answer = FoundTournament;

    fn cell(&self, _: &Lobby) -> Option<TournamentId> {
        Some(self.0.clone())
    }

    fn streams(&self) -> Vec<StreamKey> {
        vec![StreamKey::Lobby, StreamKey::Tournament(self.0.clone())]
    }

    fn answer(self, engine: &mut Engine) -> FoundTournament {
        let id = self.0;
        FoundTournament::NotStarted(match engine.lobby.state().tournament(&id) {
            None => return FoundTournament::Nothing,
            Some(Standing::Finished(_)) => return FoundTournament::Over,
            Some(Standing::Open(sign_up)) => {
                let announcement = &sign_up.announcement;
                ShownTournament::Open {
                    id,
                    plan: ShownPlan::of(&announcement.plan(sign_up.players.clone())),
                    selection: announcement.selection.clone(),
                    closes_at: sign_up.closes_at,
                    extended: sign_up.extended,
                }
            }
            Some(Standing::Inviting(invitation)) => {
                let coming = invitation.coming().cloned().collect();
                let announcement = &invitation.announcement;
                let replies = invitation
                    .replies
                    .iter()
                    .map(|(player, reply)| ShownReply { player: player.clone(), reply: *reply });
                ShownTournament::Inviting {
                    id,
                    plan: ShownPlan::of(&announcement.plan(coming)),
                    selection: announcement.selection.clone(),
                    closes_at: invitation.closes_at,
                    readying: invitation.readying,
                    replies: replies.collect(),
                }
            }
            Some(Standing::Running(plan)) => match engine.cells.shown_tournament(&id) {
                Some(shown) => return FoundTournament::Running(shown),
                // Its secret is in flight.
                None => ShownTournament::Running {
                    id,
                    plan: ShownPlan::of(plan),
                    pairings: Vec::new(),
                    results: None,
                    began_at: None,
                    paused: None,
                },
            },
            Some(Standing::CalledOff(why)) => {
                ShownTournament::CalledOff { id, reason: why.clone() }
            }
        })
    }
}

/// Asks for the standing of a tournament in the lobby.
#[derive(Clone, Serialize, Deserialize)]
pub struct FindStanding(pub TournamentId);

impl Query for FindStanding {
    type Answer = Option<Standing>;

    fn cell(&self, _: &Lobby) -> Option<TournamentId> {
        Some(self.0.clone())
    }

    fn streams(&self) -> Vec<StreamKey> {
        vec![StreamKey::Tournament(self.0.clone()), StreamKey::Lobby]
    }

    fn answer(self, engine: &mut Engine) -> Option<Standing> {
        engine.lobby.state().tournament(&self.0).cloned()
    }
}

/// Asks which tournaments have started, unless no tournament has a new record.
pub struct ListStarted {
    /// The count of records that came with the last answer.
    pub seen: Option<u64>,
}

impl Query for ListStarted {
    /// The count of records of all tournaments, and the tournaments if the count has changed.
    type Answer = (u64, Option<Vec<TournamentId>>);

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let records = engine.counts().tournament_records;
        let has_started =
            |standing: &Standing| matches!(standing, Standing::Running(_) | Standing::Finished(_));
        // Without new records the engine need not walk through all past tournaments.
        let started = (self.seen != Some(records)).then(|| {
            let all = engine.lobby.state().tournaments();
            all.filter(|(_, standing)| has_started(standing)).map(|(id, _)| id.clone()).collect()
        });
        (records, started)
    }
}

/// Announces a tournament.
pub struct Announce(pub Announcement);

impl Query for Announce {
    type Answer = Result<(), AnnounceError>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        engine.announce(self.0)
    }
}

/// Why a tournament that an account asked for was not announced.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum NotAnnounced {
    #[error("{0} is no operator; ask one, or log in as one")]
    NotOperator(PlayerName),
    #[error("{0} is in {1} casual games; finish or resign one first")]
    Busy(PlayerName, usize),
    #[error("{0}")]
    Malformed(String),
    #[error("{0}")]
    Refused(#[from] AnnounceError),
}

/// An account asks for a tournament. Operators may ask for any; players may invite others where the
/// settings allow that.
pub struct AnnounceWanted {
    pub wanted: Wanted,
    pub by: PlayerName,
}

impl Query for AnnounceWanted {
    type Answer = Result<TournamentId, NotAnnounced>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let AnnounceWanted { mut wanted, by } = self;
        let role = engine.lobby.state().account(&by).map(|account| account.role);
        let may_invite = wanted.invites() && engine.services.settings.players_may_invite;
        if role != Some(Role::Operator) && !may_invite {
            return Err(NotAnnounced::NotOperator(by));
        }
        let house_players = wanted.take_house_players().map_err(NotAnnounced::Malformed)?;
        let announcement = wanted.announcement(&engine.services.games, by);
        let announcement = announcement.map_err(NotAnnounced::Malformed)?;
        for name in house_players.iter().filter_map(PlayerName::house) {
            let checked = engine.services.houses.check(&announcement.game, name);
            checked.map_err(AnnounceError::House)?;
        }
        let id = announcement.id.clone();
        engine.announce(announcement)?;
        for player in house_players {
            let (tournament, age) = (id.clone(), None);
            let sign_up = LobbyCommand::SignUp { tournament, player, age };
            engine.command(sign_up).map_err(AnnounceError::from)?;
        }
        Ok(id)
    }
}

/// Opens a repeated sign-up, unless one like it is open already.
pub struct OpenSignUp(pub Arc<Announcement>);

impl Query for OpenSignUp {
    type Answer = Result<(), AnnounceError>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        engine.open_sign_up(&self.0)
    }
}

/// A player signs up; the answer is the tournament of the series that takes them.
pub struct SignUpPlayer {
    pub tournament: TournamentId,
    pub player: PlayerName,
    pub age: Option<Age>,
}

impl Query for SignUpPlayer {
    type Answer = Result<TournamentId, NotObeyed>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let SignUpPlayer { tournament, player, age } = self;
        engine.known_tournament(&tournament)?;
        let tournament = engine.lobby.state().latest_of(tournament);
        let id = tournament.clone();
        engine.command(LobbyCommand::SignUp { tournament, player, age })?;
        Ok(id)
    }
}

/// A player withdraws a sign-up, rejects an invitation, or leaves a running tournament and all
/// their matches in it.
#[derive(Clone, Serialize, Deserialize)]
pub struct Withdraw {
    pub tournament: TournamentId,
    pub player: PlayerName,
}

impl Query for Withdraw {
    type Answer = Result<Written, NotObeyed>;

    fn cell(&self, lobby: &Lobby) -> Option<TournamentId> {
        Some(lobby.left_by(self.tournament.clone(), &self.player))
    }

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        engine.known_tournament(&self.tournament)?;
        Ok(Written(engine.withdraw(self.tournament, self.player)?))
    }

    fn written(answer: &Self::Answer) -> Vec<StreamKey> {
        answer.as_ref().map(|written| written.0.clone()).unwrap_or_default()
    }
}
