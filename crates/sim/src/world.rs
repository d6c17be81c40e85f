//! The world: servers, players and what is between them, in one thread under virtual time.
//!
//! ```text
//!   players ── links (late, cut) ── sockets ── engines ── disk (late, torn, lost)
//! ```
//!
//! First chaos: what the seed drew goes wrong. Then everything is healed, and all tournaments have to
//! end. Whatever a server says is held against what is durable at that moment.

use crate::Figures;
use crate::bot::{Act, Bot};
use crate::disk::{Disk, Pace};
use crate::history::{Heard, History, Lifetime, Written};
use crate::invariants::{self, Failure, Spoken};
use crate::network::Link;
use crate::plan::{BEGIN, Plan, player_name, token};
use crate::rng::Rng;
use crate::sabotage::Sabotage;
use crate::said::{Answer, Said};
use crate::trace::Trace;
use agon_core::lobby::Role;
use agon_core::{Event, Millis, Secret, TournamentId};
use agon_games::Registry;
use agon_players::Houses;
use agon_server::{Driven, EngineError, Limits, Settings, Socket};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::rc::Rc;
use std::sync::Arc;

/// How long tournaments may take once everything is healed.
const HEALED_MS_MAX: Millis = 900_000;

/// Lines that may wait for a reader.
pub(crate) const OUTBOX_MAX: usize = 24;

/// Things that may happen in a run.
const STEPS_MAX: u64 = 400_000;

/// Something that happens at a time.
pub(crate) enum Happening {
    /// A player with nothing to do looks whether it has.
    Wake(usize),
    Send(usize, String),
    ToServer(usize, String),
    ToBot(usize, Rc<Said>),
    /// The player closes a connection.
    Cut(usize),
    ServerSeesEnd(usize),
    BotSeesEnd(usize),
    CutAny,
    CrashAny,
    Start,
    Rival,
    StallAny(Millis),
    Heal,
}

pub(crate) struct Server {
    pub(crate) id: u32,
    pub(crate) driven: Driven,
    pub(crate) sockets: BTreeMap<usize, Socket>,
    busy_until: Millis,
    started: Millis,
}

pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) seed: u64,
    rng: Rng,
    now: Millis,
    queue: BinaryHeap<Reverse<(Millis, u64)>>,
    happenings: BTreeMap<u64, Happening>,
    next: u64,
    pub(crate) disk: Arc<Disk>,
    pub(crate) servers: Vec<Server>,
    next_server: u32,
    links: Vec<Link>,
    /// The connection each player uses.
    current: Vec<Option<usize>>,
    pub(crate) bots: Vec<Bot>,
    pub(crate) history: History,
    healed: bool,
    pub(crate) games: Registry,
    /// What nobody may ever be told: secrets and tokens.
    secrets: BTreeSet<String>,
    sabotage: Option<Sabotage>,
    pub(crate) trace: Trace,
}

impl World {
    pub(crate) fn new(seed: u64, sabotage: Option<Sabotage>, trace: Trace) -> World {
        let mut rng = Rng::new(seed);
        let plan = Plan::draw(&mut rng);
        let disk = Disk::new(rng.fork(), plan.pace, sabotage);
        let mut bots = vec![Bot::new(0, Default::default(), &plan.cups, rng.fork())];
        for (at, temper) in plan.players.iter().enumerate() {
            bots.push(Bot::new(at + 1, *temper, &plan.cups, rng.fork()));
        }
        let of_cup =
            |id: &str| Secret::from_seed_number(seed).of_tournament(&TournamentId::from(id));
        let mut secrets: BTreeSet<String> =
            plan.cups.iter().map(|cup| of_cup(&cup.id).hex()).collect();
        secrets.extend((0..bots.len()).map(token));
        World {
            seed,
            rng,
            now: BEGIN,
            queue: BinaryHeap::new(),
            happenings: BTreeMap::new(),
            next: 0,
            disk,
            servers: Vec::new(),
            next_server: 1,
            links: Vec::new(),
            current: vec![None; bots.len()],
            bots,
            history: History::default(),
            healed: false,
            games: Registry::standard(),
            secrets,
            sabotage,
            trace,
            plan,
        }
    }

    fn at(&mut self, at: Millis, happening: Happening) {
        self.next += 1;
        self.queue.push(Reverse((at, self.next)));
        self.happenings.insert(self.next, happening);
    }

    /// Runs to the end, and checks everything.
    pub(crate) fn run(&mut self) -> Result<(), Failure> {
        self.schedule();
        self.start_server()?;
        self.make_accounts()?;
        while !self.is_over() {
            let Some(now) = self.next_time() else {
                return Err(Failure::new("progress", "nothing is left to happen"));
            };
            self.now = now;
            self.history.steps += 1;
            if self.history.steps > STEPS_MAX || now > self.deadline() {
                let open = self.unfinished().join(", ");
                return Err(Failure::new(
                    "progress",
                    format!("{open} did not end after all healed"),
                ));
            }
            while let Some(Reverse((at, number))) = self.queue.peek().copied()
                && at <= now
            {
                self.queue.pop();
                if let Some(happening) = self.happenings.remove(&number) {
                    self.happen(happening)?;
                }
            }
            self.disk.advance(now);
            self.step_servers()?;
        }
        self.history.ended_at = self.now;
        invariants::at_the_end(self)
    }

    fn schedule(&mut self) {
        let plan = self.plan.clone();
        plan.crashes.iter().for_each(|at| self.at(BEGIN + at, Happening::CrashAny));
        plan.rivals.iter().for_each(|at| self.at(BEGIN + at, Happening::Rival));
        plan.cuts.iter().for_each(|at| self.at(BEGIN + at, Happening::CutAny));
        plan.stalls.iter().for_each(|(at, ms)| self.at(BEGIN + at, Happening::StallAny(*ms)));
        self.at(BEGIN + plan.chaos_ms, Happening::Heal);
        for bot in 0..self.bots.len() {
            self.at(BEGIN + 20 + bot as u64, Happening::Wake(bot));
        }
    }

    /// Accounts are there before anything goes wrong.
    fn make_accounts(&mut self) -> Result<(), Failure> {
        let now = self.now;
        let server = &mut self.servers[0];
        for number in 0..self.bots.len() {
            let role = if number == 0 { Role::Operator } else { Role::Player };
            let made = server.driven.account(self.bots[number].name.clone(), role, &token(number));
            made.map_err(|error| Failure::new("progress", error.to_string()))?;
        }
        self.step_servers()?;
        while let Some(due) = self.disk.next_due() {
            self.now = due.max(now);
            self.disk.advance(self.now);
            self.step_servers()?;
        }
        Ok(())
    }

    fn deadline(&self) -> Millis {
        BEGIN + self.plan.chaos_ms + HEALED_MS_MAX
    }

    /// Tournaments that were announced and are not over.
    fn unfinished(&self) -> Vec<String> {
        self.disk.look(|index| {
            let open = index
                .announced
                .iter()
                .filter(|id| !index.finished.contains_key(*id) && !index.called_off.contains(*id));
            open.cloned().collect()
        })
    }

    fn is_over(&self) -> bool {
        let desk = &self.bots[0].record;
        let said = |cup: &crate::plan::Cup| {
            let key = ("announce".to_owned(), cup.id.clone());
            desk.done.contains(&key) || desk.refused.contains(&key)
        };
        let quiet = self.healed && self.queue.is_empty() && self.disk.next_due().is_none();
        quiet && self.plan.cups.iter().all(said) && self.unfinished().is_empty()
    }

    fn next_time(&self) -> Option<Millis> {
        let happening = self.queue.peek().map(|Reverse((at, _))| *at);
        let timers = self.servers.iter().filter_map(|server| {
            let due = server.driven.next_due()?;
            Some(due.max(server.busy_until))
        });
        let busy = self.servers.iter().map(|server| server.busy_until).filter(|at| *at > self.now);
        let disk = self.disk.next_due().into_iter();
        let next = happening.into_iter().chain(timers).chain(busy).chain(disk).min();
        next.map(|next| next.max(self.now))
    }

    fn happen(&mut self, happening: Happening) -> Result<(), Failure> {
        match happening {
            Happening::Wake(bot) => self.wake(bot),
            Happening::Send(link, line) => self.send(link, line),
            Happening::ToServer(link, line) => self.arrive(link, &line),
            Happening::ToBot(link, said) => self.tell(link, &said),
            Happening::Cut(link) => self.cut(link),
            Happening::ServerSeesEnd(link) => self.server_sees_end(link),
            Happening::BotSeesEnd(link) => self.bot_sees_end(link),
            Happening::CutAny if !self.healed => {
                let up: Vec<usize> =
                    (0..self.links.len()).filter(|at| self.links[*at].up).collect();
                if !up.is_empty() {
                    let link = *self.rng.pick(&up);
                    self.cut(link);
                }
            }
            Happening::CrashAny if !self.healed && !self.servers.is_empty() => {
                invariants::while_it_runs(self)?;
                let at = self.rng.below(self.servers.len() as u64) as usize;
                self.crash(at);
                let down_ms = self.rng.between(1, 5_000);
                self.at(self.now + down_ms, Happening::Start);
            }
            Happening::Start if self.servers.is_empty() => self.start_server()?,
            Happening::Rival if !self.healed && self.servers.len() == 1 => self.start_server()?,
            Happening::StallAny(ms) if !self.healed && !self.servers.is_empty() => {
                let at = self.rng.below(self.servers.len() as u64) as usize;
                self.servers[at].busy_until = self.now + ms;
                self.trace.note(self.now, || format!("server stands still for {ms} ms"));
            }
            Happening::Heal => self.heal()?,
            _ => {}
        }
        Ok(())
    }

    fn heal(&mut self) -> Result<(), Failure> {
        invariants::while_it_runs(self)?;
        self.trace.note(self.now, || "everything is healed".into());
        self.healed = true;
        self.history.healed_at = self.now;
        self.disk.set_pace(Pace { sync_ms_max: 3, answer_ms_max: 2 });
        // Who raced another server may be behind and not know it: it is started again.
        let raced = |server: &Server| !self.history.was_alone(server.id);
        if self.servers.iter().any(raced) {
            while !self.servers.is_empty() {
                self.crash(0);
            }
        }
        self.bots.iter_mut().for_each(|bot| bot.healed = true);
        self.servers.iter_mut().for_each(|server| server.busy_until = 0);
        if self.servers.is_empty() {
            self.start_server()?;
        }
        Ok(())
    }

    fn start_server(&mut self) -> Result<(), Failure> {
        let id = self.next_server;
        self.next_server += 1;
        let restarted = id > 1 && self.sabotage == Some(Sabotage::ChargeOutage);
        let reconnect_ms = if restarted { 0 } else { self.plan.reconnect_ms };
        let settings = Settings { reconnect_ms, seed: Some(self.seed), ..Settings::default() };
        let mut limits = Limits { outbox_lines_max: OUTBOX_MAX, ..Limits::default() };
        if self.sabotage == Some(Sabotage::EndlessOutbox) {
            limits.outbox_lines_max = 100_000;
        }
        let (log, games) = (self.disk.open(id), self.games.clone());
        let opened = Driven::open(log, games, Houses::standard(), settings, limits, self.now);
        let driven = opened.map_err(|error| {
            Failure::new("replay", format!("server {id} cannot take up its log: {error}"))
        })?;
        self.trace.note(self.now, || format!("server {id} starts"));
        self.history.servers.insert(id, Lifetime { started: self.now, ended: None });
        let (sockets, busy_until, started) = (BTreeMap::new(), 0, self.now);
        self.servers.push(Server { id, driven, sockets, busy_until, started });
        Ok(())
    }

    /// A server dies on the spot.
    fn crash(&mut self, at: usize) {
        let server = self.servers.remove(at);
        self.trace.note(self.now, || format!("server {} dies", server.id));
        self.history.crashes += 1;
        self.lose(server);
    }

    fn lose(&mut self, server: Server) {
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

    /// Lets every server do what it has to, and writes what they said.
    fn step_servers(&mut self) -> Result<(), Failure> {
        let mut at = 0;
        while at < self.servers.len() {
            if self.servers[at].busy_until > self.now {
                at += 1;
                continue;
            }
            let told = self.server_time(&self.servers[at]);
            match self.servers[at].driven.step(told) {
                Ok(()) => {
                    self.sample(at);
                    self.write(at)?;
                    at += 1;
                }
                Err(error) => self.beaten(at, &error)?,
            }
        }
        Ok(())
    }

    /// What a server believes the time to be.
    fn server_time(&self, server: &Server) -> Millis {
        match self.sabotage {
            Some(Sabotage::FastClock) => self.now + (self.now - server.started) / 4,
            _ => self.now,
        }
    }

    /// A server ends by itself only if another one took a stream from it.
    fn beaten(&mut self, at: usize, error: &EngineError) -> Result<(), Failure> {
        let server = self.servers.remove(at);
        let conflict = matches!(error, EngineError::Append(_)) && self.disk.was_beaten(server.id);
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

    fn sample(&mut self, at: usize) {
        let server = &self.servers[at];
        for bot in &self.bots {
            let here = server.driven.is_here(&bot.name);
            self.history.presence(bot.name.as_str(), server.id, here, self.now);
        }
    }

    /// Writes what waits in the outboxes of a server, as far as the links take it.
    fn write(&mut self, at: usize) -> Result<(), Failure> {
        let links: Vec<usize> = self.servers[at].sockets.keys().copied().collect();
        for link in links {
            loop {
                let full = self.links[link].coming >= self.links[link].window;
                let Some(socket) = self.servers[at].sockets.get_mut(&link) else { break };
                self.history.waiting_max = self.history.waiting_max.max(socket.waiting());
                if full {
                    break;
                }
                let Some(line) = socket.write_one(self.now) else { break };
                self.say(at, link, line)?;
            }
            let Some(socket) = self.servers[at].sockets.get(&link) else { continue };
            let over = socket.is_over();
            if socket.is_dropped() && !self.links[link].dropped {
                self.links[link].dropped = true;
                let (bot, server) = (self.links[link].bot, self.links[link].server);
                self.history.end(&player_name(bot), server, self.now);
            }
            if over {
                self.servers[at].sockets.remove(&link);
                let delay_ms_max = self.delay_ms_max();
                let end_at = self.links[link].to_bot(self.now, delay_ms_max, &mut self.rng);
                self.at(end_at, Happening::BotSeesEnd(link));
            }
        }
        Ok(())
    }

    fn delay_ms_max(&self) -> u64 {
        if self.healed { 5 } else { self.plan.delay_ms_max }
    }

    /// A line leaves a server.
    fn say(&mut self, at: usize, link: usize, line: Vec<u8>) -> Result<(), Failure> {
        let text = String::from_utf8_lossy(&line).into_owned();
        let Some(text) = self.tamper(link, text) else { return Ok(()) };
        let said: Said = serde_json::from_str(&text)
            .map_err(|error| Failure::new("effects", format!("no message: {error}: {text}")))?;
        let (server, bot) = (self.servers[at].id, self.links[link].bot);
        let player = player_name(bot);
        self.history.lines += 1;
        self.trace.note(self.now, || format!("{server} > {player}: {}", brief(&text)));
        let spoken = Spoken { player: &player, said: &said, text: &text, secrets: &self.secrets };
        self.disk.look(|index| invariants::when_spoken(&spoken, index))?;
        if let (Some(id), "request") = (&said.id, said.kind.as_str()) {
            let limit_ms = said.deadline_ms.unwrap_or(0);
            let written = Written { at: self.now, server, limit_ms };
            self.history.written.entry((player, id.clone())).or_default().push(written);
        }
        if self.links[link].up {
            let delay_ms_max = self.delay_ms_max();
            let at = self.links[link].to_bot(self.now, delay_ms_max, &mut self.rng);
            self.links[link].coming += 1;
            self.at(at, Happening::ToBot(link, Rc::new(said)));
        }
        Ok(())
    }

    /// Planted bugs on the way out.
    fn tamper(&mut self, link: usize, text: String) -> Option<String> {
        let secret = || self.secrets.last().cloned().unwrap_or_default();
        match self.sabotage {
            Some(Sabotage::LeakSecret) if text.contains(r#""type":"request""#) => {
                let hint = format!(r#"{{"hint":"{}","#, secret());
                Some(text.replacen('{', &hint, 1))
            }
            Some(Sabotage::LeakTurn) if text.contains(r#""now":["#) => {
                let play = r#"{"rolls":[[1,2,3,4,5]],"kept":[],"scored":null}"#;
                let shown = text.replacen(r#""now":[null,"#, &format!(r#""now":[{play},"#), 1);
                Some(shown.replacen(
                    ",null],\"unfinished\"",
                    &format!(",{play}],\"unfinished\""),
                    1,
                ))
            }
            Some(Sabotage::LoseNotice) if text.contains("match-over") && link % 2 == 1 => None,
            _ => Some(text),
        }
    }

    /// A line arrives at a player.
    fn tell(&mut self, link: usize, said: &Said) {
        self.links[link].coming -= 1;
        if !self.links[link].open {
            return;
        }
        let bot = self.links[link].bot;
        if said.kind == "error" && said.code.as_deref() == Some("taken-over") {
            return;
        }
        let acts = self.bots[bot].hear(said, self.now);
        acts.into_iter().for_each(|act| self.act(link, act));
    }

    fn act(&mut self, link: usize, act: Act) {
        match act {
            Act::Send(after_ms, line) => self.at(self.now + after_ms, Happening::Send(link, line)),
            Act::Cut(after_ms) => self.at(self.now + after_ms, Happening::Cut(link)),
            Act::Stall(ms) => self.links[link].unread_until = self.now + ms,
            Act::Second => self.connect(self.links[link].bot),
        }
    }

    fn connect(&mut self, bot: usize) {
        if self.servers.is_empty() {
            return;
        }
        let at = self.rng.below(self.servers.len() as u64) as usize;
        let window = self.rng.between(4, 40) as usize;
        let server = &mut self.servers[at];
        let socket = server.driven.connect();
        let link = self.links.len();
        server.sockets.insert(link, socket);
        self.links.push(Link::new(bot, server.id, window));
        self.current[bot] = Some(link);
        self.bots[bot].logged_in = false;
    }

    fn wake(&mut self, bot: usize) {
        let open = self.current[bot].filter(|link| self.links[*link].open);
        match open {
            None => {
                self.current[bot] = None;
                self.connect(bot);
            }
            Some(link) => {
                let acts = self.bots[bot].ask_lobby();
                acts.into_iter().for_each(|act| self.act(link, act));
            }
        }
        // As long as something may be left to do, it looks again.
        if !self.healed || !self.unfinished().is_empty() || self.wants(bot) {
            let after_ms = self.rng.between(100, 1_500);
            self.at(self.now + after_ms, Happening::Wake(bot));
        }
    }

    /// Whether a player has yet to come back, or the operator to announce something.
    fn wants(&self, bot: usize) -> bool {
        let desk = &self.bots[0].record;
        let said = |cup: &crate::plan::Cup| {
            let key = ("announce".to_owned(), cup.id.clone());
            desk.done.contains(&key) || desk.refused.contains(&key)
        };
        !self.bots[bot].logged_in || !self.plan.cups.iter().all(said)
    }

    fn send(&mut self, link: usize, line: String) {
        if !self.links[link].open || !self.links[link].up {
            return;
        }
        let delay_ms_max = self.delay_ms_max();
        let at = self.links[link].to_server(self.now, delay_ms_max, &mut self.rng);
        self.at(at, Happening::ToServer(link, line));
    }

    /// A line arrives at a server.
    fn arrive(&mut self, link: usize, line: &str) {
        let Link { server, bot, up, .. } = self.links[link];
        if !up {
            return;
        }
        let Some(at) = self.servers.iter().position(|one| one.id == server) else { return };
        let player = player_name(bot);
        self.trace.note(self.now, || format!("{server} < {player}: {}", brief(line)));
        // What comes on a connection the server is done with is heard by nobody.
        if self.servers[at].sockets.get(&link).is_none_or(Socket::is_dropped) {
            return;
        }
        self.note_heard(&player, server, line);
        let (link, line) = self.mishear(at, link, line);
        let told = self.server_time(&self.servers[at]);
        let Server { driven, sockets, .. } = &mut self.servers[at];
        if let Some(socket) = sockets.get_mut(&link) {
            driven.hear(socket, format!("{line}\n").as_bytes(), told);
        }
    }

    fn note_heard(&mut self, player: &str, server: u32, line: &str) {
        match serde_json::from_str::<Answer>(line) {
            Ok(Answer { kind, id, answer }) if kind == "answer" => {
                let answer = answer.get().to_owned();
                let heard = Heard { at: self.now, server, answer };
                self.history.heard.entry((player.to_owned(), id)).or_default().push(heard);
            }
            _ => self.history.bad.entry(player.to_owned()).or_default().push(line.to_owned()),
        }
    }

    /// Planted bugs on the way in.
    fn mishear(&self, at: usize, link: usize, line: &str) -> (usize, String) {
        let said = serde_json::from_str::<Answer>(line).ok();
        match (self.sabotage, said) {
            (Some(Sabotage::StaleId), Some(said)) => {
                let player = player_name(self.links[link].bot);
                let own = self.history.written.iter().filter(|((who, _), _)| *who == player);
                let latest = own.max_by_key(|(_, all)| all.last().map(|written| written.at));
                let id = latest.map_or(said.id, |((_, id), _)| id.clone());
                (link, format!(r#"{{"type":"answer","id":"{id}","answer":{}}}"#, said.answer))
            }
            (Some(Sabotage::Misroute), Some(_)) if self.now % 7 == 0 => {
                let bot = self.links[link].bot;
                let mut others = self.servers[at].sockets.keys();
                let other = others.find(|other| self.links[**other].bot != bot);
                (other.copied().unwrap_or(link), line.to_owned())
            }
            _ => (link, line.to_owned()),
        }
    }

    /// A connection breaks: what is on its way is lost, and each end notices in its own time.
    fn cut(&mut self, link: usize) {
        if !self.links[link].up {
            return;
        }
        let bot = self.links[link].bot;
        self.trace.note(self.now, || format!("a connection of {} is cut", player_name(bot)));
        self.history.cuts += 1;
        self.history.cuts_of.entry(player_name(bot)).or_default().push(self.now);
        self.links[link].up = false;
        let after_ms = self.rng.between(0, self.plan.delay_ms_max * 3);
        self.at(self.now + after_ms, Happening::ServerSeesEnd(link));
        let after_ms = self.rng.between(0, 1_000);
        self.at(self.now + after_ms, Happening::BotSeesEnd(link));
    }

    fn server_sees_end(&mut self, link: usize) {
        let Link { server, bot, .. } = self.links[link];
        let Some(at) = self.servers.iter().position(|one| one.id == server) else { return };
        if let Some(socket) = self.servers[at].sockets.remove(&link) {
            self.history.end(&player_name(bot), server, self.now);
            self.servers[at].driven.close(socket);
        }
    }

    fn bot_sees_end(&mut self, link: usize) {
        let bot = self.links[link].bot;
        self.links[link].open = false;
        self.links[link].up = false;
        if self.current[bot] == Some(link) {
            self.bots[bot].logged_in = false;
            self.current[bot] = None;
        }
    }
}

impl World {
    /// Shows the streams of tournaments, if anything is shown.
    pub(crate) fn trace_log(&mut self) {
        if !self.trace.is_printed() {
            return;
        }
        for (name, entries) in self.disk.streams() {
            for entry in entries.iter().filter(|_| name.starts_with("tournament/")) {
                self.trace
                    .note(entry.line.at, || format!("log of {}: {}", entry.writer, entry.text));
            }
        }
    }

    /// What there was.
    pub(crate) fn figures(&self) -> Figures {
        let streams = self.disk.streams();
        let (_, lost, torn) = self.disk.figures();
        let History { lines, crashes, conflicts, cuts, .. } = self.history;
        let mut figures =
            Figures { seeds: 1, lines, crashes, conflicts, cuts, lost, torn, ..Figures::default() };
        for entry in streams.values().flatten() {
            figures.events += 1;
            match &entry.line.event {
                Event::GameEnded(_) => figures.games += 1,
                Event::AnswerAccepted(_) => figures.answers += 1,
                Event::PlayerLeft(_) | Event::PlayerFaulted(_) | Event::WaitExpired(_) => {
                    figures.faults += 1;
                }
                _ => {}
            }
            for byte in entry.text.bytes() {
                figures.digest = (figures.digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
        figures
    }
}

/// The beginning of a line.
fn brief(text: &str) -> &str {
    let text = text.trim_end();
    text.char_indices().nth(160).map_or(text, |(end, _)| &text[..end])
}
