//! Players as separate processes: `agon join` with a program that logs its input and output.

use crate::history::History;
use crate::player::Player;
use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// Reduces a request to its id, because views are long.
const SHORT: &str = r#"sed -u -E 's/^(\{"type":"request","id":"[^"]*").*/\1}/'"#;

/// A player's process.
pub(crate) struct Process {
    agon: PathBuf,
    dir: PathBuf,
    pub(crate) player: Arc<Player>,
    child: Option<Child>,
    /// How often it was started.
    starts: u32,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Process {
    pub(crate) fn start(agon: &Path, dir: &Path, player: Arc<Player>) -> Result<Process> {
        let (agon, dir) = (agon.to_owned(), dir.to_owned());
        let mut process = Process { agon, dir, player, child: None, starts: 0 };
        process.start_again()?;
        Ok(process)
    }

    /// Starts it; each start has its own record.
    pub(crate) fn start_again(&mut self) -> Result<()> {
        self.kill();
        self.starts += 1;
        let (heard, said) = self.files(self.starts);
        let agon = self.agon.display();
        let program = format!(
            "tee >({SHORT} >> '{}') | '{agon}' bot {} | tee -a '{}'",
            heard.display(),
            self.player.house(),
            said.display(),
        );
        let mut command = Command::new(&self.agon);
        command.args(["join", "--server", &self.player.link.address.to_string()]);
        // `tee` writes the program's input and output to files.
        command.args(["--account", &self.player.name, "--register", "--no-sandbox"]);
        command.args(["--", "bash", "-c", &program]);
        command.env("AGON_PASSWORD", self.player.password()).env("AGON_CACHE", &self.dir);
        command.current_dir(&self.dir).stdin(Stdio::null()).stdout(Stdio::null());
        let stderr = self.dir.join(format!("{}.stderr", self.player.name));
        let stderr = std::fs::File::options().create(true).append(true).open(stderr)?;
        command.stderr(stderr).process_group(0);
        self.child = Some(command.spawn().context("failed to start a player")?);
        Ok(())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = self.child.as_ref().and_then(|child| Pid::from_raw(child.id() as i32));
        if let Some(pid) = pid {
            let _ = kill_process(pid, signal);
        }
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Restarts the process if it ended by itself. That can happen at the start, or while the
    /// server is down for its first login: `agon join` only reconnects after a successful login.
    pub(crate) fn look(&mut self, history: &History) -> Result<()> {
        let ended = match &mut self.child {
            Some(child) => child.try_wait()?.is_some(),
            None => return Ok(()),
        };
        if ended {
            history.trouble("player ended by itself");
            self.start_again()?;
        }
        Ok(())
    }

    fn files(&self, start: u32) -> (PathBuf, PathBuf) {
        let file = |what: &str| self.dir.join(format!("{}.{start}.{what}", self.player.name));
        (file("heard"), file("said"))
    }

    /// Reads the records of all its starts.
    pub(crate) fn collect(&self) {
        let mut record = self.player.record();
        for start in 1..=self.starts {
            let (heard, said) = self.files(start);
            record.add_files(&heard, &said);
        }
    }
}
