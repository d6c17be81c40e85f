//! Running the binary: folders that go away, processes that cannot outlive a test.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// No test waits longer than this for anything: far beyond what a loaded machine needs.
const PATIENCE: Duration = Duration::from_secs(120);

/// The binary under test.
pub(crate) const AGON: &str = env!("CARGO_BIN_EXE_agon");

/// The solved tables of Yahtzee, which all tests share: solving takes longer than most of them.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/tables");

/// A folder for one test.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Place {
        Place { dir: tempfile::tempdir().expect("a folder for the test") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The folder `name` as an argument.
    pub(crate) fn arg(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// `agon` with these arguments, in this folder.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(AGON);
        command.args(args).current_dir(self.dir.path());
        command.env("AGON_CACHE", CACHE).env_remove("NO_COLOR");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs `agon` to its end.
    pub(crate) fn agon(&self, args: &[&str]) -> Ended {
        let child = self.command(args).spawn().expect("agon starts");
        finish(child)
    }

    /// Runs `agon` and expects success.
    pub(crate) fn good(&self, args: &[&str]) -> Ended {
        let ended = self.agon(args);
        assert_eq!(ended.code, Some(0), "agon {args:?}: {ended:#?}");
        ended
    }

    /// The text of `DIR/results.json`.
    pub(crate) fn results_text(&self, dir: &str) -> String {
        let path = self.path(dir).join("results.json");
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub(crate) fn results(&self, dir: &str) -> Value {
        serde_json::from_str(&self.results_text(dir)).expect("results are JSON")
    }
}

/// Waits for a process, with patience.
pub(crate) fn finish(child: Child) -> Ended {
    let id = child.id();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    match receiver.recv_timeout(PATIENCE) {
        Ok(output) => ended(output.expect("agon can be waited for")),
        Err(_) => {
            signal(id, Signal::KILL);
            panic!("agon did not end: {:?}", receiver.recv());
        }
    }
}

fn ended(output: Output) -> Ended {
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Sends a signal to one process; one that is gone already needs none.
pub(crate) fn signal(id: u32, signal: Signal) {
    let id = Pid::from_raw(id as i32).expect("process ids are positive");
    let _ = kill_process(id, signal);
}

/// Asks again and again until `done`; `what` is for the message when patience ends.
pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

/// The processes that have `token` among their arguments, `agon` itself aside.
pub(crate) fn marked(token: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("/proc is there").flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has_token = |id: &u32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == token.as_bytes())
    };
    ids.filter(has_token).collect()
}

/// A word no other test uses.
pub(crate) fn token(of: &str) -> String {
    format!("token-{of}-{}", std::process::id())
}

/// The command of a test player.
pub(crate) fn python(script: &str, args: &str) -> String {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bots");
    format!("python3 -B '{}' {args}", dir.join(script).display())
}

/// The command of a house player over stdin and stdout.
pub(crate) fn stdio(name: &str) -> String {
    format!("'{AGON}' bot {name}")
}

/// All log files below a folder.
pub(crate) fn logs(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|end| end == "jsonl") => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found
}

/// How many bytes all logs of a run have together.
pub(crate) fn log_bytes(dir: &Path) -> u64 {
    logs(dir).iter().filter_map(|path| fs::metadata(path).ok()).map(|data| data.len()).sum()
}

/// Compares what a command printed with `snapshots/NAME.snap`. After a change that is meant,
/// `INSTA_UPDATE=always` writes the snapshots anew; look at the difference before you commit it.
pub(crate) fn snapshot(name: &str, printed: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, printed));
}
