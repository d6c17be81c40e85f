//! Operators' orders about running tournaments. The machines decide; this module applies their
//! decisions to matches.
//!
//! The tournament leads and its matches follow: a match is paused, called off or replayed because
//! the tournament's stream says so. A match that a crash left behind follows when the engine
//! resumes it.

use super::Cells;
use crate::follow_up::FollowUp;
use crate::journal::StreamKey;
use crate::services::Context;
use crate::timers::Timer;
use crate::{MatchKey, NotObeyed};
use agon_core::{
    Fault, Match, MatchCommand, MatchOrder, PlayerName, Ruling, TournamentCommand, TournamentId,
    TournamentOrder,
};
use agon_wire::native::ToPlayer;
use serde_json::{Value, json};

impl Cells {
    /// Carries out an order about a running tournament; returns the streams it was written to.
    pub(crate) fn order(
        &mut self,
        cx: &mut Context<'_>,
        id: &TournamentId,
        order: TournamentOrder,
        ruling: Ruling,
    ) -> Result<Vec<StreamKey>, NotObeyed> {
        let live = self.tournaments.get_mut(id);
        let live = live.ok_or_else(|| NotObeyed::NotRunning(id.clone()))?;
        // The round that this would pair may be the last one, and has no place for the entrant.
        if let (TournamentOrder::Resume, Some(player)) = (&order, live.entrant()) {
            return Err(NotObeyed::Entering(player.clone()));
        }
        let (what, by) = (order.clone(), ruling.clone());
        let events = live.machine.step(TournamentCommand::Order { order: what, ruling: by })?;
        let (about, players) = (about(id, &order), self.concerned(id, &order));
        let tell = notice_of(players, about.0, &about.1, &ruling);
        let stream = StreamKey::Tournament(id.clone());
        cx.commit(stream.clone(), &events, vec![tell]);
        self.follow_play_time(cx, id, &events);
        match order {
            TournamentOrder::Pause => {
                let keys = self.matches.in_tournament(id);
                keys.iter().for_each(|key| self.follow(cx, key));
                let streams = keys.into_iter().map(StreamKey::Match);
                Ok(streams.chain([stream]).collect())
            }
            TournamentOrder::Resume => {
                self.forgive_pause(cx, id);
                Ok(vec![stream])
            }
            _ => Ok(vec![stream]),
        }
    }

    /// Voids a game of a paused match, or restores it.
    pub(crate) fn order_game(
        &mut self,
        cx: &mut Context<'_>,
        key: &MatchKey,
        order: MatchOrder,
        ruling: Ruling,
    ) -> Result<StreamKey, NotObeyed> {
        let id = &key.tournament;
        let machine = self.tournament(id).ok_or_else(|| NotObeyed::NotRunning(id.clone()))?;
        let planned = machine.rounds().iter().any(|round| round.place(&key.id).is_some());
        if !planned {
            return Err(NotObeyed::NoMatch(key.tournament.clone(), key.id.clone()));
        }
        let Some(live) = self.matches.get(key) else {
            return Err(NotObeyed::MatchOver(key.id.clone()));
        };
        let players = live.played.plan().players.clone();
        self.step_match(cx, key, MatchCommand::Order { order, ruling: ruling.clone() })?;
        let (about, game) = match order {
            MatchOrder::Void(game) => ("game-void", game),
            MatchOrder::UndoVoid(game) => ("game-counts-again", game),
            _ => unreachable!("orders about games are these two"),
        };
        let data = json!({"tournament": key.tournament, "match": key.id, "game": game});
        let stream = StreamKey::Match(key.clone());
        cx.once_durable(vec![stream.clone()], notice_of(players, about, &data, &ruling));
        Ok(stream)
    }

    pub(crate) fn is_paused(&self, id: &TournamentId) -> bool {
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
    pub(super) fn follow(&mut self, cx: &mut Context<'_>, key: &MatchKey) {
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
            self.gather_again(cx, key);
        }
        if let Some(live) = self.matches.get_mut(key) {
            // By the clock that reads the answers, which may be behind the log's.
            live.rests_since = (order == MatchOrder::Pause).then_some(cx.time.now);
        }
        let _ = self.step_match(cx, key, MatchCommand::Order { order, ruling });
    }

    /// Prepares a match to resume: connected players join it, and open requests are sent again.
    fn gather_again(&mut self, cx: &mut Context<'_>, key: &MatchKey) {
        let Some(live) = self.matches.get_mut(key) else { return };
        live.sent.clear();
        live.recalled.clear();
        for player in live.played.plan().players.clone() {
            if cx.present.is_here(&player) {
                self.arrive(cx, key, &player);
            }
        }
    }

    /// Sets new deadlines after a pause: a player who disconnected in it has as long to reconnect
    /// as after a restart.
    fn forgive_pause(&mut self, cx: &mut Context<'_>, id: &TournamentId) {
        let until = cx.time.now + cx.settings.reconnect_ms;
        let Some(live) = self.tournaments.get_mut(id) else { return };
        (live.greet_by, live.miss_by) = (until, until);
        cx.timers.set(until, Timer::Greeting(id.clone()));
        cx.timers.set(until, Timer::Resumed(id.clone()));
    }

    /// Charges the players who have not reconnected after a pause as absent.
    pub(super) fn miss_after_pause(&mut self, cx: &mut Context<'_>, id: &TournamentId) {
        let due = self.tournaments.get(id).map(|live| live.miss_by);
        if due.is_none_or(|due| due > cx.time.now) || self.interrupt_if_cut_off(cx, id) {
            return;
        }
        let own = self.matches.iter().filter(|(key, _)| key.tournament == *id);
        let absent = own.flat_map(|(key, live)| {
            let here = live.played.plan().players.iter().filter(|p| live.played.is_here(p));
            here.map(move |player| (key.clone(), player.clone()))
        });
        for (key, player) in absent.collect::<Vec<_>>() {
            if !cx.present.is_here(&player) && !self.has_own_time(cx, &player) {
                let fault = Fault::disconnected("did not come back after a pause");
                let _ = self.step_match(cx, &key, MatchCommand::Leave { player, fault });
            }
        }
    }

    /// Notifies a player who reconnected if their tournament is paused.
    pub(super) fn tell_pause(&self, cx: &mut Context<'_>, player: &PlayerName, id: &TournamentId) {
        let Some(live) = self.tournaments.get(id) else { return };
        let Some(ruling) = live.machine.paused() else { return };
        let data = json!({"tournament": id, "by": ruling.by, "why": ruling.why});
        let data = Some(agon_games::json(&data));
        cx.tell(player, &ToPlayer::notice("paused", data));
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
pub(crate) fn notice_of(
    players: Vec<PlayerName>,
    about: &'static str,
    data: &Value,
    ruling: &Ruling,
) -> FollowUp {
    let mut data = data.clone();
    (data["by"], data["why"]) = (json!(ruling.by), json!(ruling.why));
    FollowUp::Notify { players, about, data }
}
