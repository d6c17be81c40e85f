//! The events of a run, and the failures until everything is healed.

use super::{CRASH_TRIES, Happening, Server, World};
use crate::disk::Pace;
use crate::invariants::{self, Failure};
use crate::plan::BusFault;
use agon_core::Timestamp;

impl World {
    pub(super) fn happen(&mut self, happening: Happening) -> Result<(), Failure> {
        match happening {
            Happening::Wake(bot) => self.wake(bot),
            Happening::Send(link, out) => self.send(link, out),
            Happening::Flush(link) => self.flush(link),
            Happening::ToServer(link, bytes) => self.arrive(link, &bytes)?,
            Happening::ToBot(link, bytes) => self.read(link, &bytes)?,
            Happening::Look(link) => self.look(link),
            Happening::Cut(link) => self.cut(link),
            Happening::ServerSeesEnd(link) => self.server_sees_end(link),
            Happening::BotSeesEnd(link) => self.bot_sees_end(link),
            Happening::CutAny if !self.healed => self.cut_any(),
            Happening::CrashAny(tries @ 1..) if !self.disk.is_busy() => {
                debug_assert!(tries <= CRASH_TRIES, "patience only shrinks");
                let after_ms = self.rng.between(1, 5);
                self.at(self.now + after_ms, Happening::CrashAny(tries - 1));
            }
            Happening::CrashAny(_) if !self.healed && !self.servers.is_empty() => {
                invariants::while_it_runs(self)?;
                let at = self.rng.below(self.servers.len() as u64) as usize;
                self.crash(at);
                let down_ms = self.rng.between(1, 5_000);
                self.at(self.now + down_ms, Happening::Start);
            }
            Happening::StopAny if !self.healed => self.stop_any()?,
            Happening::Start if self.lacks_nodes() => self.start_node(),
            Happening::Start if self.servers.is_empty() && self.plan.nodes.is_none() => {
                self.start_server()?;
            }
            Happening::Rival if !self.healed && self.servers.len() == 1 => self.start_server()?,
            Happening::StallAny(ms) if !self.healed && !self.servers.is_empty() => {
                let at = self.rng.below(self.servers.len() as u64) as usize;
                self.servers[at].busy_until = self.now + ms;
                self.trace.note(self.now, || format!("server stands still for {ms} ms"));
            }
            Happening::Order => self.give_order(),
            Happening::Heal => self.heal()?,
            Happening::NodeFault(fault, tries) if !self.healed => self.node_fault(fault, tries),
            Happening::BusFault(fault, tries) if !self.healed => self.bus_fault(fault, tries),
            Happening::BusUp(id) => {
                let up = self.nodes.iter_mut().filter(|node| node.id == id);
                up.for_each(|node| node.borrower.set_up(true));
            }
            Happening::Continue(id) => self.continue_process(id),
            Happening::HealLink(id) => {
                let now = self.now;
                self.disk.shared(|shared| shared.heal_link(id, now));
            }
            Happening::BreakConnections if !self.healed => {
                let away_ms = self.rng.between(0, 50);
                self.disk.restart_database(away_ms);
            }
            Happening::PromoteStandby if !self.healed => {
                let away_ms = self.rng.between(20, 1_000);
                self.disk.promote_standby(away_ms);
            }
            _ => {}
        }
        Ok(())
    }

    /// Crashes a server, or a node with tournaments, at the moment a cheat or the end of a
    /// tournament is durable or a little later, when the effects in other streams may not be durable
    /// yet.
    pub(super) fn die_after_results(&mut self) -> Result<(), Failure> {
        let (cheats, ends) = self.disk.look(|index| (index.cheats, index.over.len() as u64));
        let cheats = if self.plan.dies_after_cheats { cheats } else { 0 };
        let ends = if self.plan.dies_after_ends { ends } else { 0 };
        if cheats + ends <= self.results_seen {
            return Ok(());
        }
        self.results_seen = cheats + ends;
        match self.rng.below(if self.bus.is_some() { 4 } else { 3 }) {
            3 => self.happen(Happening::BusFault(BusFault::Kill, 0)),
            0 => self.happen(Happening::CrashAny(0)),
            1 => {
                let after_ms = self.rng.between(0, 10);
                self.at(self.now + after_ms, Happening::CrashAny(0));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn cut_any(&mut self) {
        let up: Vec<usize> = (0..self.links.len()).filter(|at| self.links[*at].up).collect();
        if !up.is_empty() {
            let link = *self.rng.pick(&up);
            self.cut(link);
        }
    }

    fn heal(&mut self) -> Result<(), Failure> {
        invariants::while_it_runs(self)?;
        self.trace.note(self.now, || "everything is healed".into());
        self.healed = true;
        self.history.healed_at = self.now;
        self.disk.set_pace(Pace { sync_ms_max: 3, answer_ms_max: 2 });
        // A server that raced another may be behind and not know it, so restart it.
        let raced = |server: &Server| !self.history.was_alone(server.id);
        if self.plan.nodes.is_none() && self.servers.iter().any(raced) {
            while !self.servers.is_empty() {
                self.crash(0);
            }
        }
        self.bots.iter_mut().for_each(|bot| bot.healed = true);
        self.servers.iter_mut().for_each(|server| server.busy_until = Timestamp::default());
        self.heal_nodes();
        if self.servers.is_empty() && self.plan.nodes.is_none() {
            self.start_server()?;
        }
        // The operator resumes paused tournaments.
        self.at(self.now, Happening::Order);
        Ok(())
    }
}
