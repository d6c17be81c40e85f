//! Surveys a whole log: how much of every stream is sound, and whether streams agree.
//!
//! Only one stream is in memory at a time. The survey keeps what other streams depend on; of a
//! damaged stream, that comes from its sound beginning.

use super::LogLocation;
use agon_core::lobby::{Lobby, Standing};
use agon_core::{ApplyError, Event, Line, Match, MatchResult, Misfit, Secret, Secrets, Tournament};
use agon_games::Registry;
use agon_runner::Folder;
use agon_store::{Damage, Inspector, LogError};
use anyhow::Result;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// A fault, with the first event that shows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct Fault {
    pub(super) stream: String,
    pub(super) seq: u64,
    pub(super) what: String,
}

/// The findings about a stream.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// How many events belong to sound decisions.
    pub(super) good: u64,
    /// How many readable events come after those, sound or not.
    pub(super) rest: u64,
    pub(super) fault: Option<Fault>,
    /// True if a crash tore the last decision. That is no fault, because nobody was told of it.
    pub(super) torn: bool,
    pub(super) says: Says,
}

/// The events that other streams depend on.
#[derive(Debug, Default)]
pub(super) enum Says {
    /// Nothing.
    #[default]
    Nothing,
    Lobby(Box<Lobby>),
    Secret(Box<Secret>),
    Tournament(TournamentSays),
    Match(Option<Box<MatchResult>>),
}

#[derive(Debug, Default)]
pub(super) struct TournamentSays {
    pub(super) over: bool,
    /// The matches that were paired, each with the first event of its record.
    pub(super) paired: Vec<(u64, String)>,
    /// The results, each with the first event of its record.
    pub(super) reported: Vec<(u64, String, Box<MatchResult>)>,
}

/// A whole log.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) streams: BTreeMap<String, Found>,
    /// A fault of the database file itself.
    pub(super) pages: Option<String>,
    /// How many acknowledged records are missing at the end.
    pub(super) lost_records: u64,
    /// Where streams contradict each other.
    pub(super) disagreements: Vec<Fault>,
}

impl Survey {
    pub(super) fn take(place: &LogLocation, quiet: bool) -> Result<Survey> {
        let inspector = place.inspector()?;
        let pages = inspector.pages().err();
        let lost_records = match &pages {
            Some(LogError::Lost { found, acknowledged, .. }) => acknowledged - found,
            _ => 0,
        };
        let pages = pages.map(|error| error.to_string());
        let mut names = inspector.streams()?;
        // Secrets come first, because matches cannot be folded without them. Tournaments come
        // before matches: the files of a run may grow meanwhile, and a result is written after its
        // match.
        names.sort_by_key(|name| {
            (!name.starts_with("secret/"), name.starts_with("match/"), name.clone())
        });
        let known = match place {
            LogLocation::Database(_) | LogLocation::Gone(..) => None,
            LogLocation::Folder(dir) => Folder::new(dir).secret()?,
        };
        let games = Registry::standard();
        let mut surveyor = Surveyor { games, known, secrets: BTreeMap::new() };
        let mut progress = Progress::new(quiet, names.len());
        let mut streams = BTreeMap::new();
        for name in names {
            let found = surveyor.look(&inspector, &name);
            progress.step();
            streams.insert(name, found);
        }
        progress.end();
        let disagreements = disagreements(&streams);
        Ok(Survey { streams, pages, lost_records, disagreements })
    }

    /// All faults: damage first, contradictions after it.
    pub(super) fn faults(&self) -> Vec<Fault> {
        let damaged = self.streams.values().filter_map(|found| found.fault.clone());
        damaged.chain(self.disagreements.iter().cloned()).collect()
    }

    pub(super) fn events(&self) -> u64 {
        self.streams.values().map(|found| found.good).sum()
    }

    pub(super) fn lobby(&self) -> Option<&Lobby> {
        match self.streams.get("lobby").map(|found| &found.says) {
            Some(Says::Lobby(lobby)) => Some(lobby),
            _ => None,
        }
    }

    /// All tournaments with a stream of any kind.
    pub(super) fn tournaments(&self) -> BTreeSet<String> {
        let own = self.streams.keys().filter_map(|name| name.split('/').nth(1));
        own.map(str::to_owned).collect()
    }
}

struct Surveyor {
    games: Registry,
    known: Option<Secret>,
    secrets: BTreeMap<String, Secret>,
}

impl Surveyor {
    fn look(&mut self, inspector: &Inspector, name: &str) -> Found {
        let inspection = inspector.inspect(name);
        let readable = inspection.lines.len() as u64;
        let mut fault = inspection.damage.as_ref().map(|damage| of_damage(name, damage));
        let torn = inspection.damage.is_some_and(|damage| damage.torn);
        if torn {
            fault = None;
        }
        let mut lines = Vec::with_capacity(inspection.lines.len());
        for (text, seq) in inspection.lines.iter().zip(1..) {
            match Line::read(text) {
                Ok(line) => lines.push(line),
                Err(bad) => {
                    fault = Some(Fault { stream: name.into(), seq, what: bad.to_string() });
                    break;
                }
            }
        }
        cut_to_record(&mut lines);
        let says = loop {
            match self.fold(name, &lines) {
                Ok(says) => break says,
                Err(Misfit { seq, error }) => {
                    let what = error.to_string();
                    fault = Some(Fault { stream: name.into(), seq, what });
                    lines.truncate(seq.saturating_sub(1) as usize);
                    cut_to_record(&mut lines);
                }
            }
        };
        if let Says::Secret(secret) = &says {
            let id = name.trim_start_matches("secret/").to_owned();
            self.secrets.insert(id, (**secret).clone());
        }
        let good = lines.len() as u64;
        Found { good, rest: readable - good, fault, torn, says }
    }

    fn fold(&self, name: &str, lines: &[Line]) -> Result<Says, Misfit> {
        if lines.is_empty() {
            return Ok(Says::Nothing);
        }
        let mut parts = name.split('/');
        let (kind, id) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let secret = self.secrets.get(id).or(self.known.as_ref());
        match kind {
            "lobby" => {
                let lobby = agon_core::fold(lines, |lines| Lobby::fold(lines))?;
                Ok(Says::Lobby(Box::new(lobby)))
            }
            "secret" => match &lines[0].event {
                Event::SecretKept(kept) => Ok(Says::Secret(Box::new(kept.secret.clone()))),
                other => Err(Misfit { seq: 1, error: ApplyError::OutOfPlace(other.tag()) }),
            },
            "tournament" => {
                let fold = |lines: &[Line]| Tournament::fold(lines, &self.games, secret.cloned());
                let tournament = agon_core::fold(lines, fold)?;
                Ok(Says::Tournament(said_by(&tournament, lines)))
            }
            _ => self.fold_match(lines, secret, parts.next().unwrap_or_default()),
        }
    }

    fn fold_match(
        &self,
        lines: &[Line],
        secret: Option<&Secret>,
        id: &str,
    ) -> Result<Says, Misfit> {
        let secrets = Secrets::of_log(lines, secret.map(|secret| secret.of_match(&id.into())));
        let fold = |lines: &[Line]| Match::fold(lines, &self.games, secrets.clone());
        match agon_core::fold(lines, fold) {
            Ok(played) => Ok(Says::Match(played.result().cloned().map(Box::new))),
            // The game still runs and its secret is not in this log, so it cannot be folded.
            Err(Misfit { error: ApplyError::NoSecret(_), .. }) => Ok(Says::Match(None)),
            Err(misfit) => Err(misfit),
        }
    }
}

fn of_damage(name: &str, damage: &Damage) -> Fault {
    Fault { stream: name.into(), seq: damage.seq, what: damage.reason.clone() }
}

/// Removes the lines of an incomplete decision at the end.
fn cut_to_record(lines: &mut Vec<Line>) {
    while lines.last().is_some_and(|line| line.more > 0) {
        lines.pop();
    }
}

fn said_by(tournament: &Tournament, lines: &[Line]) -> TournamentSays {
    let mut says = TournamentSays { over: tournament.is_over(), ..TournamentSays::default() };
    let mut record = 1;
    for line in lines {
        match &line.event {
            Event::RoundPaired(paired) => {
                let ids = paired.matches.iter().map(|plan| (record, plan.id.to_string()));
                says.paired.extend(ids);
            }
            Event::MatchReported(reported) => {
                let result = Box::new(reported.result.clone());
                says.reported.push((record, reported.id.to_string(), result));
            }
            _ => {}
        }
        if line.more == 0 {
            record = line.seq + 1;
        }
    }
    says
}

/// Where sound streams contradict each other.
fn disagreements(streams: &BTreeMap<String, Found>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut say = |stream: &str, seq: u64, what: String| {
        faults.push(Fault { stream: stream.into(), seq, what });
    };
    let lobby = match streams.get("lobby").map(|found| &found.says) {
        Some(Says::Lobby(lobby)) => Some(lobby),
        _ => None,
    };
    for (name, found) in streams {
        let Some(id) = name.split('/').nth(1) else { continue };
        let standing = lobby.and_then(|lobby| lobby.tournament(&id.into()));
        let started = matches!(standing, Some(Standing::Running(_) | Standing::Finished(_)));
        // The server stores the secret of a draw before the lobby announces it; a crash may come
        // between the two.
        let early = standing.is_none() && matches!(found.says, Says::Secret(_));
        if lobby.is_some() && !started && !early && found.good > 0 {
            say(name, 1, "the lobby never started this tournament".into());
            continue;
        }
        match &found.says {
            Says::Tournament(says) => {
                if matches!(standing, Some(Standing::Finished(_))) && !says.over {
                    let what = "its end is missing, but the lobby says that it is over";
                    say(name, found.good + 1, what.into());
                }
                let secret = streams.get(&format!("secret/{id}")).is_some_and(|kept| kept.good > 0);
                if lobby.is_some() && !says.over && !secret {
                    say(name, 1, "it is not over, but its secret is missing".into());
                }
                for (seq, id_of_match, result) in &says.reported {
                    let own = streams.get(&format!("match/{id}/{id_of_match}"));
                    if !own.is_some_and(|own| shows(own, result)) {
                        let what = format!(
                            "the result of {id_of_match} is not what match/{id}/{id_of_match} says"
                        );
                        say(name, *seq, what);
                    }
                }
            }
            Says::Match(_) => {
                let (paired, over) = match streams.get(&format!("tournament/{id}")) {
                    Some(Found { says: Says::Tournament(says), .. }) => {
                        (&says.paired[..], says.over)
                    }
                    _ => (&[][..], false),
                };
                let own = name.split('/').nth(2).unwrap_or_default();
                // In the folder of a run it may have been paired since.
                if (lobby.is_some() || over) && !paired.iter().any(|(_, id)| id == own) {
                    say(name, 1, "the tournament never paired this match".into());
                }
            }
            _ => {}
        }
    }
    faults
}

/// Returns whether a match's own stream shows this result.
pub(super) fn shows(found: &Found, result: &MatchResult) -> bool {
    matches!(&found.says, Says::Match(Some(own)) if **own == *result)
}

/// Progress on a terminal, if the survey takes long.
struct Progress {
    shown: bool,
    drawn: bool,
    started: Instant,
    done: usize,
    total: usize,
}

impl Progress {
    fn new(quiet: bool, total: usize) -> Progress {
        let shown = !quiet && std::io::stderr().is_terminal();
        Progress { shown, drawn: false, started: Instant::now(), done: 0, total }
    }

    fn step(&mut self) {
        self.done += 1;
        let elapsed = self.started.elapsed();
        if self.shown && elapsed > Duration::from_secs(1) && self.done.is_multiple_of(16) {
            let left = elapsed.as_secs_f64() * (self.total - self.done) as f64 / self.done as f64;
            eprint!("\r\x1b[Kchecking {}/{} streams · ETA {left:.0} s", self.done, self.total);
            self.drawn = true;
        }
    }

    fn end(&self) {
        if self.drawn {
            eprint!("\r\x1b[K");
        }
    }
}
