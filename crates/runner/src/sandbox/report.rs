//! Which protections hold on this machine, for people and programs.

use super::{IPC, NESTED, NET, PID, Sandbox, UTS};
use serde::Serialize;

/// One protection, and whether it holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Protection {
    /// A word for it.
    pub name: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// What it keeps a program from, or why it does not hold.
    pub detail: String,
}

impl Sandbox {
    /// All protections there are.
    pub fn protections(&self) -> Vec<Protection> {
        let limits = &self.settings.limits;
        let why_not = self.namespaces.as_ref().err();
        let has = |flag| self.namespaces.as_ref().is_ok_and(|namespaces| namespaces.has(flag));
        let namespace = |name, holds, what: &str| {
            let refused = "this system does not allow the namespace".to_owned();
            let detail = match holds {
                true => what.to_owned(),
                false => why_not.cloned().unwrap_or(refused),
            };
            Protection { name, holds, detail }
        };
        let found = self.cgroups.found();
        let on = !self.settings.off;
        let limit = |name, holds: bool, what: String, why: &str| {
            let why = if on { why } else { "--no-sandbox" };
            let detail = if holds { what } else { why.to_owned() };
            Protection { name, holds, detail }
        };
        let no_group = "there is no control group this user may write to";
        let memory = match found.memory {
            true => format!("{} MB for all its processes together", limits.memory >> 20),
            false => format!("{} MB for each of its processes", limits.memory >> 20),
        };
        let wanted = (self.settings.network && on)
            .then(|| ("network", false, "--network lets programs use it".to_owned()));
        let network = match wanted {
            Some((name, holds, detail)) => Protection { name, holds, detail },
            None => namespace("network", has(NET), "it can neither listen nor connect"),
        };
        vec![
            namespace(
                "files",
                self.hides_files(),
                "it sees the system, its own folder read-only, and scratch files",
            ),
            namespace(
                "processes",
                has(PID),
                "it can neither see nor signal other processes, and leaves none",
            ),
            network,
            namespace("ipc", has(IPC), "it shares no memory and no queues with others"),
            namespace("hostname", has(UTS), "it cannot rename this machine"),
            namespace("namespaces", has(NESTED), "it cannot make namespaces of its own"),
            limit("memory", on, memory, ""),
            limit(
                "process-count",
                on && (found.processes || self.processes.is_some()),
                format!("{} processes and threads", limits.processes),
                "root is limited by a control group only, and there is none it may write to",
            ),
            limit("cpus", found.cpu, format!("{} processors at a time", limits.cpus), no_group),
            limit(
                "cpu-time",
                on,
                format!("{} s for each of its processes", limits.cpu_seconds),
                "",
            ),
            limit("file-size", on, format!("{} MB for each file", limits.file_bytes >> 20), ""),
            limit("open-files", on, format!("{} for each of its processes", limits.files), ""),
            limit("pause", found.pause, "it is stopped while others think".to_owned(), no_group),
        ]
    }

    /// One line about what does not hold; `None` if everything does.
    pub fn warning(&self) -> Option<String> {
        if self.settings.off {
            // That is what was asked for.
            return None;
        }
        let missing: Vec<Protection> = self
            .protections()
            .into_iter()
            .filter(|one| !one.holds && one.name != "network")
            .collect();
        let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
        for one in missing {
            match reasons.iter_mut().find(|(detail, _)| *detail == one.detail) {
                Some((_, names)) => names.push(one.name),
                None => reasons.push((one.detail, vec![one.name])),
            }
        }
        let words: Vec<String> = reasons
            .into_iter()
            .map(|(why, names)| format!("{} ({why})", names.join(", ")))
            .collect();
        (!words.is_empty()).then(|| {
            format!(
                "the sandbox does not protect: {}; `agon doctor --sandbox` shows the rest",
                words.join("; ")
            )
        })
    }
}
