//! Checks that the lobby blacklisted exactly the players whom the policies blacklist.
//!
//! A match's stream shows the cheat, and the lobby's stream shows the blacklisting. The server
//! records the blacklisting after the cheat. It does so before it reports the match's result to the
//! tournament, and before it reports the tournament's end to the lobby. A server that crashed in
//! between records it at its next start. So a blacklisting may be missing only if neither report
//! has happened.

use super::{Finding, LobbyCheck, MatchCheck, TournamentCheck};
use crate::ids::{PlayerName, Timestamp, TournamentId};
use crate::lobby::{Cause, Cheat};
use std::collections::{BTreeMap, BTreeSet};

/// A blacklisting by a policy, as the lobby's stream shows it.
#[derive(Clone, PartialEq, Debug)]
pub struct Listing {
    /// The number of its event.
    pub seq: u64,
    /// When the lobby decided it.
    pub at: Timestamp,
    /// The account.
    pub account: PlayerName,
    /// The reason.
    pub reason: String,
    /// The cheat; logs of earlier programs do not name it.
    pub cause: Option<Cause>,
}

impl Listing {
    /// Returns whether this blacklisting follows from a cheat.
    fn follows_from(&self, cheat: &Cheat) -> bool {
        let named = self.cause.as_ref().is_none_or(|cause| *cause == cheat.cause);
        named && self.account == cheat.account && self.reason == cheat.reason
    }

    fn finding(&self, what: &str) -> Finding {
        let (stream, event) = ("lobby".into(), "account-blacklisted".into());
        Finding { stream, seq: self.seq, event, what: what.into() }
    }
}

/// Pairs every blacklisting by a policy with its cheat, and every cheat with its blacklisting.
pub(super) fn agree(
    lobby: &LobbyCheck,
    tournaments: &BTreeMap<String, TournamentCheck>,
    matches: &BTreeMap<String, MatchCheck>,
) -> Result<(), Finding> {
    let cheats: Vec<&(Cheat, Timestamp)> =
        matches.values().flat_map(|check| &check.cheats).collect();
    let mut unpaired: BTreeMap<&PlayerName, BTreeSet<usize>> = BTreeMap::new();
    for (place, (cheat, _)) in cheats.iter().enumerate() {
        unpaired.entry(&cheat.account).or_default().insert(place);
    }
    for listing in &lobby.listings {
        let own = unpaired.get_mut(&listing.account);
        let found = own.and_then(|own| {
            let place = own.iter().find(|place| listing.follows_from(&cheats[**place].0)).copied();
            place.filter(|place| own.remove(place))
        });
        match found {
            Some(place) => {
                if listing.at < cheats[place].1 {
                    return Err(listing.finding("it is earlier than the cheat it follows from"));
                }
            }
            None if is_given_up(listing, lobby, tournaments) => {}
            None => return Err(listing.finding("no match shows a cheat that it follows from")),
        }
    }
    let left: BTreeSet<usize> = unpaired.into_values().flatten().collect();
    let mut left = left.into_iter().map(|place| cheats[place]);
    match left.find(|(cheat, at)| is_due(cheat, *at, lobby, tournaments)) {
        None => Ok(()),
        Some((cheat, _)) => {
            let Cause { tournament, match_id, event } = &cheat.cause;
            let what = format!("the lobby did not blacklist {} for it", cheat.account);
            let stream = format!("match/{tournament}/{match_id}");
            Err(Finding { stream, seq: *event, event: "player-faulted".into(), what })
        }
    }
}

/// Returns whether a repair abandoned the tournament that a blacklisting came from, so that nothing
/// is left of it.
fn is_given_up(
    listing: &Listing,
    lobby: &LobbyCheck,
    tournaments: &BTreeMap<String, TournamentCheck>,
) -> bool {
    let gone = |id: &TournamentId| !tournaments.contains_key(id.as_str());
    match &listing.cause {
        Some(Cause { tournament, .. }) => {
            lobby.finished.contains_key(tournament) && gone(tournament)
        }
        None => lobby.finished.keys().any(gone),
    }
}

/// Returns whether the lobby must have recorded the blacklisting by now.
fn is_due(
    cheat: &Cheat,
    cheated_at: Timestamp,
    lobby: &LobbyCheck,
    tournaments: &BTreeMap<String, TournamentCheck>,
) -> bool {
    let Cause { tournament, match_id, .. } = &cheat.cause;
    if lobby.finished.contains_key(tournament) {
        return true;
    }
    let reports = tournaments.get(tournament.as_str()).map_or(&[][..], |check| &check.reports);
    let mut reports = reports.iter().filter(|(id, at)| id == match_id && *at >= cheated_at);
    reports.next().is_some_and(|(_, reported_at)| lobby.last_at > *reported_at)
}
