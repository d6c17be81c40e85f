//! What goes over the wires: lines both ways, what players do about them, connections that break.

use super::{Happening, Server, World};
use crate::bot::Act;
use crate::history::{Heard, Written};
use crate::invariants::{self, Failure, Spoken};
use crate::network::Link;
use crate::plan::player_name;
use crate::sabotage::Sabotage;
use crate::said::{Answer, Said};
use agon_server::Socket;
use std::rc::Rc;

impl World {
    /// A line leaves a server.
    pub(super) fn say(&mut self, at: usize, link: usize, line: Vec<u8>) -> Result<(), Failure> {
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
            let at = self.links[link].reaches_bot(self.now, delay_ms_max, &mut self.rng);
            self.links[link].coming += 1;
            self.at(at, Happening::ToBot(link, Rc::new(said)));
        }
        Ok(())
    }

    /// Planted bugs on the way out.
    pub(super) fn tamper(&mut self, link: usize, text: String) -> Option<String> {
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
    pub(super) fn tell(&mut self, link: usize, said: &Said) {
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

    pub(super) fn act(&mut self, link: usize, act: Act) {
        match act {
            Act::Send(after_ms, line) => self.at(self.now + after_ms, Happening::Send(link, line)),
            Act::Cut(after_ms) => self.at(self.now + after_ms, Happening::Cut(link)),
            Act::Stall(ms) => self.links[link].unread_until = self.now + ms,
            Act::Second => self.connect(self.links[link].bot),
        }
    }

    pub(super) fn connect(&mut self, bot: usize) {
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

    pub(super) fn wake(&mut self, bot: usize) {
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
    pub(super) fn wants(&self, bot: usize) -> bool {
        !self.bots[bot].logged_in || !self.is_announced()
    }

    pub(super) fn send(&mut self, link: usize, line: String) {
        if !self.links[link].open || !self.links[link].up {
            return;
        }
        let delay_ms_max = self.delay_ms_max();
        let at = self.links[link].reaches_server(self.now, delay_ms_max, &mut self.rng);
        self.at(at, Happening::ToServer(link, line));
    }

    /// A line arrives at a server.
    pub(super) fn arrive(&mut self, link: usize, line: &str) {
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

    pub(super) fn note_heard(&mut self, player: &str, server: u32, line: &str) {
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
    pub(super) fn mishear(&self, at: usize, link: usize, line: &str) -> (usize, String) {
        let said = serde_json::from_str::<Answer>(line).ok();
        match (self.sabotage, said) {
            (Some(Sabotage::StaleId), Some(said)) => {
                let player = player_name(self.links[link].bot);
                let own = self.history.written.iter().filter(|((who, _), _)| *who == player);
                let latest = own.max_by_key(|(_, all)| all.last().map(|written| written.at));
                let id = latest.map_or(said.id, |((_, id), _)| id.clone());
                (link, format!(r#"{{"type":"answer","id":"{id}","answer":{}}}"#, said.answer))
            }
            (Some(Sabotage::Misroute), Some(_)) if self.now.is_multiple_of(7) => {
                let bot = self.links[link].bot;
                let mut others = self.servers[at].sockets.keys();
                let other = others.find(|other| self.links[**other].bot != bot);
                (other.copied().unwrap_or(link), line.to_owned())
            }
            _ => (link, line.to_owned()),
        }
    }

    /// A connection breaks: what is on its way is lost, and each end notices in its own time.
    pub(super) fn cut(&mut self, link: usize) {
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

    pub(super) fn server_sees_end(&mut self, link: usize) {
        let Link { server, bot, .. } = self.links[link];
        let Some(at) = self.servers.iter().position(|one| one.id == server) else { return };
        if let Some(socket) = self.servers[at].sockets.remove(&link) {
            self.history.end(&player_name(bot), server, self.now);
            self.servers[at].driven.close(socket);
        }
    }

    pub(super) fn bot_sees_end(&mut self, link: usize) {
        let bot = self.links[link].bot;
        self.links[link].open = false;
        self.links[link].up = false;
        if self.current[bot] == Some(link) {
            self.bots[bot].logged_in = false;
            self.current[bot] = None;
        }
    }
}

/// The beginning of a line.
fn brief(text: &str) -> &str {
    let text = text.trim_end();
    text.char_indices().nth(160).map_or(text, |(end, _)| &text[..end])
}
