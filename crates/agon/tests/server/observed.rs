//! A whole match, with everything that anybody heard of it: two players that come back again and
//! again on the other transport, observers of its events, and somebody who reads every page all the
//! time.

use crate::support::{Place, Server, until};
use crate::wire::{Transport, Watched, Wire, connect, house_answer, http, login, page, password};
use agon_bots::Houses;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::thread::{JoinHandle, ScopedJoinHandle};

/// A player takes its account to another connection after so many requests.
const REQUESTS_A_CONNECTION: usize = 7;

/// Pages that everybody may see.
const PAGES: [&str; 9] = [
    "/api/v1/tournaments",
    "/api/v1/tournaments/duel",
    "/api/v1/tournaments/duel/matches/r1m1",
    "/api/v1/accounts",
    "/api/v1/accounts/ann",
    "/api/v1/statistics/bob",
    "/api/v1/queues/yahtzee-queue",
    "/metrics",
    "/healthz",
];

/// Pages that are shown when it is over, and no sooner.
const LATER: [&str; 2] =
    ["/api/v1/tournaments/duel/log", "/api/v1/tournaments/duel/matches/r1m1/log"];

/// Somebody, and all that came to it.
pub(crate) struct Eyes {
    pub(crate) name: String,
    pub(crate) heard: Vec<String>,
}

impl Eyes {
    /// The messages it received before hidden parts became public, as JSON.
    pub(crate) fn before_the_end(&self) -> Vec<Value> {
        let all = self.heard.iter().filter_map(|text| serde_json::from_str::<Value>(text).ok());
        all.filter(|message| message["standing"] != "over").collect()
    }

    /// The seat it was asked in; observers have none.
    pub(crate) fn seat(&self) -> Option<usize> {
        let seats = self.before_the_end().into_iter().map(|message| message["seat"].as_u64());
        seats.flatten().next().map(|seat| seat as usize)
    }
}

/// A player's name and what only it should know.
pub(crate) struct Player {
    pub(crate) name: String,
    pub(crate) password: String,
    pub(crate) token: String,
    pub(crate) nonce: String,
}

/// A match that is over, and who saw what of it.
pub(crate) struct Observed {
    pub(crate) players: Vec<Player>,
    pub(crate) operator: String,
    eyes: Vec<Eyes>,
}

impl Observed {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Eyes> {
        self.eyes.iter()
    }
}

/// Plays a duel under a preset to its end, with these fields of its announcement.
pub(crate) fn observe(place: &Place, preset: &str, mut more: Value) -> Observed {
    let game = preset.split('-').next().expect("a word").to_owned();
    let watched = Watched::start(place, &["--seed", "5"]);
    let mut duel = ["ann", "bob"].map(|name| Duelist::arrive(&watched.server, &game, name));
    more["policy"] = json!({"match": {"time": {"answer_ms": 600_000}}});
    watched.announce("duel", preset, &["ann", "bob"], &more);
    let (server, mut public) = (&watched.server, Vec::new());
    let observers = ["", "/matches/r1m1"].map(|path| observer(server, path));
    std::thread::scope(|scope| {
        let playing: Vec<ScopedJoinHandle<'_, Vec<String>>> =
            duel.iter_mut().map(|duelist| scope.spawn(|| duelist.play(server))).collect();
        playing.into_iter().for_each(|played| public.extend(played.join().expect("it played")));
    });
    until("the duel is over", || place.is_over("duel"));
    public.extend(PAGES.map(|path| page(server, path)));
    let mut eyes = vec![Eyes { name: "the public".into(), heard: public }];
    for (observer, few) in observers.into_iter().zip([1, 2]) {
        let heard = observer.join().expect("it watched to the end");
        // Changes that come fast are shown as one: sure are the first event and the last.
        assert!(heard.len() >= few, "{} events", heard.len());
        eyes.push(Eyes { name: "an observer".into(), heard });
    }
    let mut players = Vec::new();
    for Duelist { player, wire, mut heard, .. } in duel {
        heard.extend(wire.heard);
        eyes.push(Eyes { name: player.name.clone(), heard });
        players.push(player);
    }
    assert_eq!(place.faults(), Vec::<String>::new());
    let operator = watched.operator.clone();
    watched.finish(place, "duel");
    Observed { players, operator, eyes }
}

/// One who plays, and looks at everything before every answer.
struct Duelist {
    player: Player,
    game: String,
    transport: Transport,
    wire: Wire,
    /// The messages it received on earlier connections.
    heard: Vec<String>,
}

impl Duelist {
    fn arrive(server: &Server, game: &str, name: &str) -> Duelist {
        let nonce = if name == "ann" { "a1" } else { "b2" }.repeat(32);
        let transport = if name == "ann" { Transport::Tcp } else { Transport::WebSocket };
        let mut wire = Wire::open(server, transport);
        wire.say(&hello(game, &nonce));
        wire.say(&login(name));
        let welcome = wire.hear_until("welcome");
        let token = welcome["token"].as_str().expect("a token").to_owned();
        let (name, password) = (name.to_owned(), password(name));
        let player = Player { name, password, token, nonce };
        Duelist { player, game: game.to_owned(), transport, wire, heard: Vec::new() }
    }

    /// Plays to the end of the tournament; gives the pages it read meanwhile.
    fn play(&mut self, server: &Server) -> Vec<String> {
        let mut public = Vec::new();
        let mut asked = 0;
        loop {
            let message = self.wire.hear().expect("the server goes on");
            if message["about"] == "tournament-over" {
                return public;
            }
            if message["type"] != "request" {
                continue;
            }
            asked += 1;
            // Nothing ends before this is answered.
            public.extend(PAGES.map(|path| page(server, path)));
            for path in LATER {
                let (status, body) = http(server, &self.player.token, "GET", path, &Value::Null);
                assert_eq!(status, 409, "{path}: {body}");
                public.push(body);
            }
            if asked % REQUESTS_A_CONNECTION == 0 {
                self.move_over(server, &message);
            }
            self.wire.say(&house_answer(&self.game, "random", &self.player.name, &message));
        }
    }

    /// Comes back on the other transport, where the open request comes again.
    fn move_over(&mut self, server: &Server, asked: &Value) {
        self.transport = match self.transport {
            Transport::Tcp => Transport::WebSocket,
            Transport::WebSocket => Transport::Tcp,
        };
        let mut next = Wire::open(server, self.transport);
        next.say(&hello(&self.game, &self.player.nonce));
        next.say(&json!({"type": "login", "token": self.player.token}));
        let again = next.hear_until("request");
        assert_eq!(again["id"], asked["id"]);
        let mut old = std::mem::replace(&mut self.wire, next);
        let rest = old.rest();
        assert!(rest.iter().any(|message| message["code"] == "taken-over"), "{rest:?}");
        self.heard.append(&mut old.heard);
    }
}

fn hello(game: &str, nonce: &str) -> Value {
    // With all of the past in every request: more to look at.
    let mut hello = json!({"type": "hello", "protocol": 1, "name": "test", "nonce": nonce});
    hello["history"] = true.into();
    let proposal = Houses::standard().make(game, "random").expect("the entry exists").propose();
    if let Some(map) = proposal {
        hello["proposal"] = serde_json::from_str(map.get()).expect("a proposal is JSON");
    }
    hello
}

/// Watches the events of the duel, or of its match, to their end; gives the data of all but that.
/// It watches already when this returns.
fn observer(server: &Server, path: &str) -> JoinHandle<Vec<String>> {
    let address = server.said["http"].as_str().expect("an address");
    let head = format!("GET /api/v1/tournaments/duel{path}/events HTTP/1.0\r\n\r\n");
    let mut events = None;
    until("there is something to watch", || {
        let mut socket = connect(address);
        socket.write_all(head.as_bytes()).expect("a request");
        let mut line = [0; 12];
        socket.read_exact(&mut line).expect("a status");
        events = line.ends_with(b" 200").then_some(socket);
        events.is_some()
    });
    let mut events = events.expect("they are watched");
    std::thread::spawn(move || {
        let mut text = String::new();
        events.read_to_string(&mut text).expect("events");
        let events = text.split("\n\n").filter(|event| !event.contains("event: end\n"));
        let data = events.flat_map(str::lines).filter_map(|line| line.strip_prefix("data: "));
        data.map(str::to_owned).collect()
    })
}
