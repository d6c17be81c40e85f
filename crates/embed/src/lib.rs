//! One refereed game in a program of your own, without a server, a log or a network.
//!
//! [`GameSetup`] takes the game's configuration, the players and the observers.
//! [`GameSetup::run`] plays the game to its end and returns a [`FinalReport`];
//! [`GameSetup::start`] returns a [`RunningGame`] whose [`step`](RunningGame::step) plays one turn
//! at a time.
//!
//! - Every player runs on a thread of its own and has 10 seconds for each answer
//!   ([`GameSetup::answer_limit`]). A player that hangs is removed as *failing*; the referee
//!   abandons its thread and the game goes on.
//! - A well-formed answer that breaks a rule removes its player as *cheating*. No answer, an answer
//!   to another question, or a panic removes its player as *failing*.
//! - Players are told their seat and colour, every change of the game, their own removal with its
//!   reason, and the result ([`LocalPlayer`]). All of these methods do nothing by default.
//! - Observers subscribe through [`Observers`] before or during the game. An observer that panics
//!   or hangs disturbs nobody.
//!
//! The rules come from `agon-games`, which has no clock and no threads; both are here.
//!
//! # Example
//!
//! A game of Fish between three players. The third one hangs and is removed.
//!
//! ```
//! use agon_embed::{
//!     Change, FinalReport, GameSetup, GameUpdate, LocalPlayer, PlayerInfo, Removal, Seating,
//!     TurnRequest,
//! };
//! use agon_games::Game;
//! use agon_games::fish::{Answer, Config, Fish};
//! use std::sync::{Arc, Mutex};
//! use std::time::Duration;
//!
//! /// A player that notes what the referee tells it.
//! struct Diarist(Arc<Mutex<Vec<String>>>);
//!
//! impl LocalPlayer<Fish> for Diarist {
//!     fn answer(&mut self, request: &TurnRequest<'_, Fish>) -> Option<Answer> {
//!         Fish::legal_in(request.question, request.view).into_iter().next()
//!     }
//!
//!     fn seated(&mut self, seating: &Seating) {
//!         let color = seating.color.unwrap_or("no colour");
//!         self.0.lock().unwrap().push(format!("I play {color}"));
//!     }
//!
//!     fn sync(&mut self, update: &GameUpdate<Fish>) {
//!         if let Change::Removed(Removal { name, reason, .. }) = &update.change {
//!             self.0.lock().unwrap().push(format!("{name} is out: {reason}"));
//!         }
//!     }
//!
//!     fn game_over(&mut self, report: &FinalReport) {
//!         self.0.lock().unwrap().push(format!("{} won", report.leaderboard[0].name));
//!     }
//! }
//!
//! let first = |request: &TurnRequest<'_, Fish>| {
//!     Fish::legal_in(request.question, request.view).into_iter().next()
//! };
//! let hangs = |_: &TurnRequest<'_, Fish>| loop {
//!     std::thread::park();
//! };
//! let diary = Arc::new(Mutex::new(Vec::new()));
//! let states = Arc::new(Mutex::new(0));
//! let counted = Arc::clone(&states);
//!
//! let config = Config { rows: 4, columns: 4, fish: Some(2), ..Config::default() };
//! let report = GameSetup::<Fish>::new(config)
//!     .answer_limit(Duration::from_secs(2))
//!     .player(PlayerInfo::new("p1", "Ann").age(11), Diarist(Arc::clone(&diary)))
//!     .player(PlayerInfo::new("p2", "Bob").age(9), first)
//!     .player(PlayerInfo::new("p3", "Cat").age(14), hangs)
//!     .subscribe_game_updates(move |_| *counted.lock().unwrap() += 1)
//!     .run()
//!     .unwrap();
//!
//! // The report in the shape that tournament managers read.
//! let json = serde_json::to_value(&report).unwrap();
//! assert_eq!(json["failing_players"], serde_json::json!(["p3"]));
//! assert_eq!(json["cheating_players"], serde_json::json!([]));
//! assert!(json["leaderboard"]["p1"].is_i64() && json["leaderboard"]["p2"].is_i64());
//!
//! // The same with names, colours and ranks. Bob is the youngest, so Bob plays first, as red.
//! let bob = report.leaderboard.iter().find(|entry| entry.name == "Bob").unwrap();
//! assert_eq!((bob.id.as_str(), bob.color), ("p2", Some("red")));
//!
//! let diary = diary.lock().unwrap();
//! assert_eq!(diary[0], "I play white");
//! assert_eq!(diary[1], "Cat is out: gave no answer within 2s");
//! assert!(diary[2].ends_with("won"));
//! assert!(*states.lock().unwrap() > 8);
//! ```
#![forbid(unsafe_code)]

mod observers;
mod player;
mod player_thread;
mod report;
mod running;
mod setup;

pub use observers::Observers;
pub use player::{Change, GameUpdate, LocalPlayer, SeatedPlayer, Seating, TurnRequest};
pub use report::{FinalReport, LeaderboardEntry, Removal, RemovalKind};
pub use running::RunningGame;
pub use setup::{AgeOrder, GameSetup, PlayerInfo, StartError};
