//! Compares a player's receipt with a log: the log must hold what the player sent and received.
//!
//! An operator can rewrite a whole log, including its heads, so that it still follows from the
//! rules. Only a player who recorded the events at the time can prove it.
//! `docs/protocol/receipt.md` is the contract.

use super::{Finding, Stream, TournamentCheck, finding, revealed};
use crate::chain::Head;
use crate::event::{AnswerAccepted, Event};
use crate::fair::{Commitment, Nonce, Secret};
use crate::fault::{Fault, FaultKind, Faulted};
use crate::ids::{MatchId, PlayerName, RequestId, TournamentId};
use crate::line::Line;
use crate::match_::{Match, MatchCommand};
use crate::replay::{MatchReplay, ReplayStep};
use agon_games::Registry;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// One line of a receipt.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ReceiptEntry {
    /// The player connected.
    Hello {
        /// As whom.
        player: PlayerName,
        /// The nonce that the player adds to the luck of their games.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nonce: Option<Nonce>,
    },
    /// The server named a tournament and committed itself to its luck.
    Tournament {
        /// The tournament.
        tournament: TournamentId,
        /// To what.
        commitment: Commitment,
    },
    /// The player is about to send an answer.
    Answer {
        /// The request's id, as it was received.
        id: String,
        /// The answer.
        answer: Value,
    },
    /// The server rejected an answer.
    Refused {
        /// The request's id.
        id: String,
        /// A stable word: `late`, `repeated` …
        code: String,
    },
    /// The player's program wrote to stderr. The log says nothing about that; the entry is for the
    /// player.
    Stderr {
        /// The request that the program answered next; `None` before the first one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The end of what it wrote.
        text: String,
    },
    /// The connection closed.
    Lost {},
    /// The server reported how a match ended.
    MatchOver {
        /// The tournament.
        tournament: TournamentId,
        /// The match.
        r#match: MatchId,
        /// True if the player won it.
        won: bool,
        /// The head of its stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
    },
    /// The server reported how a tournament ended.
    TournamentEnded {
        /// The tournament.
        tournament: TournamentId,
        /// The winners.
        winners: Vec<PlayerName>,
        /// The secret that all luck came from.
        secret: Secret,
        /// The head of its stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
    },
    /// An entry of a later version.
    #[serde(other)]
    Unknown,
}

/// Why a receipt cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadReceipt {
    /// A line is not an entry.
    #[error("line {0} is no entry of a receipt: {1}")]
    Line(usize, String),
    /// The receipt belongs to another player.
    #[error("it is the receipt of {found}, not of {wanted}")]
    Player {
        /// The player of the receipt.
        found: PlayerName,
        /// The expected player.
        wanted: PlayerName,
    },
}

/// Everything that one player sent and received.
#[derive(Clone, PartialEq, Debug)]
pub struct Receipt {
    player: PlayerName,
    entries: Vec<ReceiptEntry>,
}

/// How much of a receipt was found in a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReceiptCheck {
    /// Tournaments.
    pub tournaments: u64,
    /// Matches.
    pub matches: u64,
    /// Answers that are in the log as they were sent.
    pub answers: u64,
}

impl Receipt {
    /// Reads the receipt of a player. A last line that a crash cut short is ignored.
    pub fn read(player: &PlayerName, text: &str) -> Result<Receipt, BadReceipt> {
        let mut entries = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            match serde_json::from_str(line) {
                Ok(ReceiptEntry::Hello { player: found, .. }) if found != *player => {
                    return Err(BadReceipt::Player { found, wanted: player.clone() });
                }
                Ok(entry) => entries.push(entry),
                Err(_) if line.trim().is_empty() || is_torn(text, number) => {}
                Err(error) => return Err(BadReceipt::Line(number, error.to_string())),
            }
        }
        Ok(Receipt { player: player.clone(), entries })
    }

    /// The tournaments that the receipt names.
    pub fn tournaments(&self) -> BTreeSet<&TournamentId> {
        let named = self.entries.iter().filter_map(|entry| match entry {
            ReceiptEntry::Tournament { tournament, .. } => Some(tournament),
            _ => None,
        });
        named.collect()
    }

    /// Compares the receipt with a tournament's stream.
    pub fn check_tournament(
        &self,
        stream: &Stream,
        check: &TournamentCheck,
    ) -> Result<ReceiptCheck, Finding> {
        let mut seen = ReceiptCheck::default();
        let Some(first) = stream.first() else { return Ok(seen) };
        let last = stream.last().expect("the stream has a first line");
        for entry in &self.entries {
            match entry {
                ReceiptEntry::Tournament { tournament, commitment }
                    if *tournament == check.plan.id =>
                {
                    seen.tournaments = 1;
                    let told = stream.iter().any(|line| match &line.event {
                        Event::TournamentCreated(created) => created.commitment == *commitment,
                        Event::LuckRenewed(renewed) => renewed.commitment == *commitment,
                        _ => false,
                    });
                    if !told {
                        return Err(self.differs(first, "was told another commitment"));
                    }
                    if !check.plan.players.contains(&self.player) {
                        return Err(self.differs(first, "played in it"));
                    }
                }
                ReceiptEntry::TournamentEnded { tournament, winners, secret, head }
                    if *tournament == check.plan.id =>
                {
                    if check.secret.as_ref() != Some(secret) {
                        return Err(self.differs(last, "was told another secret"));
                    }
                    if check.results.winners != *winners {
                        return Err(self.differs(last, "was told other winners"));
                    }
                    if head.is_some() && *head != check.head {
                        return Err(self.differs(last, "was told another head"));
                    }
                }
                ReceiptEntry::MatchOver { tournament, r#match, .. }
                    if *tournament == check.plan.id =>
                {
                    let paired = check.matches.get(r#match);
                    if paired.is_none_or(|plan| !plan.players.contains(&self.player)) {
                        return Err(self.differs(last, &format!("played in match {}", r#match)));
                    }
                }
                _ => {}
            }
        }
        Ok(seen)
    }

    /// Compares the receipt with a match's stream, which must be verified already.
    pub fn check_match(&self, stream: &Stream, games: &Registry) -> Result<ReceiptCheck, Finding> {
        let Some(Event::MatchCreated(created)) = stream.first().map(|line| &line.event) else {
            return Ok(ReceiptCheck::default());
        };
        let plan = &created.plan;
        let sent = self.answers(&plan.tournament, &plan.id);
        let in_match = plan.players.contains(&self.player);
        if !in_match {
            return match sent.is_empty() {
                true => Ok(ReceiptCheck::default()),
                false => Err(self.differs(&stream[0], "answered in it, and is not in it")),
            };
        }
        let mut walk =
            Walk { receipt: self, sent, accepted: BTreeSet::new(), timeouts: Vec::new() };
        walk.along(stream, games)?;
        walk.missing(stream)?;
        self.check_ends(stream, plan.tournament.clone(), &plan.id)?;
        Ok(ReceiptCheck { tournaments: 0, matches: 1, answers: walk.accepted.len() as u64 })
    }

    /// Compares how a match ended with what the server reported to the player.
    fn check_ends(&self, stream: &Stream, of: TournamentId, id: &MatchId) -> Result<(), Finding> {
        for entry in &self.entries {
            let ReceiptEntry::MatchOver { tournament, r#match, won, head } = entry else {
                continue;
            };
            if *tournament != of || r#match != id {
                continue;
            }
            let last = stream.last().expect("a match has lines");
            let same = |(line, ended): (&Line, &Head)| match &line.event {
                Event::MatchEnded(over) => {
                    over.result.winners.contains(&self.player) == *won
                        && head.as_ref().is_none_or(|head| head == ended)
                }
                _ => false,
            };
            if !stream.ends().any(same) {
                let word = if *won { "won" } else { "lost" };
                let head = head.as_ref().map_or("none".into(), Head::to_string);
                let what = format!("was told that it {word} the match, with the head {head}");
                return Err(self.differs(last, &what));
            }
        }
        Ok(())
    }

    /// The answers in one match, by the id of the request in the log.
    fn answers(&self, tournament: &TournamentId, id: &MatchId) -> BTreeMap<String, Sent> {
        let mut answers: BTreeMap<String, Sent> = BTreeMap::new();
        let own = |text: &str| {
            // Over pipes there is only one tournament, and ids do not name it.
            let request = match text.split_once(':') {
                Some((of, request)) if of == tournament.as_str() => request,
                Some(_) => return None,
                None => text,
            };
            let of_match = request.split('.').next() == Some(id.as_str());
            of_match.then(|| request.to_owned())
        };
        let mut hellos = 0;
        for entry in &self.entries {
            match entry {
                ReceiptEntry::Answer { id, answer } => {
                    if let Some(id) = own(id) {
                        answers.entry(id).or_default().answers.push(answer.clone());
                    }
                }
                ReceiptEntry::Refused { id, .. } => {
                    if let Some(sent) = own(id).and_then(|id| answers.get_mut(&id)) {
                        sent.in_doubt = true;
                    }
                }
                ReceiptEntry::Lost {} => answers.values_mut().for_each(|sent| sent.in_doubt = true),
                // A second hello means that the player lost a connection.
                ReceiptEntry::Hello { .. } => {
                    hellos += 1;
                    if hellos > 1 {
                        answers.values_mut().for_each(|sent| sent.in_doubt = true);
                    }
                }
                _ => {}
            }
        }
        answers
    }

    fn nonces(&self) -> Vec<Option<&Nonce>> {
        let nonces = self.entries.iter().filter_map(|entry| match entry {
            ReceiptEntry::Hello { nonce, .. } => Some(nonce.as_ref()),
            _ => None,
        });
        nonces.collect()
    }

    /// Returns whether the player ever lost their connection.
    fn was_cut_off(&self) -> bool {
        let lost = self.entries.iter().any(|entry| matches!(entry, ReceiptEntry::Lost {}));
        lost || self.nonces().len() > 1
    }

    fn differs(&self, line: &Line, what: &str) -> Finding {
        finding(line, format!("by its receipt, {} {what}", self.player))
    }
}

/// Returns whether a line is the last one and has no line end.
fn is_torn(text: &str, number: usize) -> bool {
    !text.ends_with('\n') && number == text.lines().count()
}

/// The answers sent to one request.
#[derive(Default)]
struct Sent {
    answers: Vec<Value>,
    /// The server rejected an answer, or the connection closed afterwards.
    in_doubt: bool,
}

/// A match, step by step, beside the answers that the player sent.
struct Walk<'a> {
    receipt: &'a Receipt,
    sent: BTreeMap<String, Sent>,
    accepted: BTreeSet<String>,
    /// Requests for which the log charges the player with a timeout.
    timeouts: Vec<(String, Line)>,
}

impl Walk<'_> {
    fn along(&mut self, stream: &Stream, games: &Registry) -> Result<(), Finding> {
        for line in stream.iter() {
            if let Event::GameStarted(started) = &line.event {
                self.seats(line, started.game, &started.seats)?;
            }
        }
        let secrets = revealed(stream, None)?;
        let mut replay = MatchReplay::new(stream.iter(), games, secrets)
            .map_err(|error| finding(&stream[0], error.to_string()))?;
        let mut begins_record = true;
        // A step fails where a game is still running, because its secret is not known yet.
        while let Some(Ok(ReplayStep { line, before, .. })) = replay.step() {
            if begins_record {
                self.cause(line, before)?;
            }
            begins_record = line.more == 0;
        }
        Ok(())
    }

    fn cause(&mut self, line: &Line, played: &Match) -> Result<(), Finding> {
        let player = &self.receipt.player;
        match &line.event {
            Event::PlayerArrived(arrived) if arrived.player == *player => {
                let known = self.receipt.nonces();
                match known.is_empty() || known.contains(&arrived.nonce.as_ref()) {
                    true => Ok(()),
                    false => Err(self.receipt.differs(line, "gave another nonce")),
                }
            }
            Event::AnswerAccepted(accepted) => {
                let seats = played.referee().map_or(&[][..], |referee| referee.seats());
                match seats.get(accepted.seat.index()) == Some(player) {
                    true => self.answer(line, accepted, played),
                    false => Ok(()),
                }
            }
            Event::PlayerFaulted(event) => self.fault(line, &event.faulted),
            Event::PlayerLeft(event) => self.fault(line, &event.faulted),
            Event::WaitExpired(event) => self.fault(line, &event.faulted),
            _ => Ok(()),
        }
    }

    /// Checks that the player sent an answer equal to the accepted one.
    fn answer(
        &mut self,
        line: &Line,
        accepted: &AnswerAccepted,
        played: &Match,
    ) -> Result<(), Finding> {
        let id = accepted.request.as_str();
        let Some(sent) = self.sent.get(id) else {
            // The server confirms notifications in the name of native players.
            if accepted.answer.get() == "\"ok\"" {
                return Ok(());
            }
            return Err(self.receipt.differs(line, "never answered this request"));
        };
        let same = |answer: &Value| {
            serde_json::from_str::<Value>(accepted.answer.get()).is_ok_and(|found| found == *answer)
                || self.canonical(&accepted.request, answer, line, played).as_deref()
                    == Some(accepted.answer.get())
        };
        if !sent.answers.iter().any(same) {
            let said: Vec<String> = sent.answers.iter().map(Value::to_string).collect();
            return Err(self.receipt.differs(line, &format!("answered {}", said.join(", then "))));
        }
        self.accepted.insert(id.to_owned());
        Ok(())
    }

    /// An answer in the canonical form of the game.
    fn canonical(
        &self,
        request: &RequestId,
        answer: &Value,
        line: &Line,
        played: &Match,
    ) -> Option<String> {
        let (player, request) = (self.receipt.player.clone(), request.clone());
        let (answer, took_ms) = (answer.to_string(), Some(0));
        let command = MatchCommand::Answer { player, request, answer, took_ms };
        let (events, _) = played.clone().step_as_far(line.at, command);
        match events.into_iter().next()? {
            Event::AnswerAccepted(accepted) => Some(accepted.answer.get().to_owned()),
            _ => None,
        }
    }

    fn fault(&mut self, line: &Line, faulted: &Faulted) -> Result<(), Finding> {
        if faulted.player != self.receipt.player {
            return Ok(());
        }
        let Fault { kind, answer, .. } = &faulted.fault;
        let id = faulted.request.as_ref().map(RequestId::as_str);
        match (kind, id) {
            (FaultKind::Timeout, Some(id)) => self.timeouts.push((id.to_owned(), line.clone())),
            (FaultKind::Disconnected, _) if !self.receipt.was_cut_off() => {
                return Err(self.receipt.differs(line, "never lost its connection"));
            }
            (FaultKind::Cheat | FaultKind::Illegal, Some(id)) => {
                let whole = answer.as_ref().filter(|text| text.len() < Fault::EVIDENCE_MAX - 4);
                let evidence = whole.and_then(|text| serde_json::from_str::<Value>(text).ok());
                let sent = || self.sent.get(id).map_or(&[][..], |sent| &sent.answers);
                if evidence.is_some_and(|evidence| !sent().contains(&evidence)) {
                    return Err(self.receipt.differs(line, "never sent this answer"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks that the player sat in the seat that they answered from.
    fn seats(&self, line: &Line, game: u32, seats: &[PlayerName]) -> Result<(), Finding> {
        let own = seats.iter().position(|player| *player == self.receipt.player);
        let other = self
            .sent
            .keys()
            .filter_map(|id| Turn::of(id))
            .find(|turn| turn.game == game && own != Some(turn.seat));
        match other {
            None => Ok(()),
            Some(turn) => {
                let what = format!("sat at place {} in game {game}", turn.seat);
                Err(self.receipt.differs(line, &what))
            }
        }
    }

    /// Checks that the log holds every answer that the server did not reject.
    fn missing(&self, stream: &Stream) -> Result<(), Finding> {
        let sure = |id: &str| {
            let sent = self.sent.get(id);
            sent.is_some_and(|sent| !sent.in_doubt) && !self.accepted.contains(id)
        };
        if let Some((_, line)) = self.timeouts.iter().find(|(id, _)| sure(id)) {
            let what = "answered this request, and the server did not refuse the answer";
            return Err(self.receipt.differs(line, what));
        }
        let Some((end, _)) = stream.ends().last() else { return Ok(()) };
        // The last answer in a game may have crossed with the game's end.
        let turns = self.sent.keys().filter_map(|id| Some((id, Turn::of(id)?)));
        for (id, turn) in turns.clone() {
            let later = turns.clone().any(|(_, other)| other.follows(turn));
            let faulted = stream.iter().any(|line| is_fault_of(&line.event, id));
            if later && sure(id) && !faulted {
                return Err(self.receipt.differs(end, &format!("answered request {id}")));
            }
        }
        Ok(())
    }
}

fn is_fault_of(event: &Event, id: &str) -> bool {
    let faulted = match event {
        Event::PlayerFaulted(event) => &event.faulted,
        Event::PlayerLeft(event) => &event.faulted,
        Event::WaitExpired(event) => &event.faulted,
        _ => return false,
    };
    faulted.request.as_ref().is_some_and(|request| request.as_str() == id)
}

/// The parts of a request id in a game: `MATCH.GAME.SEAT.NUMBER`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Turn {
    game: u32,
    seat: usize,
    number: u32,
}

impl Turn {
    fn of(id: &str) -> Option<Turn> {
        let mut parts = id.split('.').skip(1);
        let game = parts.next()?.parse().ok()?;
        let seat = parts.next()?.parse().ok()?;
        let number = parts.next()?.parse().ok()?;
        parts.next().is_none().then_some(Turn { game, seat, number })
    }

    /// Returns whether this is a later request of the same game, or belongs to a later game.
    fn follows(self, other: Turn) -> bool {
        self.game > other.game || (self.game == other.game && self.number > other.number)
    }
}
