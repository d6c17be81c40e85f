//! What the lobby makes of a command.

use super::{
    AccountKind, Announcement, Lobby, LobbyOrder, PasswordHash, QueueName, Role, Selection, SignUp,
    Standing, TokenHash,
};
use crate::event::{
    AccountBlacklisted, AccountLoggedIn, AccountLoggedOut, AccountRegistered, BlacklistLifted,
    Event, PasswordChanged, PlayerDequeued, PlayerEnqueued, PlayerSignedUp, ServerResumed,
    SignUpExtended, SignUpWithdrawn, TokenIssued, TokenRevoked, TournamentAnnounced,
    TournamentCalledOff, TournamentFinished, TournamentStarted,
};
use crate::ids::{Millis, PlayerName, TournamentId};
use crate::ruling::Ruling;
use agon_games::{Luck, Seed};
use std::collections::BTreeSet;

/// What comes to the lobby from outside. Who is allowed to say it is known to the shell, which has
/// the connection; whether it can be done is decided here.
#[derive(Clone, PartialEq, Debug)]
pub enum LobbyCommand {
    /// Make an account.
    Register {
        /// Its name.
        account: PlayerName,
        /// What sort of player.
        kind: AccountKind,
        /// What it may do.
        role: Role,
        /// Its password.
        password: Option<PasswordHash>,
    },
    /// Change a password that was checked.
    ChangePassword {
        /// Whose.
        account: PlayerName,
        /// The new one.
        password: PasswordHash,
    },
    /// Put an account on the blacklist.
    Blacklist {
        /// Which.
        account: PlayerName,
        /// Why.
        reason: String,
        /// The operator, unless a policy did it.
        by: Option<PlayerName>,
    },
    /// Take an account off the blacklist.
    Lift {
        /// Which.
        account: PlayerName,
        /// The operator.
        by: PlayerName,
        /// Why.
        reason: String,
    },
    /// Give an account a token.
    IssueToken {
        /// Whose.
        account: PlayerName,
        /// Its hash.
        token: TokenHash,
        /// When it ends.
        expires_at: Millis,
    },
    /// Revoke a token.
    RevokeToken {
        /// Its hash.
        token: TokenHash,
    },
    /// An account that proved itself is here.
    LogIn {
        /// Which.
        account: PlayerName,
    },
    /// An account leaves.
    LogOut {
        /// Which.
        account: PlayerName,
    },
    /// Wait in a queue once more.
    Enqueue {
        /// Who.
        player: PlayerName,
        /// Where.
        queue: QueueName,
    },
    /// Wait in a queue once less.
    Dequeue {
        /// Who.
        player: PlayerName,
        /// Where.
        queue: QueueName,
    },
    /// Hold a tournament.
    Announce {
        /// Which.
        announcement: Box<Announcement>,
        /// The luck of a random selection.
        seed: Seed,
    },
    /// Sign up for a tournament.
    SignUp {
        /// Which.
        tournament: TournamentId,
        /// Who.
        player: PlayerName,
    },
    /// Take a sign-up back.
    Withdraw {
        /// From which tournament.
        tournament: TournamentId,
        /// Who.
        player: PlayerName,
    },
    /// A sign-up's wait is over.
    Close {
        /// Which tournament.
        tournament: TournamentId,
    },
    /// A tournament is over.
    Finish {
        /// Which.
        tournament: TournamentId,
        /// Who won.
        winners: Vec<PlayerName>,
    },
    /// The server is back, after nobody could reach it for a while.
    Resume {
        /// For how long.
        away_ms: Millis,
    },
    /// An operator decides something.
    Order {
        /// What.
        order: LobbyOrder,
        /// Who, and why.
        ruling: Ruling,
    },
}

/// A command that changes nothing, with the reason for whoever sent it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LobbyRejection {
    /// The name is taken.
    #[error("the name {0} is taken; log in, or choose another")]
    Taken(PlayerName),
    /// There are too many accounts.
    #[error("there is no room for another account")]
    NoRoom,
    /// There is no such account.
    #[error("there is no account {0}; register first")]
    Unknown(PlayerName),
    /// The account may not enter tournaments.
    #[error("{0} is on the blacklist: {1}; only an operator can lift it")]
    Blacklisted(PlayerName, String),
    /// The account is not on the blacklist.
    #[error("{0} is not on the blacklist")]
    NotBlacklisted(PlayerName),
    /// The token is not known.
    #[error("there is no such token")]
    NoToken,
    /// The player waits often enough.
    #[error("{0} waits {max} times in this queue already", max = Lobby::QUEUED_MAX)]
    QueuedEnough(PlayerName),
    /// The player waits in enough queues.
    #[error("{0} waits in {max} queues already; leave one first", max = Lobby::QUEUES_MAX)]
    ManyQueues(PlayerName),
    /// The player does not wait there.
    #[error("{0} does not wait in this queue")]
    NotQueued(PlayerName),
    /// There is a tournament of that name.
    #[error("there is a tournament {0} already; choose another name")]
    Announced(TournamentId),
    /// The name would spoil the log or the ids of requests.
    #[error("{0:?} names no tournament: use a-z, 0-9 and -, up to 60")]
    BadId(String),
    /// The sign-up contradicts itself.
    #[error("{0}")]
    BadWindow(String),
    /// A player is named twice.
    #[error("{0} is named twice; a player enters a tournament once")]
    Twice(PlayerName),
    /// Too many tournaments at once.
    #[error("too many tournaments are open or running; wait for one to end")]
    TooMany,
    /// There is no such tournament, or it takes nobody any more.
    #[error("tournament {0} takes no sign-ups")]
    NotOpen(TournamentId),
    /// The player signed up before.
    #[error("{0} is signed up already")]
    SignedUp(PlayerName),
    /// The player is not signed up.
    #[error("{0} is not signed up")]
    NotSignedUp(PlayerName),
    /// Nobody to play.
    #[error("nobody waits for this tournament")]
    Nobody,
    /// It does not run.
    #[error("tournament {0} does not run")]
    NotRunning(TournamentId),
}

impl Lobby {
    /// Decides a command and applies what follows from it. A rejected command changes nothing.
    pub fn step(
        &mut self,
        now: Millis,
        command: LobbyCommand,
    ) -> Result<Vec<Event>, LobbyRejection> {
        let mut events = Vec::new();
        match command {
            LobbyCommand::Register { account, kind, role, password } => {
                self.may_register(&account)?;
                self.emit(now, &mut events, AccountRegistered { account, kind, role, password });
            }
            LobbyCommand::ChangePassword { account, password } => {
                self.known(&account)?;
                self.emit(now, &mut events, PasswordChanged { account, password });
            }
            LobbyCommand::Blacklist { account, reason, by } => {
                self.known(&account)?;
                self.emit(now, &mut events, AccountBlacklisted { account, reason, by });
            }
            LobbyCommand::Lift { account, by, reason } => {
                if self.known(&account)?.blacklisted.is_none() {
                    return Err(LobbyRejection::NotBlacklisted(account));
                }
                self.emit(now, &mut events, BlacklistLifted { account, by, reason });
            }
            LobbyCommand::IssueToken { account, token, expires_at } => {
                self.known(&account)?;
                let surplus = self.surplus_token(&account);
                self.emit(now, &mut events, TokenIssued { account, token, expires_at });
                if let Some(token) = surplus {
                    self.emit(now, &mut events, TokenRevoked { token });
                }
            }
            LobbyCommand::RevokeToken { token } => {
                if !self.tokens.contains_key(&token) {
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
            other => self.step_play(now, &mut events, other)?,
        }
        Ok(events)
    }

    /// The commands about playing.
    fn step_play(
        &mut self,
        now: Millis,
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
            LobbyCommand::Announce { announcement, seed } => {
                return self.announce(now, events, *announcement, &seed);
            }
            LobbyCommand::SignUp { tournament, player } => {
                self.may_play(&player)?;
                let tournament = self.latest_of(tournament);
                if self.sign_up_of(&tournament)?.players.contains(&player) {
                    return Err(LobbyRejection::SignedUp(player));
                }
                let signed_up = PlayerSignedUp { tournament: tournament.clone(), player };
                self.emit(now, events, signed_up);
                let sign_up = self.sign_up_of(&tournament)?;
                if sign_up.players.len() >= sign_up.window.at_most as usize {
                    self.start(now, events, &tournament)?;
                }
            }
            LobbyCommand::Withdraw { tournament, player } => {
                if !self.sign_up_of(&tournament)?.players.contains(&player) {
                    return Err(LobbyRejection::NotSignedUp(player));
                }
                self.emit(now, events, SignUpWithdrawn { tournament, player });
            }
            LobbyCommand::Close { tournament } => return self.close(now, events, tournament),
            LobbyCommand::Order { order, ruling } => {
                return self.obey(now, events, order, ruling);
            }
            LobbyCommand::Finish { tournament, winners } => {
                let Some(Standing::Running(_)) = self.tournaments.get(&tournament) else {
                    return Err(LobbyRejection::NotRunning(tournament));
                };
                self.emit(now, events, TournamentFinished { tournament, winners });
            }
            LobbyCommand::Resume { away_ms } => {
                // Nothing waits that could wait longer: nothing to remember.
                if away_ms > 0 && self.deadline().is_some() {
                    self.emit(now, events, ServerResumed { away_ms });
                }
            }
            _ => unreachable!("commands about accounts are decided before"),
        }
        Ok(())
    }

    pub(super) fn emit(&mut self, now: Millis, events: &mut Vec<Event>, event: impl Into<Event>) {
        let event = event.into();
        self.apply(now, &event).expect("the lobby accepts what it decided");
        events.push(event);
    }

    pub(super) fn known(&self, account: &PlayerName) -> Result<&super::Account, LobbyRejection> {
        self.accounts.get(account).ok_or_else(|| LobbyRejection::Unknown(account.clone()))
    }

    fn may_register(&self, account: &PlayerName) -> Result<(), LobbyRejection> {
        if self.accounts.contains_key(account) {
            return Err(LobbyRejection::Taken(account.clone()));
        }
        let room = self.accounts.len() < Lobby::ACCOUNTS_MAX;
        room.then_some(()).ok_or(LobbyRejection::NoRoom)
    }

    fn may_play(&self, player: &PlayerName) -> Result<(), LobbyRejection> {
        match &self.known(player)?.blacklisted {
            Some(why) => Err(LobbyRejection::Blacklisted(player.clone(), why.clone())),
            None => Ok(()),
        }
    }

    fn may_enqueue(&self, player: &PlayerName, queue: &QueueName) -> Result<(), LobbyRejection> {
        self.may_play(player)?;
        let times = self.queue(queue).iter().filter(|waiting| *waiting == player).count();
        if times >= Lobby::QUEUED_MAX {
            return Err(LobbyRejection::QueuedEnough(player.clone()));
        }
        let queues = || self.queues.values().filter(|queue| queue.contains(player)).count();
        if times == 0 && queues() >= Lobby::QUEUES_MAX {
            return Err(LobbyRejection::ManyQueues(player.clone()));
        }
        Ok(())
    }

    /// The token that has to go if the account gets another one.
    fn surplus_token(&self, account: &PlayerName) -> Option<TokenHash> {
        let own = self.tokens.iter().filter(|(_, token)| token.account == *account);
        if own.clone().count() < Lobby::TOKENS_MAX {
            return None;
        }
        own.min_by_key(|(_, token)| token.expires_at).map(|(hash, _)| hash.clone())
    }

    pub(super) fn sign_up_of(&self, tournament: &TournamentId) -> Result<&SignUp, LobbyRejection> {
        match self.tournaments.get(tournament) {
            Some(Standing::Open(sign_up)) => Ok(sign_up),
            _ => Err(LobbyRejection::NotOpen(tournament.clone())),
        }
    }

    /// The name of the first in a series stands for the latest, once the first is not open.
    pub(super) fn latest_of(&self, tournament: TournamentId) -> TournamentId {
        match self.sign_up_of(&tournament) {
            Ok(_) => tournament,
            Err(_) => self.series.get(&tournament).cloned().unwrap_or(tournament),
        }
    }

    fn has_room(&self) -> bool {
        let live =
            |standing: &&Standing| matches!(standing, Standing::Open(_) | Standing::Running(_));
        self.tournaments.values().filter(live).count() < Lobby::TOURNAMENTS_MAX
    }

    fn announce(
        &mut self,
        now: Millis,
        events: &mut Vec<Event>,
        announcement: Announcement,
        seed: &Seed,
    ) -> Result<(), LobbyRejection> {
        if !names_tournament(announcement.id.as_str()) {
            return Err(LobbyRejection::BadId(announcement.id.as_str().chars().take(80).collect()));
        }
        if self.tournaments.contains_key(&announcement.id) {
            return Err(LobbyRejection::Announced(announcement.id));
        }
        if !self.has_room() {
            return Err(LobbyRejection::TooMany);
        }
        if let Selection::SignUp(window) = &announcement.selection {
            window.check().map_err(LobbyRejection::BadWindow)?;
            self.emit(now, events, TournamentAnnounced { announcement, repeats: None });
            return Ok(());
        }
        let players = self.select(&announcement.selection, seed)?;
        if players.is_empty() {
            return Err(LobbyRejection::Nobody);
        }
        let plan = announcement.plan(players);
        self.emit(now, events, TournamentAnnounced { announcement, repeats: None });
        self.emit(now, events, TournamentStarted { plan });
        Ok(())
    }

    /// Whom a selection takes from those who are here now.
    fn select(
        &self,
        selection: &Selection,
        seed: &Seed,
    ) -> Result<Vec<PlayerName>, LobbyRejection> {
        let free = |player: &&PlayerName| self.may_play(player).is_ok();
        let here = || self.line.iter().filter(free).cloned().collect::<Vec<_>>();
        let (mut players, at_most) = match selection {
            Selection::Line { at_most } => (here(), *at_most),
            Selection::Age { at_most } => {
                let mut players = here();
                players.sort_by_key(|player| self.accounts[player].number);
                (players, *at_most)
            }
            Selection::Random { at_most } => {
                let mut players = here();
                Luck::new(seed, "select").shuffle(0, &mut players);
                (players, *at_most)
            }
            Selection::Queue { queue, at_most } => {
                let mut seen = BTreeSet::new();
                let once = self.queue(queue).iter().filter(free).filter(|one| seen.insert(*one));
                (once.cloned().collect(), *at_most)
            }
            Selection::Named { players } => {
                players.iter().try_for_each(|player| self.may_play(player))?;
                let mut seen = BTreeSet::new();
                if let Some(twice) = players.iter().find(|player| !seen.insert(*player)) {
                    return Err(LobbyRejection::Twice(twice.clone()));
                }
                (players.clone(), u32::MAX)
            }
            Selection::SignUp(_) => (Vec::new(), 0),
        };
        players.truncate(at_most as usize);
        Ok(players)
    }

    fn close(
        &mut self,
        now: Millis,
        events: &mut Vec<Event>,
        tournament: TournamentId,
    ) -> Result<(), LobbyRejection> {
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

    pub(super) fn start(
        &mut self,
        now: Millis,
        events: &mut Vec<Event>,
        tournament: &TournamentId,
    ) -> Result<(), LobbyRejection> {
        let sign_up = self.sign_up_of(tournament)?;
        let closed = sign_up.clone();
        let plan = closed.announcement.plan(closed.players.clone());
        self.emit(now, events, TournamentStarted { plan });
        self.repeat(now, events, closed);
        Ok(())
    }

    /// Opens the next sign-up of a series: `cup-2` after `cup`.
    fn repeat(&mut self, now: Millis, events: &mut Vec<Event>, closed: SignUp) {
        if !closed.window.repeat || !self.has_room() {
            return;
        }
        let ids = (closed.next_number()..)
            .map(|number| TournamentId::from(format!("{}-{number}", closed.series)));
        let mut free = ids.filter(|id| !self.tournaments.contains_key(id));
        let id = free.next().expect("there are more numbers than tournaments");
        let announcement = Announcement { id, ..closed.announcement };
        let repeats = Some(closed.series);
        self.emit(now, events, TournamentAnnounced { announcement, repeats });
    }
}

/// Whether a text can be part of the names of streams and, before a colon, of ids of requests.
fn names_tournament(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=60).contains(&id.len()) && id.bytes().all(plain) && !id.starts_with('-')
}
