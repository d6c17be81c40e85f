//! Child processes of the same binary that cannot outlive the run, and their resource use.

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a process may take to print a line.
const PATIENCE: Duration = Duration::from_secs(120);

/// The processor time that threads have used, in nanoseconds, by their folders in `/proc`.
pub struct CpuTime(HashMap<PathBuf, u64>);

impl CpuTime {
    /// The time of the threads of both.
    pub fn and(mut self, other: CpuTime) -> CpuTime {
        self.0.extend(other.0);
        self
    }

    /// The time used since an earlier reading, without that of threads that have ended.
    pub fn since(&self, earlier: &CpuTime) -> Duration {
        let before = |thread| earlier.0.get(thread).copied().unwrap_or(0);
        let used = self.0.iter().map(|(thread, ns)| ns.saturating_sub(before(thread)));
        Duration::from_nanos(used.sum())
    }
}

/// A process that is killed when this is dropped.
pub struct Child {
    process: std::process::Child,
    stdin: Option<ChildStdin>,
    stdout: Option<BufReader<ChildStdout>>,
}

impl Child {
    /// Starts this binary with these arguments.
    pub fn start(args: &[&str]) -> Result<Child> {
        Child::spawn(args, Stdio::inherit())
    }

    /// Like `start`, with its stderr in a file.
    pub fn start_with_log(args: &[&str], log: &Path) -> Result<Child> {
        let log = File::create(log).context("failed to make a file for the server's words")?;
        Child::spawn(args, log.into())
    }

    fn spawn(args: &[&str], stderr: Stdio) -> Result<Child> {
        let own = std::env::current_exe().context("failed to find this program")?;
        let mut command = Command::new(own);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        Child::of(command)
    }

    /// Starts another program.
    pub fn of(mut command: Command) -> Result<Child> {
        let mut process = command.spawn().context("failed to start a process")?;
        let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
        Ok(Child { process, stdin, stdout: stdout.map(BufReader::new) })
    }

    /// The next line of its stdout.
    pub async fn line(&mut self) -> Result<String> {
        let mut stdout = self.stdout.take().context("failed: nobody listens to the process")?;
        let read = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            stdout.read_line(&mut line).map(|_| (line, stdout))
        });
        let read = tokio::time::timeout(PATIENCE, read).await;
        let (line, stdout) = read.context("failed: a process says nothing")???;
        self.stdout = Some(stdout);
        if line.is_empty() {
            bail!("failed: a process of the run ended too early");
        }
        Ok(line)
    }

    /// Writes a line to its stdin.
    pub fn tell(&mut self, line: &str) -> Result<()> {
        let stdin = self.stdin.as_mut().context("failed: the process does not listen")?;
        Ok(stdin.write_all(format!("{line}\n").as_bytes())?)
    }

    /// Asks it to stop, and waits for its end.
    pub async fn stop(&mut self) -> Result<()> {
        let id = Pid::from_raw(self.process.id() as i32).context("a process has an id")?;
        kill_process(id, Signal::TERM)?;
        self.ended().await
    }

    /// Waits until it has ended with success.
    pub async fn ended(&mut self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            match self.process.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => bail!("failed: a process ended with {status}"),
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
        bail!("failed: a process does not come to its end")
    }

    /// Kills it without warning, as a power failure would.
    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// The processor time it has used. The scheduler counts nanoseconds of every thread; where it does
    /// not, the kernel counts ticks of the whole process.
    pub fn cpu(&self) -> Result<CpuTime> {
        let id = self.process.id();
        let tasks = format!("/proc/{id}/task");
        let threads =
            std::fs::read_dir(&tasks).with_context(|| format!("failed to read {tasks}"))?;
        // A thread may end meanwhile.
        let threads = threads.filter_map(|thread| {
            let path = thread.ok()?.path();
            let stat = std::fs::read_to_string(path.join("schedstat")).ok()?;
            Some((path, stat.split_whitespace().next()?.parse().ok()?))
        });
        let mut used = CpuTime(threads.collect());
        if used.0.is_empty() {
            used.0.insert(tasks.into(), self.ticks()?);
        }
        Ok(used)
    }

    /// The processor time of all threads, which the kernel counts in ticks, in nanoseconds.
    fn ticks(&self) -> Result<u64> {
        let stat = self.proc("stat")?;
        // The name may hold spaces, so count the fields after it.
        let (_, fields) = stat.rsplit_once(')').context("failed to read the time of a process")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        let ticks: u64 = ticks.sum::<Result<u64, _>>()?;
        Ok(ticks * (1_000_000_000 / rustix::param::clock_ticks_per_second()))
    }

    /// Its resident memory, in bytes.
    pub fn resident(&self) -> Result<u64> {
        let status = self.proc("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kb =
            line.and_then(|line| line.split_whitespace().next()).and_then(|kb| kb.parse().ok());
        kb.map(|kb: u64| kb * 1024).context("failed to read the memory of a process")
    }

    fn proc(&self, file: &str) -> Result<String> {
        let path = format!("/proc/{}/{file}", self.process.id());
        std::fs::read_to_string(&path).with_context(|| format!("failed to read {path}"))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}
