//! How events change the lobby: the only way it changes.

use super::{Account, Lobby, Selection, SignUp, Standing, Token};
use crate::event::{AccountRegistered, Event, TournamentAnnounced, TournamentStarted};
use crate::ids::{Millis, PlayerName, TournamentId};
use crate::match_::ApplyError;

impl Lobby {
    /// Applies an event of the lobby's own stream.
    pub fn apply(&mut self, at: Millis, event: &Event) -> Result<(), ApplyError> {
        match event {
            Event::AccountRegistered(registered) => self.apply_registered(at, registered),
            Event::PasswordChanged(changed) => {
                self.account_mut(&changed.account)?.password = Some(changed.password.clone());
            }
            Event::AccountBlacklisted(listed) => {
                self.account_mut(&listed.account)?.blacklisted = Some(listed.reason.clone());
                self.leave_all(&listed.account);
            }
            Event::BlacklistLifted(lifted) => {
                self.account_mut(&lifted.account)?.blacklisted = None;
            }
            Event::TokenIssued(issued) => {
                let token =
                    Token { account: issued.account.clone(), expires_at: issued.expires_at };
                self.tokens.insert(issued.token.clone(), token);
            }
            Event::TokenRevoked(revoked) => {
                self.tokens.remove(&revoked.token);
            }
            Event::AccountLoggedIn(account) => self.line.push(account.account.clone()),
            Event::AccountLoggedOut(account) => {
                self.line.retain(|player| *player != account.account);
            }
            Event::PlayerEnqueued(enqueued) => {
                let queue = self.queues.entry(enqueued.queue.clone()).or_default();
                queue.push(enqueued.player.clone());
            }
            Event::PlayerDequeued(dequeued) => {
                let queue = self.queues.entry(dequeued.queue.clone()).or_default();
                // Of several places, the last is given up.
                if let Some(at) = queue.iter().rposition(|player| *player == dequeued.player) {
                    queue.remove(at);
                }
                self.forget_empty_queues();
            }
            Event::TournamentAnnounced(announced) => self.apply_announced(at, announced),
            Event::PlayerSignedUp(signed_up) => {
                let sign_up = self.sign_up_mut(&signed_up.tournament, event)?;
                if sign_up.rests() {
                    sign_up.extended = false;
                    sign_up.closes_at = at.saturating_add(sign_up.window.wait_ms);
                }
                sign_up.players.push(signed_up.player.clone());
            }
            Event::SignUpWithdrawn(withdrawn) => {
                let sign_up = self.sign_up_mut(&withdrawn.tournament, event)?;
                sign_up.players.retain(|player| *player != withdrawn.player);
            }
            Event::SignUpExtended(extended) => {
                let sign_up = self.sign_up_mut(&extended.tournament, event)?;
                sign_up.extended = true;
                // From now, not from when the first wait should have ended: the server may have
                // been down in between.
                sign_up.closes_at = at.saturating_add(sign_up.window.second_wait_ms);
            }
            Event::TournamentStarted(started) => self.apply_started(started),
            Event::TournamentCalledOff(off) => {
                let standing = Standing::CalledOff(off.reason.clone());
                self.tournaments.insert(off.tournament.clone(), standing);
            }
            Event::TournamentFinished(finished) => {
                let standing = Standing::Finished(finished.winners.clone());
                self.tournaments.insert(finished.tournament.clone(), standing);
            }
            Event::ServerResumed(resumed) => {
                for standing in self.tournaments.values_mut() {
                    if let Standing::Open(sign_up) = standing {
                        sign_up.prolong(at, resumed.away_ms);
                    }
                }
            }
            // What follows from them is in the next event.
            Event::StartOrdered(_) | Event::CallOffOrdered(_) => {}
            Event::WithdrawalOrdered(ordered) => {
                let sign_up = self.sign_up_mut(&ordered.tournament, event)?;
                sign_up.players.retain(|player| *player != ordered.player);
            }
            Event::LogOutOrdered(ordered) => self.forget_session(&ordered.account),
            _ => return Err(ApplyError::OutOfPlace(event.tag())),
        }
        Ok(())
    }

    fn apply_registered(&mut self, at: Millis, registered: &AccountRegistered) {
        let account = Account {
            kind: registered.kind,
            role: registered.role,
            password: registered.password.clone(),
            blacklisted: None,
            registered_at: at,
            number: self.accounts.len() as u64,
        };
        self.accounts.insert(registered.account.clone(), account);
    }

    fn apply_announced(&mut self, at: Millis, announced: &TournamentAnnounced) {
        let announcement = announced.announcement.clone();
        // Tournaments that take whom they find are started by the next event of the record.
        if let Selection::SignUp(window) = announcement.selection.clone() {
            let (id, closes_at) = (announcement.id.clone(), at.saturating_add(window.wait_ms));
            let series = announced.repeats.clone().unwrap_or_else(|| id.clone());
            if window.repeat {
                self.series.insert(series.clone(), id.clone());
            }
            let (players, extended) = (Vec::new(), false);
            let sign_up = SignUp { announcement, players, closes_at, extended, window, series };
            self.tournaments.insert(id, Standing::Open(Box::new(sign_up)));
        } else {
            let id = announcement.id.clone();
            self.selections.insert(id, announcement.selection);
        }
    }

    /// Players that a tournament takes move to the end of the line, and wait once less in the queue
    /// it took them from.
    fn apply_started(&mut self, started: &TournamentStarted) {
        let plan = &started.plan;
        let taken = |player: &PlayerName| plan.players.contains(player);
        let selection = self.selections.remove(&plan.id);
        match &selection {
            Some(Selection::Line { .. } | Selection::Age { .. } | Selection::Random { .. }) => {
                let (back, stay): (Vec<_>, Vec<_>) = self.line.drain(..).partition(taken);
                self.line = stay.into_iter().chain(back).collect();
            }
            Some(Selection::Queue { queue, .. }) => {
                let waiting = self.queues.entry(queue.clone()).or_default();
                for player in &plan.players {
                    if let Some(at) = waiting.iter().position(|name| name == player) {
                        waiting.remove(at);
                    }
                }
                self.forget_empty_queues();
            }
            _ => {}
        }
        self.tournaments.insert(plan.id.clone(), Standing::Running(Box::new(plan.clone())));
    }

    /// A blacklisted player leaves every queue and every sign-up.
    fn leave_all(&mut self, player: &PlayerName) {
        self.queues.values_mut().for_each(|queue| queue.retain(|waiting| waiting != player));
        self.forget_empty_queues();
        for standing in self.tournaments.values_mut() {
            if let Standing::Open(sign_up) = standing {
                sign_up.players.retain(|name| name != player);
            }
        }
    }

    /// Queues are made by whoever waits in them, so those without anybody must not pile up.
    fn forget_empty_queues(&mut self) {
        self.queues.retain(|_, queue| !queue.is_empty());
    }

    fn account_mut(&mut self, account: &PlayerName) -> Result<&mut Account, ApplyError> {
        self.accounts.get_mut(account).ok_or_else(|| ApplyError::Stranger(account.clone()))
    }

    fn sign_up_mut(
        &mut self,
        tournament: &TournamentId,
        event: &Event,
    ) -> Result<&mut SignUp, ApplyError> {
        match self.tournaments.get_mut(tournament) {
            Some(Standing::Open(sign_up)) => Ok(sign_up),
            _ => Err(ApplyError::OutOfPlace(event.tag())),
        }
    }
}
