//! How the lobby processes commands.

use super::{
    Account, AccountKind, Cause, Lobby, LobbyCommand, LobbyRejection, QueueName, Role, SignUp,
    Standing, TokenHash,
};
use crate::event::{
    AccountBlacklisted, AccountDropped, AccountLoggedIn, AccountLoggedOut, AccountRegistered,
    BlacklistLifted, Event, GuestClaimed, PasswordChanged, PlayerDequeued, PlayerEnqueued,
    PlayerSignedUp, ResultDelivered, ServerResumed, SignUpExtended, SignUpWithdrawn, TokenIssued,
    TokenRevoked, TournamentCalledOff, TournamentFinished, TournamentStarted,
};
use crate::ids::{PlayerName, Timestamp, TournamentId};
use crate::ruling::Ruling;

impl Lobby {
    /// Decides a command and applies its consequences. A rejected command changes nothing.
    pub fn step(
        &mut self,
        now: Timestamp,
        command: LobbyCommand,
    ) -> Result<Vec<Event>, LobbyRejection> {
        let mut events = Vec::new();
        match command {
            LobbyCommand::Register { account, kind, role, password } => {
                self.may_register(&account)?;
                self.emit(now, &mut events, AccountRegistered { account, kind, role, password });
            }
            LobbyCommand::Claim { guest, account, password } => {
                self.may_claim(&guest, &account)?;
                let tokens = self.tokens_except(&guest, None);
                self.emit(now, &mut events, GuestClaimed { guest, account, password });
                self.revoke(now, &mut events, tokens);
            }
            LobbyCommand::ChangePassword { account, password, keep } => {
                self.known(&account)?;
                let others = self.tokens_except(&account, keep.as_ref());
                self.emit(now, &mut events, PasswordChanged { account, password });
                self.revoke(now, &mut events, others);
            }
            LobbyCommand::Blacklist { account, reason, by, cause } => {
                self.known(&account)?;
                let cause = cause.filter(|_| by.is_none());
                if !self.is_recorded(cause.as_ref())? {
                    let invited: Vec<_> = self.index.invited_to(&account).cloned().collect();
                    let listed = AccountBlacklisted { account, reason, by, cause };
                    self.emit(now, &mut events, listed);
                    for tournament in invited {
                        self.settle(now, &mut events, tournament, false);
                    }
                }
            }
            LobbyCommand::Lift { account, by, reason } => {
                if self.known(&account)?.blacklisted.is_none() {
                    return Err(LobbyRejection::NotBlacklisted(account));
                }
                self.emit(now, &mut events, BlacklistLifted { account, by, reason });
            }
            LobbyCommand::IssueToken { account, token, expires_at } => {
                self.known(&account)?;
                let surplus = self.tokens.surplus(&account, now);
                self.emit(now, &mut events, TokenIssued { account, token, expires_at });
                if let Some(token) = surplus {
                    self.emit(now, &mut events, TokenRevoked { token });
                }
            }
            LobbyCommand::RevokeToken { token } => {
                if !self.tokens.contains(&token) {
                    return Err(LobbyRejection::NoToken);
                }
                self.emit(now, &mut events, TokenRevoked { token });
            }
            LobbyCommand::LogIn { account } => {
                self.known(&account)?;
                if !self.line.contains(&account) {
                    self.emit(now, &mut events, AccountLoggedIn { account });
                }
            }
            LobbyCommand::LogOut { account } => {
                if self.line.contains(&account) {
                    self.emit(now, &mut events, AccountLoggedOut { account });
                }
            }
            LobbyCommand::Locate { account, location } => {
                self.locate(now, &mut events, account, location)?;
            }
            LobbyCommand::Drop { account } => {
                self.may_drop(&account, now)?;
                self.emit(now, &mut events, AccountDropped { account });
            }
            other => self.step_play(now, &mut events, other)?,
        }
        Ok(events)
    }

    /// The tokens of an account, except the one to keep.
    fn tokens_except(&self, account: &PlayerName, keep: Option<&TokenHash>) -> Vec<TokenHash> {
        self.tokens.of(account).filter(|token| Some(*token) != keep).cloned().collect()
    }

    fn revoke(&mut self, now: Timestamp, events: &mut Vec<Event>, tokens: Vec<TokenHash>) {
        for token in tokens {
            self.emit(now, events, TokenRevoked { token });
        }
    }

    /// Processes the commands about playing.
    fn step_play(
        &mut self,
        now: Timestamp,
        events: &mut Vec<Event>,
        command: LobbyCommand,
    ) -> Result<(), LobbyRejection> {
        match command {
            LobbyCommand::Enqueue { player, queue } => {
                self.may_enqueue(&player, &queue)?;
                self.emit(now, events, PlayerEnqueued { player, queue });
            }
            LobbyCommand::Dequeue { player, queue } => {
                if !self.queue(&queue).contains(&player) {
                    return Err(LobbyRejection::NotQueued(player));
                }
                self.emit(now, events, PlayerDequeued { player, queue });
            }
            LobbyCommand::Announce { announcement, secret, absent } => {
                return self.announce(now, events, *announcement, secret.as_ref(), &absent);
            }
            LobbyCommand::SignUp { tournament, player, age } => {
                self.may_play(&player)?;
                let tournament = self.latest_of(tournament);
                if self.sign_up_of(&tournament)?.players.contains(&player) {
                    return Err(LobbyRejection::SignedUp(player));
                }
                let signed_up = PlayerSignedUp { tournament: tournament.clone(), player, age };
                self.emit(now, events, signed_up);
                let sign_up = self.sign_up_of(&tournament)?;
                if sign_up.players.len() >= sign_up.window.at_most as usize {
                    self.start(now, events, &tournament)?;
                }
            }
            LobbyCommand::Withdraw { tournament, player } => {
                if let Some(Standing::Inviting(_)) = self.tournaments.get(&tournament) {
                    return self.reject(now, events, tournament, player);
                }
                let tournament = self.left_by(tournament, &player);
                if !self.sign_up_of(&tournament)?.players.contains(&player) {
                    return Err(LobbyRejection::NotSignedUp(player));
                }
                self.emit(now, events, SignUpWithdrawn { tournament, player });
            }
            LobbyCommand::Accept { tournament, player } => {
                return self.accept(now, events, tournament, player);
            }
            LobbyCommand::Reject { tournament, player } => {
                return self.reject(now, events, tournament, player);
            }
            LobbyCommand::BeReady { tournament, player } => {
                return self.be_ready(now, events, tournament, player);
            }
            other => return self.step_course(now, events, other),
        }
        Ok(())
    }

    /// Processes the commands about the course of tournaments.
    fn step_course(
        &mut self,
        now: Timestamp,
        events: &mut Vec<Event>,
        command: LobbyCommand,
    ) -> Result<(), LobbyRejection> {
        match command {
            LobbyCommand::Close { tournament } => return self.close(now, events, tournament),
            LobbyCommand::Order { order, ruling } => {
                return self.obey(now, events, order, ruling);
            }
            LobbyCommand::Deliver { tournament } => {
                let asker = self.askers.get(&tournament);
                let owed =
                    asker.is_some_and(|asker| self.owed_to(asker).any(|id| *id == tournament));
                if !owed && !self.is_requested(&tournament) {
                    return Err(LobbyRejection::NotOwed(tournament));
                }
                self.emit(now, events, ResultDelivered { tournament });
            }
            LobbyCommand::NoteRequester { tournament, reply_to } => {
                return self.note_requester(now, events, tournament, reply_to);
            }
            LobbyCommand::Resume { away_ms, answers_until } => {
                // If nothing waits, there is no wait to extend and nothing to record.
                if self.deadline().is_some() {
                    self.emit(now, events, ServerResumed { away_ms, answers_until });
                }
            }
            LobbyCommand::Finish { tournament, winners, head } => {
                let Some(Standing::Running(_)) = self.tournaments.get(&tournament) else {
                    return Err(LobbyRejection::NotRunning(tournament));
                };
                self.emit(now, events, TournamentFinished { tournament, winners, head });
            }
            _ => unreachable!("commands about accounts are decided before"),
        }
        Ok(())
    }

    pub(super) fn emit(
        &mut self,
        now: Timestamp,
        events: &mut Vec<Event>,
        event: impl Into<Event>,
    ) {
        let event = event.into();
        self.apply(now, &event).expect("the lobby accepts what it decided");
        events.push(event);
    }

    pub(super) fn known(&self, account: &PlayerName) -> Result<&Account, LobbyRejection> {
        self.accounts.get(account).ok_or_else(|| LobbyRejection::Unknown(account.clone()))
    }

    /// Returns whether a policy has already blacklisted for this cheat. The cheat must belong to a
    /// running tournament.
    fn is_recorded(&self, cause: Option<&Cause>) -> Result<bool, LobbyRejection> {
        let Some(cause) = cause else { return Ok(false) };
        match self.tournaments.get(&cause.tournament) {
            Some(Standing::Running(_)) => Ok(self.causes.contains(cause)),
            _ => Err(LobbyRejection::NotRunning(cause.tournament.clone())),
        }
    }

    fn may_register(&self, account: &PlayerName) -> Result<(), LobbyRejection> {
        let reserved = account.as_str() == Ruling::SERVER;
        if reserved || self.accounts.contains_key(account) {
            return Err(LobbyRejection::Taken(account.clone()));
        }
        let room = self.accounts.len() < Lobby::ACCOUNTS_MAX;
        room.then_some(()).ok_or(LobbyRejection::NoRoom)
    }

    /// Checks that a guest can take this name. A guest in a game keeps the name until the game is
    /// over.
    fn may_claim(&self, guest: &PlayerName, account: &PlayerName) -> Result<(), LobbyRejection> {
        let Account { blacklisted, .. } = match self.known(guest)? {
            known if known.is_guest() => known,
            _ => return Err(LobbyRejection::NotGuest(guest.clone())),
        };
        if let Some(why) = blacklisted {
            return Err(LobbyRejection::Blacklisted(guest.clone(), why.clone()));
        }
        self.may_register(account)?;
        match self.involvement(guest) == (0, 0) {
            true => Ok(()),
            false => Err(LobbyRejection::GuestPlays(guest.clone())),
        }
    }

    /// Checks that an account can be deleted: it never played, takes part in nothing, and belongs
    /// to a program that gave only a name, or to a guest who did not use it for a while.
    fn may_drop(&self, account: &PlayerName, now: Timestamp) -> Result<(), LobbyRejection> {
        let known = self.known(account)?;
        let Account { kind, role, password, blacklisted, played, .. } = known;
        let is_bare = *kind == AccountKind::Program && *role == Role::Player && password.is_none();
        let has_token = || self.tokens.of(account).next().is_some();
        let is_old = || now >= known.registered_at.saturating_add(Lobby::GUEST_IDLE_MS);
        let may_go = (is_bare && !has_token()) || (known.is_guest() && is_old());
        let is_idle = self.involvement(account) == (0, 0)
            && self.index.invited_to(account).next().is_none()
            && !self.line.contains(account);
        match may_go && is_idle && !*played && blacklisted.is_none() {
            true => Ok(()),
            false => Err(LobbyRejection::Stays(account.clone())),
        }
    }

    pub(crate) fn may_play(&self, player: &PlayerName) -> Result<(), LobbyRejection> {
        match &self.known(player)?.blacklisted {
            Some(why) => Err(LobbyRejection::Blacklisted(player.clone(), why.clone())),
            None => Ok(()),
        }
    }

    fn may_enqueue(&self, player: &PlayerName, queue: &QueueName) -> Result<(), LobbyRejection> {
        self.may_play(player)?;
        let times = self.queue(queue).times(player);
        if times >= Lobby::QUEUED_MAX {
            return Err(LobbyRejection::QueuedEnough(player.clone()));
        }
        let queues = || self.index.queues_of(player).count();
        if times == 0 && queues() >= Lobby::QUEUES_MAX {
            return Err(LobbyRejection::ManyQueues(player.clone()));
        }
        Ok(())
    }

    pub(super) fn sign_up_of(&self, tournament: &TournamentId) -> Result<&SignUp, LobbyRejection> {
        match self.tournaments.get(tournament) {
            Some(Standing::Open(sign_up)) => Ok(sign_up),
            _ => Err(LobbyRejection::NotOpen(tournament.clone())),
        }
    }

    fn close(
        &mut self,
        now: Timestamp,
        events: &mut Vec<Event>,
        tournament: TournamentId,
    ) -> Result<(), LobbyRejection> {
        if let Some(Standing::Inviting(_)) = self.tournaments.get(&tournament) {
            self.close_invitation(now, events, tournament);
            return Ok(());
        }
        let sign_up = self.sign_up_of(&tournament)?;
        let (count, window) = (sign_up.players.len(), &sign_up.window);
        let needed = if sign_up.extended { window.second_at_least } else { window.at_least };
        if count >= needed as usize && count > 0 {
            return self.start(now, events, &tournament);
        }
        if !sign_up.extended && window.second_wait_ms > 0 {
            self.emit(now, events, SignUpExtended { tournament });
            return Ok(());
        }
        let reason = format!("{count} players signed up, and {needed} are needed");
        let closed = sign_up.clone();
        self.emit(now, events, TournamentCalledOff { tournament, reason });
        self.repeat(now, events, closed);
        Ok(())
    }

    fn start(
        &mut self,
        now: Timestamp,
        events: &mut Vec<Event>,
        tournament: &TournamentId,
    ) -> Result<(), LobbyRejection> {
        let sign_up = self.sign_up_of(tournament)?;
        let closed = sign_up.clone();
        let plan = closed.announcement.plan(closed.in_playing_order());
        self.emit(now, events, TournamentStarted { plan });
        self.repeat(now, events, closed);
        Ok(())
    }
}
