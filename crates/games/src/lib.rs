//! Rules of turn-based games, and nothing else.
//!
//! A game is one type that implements [`Game`]. It is a plain value: it has no clock, opens no
//! file, and has no entropy of its own. It derives all chance from the [`Seed`] it
//! was set up with, through [`Luck`], so that a game played twice from the same seed with the same
//! answers is the same game.
//!
//! The three games that come with the crate are [`yahtzee`], [`fish`] and [`trains`]. Programs
//! that choose a game at run time go through the [`Registry`], which speaks JSON.
//!
//! ```
//! use agon_games::yahtzee::{Answer, Config, ScoreBox, Yahtzee};
//! use agon_games::{Game, Seat, Seed};
//!
//! let mut game = Yahtzee::new(&Config::default(), 2, &Seed::from_number(7)).unwrap();
//! assert_eq!(game.awaiting().len(), 2, "both play a turn at once");
//! // Ann keeps her first roll and scores it as chance.
//! let ann = Seat(0);
//! game.apply(ann, &Answer::keep_places([true; 5])).unwrap();
//! game.apply(ann, &Answer::score(ScoreBox::Chance)).unwrap();
//! // Bob has to answer before the next turn begins; Ann is refused until then.
//! let refusal = game.apply(ann, &Answer::score(ScoreBox::Aces)).unwrap_err();
//! assert_eq!(refusal.code, "not-asked");
//! ```
#![forbid(unsafe_code)]

mod chacha;
mod erased;
mod game;
mod luck;
mod outcome;
mod refusal;
mod schema;
mod seat;
mod write;

pub mod fish;
pub mod trains;
pub mod yahtzee;

pub use erased::{GameKind, GameState, Json, LuckMeasure, QuestionText, Registry, json};
pub use game::{Game, Proposal, Viewer};
pub use luck::{Luck, Seed};
pub use outcome::{Outcome, PublicScore};
pub use refusal::{Refusal, RefusalKind, SetupError, brief};
pub use seat::{Seat, SeatSet};
