//! Servers: how they start, crash, lose a stream to another server, and learn the time.

use super::{Happening, OUTBOX_MAX, Server, World};
use crate::driver::{Driver, Ended, Limits};
use crate::history::Lifetime;
use crate::invariants::{self, Failure};
use crate::plan::player_name;
use crate::sabotage::Sabotage;
use crate::socket::Socket;
use agon_bots::Houses;
use agon_core::Timestamp;
use agon_engine::{EngineRole, Settings};
use std::collections::BTreeMap;

/// The longest line a server reads; players send some that are longer.
pub(crate) const LINE_BYTES_MAX: usize = 4_096;

impl World {
    pub(super) fn start_server(&mut self) -> Result<(), Failure> {
        let id = self.next_server;
        self.next_server += 1;
        let restarted = id > 1 && self.sabotage == Some(Sabotage::ChargeOutage);
        let reconnect_ms = if restarted { 0 } else { self.plan.reconnect_ms };
        let (seed, second_login) = (Some(self.seed), self.plan.second_login);
        let snapshot_every = Some(self.plan.snapshot_every);
        // So many other engines own the tournaments.
        let cell_engines = std::env::var("AGON_TEST_CELL_ENGINES");
        let cell_engines = cell_engines.ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        let role = EngineRole::Lobby { cell_engines };
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
        let (log, games) = (self.disk.open(id), self.games.clone());
        let opened = Driver::open(log, games, Houses::standard(), settings, limits, self.now);
        let mut driver = opened.map_err(|error| {
            Failure::new("replay", format!("server {id} cannot take up its log: {error}"))
        })?;
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
        });
        Ok(())
    }

    /// Asks a server to stop. It ends when all its decisions are durable.
    pub(super) fn stop_any(&mut self) -> Result<(), Failure> {
        let up = self.servers.iter().position(|server| !server.stopping);
        let Some(at) = up else { return Ok(()) };
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
        self.history.stops += 1;
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
        self.history.server_ended(server.id, self.now);
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
            let server_now = self.server_time(&self.servers[at]);
            self.servers[at].steps += 1;
            self.history.noticed(self.servers[at].id, self.now);
            match self.servers[at].driver.step(server_now) {
                Ok(()) => {
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

    /// The time by a server's own clock.
    pub(super) fn server_time(&self, server: &Server) -> Timestamp {
        match self.sabotage {
            Some(Sabotage::FastClock) => self.now + (self.now.since(server.started)) / 4,
            _ => self.now,
        }
    }

    /// Checks that a server ended by itself only because another one took a stream from it.
    pub(super) fn beaten(&mut self, at: usize, error: &Ended) -> Result<(), Failure> {
        let server = self.servers.remove(at);
        let conflict = matches!(error, Ended::Refused(_)) && self.disk.was_beaten(server.id);
        if !conflict || self.plan.rivals.is_empty() {
            return Err(Failure::new("owner", format!("server {} ended: {error}", server.id)));
        }
        self.trace.note(self.now, || format!("server {} ends: {error}", server.id));
        self.history.conflicts += 1;
        self.lose(server);
        if self.servers.is_empty() {
            let after_ms = self.rng.between(1, 1_000);
            self.at(self.now + after_ms, Happening::Start);
        }
        Ok(())
    }

    pub(super) fn sample(&mut self, at: usize) {
        let server = &self.servers[at];
        for bot in &self.bots {
            let here = server.driver.is_here(&bot.name);
            self.history.presence(bot.name.as_str(), server.id, here, self.now);
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
        let noticed = socket.is_left().then_some(self.now);
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
        let due = self.servers[at].sockets.get(&link).and_then(Socket::due);
        if due != self.links[link].looked_at {
            self.links[link].looked_at = due;
            let due = due.map(|due| due.max(self.now));
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
        self.look_later(at, link);
    }

    pub(super) fn delay_ms_max(&self) -> u64 {
        if self.healed { 5 } else { self.plan.delay_ms_max }
    }
}
