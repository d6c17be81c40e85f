//! House players think on threads of their own, so that a long search holds nobody up.

use super::{Engine, Handle, Input, MatchKey};
use agon_bots::Houses;
use agon_core::{Ask, Command, Pending, PlayerName, RequestId};
use agon_games::{GameState, Seat};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// What the names of house players begin with.
pub(crate) const PREFIX: &str = "house:";

/// A question for a house player.
pub(crate) struct Job {
    key: MatchKey,
    player: PlayerName,
    request: RequestId,
    seat: Seat,
    game: Box<dyn GameState>,
}

/// Where they think.
pub(crate) enum HousePool {
    /// On threads of their own.
    Threads(Sender<Job>),
    /// At once, on the thread that asks.
    Here,
}

impl HousePool {
    pub(crate) fn start(houses: Arc<Houses>, engine: Handle) -> HousePool {
        let (jobs, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        for _ in 0..cores.min(4) {
            let (houses, receiver) = (Arc::clone(&houses), Arc::clone(&receiver));
            let engine = engine.clone();
            std::thread::spawn(move || think(&houses, &receiver, &engine));
        }
        HousePool::Threads(jobs)
    }
}

fn think(houses: &Houses, jobs: &Mutex<Receiver<Job>>, engine: &Handle) {
    loop {
        let job = jobs.lock().unwrap_or_else(|broken| broken.into_inner()).recv();
        let Ok(job) = job else { return };
        answer(houses, job, engine);
    }
}

fn answer(houses: &Houses, job: Job, engine: &Handle) {
    let Job { key, player, request, seat, game } = job;
    let name = player.as_str().strip_prefix(PREFIX).unwrap_or_default();
    // Who plays was checked when the tournament was announced.
    let Ok(mut house) = houses.make(game.name(), name) else { return };
    let answer = house.answer(player.as_str(), request.as_str(), seat, &*game);
    let answer = answer.get().to_owned();
    engine.send(Input::House { key, player, request, answer });
}

impl Engine {
    /// Has a house player answer a request.
    pub(super) fn ask_house(&mut self, key: &MatchKey, pending: Pending) {
        let (player, request) = (pending.player, pending.id);
        let game = self.matches.get(key).and_then(|live| live.played.referee());
        match (pending.ask, game) {
            (Ask::Game(seat), Some(referee)) => {
                let game = referee.game().boxed_clone();
                let key = key.clone();
                let job = Job { key, player, request, seat, game };
                match &self.house_pool {
                    HousePool::Threads(jobs) => drop(jobs.send(job)),
                    HousePool::Here => answer(&self.houses, job, &self.handle),
                }
            }
            _ => self.house_answered(key, player, request, "\"ok\"".into()),
        }
    }

    pub(super) fn house_answered(
        &mut self,
        key: &MatchKey,
        player: PlayerName,
        request: RequestId,
        answer: String,
    ) {
        let took_ms = Some(0);
        let _ = self.step_match(key, Command::Answer { player, request, answer, took_ms });
    }
}
