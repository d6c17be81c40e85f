//! Announcing tournaments, and whom they take.

use super::invitation::Verdict;
use super::{Announcement, Lobby, LobbyRejection, Selection, SignUp};
use crate::event::{Event, TournamentAnnounced, TournamentStarted};
use crate::fair::Secret;
use crate::ids::{Millis, PlayerName, TournamentId};
use crate::plan::TournamentPlan;
use agon_games::Luck;
use std::collections::BTreeSet;

impl Lobby {
    /// Whether a tournament could be announced now, and the plan it would start with if it would
    /// start at once. Changes nothing.
    pub fn try_announce(
        &self,
        announcement: &Announcement,
        secret: Option<&Secret>,
    ) -> Result<Option<TournamentPlan>, LobbyRejection> {
        if !names_tournament(announcement.id.as_str()) {
            return Err(LobbyRejection::BadId(announcement.id.as_str().chars().take(80).collect()));
        }
        if self.tournaments.contains_key(&announcement.id) {
            return Err(LobbyRejection::Announced(announcement.id.clone()));
        }
        if !self.has_room() {
            return Err(LobbyRejection::TooMany);
        }
        match &announcement.selection {
            Selection::SignUp(window) => {
                window.check().map_err(LobbyRejection::BadWindow)?;
                return Ok(None);
            }
            Selection::Invitation(terms) => {
                terms.check().map_err(LobbyRejection::BadWindow)?;
                terms.players.iter().try_for_each(|player| self.may_play(player))?;
                let invitation = self.invitation(announcement.clone(), terms.clone(), 0);
                return Ok(match invitation.verdict(false) {
                    Verdict::Start(players) => Some(announcement.plan(players)),
                    _ => None,
                });
            }
            _ => {}
        }
        let players = self.select(announcement, secret)?;
        if players.is_empty() {
            return Err(LobbyRejection::Nobody);
        }
        Ok(Some(announcement.plan(players)))
    }

    pub(super) fn announce(
        &mut self,
        now: Millis,
        events: &mut Vec<Event>,
        announcement: Announcement,
        secret: Option<&Secret>,
    ) -> Result<(), LobbyRejection> {
        let plan = self.try_announce(&announcement, secret)?;
        let by_lot = matches!(announcement.selection, Selection::Random { .. });
        let commitment = secret.filter(|_| by_lot).map(Secret::commitment);
        let repeats = None;
        self.emit(now, events, TournamentAnnounced { announcement, repeats, commitment });
        if let Some(plan) = plan {
            self.emit(now, events, TournamentStarted { plan });
        }
        Ok(())
    }

    /// Whom a selection takes from those who are here now.
    fn select(
        &self,
        announcement: &Announcement,
        secret: Option<&Secret>,
    ) -> Result<Vec<PlayerName>, LobbyRejection> {
        let free = |player: &&PlayerName| self.may_play(player).is_ok();
        let here = || self.line.iter().filter(free);
        let some = |count: u32| count as usize;
        Ok(match &announcement.selection {
            Selection::Line { at_most } => here().take(some(*at_most)).cloned().collect(),
            Selection::Age { at_most } => {
                let mut players: Vec<PlayerName> = here().cloned().collect();
                players.sort_by_key(|player| self.accounts[player].number);
                players.truncate(some(*at_most));
                players
            }
            Selection::Random { at_most } => {
                let seed = secret.ok_or(LobbyRejection::NoSecret)?.selection_seed(&announcement.id);
                let mut players: Vec<PlayerName> = here().cloned().collect();
                Luck::new(&seed, "select").shuffle(0, &mut players);
                players.truncate(some(*at_most));
                players
            }
            Selection::Queue { queue, at_most } => {
                let mut seen = BTreeSet::new();
                let once = self.queue(queue).iter().filter(free).filter(|one| seen.insert(*one));
                once.take(some(*at_most)).cloned().collect()
            }
            Selection::Named { players } => {
                players.iter().try_for_each(|player| self.may_play(player))?;
                let mut seen = BTreeSet::new();
                if let Some(twice) = players.iter().find(|player| !seen.insert(*player)) {
                    return Err(LobbyRejection::Twice(twice.clone()));
                }
                players.clone()
            }
            Selection::SignUp(_) | Selection::Invitation(_) => Vec::new(),
        })
    }

    /// Opens the next sign-up of a series: `cup-2` after `cup`.
    pub(super) fn repeat(&mut self, now: Millis, events: &mut Vec<Event>, closed: SignUp) {
        if !closed.window.repeat || !self.has_room() {
            return;
        }
        let ids = (closed.next_number()..)
            .map(|number| TournamentId::from(format!("{}-{number}", closed.series)));
        let mut free = ids.filter(|id| !self.tournaments.contains_key(id));
        let id = free.next().expect("there are more numbers than tournaments");
        let announcement = Announcement { id, ..closed.announcement };
        let (repeats, commitment) = (Some(closed.series), None);
        self.emit(now, events, TournamentAnnounced { announcement, repeats, commitment });
    }

    fn has_room(&self) -> bool {
        self.index.live() < Lobby::TOURNAMENTS_MAX
    }
}

/// Whether a text can be part of the names of streams and, before a colon, of ids of requests.
fn names_tournament(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=60).contains(&id.len()) && id.bytes().all(plain) && !id.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tournaments_have_plain_names() {
        for good in ["a", "0", "cup-2", "a-", &"x".repeat(60)] {
            assert!(names_tournament(good), "{good:?}");
        }
        for bad in ["", "-a", "A", "a b", "a_b", "é", "a/b", &"x".repeat(61)] {
            assert!(!names_tournament(bad), "{bad:?}");
        }
    }
}
