//! Trains: a rail-building game for two to eight players on a map of cities.
//!
//! Players in turn order get 45 rails and four cards and keep two of five destinations. A turn
//! asks for two cards or acquires a free connection, for as many cards of its colour and as many
//! rails as it has segments. When somebody runs out of rails everybody else has one more turn;
//! points are for segments, for the longest path, and for (or against) destinations.
//!
//! ```text
//!   name, color, connection    the words of the game
//!   map, map_json, network     a map: valid by construction; its JSON; what follows from it
//!   config, talk               what an organiser sets; what a seat is asked and replies
//!   state                      a game in progress
//!   ├─ deck                    its luck
//!   ├─ turns                   what answers and removals do to it, and when it ends
//!   ├─ score                   who has how many points
//!   ├─ playout                 random play, fast
//!   └─ rules                   all of it as a `Game`
//!   view, player_state         what players see, here and over the Trains wire
//!   render, speech             what people see and type
//! ```

mod color;
mod config;
mod connection;
mod deck;
mod map;
mod map_json;
mod name;
mod network;
mod player_state;
mod playout;
mod render;
mod rules;
mod schema;
mod score;
mod speech;
mod state;
mod talk;
mod turns;
mod view;
mod write;

pub use color::{Color, Hand};
pub use config::Config;
pub use connection::{Connection, Length, LengthError};
pub use deck::DECK_LEN;
pub use map::{
    CITIES_MAX, CONNECTIONS_MAX, City, Map, MapError, PROPOSED_CITIES_MAX, PROPOSED_CONNECTIONS_MAX,
};
pub use name::{NAME_LEN_MAX, Name, NameError, Pair, SameCity};
pub use player_state::{Natural, Own, PlayerState};
pub use state::Trains;
pub use talk::{
    Answer, Drawn, HAND_LEN, KEEP_LEN, MORE_LEN, OFFER_LEN, Question, RAILS, RAILS_LAST, RETURN_LEN,
};
pub use view::{Action, Deed, Player, View};
