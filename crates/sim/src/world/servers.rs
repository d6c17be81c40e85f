//! Servers: how they start, crash, lose a stream to another server, and learn the time.

use super::clock::Clock;
use super::nodes::SILENT_MS;
use super::{Happening, OUTBOX_MAX, Server, World};
use crate::disk::Entry;
use crate::driver::{Driver, DriverParts, Ended, Limits, PASS_MS_MAX};
use crate::history::Lifetime;
use crate::invariants::{self, Failure};
use crate::plan::player_name;
use crate::sabotage::Sabotage;
use crate::socket::Socket;
use agon_core::{Millis, Timestamp};
use agon_engine::{EngineError, EngineId, EngineRole, Settings};
use agon_store::{AppendError, Log};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How late an engine of cells on another node may learn of something: a link is given up after a
/// silence of 1.5 s.
const LINK_PASS_MS_MAX: Millis = 1_700;

/// The longest line a server reads; players send some that are longer.
pub(crate) const LINE_BYTES_MAX: usize = 4_096;

impl World {
    pub(super) fn start_server(&mut self) -> Result<(), Failure> {
        let id = self.next_server;
        self.next_server += 1;
        let log = self.disk.open(id);
        let role = EngineRole::Lobby { cell_engines: self.plan.cell_engines };
        self.open_server(id, log, None, role)
    }

    /// The settings and bounds of an engine of a server.
    pub(super) fn settings(&self, role: EngineRole, id: u32) -> (Settings, Limits) {
        let restarted = id > 1 && self.sabotage == Some(Sabotage::ChargeOutage);
        let reconnect_ms = if restarted { 0 } else { self.plan.reconnect_ms };
        let (seed, second_login) = (Some(self.seed), self.plan.second_login);
        let snapshot_every = Some(self.plan.snapshot_every);
        let settings = Settings {
            reconnect_ms,
            seed,
            second_login,
            snapshot_every,
            role,
            ..Settings::default()
        };
        let mut limits = Limits { outbox_lines_max: OUTBOX_MAX, line_bytes_max: LINE_BYTES_MAX };
        if self.sabotage == Some(Sabotage::EndlessOutbox) {
            limits.outbox_lines_max = 100_000;
        }
        (settings, limits)
    }

    /// Opens a server over the log.
    pub(super) fn open_server(
        &mut self,
        id: u32,
        log: Arc<dyn Log>,
        epoch: Option<u64>,
        role: EngineRole,
    ) -> Result<(), Failure> {
        let (settings, limits) = self.settings(role, id);
        let (games, sabotage) = (self.games.clone(), self.sabotage);
        // A node sets its clock by the database's, whatever the time on its machine is.
        let own_clock = self.now + self.ahead_ms(id);
        let clock = log.clock_ms().ok().flatten().map(Timestamp::from_ms);
        let now = clock.filter(|_| self.sabotage != Some(Sabotage::OwnClock));
        let now = now.unwrap_or(own_clock);
        let parts = DriverParts { log, games, settings, limits, sabotage };
        let opened = Driver::open(parts, EngineId::LOBBY, now);
        let mut driver = match opened {
            Ok(driver) => driver,
            Err(EngineError::Read(error)) if epoch.is_some() => {
                self.trace.note(self.now, || format!("node {id} ends: {error}"));
                self.disk.crash(id, false);
                self.node_ended(id);
                return Ok(());
            }
            Err(error) => {
                let what = format!("server {id} cannot take up its log: {error}");
                return Err(Failure::new("replay", what));
            }
        };
        if let Some(peers) = &self.plan.peers {
            driver.open_sign_up(&peers.series);
        }
        self.trace.note(self.now, || format!("server {id} starts"));
        self.history.servers.insert(id, Lifetime { started: self.now, ended: None });
        let (sockets, busy_until, started) = (BTreeMap::new(), 0, self.now);
        let (stopping, steps) = (false, 0);
        self.servers.push(Server {
            id,
            driver,
            sockets,
            busy_until: Timestamp::from_ms(busy_until),
            started,
            stopping,
            steps,
            epoch,
            clock: Clock::default(),
            handled_until: self.now,
        });
        Ok(())
    }

    /// Asks a server to stop. It ends when all its decisions are durable.
    pub(super) fn stop_any(&mut self) -> Result<(), Failure> {
        let is_up = |server: &Server| !server.stopping && self.may_act(server.id);
        let Some(at) = self.servers.iter().position(is_up) else { return Ok(()) };
        invariants::while_it_runs(self)?;
        let server = &mut self.servers[at];
        self.trace.note(self.now, || format!("server {} is asked to stop", server.id));
        server.stopping = true;
        server.driver.stop();
        Ok(())
    }

    /// Ends a stopping server that has nothing left to do.
    fn stopped(&mut self, at: usize) {
        let mut server = self.servers.remove(at);
        self.trace.note(self.now, || format!("server {} has stopped", server.id));
        server.driver.finish();
        self.close_links(server.id);
        self.history.stops += 1;
        self.disk.shared(|shared| shared.process_ended(server.id, true));
        self.lose(server);
        let down_ms = self.rng.between(1, 2_000);
        self.at(self.now + down_ms, Happening::Start);
    }

    /// A server crashes.
    pub(super) fn crash(&mut self, at: usize) {
        let server = self.servers.remove(at);
        self.trace.note(self.now, || format!("server {} dies", server.id));
        self.history.crashes += 1;
        self.lose(server);
    }

    pub(super) fn lose(&mut self, server: Server) {
        self.history.server_ended(server.id, server.clock.read(self.now));
        self.history.clocks.insert(server.id, server.clock);
        self.node_ended(server.id);
        self.disk.crash(server.id, self.servers.is_empty());
        for link in 0..self.links.len() {
            if self.links[link].server == server.id && self.links[link].up {
                self.links[link].up = false;
                let after_ms = self.rng.between(0, 300);
                self.at(self.now + after_ms, Happening::BotSeesEnd(link));
            }
        }
    }

    /// Runs every server up to now, and writes its messages.
    pub(super) fn step_servers(&mut self) -> Result<(), Failure> {
        let mut at = 0;
        while at < self.servers.len() {
            if self.servers[at].busy_until > self.now {
                at += 1;
                continue;
            }
            let id = self.servers[at].id;
            if !self.take_turn(at) {
                at += usize::from(self.servers.get(at).is_some_and(|server| server.id == id));
                continue;
            }
            let server_now = self.server_time(&self.servers[at]);
            self.history.noticed(id, self.servers[at].clock.read(self.now));
            if !self.has_work(at, server_now) {
                self.servers[at].handled_until = server_now;
                at += 1;
                continue;
            }
            self.servers[at].steps += 1;
            match self.servers[at].driver.step(server_now, self.now) {
                Ok(()) => {
                    self.servers[at].handled_until = server_now;
                    self.sample(at);
                    self.write(at)?;
                    match self.servers[at].stopping && self.servers[at].driver.is_drained() {
                        true => self.stopped(at),
                        false => at += 1,
                    }
                }
                Err(error) => self.beaten(at, &error)?,
            }
        }
        Ok(())
    }

    /// Returns whether a step of a server would change anything.
    fn has_work(&mut self, at: usize, server_now: Timestamp) -> bool {
        let Server { driver, sockets, stopping, .. } = &mut self.servers[at];
        let is_quiet = |socket: &Socket| socket.waiting() == 0 && !socket.is_dropped();
        *stopping || driver.has_work(server_now) || !sockets.values().all(is_quiet)
    }

    /// How long messages between engines take at most, for those that wrote an entry and have the
    /// connections. A link on which one takes longer is given up.
    pub(crate) fn pass_ms(&self, entry: &Entry) -> Millis {
        match self.history.loans.contains_key(&entry.writer) {
            true => LINK_PASS_MS_MAX,
            false if self.plan.cell_engines > 0 => PASS_MS_MAX,
            false => 0,
        }
    }

    /// The server that had the connections when an entry was written.
    pub(crate) fn seats_of(&self, entry: &Entry) -> u32 {
        self.history.loans.get(&entry.writer).map_or(entry.writer, |loan| loan.server)
    }

    /// When an entry was decided, by the clock of the server that had the connections. The time in
    /// the log may be later: an engine writes no event that is earlier than those of an owner before
    /// it, whose clock was ahead.
    pub(crate) fn seat_time(&self, entry: &Entry) -> Timestamp {
        let Entry { writer, submitted_at, .. } = *entry;
        match self.history.loans.get(&writer) {
            Some(loan) => {
                let at = self.clock_with(writer, |clock| clock.world_time(entry.line.at));
                self.clock_with(loan.server, |clock| clock.read(at.min(submitted_at)))
            }
            None => {
                let is_shared = self.plan.nodes.is_some();
                let latest = self.clock_with(writer, |clock| clock.read(submitted_at));
                if is_shared { entry.line.at.min(latest) } else { entry.line.at }
            }
        }
    }

    /// When the server or engine that wrote an entry started, by the clock of the server that had
    /// the connections.
    pub(crate) fn started_at(&self, entry: &Entry) -> Option<Timestamp> {
        match self.history.loans.get(&entry.writer) {
            Some(loan) => Some(self.clock_with(loan.server, |clock| clock.read(loan.started))),
            None => Some(self.history.servers.get(&entry.writer)?.started),
        }
    }

    /// Reads the clock of a server, or of an engine of cells, that runs or has ended.
    fn clock_with<T>(&self, id: u32, read: impl FnOnce(&Clock) -> T) -> T {
        let servers = self.servers.iter().filter(|one| one.id == id).map(|one| &one.clock);
        let cells = self.cells.iter().filter(|one| one.id == id).map(|one| &one.clock);
        let clock = servers.chain(cells).chain(self.history.clocks.get(&id)).next();
        read(clock.unwrap_or(&Clock::default()))
    }

    /// Returns whether no other server may know more than this one. A server that raced another may
    /// be behind, and learns of it with its next record.
    pub(crate) fn knows_all(&self, server: u32) -> bool {
        match self.superseded_at(server) {
            Some(superseded_at) => superseded_at.is_none(),
            None => self.history.was_alone(server),
        }
    }

    /// When another node claimed the log from the node of a server; the outer `None` is for a
    /// server that is no node.
    pub(super) fn superseded_at(&self, server: u32) -> Option<Option<Timestamp>> {
        let server = self.servers.iter().find(|one| one.id == server)?;
        let epoch = server.epoch?;
        self.disk.shared(|shared| shared.superseded_at(epoch))
    }

    /// How far the clock of a server's machine is ahead.
    fn ahead_ms(&self, server: u32) -> Millis {
        let Some(nodes) = &self.plan.nodes else { return 0 };
        nodes.clock_ahead_ms[server as usize % nodes.clock_ahead_ms.len()]
    }

    /// The time by the clock of a server, as it should be.
    pub(super) fn clock_of(&self, server: u32) -> Timestamp {
        let server = self.servers.iter().find(|one| one.id == server);
        server.map_or(self.now, |server| server.clock.read(self.now))
    }

    /// The time by a server's own clock.
    pub(super) fn server_time(&self, server: &Server) -> Timestamp {
        match self.sabotage {
            Some(Sabotage::FastClock) => self.now + (self.now.since(server.started)) / 4,
            Some(Sabotage::OwnClock) => server.clock.read(self.now) + self.ahead_ms(server.id),
            _ => server.clock.read(self.now),
        }
    }

    /// Checks that a server ended by itself only because another one took a stream from it.
    pub(super) fn beaten(&mut self, at: usize, error: &Ended) -> Result<(), Failure> {
        let server = self.servers.remove(at);
        let conflict = matches!(error, Ended::Refused(_)) && self.disk.was_beaten(server.id);
        let is_fenced = matches!(error, Ended::Refused(AppendError::Fenced { .. }));
        let is_fenced = is_fenced || matches!(error, Ended::Failed(EngineError::Read(_)));
        let is_expected = match server.epoch {
            Some(_) => is_fenced,
            None => conflict && !self.plan.rivals.is_empty(),
        };
        if !is_expected {
            return Err(Failure::new("owner", format!("server {} ended: {error}", server.id)));
        }
        self.trace.note(self.now, || format!("server {} ends: {error}", server.id));
        self.history.conflicts += 1;
        self.close_links(server.id);
        self.lose(server);
        if self.servers.is_empty() && self.plan.nodes.is_none() {
            let after_ms = self.rng.between(1, 1_000);
            self.at(self.now + after_ms, Happening::Start);
        }
        Ok(())
    }

    pub(super) fn sample(&mut self, at: usize) {
        let server = &self.servers[at];
        let now = server.clock.read(self.now);
        for bot in &self.bots {
            let here = server.driver.is_here(&bot.name);
            self.history.presence(bot.name.as_str(), server.id, here, now);
        }
    }

    /// Writes the outboxes of a server, as far as the links accept messages.
    pub(super) fn write(&mut self, at: usize) -> Result<(), Failure> {
        let links: Vec<usize> = self.servers[at].sockets.keys().copied().collect();
        links.into_iter().try_for_each(|link| {
            self.write_link(at, link)?;
            self.close_if_over(at, link);
            Ok(())
        })
    }

    /// Writes the outbox of one connection, as far as its link accepts messages.
    pub(super) fn write_link(&mut self, at: usize, link: usize) -> Result<(), Failure> {
        let server_now = self.server_time(&self.servers[at]);
        loop {
            let full = self.links[link].coming.len() >= self.links[link].window;
            let Server { driver, sockets, .. } = &mut self.servers[at];
            let Some(socket) = sockets.get_mut(&link) else { break };
            self.history.waiting_max = self.history.waiting_max.max(socket.waiting());
            if full {
                self.links[link].behind = true;
                break;
            }
            let Some(wrote) = driver.write_one(socket, server_now) else {
                self.links[link].behind = false;
                break;
            };
            self.say(at, link, wrote)?;
        }
        self.look_later(at, link);
        Ok(())
    }

    /// Closes a connection that the server has dropped.
    fn close_if_over(&mut self, at: usize, link: usize) {
        let Some(socket) = self.servers[at].sockets.get(&link) else { return };
        let over = socket.is_over();
        let noticed = socket.is_left().then(|| self.servers[at].clock.read(self.now));
        if socket.is_dropped() && !self.links[link].dropped {
            self.links[link].dropped = true;
            let (bot, server) = (self.links[link].bot, self.links[link].server);
            self.history.end(&player_name(bot), server, noticed);
            self.history.dropped.insert(link, self.servers[at].steps);
        }
        let Server { driver, sockets, .. } = &mut self.servers[at];
        if over && let Some(socket) = sockets.remove(&link) {
            driver.hang_up(socket);
            let delay_ms_max = self.delay_ms_max();
            let end_at = self.links[link].reaches_bot(self.now, delay_ms_max, &mut self.rng);
            self.at(end_at, Happening::BotSeesEnd(link));
        }
    }

    /// Schedules the timers of the server's end of a connection.
    pub(super) fn look_later(&mut self, at: usize, link: usize) {
        let server = &self.servers[at];
        let due = server.sockets.get(&link).and_then(Socket::due);
        if due != self.links[link].looked_at {
            self.links[link].looked_at = due;
            let later = self.now + SILENT_MS;
            let due = due.map(|due| server.clock.when(due).map_or(later, |due| due.max(self.now)));
            due.into_iter().for_each(|due| self.at(due, Happening::Look(link)));
        }
    }

    pub(super) fn look(&mut self, link: usize) {
        let server = self.links[link].server;
        let Some(at) = self.servers.iter().position(|one| one.id == server) else { return };
        let server_now = self.server_time(&self.servers[at]);
        let Server { driver, sockets, .. } = &mut self.servers[at];
        if let Some(socket) = sockets.get_mut(&link) {
            driver.look(socket, server_now);
        }
        // The clock may have stood still meanwhile.
        if self.servers[at].clock.read(self.now) < self.now {
            self.links[link].looked_at = None;
        }
        self.look_later(at, link);
    }

    pub(super) fn delay_ms_max(&self) -> u64 {
        if self.healed { 5 } else { self.plan.delay_ms_max }
    }
}
