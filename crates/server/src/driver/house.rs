//! House players run on threads of their own, so that a long search blocks nothing else. All
//! engines of a server share them.

use super::Handle;
use crate::engine::HouseQuestion;
use agon_bots::Houses;
use agon_driver::house_answer;
use agon_games::GameState;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The threads that they run on.
#[derive(Clone)]
pub(super) struct HousePool(Sender<Question>);

/// A request to a house player, the game as it stands, and the engine that asks.
type Question = (HouseQuestion, Box<dyn GameState>, Handle);

impl HousePool {
    pub(super) fn start(houses: Arc<Houses>) -> HousePool {
        let (questions, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        for _ in 0..cores.min(4) {
            let (houses, receiver) = (Arc::clone(&houses), Arc::clone(&receiver));
            std::thread::spawn(move || think(&houses, &receiver));
        }
        HousePool(questions)
    }

    /// Sends a house player a request.
    pub(super) fn ask(&self, question: HouseQuestion, game: Box<dyn GameState>, engine: Handle) {
        // The threads end only with the process, so sending succeeds.
        let _ = self.0.send((question, game, engine));
    }
}

fn think(houses: &Houses, questions: &Mutex<Receiver<Question>>) {
    loop {
        let next = questions.lock().unwrap_or_else(|broken| broken.into_inner()).recv();
        let Ok((question, game, engine)) = next else { return };
        // The announcement checked that these house players exist.
        let Ok(mut house) = houses.make(game.name(), &question.name) else { continue };
        house.limit_time(Duration::from_millis(question.limit_ms));
        engine.send(house_answer(&mut *house, question, &*game));
    }
}
