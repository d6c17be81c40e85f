//! Control groups for programs: memory, processes and processor time of a whole process tree, and
//! a way to pause it.
//!
//! Both versions are used, whichever of them has a controller: machines with version 1 mostly have
//! a version 2 hierarchy beside it, which can pause processes. A group that cannot be made is no
//! error; what does not hold is reported by [`Cgroups::found`].

use super::SandboxLimits;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long the removal of groups is tried at the end: their processes are being killed.
const REMOVAL: Duration = Duration::from_millis(500);

/// The processor time of a period is limited in steps of this many microseconds.
const PERIOD_US: u64 = 50_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Version {
    One,
    Two,
}

/// The abilities of a hierarchy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Found {
    pub(crate) memory: bool,
    pub(crate) processes: bool,
    pub(crate) cpu: bool,
    pub(crate) pause: bool,
}

/// A folder of ours in one hierarchy.
#[derive(Debug)]
struct Base {
    dir: PathBuf,
    version: Version,
    found: Found,
}

/// All hierarchies in which this process may make groups.
#[derive(Debug, Default)]
pub(crate) struct Cgroups {
    bases: Vec<Base>,
    made: AtomicU64,
    /// Groups whose processes were killed, to be removed once they are empty.
    spent: Mutex<Vec<PathBuf>>,
}

impl Cgroups {
    /// Makes a folder of our own wherever that is allowed, and removes those of processes that are
    /// no more.
    pub(crate) fn open() -> Cgroups {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut bases: Vec<Base> = Vec::new();
        for (parent, version, names) in hierarchies(&mounts, &own) {
            remove_stale(&parent);
            let dir = parent.join(format!("agon-{}", std::process::id()));
            if fs::create_dir(&dir).is_err() {
                continue;
            }
            let had = bases.iter().fold(Found::default(), |all, base| all.or(base.found));
            let found = match version {
                Version::One => Found::named(&names),
                Version::Two => second_version(&parent, &dir),
            };
            // Version 2 cannot control what a hierarchy of version 1 controls.
            bases.push(Base { dir, version, found: found.without(had) });
        }
        Cgroups { bases, made: AtomicU64::new(0), spent: Mutex::default() }
    }

    /// Leaves out hierarchies whose groups cannot be entered; `enters` tries the files of some.
    pub(crate) fn keep_usable(&mut self, enters: impl Fn(&[PathBuf]) -> bool) {
        let trial = |base: &Base| base.dir.join("trial");
        self.bases.retain(|base| fs::create_dir(trial(base)).is_ok());
        let file = |base: &Base| trial(base).join("cgroup.procs");
        let all: Vec<PathBuf> = self.bases.iter().map(file).collect();
        // Mostly all of them can be, and one try is enough.
        if !enters(&all) {
            self.bases.retain(|base| enters(&[file(base)]));
        }
        for entry in &all {
            let folder = entry.parent().expect("a file in the folder of a trial");
            let _ = fs::remove_dir(folder);
            let used = self.bases.iter().any(|base| file(base) == *entry);
            if let (false, Some(base)) = (used, folder.parent()) {
                let _ = fs::remove_dir(base);
            }
        }
    }

    /// The abilities of this machine.
    pub(crate) fn found(&self) -> Found {
        self.bases.iter().fold(Found::default(), |all, base| all.or(base.found))
    }

    /// Makes a group with these limits for one program.
    pub(crate) fn group(&self, limits: &SandboxLimits) -> Group {
        self.remove_spent(Duration::ZERO);
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let mut group = Group::default();
        for base in &self.bases {
            let dir = base.dir.join(number.to_string());
            if fs::create_dir(&dir).is_err() {
                continue;
            }
            for (name, value) in settings(base, limits) {
                let _ = fs::write(dir.join(name), value);
            }
            group.parts.push((dir, base.version, base.found));
        }
        group
    }

    /// Ends what is left in a group, and removes it as soon as it is empty.
    pub(crate) fn end(&self, group: &Group) {
        group.kill();
        let dirs = group.parts.iter().map(|(dir, ..)| dir.clone());
        self.spent.lock().unwrap_or_else(|broken| broken.into_inner()).extend(dirs);
        self.remove_spent(Duration::ZERO);
    }

    fn remove_spent(&self, patience: Duration) {
        let mut spent = self.spent.lock().unwrap_or_else(|broken| broken.into_inner());
        let deadline = Instant::now() + patience;
        loop {
            spent.retain(|dir| fs::remove_dir(dir).is_err() && dir.exists());
            if spent.is_empty() || Instant::now() >= deadline {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Cgroups {
    fn drop(&mut self) {
        self.remove_spent(REMOVAL);
        for base in &self.bases {
            let _ = fs::remove_dir(&base.dir);
        }
    }
}

impl Found {
    fn named(names: &str) -> Found {
        let has = |wanted: &str| names.split([',', ' ']).any(|name| name.trim() == wanted);
        let (memory, processes, cpu) = (has("memory"), has("pids"), has("cpu"));
        Found { memory, processes, cpu, pause: false }
    }

    fn or(self, other: Found) -> Found {
        Found {
            memory: self.memory || other.memory,
            processes: self.processes || other.processes,
            cpu: self.cpu || other.cpu,
            pause: self.pause || other.pause,
        }
    }

    fn without(self, other: Found) -> Found {
        Found {
            memory: self.memory && !other.memory,
            processes: self.processes && !other.processes,
            cpu: self.cpu && !other.cpu,
            pause: self.pause && !other.pause,
        }
    }
}

/// The groups of one program, one in every hierarchy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    parts: Vec<(PathBuf, Version, Found)>,
}

impl Group {
    /// The files a process writes to in order to enter.
    pub(crate) fn entrances(&self) -> impl Iterator<Item = PathBuf> {
        self.parts.iter().map(|(dir, ..)| dir.join("cgroup.procs"))
    }

    /// Stops all its processes, or lets them go on. `false` if that is not possible here.
    pub(crate) fn pause(&self, paused: bool) -> bool {
        let part = self.parts.iter().find(|(_, _, found)| found.pause);
        let text = if paused { "1" } else { "0" };
        part.is_some_and(|(dir, ..)| fs::write(dir.join("cgroup.freeze"), text).is_ok())
    }

    /// Returns whether the kernel killed a process of the group for its memory.
    pub(crate) fn memory_exceeded(&self) -> bool {
        let part = self.parts.iter().find(|(_, _, found)| found.memory);
        part.is_some_and(|(dir, version, _)| match version {
            Version::One => counted(&dir.join("memory.oom_control"), "oom_kill"),
            Version::Two => counted(&dir.join("memory.events"), "oom_kill"),
        })
    }

    /// Returns whether a process of the group was refused a further one.
    pub(crate) fn processes_exceeded(&self) -> bool {
        let part = self.parts.iter().find(|(_, _, found)| found.processes);
        part.is_some_and(|(dir, ..)| counted(&dir.join("pids.events"), "max"))
    }

    fn kill(&self) {
        for (dir, version, _) in &self.parts {
            let killed =
                *version == Version::Two && fs::write(dir.join("cgroup.kill"), "1").is_ok();
            if !killed {
                kill_members(dir);
            }
        }
    }
}

/// The parents of our folders, the better first: version 1 with its controllers, then version 2.
fn hierarchies(mounts: &str, own: &str) -> Vec<(PathBuf, Version, String)> {
    let mut all = Vec::new();
    for line in mounts.lines() {
        let Some((place, kind)) = line.split_once(" - ") else { continue };
        let (place, kind): (Vec<&str>, Vec<&str>) =
            (place.split(' ').collect(), kind.split(' ').collect());
        let (&[_, _, _, root, mount, ..], &[kind, _, options]) = (&place[..], &kind[..]) else {
            continue;
        };
        let (version, names) = match kind {
            "cgroup" => (Version::One, options),
            "cgroup2" => (Version::Two, ""),
            _ => continue,
        };
        let wanted = Found::named(names) != Found::default() || version == Version::Two;
        if wanted {
            let path = own_path(own, version, names).unwrap_or("/");
            let path = path.strip_prefix(root.trim_end_matches('/')).unwrap_or("");
            let dir = Path::new(mount).join(path.trim_start_matches('/'));
            let dir = if dir.exists() { dir } else { PathBuf::from(mount) };
            all.push((dir, version, names.to_owned()));
        }
    }
    all.sort_by_key(|(_, version, _)| *version == Version::Two);
    all
}

/// The path of this process in a hierarchy.
fn own_path<'a>(own: &'a str, version: Version, names: &str) -> Option<&'a str> {
    own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let same = match version {
            Version::Two => number == "0" && controllers.is_empty(),
            Version::One => controllers
                .split(',')
                .any(|one| !one.is_empty() && names.split(',').any(|name| name == one)),
        };
        same.then_some(path)
    })
}

/// Hands the controllers of version 2 down to our folder, as far as that is allowed.
fn second_version(parent: &Path, dir: &Path) -> Found {
    for controller in ["+memory", "+pids", "+cpu"] {
        for folder in [parent, dir] {
            let _ = fs::write(folder.join("cgroup.subtree_control"), controller);
        }
    }
    let names = fs::read_to_string(dir.join("cgroup.subtree_control")).unwrap_or_default();
    Found { pause: dir.join("cgroup.freeze").exists(), ..Found::named(names.trim()) }
}

/// The files of a new group and what is written to them.
fn settings(base: &Base, limits: &SandboxLimits) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let quota = (limits.cpus * PERIOD_US as f64) as u64;
    let two = base.version == Version::Two;
    if base.found.memory && two {
        all.push(("memory.max", limits.memory.to_string()));
        all.push(("memory.swap.max", "0".into()));
        all.push(("memory.oom.group", "1".into()));
    } else if base.found.memory {
        all.push(("memory.limit_in_bytes", limits.memory.to_string()));
        all.push(("memory.memsw.limit_in_bytes", limits.memory.to_string()));
    }
    if base.found.processes {
        // The sandbox itself has two.
        all.push(("pids.max", (limits.processes + 2).to_string()));
    }
    if base.found.cpu && two {
        all.push(("cpu.max", format!("{quota} {PERIOD_US}")));
    } else if base.found.cpu {
        all.push(("cpu.cfs_period_us", PERIOD_US.to_string()));
        all.push(("cpu.cfs_quota_us", quota.to_string()));
    }
    all
}

/// Returns whether a file of counters has one of that name that is not zero.
fn counted(file: &Path, name: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let count = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    count.is_some_and(|count| count.trim() != "0")
}

/// Kills the processes of a group until there are none; they may be forking.
fn kill_members(dir: &Path) {
    for _ in 0..50 {
        let members = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
        if members.trim().is_empty() {
            return;
        }
        for id in members.lines().filter_map(|line| line.parse().ok()).filter_map(Pid::from_raw) {
            let _ = kill_process(id, Signal::KILL);
        }
        std::thread::yield_now();
    }
}

/// Removes the folders of processes that were killed before they could do it themselves.
fn remove_stale(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_prefix("agon-"));
        let Some(id) = id.and_then(|id| id.parse::<u32>().ok()) else { continue };
        if Path::new(&format!("/proc/{id}")).exists() {
            continue;
        }
        for group in fs::read_dir(entry.path()).into_iter().flatten().flatten() {
            if group.path().is_dir() {
                // By their ids, which only processes of this container have.
                kill_members(&group.path());
                let _ = fs::remove_dir(group.path());
            }
        }
        let _ = fs::remove_dir(entry.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
32 31 0:29 / /cg/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 /box /cg/memory rw,relatime - cgroup cgroup rw,memory
36 31 0:33 / /cg/devices rw,relatime - cgroup cgroup rw,devices
41 31 0:38 / /cg/unified rw,relatime - cgroup2 cgroup2 rw
31 23 0:28 / /cg rw,relatime - tmpfs tmpfs rw,mode=755
";
    const OWN: &str = "4:memory:/box/1\n2:cpu,cpuacct:/user\n0::/\n";

    #[test]
    fn hierarchies_with_useful_controllers_are_found() {
        let found = hierarchies(MOUNTS, OWN);
        let named: Vec<(Version, &str)> =
            found.iter().map(|(_, version, names)| (*version, names.as_str())).collect();
        let expected =
            [(Version::One, "rw,cpu,cpuacct"), (Version::One, "rw,memory"), (Version::Two, "")];
        assert_eq!(named, expected);
        assert_eq!(own_path(OWN, Version::One, "rw,memory"), Some("/box/1"));
        assert_eq!(own_path(OWN, Version::Two, ""), Some("/"));
        assert_eq!(own_path("", Version::Two, ""), None);
    }

    #[test]
    fn controllers_are_read_from_lists_of_both_versions() {
        let both = Found { memory: true, processes: true, cpu: false, pause: false };
        assert_eq!(Found::named("rw,memory,pids"), both);
        assert_eq!(Found::named("memory io pids"), both);
        assert_eq!(both.without(Found::named("memory")), Found::named("pids"));
        assert_eq!(Found::named("memory").or(Found::named("pids")), both);
    }
}
