//! Finds the file a command names, the way the system would, before anything is played.

use rustix::fs::{Access, access};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Why a program cannot be started at all.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotStartable {
    /// There is no such file.
    #[error("{0}: there is no such file")]
    Missing(String),
    /// No folder of `PATH` has it.
    #[error("{0}: no folder of PATH has a program of that name")]
    NotInPath(String),
    /// It is there, and is no program.
    #[error("{0}: the file is not executable (chmod +x, or name its interpreter: 'python3 {0}')")]
    NotExecutable(String),
    /// The first line names an interpreter that is missing.
    #[error("{0}: the first line names the interpreter {1}, but there is no such file")]
    NoInterpreter(String, String),
}

/// The file that the first word of a command names.
pub fn find_program(word: &str) -> Result<PathBuf, NotStartable> {
    let found = match word.contains('/') {
        true => executable(Path::new(word), word)?,
        false => in_path(word)?,
    };
    match interpreter(&found) {
        Some(named) if !named.exists() => {
            Err(NotStartable::NoInterpreter(word.into(), named.display().to_string()))
        }
        _ => Ok(found),
    }
}

fn in_path(word: &str) -> Result<PathBuf, NotStartable> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let mut found = Err(NotStartable::NotInPath(word.into()));
    for folder in std::env::split_paths(&path) {
        match executable(&folder.join(word), word) {
            Ok(program) => return Ok(program),
            Err(why @ NotStartable::NotExecutable(_)) => found = Err(why),
            Err(_) => {}
        }
    }
    found
}

fn executable(path: &Path, word: &str) -> Result<PathBuf, NotStartable> {
    match std::fs::metadata(path) {
        Ok(data) if data.is_file() && access(path, Access::EXEC_OK).is_ok() => Ok(path.into()),
        Ok(_) => Err(NotStartable::NotExecutable(word.into())),
        Err(_) => Err(NotStartable::Missing(word.into())),
    }
}

/// The interpreter that a script's first line names.
pub(crate) fn interpreter(program: &Path) -> Option<PathBuf> {
    let mut start = [0; 256];
    let count = std::fs::File::open(program).ok()?.read(&mut start).ok()?;
    let line = start[..count].strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let word = line.trim_ascii().split(|byte| byte.is_ascii_whitespace()).next()?;
    (!word.is_empty()).then(|| PathBuf::from(std::ffi::OsStr::from_bytes(word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn programs_are_found_as_the_system_finds_them() {
        assert!(find_program("sh").is_ok());
        assert!(find_program("/bin/sh").is_ok());
        let missing = find_program("./no-such-file").unwrap_err();
        assert_eq!(missing, NotStartable::Missing("./no-such-file".into()));
        let unknown = find_program("no-such-program").unwrap_err();
        assert_eq!(unknown, NotStartable::NotInPath("no-such-program".into()));
        assert!(matches!(find_program("/usr"), Err(NotStartable::NotExecutable(_))));
    }

    #[test]
    fn scripts_need_their_interpreter_and_their_permission() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("bot");
        let name = script.display().to_string();
        for (text, mode, good) in [
            ("#!/bin/sh\n", 0o755, true),
            ("#! /bin/sh -e\n", 0o755, true),
            ("#!/no/such/python\n", 0o755, false),
            ("#!/bin/sh\n", 0o644, false),
        ] {
            std::fs::write(&script, text).unwrap();
            std::fs::set_permissions(&script, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(find_program(&name).is_ok(), good, "{text:?} {mode:o}");
        }
    }
}
