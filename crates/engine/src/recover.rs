//! The start: the engine resumes the machines that the log shows as live.
//!
//! The lobby comes from its latest snapshot and the events since. The engine does not open finished
//! tournaments and matches, so the time of a start depends on the live ones only. The driver may
//! fold live matches on all cores.

use super::journal::StreamKey;
use super::{Engine, EngineError, MatchKey, Note, StreamReader, Time, Timer};
use agon_core::lobby::{Lobby, LobbyCommand};
use agon_core::{
    ApplyError, BadStream, Line, Misfit, RecoveredMatch, Secrets, StreamEnd, Tournament,
};
use agon_games::Registry;

impl Engine {
    /// The lines of a stream.
    pub(super) fn load(&self, name: &str) -> Result<Vec<Line>, EngineError> {
        self.load_after(name, 0)
    }

    /// The lines of a stream with a chain, and its end.
    pub(super) fn load_chained(&self, name: &str) -> Result<(Vec<Line>, StreamEnd), EngineError> {
        let texts = self.reader.load(name, 0).map_err(EngineError::Read)?;
        Ok((self.parse(name, &texts, 0)?, StreamEnd::of(name, &texts)))
    }

    /// The lines of a stream after the first `after`.
    fn load_after(&self, name: &str, after: u64) -> Result<Vec<Line>, EngineError> {
        let texts = self.reader.load(name, after).map_err(EngineError::Read)?;
        self.parse(name, &texts, after)
    }

    fn parse(&self, name: &str, texts: &[String], after: u64) -> Result<Vec<Line>, EngineError> {
        let lines = texts.iter().zip(after + 1..).map(|(text, seq)| {
            Line::read(text).map_err(|bad| EngineError::Line { stream: name.into(), seq, bad })
        });
        let lines: Vec<Line> = lines.collect::<Result<_, _>>()?;
        let latest = lines.iter().map(|line| line.at).max().unwrap_or(0);
        self.seen_at.set(self.seen_at.get().max(latest));
        Ok(lines)
    }

    /// Folds a machine; an error names the event it failed at.
    pub(super) fn fold<T>(
        stream: &StreamKey,
        lines: &[Line],
        fold: impl Fn(&[Line]) -> Result<T, ApplyError>,
    ) -> Result<T, EngineError> {
        let named = |Misfit { seq, error }| EngineError::Fold { stream: stream.name(), seq, error };
        agon_core::fold(lines, fold).map_err(named)
    }

    /// Resumes the machines that the log shows as live.
    pub(super) fn recover(&mut self) -> Result<(), EngineError> {
        self.begin_after_log();
        let version = self.recover_lobby()?;
        let name = StreamKey::Lobby.name();
        self.journals.open(StreamKey::Lobby, StreamEnd::unchained(name, version));
        let now = self.now_ms();
        // With an empty log, no player can have been disconnected.
        let away = self.seen_at.get() > 0;
        self.grace_until = if away { now + self.settings.reconnect_ms } else { now };
        self.note_cut_off();
        // A match that cannot be read ahead reports its error when it is resumed.
        let open = if self.reader.reads_ahead() { self.open_matches()? } else { Vec::new() };
        self.folded_ahead = self.reader.fold_matches(open, &self.games);
        self.recover_tournaments()?;
        self.folded_ahead.clear();
        self.note_cut_off_before();
        let seen_at = self.seen_at.get();
        if seen_at > 0 {
            // While the server was down, nobody could sign up or answer.
            let (away_ms, answers_until) = (now.saturating_sub(seen_at), self.grace_until);
            let command = LobbyCommand::Resume { away_ms, answers_until };
            let _ = self.step_lobby(command, Vec::new());
        }
        self.withdraw_lost_programs();
        self.register_houses();
        self.timers.set(now + self.settings.reconnect_ms, Timer::Reconnect);
        self.set_lobby_timer();
        self.snapshot_if_due();
        Ok(())
    }

    /// Recovers a match from its stream, if it has one: folded ahead, or folded now.
    pub(super) fn recover_match(
        &mut self,
        key: &MatchKey,
        secrets: Secrets,
    ) -> Result<Option<RecoveredMatch>, EngineError> {
        let recovered = match self.folded_ahead.remove(key) {
            Some(recovered) => Some(recovered),
            None => read_match(&*self.reader, key, &self.games, secrets)?,
        };
        let latest = recovered.as_ref().map_or(0, |recovered| recovered.latest_at);
        self.seen_at.set(self.seen_at.get().max(latest));
        Ok(recovered)
    }

    /// The open matches of all running tournaments.
    fn open_matches(&self) -> Result<Vec<(MatchKey, Secrets)>, EngineError> {
        let mut open = Vec::new();
        for plan in self.lobby.running() {
            let Some(secret) = self.known_secret(&plan.id)? else { continue };
            let lines = self.load(&StreamKey::Tournament(plan.id.clone()).name())?;
            let Ok(machine) = Tournament::fold(&lines, &self.games, None) else { continue };
            open.extend(machine.open_matches().map(|one| {
                let key = MatchKey::new(plan.id.clone(), one.id.clone());
                (key, Secrets::Known(secret.of_match(&one.id)))
            }));
        }
        Ok(open)
    }

    /// Starts the clock at the latest event of the log, in case the wall clock was set back since:
    /// otherwise all waits would be that much longer.
    fn begin_after_log(&mut self) {
        // A line that cannot be read is reported when its stream is folded.
        let latest = self.reader.latest();
        if let Some(line) = latest.and_then(|text| Line::read(&text).ok()) {
            self.time = Time::at(self.time.now.max(line.at));
        }
    }

    /// Folds the lobby, from a snapshot if there is a valid one; returns the version of its stream.
    fn recover_lobby(&mut self) -> Result<u64, EngineError> {
        let kept = match self.snapshots.latest(&*self.reader) {
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
                    self.snapshots.cover(seq);
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
        let lines = self.load_after(&name, before)?;
        for line in lines.iter().skip((seq - before) as usize) {
            lobby.apply(line.at, &line.event).map_err(|error| EngineError::Fold {
                stream: name.clone(),
                seq: line.seq,
                error,
            })?;
        }
        self.lobby = lobby;
        Ok(before + lines.len() as u64)
    }
}

/// Reads a match from its stream; `None` if it has none.
fn read_match(
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
