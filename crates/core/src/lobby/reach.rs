//! How programs are reached that do not reconnect by themselves, and who waits for a result without
//! having an account.
//!
//! What a location or a request says is known to the gateway that wrote it; the lobby keeps it, so
//! that a server that was restarted can find them again.

use super::{Lobby, LobbyRejection};
use crate::event::{Event, PlayerLocated, RequesterNoted};
use crate::ids::{Millis, PlayerName, Raw, TournamentId};
use serde::{Deserialize, Serialize};

/// Somebody without an account who asked for a tournament and waits to be told of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The tournament.
    pub tournament: TournamentId,
    /// What the gateway needs to answer, as JSON.
    pub reply_to: Raw,
    /// Since when.
    pub since: Millis,
}

impl Lobby {
    /// How an account's program is reached after a restart, if it cannot reconnect by itself.
    pub fn location(&self, account: &PlayerName) -> Option<&Raw> {
        self.locations.get(account)
    }

    /// The accounts whose programs cannot reconnect by themselves, and how each is reached.
    pub fn locations(&self) -> impl Iterator<Item = (&PlayerName, &Raw)> {
        self.locations.iter()
    }

    /// Who waits to be told of a tournament without having an account, the oldest first.
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.requests.iter()
    }

    pub(super) fn locate(
        &mut self,
        now: Millis,
        events: &mut Vec<Event>,
        account: PlayerName,
        location: Option<Raw>,
    ) -> Result<(), LobbyRejection> {
        self.known(&account)?;
        if location.as_ref().is_some_and(is_long) {
            return Err(LobbyRejection::LongLocation);
        }
        if self.locations.get(&account) != location.as_ref() {
            self.emit(now, events, PlayerLocated { account, location });
        }
        Ok(())
    }

    pub(super) fn note_requester(
        &mut self,
        now: Millis,
        events: &mut Vec<Event>,
        tournament: TournamentId,
        reply_to: Raw,
    ) -> Result<(), LobbyRejection> {
        if !self.tournaments.contains_key(&tournament) {
            return Err(LobbyRejection::NotOpen(tournament));
        }
        if is_long(&reply_to) {
            return Err(LobbyRejection::LongLocation);
        }
        self.emit(now, events, RequesterNoted { tournament, reply_to });
        Ok(())
    }

    pub(super) fn apply_located(&mut self, located: &PlayerLocated) {
        match &located.location {
            Some(location) => {
                self.locations.insert(located.account.clone(), location.clone());
            }
            None => {
                self.locations.remove(&located.account);
            }
        }
    }

    pub(super) fn apply_noted(&mut self, at: Millis, noted: &RequesterNoted) {
        let (tournament, reply_to) = (noted.tournament.clone(), noted.reply_to.clone());
        let young = |request: &Request| at.saturating_sub(request.since) < Lobby::REQUEST_MS_MAX;
        self.requests.retain(|request| request.tournament != tournament && young(request));
        self.requests.push_back(Request { tournament, reply_to, since: at });
        if self.requests.len() > Lobby::REQUESTS_MAX {
            self.requests.pop_front();
        }
    }

    /// Whether somebody without an account waits to be told of a tournament.
    pub(super) fn is_requested(&self, tournament: &TournamentId) -> bool {
        self.requests.iter().any(|request| request.tournament == *tournament)
    }

    pub(super) fn settle_request(&mut self, tournament: &TournamentId) {
        self.requests.retain(|request| request.tournament != *tournament);
    }
}

fn is_long(text: &Raw) -> bool {
    text.get().len() > Lobby::LOCATION_BYTES_MAX
}
