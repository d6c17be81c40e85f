//! Logs to start from: small tournaments of every game, played at random through the real machines,
//! with a lobby before them and every kind of fault in them.

use crate::boards::GAMES;
use agon_bots::SplitMix64;
use agon_core::lobby::{AccountKind, Announcement, Cheat, Lobby, LobbyCommand, Role, Selection};
use agon_core::{
    Ask, Event, Fault, FaultKind, Match, MatchCommand, MatchId, MatchOrder, Nonce, Pairing,
    Pending, PlayerName, Preset, Raw, RequestId, RoundRobin, Ruling, Secret, Secrets, Timestamp,
    Tournament, TournamentAsk, TournamentCommand, TournamentOrder, TournamentPlan, Why,
    record_lines,
};
use std::collections::{BTreeMap, BTreeSet};

/// The lines of every stream, by its name.
pub(crate) type Streams = BTreeMap<String, Vec<String>>;

/// More steps than any of them takes.
const STEPS_MAX: usize = 20_000;

/// The tournament, and how erratic its players are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) preset: &'static str,
    pub(crate) config: &'static str,
    pub(crate) players: usize,
    pub(crate) round_robin: bool,
    /// One action in this many is odd; 0 means none.
    pub(crate) odd_in: usize,
    /// True if an operator interferes.
    pub(crate) ruled: bool,
}

/// Plays a tournament to its end.
pub(crate) fn play(wanted: Wanted, seed: u64) -> Streams {
    let mut world = World::new(wanted, seed);
    for _ in 0..STEPS_MAX {
        if world.tournament.is_over() {
            return world.end();
        }
        world.now += 1 + world.random.next_word() % 50;
        world.act();
    }
    panic!("{wanted:?} does not end");
}

struct World {
    wanted: Wanted,
    random: SplitMix64,
    now: u64,
    secret: Secret,
    lobby: Lobby,
    tournament: Tournament,
    matches: BTreeMap<MatchId, Match>,
    pauses: usize,
    streams: Streams,
}

impl World {
    fn new(wanted: Wanted, seed: u64) -> World {
        let (mut lobby, mut lines) = (Lobby::default(), Vec::new());
        let mut step = |lobby: &mut Lobby, command: LobbyCommand| -> Vec<Event> {
            let events = lobby.step(Timestamp::from_ms(900), command).expect("a good command");
            lines.extend(record_lines(
                "lobby",
                lines.len() as u64,
                Timestamp::from_ms(900),
                &events,
            ));
            events
        };
        for number in 1..=wanted.players {
            let (kind, role) = (AccountKind::Program, Role::Player);
            let account = name(&format!("p{number}"));
            let register =
                LobbyCommand::Register { account: account.clone(), kind, role, password: None };
            step(&mut lobby, register);
            step(&mut lobby, LobbyCommand::LogIn { account });
        }
        let secret = Secret::from_seed_number(seed);
        let announcement = Box::new(announcement(wanted));
        let (kept, absent) = (Some(secret.clone()), BTreeSet::new());
        let announce = LobbyCommand::Announce { announcement, secret: kept, absent };
        let started = step(&mut lobby, announce).into_iter().find_map(|event| match event {
            Event::TournamentStarted(started) => Some(started.plan),
            _ => None,
        });
        let plan: TournamentPlan = started.expect("connected players play at once");
        let kind = GAMES.kind(&plan.game).expect("a game").clone();
        let made = Tournament::create(plan, kind, secret.clone()).expect("a plan");
        let (tournament, events) = made;
        let first = record_lines("tournament/t", 0, Timestamp::from_ms(1_000), &events);
        let streams = BTreeMap::from([("lobby".into(), lines), ("tournament/t".into(), first)]);
        let (random, matches) = (SplitMix64::new(seed), BTreeMap::new());
        World { wanted, random, now: 1_000, secret, lobby, tournament, matches, pauses: 5, streams }
    }

    /// Reports the end to the lobby.
    fn end(mut self) -> Streams {
        let winners = self.tournament.winners().to_vec();
        let finish = LobbyCommand::Finish { tournament: "t".into(), winners, head: None };
        let events = self
            .lobby
            .step(Timestamp::from_ms(self.now), finish)
            .expect("the tournament is running");
        write(&mut self.streams, "lobby", self.now, &events);
        self.streams
    }

    fn odd(&mut self) -> bool {
        self.wanted.odd_in > 0 && self.random.index(self.wanted.odd_in) == 0
    }

    fn act(&mut self) {
        if self.tournament.paused().is_some() {
            return self.rule();
        }
        if self.wanted.ruled && self.pauses > 0 && self.random.index(25) == 0 {
            self.pauses -= 1;
            self.order(TournamentOrder::Pause);
            return self.follow();
        }
        if let Some(pending) = self.tournament.pending().into_iter().next() {
            let text = match pending.ask {
                TournamentAsk::Ready => "true",
                TournamentAsk::Propose { .. } => "null",
                TournamentAsk::Farewell { .. } => "\"ok\"",
            };
            let player = pending.player;
            return match self.odd() {
                true if self.random.index(2) == 0 => {
                    self.step(TournamentCommand::Drop { player, fault: Fault::timeout(1_000) });
                }
                odd => {
                    let answer = if odd { "garbage" } else { text }.to_owned();
                    self.step(TournamentCommand::Answer { player, request: pending.id, answer });
                }
            };
        }
        let open: Vec<MatchId> = self.tournament.open_matches().map(|p| p.id.clone()).collect();
        if !open.is_empty() {
            let id = open[self.random.index(open.len())].clone();
            self.act_in(&id);
        }
    }

    fn act_in(&mut self, id: &MatchId) {
        let Some(live) = self.matches.get(id) else { return self.open(id) };
        if let Some(result) = live.result().cloned() {
            return self.step(TournamentCommand::Report { id: id.clone(), result, head: None });
        }
        let players = live.plan().players.clone();
        let absent: Vec<&PlayerName> = players.iter().filter(|p| !live.is_here(p)).collect();
        let pending = live.pending();
        if !absent.is_empty() && (pending.is_empty() || self.random.index(2) == 0) {
            let player = absent[self.random.index(absent.len())].clone();
            let odd = self.odd();
            let nonce = (self.random.index(3) == 0).then(|| Nonce::new("00ff").expect("a nonce"));
            let command = match odd {
                true => MatchCommand::Expire { player: player.clone() },
                false => MatchCommand::Arrive { player: player.clone(), nonce },
            };
            // A player who may not reconnect is given up.
            if !self.step_in(id, command) {
                self.step_in(id, MatchCommand::Expire { player });
            }
            return;
        }
        if !pending.is_empty() {
            let one = self.random.index(pending.len());
            let command = self.deed(id, &pending[one]);
            self.step_in(id, command);
        }
    }

    /// How a player reacts to their open request.
    fn deed(&mut self, id: &MatchId, pending: &Pending) -> MatchCommand {
        let (player, odd) = (pending.player.clone(), self.odd());
        let answer = |request: RequestId, answer: String| MatchCommand::Answer {
            player: player.clone(),
            request,
            answer,
            took_ms: Some(17),
        };
        let live = &self.matches[id];
        let own = match pending.ask {
            Ask::Confirm { .. } => "\"ok\"".to_owned(),
            Ask::Game(seat) => {
                let legal = live.referee().expect("a game").game().legal(seat);
                legal[self.random.index(legal.len())].get().to_owned()
            }
        };
        if !odd {
            return answer(pending.id.clone(), own);
        }
        let other = live.pending().into_iter().find(|other| other.player != player);
        match self.random.index(7) {
            0 => MatchCommand::Charge { player, fault: Fault::timeout(pending.limit_ms) },
            1 => MatchCommand::Leave {
                player,
                fault: Fault::disconnected("the connection was lost"),
            },
            2 => {
                let fault = Fault::new(FaultKind::Withdrew, "withdrew", "gave up");
                MatchCommand::Leave { player, fault }
            }
            3 => answer(pending.id.clone(), "garbage".into()),
            4 => answer(pending.id.clone(), r#"{"move":[[0,0],[0,0]]}"#.into()),
            5 => answer(pending.id.clone(), r#"{"score":"chance","points":999}"#.into()),
            _ => answer(other.map_or(pending.id.clone(), |other| other.id), own),
        }
    }

    fn open(&mut self, id: &MatchId) {
        let plan = self.tournament.open_matches().find(|plan| plan.id == *id).cloned();
        let plan = plan.expect("the request is open");
        let kind = GAMES.kind(&plan.game).expect("a game").clone();
        let secrets = Secrets::Known(self.secret.of_match(id));
        let (live, event) =
            Match::create(plan, kind, secrets, Timestamp::from_ms(self.now)).expect("a plan");
        write(&mut self.streams, &stream(id), self.now, &[event]);
        self.matches.insert(id.clone(), live);
    }

    fn step_in(&mut self, id: &MatchId, command: MatchCommand) -> bool {
        let live = self.matches.get_mut(id).expect("it was opened");
        let Ok(events) = live.step(Timestamp::from_ms(self.now), command) else { return false };
        let first = self.streams.get(&stream(id)).map_or(0, |lines| lines.len() as u64) + 1;
        let numbered = (first..).zip(&events);
        let cheats = numbered.filter_map(|(seq, event)| Cheat::of(live.plan(), seq, event));
        let cheats: Vec<Cheat> = cheats.collect();
        write(&mut self.streams, &stream(id), self.now, &events);
        cheats.into_iter().for_each(|cheat| self.blacklist(cheat));
        !events.is_empty()
    }

    /// Reports a cheat to the lobby, as a server does.
    fn blacklist(&mut self, cheat: Cheat) {
        let Cheat { account, reason, cause } = cheat;
        let command = LobbyCommand::Blacklist { account, reason, by: None, cause: Some(cause) };
        let events = self
            .lobby
            .step(Timestamp::from_ms(self.now), command)
            .expect("an account of the lobby");
        write(&mut self.streams, "lobby", self.now, &events);
    }

    fn step(&mut self, command: TournamentCommand) {
        if let Ok(events) = self.tournament.step(command) {
            write(&mut self.streams, "tournament/t", self.now, &events);
        }
    }

    fn order(&mut self, order: TournamentOrder) {
        self.step(TournamentCommand::Order { order, ruling: ruling() });
    }

    /// Draws an operator's action in a pause.
    fn rule(&mut self) {
        let plans = self.tournament.rounds().last().map_or(&[][..], |round| &round.matches[..]);
        let plan = (!plans.is_empty()).then(|| plans[self.random.index(plans.len())].clone());
        let Some(plan) = plan.filter(|_| self.random.index(4) > 0) else {
            self.order(TournamentOrder::Resume);
            return self.follow();
        };
        let id = plan.id;
        match self.random.index(5) {
            0 => {
                let winners = plan.players.into_iter().take(self.random.index(2)).collect();
                self.order(TournamentOrder::Override { id, winners });
            }
            1 => self.order(TournamentOrder::Replay { id }),
            2 => self.order(TournamentOrder::Undo { id }),
            number if self.matches.contains_key(&id) => {
                let game = 1 + self.random.index(2) as u32;
                let order = match number {
                    3 => MatchOrder::Void(game),
                    _ => MatchOrder::UndoVoid(game),
                };
                self.step_in(&id, MatchCommand::Order { order, ruling: ruling() });
            }
            _ => {}
        }
    }

    /// Brings all matches in line with the tournament.
    fn follow(&mut self) {
        let paused = self.tournament.paused().is_some();
        let open: Vec<MatchId> = self.tournament.open_matches().map(|p| p.id.clone()).collect();
        for id in open {
            let Some(live) = self.matches.get(&id) else { continue };
            let replays = self.tournament.replays(&id).len();
            let order = match (paused, live.result().is_some()) {
                (false, true) if (live.reopened() as usize) < replays => MatchOrder::Reopen,
                (_, true) => continue,
                (true, false) => MatchOrder::Pause,
                _ if self.tournament.overridden(&id).is_some() => MatchOrder::CallOff,
                _ => MatchOrder::Resume,
            };
            self.step_in(&id, MatchCommand::Order { order, ruling: ruling() });
        }
    }
}

fn announcement(wanted: Wanted) -> Announcement {
    let preset = Preset::named(wanted.preset).expect("a preset");
    let kind = GAMES.kind(preset.game).expect("a game");
    let config = if wanted.config.is_empty() { preset.config } else { wanted.config };
    let mut policy = preset.policy;
    if wanted.round_robin {
        policy.format = RoundRobin::default().into();
        policy.pairing = Pairing::Random;
    }
    Announcement {
        id: "t".into(),
        preset: Some(preset.name.into()),
        game: preset.game.into(),
        config: Raw(kind.check_config(config).expect("a configuration")),
        policy,
        selection: Selection::Random { at_most: wanted.players as u32 },
        by: Some(name("p1")),
    }
}

/// Adds a record to a stream; without events it adds none.
fn write(streams: &mut Streams, stream: &str, at: u64, events: &[Event]) {
    let lines = streams.entry(stream.to_owned()).or_default();
    lines.extend(record_lines(stream, lines.len() as u64, Timestamp::from_ms(at), events));
}

fn stream(id: &MatchId) -> String {
    format!("match/t/{id}")
}

fn ruling() -> Ruling {
    Ruling { by: name("olga"), why: Why::new("by chance").expect("a reason") }
}

fn name(text: &str) -> PlayerName {
    PlayerName::new(text).expect("a name")
}
