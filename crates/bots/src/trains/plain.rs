//! The strategies that the rules define: hold-10, buy-now and cheat.
//!
//! Each is a function of what the Trains wire shows on a turn, so that it can be compared with
//! other implementations of the same rules. A house player wraps each function.

use super::default_map;
use crate::house::{Ask, Bot};
use agon_games::trains::{
    Answer, Color, Connection, Deed, KEEP_LEN, Length, Map, OFFER_LEN, Pair, PlayerState, Question,
    Trains, View,
};
use agon_games::{Json, Seat};

/// With this many cards or fewer, hold-10 asks for more.
const HOLD: u64 = 10;

/// The turn of hold-10: it asks for cards while it holds ten or fewer, else acquires the first
/// connection it can, else asks for cards.
pub fn hold_10(map: &Map, state: &PlayerState) -> Answer {
    if state.cards_total() <= HOLD { Answer::MoreCards } else { buy_now(map, state) }
}

/// The turn of buy-now: it acquires the first connection it can, else asks for cards.
pub fn buy_now(map: &Map, state: &PlayerState) -> Answer {
    state.choices(map).next().map_or(Answer::MoreCards, |first| Answer::Acquire(*first))
}

/// A connection between two cities of the map that the map does not have.
///
/// # Panics
/// If the map has fewer than two cities: no game is played on it.
pub fn not_on_map(map: &Map) -> Connection {
    let cities = [map.cities()[0].name, map.cities()[1].name];
    let pair = Pair::new(cities[0], cities[1]).expect("two different cities");
    let all = Color::ALL.into_iter().flat_map(|color| {
        Length::ALL.into_iter().map(move |length| Connection::new(pair, color, length))
    });
    // For each pair and colour a map has at most one of the three lengths.
    let mut missing = all.filter(|connection| map.find(connection).is_none());
    missing.next().expect("at most one of three lengths exists")
}

/// Keeps the two first destinations, and acquires only with more than ten cards in hand.
#[derive(Clone, Debug, Default)]
pub struct HoldTen;

impl Bot<Trains> for HoldTen {
    fn answer(&mut self, ask: &Ask<'_, Trains>) -> Answer {
        match ask.question {
            Question::Setup { .. } | Question::More { .. } => Answer::Ok,
            Question::Pick { destinations } => Answer::Return(destinations[KEEP_LEN..].to_vec()),
            Question::Play {} => hold_10(&ask.view.map, &state(ask)),
        }
    }

    fn propose(&mut self) -> Option<Json> {
        default_map()
    }
}

/// Keeps the two last destinations, and acquires whenever it can.
#[derive(Clone, Debug, Default)]
pub struct BuyNow;

impl Bot<Trains> for BuyNow {
    fn answer(&mut self, ask: &Ask<'_, Trains>) -> Answer {
        match ask.question {
            Question::Setup { .. } | Question::More { .. } => Answer::Ok,
            Question::Pick { destinations } => {
                Answer::Return(destinations[..OFFER_LEN - KEEP_LEN].to_vec())
            }
            Question::Play {} => buy_now(&ask.view.map, &state(ask)),
        }
    }

    fn propose(&mut self) -> Option<Json> {
        default_map()
    }
}

/// Plays like buy-now, but its first action asks for a connection that is not on the map.
#[derive(Clone, Debug, Default)]
pub struct Cheat;

impl Bot<Trains> for Cheat {
    fn answer(&mut self, ask: &Ask<'_, Trains>) -> Answer {
        match ask.question {
            Question::Play {} if !has_acted(ask.view, ask.seat) => {
                Answer::Acquire(not_on_map(&ask.view.map))
            }
            _ => BuyNow.answer(ask),
        }
    }

    fn propose(&mut self) -> Option<Json> {
        default_map()
    }
}

fn has_acted(view: &View, seat: Seat) -> bool {
    let turn = |deed: &Deed| matches!(deed, Deed::Drew(_) | Deed::Acquired(_));
    view.history.iter().any(|action| action.seat == seat && turn(&action.did))
}

/// The state that the Trains wire would show on this turn.
pub(super) fn state(ask: &Ask<'_, Trains>) -> PlayerState {
    ask.view.player_state(ask.seat).expect("players on their turn see their own state")
}
