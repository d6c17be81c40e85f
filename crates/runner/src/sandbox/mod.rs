//! A sandbox for programs nobody here trusts.
//!
//! ```text
//! agon ─▶ agon confine ─▶ bwrap ─▶ the program
//!         enters control     new namespaces: files, processes, network, users
//!         groups, sets
//!         resource limits
//! ```
//!
//! [`Sandbox`] tests once, when it is opened, what the machine allows. A missing protection is
//! reported and left out; the rest still holds. Pipes are the same with and without a sandbox, so
//! it costs time when a program starts and none per answer.

mod cgroup;
mod confine;
mod files;
mod report;
mod starter;

pub use confine::{CONFINE, confine};
pub use files::InsideHidden;
pub use report::Protection;

use crate::lookup::{NotStartable, find_program};
use cgroup::{Cgroups, Group};
use files::Files;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// The limits of one program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct SandboxLimits {
    /// Bytes of memory, of all its processes together where a control group counts them, and of
    /// each where not.
    pub memory: u64,
    /// Processors it may keep busy.
    pub cpus: f64,
    /// Processes and threads.
    pub processes: u64,
    /// Seconds of processor time of one process.
    pub cpu_seconds: u64,
    /// Bytes of one file, and of all its scratch files together.
    pub file_bytes: u64,
    /// Open files of one process.
    pub files: u64,
}

impl Default for SandboxLimits {
    fn default() -> SandboxLimits {
        SandboxLimits {
            memory: 2 << 30,
            cpus: 1.0,
            processes: 256,
            cpu_seconds: 4 * 60 * 60,
            file_bytes: 64 << 20,
            files: 256,
        }
    }
}

/// An organiser's settings of the sandbox.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SandboxSettings {
    /// Trust all programs: no sandbox at all.
    pub off: bool,
    /// Let programs use the network.
    pub network: bool,
    /// Let programs compute while others think.
    pub ponder: bool,
    /// The limits of each program.
    pub limits: SandboxLimits,
}

/// A program that cannot be started in the sandbox.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SandboxError {
    /// It cannot be started anywhere.
    #[error(transparent)]
    Program(#[from] NotStartable),
    /// It lives where it must not look.
    #[error(transparent)]
    Inside(#[from] InsideHidden),
}

/// Which namespaces this machine lets us make.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Namespaces {
    bwrap: PathBuf,
    /// The flags that were tried and hold.
    flags: Vec<&'static str>,
    /// True if a program gets a `/proc` of its own.
    proc: bool,
}

impl Namespaces {
    fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }
}

const PID: &str = "--unshare-pid";
const NET: &str = "--unshare-net";
const IPC: &str = "--unshare-ipc";
const UTS: &str = "--unshare-uts";
const NESTED: &str = "--disable-userns";
const PARTS: [&str; 5] = [PID, NET, IPC, UTS, NESTED];

/// The protections that hold on this machine, and how programs are started under them.
#[derive(Debug)]
pub struct Sandbox {
    settings: SandboxSettings,
    /// Hidden from all programs: the folder of the run.
    hidden: Option<PathBuf>,
    /// `Err`: no namespaces, and why.
    namespaces: Result<Namespaces, String>,
    cgroups: Cgroups,
    /// How many processes the user may have in all, where that is how they are limited.
    processes: Option<u64>,
}

/// A program that was started, and what confines it. Dropped, nothing is left of it in its control
/// groups.
#[derive(Debug)]
pub struct Confined {
    child: Child,
    sandbox: Arc<Sandbox>,
    group: Group,
}

impl Sandbox {
    /// Tries what this machine allows. `hidden` is a folder no program may see.
    pub fn open(settings: SandboxSettings, hidden: Option<&Path>) -> Sandbox {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let hidden = hidden.map(absolute);
        if settings.off {
            let namespaces = Err("--no-sandbox".to_owned());
            let cgroups = Cgroups::default();
            return Sandbox { settings, hidden, namespaces, cgroups, processes: None };
        }
        let mut cgroups = Cgroups::open();
        cgroups.keep_usable(|files| {
            let arguments: Vec<OsString> = files.iter().map(|file| entrance(file)).collect();
            helper(&arguments, "true").is_ok()
        });
        let namespaces = try_namespaces(settings.network);
        let root = rustix::process::getuid().is_root();
        // The kernel does not count the processes of root.
        let processes = match cgroups.found().processes || root {
            true => None,
            false => Some(processes_of_user() + settings.limits.processes),
        };
        Sandbox { settings, hidden, namespaces, cgroups, processes }
    }

    /// A sandbox that confines nothing.
    pub fn none() -> Sandbox {
        let settings = SandboxSettings { off: true, ..SandboxSettings::default() };
        Sandbox::open(settings, None)
    }

    /// Returns whether programs cannot open files outside of their own folders and the system's.
    pub fn hides_files(&self) -> bool {
        self.namespaces.is_ok()
    }

    /// Returns whether a program cannot see or signal processes that are not its own.
    pub(crate) fn hides_processes(&self) -> bool {
        self.namespaces.as_ref().is_ok_and(|namespaces| namespaces.has(PID))
    }

    /// Returns whether programs are stopped while others think.
    pub fn pauses(&self) -> bool {
        !self.settings.off && !self.settings.ponder
    }

    /// The limits of each program.
    pub fn limits(&self) -> &SandboxLimits {
        &self.settings.limits
    }

    /// Checks that a command could be started.
    pub fn check(&self, words: &[String]) -> Result<(), SandboxError> {
        let program = find_program(&words[0])?;
        if self.hides_files() {
            Files::of(words, &program, self.hidden.as_deref())?;
        }
        Ok(())
    }

    /// Starts a command under everything that holds. `prepare` sets its pipes and environment.
    pub fn start(
        self: &Arc<Sandbox>,
        words: &[String],
        prepare: impl FnOnce(&mut Command),
    ) -> std::io::Result<Confined> {
        let group = self.cgroups.group(&self.settings.limits);
        let started = self.command(words, &group).and_then(|mut command| {
            prepare(&mut command);
            starter::start(command)
        });
        match started {
            Ok(child) => Ok(Confined { child, sandbox: Arc::clone(self), group }),
            Err(error) => {
                self.cgroups.end(&group);
                Err(error)
            }
        }
    }

    fn command(&self, words: &[String], group: &Group) -> std::io::Result<Command> {
        if self.settings.off {
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]);
            return Ok(command);
        }
        let mut command = Command::new("/proc/self/exe");
        command.arg(CONFINE).args(group.entrances().map(|file| entrance(&file)));
        let limits = &self.settings.limits;
        let memory = (!self.cgroups.found().memory).then_some(limits.memory);
        command.args(confine::arguments(limits, memory, self.processes)).arg("--");
        if let Ok(namespaces) = &self.namespaces {
            let program = find_program(&words[0]).map_err(std::io::Error::other)?;
            let files = Files::of(words, &program, self.hidden.as_deref());
            let files = files.map_err(std::io::Error::other)?;
            command.arg(&namespaces.bwrap);
            command.args(namespaces.arguments(&files, &self.settings.limits)).arg("--");
        }
        command.args(words);
        Ok(command)
    }
}

impl Confined {
    /// The process that was started: the program, or the sandbox around it.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Returns whether the program is behind a process of the sandbox.
    pub(crate) fn is_wrapped(&self) -> bool {
        self.sandbox.hides_files()
    }

    /// Stops all processes of the program, or lets them go on. `false` if that is not possible.
    pub(crate) fn pause(&self, paused: bool) -> bool {
        self.group.pause(paused)
    }

    /// Returns whether the program is in a process tree of its own, which nobody else can signal.
    pub(crate) fn is_closed(&self) -> bool {
        self.sandbox.hides_processes()
    }

    /// The limit that the program ran into, if one can be named: a code and a sentence.
    pub(crate) fn limit_reached(&self, signal: Option<i32>) -> Option<(&'static str, String)> {
        let limits = &self.sandbox.settings.limits;
        let megabytes = |bytes: u64| format!("{} MB", bytes >> 20);
        if self.group.memory_exceeded() {
            let what = format!("it used more memory than {}", megabytes(limits.memory));
            return Some(("memory-limit", what));
        }
        if signal == Some(rustix::process::Signal::XCPU.as_raw()) {
            let what = format!("it used more processor time than {} s", limits.cpu_seconds);
            return Some(("cpu-limit", what));
        }
        if signal == Some(rustix::process::Signal::XFSZ.as_raw()) {
            let what = format!("it wrote a file larger than {}", megabytes(limits.file_bytes));
            return Some(("file-limit", what));
        }
        if self.group.processes_exceeded() {
            let what = format!("it started more processes than {}", limits.processes);
            return Some(("process-limit", what));
        }
        None
    }
}

impl Drop for Confined {
    fn drop(&mut self) {
        self.sandbox.cgroups.end(&self.group);
    }
}

impl Namespaces {
    /// The arguments of bubblewrap for these files.
    fn arguments(&self, files: &Files, limits: &SandboxLimits) -> Vec<OsString> {
        let mut all: Vec<OsString> = Vec::new();
        let mut add = |words: &[&dyn AsRef<std::ffi::OsStr>]| {
            all.extend(words.iter().map(|word| word.as_ref().to_owned()));
        };
        add(&[&"--unshare-user", &"--unshare-cgroup-try", &"--die-with-parent", &"--new-session"]);
        self.flags.iter().for_each(|flag| add(&[flag]));
        add(&[&"--cap-drop", &"ALL", &"--unsetenv", &"XDG_RUNTIME_DIR"]);
        add(&[&"--setenv", &"TMPDIR", &"/tmp"]);
        let size = limits.file_bytes.to_string();
        match self.proc {
            true => add(&[&"--proc", &"/proc"]),
            false => add(&[&"--ro-bind", &"/proc", &"/proc"]),
        }
        add(&[&"--dev", &"/dev", &"--size", &size, &"--tmpfs", &"/dev/shm"]);
        add(&[&"--size", &size, &"--tmpfs", &"/tmp", &"--dir", &"/run"]);
        add(&[&"--dir", &"/var", &"--symlink", &"../tmp", &"/var/tmp"]);
        files.links.iter().for_each(|(link, target)| add(&[&"--symlink", target, link]));
        files.readable.iter().for_each(|path| add(&[&"--ro-bind", path, path]));
        files.hidden.iter().for_each(|path| add(&[&"--tmpfs", path, &"--remount-ro", path]));
        add(&[&"--remount-ro", &"/dev", &"--remount-ro", &"/"]);
        add(&[&"--chdir", &files.cwd]);
        all
    }
}

/// Keeps other processes of the same user from reading this one's memory, where the secret of a
/// run is. It does not keep root from it.
pub fn protect_memory() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    // A system without this protects nothing, and everything else goes on.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// The helper's argument to enter a control group.
fn entrance(file: &Path) -> OsString {
    let mut argument = OsString::from("join=");
    argument.push(file);
    argument
}

/// Runs a harmless program behind the helper; what it said if that failed.
fn helper(arguments: &[OsString], program: &str) -> Result<(), String> {
    let mut command = Command::new("/proc/self/exe");
    command.arg(CONFINE).args(arguments).arg("--").arg(program);
    quiet(command)
}

fn quiet(mut command: Command) -> Result<(), String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(said.lines().next().unwrap_or("it says nothing").trim().to_owned())
        }
    }
}

/// Finds out which namespaces this machine lets us make: all, or one after the other.
fn try_namespaces(network: bool) -> Result<Namespaces, String> {
    let missing = "bubblewrap is not installed (Debian: apt install bubblewrap)";
    let bwrap = find_program("bwrap").map_err(|_| missing.to_owned())?;
    let wanted: Vec<&str> = PARTS.into_iter().filter(|part| !network || *part != NET).collect();
    let words = ["true".to_owned()];
    let program = find_program(&words[0]).map_err(|error| error.to_string())?;
    let files = Files::of(&words, &program, None).map_err(|error| error.to_string())?;
    let works = |namespaces: &Namespaces| {
        let mut command = Command::new(&namespaces.bwrap);
        let limits = SandboxLimits { file_bytes: 1 << 20, ..SandboxLimits::default() };
        command.args(namespaces.arguments(&files, &limits)).arg("--").arg(&program);
        quiet(command)
    };
    let mut namespaces = Namespaces { bwrap, flags: wanted.clone(), proc: true };
    if works(&namespaces).is_ok() {
        return Ok(namespaces);
    }
    namespaces.flags.clear();
    namespaces.proc = false;
    works(&namespaces)?;
    for part in wanted {
        namespaces.flags.push(part);
        if works(&namespaces).is_err() {
            namespaces.flags.pop();
        }
    }
    namespaces.proc = true;
    namespaces.proc = namespaces.has(PID) && works(&namespaces).is_ok();
    Ok(namespaces)
}

/// How many processes and threads the user has now.
fn processes_of_user() -> u64 {
    let own = rustix::process::getuid().as_raw();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let threads = entries.filter_map(|entry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        let owner = std::os::unix::fs::MetadataExt::uid(&entry.metadata().ok()?);
        let tasks = std::fs::read_dir(entry.path().join("task")).ok()?;
        (owner == own).then(|| tasks.count() as u64)
    });
    threads.sum()
}
