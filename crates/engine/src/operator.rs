//! Operators' orders about the lobby, and about players of running tournaments.
//!
//! Orders about a running tournament and its matches are in `cells/operator.rs`.

use super::cells::notice_of;
use super::follow_up::FollowUp;
use super::journal::StreamKey;
use super::lobby::try_plan;
use super::{CloseReason, Engine};
use agon_core::lobby::{LobbyCommand, LobbyOrder, LobbyRejection, Standing};
use agon_core::{Fault, MatchId, PlayerName, Rejection, Ruling, TournamentId, TournamentRejection};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Why an operator's order was rejected.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, thiserror::Error)]
pub enum NotObeyed {
    /// There is no such tournament.
    #[error("there is no tournament {0}; the lobby lists all tournaments")]
    NoTournament(TournamentId),
    /// The tournament does not run.
    #[error("{0} is not running; only a running tournament can have rulings")]
    NotRunning(TournamentId),
    /// The tournament has no such match.
    #[error("{0} has no match {1}; its page lists all matches")]
    NoMatch(TournamentId, MatchId),
    /// The match is over.
    #[error("match {0} is over; override its result, or have it replayed")]
    MatchOver(MatchId),
    /// A player enters the tournament in this moment.
    #[error("{0} is being entered; try again in a moment")]
    Entering(PlayerName),
    /// The tournament rejected it.
    #[error("{0}")]
    Tournament(#[from] TournamentRejection),
    /// The match rejected it.
    #[error("{0}")]
    Match(#[from] Rejection),
    /// The lobby rejected it.
    #[error("{0}")]
    Lobby(#[from] LobbyRejection),
    /// A node of the cluster could not read the record.
    #[error(
        "a node of this cluster has an older version and could not read it; upgrade all nodes, \
         then try again"
    )]
    OlderNode,
    /// The present players cannot play it.
    #[error("{0}; wait for more players, or cancel the tournament")]
    Plan(String),
}

/// The version of records that an entry into a running tournament needs.
const ENTRY_VERSION: u32 = 2;

impl Engine {
    /// Carries out an order about the lobby.
    pub(crate) fn order_lobby(
        &mut self,
        order: LobbyOrder,
        ruling: Ruling,
    ) -> Result<(), NotObeyed> {
        let command = LobbyCommand::Order { order: order.clone(), ruling: ruling.clone() };
        let mut follow_ups = Vec::new();
        match order {
            LobbyOrder::Start(tournament) => self.check_start(tournament)?,
            LobbyOrder::LogOut(account) => {
                follow_ups.push(FollowUp::LogOut { account, why: ruling.why.to_string() });
            }
            LobbyOrder::Withdraw { tournament, player } => {
                let data = json!({"tournament": self.lobby.state().left_by(tournament, &player)});
                follow_ups.push(notice_of(vec![player], "withdrawn", &data, &ruling));
            }
            LobbyOrder::Enter { .. } if self.services.settings.log_version < ENTRY_VERSION => {
                return Err(NotObeyed::OlderNode);
            }
            LobbyOrder::Enter { tournament, player } => {
                self.check_entry(&tournament, &player)?;
                let data = json!({"tournament": tournament});
                follow_ups.push(notice_of(vec![player.clone()], "entered", &data, &ruling));
                follow_ups.push(FollowUp::Enter(tournament.clone(), player.clone()));
                self.step_lobby(command, follow_ups)?;
                // If another engine owns the tournament, it expects the entry already.
                self.cells.expect_entry(&tournament, player);
                return Ok(());
            }
            LobbyOrder::CallOff(_) => {}
        }
        Ok(self.step_lobby(command, follow_ups)?)
    }

    /// Closes the connection of an account that an operator logged out.
    pub(super) fn close_for_operator(&mut self, account: &PlayerName, why: &str) {
        let Some(conn) = self.conn_of(account) else { return };
        self.refuse(conn, "logged-out", format!("an operator logged you out: {why}"));
        self.end(conn, CloseReason::ByOperator);
    }

    /// Withdraws a player from a tournament; returns the streams this was written to.
    pub(crate) fn order_withdrawal(
        &mut self,
        tournament: TournamentId,
        player: PlayerName,
        ruling: Ruling,
    ) -> Result<Vec<StreamKey>, NotObeyed> {
        let tournament = self.lobby.state().left_by(tournament, &player);
        match self.lobby.state().tournament(&tournament) {
            None => Err(NotObeyed::NoTournament(tournament)),
            Some(Standing::Running(plan)) if plan.players.contains(&player) => {
                let streams = self.cells.streams_of(&tournament, &player)?;
                let fault = Fault::withdrawn(&ruling);
                self.in_cells(|cells, cx| cells.take_out(cx, &tournament, &player, fault));
                Ok(streams)
            }
            Some(Standing::Running(_)) => Err(LobbyRejection::NotSignedUp(player).into()),
            // The tournament has just ended in this engine, and the lobby is another's.
            Some(_) if self.services.has_only_cells() => {
                Err(LobbyRejection::NotSignedUp(player).into())
            }
            Some(_) => {
                let order = LobbyOrder::Withdraw { tournament, player };
                self.order_lobby(order, ruling).map(|()| Vec::new())
            }
        }
    }

    /// Checks that a player can enter a running tournament.
    pub(crate) fn check_entry(
        &self,
        tournament: &TournamentId,
        player: &PlayerName,
    ) -> Result<(), NotObeyed> {
        self.known_tournament(tournament)?;
        self.lobby.state().may_enter(tournament, player)?;
        if self.lobby.accounts().is_peer(player) {
            let why = format!(
                "{player} plays over the protocol of another system; it cannot be \
                               told of a tournament that runs"
            );
            return Err(TournamentRejection::EntryClosed(why).into());
        }
        if self.cell_engines.owner(tournament).is_some() {
            // The engine that owns the tournament was asked before.
            return Ok(());
        }
        match self.cells.tournament(tournament) {
            Some(machine) => Ok(machine.may_enter(player)?),
            None => Err(LobbyRejection::Starting(tournament.clone()).into()),
        }
    }

    /// Checks that the present players can play.
    fn check_start(&self, tournament: TournamentId) -> Result<(), NotObeyed> {
        let plan = self.lobby.state().try_start(tournament)?;
        let kind = self.services.games.kind(&plan.game).expect("checked when announced");
        try_plan(plan, kind).map_err(|error| NotObeyed::Plan(error.to_string()))
    }
}
