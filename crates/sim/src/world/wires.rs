//! Traffic: bytes both ways, the players' reactions to them, and connections that break.

use super::{Happening, Server, World};
use crate::bot::{Act, Out};
use crate::history::{Heard, Written};
use crate::invariants::{self, Failure, Spoken};
use crate::network::{Call, Coming, Link};
use crate::plan::{player_name, token};
use crate::sabotage::Sabotage;
use crate::said::{Answer, Asked, Said};
use crate::socket::{Origin, Socket, WrittenCall, Wrote};
use crate::way::{Read, Reader, Way};
use std::rc::Rc;

impl World {
    /// A server sends a message.
    pub(super) fn say(&mut self, at: usize, link: usize, wrote: Wrote) -> Result<(), Failure> {
        let (server, bot) = (self.servers[at].id, self.links[link].bot);
        let player = player_name(bot);
        let way = self.links[link].way;
        let Wrote { bytes, line, call: asked, origin } = wrote;
        let (bytes, coming) = match line {
            Some(line) => {
                let text = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
                let Some(sent) = self.tamper(link, text.clone()) else { return Ok(()) };
                let said: Said = serde_json::from_str(&sent).map_err(|error| {
                    Failure::new("effects", format!("no message: {error}: {sent}"))
                })?;
                self.speak(server, link, (&said, &sent), origin)?;
                let text = text.into_bytes();
                (bytes, vec![Coming { said: Some(Rc::new(said)), text }])
            }
            None => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let said = asked.as_ref().and_then(|asked| call(asked, &text));
                match &said {
                    Some(said) => self.speak(server, link, (said, &text), origin)?,
                    None => self.trace.note(self.now, || format!("{server} > {player}: {text}")),
                }
                if let Some(asked) = asked.filter(|asked| asked.replies) {
                    let at = self.clock_of(server);
                    let written = Written { at, server, limit_ms: asked.limit_ms };
                    let call = Call { request: asked.request, written };
                    self.links[link].calls.push_back(call);
                    self.pair(link);
                }
                let coming = parts(way, &bytes, said);
                (bytes, coming)
            }
        };
        if self.links[link].up && !bytes.is_empty() {
            self.links[link].coming.extend(coming);
            let delay_ms_max = self.delay_ms_max();
            let cut = if bytes.len() > 1 && self.rng.chance(80) {
                self.rng.between(1, bytes.len() as u64 - 1) as usize
            } else {
                bytes.len()
            };
            for piece in
                [&bytes[..cut], &bytes[cut..]].into_iter().filter(|piece| !piece.is_empty())
            {
                let at = self.links[link].reaches_bot(self.now, delay_ms_max, &mut self.rng);
                self.at(at, Happening::ToBot(link, piece.to_vec()));
            }
        }
        Ok(())
    }

    /// Checks a message against the durable events, and records it.
    fn speak(
        &mut self,
        server: u32,
        link: usize,
        (said, text): (&Said, &str),
        origin: Option<Origin>,
    ) -> Result<(), Failure> {
        let Link { bot, behind, .. } = self.links[link];
        let player = player_name(bot);
        self.history.lines += 1;
        self.trace.note(self.now, || format!("{server} > {player}: {}", brief(text)));
        let superseded_at = self.superseded_at(server).flatten();
        if origin.zip(superseded_at).is_some_and(|(origin, at)| origin.put_at >= at) {
            let what = format!("node {server} sent {player} a line, but it did not own the log");
            return Err(Failure::new("silence", format!("{what}: {}", brief(text))));
        }
        // A delayed message may repeat an older decision; so may one that waits for a reply.
        let is_fresh = self.knows_all(server) && !behind;
        let decided_at = origin.filter(|_| is_fresh).map(Origin::not_before);
        let spoken = Spoken { player: &player, said, text, decided_at, secrets: &self.secrets };
        self.disk.look(|index| invariants::when_spoken(&spoken, index))?;
        if let (Some(id), "request") = (&said.id, said.kind.as_str()) {
            let limit_ms = said.deadline_ms.unwrap_or(0);
            let written = Written { at: self.clock_of(server), server, limit_ms };
            let key = (player, id.clone());
            self.history.written.entry(key).or_default().push(written);
        }
        Ok(())
    }

    /// Planted bugs in messages to players.
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

    /// Bytes arrive at a player. The messages they complete must be those that the server sent.
    pub(super) fn read(&mut self, link: usize, bytes: &[u8]) -> Result<(), Failure> {
        if !self.links[link].open {
            self.links[link].coming.clear();
            return Ok(());
        }
        self.links[link].reader.push(bytes);
        while let Some(read) = self.links[link].reader.take() {
            let text = match read {
                Read::Text(text) => text,
                Read::Nothing => continue,
                Read::Broken(why) => return Err(Failure::new("frames", why)),
            };
            let due = self.links[link].coming.pop_front();
            match due {
                Some(Coming { said, text: due }) if due == text => {
                    self.tell(link, said.as_deref(), &text);
                }
                due => {
                    let due = due.map(|due| String::from_utf8_lossy(&due.text).into_owned());
                    let read = String::from_utf8_lossy(&text);
                    let what = format!("{read} was read where {due:?} was said");
                    return Err(Failure::new("frames", what));
                }
            }
        }
        Ok(())
    }

    /// A player reads a message.
    fn tell(&mut self, link: usize, said: Option<&Said>, text: &[u8]) {
        let Link { bot, way, .. } = self.links[link];
        let acts = match said {
            Some(said) if way.is_native() => {
                let taken = said.code.as_deref() == Some("taken-over");
                if said.kind == "error" && taken {
                    return;
                }
                if said.code.as_deref() == Some("wrong-credentials") {
                    self.renew_token(link);
                }
                self.bots[bot].hear(said)
            }
            said => self.bots[bot].called(way, said, &String::from_utf8_lossy(text)),
        };
        acts.into_iter().for_each(|act| self.act(link, act));
    }

    /// An operator who logs a player out revokes their token; the player gets a new one.
    fn renew_token(&mut self, link: usize) {
        let Link { bot, server, .. } = self.links[link];
        if let Some(server) = self.servers.iter_mut().find(|one| one.id == server) {
            server.driver.token(self.bots[bot].name.clone(), &token(bot));
        }
    }

    pub(super) fn act(&mut self, link: usize, act: Act) {
        match act {
            Act::Send(after_ms, out) => self.at(self.now + after_ms, Happening::Send(link, out)),
            Act::Cut(after_ms) => self.at(self.now + after_ms, Happening::Cut(link)),
            Act::Stall(ms) => self.links[link].unread_until = self.now + ms,
            Act::Second => self.connect(self.links[link].bot),
            Act::CutAll(after_ms) => {
                let bot = self.links[link].bot;
                let own = (0..self.links.len()).filter(|at| self.links[*at].bot == bot);
                for link in own.collect::<Vec<_>>() {
                    self.at(self.now + after_ms, Happening::Cut(link));
                }
            }
        }
    }

    pub(super) fn connect(&mut self, bot: usize) {
        if self.servers.is_empty() {
            return;
        }
        let at = self.rng.below(self.servers.len() as u64) as usize;
        let window = self.rng.between(4, 40) as usize;
        let way = self.way_of(bot);
        let server_now = self.server_time(&self.servers[at]);
        let over = way.over(self.plan.peers.as_ref());
        let server = &mut self.servers[at];
        let socket = server.driver.connect(over, server_now);
        let link = self.links.len();
        server.sockets.insert(link, socket);
        let id = server.id;
        self.links.push(Link::new(bot, id, way, window));
        // Players give a server up that does not answer.
        if !self.may_act(id) {
            let after_ms = self.rng.between(300, 3_000);
            self.at(self.now + after_ms, Happening::Cut(link));
        }
        self.current[bot] = Some(link);
        self.bots[bot].logged_in = !way.is_native();
        if !way.is_native() {
            let name = Out::Words(way.sign_up(self.bots[bot].name.as_str()));
            self.at(self.now, Happening::Send(link, name));
            self.look_later(at, link);
        }
    }

    /// The protocol a player uses for this connection.
    fn way_of(&mut self, bot: usize) -> Way {
        let series = self.plan.peers.as_ref().map(|peers| peers.series.game.as_str());
        match series.filter(|_| self.bots[bot].is_peer()) {
            Some("trains") => Way::Trains,
            Some(_) => *self.rng.pick(&[Way::Call, Way::Call, Way::Message]),
            None => *self.rng.pick(&[Way::Lines, Way::Lines, Way::Frames]),
        }
    }

    pub(super) fn wake(&mut self, bot: usize) {
        let open = self.current[bot].filter(|link| self.links[*link].open);
        // After healing, no player enters another tournament of the series.
        let name = self.bots[bot].name.as_str();
        let away = self.healed && self.bots[bot].is_peer();
        let away = away && !self.disk.look(|index| index.plays(name));
        match open {
            None if away => self.bots[bot].logged_in = true,
            None => {
                self.current[bot] = None;
                self.connect(bot);
            }
            Some(link) if self.links[link].way.is_native() => {
                let acts = self.bots[bot].look_around();
                acts.into_iter().for_each(|act| self.act(link, act));
            }
            Some(_) => {}
        }
        // The player wakes again as long as something may be left to do.
        if !self.healed || !self.unfinished().is_empty() || self.wants(bot) {
            let after_ms = self.rng.between(100, 1_500);
            self.at(self.now + after_ms, Happening::Wake(bot));
        }
    }

    /// Returns whether a player has yet to reconnect, or the operator to announce something.
    fn wants(&self, bot: usize) -> bool {
        !self.bots[bot].logged_in || !self.is_announced()
    }

    /// A player sends something.
    pub(super) fn send(&mut self, link: usize, out: Out) {
        if !self.links[link].open || !self.links[link].up {
            return;
        }
        let (link, text, meant) = self.mishear(link, out);
        let way = self.links[link].way;
        let bytes = match text {
            Out::Line(line) if way.is_native() => way.encode(&line, &mut self.rng),
            Out::Line(line) => match serde_json::from_str::<Answer>(&line) {
                Ok(said) => way.encode(&way.words(said.answer.get()), &mut self.rng),
                Err(_) => way.encode(&line, &mut self.rng),
            },
            Out::Words(words) => way.encode(&words, &mut self.rng),
            // Raw bytes go unchanged into a WebSocket; on other connections they form a line.
            Out::Bytes(bytes) if way == Way::Frames => bytes,
            Out::Bytes(bytes) => [&bytes[..], b"\n"].concat(),
        };
        self.links[link].put(&bytes, meant);
        self.flush(link);
    }

    /// Sends the bytes that the player's system holds, or a piece of them.
    pub(super) fn flush(&mut self, link: usize) {
        if !self.links[link].up {
            return;
        }
        let (piece, more) = self.links[link].piece(&mut self.rng);
        if !piece.is_empty() {
            let delay_ms_max = self.delay_ms_max();
            let at = self.links[link].reaches_server(self.now, delay_ms_max, &mut self.rng);
            self.at(at, Happening::ToServer(link, piece));
        }
        if more {
            let after_ms = self.rng.between(0, 20);
            self.at(self.now + after_ms, Happening::Flush(link));
        }
    }

    /// Bytes arrive at a server.
    pub(super) fn arrive(&mut self, link: usize, bytes: &[u8]) -> Result<(), Failure> {
        let Link { server, bot, up, .. } = self.links[link];
        if !up {
            return Ok(());
        }
        let whole = self.links[link].arrived(bytes.len());
        let Some(at) = self.servers.iter().position(|one| one.id == server) else {
            return Ok(());
        };
        let player = player_name(bot);
        for sent in &whole {
            self.trace.note(self.now, || format!("{server} < {player}: {}", brief(&sent.text)));
        }
        // The server ignores bytes on a connection that it has dropped.
        if self.servers[at].sockets.get(&link).is_none_or(Socket::is_dropped) {
            return Ok(());
        }
        whole.into_iter().for_each(|sent| self.note_heard(link, sent.text));
        if !self.links[link].way.is_native() {
            self.history
                .spoken
                .entry(player)
                .or_default()
                .push_str(&String::from_utf8_lossy(bytes));
        }
        let bytes = self.merge(bytes);
        let server_now = self.server_time(&self.servers[at]);
        let Server { driver, sockets, .. } = &mut self.servers[at];
        if let Some(socket) = sockets.get_mut(&link) {
            driver.hear(socket, &bytes, server_now);
        }
        self.look_later(at, link);
        // A gateway sends the next call as soon as it has the reply to the last one, also while the
        // engine stands still.
        match self.links[link].way.is_native() || !self.may_act(server) {
            true => Ok(()),
            false => self.write_link(at, link),
        }
    }

    /// A planted bug of the gateway: some messages run into the next.
    fn merge(&self, bytes: &[u8]) -> Vec<u8> {
        let lost =
            self.sabotage == Some(Sabotage::MergeLines) && self.now.as_ms().is_multiple_of(5);
        let lost = lost && !self.healed;
        bytes.iter().copied().filter(|byte| !lost || *byte != b'\n').collect()
    }

    fn note_heard(&mut self, link: usize, text: String) {
        let Link { bot, server, way, .. } = self.links[link];
        let player = player_name(bot);
        let answer = serde_json::from_str::<Answer>(&text).ok();
        match answer.filter(|said| said.kind == "answer") {
            Some(Answer { id, answer, .. }) if way.is_native() => {
                let answer = answer.get().to_owned();
                let step = (link, self.step_of(server));
                let heard = Heard { at: self.clock_of(server), server, answer, step };
                self.history.heard.entry((player, id)).or_default().push(heard);
            }
            // On these protocols any value answers the next call.
            Some(Answer { answer, .. }) => {
                let words = way.words(answer.get());
                self.history.bad.entry(player).or_default().push(words);
                let at = self.clock_of(server);
                self.links[link].values.push_back((at, answer.get().to_owned()));
                self.pair(link);
            }
            None => {
                self.history.bad.entry(player).or_default().push(text.clone());
                let name = way.sign_up(self.bots[bot].name.as_str());
                if !way.is_native() && text != name {
                    let at = self.clock_of(server);
                    self.links[link].values.push_back((at, text));
                    self.pair(link);
                }
            }
        }
    }

    /// How many steps a server has taken.
    pub(super) fn step_of(&self, server: u32) -> u64 {
        self.servers.iter().find(|one| one.id == server).map_or(0, |one| one.steps)
    }

    /// Matches replies to calls in order, as the world saw them.
    fn pair(&mut self, link: usize) {
        let Link { bot, server, .. } = self.links[link];
        while !self.links[link].calls.is_empty() && !self.links[link].values.is_empty() {
            let one = &mut self.links[link];
            let (Some(call), Some((at, answer))) = (one.calls.pop_front(), one.values.pop_front())
            else {
                return;
            };
            let at = at.max(call.written.at);
            let Some(id) = call.request else {
                let in_time = at <= call.written.at + call.written.limit_ms;
                self.history
                    .courtesies
                    .entry(player_name(bot))
                    .or_default()
                    .push((call.written, in_time));
                continue;
            };
            self.history.peers += 1;
            let step = (link, self.step_of(server));
            let heard = Heard { at, server, answer: answer.clone(), step };
            let key = (player_name(bot), id.clone());
            self.history.heard.entry(key).or_default().push(heard);
            self.bots[bot].record.sent.entry(id).or_default().push(answer);
        }
    }

    /// Planted bugs in messages to the server: the connection it arrives on, what the server reads,
    /// and what the player meant.
    fn mishear(&self, link: usize, out: Out) -> (usize, Out, String) {
        let meant = match &out {
            Out::Line(text) | Out::Words(text) => text.clone(),
            Out::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        };
        let native = self.links[link].way.is_native();
        let said = serde_json::from_str::<Answer>(&meant).ok().filter(|_| native);
        match (self.sabotage, said) {
            (Some(Sabotage::StaleId), Some(said)) => {
                let player = player_name(self.links[link].bot);
                let own = self.history.written.iter().filter(|((who, _), _)| *who == player);
                let latest = own.max_by_key(|(_, all)| all.last().map(|written| written.at));
                let id = latest.map_or(said.id, |((_, id), _)| id.clone());
                let line = format!(r#"{{"type":"answer","id":"{id}","answer":{}}}"#, said.answer);
                (link, Out::Line(line), meant)
            }
            (Some(Sabotage::Misroute), Some(_)) if self.now.as_ms().is_multiple_of(7) => {
                let Link { bot, server, .. } = self.links[link];
                let other = self.links.iter().position(|other| {
                    other.up && other.server == server && other.bot != bot && other.way.is_native()
                });
                (other.unwrap_or(link), out, String::new())
            }
            (Some(Sabotage::AcceptForOthers), None) if meant.contains(r#""reject""#) => {
                (link, Out::Line(meant.replacen("reject", "accept", 1)), meant)
            }
            _ => (link, out, meant),
        }
    }

    /// A connection breaks. Bytes in flight are lost, and each end notices in its own time.
    pub(super) fn cut(&mut self, link: usize) {
        if !self.links[link].up {
            return;
        }
        let Link { bot, server, .. } = self.links[link];
        self.trace.note(self.now, || format!("a connection of {} is cut", player_name(bot)));
        self.history.cuts += 1;
        self.links[link].up = false;
        let after_ms = self.rng.between(0, self.plan.delay_ms_max * 3);
        let seen_at = self.now + after_ms;
        let clock = self.clock_of(server);
        self.history.cuts_of.entry(player_name(bot)).or_default().push(clock + after_ms);
        self.at(seen_at, Happening::ServerSeesEnd(link));
        let after_ms = self.rng.between(0, 1_000);
        self.at(self.now + after_ms, Happening::BotSeesEnd(link));
    }

    pub(super) fn server_sees_end(&mut self, link: usize) {
        let Link { server, bot, .. } = self.links[link];
        let Some(at) = self.servers.iter().position(|one| one.id == server) else { return };
        if let Some(socket) = self.servers[at].sockets.remove(&link) {
            self.history.end(&player_name(bot), server, None);
            self.servers[at].driver.hang_up(socket);
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

/// A call as a request, if it is one of a game.
fn call(asked: &WrittenCall, text: &str) -> Option<Said> {
    let (question, view) = asked.question.as_ref()?;
    let id = asked.request.as_ref()?;
    let raw = |json: &[u8]| serde_json::from_slice(json).ok();
    Some(Said {
        kind: "request".into(),
        id: Some(id.clone()),
        seat: Asked::parse(id).map(|asked| asked.seat),
        deadline_ms: Some(asked.limit_ms),
        question: raw(question),
        view: raw(view),
        detail: Some(text.to_owned()),
        ..Said::default()
    })
}

/// The values that were written; the last of them is the call.
fn parts(way: Way, bytes: &[u8], mut said: Option<Said>) -> Vec<Coming> {
    let mut reader = Reader::new(way);
    reader.push(bytes);
    let read = std::iter::from_fn(|| reader.take());
    let texts = read.filter_map(|read| match read {
        Read::Text(text) => Some(text),
        Read::Nothing | Read::Broken(_) => None,
    });
    let texts: Vec<Vec<u8>> = texts.collect();
    let last = texts.len();
    let coming = texts.into_iter().zip(1..).map(|(text, at)| {
        let said = if at == last { said.take().map(Rc::new) } else { None };
        Coming { said, text }
    });
    coming.collect()
}

/// The beginning of a line.
fn brief(text: &str) -> &str {
    let text = text.trim_end();
    text.char_indices().nth(160).map_or(text, |(end, _)| &text[..end])
}
