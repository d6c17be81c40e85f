//! Opens the engines of a server, each with a driver of its own.

use super::handle::{Alarm, Handle, Message, Shared};
use super::held::HeldNotices;
use super::house::HousePool;
use super::others::{OtherEngines, RemoteLobby};
use super::resume::TournamentReader;
use super::{Driver, ServerError};
use crate::cluster::LinkSender;
use crate::engine::{Effects, Engine, EngineId, EngineRole, Settings};
use crate::gateway::DriverSockets;
use crate::passwords::Passwords;
use crate::{auth, clock};
use agon_bots::Houses;
use agon_core::Timestamp;
use agon_driver::{HouseList, LogReader};
use agon_games::Registry;
use agon_store::Log;
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

/// The parts that all engines of a server share.
pub(crate) struct Parts {
    pub(super) log: Arc<dyn Log>,
    pub(super) games: Registry,
    pub(super) houses: Arc<Houses>,
    pub(super) pool: HousePool,
    pub(super) settings: Settings,
    pub(super) runtime: tokio::runtime::Handle,
}

impl Parts {
    pub(crate) fn new(
        log: Arc<dyn Log>,
        games: Registry,
        houses: Houses,
        settings: Settings,
        runtime: tokio::runtime::Handle,
    ) -> Parts {
        let houses = Arc::new(houses);
        let pool = HousePool::start(Arc::clone(&houses));
        Parts { log, games, houses, pool, settings, runtime }
    }

    /// Opens one engine of the server, without its effects.
    pub(super) fn open(
        &self,
        id: EngineId,
        settings: Settings,
        handle: Handle,
        (inbox, sockets): (Receiver<Message>, DriverSockets),
    ) -> Result<Driver, ServerError> {
        let key = auth::random::<32>().map_err(|error| ServerError::Entropy(error.to_string()))?;
        let log = Arc::clone(&self.log);
        let is_leased = log.lease().is_some();
        // The engine must not wait while a page reads a long stream on a shared connection.
        let own = if is_leased { log.another_reader()? } else { None };
        let reader = Box::new(LogReader(own.map_or_else(|| Arc::clone(&log), Arc::from)));
        let list = Box::new(HouseList(Arc::clone(&self.houses)));
        let now = clock::now_ms();
        let engine = Engine::open(reader, self.games.clone(), list, settings, key, now)?;
        clock::not_before(engine.now_ms());
        Ok(Driver {
            engine,
            handle,
            inbox,
            sockets,
            slow_turn: None,
            log,
            outboxes: FxHashMap::default(),
            unflushed: Vec::new(),
            held: HeldNotices::default(),
            full: Vec::new(),
            effects: Effects::default(),
            streams: Vec::new(),
            appends: Vec::new(),
            submitted: 0,
            houses: self.pool.clone(),
            blocking: self.runtime.clone(),
            checking: HashMap::new(),
            replies: HashMap::new(),
            queries: 0,
            watchers: HashMap::new(),
            tournaments: TournamentReader::default(),
            snapshot: None,
            failed: None,
            id,
            others: OtherEngines::None,
            waiting: Vec::new(),
            threads: Vec::new(),
            is_leased,
        })
    }
}

/// An engine of cells whose lobby is on another node, before it is opened.
pub(crate) struct NodeEngine {
    handle: Handle,
    inbox: Receiver<Message>,
    sockets: DriverSockets,
}

impl NodeEngine {
    pub(crate) fn new(parts: &Parts) -> Result<NodeEngine, ServerError> {
        let (sender, inbox) = channel();
        // It has no sockets, and waits for its inbox in the same way.
        let (sockets, waker) = DriverSockets::new(0).map_err(ServerError::Sockets)?;
        let (passwords, log) = (Passwords::new(None, 1), Arc::downgrade(&parts.log));
        let shared = Shared::new(Alarm::new(waker), passwords, parts.games.clone(), log);
        Ok(NodeEngine { handle: Handle::new(sender, shared), inbox, sockets })
    }

    pub(crate) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Reads the lobby, and runs until the link to the lobby's node is given up.
    pub(crate) fn run(
        self,
        parts: &Parts,
        id: EngineId,
        lobby: Arc<LinkSender>,
    ) -> Result<(), ServerError> {
        // An engine that ran before may have stopped the clock.
        clock::resume();
        if let Some(now) = parts.log.clock_ms()? {
            clock::set(Timestamp::from_ms(now));
        }
        let settings = Settings { role: EngineRole::Cells, ..parts.settings.clone() };
        let mut driver = parts.open(id, settings, self.handle, (self.inbox, self.sockets))?;
        driver.others = OtherEngines::Lobby(RemoteLobby::new(lobby));
        driver.carry_out();
        driver.run()
    }
}

/// Has engines resume the tournaments that the lobby's engine gave them, each on a thread.
pub(super) fn resume_all(drivers: Vec<Driver>) -> Result<Vec<Driver>, ServerError> {
    let resume = |mut driver: Driver| {
        loop {
            let message = match driver.engine.is_resuming() {
                true => driver.inbox.recv().ok(),
                false => driver.inbox.try_recv().ok(),
            };
            let Some(message) = message.filter(|_| driver.failed.is_none()) else { break };
            driver.take(message);
        }
        match driver.failure() {
            Some(error) => Err(error),
            None => Ok(driver),
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            drivers.into_iter().map(|driver| scope.spawn(move || resume(driver))).collect();
        let resumed = threads.into_iter().map(|thread| thread.join());
        resumed.map(|driver| driver.expect("a resumed engine does not panic")).collect()
    })
}
