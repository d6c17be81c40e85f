//! Which protections hold on this machine, for people and programs.

use super::{IPC, NESTED, NET, PID, Sandbox, UTS};
use serde::Serialize;

/// One protection, and whether it holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Protection {
    /// A word for it.
    pub name: &'static str,
    /// True if it holds.
    pub holds: bool,
    /// The actions that it prevents, or why it does not hold.
    pub detail: String,
}

impl Protection {
    fn new(name: &'static str, holds: bool, what: impl Into<String>, why_not: &str) -> Protection {
        let detail = if holds { what.into() } else { why_not.to_owned() };
        Protection { name, holds, detail }
    }
}

impl Sandbox {
    /// All protections there are.
    pub fn protections(&self) -> Vec<Protection> {
        let mut all = self.isolation();
        all.extend(self.bounds());
        all
    }

    /// One line about what does not hold; `None` if everything does that was asked for.
    pub fn warning(&self) -> Option<String> {
        if self.settings.off {
            // That is what was asked for.
            return None;
        }
        let asked = |one: &Protection| one.name != "network" || !self.settings.network;
        let missing = self.protections().into_iter().filter(|one| !one.holds && asked(one));
        let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
        for one in missing {
            match reasons.iter_mut().find(|(detail, _)| *detail == one.detail) {
                Some((_, names)) => names.push(one.name),
                None => reasons.push((one.detail, vec![one.name])),
            }
        }
        let words = reasons.into_iter().map(|(why, names)| format!("{} ({why})", names.join(", ")));
        let words: Vec<String> = words.collect();
        (!words.is_empty()).then(|| {
            let words = words.join("; ");
            format!("not protected by the sandbox: {words}. `agon doctor --sandbox` shows the rest")
        })
    }

    /// The protections of files, processes and the network.
    fn isolation(&self) -> Vec<Protection> {
        let has = |flag| self.namespaces.as_ref().is_ok_and(|namespaces| namespaces.has(flag));
        let refused = "this system does not allow the namespace";
        let why_not = self.namespaces.as_ref().err().map_or(refused, String::as_str);
        let one = |name, holds, what: &str| Protection::new(name, holds, what, why_not);
        let network = match self.settings.network && !self.settings.off {
            true => Protection::new("network", false, "", "--network lets programs use it"),
            false => one("network", has(NET), "it can neither listen nor connect"),
        };
        let files = "it sees the system, its own folder read-only, and scratch files";
        let processes = "it can neither see nor signal other processes, and leaves none";
        vec![
            one("files", self.hides_files(), files),
            one("processes", has(PID), processes),
            network,
            one("ipc", has(IPC), "it shares no memory and no queues with others"),
            one("hostname", has(UTS), "it cannot rename this machine"),
            one("namespaces", has(NESTED), "it cannot make namespaces of its own"),
        ]
    }

    /// How much a program can use.
    fn bounds(&self) -> Vec<Protection> {
        let (limits, found, on) = (&self.settings.limits, self.cgroups.found(), !self.settings.off);
        let no_group = match on {
            true => "there is no control group this user may write to",
            false => "--no-sandbox",
        };
        let one = |name, holds, what: String| Protection::new(name, holds, what, no_group);
        let whose =
            if found.memory { "all its processes together" } else { "each of its processes" };
        let counted = on && (found.processes || self.processes.is_some());
        // Without namespaces, signals reach the program and what it started in its group.
        let pause = found.pause || (on && !self.hides_files());
        let each = "for each of its processes";
        vec![
            one("memory", on, format!("{} MB for {whose}", limits.memory >> 20)),
            one("process-count", counted, format!("{} processes and threads", limits.processes)),
            one("cpus", found.cpu, format!("{} at a time", limits.cpus)),
            one("cpu-time", on, format!("{} s {each}", limits.cpu_seconds)),
            one("file-size", on, format!("{} MB for each file", limits.file_bytes >> 20)),
            one("open-files", on, format!("{} {each}", limits.files)),
            one("pause", pause, "it is stopped while others think".into()),
        ]
    }
}
