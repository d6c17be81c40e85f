//! Checking a lobby's stream: does it fold, and did tournaments take whom they had to take?
//!
//! Accounts, logins and answers come from outside and are taken as they are. What a tournament
//! makes of them when it is announced is decided again, the draw of a random selection included,
//! once the tournament's secret is known.

use super::{Finding, compare, finding, records};
use crate::event::{Event, TournamentAnnounced};
use crate::fair::Secret;
use crate::ids::TournamentId;
use crate::line::Line;
use crate::lobby::{Lobby, LobbyCommand, Selection};

/// What the check of a lobby found to be in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LobbyCheck {
    /// Announcements checked with everything that follows from them.
    pub announcements: u64,
    /// Random selections that cannot be checked: the secret is not revealed yet, or the log is of
    /// a time before it was committed to.
    pub unchecked: u64,
}

/// Checks a lobby. `secret` gives those of tournaments that are over.
pub fn verify_lobby(
    lines: &[Line],
    secret: impl Fn(&TournamentId) -> Option<Secret>,
) -> Result<LobbyCheck, Finding> {
    let mut lobby = Lobby::default();
    let mut check = LobbyCheck::default();
    for record in records(lines) {
        match &record[0].event {
            Event::TournamentAnnounced(announced) => {
                let secret = secret(&announced.announcement.id);
                announcement(&mut lobby, record, announced, secret, &mut check)?;
            }
            _ => fold(&mut lobby, record)?,
        }
    }
    Ok(check)
}

fn fold(lobby: &mut Lobby, record: &[Line]) -> Result<(), Finding> {
    for line in record {
        lobby.apply(line.at, &line.event).map_err(|error| finding(line, error.to_string()))?;
    }
    Ok(())
}

fn announcement(
    lobby: &mut Lobby,
    record: &[Line],
    announced: &TournamentAnnounced,
    secret: Option<Secret>,
    check: &mut LobbyCheck,
) -> Result<(), Finding> {
    let by_lot = matches!(announced.announcement.selection, Selection::Random { .. });
    if by_lot && (secret.is_none() || announced.commitment.is_none()) {
        check.unchecked += 1;
        return fold(lobby, record);
    }
    let revealed = secret.as_ref().map(Secret::commitment);
    if by_lot && revealed != announced.commitment {
        let what = "it is no commitment to the secret the tournament revealed";
        return Err(finding(&record[0], what.into()));
    }
    let announcement = Box::new(announced.announcement.clone());
    let command = LobbyCommand::Announce { announcement, secret };
    let events = lobby
        .step(record[0].at, command)
        .map_err(|rejection| finding(&record[0], rejection.to_string()))?;
    check.announcements += 1;
    compare(record, &events)
}
