//! One player's session: translates the server's messages into the player's vocabulary, and the
//! player's messages for the server. To the server it is a connection like any other.
//!
//! ```text
//!   lines of the native protocol ──▶ line ──▶ ┌───────┐ ──▶ terms for its process
//!   messages to the server       ◀── hear ◀── └ outputs ┘ ◀── messages of its process
//! ```
//!
//! The session keeps what the program does not repeat: which reference identifies which request,
//! which tournaments it accepted, and an answer that stands for two. It has no rules and no policy.

mod hear;

pub use hear::{NotAccepted, QUEUE};

use super::class::{Ids, Variant, Writer};
use super::location::Location;
use super::refs::{Key, Refs};
use super::request::{ForClass, ForQueue, ForReferee, Open, Parts, REQUEST, Request, TimedOut};
use super::term::{Pid, Ref, Term};
use super::{Password, queue, referee};
use crate::native::{FromPlayer, Hello, PROTOCOL_VERSION, ToLobby};
use agon_core::{Millis, PlayerName, RequestId, Timestamp, TournamentId};
use agon_games::Refusal;
use agon_games::yahtzee::{Boxes, Question};
use serde_json::Value;
use std::sync::Arc;

/// The game of these vocabularies.
const GAME: &str = "yahtzee";

/// How many references a session has before they repeat; 0 is its ticket.
const MARKS_MAX: u32 = (1 << 18) - 1;

/// How long a turn is held back if another turn has the same dice, and that one is open or ended
/// unanswered: an answer to it may be in flight. No longer, because some programs finish their
/// current turn before they look at another one.
const SAME_DICE_MS: Millis = 2_000;

/// How long a repeated turn waits if the player has answered it: the answer and the repetition may
/// have crossed. Then the next request follows, and the player must not get the old dice again.
const CROSSING_MS: Millis = 500;

/// How many unanswered turns are remembered.
const TIMED_OUT_MAX: usize = 64;

/// The vocabulary of a player, and its specific state.
#[derive(Clone, PartialEq, Debug)]
pub enum Speaks {
    /// The class protocol.
    Class(Variant),
    /// The referee protocol.
    Referee {
        /// The reference of the login.
        login: Ref,
    },
    /// The queue protocol, where every message carries the password.
    Queue {
        /// The password that was accepted.
        password: Password,
    },
}

/// The start of a session.
#[derive(Clone, PartialEq, Debug)]
pub struct ErlangLogin {
    /// The process to send to.
    pub pid: Pid,
    /// The account.
    pub user: PlayerName,
    /// The name as the player spells it.
    pub spelt: Term,
    /// The password.
    pub password: Password,
    /// The vocabulary.
    pub speaks: Speaks,
}

/// An action that follows from a message. `W` records that a request was written.
#[derive(Debug)]
pub enum SessionOutput<W> {
    /// Send this to a process of the player.
    Tell {
        /// The receiver.
        to: Pid,
        /// The message.
        term: Term,
        /// Set for requests.
        written: Option<W>,
    },
    /// Send this to the server.
    Say(FromPlayer),
    /// Answer a request of the server.
    Answer {
        /// The request.
        id: RequestId,
        /// The answer for the game, or why the message is none.
        answer: Result<String, Refusal>,
        /// The message that was sent, without passwords.
        sent: String,
    },
    /// The player already has this request: its time runs from now.
    Running(W),
    /// The server rejected a request of the player, and the vocabulary has no message for that.
    Refused {
        /// A stable word.
        code: String,
        /// An explanation for people.
        detail: String,
    },
    /// The player is logged in.
    LoggedIn,
    /// The login failed, with this code.
    NotLetIn(String),
    /// This process also plays for the player: its end counts as a disconnect.
    PlaysFor(Pid),
    /// A tournament has started or is over; its requester may need a notification.
    Stirred,
}

/// The state of a tournament for the player.
#[derive(Debug)]
enum Stands<W> {
    /// The player is invited, and has not answered.
    Invited,
    /// The player is in it and has not accepted yet. Requests are held until they do.
    Announced { since: Timestamp, held: Vec<(Term, Option<W>)> },
    /// The player accepted, and this process plays.
    Accepted(Pid),
}

#[derive(Debug)]
struct Tournament<W> {
    id: TournamentId,
    reference: Ref,
    stands: Stands<W>,
}

/// A request that is not sent yet.
#[derive(Debug)]
struct Held<W> {
    id: RequestId,
    term: Term,
    written: Option<W>,
    /// It is sent then at the latest.
    until: Timestamp,
    /// True if the player has answered it, so that it is sent only then.
    is_repeated: bool,
}

/// One player's session.
#[derive(Debug)]
pub struct Session<W> {
    refs: Arc<Refs>,
    key: Key,
    user: PlayerName,
    spelt: Term,
    pid: Pid,
    manager: Pid,
    speaks: Speaks,
    /// How long the player has to accept.
    accept_ms: Millis,
    logged_in: bool,
    tournaments: Vec<Tournament<W>>,
    /// Open requests, the oldest first.
    open: Vec<Open>,
    /// Requests that wait until no other open one has the same dice, or until it is clear that the
    /// player's answer did not arrive.
    held: Vec<Held<W>>,
    /// Turns that ended unanswered, the latest last.
    timed_out: Vec<TimedOut>,
    /// The number of its latest reference.
    last: u32,
}

impl<W> Session<W> {
    /// Starts a session; also returns its first message to the server. A player of the queue
    /// protocol registers with another message than the login.
    pub fn new(
        login: ErlangLogin,
        manager: Pid,
        refs: Arc<Refs>,
        key: Key,
        accept_ms: Millis,
    ) -> (Session<W>, [FromPlayer; 2]) {
        let ErlangLogin { pid, user, spelt, password, speaks } = login;
        let name = "an Erlang process".into();
        let hello =
            Hello { protocol: PROTOCOL_VERSION, name, nonce: None, proposal: None, history: false };
        let says = ToLobby::Login {
            account: Some(user.clone()),
            password: Some(password.0),
            token: None,
            register: !matches!(speaks, Speaks::Queue { .. }),
            kind: None,
        };
        let session = Session {
            refs,
            key,
            user,
            spelt,
            pid,
            manager,
            speaks,
            accept_ms,
            logged_in: false,
            tournaments: Vec::new(),
            open: Vec::new(),
            held: Vec::new(),
            timed_out: Vec::new(),
            last: 0,
        };
        (session, [FromPlayer::Hello(hello), FromPlayer::Lobby(says)])
    }

    /// Restores the session of a process that was found again after a restart of the server: it is
    /// logged in, its ticket stays valid, and it has accepted its tournaments. `last` is a random
    /// number, so that new references do not repeat old ones.
    pub fn again(
        location: &Location,
        user: PlayerName,
        manager: Pid,
        refs: Arc<Refs>,
        accept_ms: Millis,
        tournaments: &[TournamentId],
        last: u32,
    ) -> Option<Session<W>> {
        let (pid, speaks, key) = (location.pid()?, location.speaks()?, location.key());
        let spelt = location.spell(&user);
        let mut session = Session {
            refs,
            key,
            user,
            spelt,
            pid,
            manager,
            speaks,
            accept_ms,
            logged_in: true,
            tournaments: Vec::new(),
            open: Vec::new(),
            held: Vec::new(),
            timed_out: Vec::new(),
            last: last % MARKS_MAX,
        };
        for id in tournaments {
            session.enter(id.clone(), Stands::Accepted(location.plays_in(id)?));
        }
        Some(session)
    }

    /// The processes other than the logged-in one that play for the player, by tournament.
    pub fn plays_elsewhere(&self) -> impl Iterator<Item = (&TournamentId, &Pid)> {
        self.tournaments.iter().filter_map(|known| match &known.stands {
            Stands::Accepted(pid) if *pid != self.pid => Some((&known.id, pid)),
            _ => None,
        })
    }

    /// Returns whether the player must prove the password again, because the log does not store it.
    pub fn lacks_password(&self) -> bool {
        matches!(&self.speaks, Speaks::Queue { password } if password.0.is_empty())
    }

    /// The account.
    pub fn user(&self) -> &PlayerName {
        &self.user
    }

    /// The key of its references.
    pub fn key(&self) -> Key {
        self.key
    }

    /// The process that logged in.
    pub fn pid(&self) -> &Pid {
        &self.pid
    }

    /// A new reference.
    pub fn mark(&mut self) -> Ref {
        self.last = self.last % MARKS_MAX + 1;
        self.refs.own(self.key, self.last)
    }

    /// Records a new password.
    pub fn changed_password(&mut self, new: Password) {
        if let Speaks::Queue { password } = &mut self.speaks {
            *password = new;
        }
    }

    /// Processes a line of the server; `written` records when it was written.
    pub fn line(
        &mut self,
        line: &[u8],
        written: Option<W>,
        now: Timestamp,
    ) -> Vec<SessionOutput<W>> {
        if line.starts_with(REQUEST) {
            return self.asked(line, written, now);
        }
        let Ok(said) = serde_json::from_slice::<Value>(line) else { return Vec::new() };
        match said["type"].as_str() {
            Some("welcome") => self.welcomed(&said),
            Some("error") if !self.logged_in => {
                let code = said["code"].as_str().unwrap_or_default().to_owned();
                let mut outputs = vec![SessionOutput::NotLetIn(code)];
                if let Speaks::Queue { .. } = self.speaks {
                    outputs.push(self.tell(queue::not_authenticated()));
                }
                outputs
            }
            Some("error") => {
                let about = |open: &&mut Open| Some(open.id.as_str()) == said["id"].as_str();
                if let Some(open) = self.open.iter_mut().find(about) {
                    open.refused = true;
                }
                let field = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
                vec![SessionOutput::Refused { code: field("code"), detail: field("detail") }]
            }
            Some("notice") => self.noticed(&said, now),
            _ => Vec::new(),
        }
    }

    /// Processes a request that only needs to be sent to the player. Requests that are already
    /// answered, and all other lines, go to [`line`](Session::line). It may bring the
    /// [`deadline`](Session::deadline) closer.
    pub fn ask(
        &mut self,
        line: &[u8],
        written: W,
        now: Timestamp,
    ) -> Option<Vec<SessionOutput<W>>> {
        let simple = self.open.iter().all(|open| open.then.is_none());
        (simple && line.starts_with(REQUEST)).then(|| self.asked(line, Some(written), now))
    }

    /// When the next timer is due.
    pub fn deadline(&self) -> Option<Timestamp> {
        let announced = self.tournaments.iter().filter_map(|tournament| match tournament.stands {
            Stands::Announced { since, .. } => Some(since + self.accept_ms),
            _ => None,
        });
        announced.chain(self.held.iter().map(|held| held.until)).min()
    }

    /// Withdraws players who have not accepted in time, and sends held requests that are due.
    pub fn due(&mut self, now: Timestamp) -> Vec<SessionOutput<W>> {
        let accept_ms = self.accept_ms;
        let over = self.tournaments.extract_if(.., |tournament| {
            matches!(tournament.stands, Stands::Announced { since, .. } if since + accept_ms <= now)
        });
        let mut outputs: Vec<SessionOutput<W>> =
            over.map(|tournament| withdraw(tournament.id)).collect();
        outputs.extend(self.send_held(now));
        outputs
    }

    fn welcomed(&mut self, said: &Value) -> Vec<SessionOutput<W>> {
        self.logged_in = true;
        let count = |field: &str| u32::try_from(said[field].as_u64().unwrap_or(0)).unwrap_or(0);
        let welcome = match &self.speaks {
            Speaks::Class(variant) => self.writer(*variant).logged_in(&self.ticket()),
            Speaks::Referee { login } => referee::login_success(login),
            Speaks::Queue { .. } => queue::authenticated(count("active"), count("waiting")),
        };
        vec![SessionOutput::LoggedIn, self.tell(welcome)]
    }

    /// The ticket of its login.
    fn ticket(&self) -> Ref {
        self.refs.own(self.key, 0)
    }

    fn writer(&self, variant: Variant) -> Writer {
        Writer { variant, user: self.spelt.clone(), manager: self.manager.clone() }
    }

    fn tell(&self, term: Term) -> SessionOutput<W> {
        SessionOutput::Tell { to: self.pid.clone(), term, written: None }
    }

    /// Processes a notification.
    fn noticed(&mut self, said: &Value, now: Timestamp) -> Vec<SessionOutput<W>> {
        let data = &said["data"];
        let Some(id) = data["tournament"].as_str().map(TournamentId::from_text) else {
            return Vec::new();
        };
        let speaks_of_it = data["game"].as_str().is_none_or(|game| game == GAME);
        match said["about"].as_str() {
            Some("invitation") if !speaks_of_it => vec![reject(id)],
            Some("invitation") => {
                let stands = match data["reply"].as_str() {
                    Some("accepted" | "ready") => Stands::Accepted(self.pid.clone()),
                    _ => Stands::Invited,
                };
                self.invited(id, stands)
            }
            Some("ready-asked") => {
                vec![SessionOutput::Say(FromPlayer::Lobby(ToLobby::Ready { tournament: id }))]
            }
            // Withdraw from a tournament of a game that this vocabulary cannot play.
            Some("tournament") if !speaks_of_it => vec![withdraw(id)],
            // The player continues a tournament from before this login.
            Some("tournament") if data["resumed"] == true => {
                self.enter(id, Stands::Accepted(self.pid.clone()));
                Vec::new()
            }
            Some("tournament") => then_stirred(self.starts(id, now)),
            Some("tournament-over" | "invitation-over" | "called-off") => {
                then_stirred(self.over(&id, now))
            }
            Some("match-over") => {
                let of_match = data["match"].as_str().map(|of| format!("{}:{of}", id.as_str()));
                self.close(now, |open| Some(&*open.of_match) == of_match.as_deref())
            }
            _ => Vec::new(),
        }
    }

    /// Records a tournament, unless it is known.
    fn enter(&mut self, id: TournamentId, stands: Stands<W>) {
        if !self.tournaments.iter().any(|known| known.id == id) {
            let reference = self.refs.tournament(&id);
            self.tournaments.push(Tournament { id, reference, stands });
        }
    }

    fn invited(&mut self, id: TournamentId, stands: Stands<W>) -> Vec<SessionOutput<W>> {
        let Speaks::Class(variant) = self.speaks else {
            // These programs enter tournaments by being connected, without a question.
            let accept = FromPlayer::Lobby(ToLobby::Accept { tournament: id.clone() });
            self.enter(id, Stands::Accepted(self.pid.clone()));
            return vec![SessionOutput::Say(accept)];
        };
        let asks = matches!(stands, Stands::Invited);
        let reference = self.refs.tournament(&id);
        self.enter(id, stands);
        match asks {
            true => vec![self.tell(self.writer(variant).start_tournament(&reference))],
            false => Vec::new(),
        }
    }

    /// A tournament of the player starts.
    fn starts(&mut self, id: TournamentId, now: Timestamp) -> Vec<SessionOutput<W>> {
        let known = self.tournaments.iter_mut().find(|known| known.id == id);
        let announced = || Stands::Announced { since: now, held: Vec::new() };
        match (known, &self.speaks) {
            // The player was invited and is in, so they or somebody for them accepted.
            (Some(known), _) => {
                if matches!(known.stands, Stands::Invited) {
                    known.stands = announced();
                }
                Vec::new()
            }
            (None, Speaks::Class(variant)) => {
                let writer = self.writer(*variant);
                let reference = self.refs.tournament(&id);
                self.enter(id, announced());
                vec![self.tell(writer.start_tournament(&reference))]
            }
            (None, _) => {
                self.enter(id, Stands::Accepted(self.pid.clone()));
                Vec::new()
            }
        }
    }

    /// The player has no more games in a tournament.
    fn over(&mut self, id: &TournamentId, now: Timestamp) -> Vec<SessionOutput<W>> {
        let Some(at) = self.tournaments.iter().position(|known| known.id == *id) else {
            return Vec::new();
        };
        let Tournament { reference, .. } = self.tournaments.swap_remove(at);
        let mut outputs = match self.speaks {
            Speaks::Class(variant) => {
                vec![self.tell(self.writer(variant).end_tournament(&reference))]
            }
            Speaks::Referee { .. } => Vec::new(),
            Speaks::Queue { .. } => vec![self.tell(queue::tournament_over(&reference))],
        };
        outputs.extend(self.close(now, |open| open.tournament == reference));
        outputs
    }

    /// Removes requests that are no longer open, and sends the requests that they held back.
    fn close(&mut self, now: Timestamp, which: impl Fn(&Open) -> bool) -> Vec<SessionOutput<W>> {
        let closed: Vec<Open> = self.open.extract_if(.., |open| which(open)).collect();
        closed.iter().for_each(|open| self.forget(open, now));
        self.send_held(now)
    }

    /// Removes a closed request. An answer to it may still arrive if the player has it.
    fn forget(&mut self, open: &Open, now: Timestamp) {
        self.held.retain(|held| held.id != open.id);
        if open.is_due() && matches!(self.speaks, Speaks::Queue { .. }) {
            if self.timed_out.len() == TIMED_OUT_MAX {
                self.timed_out.remove(0);
            }
            self.timed_out.push(TimedOut { hand: open.hand(), until: now + SAME_DICE_MS });
        }
    }

    /// Returns whether a turn has the same dice as another one that the player has, or had lately.
    /// The end of a turn names nothing but its dice.
    fn is_ambiguous(&self, asked: &Open, now: Timestamp) -> bool {
        let hand = asked.hand();
        let other = |open: &Open| open.id != asked.id && open.is_due() && open.hand() == hand;
        self.open.iter().any(other)
            || self
                .timed_out
                .iter()
                .any(|timed_out| timed_out.hand == hand && now < timed_out.until)
    }

    /// Sends the held requests that need not wait any more.
    fn send_held(&mut self, now: Timestamp) -> Vec<SessionOutput<W>> {
        let mut outputs = Vec::new();
        let mut at = 0;
        while at < self.held.len() {
            let id = &self.held[at].id;
            let place = self.open.iter().position(|open| open.id == *id);
            let ambiguous = place.is_some_and(|place| self.is_ambiguous(&self.open[place], now));
            if (ambiguous || self.held[at].is_repeated) && now < self.held[at].until {
                at += 1;
                continue;
            }
            let Held { term, written, .. } = self.held.remove(at);
            if let Some(place) = place {
                let open = &mut self.open[place];
                (open.held, open.answered, open.then) = (false, false, None);
                let tournament = self.open[place].tournament.clone();
                outputs.extend(self.send_or_hold(term, &tournament, written));
            }
        }
        outputs
    }

    /// Processes a request of the server.
    fn asked(&mut self, line: &[u8], written: Option<W>, now: Timestamp) -> Vec<SessionOutput<W>> {
        let asked = match &self.speaks {
            Speaks::Class(variant) => {
                let variant = *variant;
                ForClass::read(line).and_then(|read| {
                    let Request { id, question, view, .. } = read;
                    let ids = match self.opens(&id, question, None, now)? {
                        Next::Ask(ids) => ids,
                        Next::Answer(output) => return Some(Err(output)),
                    };
                    let term = self.writer(variant).play_request(&ids, &question, &view)?;
                    Some(Ok((term, ids.tournament)))
                })
            }
            Speaks::Referee { .. } => ForReferee::read(line).and_then(|read| {
                let Request { id, question, view, in_match, ends } = read;
                let ids = match self.opens(&id, question, None, now)? {
                    Next::Ask(ids) => ids,
                    Next::Answer(output) => return Some(Err(output)),
                };
                let cards: Vec<_> =
                    ends.into_iter().map(|(game, ended)| (game, ended.cards)).collect();
                let (manager, user) = (&self.manager, &self.user);
                let term = referee::request(
                    manager,
                    &ids.reference,
                    user,
                    &question,
                    &view,
                    &in_match?,
                    &cards,
                )?;
                Some(Ok((term, ids.tournament)))
            }),
            Speaks::Queue { .. } => return self.asked_by_dice(line, written, now),
        };
        match asked {
            Some(Ok((term, tournament))) => self.send_or_hold(term, &tournament, written),
            // The request is already answered; its record of the time is dropped with it.
            Some(Err(output)) => vec![output],
            None => Vec::new(),
        }
    }

    /// Does the same for the queue protocol, which sends dice once; only their values distinguish
    /// turns.
    fn asked_by_dice(
        &mut self,
        line: &[u8],
        written: Option<W>,
        now: Timestamp,
    ) -> Vec<SessionOutput<W>> {
        let Some(Request { id, question, view, .. }) = ForQueue::read(line) else {
            return Vec::new();
        };
        let has_it = |open: &Open| open.id.as_str() == &*id && open.is_due();
        if self.open.iter().any(has_it) {
            return written.map(SessionOutput::Running).into_iter().collect();
        }
        let crosses = |open: &&Open| open.id.as_str() == &*id && open.answered && !open.refused;
        if let Some(open) = self.open.iter().find(crosses) {
            let term = queue::dice(&open.tournament, &open.game, &question);
            let (id, until) = (open.id.clone(), now + CROSSING_MS);
            self.held.retain(|held| held.id != id);
            self.held.push(Held { id, term, written, until, is_repeated: true });
            return Vec::new();
        }
        let card = view.seat.and_then(|seat| view.cards.get(seat.index())).map(|card| card.boxes);
        let ids = match self.opens(&id, question, card, now) {
            Some(Next::Ask(ids)) => ids,
            Some(Next::Answer(output)) => return vec![output],
            None => return Vec::new(),
        };
        let term = queue::dice(&ids.tournament, &ids.game, &question);
        let Some(at) = self.open.iter().position(|open| open.reference == ids.reference) else {
            return Vec::new();
        };
        if self.is_ambiguous(&self.open[at], now) {
            self.open[at].held = true;
            let id = self.open[at].id.clone();
            let until = now + SAME_DICE_MS;
            self.held.push(Held { id, term, written, until, is_repeated: false });
            return Vec::new();
        }
        self.send_or_hold(term, &ids.tournament, written)
    }

    /// Sends a request to the playing process, or holds it until there is one.
    fn send_or_hold(
        &mut self,
        term: Term,
        tournament: &Ref,
        written: Option<W>,
    ) -> Vec<SessionOutput<W>> {
        let known = self.tournaments.iter_mut().find(|known| known.reference == *tournament);
        match known.map(|known| &mut known.stands) {
            Some(Stands::Announced { held, .. }) => {
                held.push((term, written));
                Vec::new()
            }
            Some(Stands::Accepted(pid)) => {
                vec![SessionOutput::Tell { to: pid.clone(), term, written }]
            }
            _ => vec![SessionOutput::Tell { to: self.pid.clone(), term, written }],
        }
    }

    /// Records a request. It keeps its reference as long as it is open.
    fn opens(
        &mut self,
        id: &str,
        question: Question,
        card: Option<Boxes>,
        now: Timestamp,
    ) -> Option<Next<W>> {
        let parts = Parts::of(id)?;
        let at = self.open.iter().position(|open| *open.of_match == *parts.of_match);
        if let Some(open) = at.map(|at| &mut self.open[at]) {
            let then = open.then.take().filter(|_| matches!(question, Question::Score { .. }));
            let next_one = open.answered && open.id.as_str() != id;
            if let Some((answer, sent)) = then
                && next_one
                && parts.game(&self.refs, &open.tournament) == open.game
            {
                self.held.retain(|held| held.id != open.id);
                (open.id, open.question) = (RequestId::from_text(id), question);
                open.refused = false;
                let id = open.id.clone();
                return Some(Next::Answer(SessionOutput::Answer { id, answer: Ok(answer), sent }));
            }
        }
        let mut reference = self.mark();
        let tournament = match at {
            Some(at) => self.open[at].tournament.clone(),
            None => self.refs.tournament(&parts.tournament()),
        };
        let game = parts.game(&self.refs, &tournament);
        if let Some(at) = at {
            // Move it to the end, as the latest.
            let open = self.open.remove(at);
            match open.id.as_str() == id {
                true if !open.answered => {
                    self.held.retain(|held| held.id != open.id);
                    reference = open.reference;
                }
                true => {}
                false => self.forget(&open, now),
            }
        }
        let ids = Ids { reference, tournament, game };
        self.open.push(Open {
            of_match: parts.of_match.into(),
            id: RequestId::from_text(id),
            reference: ids.reference.clone(),
            tournament: ids.tournament.clone(),
            game: ids.game.clone(),
            question,
            card,
            answered: false,
            refused: false,
            held: false,
            then: None,
        });
        Some(Next::Ask(ids))
    }
}

/// The session's reaction to a request.
enum Next<W> {
    /// Send it to the player.
    Ask(Ids),
    /// It is already answered.
    Answer(SessionOutput<W>),
}

fn then_stirred<W>(mut outputs: Vec<SessionOutput<W>>) -> Vec<SessionOutput<W>> {
    outputs.push(SessionOutput::Stirred);
    outputs
}

fn withdraw<W>(tournament: TournamentId) -> SessionOutput<W> {
    SessionOutput::Say(FromPlayer::Lobby(ToLobby::Withdraw { tournament }))
}

fn reject<W>(tournament: TournamentId) -> SessionOutput<W> {
    SessionOutput::Say(FromPlayer::Lobby(ToLobby::Reject { tournament }))
}
