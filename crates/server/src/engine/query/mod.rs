//! Queries and commands from outside: the HTTP interface, the Erlang node, the start of the server.
//!
//! Each is a struct with a typed answer. Nothing outside this folder looks into the engine: callers
//! see queries and answers, and both are data. Answers are the types that the HTTP interface
//! writes, so callers make the JSON on threads of their own.
//!
//! Commit, then speak: an answer leaves the engine only when the records it rests on are durable.

mod accounts;
mod lobby;
mod matches;
mod node;
mod operator;
mod server;
mod tournaments;

use super::journal::StreamKey;
use super::{Engine, Handle, Input};
pub use accounts::Register;
pub(crate) use accounts::{
    AccountPage, ChangeQueue, Decide, FindAccount, FindHolder, FindPassword, IssueToken,
    ListAccounts, ListQueue, NoteLogin, ShownAccount,
};
pub(crate) use lobby::{AnswerInvitation, InvitationReply, ListInvitations, ShownInvitation};
pub use lobby::{LookAtLobby, ShownLobby};
pub(crate) use matches::{
    ArchiveVersion, FindFinishedView, FindMatch, FindSecrets, FoundMatch, ListFaultyMatches,
    MatchSecrets, StartWatching,
};
pub(crate) use node::{
    AnnounceNumbered, AttachAgain, IsLive, ListCutOff, ListRequests, Locate, LookBeforeStart,
    NotHeld, Relocate, ReportNotThere,
};
pub use operator::{CarryOut, Order, Written};
pub use server::{AnnounceWhenPresent, Count, Counts, IssueOperatorToken, Ping};
use tokio::sync::oneshot;
pub use tournaments::{Announce, FindPastResults, FindStanding, OpenSignUp};
pub(crate) use tournaments::{
    AnnounceWanted, FindTournament, FoundTournament, ListStarted, ListTournaments, NotAnnounced,
    SignUp, TournamentEntry, TournamentPage, Withdraw,
};

/// A question to the engine, or a command, with the type of its answer.
pub trait Query: Send + 'static {
    /// What comes back.
    type Answer: Send + 'static;

    /// The streams the answer rests on. It is held back until their records are durable.
    fn streams(&self) -> Vec<StreamKey> {
        vec![StreamKey::Lobby]
    }

    /// Answers the question or carries the command out.
    fn answer(self, engine: &mut Engine) -> Self::Answer;

    /// More streams the answer rests on, where only the answer tells which.
    fn written(_answer: &Self::Answer) -> Vec<StreamKey> {
        Vec::new()
    }
}

/// A query on its way to the engine, of any type.
pub(crate) trait AnyQuery: Send {
    fn run(self: Box<Self>, engine: &mut Engine);
}

/// A query, and where its answer goes.
struct Pending<Q: Query> {
    query: Q,
    reply: oneshot::Sender<Q::Answer>,
}

impl<Q: Query> AnyQuery for Pending<Q> {
    fn run(self: Box<Self>, engine: &mut Engine) {
        let Pending { query, reply } = *self;
        let mut streams = query.streams();
        let answer = query.answer(engine);
        streams.extend(Q::written(&answer));
        engine.once_durable(streams, Box::new(move |_| drop(reply.send(answer))));
    }
}

impl Handle {
    /// Asks the engine; `None` if it ended before it could answer.
    pub async fn ask<Q: Query>(&self, query: Q) -> Option<Q::Answer> {
        self.post(query).await.ok()
    }

    /// Hands the engine a query, which it takes in its turn. Nobody has to wait for the answer.
    pub(crate) fn post<Q: Query>(&self, query: Q) -> oneshot::Receiver<Q::Answer> {
        let (reply, answer) = oneshot::channel();
        self.send(Input::Query(Box::new(Pending { query, reply })));
        answer
    }
}

/// Which part of a long list that is sorted by name.
pub(crate) struct Window {
    /// The name before the first entry.
    pub(crate) after: String,
    pub(crate) limit: usize,
}

impl Window {
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
