//! Processes replies to invitations.

use super::invitation::Verdict;
use super::{Invitation, Lobby, LobbyRejection, Reply, Standing};
use crate::event::{
    Event, InvitationAccepted, InvitationRejected, PlayerReady, PlayersDrawn, ReadinessAsked,
    SilenceNoted, TournamentCalledOff, TournamentStarted,
};
use crate::ids::{PlayerName, Timestamp, TournamentId};

impl Lobby {
    pub(super) fn accept(
        &mut self,
        now: Timestamp,
        events: &mut Vec<Event>,
        tournament: TournamentId,
        player: PlayerName,
    ) -> Result<(), LobbyRejection> {
        self.may_play(&player)?;
        let invitation = self.invitation_of(&tournament, &player)?;
        match invitation.reply(&player) {
            // The player repeats an acceptance, because the confirmation was lost.
            Some(Reply::Accepted | Reply::Ready) => return Ok(()),
            Some(Reply::Open | Reply::Rejected | Reply::Silent) if !invitation.readying => {}
            _ => return Err(LobbyRejection::NotInvited(player)),
        }
        let accepted = InvitationAccepted { tournament: tournament.clone(), player };
        self.emit(now, events, accepted);
        self.settle(now, events, tournament, false);
        Ok(())
    }

    pub(super) fn reject(
        &mut self,
        now: Timestamp,
        events: &mut Vec<Event>,
        tournament: TournamentId,
        player: PlayerName,
    ) -> Result<(), LobbyRejection> {
        match self.invitation_of(&tournament, &player)?.reply(&player) {
            Some(Reply::Rejected) => return Ok(()),
            Some(Reply::Missed | Reply::Reserve) | None => {
                return Err(LobbyRejection::NotInvited(player));
            }
            _ => {}
        }
        let rejected = InvitationRejected { tournament: tournament.clone(), player };
        self.emit(now, events, rejected);
        self.settle(now, events, tournament, false);
        Ok(())
    }

    pub(super) fn be_ready(
        &mut self,
        now: Timestamp,
        events: &mut Vec<Event>,
        tournament: TournamentId,
        player: PlayerName,
    ) -> Result<(), LobbyRejection> {
        let invitation = self.invitation_of(&tournament, &player)?;
        match invitation.reply(&player) {
            Some(Reply::Ready) => return Ok(()),
            Some(Reply::Accepted) if invitation.readying => {}
            Some(Reply::Open | Reply::Accepted) => return Err(LobbyRejection::NotAsked(player)),
            _ => return Err(LobbyRejection::NotInvited(player)),
        }
        self.emit(now, events, PlayerReady { tournament: tournament.clone(), player });
        self.settle(now, events, tournament, false);
        Ok(())
    }

    /// Handles the end of the wait, or a draw that has waited long enough for the players invited
    /// so far.
    pub(super) fn close_invitation(
        &mut self,
        now: Timestamp,
        events: &mut Vec<Event>,
        tournament: TournamentId,
    ) {
        let Some(Standing::Inviting(invitation)) = self.tournaments.get(&tournament) else {
            return;
        };
        let draws_at = invitation.draws_at.filter(|_| now < invitation.closes_at);
        let Some(draws_at) = draws_at.filter(|_| invitation.has_reserve()) else {
            return self.settle(now, events, tournament, true);
        };
        if draws_at <= now {
            let players = invitation.unanswered();
            self.emit(now, events, SilenceNoted { tournament: tournament.clone(), players });
            self.settle(now, events, tournament, false);
        }
    }

    /// Applies the consequences of the replies so far, if any.
    pub(super) fn settle(
        &mut self,
        now: Timestamp,
        events: &mut Vec<Event>,
        tournament: TournamentId,
        over: bool,
    ) {
        let Some(Standing::Inviting(invitation)) = self.tournaments.get(&tournament) else {
            return;
        };
        match invitation.verdict(over) {
            Verdict::Wait => {}
            Verdict::Draw(players) => {
                self.emit(now, events, PlayersDrawn { tournament, players });
            }
            Verdict::AskReady => self.emit(now, events, ReadinessAsked { tournament }),
            Verdict::Start(players) => {
                let plan = invitation.announcement.plan(players);
                self.emit(now, events, TournamentStarted { plan });
            }
            Verdict::CallOff(reason) => {
                self.emit(now, events, TournamentCalledOff { tournament, reason });
            }
        }
    }

    fn invitation_of(
        &self,
        tournament: &TournamentId,
        player: &PlayerName,
    ) -> Result<&Invitation, LobbyRejection> {
        match self.tournaments.get(tournament) {
            Some(Standing::Inviting(invitation)) => Ok(invitation),
            _ => Err(LobbyRejection::NotInvited(player.clone())),
        }
    }
}
