//! How events change the lobby. Nothing else changes it.

use super::{Account, AccountKind, Invitation, Lobby, Reply, Selection, SignUp, Standing};
use crate::event::{
    AccountBlacklisted, AccountRegistered, Event, GuestClaimed, TournamentAnnounced,
    TournamentStarted,
};
use crate::ids::{PlayerName, Timestamp, TournamentId};
use crate::match_::ApplyError;
use std::collections::BTreeMap;

impl Lobby {
    /// Applies an event of the lobby's own stream.
    pub fn apply(&mut self, at: Timestamp, event: &Event) -> Result<(), ApplyError> {
        match event {
            Event::AccountRegistered(registered) => self.apply_registered(at, registered),
            Event::GuestClaimed(claimed) => self.apply_claimed(at, claimed)?,
            Event::PasswordChanged(changed) => {
                self.account_mut(&changed.account)?.password = Some(changed.password.clone());
            }
            Event::AccountBlacklisted(listed) => {
                self.account_mut(&listed.account)?.blacklisted = Some(listed.reason.clone());
                self.leave_all(&listed.account);
                self.note_cause(listed);
            }
            Event::BlacklistLifted(lifted) => {
                self.account_mut(&lifted.account)?.blacklisted = None;
            }
            Event::TokenIssued(issued) => {
                let (account, token) = (issued.account.clone(), issued.token.clone());
                self.tokens.issue(at, account, token, issued.expires_at);
            }
            Event::TokenRevoked(revoked) => self.tokens.revoke(&revoked.token),
            Event::AccountLoggedIn(account) => self.line.push(account.account.clone()),
            Event::AccountLoggedOut(account) => {
                self.line.remove_all(&account.account);
                self.locations.remove(&account.account);
            }
            Event::PlayerLocated(located) => self.apply_located(located),
            Event::RequesterNoted(noted) => self.apply_noted(at, noted),
            Event::AccountDropped(dropped) => {
                self.account_mut(&dropped.account)?;
                self.accounts.remove(&dropped.account);
                self.account_rulings.remove(&dropped.account);
                self.tokens.revoke_all(&dropped.account);
                self.dropped += 1;
            }
            Event::PlayerEnqueued(enqueued) => {
                let queue = self.queues.entry(enqueued.queue.clone()).or_default();
                queue.push(enqueued.player.clone());
                self.index.enqueued(&enqueued.player, &enqueued.queue);
            }
            Event::PlayerDequeued(dequeued) => {
                // A player with several places gives up the last one.
                if let Some(queue) = self.queues.get_mut(&dequeued.queue) {
                    queue.remove_last(&dequeued.player);
                }
                self.left_queue(&dequeued.player, &dequeued.queue);
            }
            Event::ResultDelivered(delivered) => {
                self.settle_debt(&delivered.tournament);
                self.settle_request(&delivered.tournament);
            }
            _ => self.apply_play(at, event)?,
        }
        self.keep_ruling(at, event);
        Ok(())
    }

    /// Applies the events about tournaments.
    fn apply_play(&mut self, at: Timestamp, event: &Event) -> Result<(), ApplyError> {
        match event {
            Event::TournamentAnnounced(announced) => self.apply_announced(at, announced),
            Event::PlayerSignedUp(signed_up) => {
                self.change_sign_up(&signed_up.tournament, event, |sign_up| {
                    if sign_up.rests() {
                        sign_up.extended = false;
                        sign_up.closes_at = at.saturating_add(sign_up.window.wait_ms);
                    }
                    sign_up.add(signed_up.player.clone(), signed_up.age);
                })?;
                self.index.signed_up(&signed_up.player, &signed_up.tournament);
            }
            Event::SignUpWithdrawn(withdrawn) => {
                self.withdraw(&withdrawn.tournament, &withdrawn.player, event)?;
            }
            Event::SignUpExtended(extended) => {
                self.change_sign_up(&extended.tournament, event, |sign_up| {
                    sign_up.extended = true;
                    // The second wait starts now, not at the end of the first one: the server may
                    // have been down in between.
                    sign_up.closes_at = at.saturating_add(sign_up.window.second_wait_ms);
                })?;
            }
            Event::InvitationAccepted(accepted) => {
                self.change_invitation(&accepted.tournament, event, |invitation| {
                    invitation.set(&accepted.player, Reply::Accepted);
                })?;
            }
            Event::InvitationRejected(rejected) => {
                self.change_invitation(&rejected.tournament, event, |invitation| {
                    invitation.set(&rejected.player, Reply::Rejected);
                })?;
            }
            Event::SilenceNoted(noted) => {
                self.change_invitation(&noted.tournament, event, |invitation| {
                    invitation.draws_at = None;
                    noted.players.iter().for_each(|player| invitation.set(player, Reply::Silent));
                })?;
            }
            Event::PlayersDrawn(drawn) => {
                self.change_invitation(&drawn.tournament, event, |invitation| {
                    invitation.wait_for_drawn(at);
                    drawn.players.iter().for_each(|player| invitation.set(player, Reply::Open));
                })?;
            }
            Event::ReadinessAsked(asked) => {
                self.change_invitation(&asked.tournament, event, |invitation| {
                    invitation.readying = true;
                    invitation.closes_at = at.saturating_add(invitation.terms.ready_ms);
                    for (_, reply) in &mut invitation.replies {
                        if *reply == Reply::Open {
                            *reply = Reply::Missed;
                        }
                    }
                })?;
            }
            Event::PlayerReady(ready) => {
                self.change_invitation(&ready.tournament, event, |invitation| {
                    invitation.set(&ready.player, Reply::Ready);
                })?;
            }
            Event::TournamentStarted(started) => self.apply_started(started),
            Event::TournamentCalledOff(off) => {
                self.continues.remove(&off.tournament);
                self.put(off.tournament.clone(), Standing::CalledOff(off.reason.clone()));
                self.owe_result(&off.tournament);
            }
            Event::TournamentFinished(finished) => {
                self.continues.remove(&finished.tournament);
                let standing = Standing::Finished(finished.winners.clone());
                self.put(finished.tournament.clone(), standing);
                self.causes.retain(|cause| cause.tournament != finished.tournament);
                self.owe_result(&finished.tournament);
            }
            Event::ServerResumed(resumed) => {
                self.prolong_waits(at, resumed.away_ms, resumed.answers_until);
            }
            // The next event holds the consequences.
            Event::StartOrdered(_) | Event::CallOffOrdered(_) => {}
            Event::WithdrawalOrdered(ordered) => {
                self.withdraw(&ordered.tournament, &ordered.player, event)?;
            }
            Event::EntryOrdered(ordered) => {
                self.apply_entry(&ordered.tournament, &ordered.player)?
            }
            Event::LogOutOrdered(ordered) => self.forget_session(&ordered.account),
            _ => return Err(ApplyError::OutOfPlace(event.tag())),
        }
        Ok(())
    }

    fn apply_registered(&mut self, at: Timestamp, registered: &AccountRegistered) {
        let account = Account {
            kind: registered.kind,
            role: registered.role,
            password: registered.password.clone(),
            blacklisted: None,
            registered_at: at,
            number: self.next_account_number(),
            played: false,
            guest: None,
        };
        self.accounts.insert(registered.account.clone(), account);
    }

    fn apply_claimed(&mut self, at: Timestamp, claimed: &GuestClaimed) -> Result<(), ApplyError> {
        let GuestClaimed { guest, account: name, password } = claimed;
        let number = self.next_account_number();
        let (password, guest) = (Some(password.clone()), Some(guest.clone()));
        let known = self.account_mut(&claimed.guest)?.clone();
        let account = Account { password, registered_at: at, number, guest, ..known };
        self.accounts.insert(name.clone(), account);
        if let Some(rulings) = self.account_rulings.get(&claimed.guest).cloned() {
            self.account_rulings.insert(name.clone(), rulings);
        }
        Ok(())
    }

    fn apply_announced(&mut self, at: Timestamp, announced: &TournamentAnnounced) {
        let announcement = announced.announcement.clone();
        let id = announcement.id.clone();
        if let Some(asker) = announcement.by.clone() {
            self.askers.insert(id.clone(), asker);
        }
        if let Some(first) = announced.repeats.clone() {
            self.continues.insert(id.clone(), first);
        }
        match announcement.selection.clone() {
            Selection::SignUp(window) => {
                let closes_at = at.saturating_add(window.wait_ms);
                let series = announced.repeats.clone().unwrap_or_else(|| id.clone());
                if window.repeat {
                    self.series.insert(series.clone(), id.clone());
                }
                let (players, ages, extended) = (Vec::new(), BTreeMap::new(), false);
                let sign_up =
                    SignUp { announcement, players, ages, closes_at, extended, window, series };
                self.put(id, Standing::Open(Box::new(sign_up)));
            }
            Selection::Invitation(terms) => {
                let closes_at = at.saturating_add(terms.wait_ms);
                let invitation = self.invitation(announcement, terms, closes_at);
                self.put(id, Standing::Inviting(Box::new(invitation)));
            }
            Selection::Draw(draw) => {
                let terms = draw.terms(&announced.draw_order);
                let closes_at = at.saturating_add(terms.wait_ms);
                let mut invitation = self.invitation(announcement, terms, closes_at);
                let most = invitation.terms.most();
                for (_, reply) in invitation.replies.iter_mut().skip(most) {
                    *reply = Reply::Reserve;
                }
                invitation.wait_for_drawn(at);
                self.put(id, Standing::Inviting(Box::new(invitation)));
            }
            // The next event of the record starts a tournament that selects its players at once.
            selection => {
                self.selections.insert(id, selection);
            }
        }
    }

    /// Creates invitations. House players have accepted and are ready.
    pub(super) fn invitation(
        &self,
        announcement: super::Announcement,
        terms: super::Terms,
        closes_at: Timestamp,
    ) -> Invitation {
        let is_house = |player: &PlayerName| {
            self.accounts.get(player).is_some_and(|account| account.kind == AccountKind::House)
        };
        let replies = terms.players.iter().map(|player| {
            let reply = if is_house(player) { Reply::Ready } else { Reply::Open };
            (player.clone(), reply)
        });
        let (replies, readying, draws_at) = (replies.collect(), false, None);
        Invitation { announcement, replies, readying, closes_at, draws_at, terms }
    }

    /// Moves the players of a started tournament to the end of the line, or gives up one place of
    /// each in the queue that it took them from.
    fn apply_started(&mut self, started: &TournamentStarted) {
        let plan = &started.plan;
        match self.selections.remove(&plan.id) {
            Some(Selection::Line { .. } | Selection::Age { .. } | Selection::Random { .. }) => {
                self.line.move_to_end(&plan.players);
            }
            Some(Selection::Queue { queue, .. }) => {
                for player in &plan.players {
                    if let Some(waiting) = self.queues.get_mut(&queue) {
                        waiting.remove_first(player);
                    }
                    self.left_queue(player, &queue);
                }
            }
            _ => {}
        }
        for player in &plan.players {
            if let Some(account) = self.accounts.get_mut(player) {
                account.played = true;
            }
        }
        self.put(plan.id.clone(), Standing::Running(Box::new(plan.clone())));
    }

    /// Adds a player to a tournament that runs.
    fn apply_entry(
        &mut self,
        tournament: &TournamentId,
        player: &PlayerName,
    ) -> Result<(), ApplyError> {
        let Some(Standing::Running(plan)) = self.tournaments.get(tournament) else {
            return Err(ApplyError::OutOfPlace("entry-ordered"));
        };
        let mut plan = plan.clone();
        plan.players.push(player.clone());
        self.put(tournament.clone(), Standing::Running(plan));
        if let Some(account) = self.accounts.get_mut(player) {
            account.played = true;
        }
        Ok(())
    }

    /// Removes a player from a sign-up, or records that they reject an invitation.
    fn withdraw(
        &mut self,
        tournament: &TournamentId,
        player: &PlayerName,
        event: &Event,
    ) -> Result<(), ApplyError> {
        if let Some(Standing::Inviting(_)) = self.tournaments.get(tournament) {
            return self.change_invitation(tournament, event, |invitation| {
                invitation.set(player, Reply::Rejected);
            });
        }
        self.change_sign_up(tournament, event, |sign_up| {
            sign_up.remove(player);
        })?;
        self.index.withdrew(player, tournament);
        Ok(())
    }

    /// Removes an account from the line, and revokes its tokens.
    fn forget_session(&mut self, account: &PlayerName) {
        self.line.remove_all(account);
        self.locations.remove(account);
        for token in self.tokens.of(account).cloned().collect::<Vec<_>>() {
            self.tokens.revoke(&token);
        }
    }

    /// Removes a blacklisted player from every queue and every sign-up, and rejects all their
    /// invitations.
    fn leave_all(&mut self, player: &PlayerName) {
        for queue in self.index.queues_of(player).cloned().collect::<Vec<_>>() {
            if let Some(waiting) = self.queues.get_mut(&queue) {
                waiting.remove_all(player);
            }
            self.left_queue(player, &queue);
        }
        for id in self.index.signed_up_for(player).cloned().collect::<Vec<_>>() {
            self.change(&id, |standing| {
                if let Standing::Open(sign_up) = standing {
                    sign_up.remove(player);
                }
            });
            self.index.withdrew(player, &id);
        }
        for id in self.index.invited_to(player).cloned().collect::<Vec<_>>() {
            self.change(&id, |standing| {
                if let Standing::Inviting(invitation) = standing {
                    invitation.set(player, Reply::Rejected);
                }
            });
        }
    }

    /// Records the cheat that a policy blacklisted for, so that it does not blacklist for it again.
    fn note_cause(&mut self, listed: &AccountBlacklisted) {
        match &listed.cause {
            Some(cause) => drop(self.causes.insert(cause.clone())),
            None if listed.by.is_none() => {
                self.unnamed_causes.insert((listed.account.clone(), listed.reason.clone()));
            }
            None => {}
        }
    }

    /// Records that a player gave up a place. A queue exists only while a player waits in it, so
    /// that empty queues do not pile up.
    fn left_queue(&mut self, player: &PlayerName, queue: &super::QueueName) {
        let waiting = self.queue(queue);
        let (empty, still_there) = (waiting.is_empty(), waiting.contains(player));
        if empty {
            self.queues.remove(queue);
        }
        if !still_there {
            self.index.dequeued(player, queue);
        }
    }

    /// Records that the account that asked for a tournament must be notified of its end.
    fn owe_result(&mut self, tournament: &TournamentId) {
        let Some(asker) = self.askers.get(tournament) else { return };
        let owed = self.owed.entry(asker.clone()).or_default();
        owed.push_back(tournament.clone());
        if owed.len() > Lobby::OWED_MAX {
            owed.pop_front();
        }
    }

    fn settle_debt(&mut self, tournament: &TournamentId) {
        let Some(asker) = self.askers.get(tournament) else { return };
        if let Some(owed) = self.owed.get_mut(asker) {
            owed.retain(|id| id != tournament);
            if owed.is_empty() {
                self.owed.remove(asker);
            }
        }
    }

    fn account_mut(&mut self, account: &PlayerName) -> Result<&mut Account, ApplyError> {
        self.accounts.get_mut(account).ok_or_else(|| ApplyError::Stranger(account.clone()))
    }

    fn change_sign_up(
        &mut self,
        tournament: &TournamentId,
        event: &Event,
        change: impl FnOnce(&mut SignUp),
    ) -> Result<(), ApplyError> {
        let mut changed = Err(ApplyError::OutOfPlace(event.tag()));
        self.change(tournament, |standing| {
            if let Standing::Open(sign_up) = standing {
                change(sign_up);
                changed = Ok(());
            }
        });
        changed
    }

    fn change_invitation(
        &mut self,
        tournament: &TournamentId,
        event: &Event,
        change: impl FnOnce(&mut Invitation),
    ) -> Result<(), ApplyError> {
        let mut changed = Err(ApplyError::OutOfPlace(event.tag()));
        self.change(tournament, |standing| {
            if let Standing::Inviting(invitation) = standing {
                change(invitation);
                changed = Ok(());
            }
        });
        changed
    }
}
