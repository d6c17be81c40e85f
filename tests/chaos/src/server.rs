//! The server: the real binary as a process that is started, stopped, killed and starved of
//! resources.

use crate::history::{History, Ms};
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};

/// How long a start may take: far beyond what a loaded machine needs.
const START: Duration = Duration::from_secs(120);
/// How long a requested stop may take.
const STOP: Duration = Duration::from_secs(60);
/// How often to check whether a process has ended.
const LOOK: Duration = Duration::from_millis(20);
/// Where distributions install the library that fakes the wall clock of a process.
const FAKETIME: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib64/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
];

/// Where the server listens; its ports stay the same across restarts.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) tcp: watch::Receiver<SocketAddr>,
    pub(crate) http: watch::Receiver<SocketAddr>,
}

/// The pid of the running process, for observers outside.
#[derive(Clone, Default, Debug)]
pub(crate) struct Alive(Arc<Mutex<Option<u32>>>);

impl Alive {
    /// The pid, while the process runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        *self.0.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    pub(crate) fn set(&self, pid: Option<u32>) {
        *self.0.lock().unwrap_or_else(|broken| broken.into_inner()) = pid;
    }
}

/// The server.
pub(crate) struct Server {
    agon: PathBuf,
    dir: PathBuf,
    child: Option<Child>,
    tcp: watch::Sender<SocketAddr>,
    http: watch::Sender<SocketAddr>,
    pub(crate) operator: String,
    pub(crate) alive: Alive,
    /// The database and the bus of a node; `None` if the log is a file.
    cluster: Option<ClusterAddresses>,
    /// The file that sets the faked wall clock; `None` if the library is not installed.
    clock: Option<PathBuf>,
    down_since: Option<Ms>,
}

/// The servers that the nodes of a cluster share.
pub(crate) struct ClusterAddresses {
    pub(crate) store: String,
    pub(crate) bus: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Server {
    /// A server that does not run yet, with this configuration and, if it is a node, its cluster.
    pub(crate) fn new(
        agon: &Path,
        dir: &Path,
        config: &str,
        cluster: Option<ClusterAddresses>,
    ) -> Result<Server> {
        fs::write(dir.join("agon.toml"), config).context("the server's configuration")?;
        let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
        // A node that stands by does not say where it listens, so it is given ports that are free.
        let port = || match &cluster {
            Some(_) => TcpListener::bind(any)?.local_addr(),
            None => Ok(any),
        };
        let (tcp, http) = (port()?, port()?);
        let clock = FAKETIME.iter().any(|path| Path::new(path).exists()).then(|| dir.join("clock"));
        let server = Server {
            agon: agon.to_owned(),
            dir: dir.to_owned(),
            child: None,
            tcp: watch::Sender::new(tcp),
            http: watch::Sender::new(http),
            operator: String::new(),
            alive: Alive::default(),
            cluster,
            clock,
            down_since: None,
        };
        server.set_clock(0)?;
        Ok(server)
    }

    /// Starts a server on an empty log for the first time, and waits until it is up.
    pub(crate) async fn start(&mut self) -> Result<()> {
        let said = self.try_start().await?.context("the server ended at its start")?;
        let address = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
        let tcp = address(&said["players"]["tcp"]).context("where players connect")?;
        let http = address(&said["http"]).context("where the HTTP interface is")?;
        self.operator = said["operator"]["token"].as_str().context("a token")?.to_owned();
        self.tcp.send_replace(tcp);
        self.http.send_replace(http);
        Ok(())
    }

    /// Starts a node and does not wait: it may stand by for a long time.
    pub(crate) fn launch(&mut self) -> Result<()> {
        let mut child = self.spawn()?;
        if let Some(mut stdout) = child.stdout.take() {
            std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
        }
        self.alive.set(Some(child.id()));
        self.child = Some(child);
        Ok(())
    }

    pub(crate) fn places(&self) -> Places {
        Places { tcp: self.tcp.subscribe(), http: self.http.subscribe() }
    }

    /// Returns whether its wall clock can be set.
    pub(crate) fn has_clock(&self) -> bool {
        self.clock.is_some()
    }

    /// Sets the offset of its wall clock, in seconds.
    pub(crate) fn set_clock(&self, seconds: i64) -> Result<()> {
        let Some(clock) = &self.clock else { return Ok(()) };
        // Renaming is atomic, so a reader never sees half of it.
        let next = clock.with_extension("next");
        fs::write(&next, format!("{seconds:+}\n"))?;
        Ok(fs::rename(next, clock)?)
    }

    fn spawn(&self) -> Result<Child> {
        // A file that may not grow must be an error, as on a full disk, and not a signal.
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"]).arg(&self.agon);
        command.args(["serve", "--config", "agon.toml", "--json"]);
        command.args(["--tcp", &self.tcp.borrow().to_string()]);
        command.args(["--http", &self.http.borrow().to_string()]);
        if let Some(ClusterAddresses { store, bus }) = &self.cluster {
            command.args(["--store", store, "--bus", bus]);
        }
        // Signals from the terminal must not reach the server.
        command.current_dir(&self.dir).stdin(Stdio::null()).process_group(0);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let library = FAKETIME.iter().find(|path| Path::new(path).exists());
        if let (Some(library), Some(clock)) = (library, &self.clock) {
            command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", clock);
            command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").env("FAKETIME_CACHE_DURATION", "1");
            command.env("NO_FAKE_STAT", "1");
        }
        let mut child = command.spawn().context("failed to start the server")?;
        if let Some(stderr) = child.stderr.take() {
            // The harness writes this file, because the server could not report a full disk to a
            // file of its own.
            let mut log =
                File::options().create(true).append(true).open(self.dir.join("stderr"))?;
            std::thread::spawn(move || std::io::copy(&mut BufReader::new(stderr), &mut log));
        }
        Ok(child)
    }

    /// Starts it and waits for its first line; `None` if it ended without one.
    async fn try_start(&mut self) -> Result<Option<Value>> {
        let mut child = self.spawn()?;
        let stdout = child.stdout.take().context("a pipe")?;
        self.alive.set(Some(child.id()));
        self.child = Some(child);
        let (tell, told) = oneshot::channel();
        std::thread::spawn(move || {
            let (mut line, mut from) = (String::new(), BufReader::new(stdout));
            let _ = from.read_line(&mut line);
            let _ = tell.send(line);
            // Drain further output, so that it cannot block the server.
            let _ = std::io::copy(&mut from, &mut std::io::sink());
        });
        let line = tokio::time::timeout(START, told).await.context("it does not start")??;
        match serde_json::from_str(&line) {
            Ok(said) => Ok(Some(said)),
            Err(_) => {
                self.ended().await?;
                Ok(None)
            }
        }
    }

    /// Restarts it on the same ports; another process may hold a port for a moment.
    pub(crate) async fn start_again(&mut self, history: &History) -> Result<()> {
        let give_up = Instant::now() + START;
        while self.try_start().await?.is_none() {
            if Instant::now() > give_up {
                bail!("the server does not start again; see {}", self.dir.join("stderr").display());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        if let Some(from) = self.down_since.take() {
            history.outage(from);
        }
        Ok(())
    }

    /// Starts it without waiting for it, and kills it after a while.
    pub(crate) async fn start_in_vain(&mut self, while_: Duration) -> Result<()> {
        let child = self.spawn()?;
        self.alive.set(Some(child.id()));
        self.child = Some(child);
        tokio::time::sleep(while_).await;
        self.signal(Signal::KILL);
        self.ended().await.map(drop)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = self.child.as_ref().and_then(|child| Pid::from_raw(child.id() as i32));
        if let Some(pid) = pid {
            let _ = kill_process(pid, signal);
        }
    }

    /// Kills it.
    pub(crate) async fn kill(&mut self, history: &History) -> Result<()> {
        self.down_since.get_or_insert(history.now());
        self.signal(Signal::KILL);
        self.ended().await.map(drop)
    }

    /// Asks it to stop, and waits until it has.
    pub(crate) async fn stop(&mut self, history: &History) -> Result<ExitStatus> {
        self.down_since.get_or_insert(history.now());
        self.signal(Signal::TERM);
        self.ended().await
    }

    /// Waits for its end.
    pub(crate) async fn ended(&mut self) -> Result<ExitStatus> {
        let give_up = Instant::now() + STOP;
        loop {
            if let Some(status) = self.has_ended()? {
                return Ok(status);
            }
            if Instant::now() > give_up {
                bail!("the server does not end");
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// How it ended, if it did.
    pub(crate) fn has_ended(&mut self) -> Result<Option<ExitStatus>> {
        let Some(child) = &mut self.child else { bail!("no server runs") };
        let status = child.try_wait()?;
        if status.is_some() {
            self.child = None;
            self.alive.set(None);
        }
        Ok(status)
    }

    /// The last line that it wrote on stderr.
    pub(crate) fn last_words(&self) -> String {
        let text = fs::read_to_string(self.dir.join("stderr")).unwrap_or_default();
        text.lines().next_back().unwrap_or_default().to_owned()
    }

    /// Records that the server is unusable until its restart.
    pub(crate) fn goes_down(&mut self, history: &History) {
        self.down_since.get_or_insert(history.now());
    }

    /// Limits its files to this many bytes, or lifts the limit.
    pub(crate) fn limit_files(&self, bytes: Option<u64>) -> Result<()> {
        self.limit(Resource::Fsize, bytes)
    }

    /// Limits its open files to this many, or lifts the limit.
    pub(crate) fn limit_open(&self, count: Option<u64>) -> Result<()> {
        self.limit(Resource::Nofile, count)
    }

    fn limit(&self, resource: Resource, current: Option<u64>) -> Result<()> {
        let pid = self.child.as_ref().and_then(|child| Pid::from_raw(child.id() as i32));
        let pid = pid.context("no server runs")?;
        let maximum = rustix::process::getrlimit(resource).maximum;
        let current = current.or(maximum);
        prlimit(Some(pid), resource, Rlimit { current, maximum }).context("prlimit")?;
        Ok(())
    }

    /// The size of the log's write-ahead file, in bytes.
    pub(crate) fn wal_bytes(&self) -> u64 {
        let file = self.data().join("agon.sqlite-wal");
        fs::metadata(file).map_or(0, |about| about.len())
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.dir.join("agon-data")
    }
}

/// How many files a process has open.
pub(crate) fn open_files(pid: u32) -> Option<u64> {
    Some(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count() as u64)
}

/// A figure of a process in kilobytes, such as `VmRSS`.
pub(crate) fn memory_kb(pid: u32, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}
