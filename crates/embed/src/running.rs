//! A game in progress: asks the next player, applies the answer, and notifies everybody.

use crate::observers::Observers;
use crate::player::{Change, GameUpdate, SeatedPlayer, Seating};
use crate::player_thread::{Message, PlayerThread};
use crate::report::{FinalReport, Removal, RemovalKind};
use agon_games::{Game, Refusal, RefusalKind, Seat, Viewer};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A game in progress. [`step`](RunningGame::step) plays one turn; [`run`](RunningGame::run) plays
/// all that are left. Where several seats owe an answer at once, the referee asks them in the order
/// of their seats.
pub struct RunningGame<G: Game> {
    game: G,
    players: Vec<SeatedPlayer>,
    threads: Vec<PlayerThread<G>>,
    observers: Observers<G>,
    removals: Vec<Removal>,
    report: Option<Arc<FinalReport>>,
    answer_limit: Duration,
    delivery_limit: Duration,
}

impl<G: Game> RunningGame<G> {
    pub(crate) fn start(
        game: G,
        seated: Vec<(SeatedPlayer, PlayerThread<G>)>,
        observers: Observers<G>,
        (answer_limit, delivery_limit): (Duration, Duration),
    ) -> RunningGame<G> {
        let (players, threads): (Vec<SeatedPlayer>, Vec<_>) = seated.into_iter().unzip();
        let removals = Vec::new();
        let mut running = RunningGame {
            game,
            players,
            threads,
            observers,
            removals,
            report: None,
            answer_limit,
            delivery_limit,
        };
        for (player, thread) in running.players.iter().zip(&mut running.threads) {
            let (seat, color) = (player.seat, player.color);
            let players = running.players.clone();
            thread.tell(Message::Seated(Seating { seat, color, players }));
        }
        let view = running.game.view(Viewer::Public);
        running.observers.update(GameUpdate { change: Change::Started, view });
        // The rules may remove a player at once, if no tile is free for the first penguin.
        running.notice_rule_removals();
        running
    }

    /// Plays one turn: asks the next player, waits for the answer or the time limit, applies it or
    /// removes the player, and tells everybody. `None` once the game is over.
    pub fn step(&mut self) -> Option<Change> {
        if self.report.is_some() {
            return None;
        }
        let change = match self.silent_failure() {
            Some((seat, reason)) => self.kick(seat, RemovalKind::Failing, reason),
            None => match self.game.awaiting().first() {
                Some(seat) => self.turn(seat),
                None => self.finish(),
            },
        };
        Some(change)
    }

    /// Plays all turns that are left.
    pub fn run(mut self) -> FinalReport {
        while self.step().is_some() {}
        let report = self.report.as_deref().expect("a game without a next step has a report");
        report.clone()
    }

    /// The game as `viewer` may see it.
    pub fn view(&self, viewer: Viewer) -> G::View {
        self.game.view(viewer)
    }

    /// The players in playing order.
    pub fn players(&self) -> &[SeatedPlayer] {
        &self.players
    }

    /// The players who are out so far, and why.
    pub fn removals(&self) -> &[Removal] {
        &self.removals
    }

    /// The report, once the game is over.
    pub fn report(&self) -> Option<&FinalReport> {
        self.report.as_deref()
    }

    /// A handle for subscribing at any time.
    pub fn observers(&self) -> Observers<G> {
        self.observers.clone()
    }

    /// A player in the game that no longer receives notifications.
    fn silent_failure(&self) -> Option<(Seat, String)> {
        let removed = self.game.removed();
        let mut playing = self.players.iter().zip(&self.threads);
        playing.find_map(|(player, thread)| {
            let reason = thread.broken().filter(|_| !removed.contains(player.seat))?;
            Some((player.seat, reason.to_owned()))
        })
    }

    fn turn(&mut self, seat: Seat) -> Change {
        let question = self.game.question(seat).expect("an awaited seat has a question");
        let view = self.game.view(Viewer::Seat(seat));
        let answer = match G::only_tells(&question) {
            // The player knows it from `seated` and `sync`, so the referee confirms it.
            true => Ok(G::legal_in(&question, &view).swap_remove(0)),
            false => self.threads[seat.index()].ask(seat, question, view, self.answer_limit),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(reason) => return self.kick(seat, RemovalKind::Failing, reason),
        };
        match self.game.apply(seat, &answer) {
            Ok(()) => {
                self.tell_all(Change::Answered(seat));
                self.notice_rule_removals();
                Change::Answered(seat)
            }
            Err(refusal @ Refusal { kind: RefusalKind::Illegal, .. }) => {
                self.kick(seat, RemovalKind::Cheating, refusal.to_string())
            }
            Err(refusal) => self.kick(seat, RemovalKind::Failing, refusal.to_string()),
        }
    }

    /// Removes a player and tells it and everybody else.
    fn kick(&mut self, seat: Seat, kind: RemovalKind, reason: String) -> Change {
        self.game.remove(seat);
        let change = self.removed(seat, kind, reason);
        self.threads[seat.index()].close();
        self.notice_rule_removals();
        change
    }

    fn removed(&mut self, seat: Seat, kind: RemovalKind, reason: String) -> Change {
        let SeatedPlayer { id, name, color, .. } = self.players[seat.index()].clone();
        let removal = Removal { seat, id, name, color, kind, reason };
        self.removals.push(removal.clone());
        self.threads[seat.index()].tell(Message::Kick(removal.clone()));
        let change = Change::Removed(removal);
        self.tell_all(change.clone());
        change
    }

    /// Tells everybody about players whom the rules took out.
    fn notice_rule_removals(&mut self) {
        let known = |seat: Seat| self.removals.iter().any(|removal| removal.seat == seat);
        let new: Vec<Seat> = self.game.removed().filter(|seat| !known(*seat)).collect();
        for seat in new {
            let reason = format!("could not go on by the rules of {}", G::NAME);
            self.removed(seat, RemovalKind::ByTheRules, reason);
        }
    }

    /// Tells the players who are still in, each with its own view, and the observers.
    fn tell_all(&mut self, change: Change) {
        let removed = self.game.removed();
        for (player, thread) in self.players.iter().zip(&mut self.threads) {
            if !removed.contains(player.seat) {
                let view = self.game.view(Viewer::Seat(player.seat));
                let update = GameUpdate { change: change.clone(), view };
                thread.tell(Message::Sync(Box::new(update)));
            }
        }
        let view = self.game.view(Viewer::Public);
        self.observers.update(GameUpdate { change, view });
    }

    /// Sends the report to all players who neither cheated nor failed, and to the observers.
    fn finish(&mut self) -> Change {
        let outcome = self.game.outcome().expect("a game without open requests is over");
        let report = Arc::new(FinalReport::new(&self.players, &outcome, &self.removals));
        let view = self.game.view(Viewer::Full);
        self.observers.update(GameUpdate { change: Change::Over, view });
        self.observers.end(&report);
        // The thread of a kicked player is closed already.
        for thread in &mut self.threads {
            thread.tell(Message::GameOver(Arc::clone(&report)));
            thread.close();
        }
        let deadline = Instant::now() + self.delivery_limit;
        let kicked = |seat: Seat| {
            let fault = |removal: &Removal| removal.kind != RemovalKind::ByTheRules;
            self.removals.iter().any(|removal| removal.seat == seat && fault(removal))
        };
        for (player, thread) in self.players.iter().zip(&self.threads) {
            if !kicked(player.seat) {
                thread.wait(deadline);
            }
        }
        self.observers.wait(deadline);
        self.report = Some(report);
        Change::Over
    }
}

impl<G: Game> std::fmt::Debug for RunningGame<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningGame").field("game", &self.game).finish_non_exhaustive()
    }
}
