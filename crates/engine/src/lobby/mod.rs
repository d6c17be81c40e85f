//! The lobby as a cell: its machine, its records, its deadlines, its snapshots and its news.
//!
//! It owns the stream `lobby`. It knows players by name and by whether they can be reached, and
//! neither sessions nor matches. The consequences of a record for others (a tournament starts,
//! a player is listed, somebody is invited) go out as follow-ups of that record.

mod announce;
mod guests;
mod news;
mod presence;
mod snapshots;

use crate::follow_up::FollowUp;
use crate::journal::StreamKey;
use crate::services::Services;
use agon_core::lobby::{AccountKind, Lobby, LobbyCommand, LobbyRejection, Role, TokenHash};
use agon_core::{ApplyError, Event, PlayerName, StreamEnd, Timestamp, TournamentId};
pub(crate) use announce::try_plan;
pub use announce::{AnnounceError, check_announcement};
use guests::GuestSweep;
pub(crate) use news::tell_left_out;
use news::{News, news_of};
use snapshots::Snapshots;

/// The lobby and its records.
#[derive(Default)]
pub(crate) struct LobbyCell {
    machine: Lobby,
    snapshots: Snapshots,
    news: News,
    guests: GuestSweep,
}

impl LobbyCell {
    /// The lobby's state, for reading.
    pub(crate) fn state(&self) -> &Lobby {
        &self.machine
    }

    /// The facts about accounts that cells read.
    pub(crate) fn accounts(&self) -> Accounts<'_> {
        Accounts(&self.machine)
    }

    /// Begins with a state that was folded from the log.
    pub(crate) fn resume(&mut self, machine: Lobby) {
        self.machine = machine;
    }

    /// Decides a command, commits its events, and names their follow-ups.
    pub(crate) fn step(
        &mut self,
        services: &mut Services,
        command: LobbyCommand,
        mut follow_ups: Vec<FollowUp>,
    ) -> Result<(), LobbyRejection> {
        debug_assert!(!services.has_only_cells(), "a replica decides nothing");
        let now = services.now_ms();
        let waiting = self.waiting_for(&command);
        let events = self.machine.step(now, command)?;
        for event in &events {
            match event {
                Event::TournamentStarted(started) => {
                    follow_ups.push(FollowUp::Start(Box::new(started.plan.clone())));
                }
                Event::PlayerEnqueued(enqueued) => {
                    follow_ups.push(FollowUp::FillQueue(enqueued.queue.clone()));
                }
                Event::AccountLoggedOut(gone) => {
                    follow_ups.push(FollowUp::LeaveQueues(gone.account.clone()));
                }
                Event::AccountBlacklisted(listed) => {
                    follow_ups.push(FollowUp::Expel(listed.account.clone()));
                }
                _ => {}
            }
        }
        follow_ups.extend(news_of(&events, waiting));
        if services.has_cell_engines() && !events.is_empty() {
            // The other engines must know the events before anything that follows from them.
            let seq = services.journals.version(&StreamKey::Lobby) + 1;
            follow_ups.insert(0, FollowUp::Publish(seq, now, events.clone()));
        }
        services.commit_at(now, StreamKey::Lobby, &events, follow_ups);
        self.set_timer(services);
        Ok(())
    }

    /// Applies a durable event that the lobby's engine published: this lobby is a replica.
    pub(crate) fn follow(
        &mut self,
        services: &mut Services,
        seq: u64,
        at: Timestamp,
        event: &Event,
    ) -> Result<(), ApplyError> {
        self.machine.apply(at, event)?;
        let end = StreamEnd::unchained(StreamKey::Lobby.name(), seq);
        services.journals.open(StreamKey::Lobby, end);
        Ok(())
    }

    /// Sets the lobby's timer to its next deadline, unless the timer fires before that.
    pub(crate) fn set_timer(&self, services: &mut Services) {
        if let Some(deadline) = self.machine.deadline() {
            services.timers.set_lobby(deadline);
        }
    }

    /// The next command whose deadline has passed.
    pub(crate) fn due(&self, now: Timestamp) -> Option<LobbyCommand> {
        self.machine.due(now)
    }

    /// Creates accounts for house players, so that they can be named and looked up like others.
    pub(crate) fn register_houses(&mut self, services: &mut Services) {
        let mut names = Vec::new();
        for game in services.games.names() {
            names.extend(services.houses.names(game));
        }
        for name in names {
            let plain = name.split(':').next().unwrap_or(&name);
            let Ok(account) = PlayerName::of_house(plain) else { continue };
            if self.machine.account(&account).is_none() {
                let (kind, role, password) = (AccountKind::House, Role::Player, None);
                let command = LobbyCommand::Register { account, kind, role, password };
                let _ = self.step(services, command, Vec::new());
            }
        }
    }

    /// Gives an account a new token; returns when the token expires.
    pub(crate) fn issue_token(
        &mut self,
        services: &mut Services,
        account: PlayerName,
        token: &str,
    ) -> Result<Timestamp, LobbyRejection> {
        let expires_at = services.now_ms() + services.settings.token_ms;
        let token = TokenHash::of(token);
        let command = LobbyCommand::IssueToken { account, token, expires_at };
        self.step(services, command, Vec::new())?;
        Ok(expires_at)
    }

    /// Makes a token for an operator's account, and the account if there is none. The log stores
    /// only the token's hash.
    pub(crate) fn operator_token(
        &mut self,
        services: &mut Services,
        account: PlayerName,
    ) -> Result<String, LobbyRejection> {
        let token = services.entropy.token();
        if self.machine.account(&account).is_none() {
            let (kind, role, password) = (AccountKind::Person, Role::Operator, None);
            let name = account.clone();
            let command = LobbyCommand::Register { account: name, kind, role, password };
            self.step(services, command, Vec::new())?;
        }
        self.issue_token(services, account, &token)?;
        Ok(token)
    }
}

/// The facts about accounts that cells read.
#[derive(Clone, Copy)]
pub(crate) struct Accounts<'a>(&'a Lobby);

impl<'a> Accounts<'a> {
    /// Returns whether an account belongs to a person.
    pub(crate) fn is_person(self, player: &PlayerName) -> bool {
        self.0.account(player).is_some_and(|account| account.kind == AccountKind::Person)
    }

    /// Returns whether an account is for the wires of other systems.
    pub(crate) fn is_peer(self, player: &PlayerName) -> bool {
        self.0.account(player).is_some_and(|account| {
            account.password.is_none()
                && account.kind == AccountKind::Program
                && account.role == Role::Player
        })
    }

    /// Why a player is on the blacklist, if they are.
    pub(crate) fn why_listed(self, player: &PlayerName) -> Option<&'a str> {
        self.0.account(player)?.blacklisted.as_deref()
    }

    /// The running tournaments of a player, by name.
    pub(crate) fn playing_in(self, player: &PlayerName) -> impl Iterator<Item = &'a TournamentId> {
        self.0.playing_in(player)
    }
}
