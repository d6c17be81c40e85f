//! The start: the engine resumes the machines that the log shows as live.
//!
//! The lobby comes from its latest snapshot and the events since. The engine does not open finished
//! tournaments and matches, so the time of a start depends on the live ones only. The driver may
//! fold live matches on all cores.

use super::journal::StreamKey;
use super::lobby::LobbyCell;
use super::services::Services;
use super::{Engine, EngineError, MatchKey, Note, StreamReader, Time, Timer};
use agon_core::lobby::{Lobby, LobbyCommand};
use agon_core::{
    ApplyError, BadStream, Event, Line, Misfit, RecoveredMatch, Secret, Secrets, StreamEnd,
    Timestamp, Tournament, TournamentId, TournamentPlan,
};
use agon_games::Registry;
use std::collections::HashMap;

impl Services {
    /// The lines of a stream.
    pub(crate) fn load(&self, name: &str) -> Result<Vec<Line>, EngineError> {
        self.load_after(name, 0)
    }

    /// The lines of a stream after the first `after`.
    fn load_after(&self, name: &str, after: u64) -> Result<Vec<Line>, EngineError> {
        let texts = self.reader.load(name, after).map_err(EngineError::Read)?;
        self.parse(name, &texts, after)
    }

    pub(crate) fn parse(
        &self,
        name: &str,
        texts: &[String],
        after: u64,
    ) -> Result<Vec<Line>, EngineError> {
        let lines = parse(name, texts, after)?;
        self.note_seen(latest_of(&lines));
        Ok(lines)
    }

    /// Records that the log has an event of this time.
    pub(crate) fn note_seen(&self, at: Timestamp) {
        self.seen_at.set(self.seen_at.get().max(at));
    }

    /// Folds a machine; an error names the event it failed at.
    pub(crate) fn fold<T>(
        stream: &StreamKey,
        lines: &[Line],
        fold: impl Fn(&[Line]) -> Result<T, ApplyError>,
    ) -> Result<T, EngineError> {
        let named = |Misfit { seq, error }| EngineError::Fold { stream: stream.name(), seq, error };
        agon_core::fold(lines, fold).map_err(named)
    }

    /// The secret of a tournament, if the log has it.
    pub(crate) fn known_secret(&self, id: &TournamentId) -> Result<Option<Secret>, EngineError> {
        Ok(secret_in(self.load(&StreamKey::Secret(id.clone()).name())?))
    }
}

impl Engine {
    /// Resumes the machines that the log shows as live.
    pub(super) fn recover(&mut self) -> Result<(), EngineError> {
        self.begin_after_log();
        let version = self.recover_lobby()?;
        let end = StreamEnd::unchained(StreamKey::Lobby.name(), version);
        self.services.journals.open(StreamKey::Lobby, end);
        if self.services.has_only_cells() {
            self.recover_replica(version);
            return Ok(());
        }
        let (now, reconnect_ms) = (self.now_ms(), self.services.settings.reconnect_ms);
        // With an empty log, no player can have been disconnected.
        let away = self.services.seen_at.get() > Timestamp::default();
        self.services.grace_until = if away { now + reconnect_ms } else { now };
        self.cells.note_cut_off(self.unable_to_reconnect());
        self.set_log_version(self.services.settings.log_version);
        self.recover_cells()?;
        let seen_at = self.services.seen_at.get();
        if seen_at > Timestamp::default() {
            // While the server was down, nobody could sign up or answer.
            let answers_until = self.services.grace_until;
            let away_ms = now.since(seen_at);
            let command = LobbyCommand::Resume { away_ms, answers_until };
            let _ = self.step_lobby(command, Vec::new());
        }
        self.withdraw_lost_programs();
        self.lobby.register_houses(&mut self.services);
        self.services.timers.set(now + reconnect_ms, Timer::Reconnect);
        self.lobby.set_timer(&mut self.services);
        self.lobby.snapshot_if_due(&mut self.services);
        Ok(())
    }

    fn recover_cells(&mut self) -> Result<(), EngineError> {
        let running: Vec<TournamentPlan> = self.lobby.state().running().cloned().collect();
        for plan in &running {
            self.place(plan);
        }
        let own = running.iter().filter(|plan| self.cell_engines.owner(&plan.id).is_none());
        let own: Vec<TournamentId> = own.map(|plan| plan.id.clone()).collect();
        let stored = read_tournaments(&*self.services.reader, &self.services.games, &own)?;
        let mut stored: HashMap<TournamentId, StoredTournament> =
            stored.into_iter().map(|one| (one.id.clone(), one)).collect();
        for plan in running {
            match stored.remove(&plan.id) {
                Some(stored) => self.in_cells(|cells, cx| cells.take_up(cx, plan, stored))?,
                None => self.take_up_in_place(plan),
            }
        }
        self.cells.all_resumed();
        self.cell_engines.may_rebalance = true;
        self.rebalance();
        Ok(())
    }

    /// Starts the clock at the latest event of the log, in case the wall clock was set back since:
    /// otherwise all waits would be that much longer.
    fn begin_after_log(&mut self) {
        // A line that cannot be read is reported when its stream is folded.
        let latest = self.services.reader.latest();
        if let Some(line) = latest.and_then(|text| Line::read(&text).ok()) {
            self.services.time = Time::at(self.now_ms().max(line.at));
        }
    }

    /// Folds the lobby, from a snapshot if there is a valid one; returns the version of its stream.
    fn recover_lobby(&mut self) -> Result<u64, EngineError> {
        let kept = match LobbyCell::latest_snapshot(&*self.services.reader) {
            Ok(kept) => kept,
            Err(why) => {
                self.warn_of_snapshot(&why);
                None
            }
        };
        if let Some((lobby, seq)) = kept {
            match self.fold_lobby(lobby, seq) {
                Err(EngineError::Fold { error, .. }) => {
                    let why = format!("the lobby's snapshot does not fit its log: {error}");
                    self.warn_of_snapshot(&why);
                }
                folded => {
                    self.lobby.snapshot_covers(seq);
                    return folded;
                }
            }
        }
        self.fold_lobby(Lobby::default(), 0)
    }

    fn warn_of_snapshot(&mut self, why: &str) {
        let words = format!("{why}; all events of the lobby are read instead");
        self.note(Note::Warning(words));
    }

    /// Folds the lobby's events from event `seq` on.
    fn fold_lobby(&mut self, mut lobby: Lobby, seq: u64) -> Result<u64, EngineError> {
        let name = StreamKey::Lobby.name();
        // Including the last known event: its time shows that the server ran until then.
        let before = seq.saturating_sub(1);
        let lines = self.services.load_after(&name, before)?;
        for line in lines.iter().skip((seq - before) as usize) {
            lobby.apply(line.at, &line.event).map_err(|error| EngineError::Fold {
                stream: name.clone(),
                seq: line.seq,
                error,
            })?;
        }
        self.lobby.resume(lobby);
        Ok(before + lines.len() as u64)
    }
}

/// A running tournament, as the log has it.
pub struct StoredTournament {
    id: TournamentId,
    pub(crate) secret: Option<Secret>,
    pub(crate) lines: Vec<Line>,
    pub(crate) end: StreamEnd,
    /// Its open matches, except for those that the engine folds itself.
    pub(crate) matches: Vec<(MatchKey, RecoveredMatch)>,
    /// The time of its latest event.
    pub(crate) seen_at: Timestamp,
}

impl StoredTournament {
    /// The tournament.
    pub fn id(&self) -> &TournamentId {
        &self.id
    }

    fn parse(
        id: &TournamentId,
        names: &[String],
        (secret, texts): (Vec<String>, Vec<String>),
    ) -> Result<StoredTournament, EngineError> {
        let secret = parse(&names[0], &secret, 0)?;
        let lines = parse(&names[1], &texts, 0)?;
        Ok(StoredTournament {
            id: id.clone(),
            seen_at: latest_of(&secret).max(latest_of(&lines)),
            secret: secret_in(secret),
            end: StreamEnd::of(names[1].as_str(), &texts),
            lines,
            matches: Vec::new(),
        })
    }

    /// The open matches. Whoever resumes the tournament reports what is wrong with it.
    fn open_matches(&self, games: &Registry) -> Vec<(MatchKey, Secrets)> {
        let Some(secret) = &self.secret else { return Vec::new() };
        let Ok(machine) = Tournament::fold(&self.lines, games, None) else { return Vec::new() };
        let open = machine.open_matches().map(|one| {
            let key = MatchKey::new(self.id.clone(), one.id.clone());
            (key, Secrets::Known(secret.of_match(&one.id)))
        });
        open.collect()
    }
}

/// Reads running tournaments with their open matches, in few questions to the log. A driver may do
/// so on any thread.
pub fn read_tournaments(
    reader: &dyn StreamReader,
    games: &Registry,
    ids: &[TournamentId],
) -> Result<Vec<StoredTournament>, EngineError> {
    let streams = ids
        .iter()
        .flat_map(|id| [StreamKey::Secret(id.clone()), StreamKey::Tournament(id.clone())]);
    let names: Vec<String> = streams.map(|stream| stream.name()).collect();
    let mut texts = reader.load_together(&names).map_err(EngineError::Read)?.into_iter();
    let mut stored = Vec::with_capacity(ids.len());
    for (id, names) in ids.iter().zip(names.chunks(2)) {
        let both = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
        stored.push(StoredTournament::parse(id, names, both)?);
    }
    let open = stored.iter().flat_map(|one| one.open_matches(games)).collect();
    let places: HashMap<TournamentId, usize> =
        stored.iter().enumerate().map(|(place, one)| (one.id.clone(), place)).collect();
    for (key, recovered) in reader.fold_matches(open, games) {
        if let Some(place) = places.get(&key.tournament) {
            stored[*place].matches.push((key, recovered));
        }
    }
    Ok(stored)
}

fn parse(name: &str, texts: &[String], after: u64) -> Result<Vec<Line>, EngineError> {
    let lines = texts.iter().zip(after + 1..).map(|(text, seq)| {
        Line::read(text).map_err(|bad| EngineError::Line { stream: name.into(), seq, bad })
    });
    lines.collect()
}

fn latest_of(lines: &[Line]) -> Timestamp {
    lines.iter().map(|line| line.at).max().unwrap_or(Timestamp::default())
}

/// The secret in the stream of a tournament's secret.
pub(crate) fn secret_in(lines: Vec<Line>) -> Option<Secret> {
    lines.into_iter().find_map(|line| match line.event {
        Event::SecretKept(kept) => Some(kept.secret),
        _ => None,
    })
}

/// Reads a match from its stream; `None` if it has none.
pub(crate) fn read_match(
    reader: &dyn StreamReader,
    key: &MatchKey,
    games: &Registry,
    secrets: Secrets,
) -> Result<Option<RecoveredMatch>, EngineError> {
    let stream = StreamKey::Match(key.clone()).name();
    let texts = reader.load(&stream, 0).map_err(EngineError::Read)?;
    RecoveredMatch::read(&stream, &texts, games, secrets).map_err(|bad| match bad {
        BadStream::Line { seq, bad } => EngineError::Line { stream, seq, bad },
        BadStream::Misfit(Misfit { seq, error }) => EngineError::Fold { stream, seq, error },
    })
}
