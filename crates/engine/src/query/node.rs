//! Queries of the Erlang node: about programs that cannot reconnect by themselves, and about
//! processes without an account that asked for a tournament.
#![expect(missing_docs, reason = "fields say what they hold by their names")]

use super::super::journal::StreamKey;
use super::super::{AnnounceError, ConnId, Engine, Note};
use super::Query;
use agon_core::lobby::{Announcement, Lobby, LobbyCommand, LobbyRejection, Request};
use agon_core::{Millis, PlayerName, Raw, TournamentId};
use serde::{Deserialize, Serialize};

/// Asks for the log's data about the previous run.
pub struct LookBeforeStart;

impl Query for LookBeforeStart {
    /// Where programs were, all tournaments, and how long players have to reconnect.
    type Answer = (Vec<Raw>, Vec<TournamentId>, Millis);

    fn streams(&self) -> Vec<StreamKey> {
        Vec::new()
    }

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let locations = engine.lobby.state().locations().map(|(_, kept)| kept.clone());
        let tournaments = engine.lobby.state().tournaments().map(|(id, _)| id.clone());
        (locations.collect(), tournaments.collect(), engine.services.settings.reconnect_ms)
    }
}

/// Asks which players a restart disconnected, where their programs were, and in which tournaments
/// they play.
pub struct ListCutOff;

impl Query for ListCutOff {
    type Answer = Vec<(PlayerName, Raw, Vec<TournamentId>)>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        engine.cut_off_locations()
    }
}

/// Records where the program behind a connection is, before it logs in.
pub struct Locate {
    pub conn: ConnId,
    pub location: Raw,
}

impl Query for Locate {
    type Answer = ();

    fn answer(self, engine: &mut Engine) {
        engine.locate(self.conn, self.location);
    }
}

/// Commits where the program of an account that logged in is from now on.
pub struct Relocate {
    pub conn: ConnId,
    pub location: Raw,
}

impl Query for Relocate {
    type Answer = ();

    fn answer(self, engine: &mut Engine) {
        engine.relocate(self.conn, self.location);
    }
}

/// Attaches a connection to an account whose program was found again after a restart; the answer is
/// whether that was possible.
pub struct AttachAgain {
    pub conn: ConnId,
    pub account: PlayerName,
    pub location: Raw,
}

impl Query for AttachAgain {
    type Answer = bool;

    fn streams(&self) -> Vec<StreamKey> {
        Vec::new()
    }

    fn answer(self, engine: &mut Engine) -> bool {
        engine.locate(self.conn, self.location);
        engine.attach_again(self.conn, &self.account)
    }
}

/// Reports that a program that was attached again had ended before.
pub struct ReportNotThere(pub ConnId);

impl Query for ReportNotThere {
    type Answer = ();

    fn answer(self, engine: &mut Engine) {
        engine.was_not_there(self.0);
    }
}

/// Asks which processes without an account wait for news of a tournament.
pub struct ListRequests;

impl Query for ListRequests {
    type Answer = Vec<Request>;

    fn answer(self, engine: &mut Engine) -> Vec<Request> {
        engine.lobby.state().requests().cloned().collect()
    }
}

/// Asks whether a tournament that runs has its first round.
#[derive(Clone, Serialize, Deserialize)]
pub struct IsLive(pub TournamentId);

impl Query for IsLive {
    type Answer = bool;

    fn cell(&self, _: &Lobby) -> Option<TournamentId> {
        Some(self.0.clone())
    }

    fn streams(&self) -> Vec<StreamKey> {
        vec![StreamKey::Tournament(self.0.clone())]
    }

    fn answer(self, engine: &mut Engine) -> bool {
        engine.cells.tournament(&self.0).is_some()
    }
}

/// Why a tournament was not announced.
pub enum NotHeld {
    /// There are no players.
    Nobody,
    /// It cannot be held; the operator's log says why.
    Refused,
}

/// Announces a tournament under the first free name of a series; the answer is that name.
pub struct AnnounceNumbered {
    /// The tournament; the names begin with its id.
    pub announcement: Announcement,
    /// The process to notify, in its gateway's format.
    pub reply_to: Option<Raw>,
}

impl Query for AnnounceNumbered {
    type Answer = Result<TournamentId, NotHeld>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let AnnounceNumbered { announcement, reply_to } = self;
        let series = &announcement.id;
        let mut ids = (1_u64..).map(|number| TournamentId::from(format!("{series}-{number}")));
        let free = ids.find(|id| engine.lobby.state().tournament(id).is_none());
        let id = free.expect("fewer tournaments than numbers");
        match engine.announce(Announcement { id: id.clone(), ..announcement }) {
            Ok(()) => {}
            Err(AnnounceError::Lobby(LobbyRejection::Nobody)) => return Err(NotHeld::Nobody),
            Err(why) => {
                let why = why.to_string();
                engine.note(Note::NotHeld { tournament: id, why });
                return Err(NotHeld::Refused);
            }
        }
        let tournament = id.clone();
        let noted = reply_to
            .map(|reply_to| engine.command(LobbyCommand::NoteRequester { tournament, reply_to }));
        if let Some(Err(why)) = noted {
            let words = format!("the requester of {id} cannot be kept: {why}");
            engine.note(Note::Warning(words));
        }
        Ok(id)
    }
}
