//! The folder of a run: settings, secret, log, evidence and results.
//!
//! ```text
//! DIR/run.json                     who plays and how the run goes on; written first
//! DIR/secret                       the tournament's secret, where no program can open it
//! DIR/tournament/ID.jsonl          the tournament's stream
//! DIR/match/ID/r1m1.jsonl          a match's stream, games included
//! DIR/evidence/PLAYER-1.stderr     what a player's program said on stderr
//! DIR/match/ID/r1m1.jsonl.lost-1   a match that began anew because its luck was lost
//! DIR/results.json                 standings and results, once the tournament is over
//! ```

use crate::sandbox::SandboxSettings;
use crate::spec::{PlayerSpec, Plays};
use agon_core::{PlayerName, Results, Secret, TournamentPlan};
use agon_store::{FileLog, LogError, Sync};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The settings that resume a run, besides its log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunSettings {
    /// The version of this file's format.
    pub version: u32,
    /// The plan of the tournament.
    pub plan: TournamentPlan,
    /// The players, in order of sign-up.
    pub players: Vec<PlayerSpec>,
    /// How many matches run at once.
    pub concurrency: usize,
    /// How long a program may take to say hello.
    pub hello_ms: u64,
    /// How programs are confined.
    #[serde(default)]
    pub sandbox: SandboxSettings,
    /// True if `results.json` holds the head of the log. The head covers times, and runs with the
    /// same seed must have equal results to the byte: they leave it out.
    #[serde(default)]
    pub head_in_results: bool,
}

impl RunSettings {
    /// The house players, by the names that they have in the run.
    pub(crate) fn house_players(&self) -> impl Iterator<Item = (PlayerName, String)> {
        self.players.iter().filter_map(|spec| match &spec.plays {
            Plays::House(house) => Some((spec.name.clone(), house.clone())),
            Plays::Command(_) => None,
        })
    }

    /// The programs, with their arguments.
    pub(crate) fn programs(&self) -> impl Iterator<Item = (PlayerName, Vec<String>)> {
        self.players.iter().filter_map(|spec| match &spec.plays {
            Plays::Command(words) => Some((spec.name.clone(), words.clone())),
            Plays::House(_) => None,
        })
    }
}

/// A folder that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// There is a run in it.
    #[error(
        "{dir} holds a run already; go on with it by `agon run --resume {dir}`, or choose another --out"
    )]
    Taken {
        /// The folder.
        dir: String,
    },
    /// There is no run in it.
    #[error("{dir} contains no run: {file} is missing; start one with `agon run … --out {dir}`")]
    NoRun {
        /// The folder.
        dir: String,
        /// The missing file.
        file: &'static str,
    },
    /// A file that does not parse.
    #[error("{path} is damaged: {why}")]
    Damaged {
        /// The file.
        path: String,
        /// The reason.
        why: String,
    },
    /// An I/O error.
    #[error("failed to {what} {path}: {source}")]
    Io {
        /// The failed action.
        what: &'static str,
        /// On which path.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// An error of the log.
    #[error(transparent)]
    Log(#[from] LogError),
}

/// The folder of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Folder {
    dir: PathBuf,
}

impl Folder {
    /// The folder at `dir`, which need not exist.
    pub fn new(dir: impl Into<PathBuf>) -> Folder {
        Folder { dir: dir.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Writes the settings of a new run, and its secret if that may be kept in a file.
    pub fn create(
        &self,
        settings: &RunSettings,
        secret: Option<&Secret>,
    ) -> Result<(), FolderError> {
        if self.dir.join(RUN).exists() {
            return Err(FolderError::Taken { dir: self.shown() });
        }
        fs::create_dir_all(&self.dir).map_err(|source| io("create", &self.dir, source))?;
        secret.map_or(Ok(()), |secret| self.keep_secret(secret))?;
        let mut text = serde_json::to_vec_pretty(settings).expect("settings are JSON");
        text.push(b'\n');
        self.write_whole(RUN, &text, 0o644)
    }

    /// Keeps the secret in a file, readable by the owner only.
    pub fn keep_secret(&self, secret: &Secret) -> Result<(), FolderError> {
        self.write_whole(SECRET, format!("{}\n", secret.hex()).as_bytes(), 0o600)
    }

    /// Removes the file of the secret: programs are about to run that could open it.
    pub fn remove_secret(&self) -> Result<(), FolderError> {
        let path = self.dir.join(SECRET);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(io("remove", &path, error))
            }
            _ => Ok(()),
        }
    }

    /// Renames the file of a stream, so that the stream starts again.
    pub(crate) fn set_aside(&self, stream: &str) -> Result<(), FolderError> {
        let path = self.dir.join(format!("{stream}.jsonl"));
        if !path.exists() {
            return Ok(());
        }
        let names = (1..).map(|number| self.dir.join(format!("{stream}.jsonl.lost-{number}")));
        let free = names.into_iter().find(|name| !name.exists()).expect("numbers do not run out");
        fs::rename(&path, free).map_err(|source| io("rename", &path, source))
    }

    /// Reads the settings of a run.
    pub fn open(&self) -> Result<RunSettings, FolderError> {
        let settings: RunSettings = serde_json::from_str(&self.read(RUN)?)
            .map_err(|error| self.damaged(RUN, error.to_string()))?;
        if settings.version != SETTINGS_VERSION {
            let why = format!("version {} of a newer agon", settings.version);
            return Err(self.damaged(RUN, why));
        }
        Ok(settings)
    }

    /// The run's secret, if it is there.
    pub fn secret(&self) -> Result<Option<Secret>, FolderError> {
        match fs::read_to_string(self.dir.join(SECRET)) {
            Ok(text) => Secret::try_from(text.trim().to_owned())
                .map(Some)
                .map_err(|error| self.damaged(SECRET, error.to_string())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(io("read", &self.dir.join(SECRET), source)),
        }
    }

    /// Opens the log for writing.
    pub fn log(&self, sync: Sync) -> Result<FileLog, FolderError> {
        Ok(FileLog::open(&self.dir, sync)?)
    }

    /// Writes the results: whole or not at all.
    pub fn write_results(&self, results: &Results) -> Result<(), FolderError> {
        self.write_whole(RESULTS, &results_text(results), 0o644)
    }

    /// The text of the results file, if there is one.
    pub fn results_text(&self) -> Option<Vec<u8>> {
        fs::read(self.dir.join(RESULTS)).ok()
    }

    /// Where evidence goes.
    pub fn evidence(&self) -> PathBuf {
        self.dir.join("evidence")
    }

    fn write_whole(&self, name: &str, text: &[u8], mode: u32) -> Result<(), FolderError> {
        let path = self.dir.join(name);
        let part = self.dir.join(format!(".{name}.part"));
        let write = || {
            let mut options = fs::OpenOptions::new();
            let mut file =
                options.write(true).create(true).truncate(true).mode(mode).open(&part)?;
            file.write_all(text)?;
            file.sync_all()?;
            fs::rename(&part, &path)
        };
        write().map_err(|source| io("write", &path, source))
    }

    fn read(&self, name: &'static str) -> Result<String, FolderError> {
        match fs::read_to_string(self.dir.join(name)) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(self.missing(name)),
            Err(source) => Err(io("read", &self.dir.join(name), source)),
        }
    }

    fn missing(&self, file: &'static str) -> FolderError {
        FolderError::NoRun { dir: self.shown(), file }
    }

    fn damaged(&self, name: &str, why: String) -> FolderError {
        FolderError::Damaged { path: self.dir.join(name).display().to_string(), why }
    }

    fn shown(&self) -> String {
        self.dir.display().to_string()
    }
}

/// The results as they are written: pretty JSON with a line end.
pub(crate) fn results_text(results: &Results) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(results).expect("results are JSON");
    text.push(b'\n');
    text
}

/// The version of `run.json` this program reads and writes.
pub(crate) const SETTINGS_VERSION: u32 = 1;

const RUN: &str = "run.json";
const SECRET: &str = "secret";
const RESULTS: &str = "results.json";

fn io(what: &'static str, path: &Path, source: std::io::Error) -> FolderError {
    FolderError::Io { what, path: path.display().to_string(), source }
}
