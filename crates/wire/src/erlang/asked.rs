//! What a player is asked, as its gateway has to remember it until it is answered.

use super::class::Sight;
use super::referee::MatchSeen;
use super::refs::Refs;
use super::term::Ref;
use agon_core::{RequestId, TournamentId};
use agon_games::Refusal;
use agon_games::yahtzee::{CardView, Question, View};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::borrow::Cow;

/// How every request begins: `native` writes the type first.
pub(super) const REQUEST: &[u8] = br#"{"type":"request","#;

/// A request of the native protocol, with as much of it as a vocabulary shows.
#[derive(Deserialize)]
pub(super) struct Request<'a, V, M> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    pub(super) question: Question,
    pub(super) view: V,
    /// Where a vocabulary shows it.
    #[serde(rename = "match")]
    pub(super) in_match: Option<M>,
    /// How finished games of the match ended, by number.
    #[serde(default)]
    pub(super) ends: Vec<(u32, Ended)>,
}

/// As much of a game that is over as is shown.
#[derive(Deserialize)]
pub(super) struct Ended {
    pub(super) cards: [CardView; 2],
}

/// For the class protocol: the cards.
pub(super) type ForClass<'a> = Request<'a, Sight, IgnoredAny>;

/// For the referee protocol: everything.
pub(super) type ForReferee<'a> = Request<'a, View, MatchSeen>;

/// For the queue protocol: the dice.
pub(super) type ForQueue<'a> = Request<'a, IgnoredAny, IgnoredAny>;

impl<'a, V: DeserializeOwned, M: DeserializeOwned> Request<'a, V, M> {
    /// Reads a line; `None` if it is no request, or none of Yahtzee.
    pub(super) fn read(line: &'a [u8]) -> Option<Request<'a, V, M>> {
        serde_json::from_slice(line).ok()
    }
}

/// Which request it is: `cup:r1m2.3.0.17`.
pub(super) struct Parts<'a> {
    pub(super) tournament: &'a str,
    /// The tournament and the match.
    pub(super) of_match: &'a str,
    round: u32,
    number: u32,
    game: u32,
}

impl Parts<'_> {
    pub(super) fn of(id: &str) -> Option<Parts<'_>> {
        let (tournament, rest) = id.split_once(':')?;
        let (match_id, rest) = rest.split_once('.')?;
        let (round, number) = match_id.strip_prefix('r')?.split_once('m')?;
        let game = rest.split('.').next()?.parse().ok()?;
        let (round, number) = (round.parse().ok()?, number.parse().ok()?);
        let of_match = &id[..tournament.len() + 1 + match_id.len()];
        Some(Parts { tournament, of_match, round, number, game })
    }

    pub(super) fn tournament(&self) -> TournamentId {
        TournamentId::from_text(self.tournament)
    }

    pub(super) fn game(&self, refs: &Refs, tournament: &Ref) -> Ref {
        refs.game(tournament, self.round, self.number, self.game)
    }
}

/// The latest request of one match.
#[derive(Clone, Debug)]
pub(super) struct Open {
    /// The tournament and the match.
    pub(super) of_match: Box<str>,
    pub(super) id: RequestId,
    pub(super) reference: Ref,
    pub(super) tournament: Ref,
    pub(super) game: Ref,
    pub(super) question: Question,
    /// Whether an answer to it was passed on.
    pub(super) answered: bool,
    /// The answer to the next question, which the player is not sent.
    pub(super) then: Option<String>,
}

/// An answer that the game will refuse for the reason it is refused here: whoever charges it is the
/// referee, with the policy of the tournament.
pub(super) fn refused(question: &Question, refusal: &Refusal, evidence: &str) -> String {
    match (&*refusal.code, question) {
        ("wrong-kind", Question::Keep { .. }) => r#"{"score":"chance"}"#.into(),
        ("wrong-kind", Question::Score { .. }) => r#"{"keep":[]}"#.into(),
        ("keepers-not-held", _) => r#"{"keep":[0]}"#.into(),
        _ => serde_json::to_string(evidence).expect("text is JSON"),
    }
}
