//! Observers: callbacks for every change of a game, or for its final report.
//!
//! Each subscription has a thread and a queue with a bound. An observer that panics or falls too
//! far behind loses its subscription; the game does not wait for it.

use crate::player::GameUpdate;
use crate::report::FinalReport;
use agon_games::Game;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How many notices may wait for an observer. An observer that falls further behind is cut off.
const WAITING_MAX: usize = 1_024;

/// A handle for subscribing to one game. It can be cloned and sent to other threads, and
/// subscriptions are possible before the game, during it and after its end.
pub struct Observers<G: Game>(Arc<Mutex<Subscriptions<G>>>);

struct Subscriptions<G: Game> {
    updates: Vec<Subscription<Arc<GameUpdate<G>>>>,
    reports: Vec<Subscription<Arc<FinalReport>>>,
    latest: Option<Arc<GameUpdate<G>>>,
    report: Option<Arc<FinalReport>>,
}

struct Subscription<T> {
    notices: Option<SyncSender<T>>,
    /// Disconnected when the thread has ended.
    ended: Receiver<()>,
}

impl<T: Send + 'static> Subscription<T> {
    fn spawn(mut callback: impl FnMut(T) + Send + 'static) -> std::io::Result<Subscription<T>> {
        let (notices, inbox) = sync_channel::<T>(WAITING_MAX);
        let (alive, ended) = channel();
        let body = move || {
            while let Ok(notice) = inbox.recv() {
                callback(notice);
            }
            drop(alive);
        };
        std::thread::Builder::new().name("observer".into()).spawn(body)?;
        Ok(Subscription { notices: Some(notices), ended })
    }

    /// Sends a notice; `false` if the observer is gone or too far behind.
    fn send(&self, notice: T) -> bool {
        self.notices.as_ref().is_some_and(|notices| notices.try_send(notice).is_ok())
    }
}

impl<G: Game> Observers<G> {
    pub(crate) fn new() -> Observers<G> {
        let (updates, reports) = (Vec::new(), Vec::new());
        Observers(Arc::new(Mutex::new(Subscriptions {
            updates,
            reports,
            latest: None,
            report: None,
        })))
    }

    /// Calls `callback` after every change with the game as everybody may see it. An observer that
    /// subscribes during the game first gets the current state.
    ///
    /// # Errors
    /// If the system has no thread left for it.
    pub fn subscribe_game_updates(
        &self,
        mut callback: impl FnMut(&GameUpdate<G>) + Send + 'static,
    ) -> std::io::Result<()> {
        let mut all = self.lock();
        let mut one = Subscription::spawn(move |update: Arc<GameUpdate<G>>| callback(&update))?;
        if let Some(latest) = &all.latest {
            one.send(Arc::clone(latest));
        }
        if all.report.is_some() {
            one.notices = None;
        }
        all.updates.push(one);
        Ok(())
    }

    /// Calls `callback` once, with the final report; at once if the game is over already.
    ///
    /// # Errors
    /// If the system has no thread left for it.
    pub fn subscribe_final_game_report(
        &self,
        mut callback: impl FnMut(&FinalReport) + Send + 'static,
    ) -> std::io::Result<()> {
        let mut all = self.lock();
        let mut one = Subscription::spawn(move |report: Arc<FinalReport>| callback(&report))?;
        if let Some(report) = &all.report {
            one.send(Arc::clone(report));
            one.notices = None;
        }
        all.reports.push(one);
        Ok(())
    }

    pub(crate) fn update(&self, update: GameUpdate<G>) {
        let update = Arc::new(update);
        let mut all = self.lock();
        all.updates.retain(|one| one.send(Arc::clone(&update)));
        all.latest = Some(update);
    }

    /// Sends the report. No more notices follow, so the threads end when they have delivered all.
    pub(crate) fn end(&self, report: &Arc<FinalReport>) {
        let mut all = self.lock();
        all.report = Some(Arc::clone(report));
        all.updates.iter_mut().for_each(|one| one.notices = None);
        for one in &mut all.reports {
            one.send(Arc::clone(report));
            one.notices = None;
        }
    }

    /// Waits until all observers have handled everything, or until `deadline`.
    pub(crate) fn wait(&self, deadline: Instant) {
        let mut all = self.lock();
        let updates = all.updates.drain(..).map(|one| one.ended).collect::<Vec<_>>();
        let ended: Vec<Receiver<()>> =
            updates.into_iter().chain(all.reports.drain(..).map(|one| one.ended)).collect();
        drop(all);
        for one in ended {
            let _ = one.recv_timeout(deadline.saturating_duration_since(Instant::now()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Subscriptions<G>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<G: Game> Clone for Observers<G> {
    fn clone(&self) -> Observers<G> {
        Observers(Arc::clone(&self.0))
    }
}

impl<G: Game> std::fmt::Debug for Observers<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = self.lock();
        let (updates, reports) = (all.updates.len(), all.reports.len());
        f.debug_struct("Observers").field("updates", &updates).field("reports", &reports).finish()
    }
}
