//! Runs a tournament to its end under virtual time, and keeps every line it writes.
//!
//! Beside every machine runs a shadow that is fed nothing but the lines read back from text; after
//! every record both must be in the same state. So every test that uses the world also tests that a
//! log replays to the live state at each of its prefixes.

mod operator;

use super::script::{Call, CallKind, Reply, Script};
use agon_core::{
    Ask, Event, Fault, FaultKind, Line, Match, MatchCommand, MatchId, Nonce, PlanError, PlayerName,
    Rejection, RequestId, Results, Secret, Secrets, Timestamp, Tournament, TournamentAsk,
    TournamentCommand, TournamentPlan, record_lines,
};
use agon_games::Registry;
pub(crate) use operator::{Operator, ruling};
use std::collections::{BTreeMap, BTreeSet};

/// More steps than any tournament of the tests takes.
const STEPS_MAX: u32 = 2_000_000;

/// Something that will come from outside.
enum Coming {
    Match(MatchId, MatchCommand),
    Tournament(TournamentCommand),
}

struct Live {
    live: Match,
    shadow: Match,
    /// Requests handed over since their player last came.
    delivered: BTreeSet<RequestId>,
}

/// The result of a world.
pub(crate) struct Played {
    pub(crate) tournament: Tournament,
    /// The lines of every stream, by its name.
    pub(crate) streams: BTreeMap<String, Vec<String>>,
    /// How often each call was made.
    pub(crate) asked: BTreeMap<String, u32>,
    /// When it was over, in milliseconds of virtual time.
    pub(crate) ended_at: Timestamp,
}

impl Played {
    pub(crate) fn results(&self) -> Results {
        self.tournament.results()
    }

    pub(crate) fn winners(&self) -> Vec<&str> {
        self.tournament.winners().iter().map(PlayerName::as_str).collect()
    }
}

/// A tournament on its way.
pub(crate) struct World {
    games: Registry,
    scripts: BTreeMap<PlayerName, Script>,
    now: Timestamp,
    tournament: Tournament,
    shadow: Tournament,
    greeted: BTreeSet<RequestId>,
    matches: BTreeMap<MatchId, Live>,
    /// Matches that were reported; they may be replayed.
    ended: BTreeMap<MatchId, Live>,
    coming: BTreeMap<(Timestamp, u64), Coming>,
    sent: u64,
    streams: BTreeMap<String, Vec<String>>,
    asked: BTreeMap<String, u32>,
    /// Makes commands that must be rejected, for the match in hand.
    noise: Option<Noise>,
    operator: Option<Operator>,
}

/// Gives commands to try at a match; those that are rejected must change nothing.
pub(crate) type Noise = Box<dyn FnMut(&Match) -> Vec<MatchCommand>>;

impl World {
    /// A tournament of `plan` between scripts in the order of its players.
    pub(crate) fn new(
        plan: TournamentPlan,
        games: Registry,
        secret: Secret,
        scripts: Vec<Script>,
    ) -> Result<World, PlanError> {
        assert_eq!(plan.players.len(), scripts.len(), "a script for every player");
        let scripts = plan.players.iter().cloned().zip(scripts).collect();
        let kind = games.kind(&plan.game).expect("a game").clone();
        let (tournament, events) = Tournament::create(plan, kind, secret.clone())?;
        let stream = format!("tournament/{}", tournament.plan().id);
        let lines = record_lines(&stream, 0, Timestamp::from_ms(1_000), &events);
        let read: Vec<Line> = lines.iter().map(|line| Line::read(line).expect("a line")).collect();
        let shadow = Tournament::fold(&read, &games, Some(secret)).expect("a stream");
        assert!(shadow.same_state(&tournament), "the first record folds to another tournament");
        Ok(World {
            games,
            scripts,
            now: Timestamp::from_ms(1_000),
            tournament,
            shadow,
            greeted: BTreeSet::new(),
            matches: BTreeMap::new(),
            ended: BTreeMap::new(),
            coming: BTreeMap::new(),
            sent: 0,
            streams: BTreeMap::from([(stream, lines)]),
            asked: BTreeMap::new(),
            noise: None,
            operator: None,
        })
    }

    /// Tries these commands whenever a match has moved on.
    #[must_use]
    pub(crate) fn with_noise(mut self, noise: Noise) -> World {
        self.noise = Some(noise);
        self
    }

    /// With an operator that interferes.
    #[must_use]
    pub(crate) fn with_operator(mut self, operator: Operator) -> World {
        self.operator = Some(operator);
        self
    }

    /// Plays to the end.
    pub(crate) fn play(mut self) -> Played {
        for _ in 0..STEPS_MAX {
            if self.tournament.is_over() {
                let (tournament, streams) = (self.tournament, self.streams);
                return Played { tournament, streams, asked: self.asked, ended_at: self.now };
            }
            if !self.operate() && !self.act_now() {
                self.wait();
            }
        }
        panic!("the tournament does not end");
    }

    /// One thing that can happen without time passing; `false` if there is none.
    fn act_now(&mut self) -> bool {
        let request = self.tournament.pending().into_iter();
        if let Some(pending) = request.into_iter().find(|p| !self.greeted.contains(&p.id)) {
            self.greeted.insert(pending.id.clone());
            let what = match pending.ask {
                TournamentAsk::Ready => CallKind::Ready,
                TournamentAsk::Propose { .. } => CallKind::Propose,
                TournamentAsk::Farewell { .. } => CallKind::Farewell,
            };
            let reply = ask(&mut self.scripts, &mut self.asked, &pending.player, &pending.id, what);
            self.take_outside(pending.player, pending.id, pending.limit_ms, reply);
            return true;
        }
        let open: Vec<MatchId> =
            self.tournament.open_matches().map(|plan| plan.id.clone()).collect();
        open.into_iter().any(|id| self.act_in(&id))
    }

    fn act_in(&mut self, id: &MatchId) -> bool {
        if !self.matches.contains_key(id) {
            self.open(id);
            return true;
        }
        if self.report_if_over(id) {
            return true;
        }
        let hand = self.matches.get_mut(id).expect("the request is open");
        if let Some(command) = hand.live.due(self.now) {
            assert!(self.step_match(id, command).is_ok(), "what is due is accepted");
            return true;
        }
        let fresh = hand.live.pending().into_iter().find(|pending| {
            hand.live.is_here(&pending.player) && !hand.delivered.contains(&pending.id)
        });
        let Some(pending) = fresh else { return false };
        hand.delivered.insert(pending.id.clone());
        hand.live.delivered(&pending.id, self.now);
        let what = match pending.ask {
            Ask::Confirm { .. } => CallKind::Confirm,
            Ask::Game(seat) => {
                let game = hand.live.referee().expect("a game asks").game();
                CallKind::Game { seat, game }
            }
        };
        let reply = ask(&mut self.scripts, &mut self.asked, &pending.player, &pending.id, what);
        self.take_in(id, pending.player, pending.id, reply);
        true
    }

    fn report_if_over(&mut self, id: &MatchId) -> bool {
        let result = self.matches.get(id).and_then(|hand| hand.live.result().cloned());
        let Some(result) = result else { return false };
        let hand = self.matches.remove(id).expect("the entry exists");
        self.ended.insert(id.clone(), hand);
        self.step(TournamentCommand::Report { id: id.clone(), result, head: None });
        true
    }

    /// Makes a match and asks its players to come.
    fn open(&mut self, id: &MatchId) {
        let plan = self.tournament.open_matches().find(|plan| plan.id == *id).expect("open");
        let plan = plan.clone();
        let secret = self.tournament.match_secret(id).expect("a live tournament");
        let kind = self.games.kind(&plan.game).expect("a game").clone();
        let known = Secrets::Known(secret);
        let made = Match::create(plan, kind, known.clone(), self.now);
        let (live, event) = made.expect("a plan of a tournament can be played");
        let stream = self.stream_of(id);
        let lines = record_lines(&stream, 0, self.now, &[event]);
        let read: Vec<Line> = lines.iter().map(|line| Line::read(line).expect("a line")).collect();
        let shadow = Match::fold(&read, &self.games, known).expect("a stream");
        self.streams.insert(stream, lines);
        self.matches.insert(id.clone(), Live { live, shadow, delivered: BTreeSet::new() });
        self.call_in(id);
    }

    /// Asks the players of a match to come.
    fn call_in(&mut self, id: &MatchId) {
        for player in self.matches[id].live.plan().players.clone() {
            let request = RequestId::from("arrive");
            let asked = (&mut self.scripts, &mut self.asked);
            match ask(asked.0, asked.1, &player, &request, CallKind::Arrive) {
                Reply::After(ms, _) | Reply::Crash(Some(ms)) => self.arrive_after(id, player, ms),
                Reply::Hang | Reply::Crash(None) => {}
                Reply::Withdraw => self.leave(id, player, FaultKind::Withdrew),
                Reply::Answer(_) | Reply::Steal(_) => {
                    let nonce = nonce_of(&player);
                    self.offer(id, MatchCommand::Arrive { player, nonce });
                }
            }
        }
    }

    fn arrive_after(&mut self, id: &MatchId, player: PlayerName, ms: u64) {
        let nonce = nonce_of(&player);
        self.later(ms, Coming::Match(id.clone(), MatchCommand::Arrive { player, nonce }));
    }

    fn leave(&mut self, id: &MatchId, player: PlayerName, kind: FaultKind) {
        let fault = match kind {
            FaultKind::Withdrew => Fault::new(kind, "withdrew", "gave up"),
            _ => Fault::disconnected("the connection was lost"),
        };
        self.offer(id, MatchCommand::Leave { player, fault });
    }

    /// A player's reaction to a request of a match.
    fn take_in(&mut self, id: &MatchId, player: PlayerName, request: RequestId, reply: Reply) {
        let answer = |request: RequestId, answer: String| MatchCommand::Answer {
            player: player.clone(),
            request,
            answer,
            took_ms: None,
        };
        match reply {
            Reply::Answer(text) => {
                assert!(self.step_match(id, answer(request, text)).is_ok(), "an open request");
            }
            Reply::After(ms, text) => {
                let command = answer(request, text);
                self.later(ms, Coming::Match(id.clone(), command));
            }
            Reply::Hang => {}
            Reply::Steal(text) => {
                let open = self.matches[id].live.pending();
                let other = open.into_iter().find(|pending| pending.player != player);
                let request = other.map_or(request, |other| other.id);
                self.offer(id, answer(request, text));
            }
            Reply::Withdraw => self.leave(id, player, FaultKind::Withdrew),
            Reply::Crash(back_ms) => {
                self.leave(id, player.clone(), FaultKind::Disconnected);
                if let Some(ms) = back_ms {
                    self.arrive_after(id, player, ms);
                }
            }
        }
    }

    /// A player's reaction to a request outside matches.
    fn take_outside(
        &mut self,
        player: PlayerName,
        request: RequestId,
        limit_ms: u64,
        reply: Reply,
    ) {
        let drop = |fault: Fault| TournamentCommand::Drop { player: player.clone(), fault };
        let answer = |answer: String| TournamentCommand::Answer {
            player: player.clone(),
            request: request.clone(),
            answer,
        };
        match reply {
            Reply::Answer(text) | Reply::Steal(text) => self.step(answer(text)),
            Reply::After(ms, text) if ms < limit_ms => {
                let command = answer(text);
                self.later(ms, Coming::Tournament(command));
            }
            Reply::After(..) | Reply::Hang => {
                let command = drop(Fault::timeout(limit_ms));
                self.later(limit_ms, Coming::Tournament(command));
            }
            Reply::Withdraw => self.step(drop(Fault::new(FaultKind::Withdrew, "withdrew", "left"))),
            Reply::Crash(_) => self.step(drop(Fault::disconnected("the connection was lost"))),
        }
    }

    fn later(&mut self, ms: u64, coming: Coming) {
        self.sent += 1;
        self.coming.insert((self.now + ms, self.sent), coming);
    }

    /// Lets time pass until the next thing comes or is due.
    fn wait(&mut self) {
        let open: Vec<&MatchId> = self.tournament.open_matches().map(|plan| &plan.id).collect();
        let deadlines = open.iter().filter_map(|id| self.matches.get(id)?.live.deadline());
        let coming = self.coming.keys().next().map(|(at, _)| *at);
        let next = deadlines.chain(coming).min().expect("somebody is waited for");
        self.now = self.now.max(next);
        if coming.is_some_and(|at| at <= self.now) {
            self.take_coming();
        }
    }

    fn take_coming(&mut self) {
        if !self.coming.is_empty() {
            match self.coming.pop_first().expect("the entry exists").1 {
                Coming::Match(id, command) => self.offer(&id, command),
                Coming::Tournament(command) => self.step(command),
            }
        }
    }

    /// Gives a match a command that may be too late.
    fn offer(&mut self, id: &MatchId, command: MatchCommand) {
        if self.matches.contains_key(id) {
            let _ = self.step_match(id, command);
        }
    }

    fn step_match(&mut self, id: &MatchId, command: MatchCommand) -> Result<(), Rejection> {
        let stream = self.stream_of(id);
        let hand = self.matches.get_mut(id).expect("the request is open");
        if let MatchCommand::Arrive { player, .. } = &command {
            let open = hand.live.pending().into_iter().filter(|p| p.player == *player);
            open.for_each(|pending| {
                hand.delivered.remove(&pending.id);
            });
        }
        if let Some(noise) = &mut self.noise {
            for bad in noise(&hand.live) {
                let before = hand.live.clone();
                if hand.live.step(self.now, bad.clone()).is_ok_and(|events| !events.is_empty()) {
                    hand.live = before;
                } else {
                    assert!(hand.live.same_state(&before), "{bad:?} was refused");
                }
            }
        }
        let events = hand.live.step(self.now, command)?;
        let lines = self.streams.get_mut(&stream).expect("a stream");
        for text in record_lines(&stream, lines.len() as u64, self.now, &events) {
            let line = Line::read(&text).expect("a line");
            hand.shadow.apply(line.at, &line.event).expect("a log replays");
            lines.push(text);
        }
        assert!(hand.live.same_state(&hand.shadow), "{stream} at line {}", lines.len());
        Ok(())
    }

    fn step(&mut self, command: TournamentCommand) {
        let before = self.tournament.clone();
        let Ok(events) = self.tournament.step(command) else {
            assert!(self.tournament.same_state(&before), "a refused command changes nothing");
            return;
        };
        let stream = format!("tournament/{}", self.tournament.plan().id);
        let lines = self.streams.get_mut(&stream).expect("a stream");
        for text in record_lines(&stream, lines.len() as u64, self.now, &events) {
            let event: Event = Line::read(&text).expect("a line").event;
            self.shadow.apply(&event).expect("a log replays");
            lines.push(text);
        }
        assert!(self.tournament.same_state(&self.shadow), "{stream} at line {}", lines.len());
    }

    fn stream_of(&self, id: &MatchId) -> String {
        format!("match/{}/{id}", self.tournament.plan().id)
    }
}

/// Players with an even number add a nonce to their luck.
fn nonce_of(player: &PlayerName) -> Option<Nonce> {
    let number: u32 = player.as_str().trim_start_matches('p').parse().ok()?;
    number.is_multiple_of(2).then(|| Nonce::new(&format!("{number:08x}")).expect("a nonce"))
}

fn ask(
    scripts: &mut BTreeMap<PlayerName, Script>,
    asked: &mut BTreeMap<String, u32>,
    player: &PlayerName,
    request: &RequestId,
    what: CallKind<'_>,
) -> Reply {
    *asked.entry(what.name()).or_default() += 1;
    let script = scripts.get_mut(player).expect("a script");
    script(&Call { player: player.as_str(), request: request.as_str(), what })
}
