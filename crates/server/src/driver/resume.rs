//! Reads running tournaments from the log, away from the engine's thread.
//!
//! An engine takes over many tournaments at once when another node is lost. The thread reads those
//! that wait together, so that a database is asked a few questions for all of them.

use super::handle::Handle;
use crate::engine::{EngineError, Input, read_tournaments};
use agon_core::TournamentId;
use agon_driver::LogReader;
use agon_games::Registry;
use agon_store::Log;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// How many tournaments are read together. The first of them need not wait for all others.
const TOGETHER_MAX: usize = 200;

/// A tournament to read, with the number of the reading.
type Wanted = (TournamentId, u64);

/// The thread that reads tournaments, once there is one to read.
#[derive(Default)]
pub(super) struct TournamentReader(Option<Sender<Wanted>>);

impl TournamentReader {
    /// Reads a tournament; the engine gets it as an input.
    pub(super) fn read(&mut self, wanted: Wanted, log: &Arc<dyn Log>, handle: &Handle) {
        let sender = self.0.get_or_insert_with(|| {
            let (sender, waiting) = channel();
            let (log, handle) = (Arc::clone(log), handle.clone());
            thread::spawn(move || read_all(&waiting, log, &handle));
            sender
        });
        // The thread ends only when the sender is dropped.
        let _ = sender.send(wanted);
    }
}

/// Reads tournaments until the driver ends.
fn read_all(waiting: &Receiver<Wanted>, log: Arc<dyn Log>, handle: &Handle) {
    // A connection of its own: pages must not delay a take-over. Nobody else keeps it open.
    let reader = match log.another_reader() {
        Ok(own) => LogReader(own.map_or(log, Arc::from)),
        Err(error) => {
            let Ok((_, reading)) = waiting.recv() else { return };
            let stored = Err(EngineError::Read(error.into()));
            return handle.send(Input::TournamentRead { reading, stored });
        }
    };
    while let Ok(first) = waiting.recv() {
        let more = waiting.try_iter().take(TOGETHER_MAX - 1);
        let wanted: Vec<Wanted> = std::iter::once(first).chain(more).collect();
        read_together(&reader, wanted, handle);
    }
}

fn read_together(reader: &LogReader, wanted: Vec<Wanted>, handle: &Handle) {
    let (ids, readings): (Vec<TournamentId>, Vec<u64>) = wanted.into_iter().unzip();
    let games: &Registry = handle.games();
    match read_tournaments(reader, games, &ids) {
        Ok(stored) => {
            for (reading, stored) in readings.into_iter().zip(stored) {
                handle.send(Input::TournamentRead { reading, stored: Ok(Box::new(stored)) });
            }
        }
        // The engine fails with the first error.
        Err(error) => {
            let (reading, stored) = (readings[0], Err(error));
            handle.send(Input::TournamentRead { reading, stored });
        }
    }
}
