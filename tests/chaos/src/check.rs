//! Checks the log against the players' own records, after everything is over. It reads the log in
//! the order of the database, over all streams, so that it can place events in time without
//! trusting any clock of the server.

use crate::history::{History, Ms, Outage, beyond};
use crate::log::LogPlace;
use crate::player::Player;
use agon_core::{Event, Faulted, GameEnd, Line};
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// A fault in the log, and the bounds of the time when it was charged.
#[derive(Debug)]
pub(crate) struct Charged {
    pub(crate) stream: String,
    pub(crate) event: &'static str,
    pub(crate) faulted: Faulted,
    pub(crate) after: Ms,
    pub(crate) before: Ms,
}

/// How long a record may take from the player to the disk when nothing is disturbed.
const ON_ITS_WAY_MS: Ms = 2_000;

/// The contents of the log.
#[derive(Default, Debug)]
pub(crate) struct Read {
    /// Answers that were accepted, by the id of their request.
    accepted: HashMap<Box<str>, Box<str>>,
    /// Seats that left their game before the end (`cup:r1m1.1.0`), and games that were not played
    /// to their end (`cup:r1m1.1`, for all seats).
    broken_off: HashSet<String>,
    /// Games that ended: `cup:r1m1.1`.
    ended_games: HashSet<String>,
    /// Winners of matches (`cup/r1m1`) and tournaments.
    matches: HashMap<String, Vec<String>>,
    tournaments: BTreeMap<String, Option<Vec<String>>>,
    pub(crate) faults: Vec<Charged>,
    pub(crate) events: u64,
    pub(crate) games: u64,
    pub(crate) doubled: u64,
    pub(crate) lost: u64,
    pub(crate) complaints: Vec<String>,
    /// The latest time at which a player sent an answer that is accepted so far.
    latest: Ms,
    /// Times when nothing came through.
    outages: Vec<Outage>,
    /// The first fault whose `before` is still open.
    undated: usize,
    /// The players by seat, in the current game of a running match.
    seats: HashMap<String, (u32, Vec<String>)>,
}

impl Read {
    pub(crate) fn decisions(&self) -> usize {
        self.accepted.len()
    }

    pub(crate) fn match_count(&self) -> usize {
        self.matches.len()
    }

    pub(crate) fn tournament_count(&self) -> usize {
        self.tournaments.len()
    }
}

/// Reads the whole log and compares it with the players' records. If tournaments `must_end`, one
/// that has not is a violation.
pub(crate) fn check(
    log: &LogPlace,
    players: &[Arc<Player>],
    announced: &BTreeSet<String>,
    history: &History,
    must_end: bool,
) -> Result<Read> {
    let by_name: HashMap<&str, &Arc<Player>> =
        players.iter().map(|player| (player.name.as_str(), player)).collect();
    let mut read = Read { outages: history.outages(), ..Read::default() };
    log.each(|lines| {
        for text in lines.lines() {
            let line = Line::read(text).with_context(|| format!("a line of the log: {text}"))?;
            read.events += 1;
            read.take(&line, &by_name);
        }
        Ok(())
    })?;
    read.date_faults(history.now());
    for (id, winners) in &read.tournaments {
        if must_end && winners.is_none() {
            read.complaints.push(format!("{id} has not ended"));
        }
    }
    for id in announced.iter().filter(|id| !read.tournaments.contains_key(*id)) {
        read.complaints.push(format!("{id} was announced, and is not in the log"));
    }
    for player in players {
        read.hear(player);
    }
    Ok(read)
}

impl Read {
    fn take(&mut self, line: &Line, players: &HashMap<&str, &Arc<Player>>) {
        let mut parts = line.stream.splitn(3, '/');
        let (kind, of) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let id = parts.next().unwrap_or_default();
        let key = || format!("{of}/{id}");
        let name = |players: &[agon_core::PlayerName]| -> Vec<String> {
            players.iter().map(ToString::to_string).collect()
        };
        match &line.event {
            Event::GameStarted(started) => {
                self.seats.insert(key(), (started.game, name(&started.seats)));
            }
            Event::AnswerAccepted(accepted) => {
                let request = format!("{of}:{}", accepted.request);
                let seats = self.seats.get(&key());
                let player = seats.and_then(|(_, seats)| seats.get(accepted.seat.index()).cloned());
                self.accept(request, player, accepted.answer.get(), players);
            }
            Event::SeatRemoved(removed) => {
                if let Some((game, _)) = self.seats.get(&key()) {
                    let seat = removed.seat.index();
                    self.broken_off.insert(format!("{of}:{id}.{game}.{seat}"));
                }
            }
            Event::GameEnded(ended) => {
                let game = format!("{of}:{id}.{}", ended.result.game);
                self.games += 1;
                if ended.result.end != GameEnd::Played {
                    self.broken_off.insert(game.clone());
                }
                self.ended_games.insert(game);
            }
            Event::MatchEnded(ended) => {
                self.matches.insert(key(), name(&ended.result.winners));
                self.seats.remove(&key());
            }
            Event::TournamentStarted(started) => {
                self.tournaments.entry(started.plan.id.to_string()).or_default();
            }
            Event::TournamentAnnounced(announced) => {
                self.tournaments.entry(announced.announcement.id.to_string()).or_default();
            }
            Event::TournamentFinished(finished) => {
                let winners = Some(name(&finished.winners));
                let before = self.tournaments.insert(finished.tournament.to_string(), winners);
                if before.is_some_and(|before| before.is_some()) {
                    self.complaints.push(format!("{} ended twice", finished.tournament));
                }
            }
            Event::PlayerLeft(left) => self.charge(line, "player-left", &left.faulted),
            Event::PlayerFaulted(fault) => self.charge(line, "player-faulted", &fault.faulted),
            Event::WaitExpired(expired) => self.charge(line, "wait-expired", &expired.faulted),
            Event::PlayerDropped(dropped) => self.charge(line, "player-dropped", &dropped.faulted),
            _ => debug_assert!(!kind.is_empty()),
        }
    }

    fn charge(&mut self, line: &Line, event: &'static str, faulted: &Faulted) {
        let (stream, faulted) = (line.stream.to_string(), faulted.clone());
        let (after, before) = (self.latest, Ms::MAX);
        self.faults.push(Charged { stream, event, faulted, after, before });
    }

    /// Sets the upper time bound of the faults that have none yet.
    fn date_faults(&mut self, before: Ms) {
        for charged in &mut self.faults[self.undated..] {
            charged.before = before;
        }
        self.undated = self.faults.len();
    }

    fn accept(
        &mut self,
        request: String,
        player: Option<String>,
        answer: &str,
        players: &HashMap<&str, &Arc<Player>>,
    ) {
        let before = self.accepted.insert(request.as_str().into(), answer.into());
        if before.is_some() {
            self.doubled += 1;
            self.complaints.push(format!("{request} was accepted twice"));
        }
        let Some(player) = player else {
            self.complaints.push(format!("{request} was accepted, and nobody sits there"));
            return;
        };
        // The server itself confirms questions that need no answer.
        if player.starts_with("house:") || answer == "\"ok\"" {
            return;
        }
        let Some(player) = players.get(player.as_str()) else {
            self.complaints.push(format!("{request}: nobody knows {player}"));
            return;
        };
        let record = player.record();
        let Some(sent) = record.sent.get(request.as_str()) else {
            self.complaints.push(format!("{request}: {} never sent {answer}", player.name));
            return;
        };
        if !sent.answers.iter().any(|sent| same(sent, answer)) {
            let what = format!("{request}: {} sent {:?}, not {answer}", player.name, sent.answers);
            self.complaints.push(what);
        }
        if let (Some(first), Some(last)) = (sent.first, sent.last) {
            self.latest = self.latest.max(first);
            if self.undated < self.faults.len() {
                self.date_faults(beyond(&self.outages, last.max(self.latest), ON_ITS_WAY_MS));
            }
        }
    }

    /// Compares what one player received and sent with the log.
    fn hear(&mut self, player: &Player) {
        let (record, name) = (player.record(), &player.name);
        let mut wrong = Vec::new();
        for (id, accepted) in &record.repeated {
            match self.accepted.get(id) {
                Some(answer) if same(answer, accepted) => {}
                answer => wrong
                    .push(format!("{id}: notified that {accepted} counts, the log: {answer:?}")),
            }
        }
        for (game, latest) in &record.asked {
            // A request for a later turn implies that all earlier turns were answered.
            for turn in 0..*latest {
                if !self.accepted.contains_key(format!("{game}.{turn}").as_str()) {
                    wrong.push(format!("{game}.{latest} was asked, and {turn} is not in the log"));
                }
            }
        }
        let mut lost = 0;
        for id in record.sent.keys().filter(|id| !self.accepted.contains_key(*id)) {
            let seat = id.rsplit_once('.').map_or("", |(seat, _)| seat);
            let game = seat.rsplit_once('.').map_or("", |(game, _)| game);
            let broken = self.broken_off.contains(seat) || self.broken_off.contains(game);
            if !broken || !self.ended_games.contains(game) {
                lost += 1;
                wrong.push(format!("{id} was answered, and is not in the log"));
            }
        }
        for (key, won) in &record.over {
            let winners = self.matches.get(&**key);
            if winners.is_none_or(|winners| winners.contains(name) != *won) {
                wrong.push(format!("{key}: told that won is {won}, the log: {winners:?}"));
            }
        }
        for (id, won) in record.ended.iter().filter(|(_, won)| *won) {
            let winners = self.tournaments.get(&**id).and_then(Option::as_ref);
            if winners.is_none_or(|winners| !winners.contains(name)) {
                wrong.push(format!("{id}: told that won is {won}, the log: {winners:?}"));
            }
        }
        drop(record);
        self.lost += lost;
        self.complaints.extend(wrong.into_iter().map(|what| format!("{name}: {what}")));
    }
}

/// Returns whether two texts are the same JSON.
fn same(one: &str, other: &str) -> bool {
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    one == other || value(one).is_some_and(|one| Some(one) == value(other))
}
