//! A tournament that a restart of the server interrupted:
//! `docs/decisions/0016-interrupted-is-a-pause-of-the-server.md`.
//!
//! An interrupted tournament behaves like one that an operator paused: nobody is charged, and an
//! operator decides how it continues. This module also handles the award, which ends a tournament
//! that cannot continue.

use super::{Phase, Tournament, TournamentRejection};
use crate::event::{Event, TournamentEnded, TournamentInterrupted};
use crate::ids::PlayerName;
use crate::ruling::{Interruption, Override, Ruling};

impl Tournament {
    /// Why the server paused the tournament; `None` if it did not.
    pub fn interrupted(&self) -> Option<&Interruption> {
        self.state.interrupted.as_ref()
    }

    /// The players whom restarts of the server cut off from this tournament, if it was interrupted.
    pub fn cut_off(&self) -> impl Iterator<Item = &PlayerName> {
        self.state.cut_off.iter()
    }

    /// An operator's decision that replaced the rest of the tournament.
    pub fn awarded(&self) -> Option<&Override> {
        self.state.awarded.as_ref()
    }

    /// Returns whether the tournament needs a player to continue: its rounds are not over, and the
    /// player has not left.
    pub fn needs(&self, player: &PlayerName) -> bool {
        let playing = matches!(self.state.phase, Phase::Greeting(_) | Phase::Playing);
        let known = self.state.entrants.iter().any(|entrant| entrant.player == *player);
        playing && known && self.state.awarded.is_none() && self.departure(player).is_none()
    }

    pub(super) fn interrupt(
        &mut self,
        events: &mut Vec<Event>,
        interruption: Interruption,
    ) -> Result<(), TournamentRejection> {
        if self.state.paused.is_some() {
            return Err(TournamentRejection::Paused);
        }
        let needed = interruption.missing.iter().all(|player| self.needs(player));
        if interruption.missing.is_empty() || !needed {
            return Err(TournamentRejection::NobodyMissing);
        }
        self.emit(events, TournamentInterrupted { interruption });
        Ok(())
    }

    pub(super) fn apply_interrupted(&mut self, interruption: &Interruption) {
        self.state.cut_off.extend(interruption.missing.iter().cloned());
        self.state.paused = Some(Ruling::of_server(interruption.why.clone()));
        self.state.interrupted = Some(interruption.clone());
    }

    /// Closes all requests. Only calling off the open matches remains.
    pub(super) fn apply_awarded(&mut self, awarded: &Override) {
        self.state.awarded = Some(awarded.clone());
        (self.state.paused, self.state.interrupted) = (None, None);
        self.state.resumed = Some(awarded.ruling.clone());
        self.state.rounds.iter_mut().for_each(super::Round::resume);
        self.state.phase = Phase::Playing;
    }

    /// Ends the tournament with these winners, and reveals its secret.
    pub(super) fn end_with(
        &mut self,
        events: &mut Vec<Event>,
        winners: Vec<PlayerName>,
    ) -> Result<(), TournamentRejection> {
        let secret = self.secret.clone().ok_or(TournamentRejection::NoSecret)?;
        self.emit(events, TournamentEnded { winners, secret, head: None });
        Ok(())
    }
}
