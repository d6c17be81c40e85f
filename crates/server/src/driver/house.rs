//! House players run on threads of their own, so that a long search blocks nothing else.

use super::Handle;
use crate::engine::{HouseQuestion, Input};
use agon_bots::Houses;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The threads that they run on.
pub(super) struct HousePool(Sender<HouseQuestion>);

impl HousePool {
    pub(super) fn start(houses: Arc<Houses>, engine: Handle) -> HousePool {
        let (questions, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        for _ in 0..cores.min(4) {
            let (houses, receiver) = (Arc::clone(&houses), Arc::clone(&receiver));
            let engine = engine.clone();
            std::thread::spawn(move || think(&houses, &receiver, &engine));
        }
        HousePool(questions)
    }

    /// Sends a house player a request.
    pub(super) fn ask(&self, question: HouseQuestion) {
        // The threads end only with the process, so sending succeeds.
        let _ = self.0.send(question);
    }
}

fn think(houses: &Houses, questions: &Mutex<Receiver<HouseQuestion>>, engine: &Handle) {
    loop {
        let next = questions.lock().unwrap_or_else(|broken| broken.into_inner()).recv();
        let Ok(HouseQuestion { key, player, name, request, limit_ms, seat, game }) = next else {
            return;
        };
        // The announcement checked that these house players exist.
        let Ok(mut house) = houses.make(game.name(), &name) else { continue };
        house.limit_time(Duration::from_millis(limit_ms));
        let answer = house.answer(player.as_str(), request.as_str(), seat, &*game);
        let answer = answer.get().to_owned();
        engine.send(Input::House { key, player, request, answer });
    }
}
