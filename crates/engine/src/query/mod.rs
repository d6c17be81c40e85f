//! Queries and commands from outside: the HTTP interface, the Erlang node, the start of the server.
//!
//! Each is a struct with a typed answer. Nothing outside this folder accesses the engine's state:
//! callers see queries and answers, and both are data. Answers are the types that the HTTP
//! interface writes, so callers make the JSON on threads of their own.
//!
//! Commit, then send: the engine returns an answer only when the records it depends on are durable.
#![expect(missing_docs, reason = "fields say what they hold by their names")]

mod accounts;
mod casual;
mod lobby;
mod matches;
mod node;
mod operator;
mod remote;
mod server;
mod tournaments;

use super::Engine;
use super::cells::watch::WatcherId;
use super::follow_up::FollowUp;
use super::journal::StreamKey;
pub use accounts::{
    AccountPage, ChangeQueue, Decide, FindAccount, FindHolder, FindPassword, IssueToken,
    ListAccounts, ListQueue, NoteLogin, Register, ShownAccount,
};
use agon_core::TournamentId;
use agon_core::lobby::Lobby;
pub use casual::{ClaimGuest, NoGuest, PlayCasual, RegisterGuest};
pub use lobby::{
    AnswerInvitation, InvitationReply, ListInvitations, LookAtLobby, ShownInvitation, ShownLobby,
};
pub use matches::{
    ArchiveVersion, FindFinishedView, FindMatch, FindSecrets, FoundMatch, ListFaultyMatches,
    ListLiveScores, ListPlaying, MatchSecrets, StartWatching,
};
pub use node::{
    AnnounceNumbered, AttachAgain, IsLive, ListCutOff, ListRequests, Locate, LookBeforeStart,
    NotHeld, Relocate, ReportNotThere,
};
pub use operator::{CarryOut, Order, Written};
pub use remote::RemoteQuery;
pub use server::{AnnounceWhenPresent, Count, Counts, IssueOperatorToken, Ping};
use std::any::Any;
pub use tournaments::{
    Announce, AnnounceWanted, FindAccountRulings, FindLobbyRulings, FindStanding, FindTournament,
    FoundTournament, ListStarted, ListTournaments, NotAnnounced, OpenSignUp, SignUpPlayer,
    TournamentEntry, TournamentPage, Withdraw,
};

/// The number of a query, unique while the server runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct QueryId(pub u64);

/// A question to the engine, or a command, with the type of its answer.
pub trait Query: Send + 'static {
    /// The type of the answer.
    type Answer: Send + 'static;

    /// The streams the answer depends on. It waits until their records are durable.
    fn streams(&self) -> Vec<StreamKey> {
        vec![StreamKey::Lobby]
    }

    /// The running tournament that the query is about. The engine that owns it answers the query.
    fn cell(&self, _lobby: &Lobby) -> Option<TournamentId> {
        None
    }

    /// The rest of the query for the lobby's engine, after the engine that owns the tournament has
    /// done its part.
    fn for_lobby(&self, _engine: &mut Engine) -> Option<Box<dyn AnyQuery>> {
        None
    }

    /// The watcher that the query subscribes.
    fn watcher(&self) -> Option<WatcherId> {
        None
    }

    /// Answers the query or carries out the command.
    fn answer(self, engine: &mut Engine) -> Self::Answer;

    /// More streams the answer depends on, if they are known only with the answer.
    fn written(_answer: &Self::Answer) -> Vec<StreamKey> {
        Vec::new()
    }
}

/// An answer of any type.
pub struct AnyAnswer(Box<dyn Any + Send>);

impl AnyAnswer {
    /// The answer, if it is of this type.
    pub fn downcast<T: 'static>(self) -> Option<T> {
        self.0.downcast().ok().map(|answer| *answer)
    }
}

/// A query of any type on its way to the engine.
pub trait AnyQuery: Send {
    /// The running tournament that it is about.
    fn cell(&self, lobby: &Lobby) -> Option<TournamentId>;

    /// The rest of it for the lobby's engine.
    fn for_lobby(&self, engine: &mut Engine) -> Option<Box<dyn AnyQuery>>;

    /// The watcher that it subscribes.
    fn watcher(&self) -> Option<WatcherId>;

    /// The query itself, for looking at its type.
    fn as_any(&self) -> &dyn Any;

    /// Answers it once the records the answer depends on are durable.
    fn run(self: Box<Self>, id: QueryId, engine: &mut Engine);
}

impl<Q: Query> AnyQuery for Q {
    fn cell(&self, lobby: &Lobby) -> Option<TournamentId> {
        Query::cell(self, lobby)
    }

    fn for_lobby(&self, engine: &mut Engine) -> Option<Box<dyn AnyQuery>> {
        Query::for_lobby(self, engine)
    }

    fn watcher(&self) -> Option<WatcherId> {
        Query::watcher(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn run(self: Box<Self>, id: QueryId, engine: &mut Engine) {
        let mut streams = self.streams();
        let answer = self.answer(engine);
        streams.extend(Q::written(&answer));
        let answer = AnyAnswer(Box::new(answer));
        engine.once_durable(streams, FollowUp::Reply(id, answer));
    }
}

/// A part of a long list that is sorted by name.
pub struct ListWindow {
    /// The name before the first entry.
    pub after: String,
    pub limit: usize,
}

impl ListWindow {
    /// The entries of the list within the window, and the last name if more entries follow.
    fn of<'a, N: Clone + 'a, T, E>(
        &self,
        all: impl Iterator<Item = (&'a N, T)>,
        text: impl Fn(&'a N) -> &'a str,
        entry: impl Fn(&'a N, T) -> E,
    ) -> (Vec<E>, Option<N>) {
        let mut rest = all.skip_while(|(name, _)| text(name) <= self.after.as_str());
        let mut last = None;
        let within = rest.by_ref().take(self.limit).map(|(name, value)| {
            last = Some(name);
            entry(name, value)
        });
        let entries = within.collect();
        let next = last.filter(|_| rest.next().is_some()).cloned();
        (entries, next)
    }
}
