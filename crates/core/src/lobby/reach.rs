//! How to reach programs that do not reconnect by themselves, and who waits for a result without an
//! account.
//!
//! Only the gateway that wrote a location or a request understands its content. The lobby stores
//! it, so that a restarted server can reach the program or the sender again.

use super::{Lobby, LobbyRejection};
use crate::event::{Event, PlayerLocated, RequesterNoted};
use crate::ids::{PlayerName, Raw, Timestamp, TournamentId};
use serde::{Deserialize, Serialize};

/// A request for a tournament, from a sender without an account who waits for the result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The tournament.
    pub tournament: TournamentId,
    /// The data that the gateway needs to reply, as JSON.
    pub reply_to: Raw,
    /// When the request was made.
    pub since: Timestamp,
}

impl Lobby {
    /// How to reach an account's program after a restart; `None` if it can reconnect by itself.
    pub fn location(&self, account: &PlayerName) -> Option<&Raw> {
        self.locations.get(account)
    }

    /// The accounts whose programs cannot reconnect by themselves, and how to reach each.
    pub fn locations(&self) -> impl Iterator<Item = (&PlayerName, &Raw)> {
        self.locations.iter()
    }

    /// The open requests from senders without an account, the oldest first.
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.requests.iter()
    }

    pub(super) fn locate(
        &mut self,
        now: Timestamp,
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
        now: Timestamp,
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

    pub(super) fn apply_noted(&mut self, at: Timestamp, noted: &RequesterNoted) {
        let (tournament, reply_to) = (noted.tournament.clone(), noted.reply_to.clone());
        let young = |request: &Request| at.since(request.since) < Lobby::REQUEST_MS_MAX;
        self.requests.retain(|request| request.tournament != tournament && young(request));
        self.requests.push_back(Request { tournament, reply_to, since: at });
        if self.requests.len() > Lobby::REQUESTS_MAX {
            self.requests.pop_front();
        }
    }

    /// Returns whether a sender without an account waits for the result of a tournament.
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
