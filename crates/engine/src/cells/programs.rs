//! Requests to programs of other systems, and their answers. They differ from native players:
//!
//! - they confirm messages that native players only receive, and have a deadline for that;
//! - they may be shown every change of their matches;
//! - the engine closes the connection of a player who is out, or whose tournament is over.
//!
//! The gateway translates the messages.

use super::Cells;
use super::matches::{ON_ITS_WAY_MS, TakenTime};
use super::tournaments::LiveTournament;
use crate::follow_up::FollowUp;
use crate::port::{AskForm, GivenAnswer, ToSeat};
use crate::services::Context;
use crate::timers::Timer;
use crate::{AskId, BadReply, ConnId, MatchKey, Tell};
use agon_core::{
    Ask, CrashCost, Event, Fault, FaultKind, Pending, PlayerName, RequestClock, RequestId,
    Timestamp, TournamentAsk, TournamentCommand, TournamentId, TournamentPending,
};
use agon_games::Viewer;
use agon_wire::peer::PeerMessage;

/// How many characters of a reply a fault quotes.
const REPLY_CHARS_MAX: usize = 200;

impl BadReply {
    /// The fault for this reply. The reply is in another system's form, and a verifier of the log
    /// cannot read it as an answer. So the fault quotes it as text and does not store it as an
    /// answer.
    pub(super) fn fault(&self) -> Fault {
        let quoted: String = self.text.chars().take(REPLY_CHARS_MAX).collect();
        let mut fault = Fault::refused(&self.refusal, &self.text);
        if fault.kind != FaultKind::Malformed {
            fault.answer = None;
            fault.detail = format!("{}; it said {quoted}", fault.detail);
        }
        fault
    }
}

/// A tournament's request that was sent to a connection.
pub(super) struct AskedProgram {
    player: PlayerName,
    pub(super) to: (ConnId, RequestClock),
    farewell: bool,
}

/// The players who are shown every change of a match, and how much they were shown.
#[derive(Default)]
pub(super) struct Listeners {
    /// True if there may be any.
    pub(super) any: bool,
    /// How many games' ends they were sent.
    games: usize,
}

impl Cells {
    /// Sends a player a match's request. They confirm messages that native players only receive.
    pub(super) fn ask_program(
        &mut self,
        cx: &mut Context<'_>,
        key: &MatchKey,
        conn: ConnId,
        pending: Pending,
    ) {
        let Some(live) = self.matches.get_mut(key) else { return };
        let listens = cx.present.seat(&pending.player).is_some_and(|seat| seat.listens());
        let message = match (pending.ask, live.played.referee()) {
            (Ask::Confirm { won }, _) => PeerMessage::Won(won),
            (Ask::Game(seat), Some(referee)) => {
                let (mut question, mut view) = (Vec::new(), Vec::new());
                if !referee.game().write_question(seat, &mut question) {
                    return;
                }
                referee.game().write_view(Viewer::Seat(seat), &mut view);
                let seats = if listens { referee.seats() } else { &[] };
                PeerMessage::Question { question, view, seats: seats.into() }
            }
            _ => return,
        };
        let ask = AskId::Match(key.clone(), pending.id.clone());
        let player = pending.player.clone();
        let clock = live.mark_sent(cx.time.now, pending, Some(conn));
        let (request, follows) = (AskForm::Call(message), None);
        cx.send_to_seat(&player, ToSeat::Ask { ask, request, clock, follows });
    }

    /// Handles the reply of a program of another system. If it was late, or the game went on without
    /// it, the program gets no answer.
    pub(super) fn program_replied(
        &mut self,
        cx: &mut Context<'_>,
        player: PlayerName,
        given: GivenAnswer,
        taken: TakenTime,
    ) {
        match given {
            GivenAnswer::Reply(AskId::Tournament(id, request), answer) => {
                self.peer_greets(cx, &id, player, request, answer, taken);
            }
            GivenAnswer::Reply(AskId::Match(ref key, ref request), _) => {
                let (key, request) = (key.clone(), request.clone());
                let took_ms = self.took_ms(cx, &key, &player, &request, taken);
                let command = took_ms
                    .and_then(|took_ms| self.answer_command(&key, player, request, given, took_ms));
                if let Ok(command) = command {
                    let _ = self.step_match(cx, &key, command);
                }
            }
            GivenAnswer::Plain(..) | GivenAnswer::Translated(_) => {}
        }
    }

    /// Sends a player a tournament's request, once for each connection.
    pub(super) fn greet_peer(
        &mut self,
        cx: &mut Context<'_>,
        id: &TournamentId,
        pending: TournamentPending,
    ) {
        let now = cx.time.now;
        let Some(conn) = cx.conn_of(&pending.player) else { return };
        let Some(live) = self.tournaments.get_mut(id) else { return };
        if live.asked.get(&pending.id).is_some_and(|asked| asked.to.0 == conn) {
            return;
        }
        let (message, farewell) = match pending.ask {
            TournamentAsk::Ready => (PeerMessage::Begin { proposes: false }, false),
            TournamentAsk::Propose { .. } => (PeerMessage::Begin { proposes: true }, false),
            TournamentAsk::Farewell { won } => (PeerMessage::End { won }, true),
        };
        let (player, limit_ms) = (pending.player, pending.limit_ms);
        let clock = RequestClock::new(limit_ms);
        let ask = AskId::Tournament(id.clone(), pending.id.clone());
        let (request, follows) = (AskForm::Call(message), None);
        cx.send_to_seat(&player, ToSeat::Ask { ask, request, clock: clock.clone(), follows });
        live.asked.insert(pending.id, AskedProgram { player, to: (conn, clock), farewell });
        cx.timers.set(now + limit_ms + ON_ITS_WAY_MS, Timer::Greeting(id.clone()));
    }

    /// When the answer to a tournament's request is overdue, if a connection was sent the request.
    pub(super) fn peer_due(
        &self,
        cx: &Context<'_>,
        id: &TournamentId,
        request: &RequestId,
    ) -> Option<Timestamp> {
        let asked = self.tournaments.get(id)?.asked.get(request)?;
        let (now, (_, clock)) = (cx.time.now, &asked.to);
        // The answer may be in a socket that is read late.
        let late_ms = now.since(cx.time.read_until);
        Some(clock.due_at(now).saturating_add(ON_ITS_WAY_MS + late_ms))
    }

    fn peer_greets(
        &mut self,
        cx: &mut Context<'_>,
        id: &TournamentId,
        player: PlayerName,
        request: RequestId,
        answer: Result<String, BadReply>,
        taken: TakenTime,
    ) {
        let Some(live) = self.tournaments.get(id) else { return };
        let open = live.machine.pending_of(&player).is_some_and(|pending| pending.id == request);
        let Some(asked) = live.asked.get(&request).filter(|_| open) else { return };
        let (_, clock) = &asked.to;
        let timing = taken.timing.unwrap_or_else(|| clock.timing(taken.at));
        // In a pause no answer is late, and a bad reply is charged to nobody: the program is asked
        // again after the pause.
        let rests = live.machine.paused().is_some();
        let ask = AskId::Tournament(id.clone(), request.clone());
        cx.send_to_seat(&player, ToSeat::Recall(&ask));
        let command = match answer {
            Err(_) if rests => {
                if let Some(live) = self.tournaments.get_mut(id) {
                    live.asked.remove(&request);
                }
                return;
            }
            _ if timing.is_late && !rests => {
                TournamentCommand::Drop { player, fault: Fault::timeout(clock.limit_ms()) }
            }
            Ok(answer) => TournamentCommand::Answer { player, request, answer },
            Err(bad) => TournamentCommand::Drop { player, fault: bad.fault() },
        };
        self.step_tournament(cx, id, command);
    }

    /// Drops an absent player whose tournament waits for their answer, unless players may still
    /// return after a restart.
    pub(crate) fn miss_peer(
        &mut self,
        cx: &mut Context<'_>,
        id: &TournamentId,
        player: &PlayerName,
    ) {
        let live = self.tournaments.get(id).filter(|live| live.machine.paused().is_none());
        let asked = live.is_some_and(|live| live.machine.pending_of(player).is_some());
        let missed = cx.time.now >= cx.grace_until && !self.is_cut_off(&cx.present, player);
        if asked && cx.accounts.is_peer(player) && missed {
            let fault = Fault::disconnected("the connection was lost");
            let player = player.clone();
            self.step_tournament(cx, id, TournamentCommand::Drop { player, fault });
        }
    }

    /// Shows all listeners the progress of a match: every change, and the end of every game.
    pub(crate) fn show_listeners(&mut self, cx: &mut Context<'_>, key: &MatchKey) {
        let Some(live) = self.matches.get_mut(key) else { return };
        let mut all = Vec::new();
        let finished = live.played.finished();
        for (result, game) in finished.skip(live.listeners.games) {
            live.listeners.games += 1;
            let (mut view, seats) = (Vec::new(), result.seats.as_slice().into());
            game.write_view(Viewer::Public, &mut view);
            all.push(PeerMessage::View { view: view.clone(), seats });
            all.push(PeerMessage::GameOver { view, result: Box::new(result.clone()) });
        }
        if let Some(referee) = live.played.referee() {
            let (mut view, seats) = (Vec::new(), referee.seats().into());
            referee.game().write_view(Viewer::Public, &mut view);
            all.push(PeerMessage::View { view, seats });
        }
        let players = live.played.plan().players.clone();
        self.show_observers(cx, key, &all);
        for player in &players {
            if cx.present.seat(player).is_some_and(|seat| seat.listens()) {
                for message in &all {
                    cx.call(player, Tell { message: message.clone(), ask: None });
                }
            }
        }
    }

    /// The dismissals of players whom a fault removes from a match.
    pub(super) fn partings(
        &self,
        cx: &Context<'_>,
        key: &MatchKey,
        events: &[Event],
    ) -> Vec<FollowUp> {
        let live = self.matches.get(key);
        if live.is_none_or(|live| live.played.plan().rules.crash != CrashCost::Remove) {
            return Vec::new();
        }
        let out = events.iter().filter_map(|event| match event {
            Event::PlayerFaulted(faulted) => Some(&faulted.faulted.player),
            _ => None,
        });
        out.filter_map(|player| dismissal(cx, player, Some(key.clone()))).collect()
    }
}

/// Sends the programs of a tournament its end, unless they were asked to confirm it. If the
/// tournament could not be played, all players are told that it is over and that they did not win.
pub(super) fn tell_programs_the_end(cx: &mut Context<'_>, live: &LiveTournament) {
    let asked = |player: &PlayerName| {
        live.asked.values().any(|asked| asked.farewell && asked.player == *player)
    };
    for (player, won) in live.machine.end_messages() {
        if !asked(&player) {
            cx.call(&player, Tell { message: PeerMessage::End { won }, ask: None });
        }
    }
}

/// The dismissal of a player who is connected over the wire of another system.
fn dismissal(cx: &Context<'_>, player: &PlayerName, shown: Option<MatchKey>) -> Option<FollowUp> {
    Some(FollowUp::Dismiss { conn: cx.program_conn(player)?, shown })
}

/// The dismissals of players who are out of a tournament.
pub(super) fn dropped_programs(cx: &Context<'_>, events: &[Event]) -> Vec<FollowUp> {
    let out = events.iter().filter_map(|event| match event {
        Event::PlayerDropped(dropped) => dismissal(cx, &dropped.faulted.player, None),
        _ => None,
    });
    out.collect()
}
