//! Statistics and ladders: a projection of all tournaments' streams, updated when one of them has
//! new records. It runs away from the engine.

use crate::driver::{Archive, Handle};
use crate::engine::StreamKey;
use crate::engine::query::ListStarted;
use crate::recent::Recent;
use agon_core::statistics::PlayerTallies;
use agon_core::{Event, Line, PlayerName, RatingSettings, Statistics, TournamentId};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Mutex;

/// The projection, shared by all requests; a request updates it if it is outdated.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<Kept>>);

/// Why there are no statistics now.
pub(crate) enum NoStatistics {
    Stopping,
    Unreadable,
}

impl Ledger {
    /// A player's record over all games, and their rank in one game.
    pub(crate) async fn record(
        &self,
        engine: &Handle,
        player: PlayerName,
        game: &'static str,
    ) -> Result<(PlayerTallies, Option<u32>), NoStatistics> {
        let look = move |statistics: &Statistics, _: &Recent| {
            let known = statistics.player(&player);
            (known.total, known.by_game.get(game).and_then(|of_game| of_game.rank))
        };
        self.look(engine, look).await
    }

    /// Reads the statistics, updated to now.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        engine: &Handle,
        what: impl FnOnce(&Statistics, &Recent) -> T + Send + 'static,
    ) -> Result<T, NoStatistics> {
        let mut kept = Arc::clone(&self.0).lock_owned().await;
        let seen = kept.records.filter(|_| kept.statistics.is_some());
        let asked = engine.ask(ListStarted { seen }).await;
        let (records, started) = asked.ok_or(NoStatistics::Stopping)?;
        let archive = engine.archive().ok_or(NoStatistics::Stopping)?;
        let done = tokio::task::spawn_blocking(move || {
            if let Some(started) = started {
                if kept.carry_on(&archive, &started).is_none() {
                    // A stream may have been read only in part: start again next time.
                    *kept = Kept::default();
                    return None;
                }
                kept.records = Some(records);
            }
            let statistics = kept.statistics.as_ref()?;
            Some(what(statistics, &kept.recent))
        });
        done.await.ok().flatten().ok_or(NoStatistics::Unreadable)
    }
}

#[derive(Default)]
struct Kept {
    statistics: Option<Statistics>,
    recent: Recent,
    /// The engine's count of records at the last update.
    records: Option<u64>,
    /// How far each stream was read; `None` where it has ended.
    read: BTreeMap<TournamentId, Option<u64>>,
}

impl Kept {
    fn carry_on(&mut self, archive: &Archive, tournaments: &[TournamentId]) -> Option<()> {
        let fresh = || Statistics::new(&archive.games, RatingSettings::default());
        let statistics = self.statistics.get_or_insert_with(fresh);
        for id in tournaments {
            let Some(after) = self.read.entry(id.clone()).or_insert(Some(0)) else { continue };
            let name = StreamKey::Tournament(id.clone()).name();
            let mut ended = false;
            for text in archive.log.load(&name, *after).ok()? {
                let line = Line::read(&text).ok()?;
                statistics.apply(id, line.at, &line.event).ok()?;
                self.recent.apply(id, line.at, &line.event);
                *after += 1;
                ended |= is_end(&line.event);
            }
            if ended {
                self.read.insert(id.clone(), None);
            }
        }
        Some(())
    }
}

fn is_end(event: &Event) -> bool {
    matches!(event, Event::TournamentEnded(_) | Event::TournamentAborted(_))
}
