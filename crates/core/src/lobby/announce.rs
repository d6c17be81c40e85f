//! Announces tournaments and selects their players.

use super::invitation::Verdict;
use super::{Announcement, Lobby, LobbyRejection, Selection, SignUp, Terms};
use crate::event::{Event, TournamentAnnounced, TournamentStarted};
use crate::fair::Secret;
use crate::ids::{PlayerName, Timestamp, TournamentId};
use crate::plan::TournamentPlan;
use agon_games::Luck;
use std::collections::BTreeSet;

/// The players whom a selection takes.
#[derive(Default)]
struct Taken {
    players: Vec<PlayerName>,
    /// The players who would have been taken if they had been connected.
    passed_over: Vec<PlayerName>,
}

impl Taken {
    /// The first `count` players who are connected.
    fn first<'a>(
        players: impl IntoIterator<Item = &'a PlayerName>,
        count: usize,
        absent: &BTreeSet<PlayerName>,
    ) -> Taken {
        let mut taken = Taken::default();
        for player in players {
            if taken.players.len() >= count {
                break;
            }
            match absent.contains(player) {
                true => taken.passed_over.push(player.clone()),
                false => taken.players.push(player.clone()),
            }
        }
        taken
    }
}

impl Lobby {
    /// Checks whether a tournament could be announced now, and returns its plan if it would start
    /// at once. Players who are `absent` are not taken. Changes nothing.
    pub fn try_announce(
        &self,
        announcement: &Announcement,
        secret: Option<&Secret>,
        absent: &BTreeSet<PlayerName>,
    ) -> Result<Option<TournamentPlan>, LobbyRejection> {
        Ok(self.decide(announcement, secret, absent)?.1)
    }

    /// The players whom a tournament would take, or invite, if it were announced now. Changes
    /// nothing.
    pub(crate) fn try_take(
        &self,
        announcement: &Announcement,
        secret: Option<&Secret>,
        absent: &BTreeSet<PlayerName>,
    ) -> Result<Vec<PlayerName>, LobbyRejection> {
        Ok(self.decide(announcement, secret, absent)?.0.players)
    }

    /// The players whom a tournament takes if it is announced now, and its plan if it starts at
    /// once.
    fn decide(
        &self,
        announcement: &Announcement,
        secret: Option<&Secret>,
        absent: &BTreeSet<PlayerName>,
    ) -> Result<(Taken, Option<TournamentPlan>), LobbyRejection> {
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
                return Ok((Taken::default(), None));
            }
            Selection::Invitation(terms) => {
                terms.check().map_err(LobbyRejection::BadWindow)?;
                terms.players.iter().try_for_each(|player| self.may_play(player))?;
                let invitation =
                    self.invitation(announcement.clone(), terms.clone(), Timestamp::default());
                let plan = match invitation.verdict(false) {
                    Verdict::Start(players) => Some(announcement.plan(players)),
                    _ => None,
                };
                return Ok((Taken::default(), plan));
            }
            Selection::Draw(draw) => draw.check().map_err(LobbyRejection::BadWindow)?,
            _ => {}
        }
        let taken = self.select(announcement, secret, absent)?;
        match &announcement.selection {
            Selection::Draw(draw) => match taken.players.len() >= draw.at_least as usize {
                true => Ok((taken, None)),
                false => Err(LobbyRejection::TooFew(taken.players.len(), draw.at_least)),
            },
            _ if taken.players.is_empty() => Err(LobbyRejection::Nobody),
            _ => {
                let plan = announcement.plan(taken.players.clone());
                Ok((taken, Some(plan)))
            }
        }
    }

    pub(super) fn announce(
        &mut self,
        now: Timestamp,
        events: &mut Vec<Event>,
        announcement: Announcement,
        secret: Option<&Secret>,
        absent: &BTreeSet<PlayerName>,
    ) -> Result<(), LobbyRejection> {
        let (Taken { players, passed_over }, plan) = self.decide(&announcement, secret, absent)?;
        let commitment =
            secret.filter(|_| announcement.selection.is_by_lot()).map(Secret::commitment);
        let draw_order = match announcement.selection {
            Selection::Draw(_) => players,
            _ => Vec::new(),
        };
        let repeats = None;
        let announced =
            TournamentAnnounced { announcement, repeats, commitment, passed_over, draw_order };
        self.emit(now, events, announced);
        if let Some(plan) = plan {
            self.emit(now, events, TournamentStarted { plan });
        }
        Ok(())
    }

    /// The players whom a selection takes from the connected players.
    fn select(
        &self,
        announcement: &Announcement,
        secret: Option<&Secret>,
        absent: &BTreeSet<PlayerName>,
    ) -> Result<Taken, LobbyRejection> {
        let free = |player: &&PlayerName| self.may_play(player).is_ok();
        let here = || self.line.iter().filter(free);
        let by_lot = || {
            let seed = secret.ok_or(LobbyRejection::NoSecret)?.selection_seed(&announcement.id);
            let mut players: Vec<&PlayerName> = here().collect();
            Luck::new(&seed, "select").shuffle(0, &mut players);
            Ok(players)
        };
        let some = |count: u32| count as usize;
        Ok(match &announcement.selection {
            Selection::Line { at_most } => Taken::first(here(), some(*at_most), absent),
            Selection::Age { at_most } => {
                let mut players: Vec<&PlayerName> = here().collect();
                players.sort_by_key(|player| self.accounts[*player].number);
                Taken::first(players, some(*at_most), absent)
            }
            Selection::Random { at_most } => Taken::first(by_lot()?, some(*at_most), absent),
            Selection::Draw(_) => Taken::first(by_lot()?, Terms::PLAYERS_MAX, absent),
            Selection::Queue { queue, at_most } => {
                let mut seen = BTreeSet::new();
                let once = self.queue(queue).iter().filter(free).filter(|one| seen.insert(*one));
                Taken::first(once, some(*at_most), absent)
            }
            Selection::Named { players } => {
                players.iter().try_for_each(|player| self.may_play(player))?;
                let mut seen = BTreeSet::new();
                if let Some(twice) = players.iter().find(|player| !seen.insert(*player)) {
                    return Err(LobbyRejection::Twice(twice.clone()));
                }
                Taken { players: players.clone(), passed_over: Vec::new() }
            }
            Selection::SignUp(_) | Selection::Invitation(_) => Taken::default(),
        })
    }

    /// Opens the next sign-up of a series: `cup-2` after `cup`.
    pub(super) fn repeat(&mut self, now: Timestamp, events: &mut Vec<Event>, closed: SignUp) {
        if !closed.window.repeat || !self.has_room() {
            return;
        }
        let ids = (closed.next_number()..)
            .map(|number| TournamentId::from(format!("{}-{number}", closed.series)));
        let mut free = ids.filter(|id| !self.tournaments.contains_key(id));
        let id = free.next().expect("fewer tournaments than numbers");
        let announcement = Announcement { id, ..closed.announcement };
        let (repeats, commitment) = (Some(closed.series), None);
        let (passed_over, draw_order) = (Vec::new(), Vec::new());
        let announced =
            TournamentAnnounced { announcement, repeats, commitment, passed_over, draw_order };
        self.emit(now, events, announced);
    }

    fn has_room(&self) -> bool {
        self.index.live() < Lobby::TOURNAMENTS_MAX
    }
}

/// Returns whether a text can be part of stream names, and of request ids before their colon.
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
