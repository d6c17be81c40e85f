//! The engine's data sources, over the log and the list of house players.

use crate::engine::{HousePlayers, LobbySnapshot, MatchKey, ReadError, StreamKey, StreamReader};
use agon_bots::Houses;
use agon_core::{MatchFold, RecoveredMatch, Secrets};
use agon_games::Registry;
use agon_store::{Log, StreamPart};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

/// How many bytes of records a thread that folds matches gets at once.
const BATCH_BYTES: usize = 256 * 1024;

/// How many batches may wait for such a thread.
const BATCHES_WAITING_MAX: usize = 4;

/// Records of several matches, in the order of the log.
#[derive(Clone, Default)]
struct Batch {
    lines: String,
    /// For each record: its stream, its place in `lines`, and whether it is the stream's last.
    records: Vec<(usize, Range<usize>, bool)>,
}

impl Batch {
    fn add(&mut self, part: StreamPart<'_>) {
        let begin = self.lines.len();
        self.lines.push_str(part.lines);
        self.records.push((part.stream, begin..self.lines.len(), part.is_last));
    }
}

/// The matches that one thread folds, by the place of their streams in the list.
#[derive(Default)]
struct Share {
    folds: HashMap<usize, (MatchKey, MatchFold)>,
}

impl Share {
    /// Folds the matches; returns those that were read to their end.
    fn fold(
        mut self,
        batches: Receiver<Batch>,
        games: &Registry,
    ) -> Vec<(MatchKey, RecoveredMatch)> {
        let mut whole = Vec::new();
        for Batch { lines, records } in batches {
            for (stream, place, is_last) in records {
                let Some((_, fold)) = self.folds.get_mut(&stream) else { continue };
                let added = lines[place].split('\n').try_for_each(|line| fold.add(line, games));
                // A match with an event that does not fit is loaded by itself.
                if added.is_err() || is_last {
                    let folded = self.folds.remove(&stream).filter(|_| added.is_ok());
                    whole.extend(folded.and_then(|(key, fold)| Some((key, fold.finish()?))));
                }
            }
        }
        whole
    }
}

/// Read access to the log.
pub(super) struct LogReader(pub(super) Arc<dyn Log>);

impl StreamReader for LogReader {
    fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, ReadError> {
        Ok(self.0.load(stream, after)?)
    }

    fn latest(&self) -> Option<String> {
        // An error here is reported when the stream is folded.
        self.0.latest().ok().flatten()
    }

    fn reads_ahead(&self) -> bool {
        matches!(self.0.another_reader(), Ok(Some(_)))
    }

    fn fold_matches(
        &self,
        open: Vec<(MatchKey, Secrets)>,
        games: &Registry,
    ) -> HashMap<MatchKey, RecoveredMatch> {
        // The start loads the matches that are missing here, and reports what is wrong with them.
        let Ok(Some(reader)) = self.0.another_reader() else { return HashMap::new() };
        let names: Vec<String> =
            open.iter().map(|(key, _)| StreamKey::Match(key.clone()).name()).collect();
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let mut shares: Vec<Share> = (0..cores).map(|_| Share::default()).collect();
        for (stream, (key, secrets)) in open.into_iter().enumerate() {
            let fold = MatchFold::new(&names[stream], secrets);
            shares[stream % cores].folds.insert(stream, (key, fold));
        }
        std::thread::scope(|scope| {
            let (senders, threads): (Vec<_>, Vec<_>) = shares
                .into_iter()
                .map(|share| {
                    let (sender, batches) = sync_channel(BATCHES_WAITING_MAX);
                    (sender, scope.spawn(move || share.fold(batches, games)))
                })
                .unzip();
            let mut waiting: Vec<Batch> = vec![Batch::default(); cores];
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            // After an error the rest is missing.
            let _ = reader.read_together(&names, &mut |part| {
                let (batch, sender) =
                    (&mut waiting[part.stream % cores], &senders[part.stream % cores]);
                batch.add(part);
                if batch.lines.len() >= BATCH_BYTES {
                    // A thread ends only when its sender is gone.
                    let _ = sender.send(std::mem::take(batch));
                }
            });
            for (batch, sender) in waiting.into_iter().zip(senders) {
                let _ = sender.send(batch);
            }
            let folded = threads.into_iter().map(|thread| thread.join());
            folded.flat_map(|folded| folded.expect("a fold does not panic")).collect()
        })
    }

    fn snapshot(&self) -> Result<Option<LobbySnapshot>, ReadError> {
        let found = self.0.snapshot(&StreamKey::Lobby.name())?;
        Ok(found.map(|found| LobbySnapshot {
            format: found.format,
            seq: found.seq,
            state: found.state,
        }))
    }
}

/// The house players of a server.
pub(super) struct HouseList(pub(super) Arc<Houses>);

impl HousePlayers for HouseList {
    fn names(&self, game: &str) -> Vec<String> {
        self.0.list(game).into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    fn check(&self, game: &str, name: &str) -> Result<(), String> {
        self.0.make(game, name).map(|_| ()).map_err(|error| error.to_string())
    }

    fn proposal(&self, game: &str, name: &str) -> Option<String> {
        let mut house = self.0.make(game, name).ok()?;
        Some(house.propose()?.get().to_owned())
    }
}
