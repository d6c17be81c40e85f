//! The helper between a run and a program: it enters control groups, sets resource limits on
//! itself and becomes the program. `agon` starts itself as this helper, because limits have to be
//! set in the new process, before it runs anything of the program.

use super::SandboxLimits;
use rustix::process::{Resource, Rlimit, setrlimit};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The first argument that makes `agon` this helper.
pub const CONFINE: &str = "confine";

/// How a shell says that a command could not be started.
const NOT_STARTED: u8 = 127;

/// The limits as arguments of the helper. Control groups count the rest better: the
/// memory of all processes together, and the number of processes.
pub(super) fn arguments(
    limits: &SandboxLimits,
    memory: Option<u64>,
    processes: Option<u64>,
) -> Vec<OsString> {
    let mut all = vec![
        format!("cpu={}", limits.cpu_seconds),
        format!("fsize={}", limits.file_bytes),
        format!("nofile={}", limits.files),
        "core=0".to_owned(),
    ];
    all.extend(memory.map(|bytes| format!("data={bytes}")));
    all.extend(processes.map(|count| format!("nproc={count}")));
    all.into_iter().map(OsString::from).collect()
}

/// Does what the arguments say and becomes the program after `--`. Returns only if that fails.
pub fn confine(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        if arg == "--" {
            let Some(program) = args.next() else { break };
            let error = Command::new(&program).args(args).exec();
            eprintln!("agon: failed to start {}: {error}", program.display());
            return ExitCode::from(NOT_STARTED);
        }
        if let Err(why) = obey(&arg) {
            eprintln!("agon: failed to confine a program: {}: {why}", arg.display());
            return ExitCode::from(NOT_STARTED);
        }
    }
    eprintln!("agon: {CONFINE} needs a program after --; it is for `agon run` alone");
    ExitCode::from(2)
}

/// `join=FILE`, or a limit and its value.
fn obey(arg: &OsStr) -> Result<(), String> {
    let bytes = arg.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=').ok_or("not NAME=VALUE")?;
    let (name, value) = (&bytes[..at], OsStr::from_bytes(&bytes[at + 1..]));
    if name == b"join" {
        let file = Path::new(value);
        // A group that cannot be entered was reported when its hierarchy was tried.
        return std::fs::write(file, "0").map_err(|error| error.to_string());
    }
    let resource = match name {
        b"data" => Resource::Data,
        b"cpu" => Resource::Cpu,
        b"fsize" => Resource::Fsize,
        b"nofile" => Resource::Nofile,
        b"nproc" => Resource::Nproc,
        b"core" => Resource::Core,
        _ => return Err("no such limit".into()),
    };
    let value = value.to_str().and_then(|value| value.parse::<u64>().ok()).ok_or("no number")?;
    let before = rustix::process::getrlimit(resource).maximum;
    let value = before.map_or(value, |most| most.min(value));
    // Beyond the hard limit of processor time the kernel kills without saying why.
    let more = if resource == Resource::Cpu { 5 } else { 0 };
    let maximum = before.map_or(value + more, |most| most.min(value + more));
    let limit = Rlimit { current: Some(value), maximum: Some(maximum) };
    setrlimit(resource, limit).map_err(|error| error.to_string())
}
