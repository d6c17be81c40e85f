//! The open requests of a player, as the gateway remembers them. An answer that names no request is
//! matched to one of them here.

use super::class::Sight;
use super::play::{dice_of, roll_of};
use super::queue::box_of;
use super::referee::MatchSeen;
use super::refs::Refs;
use super::term::{Ref, Term};
use agon_core::{RequestId, Timestamp, TournamentId};
use agon_games::yahtzee::{Boxes, CardView, Question, View};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::borrow::Cow;

/// The beginning of every request: `native` writes the type first.
pub(super) const REQUEST: &[u8] = br#"{"type":"request","#;

/// A request of the native protocol, as far as a vocabulary shows it.
#[derive(Deserialize)]
pub(super) struct Request<'a, V, M> {
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    pub(super) question: Question,
    pub(super) view: V,
    /// Present if the vocabulary shows it.
    #[serde(rename = "match")]
    pub(super) in_match: Option<M>,
    /// How finished games of the match ended, by number.
    #[serde(default)]
    pub(super) ends: Vec<(u32, Ended)>,
}

/// A finished game, as far as it is shown.
#[derive(Deserialize)]
pub(super) struct Ended {
    pub(super) cards: [CardView; 2],
}

/// For the class protocol: the cards.
pub(super) type ForClass<'a> = Request<'a, Sight, IgnoredAny>;

/// For the referee protocol: everything.
pub(super) type ForReferee<'a> = Request<'a, View, MatchSeen>;

/// For the queue protocol: the dice, and the card that distinguishes turns.
pub(super) type ForQueue<'a> = Request<'a, Sight, IgnoredAny>;

impl<'a, V: DeserializeOwned, M: DeserializeOwned> Request<'a, V, M> {
    /// Decodes a line; `None` if it is no request, or not of Yahtzee.
    pub(super) fn read(line: &'a [u8]) -> Option<Request<'a, V, M>> {
        serde_json::from_slice(line).ok()
    }
}

/// The parts of a request's id: `cup:r1m2.3.0.17`.
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
    /// The player's own card, where it distinguishes turns.
    pub(super) card: Option<Boxes>,
    /// True if an answer to it was passed on.
    pub(super) answered: bool,
    /// True if the server said that it did not accept the answer.
    pub(super) refused: bool,
    /// True if it has not been sent yet.
    pub(super) held: bool,
    /// The answer to the next question, which the player is not asked, and the message that held
    /// both.
    pub(super) then: Option<(String, String)>,
}

impl Open {
    /// Returns whether the player has it and has not answered it.
    pub(super) fn is_due(&self) -> bool {
        !self.answered && !self.held
    }

    pub(super) fn hand(&self) -> Hand {
        Hand::of(&self.question)
    }

    /// Returns whether the box that an answer names is empty on the player's card.
    fn has_room_for(&self, score: &Term) -> bool {
        let empty = self.card.zip(box_of(score)).map(|(card, at)| card.of(at).is_none());
        empty.unwrap_or(false)
    }
}

/// Five dice in any order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hand([u8; 5]);

impl Hand {
    pub(super) fn of(question: &Question) -> Hand {
        let mut dice = dice_of(question);
        dice.sort_unstable();
        Hand(dice)
    }

    /// The dice that a message names; `None` if they are not five dice.
    pub(super) fn named(dice: &Term) -> Option<Hand> {
        let dice: Option<Vec<u8>> =
            dice.ints()?.map(|die| die.and_then(|die| u8::try_from(die).ok())).collect();
        let mut dice = <[u8; 5]>::try_from(dice?).ok()?;
        dice.sort_unstable();
        Some(Hand(dice))
    }

    /// How many of the dice that a message names are among these.
    fn shared_with(self, dice: &Term) -> usize {
        let mut left = self.0.to_vec();
        let named = dice.ints().into_iter().flatten().flatten();
        named
            .filter(|die| {
                let at = left.iter().position(|own| i64::from(*own) == *die);
                at.map(|at| left.swap_remove(at)).is_some()
            })
            .count()
    }
}

/// A turn that ended without the player's answer, which may still be in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimedOut {
    pub(super) hand: Hand,
    /// Until when no other turn with these dice is sent to the player.
    pub(super) until: Timestamp,
}

/// Finds the open turn that the end of a turn answers, as an index into `open`. The message names
/// no game, so it is matched in this order: by its dice; by an empty box of that name; by a roll
/// that was repeated, because some programs finish a turn before they begin another; by age, the
/// oldest first. If no turn has these dice, `Err` holds the turn that it most plausibly answers.
pub(super) fn turn_of(open: &[Open], dice: &Term, score: &Term) -> Result<usize, Option<usize>> {
    let due = || open.iter().enumerate().filter(|(_, open)| open.is_due());
    // The first of equals is the oldest: requests are in order of arrival.
    let named = Hand::named(dice);
    let fits = due().filter(|(_, open)| Some(open.hand()) == named);
    let best = |open: &Open| (open.has_room_for(score), roll_of(&open.question) > 1);
    if let Some((at, _)) = fits.rev().max_by_key(|(_, open)| best(open)) {
        return Ok(at);
    }
    let likely = |open: &Open| (open.hand().shared_with(dice), open.has_room_for(score));
    Err(due().rev().max_by_key(|(_, open)| likely(open)).map(|(at, _)| at))
}
