//! The views of players and spectators.

use super::player_state::{Natural, Own, PlayerState};
use super::state::{self, Stage, Trains};
use super::{Color, Connection, Hand, Map, Pair};
use crate::{Seat, Viewer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A game as one viewer may see it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// The map.
    pub map: Arc<Map>,
    /// The seat whose view this is; absent for the public and the full view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub you: Option<Seat>,
    /// The players by seat.
    pub players: Vec<Player>,
    /// The seat that is asked; absent once the game is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Seat>,
    /// The seats that have one more turn, once somebody is short of rails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_turns: Option<Vec<Seat>>,
    /// How many cards are left in the deck: everybody can count them.
    pub deck: u8,
    /// The cards left in the deck, in order. In the full view only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deck_cards: Option<Vec<Color>>,
    /// The events, in order.
    pub history: Vec<Action>,
}

/// One player in a view.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Player {
    /// True if the player was removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub out: bool,
    /// How many rails it has left.
    pub rails: u8,
    /// How many cards it holds.
    pub cards: u32,
    /// The connections it holds, in the order it acquired them in.
    pub acquired: Vec<Connection>,
    /// Its cards by colour. For itself and in the full view only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hand: Option<Hand>,
    /// The destinations it keeps, once it picked them. For itself and in the full view only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destinations: Option<[Pair; 2]>,
}

/// One thing that happened for all to see.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// The seat.
    pub seat: Seat,
    /// Did what.
    pub did: Deed,
}

/// An action of a player.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// It picked its destinations.
    Picked,
    /// It asked for cards and drew this many: 2, or 0 if the deck was used up.
    Drew(u8),
    /// It acquired a connection.
    Acquired(Connection),
    /// It was removed from the game.
    Removed,
}

impl View {
    /// The game as the Trains protocol shows it to `seat`; `None` if the view does not hold the
    /// seat's cards or the seat has not picked its destinations.
    pub fn player_state(&self, seat: Seat) -> Option<PlayerState> {
        let own = self.players.get(seat.index())?;
        let (hand, [destination1, destination2]) = (own.hand?, own.destinations?);
        let counts = Color::ALL.map(|color| (color, Natural(u64::from(hand.of(color)))));
        let (before, rest) = self.players.split_at(seat.index());
        let others = rest[1..].iter().chain(before).filter(|player| !player.out);
        Some(PlayerState {
            this: Own {
                destination1,
                destination2,
                rails: Natural(u64::from(own.rails)),
                cards: counts.into_iter().filter(|(_, count)| count.0 > 0).collect(),
                acquired: own.acquired.clone(),
            },
            acquired: others.map(|player| player.acquired.clone()).collect(),
        })
    }
}

impl Trains {
    pub(super) fn view_of(&self, viewer: Viewer) -> View {
        let you = match viewer {
            Viewer::Seat(seat) => Some(seat),
            Viewer::Public | Viewer::Full => None,
        };
        let full = viewer == Viewer::Full;
        let players = Seat::all(usize::from(self.seats))
            .map(|seat| self.player_of(seat, full || you == Some(seat)))
            .collect();
        let action = |(seat, deed): &(Seat, state::Deed)| Action {
            seat: *seat,
            did: match *deed {
                state::Deed::Picked => Deed::Picked,
                state::Deed::Drew(count) => Deed::Drew(count),
                state::Deed::Acquired(at) => Deed::Acquired(self.connection(at)),
                state::Deed::Removed => Deed::Removed,
            },
        };
        View {
            map: Arc::clone(&self.map),
            you,
            players,
            turn: (self.stage != Stage::Over).then_some(self.turn),
            last_turns: self.last_turns.map(Iterator::collect),
            deck: self.deck.left(),
            deck_cards: full.then(|| self.deck.rest()),
            history: self.history.iter().map(action).collect(),
        }
    }

    fn player_of(&self, seat: Seat, open: bool) -> Player {
        let place = self.place(seat);
        let hand = Hand::from_counts(place.hand);
        let kept = place.kept.filter(|_| open);
        Player {
            out: !self.remaining.contains(seat),
            rails: place.rails,
            cards: hand.total(),
            acquired: place.held().iter().map(|at| self.connection(*at)).collect(),
            hand: open.then_some(hand),
            destinations: kept.map(|kept| kept.map(|at| self.destination(at))),
        }
    }

    pub(super) fn connection(&self, at: u16) -> Connection {
        self.map.connections()[usize::from(at)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trains::{Answer, Config};
    use crate::{Game, Seed};

    /// Four players who have picked; the second holds a connection, the third is out.
    fn played() -> Trains {
        let deck = Color::ALL.repeat(60);
        let config = Config { deck: Some(deck), ..Config::default() };
        let mut game = Trains::new(&config, 4, &Seed::from_number(0)).unwrap();
        while game.stage == Stage::Pick {
            let first = game.legal(game.turn).remove(0);
            game.apply(game.turn, &first).unwrap();
        }
        while game.place(Seat(1)).held().is_empty() {
            let seat = game.turn;
            let answer = match seat {
                Seat(1) => game.legal(seat).pop().unwrap(),
                _ => Answer::MoreCards,
            };
            game.apply(seat, &answer).unwrap();
        }
        game.remove(Seat(2));
        game
    }

    #[test]
    fn players_see_their_own_cards_and_everybody_elses_connections() {
        let game = played();
        let seat = Seat(3);
        let view = game.view(Viewer::Seat(seat));
        assert_eq!((view.you, view.turn), (Some(seat), Some(Seat(3))));
        for (at, player) in view.players.iter().enumerate() {
            assert_eq!(player.hand.is_some(), at == 3, "only its own");
            assert_eq!(player.destinations.is_some(), at == 3);
            assert_eq!(player.out, at == 2);
        }
        let state = view.player_state(seat).unwrap();
        let own = &view.players[3];
        assert_eq!(Some([state.this.destination1, state.this.destination2]), own.destinations);
        assert_eq!((state.this.rails.0, state.cards_total()), (45, u64::from(own.cards)));
        let hand = own.hand.unwrap();
        for color in Color::ALL {
            let count = state.this.cards.get(&color).map(|count| count.0);
            let due = u64::from(hand.of(color));
            assert_eq!(count, (due > 0).then_some(due), "none is left out");
        }
        // In playing order from the next player, without the removed one.
        let held = view.players[1].acquired.clone();
        assert!(!held.is_empty());
        assert_eq!(state.acquired, [vec![], held]);
        assert_eq!(view.player_state(Seat(0)), None, "its cards are not seen");
        assert!(game.view(Viewer::Full).player_state(Seat(0)).is_some());
        assert_eq!(game.view(Viewer::Full).player_state(Seat(9)), None);
        assert!(game.view(Viewer::Public).players.iter().all(|player| player.hand.is_none()));
    }
}
