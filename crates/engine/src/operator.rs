//! Operators' orders about running tournaments. The machines decide; this module applies their
//! decisions to matches, connections and watchers.
//!
//! The tournament leads and its matches follow: a match is paused, called off or replayed because
//! the tournament's stream says so. A match that a crash left behind follows when the engine
//! resumes it.

use super::announce::try_plan;
use super::follow_up::FollowUp;
use super::journal::StreamKey;
use super::{CloseReason, ConnId, Engine, MatchKey, Timer};
use agon_core::lobby::{LobbyCommand, LobbyOrder, LobbyRejection, Standing};
use agon_core::{
    Command, Fault, FaultKind, Match, MatchId, MatchOrder, PlayerName, Rejection, Ruling,
    TournamentCommand, TournamentId, TournamentOrder, TournamentRejection,
};
use agon_wire::native::ToPlayer;
use serde_json::{Value, json};

/// Why an operator's order was rejected.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum NotObeyed {
    /// There is no such tournament.
    #[error("there is no tournament {0}; the list of tournaments has all ids")]
    NoTournament(TournamentId),
    /// The tournament does not run.
    #[error("{0} does not run; only a tournament that runs can be ruled about")]
    NotRunning(TournamentId),
    /// The tournament has no such match.
    #[error("{0} has no match {1}; its `pairings` list them")]
    NoMatch(TournamentId, MatchId),
    /// The match is over.
    #[error("match {0} is over; override its result, or have it replayed")]
    MatchOver(MatchId),
    /// The tournament rejected it.
    #[error("{0}")]
    Tournament(#[from] TournamentRejection),
    /// The match rejected it.
    #[error("{0}")]
    Match(#[from] Rejection),
    /// The lobby rejected it.
    #[error("{0}")]
    Lobby(#[from] LobbyRejection),
    /// The present players cannot play it.
    #[error("{0}; wait for more players, or call it off")]
    Plan(String),
}

impl Engine {
    /// Carries out an order about a running tournament; returns the streams it was written to.
    pub(crate) fn order(
        &mut self,
        id: &TournamentId,
        order: TournamentOrder,
        ruling: Ruling,
    ) -> Result<Vec<StreamKey>, NotObeyed> {
        let missing = self.not_running(id);
        let live = self.tournaments.get_mut(id).ok_or(missing)?;
        let (what, by) = (order.clone(), ruling.clone());
        let events = live.machine.step(TournamentCommand::Order { order: what, ruling: by })?;
        let (about, players) = (about(id, &order), self.concerned(id, &order));
        let tell = telling(players, about.0, &about.1, &ruling);
        let stream = StreamKey::Tournament(id.clone());
        self.commit(stream.clone(), &events, vec![tell]);
        match order {
            TournamentOrder::Pause => {
                let keys = self.matches.in_tournament(id);
                keys.iter().for_each(|key| self.follow(key));
                let streams = keys.into_iter().map(StreamKey::Match);
                Ok(streams.chain([stream]).collect())
            }
            TournamentOrder::Resume => {
                self.forgive_pause(id);
                Ok(vec![stream])
            }
            _ => Ok(vec![stream]),
        }
    }

    /// Voids a game of a paused match, or restores it.
    pub(crate) fn order_game(
        &mut self,
        key: &MatchKey,
        order: MatchOrder,
        ruling: Ruling,
    ) -> Result<StreamKey, NotObeyed> {
        let missing = self.not_running(&key.tournament);
        let machine = &self.tournaments.get(&key.tournament).ok_or(missing)?.machine;
        let planned = machine.rounds().iter().any(|round| round.place(&key.id).is_some());
        if !planned {
            return Err(NotObeyed::NoMatch(key.tournament.clone(), key.id.clone()));
        }
        let Some(live) = self.matches.get(key) else {
            return Err(NotObeyed::MatchOver(key.id.clone()));
        };
        let players = live.played.plan().players.clone();
        self.step_match(key, Command::Order { order, ruling: ruling.clone() })?;
        let (about, game) = match order {
            MatchOrder::Void(game) => ("game-void", game),
            MatchOrder::UndoVoid(game) => ("game-counts-again", game),
            _ => unreachable!("orders about games are these two"),
        };
        let data = json!({"tournament": key.tournament, "match": key.id, "game": game});
        let stream = StreamKey::Match(key.clone());
        self.once_durable(vec![stream.clone()], telling(players, about, &data, &ruling));
        Ok(stream)
    }

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
                let data = json!({"tournament": self.lobby.left_by(tournament, &player)});
                follow_ups.push(telling(vec![player], "withdrawn", &data, &ruling));
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
        let tournament = self.lobby.left_by(tournament, &player);
        match self.lobby.tournament(&tournament) {
            None => Err(NotObeyed::NoTournament(tournament)),
            Some(Standing::Running(plan)) if plan.players.contains(&player) => {
                let streams = self.streams_of(&tournament, &player)?;
                let detail = format!("withdrawn by {}: {}", ruling.by, ruling.why);
                let fault = Fault::new(FaultKind::Withdrew, "withdrawn", detail);
                self.take_out(&tournament, &player, fault);
                Ok(streams)
            }
            Some(Standing::Running(_)) => Err(LobbyRejection::NotSignedUp(player).into()),
            Some(_) => {
                let order = LobbyOrder::Withdraw { tournament, player };
                self.order_lobby(order, ruling).map(|()| Vec::new())
            }
        }
    }

    /// Whether the present players can play.
    fn check_start(&self, tournament: TournamentId) -> Result<(), NotObeyed> {
        let plan = self.lobby.try_start(tournament)?;
        let kind = self.games.kind(&plan.game).expect("checked when announced");
        try_plan(plan, kind).map_err(|error| NotObeyed::Plan(error.to_string()))
    }

    /// Why an order about a tournament that is not live is rejected.
    fn not_running(&self, id: &TournamentId) -> NotObeyed {
        match self.lobby.tournament(id) {
            None => NotObeyed::NoTournament(id.clone()),
            Some(_) => NotObeyed::NotRunning(id.clone()),
        }
    }

    pub(super) fn is_paused(&self, id: &TournamentId) -> bool {
        self.tournaments.get(id).is_some_and(|live| live.machine.paused().is_some())
    }

    /// The operator's order to replay a finished match, if there is one and the match has not been
    /// reopened yet.
    pub(super) fn replay_of(&self, played: &Match) -> Option<Ruling> {
        played.result()?;
        let live = self.tournaments.get(&played.plan().tournament)?;
        let replays = live.machine.replays(&played.plan().id);
        replays.get(played.reopened() as usize).map(|ruling| (*ruling).clone())
    }

    /// Makes a match follow its tournament: pauses, resumes or calls it off.
    pub(super) fn follow(&mut self, key: &MatchKey) {
        let (Some(tournament), Some(live)) =
            (self.tournaments.get(&key.tournament), self.matches.get(key))
        else {
            return;
        };
        let rests = live.played.paused();
        let machine = &tournament.machine;
        let decided = machine.overridden(&key.id).or(machine.awarded());
        let (order, ruling) = match (machine.paused(), decided) {
            _ if live.played.result().is_some() => return,
            (Some(_), _) if rests.is_some() => return,
            (Some(ruling), _) => (MatchOrder::Pause, ruling.clone()),
            (None, Some(overridden)) => (MatchOrder::CallOff, overridden.ruling.clone()),
            (None, None) => {
                let Some(own) = rests else { return };
                (MatchOrder::Resume, machine.resumed().unwrap_or(own).clone())
            }
        };
        if order == MatchOrder::Resume {
            self.gather_again(key);
        }
        let now = self.now_ms();
        if let Some(live) = self.matches.get_mut(key) {
            live.rests_since = (order == MatchOrder::Pause).then_some(now);
        }
        let _ = self.step_match(key, Command::Order { order, ruling });
    }

    /// Prepares a match to resume: connected players join it, and open requests are sent again.
    fn gather_again(&mut self, key: &MatchKey) {
        let Some(live) = self.matches.get_mut(key) else { return };
        live.sent.clear();
        live.recalled.clear();
        for player in live.played.plan().players.clone() {
            if self.is_seated(&player) {
                self.arrive(key, &player);
            }
        }
    }

    /// Sets new deadlines after a pause: a player who disconnected in it has as long to reconnect
    /// as after a restart.
    fn forgive_pause(&mut self, id: &TournamentId) {
        let until = self.now_ms() + self.settings.reconnect_ms;
        let Some(live) = self.tournaments.get_mut(id) else { return };
        (live.greet_by, live.miss_by) = (until, until);
        self.timers.set(until, Timer::Greeting(id.clone()));
        self.timers.set(until, Timer::Resumed(id.clone()));
    }

    /// Charges the players who have not reconnected after a pause as absent.
    pub(super) fn miss_after_pause(&mut self, id: &TournamentId) {
        let due = self.tournaments.get(id).map(|live| live.miss_by);
        if due.is_none_or(|due| due > self.now_ms()) || self.interrupt_if_cut_off(id) {
            return;
        }
        let own = self.matches.iter().filter(|(key, _)| key.tournament == *id);
        let absent = own.flat_map(|(key, live)| {
            let here = live.played.plan().players.iter().filter(|p| live.played.is_here(p));
            here.map(move |player| (key.clone(), player.clone()))
        });
        for (key, player) in absent.collect::<Vec<_>>() {
            if !self.is_seated(&player) && !self.has_own_time(&player) {
                let fault = Fault::disconnected("did not come back after a pause");
                let _ = self.step_match(&key, Command::Leave { player, fault });
            }
        }
    }

    /// Notifies a player who reconnected if their tournament is paused.
    pub(super) fn tell_pause(&mut self, conn: ConnId, id: &TournamentId) {
        let Some(live) = self.tournaments.get(id) else { return };
        let Some(ruling) = live.machine.paused() else { return };
        let data = json!({"tournament": id, "by": ruling.by, "why": ruling.why});
        let data = Some(agon_games::json(&data));
        self.send(conn, &ToPlayer::notice("paused", data));
    }

    /// The players an order concerns: those of a match, or all.
    fn concerned(&self, id: &TournamentId, order: &TournamentOrder) -> Vec<PlayerName> {
        let Some(live) = self.tournaments.get(id) else { return Vec::new() };
        let of_match = match order {
            TournamentOrder::Pause | TournamentOrder::Resume | TournamentOrder::Award { .. } => {
                None
            }
            TournamentOrder::Override { id, .. }
            | TournamentOrder::Replay { id }
            | TournamentOrder::Undo { id } => live
                .machine
                .rounds()
                .last()
                .and_then(|round| Some(round.matches[round.place(id)?].players.clone())),
        };
        of_match.unwrap_or_else(|| live.machine.plan().players.clone())
    }
}

/// The subject of a notice about an order, and its data without the operator and the reason.
fn about(id: &TournamentId, order: &TournamentOrder) -> (&'static str, Value) {
    match order {
        TournamentOrder::Pause => ("paused", json!({"tournament": id})),
        TournamentOrder::Resume => ("resumed", json!({"tournament": id})),
        TournamentOrder::Award { winners } => {
            ("tournament-awarded", json!({"tournament": id, "winners": winners}))
        }
        TournamentOrder::Override { id: one, winners } => {
            let data = json!({"tournament": id, "match": one, "winners": winners});
            ("result-overridden", data)
        }
        TournamentOrder::Replay { id: one } => {
            ("replay-ordered", json!({"tournament": id, "match": one}))
        }
        TournamentOrder::Undo { id: one } => {
            ("ruling-undone", json!({"tournament": id, "match": one}))
        }
    }
}

/// The follow-up that notifies connected players of an order.
pub(super) fn telling(
    players: Vec<PlayerName>,
    about: &'static str,
    data: &Value,
    ruling: &Ruling,
) -> FollowUp {
    let mut data = data.clone();
    (data["by"], data["why"]) = (json!(ruling.by), json!(ruling.why));
    FollowUp::Notify { players, about, data }
}
