//! Queries that an engine on another node answers, as data.

use super::operator::EnterChecked;
use super::{
    AnyAnswer, AnyQuery, ArchiveVersion, CarryOut, FindFinishedView, FindMatch, FindSecrets,
    FindStanding, FindTournament, IsLive, ListFaultyMatches, ListLiveScores, Query, StartWatching,
    Withdraw,
};
use serde::{Deserialize, Serialize};

/// Writes an answer as JSON; `None` if it is not the answer to this kind of query.
fn encoded<Q: Query<Answer: Serialize>>(answer: AnyAnswer) -> Option<String> {
    serde_json::to_string(&answer.downcast::<Q::Answer>()?).ok()
}

/// Reads an answer; `None` if it is not the answer to this kind of query.
fn decoded<Q: Query<Answer: for<'de> Deserialize<'de>>>(text: &str) -> Option<AnyAnswer> {
    let answer: Q::Answer = serde_json::from_str(text).ok()?;
    Some(AnyAnswer(Box::new(answer)))
}

macro_rules! remote_queries {
    ($($name:ident)*) => {
        /// A query about a tournament, on its way to the node that owns the tournament or back.
        #[derive(Clone, Serialize, Deserialize)]
        #[expect(private_interfaces, reason = "engines make some queries themselves")]
        #[expect(missing_docs, reason = "each variant is the query of its name")]
        pub enum RemoteQuery { $($name($name),)* }

        impl RemoteQuery {
            /// The data of a query; `None` for a query that no other node answers.
            pub fn of(query: &dyn AnyQuery) -> Option<RemoteQuery> {
                let query = query.as_any();
                $(if let Some(query) = query.downcast_ref::<$name>() {
                    return Some(RemoteQuery::$name(query.clone()));
                })*
                None
            }

            /// The query itself.
            pub fn into_query(self) -> Box<dyn AnyQuery> {
                match self { $(RemoteQuery::$name(query) => Box::new(query),)* }
            }

            /// Writes an answer to this query as JSON.
            pub fn encode(&self, answer: AnyAnswer) -> Option<String> {
                match self { $(RemoteQuery::$name(_) => encoded::<$name>(answer),)* }
            }

            /// Reads an answer to this query.
            pub fn decode(&self, answer: &str) -> Option<AnyAnswer> {
                match self { $(RemoteQuery::$name(_) => decoded::<$name>(answer),)* }
            }
        }
    };
}

remote_queries! {
    ArchiveVersion CarryOut EnterChecked FindFinishedView FindMatch FindSecrets FindStanding
    FindTournament IsLive ListFaultyMatches ListLiveScores StartWatching Withdraw
}
