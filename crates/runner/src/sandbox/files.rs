//! Which files a program in a sandbox sees: the system, its own folders and nothing else.

use crate::lookup::interpreter;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folders of the system; everything below them can be read.
const SYSTEM: [&str; 11] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/snap",
];

/// The parts of `/etc` that programs need: names, certificates, libraries, languages' settings, but
/// no passwords and no keys.
const ETC: [&str; 27] = [
    "alternatives",
    "ca-certificates",
    "debian_version",
    "fonts",
    "group",
    "host.conf",
    "hosts",
    "java-11-openjdk",
    "java-17-openjdk",
    "java-21-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mono",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "perl",
    "pki",
    "protocols",
    "python3",
    "resolv.conf",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "timezone",
];

/// Variables that list folders a program may load code from.
const PATH_LISTS: [&str; 5] = ["PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "NODE_PATH", "CLASSPATH"];

/// Files that only folders of runs and servers have. Such folders hold secrets, and are hidden even
/// where they are inside a folder that a program may read.
const OURS: [&str; 2] = ["run.json", "agon.sqlite"];

/// Folders with keys and passwords, which are hidden where somebody's home can be read.
const PRIVATE: [&str; 8] =
    [".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".mozilla", ".config/gcloud"];

/// The part of the file system that a program sees.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Files {
    /// Links at the top: the path and where it leads.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    /// Folders and files that can be read, outer ones first.
    pub(super) readable: Vec<PathBuf>,
    /// Folders inside of those that look empty.
    pub(super) hidden: Vec<PathBuf>,
    /// Where it starts.
    pub(super) cwd: PathBuf,
}

/// A program whose own folder is inside one that must be hidden from it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the folder {hidden} of the run is hidden from players, and {needed}, which a player needs, is \
     inside; choose another --out, or trust all players and give --no-sandbox"
)]
pub struct InsideHidden {
    hidden: String,
    needed: String,
}

impl Files {
    /// The files that the program `words` may see. `hidden` is the folder of the run, if any.
    pub(super) fn of(
        words: &[String],
        program: &Path,
        hidden: Option<&Path>,
    ) -> Result<Files, InsideHidden> {
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let mut files = Files { cwd: cwd.clone(), ..Files::default() };
        let mut system = Vec::new();
        for place in SYSTEM.iter().map(PathBuf::from) {
            match std::fs::read_link(&place) {
                Ok(target) => files.links.push((place, target)),
                Err(_) if place.is_dir() => system.push(place),
                Err(_) => {}
            }
        }
        system.extend(ETC.iter().map(|name| Path::new("/etc").join(name)).filter(|p| p.exists()));
        let mut own = BTreeSet::new();
        let mut add = |path: PathBuf| {
            let known = |folder: &PathBuf| path.starts_with(folder);
            let linked = files.links.iter().any(|(link, _)| path.starts_with(link));
            if path.parent().is_some() && path.exists() && !linked && !system.iter().any(known) {
                own.insert(path);
            }
        };
        add(cwd.clone());
        own_folders(words, program, &cwd).into_iter().for_each(&mut add);
        let own = outermost(own);
        files.hidden = hidden_in(&own, &system, hidden)?;
        system.extend(own);
        files.readable = outermost(system.into_iter().collect());
        Ok(files)
    }
}

/// The folders a command names, those of its interpreter, and those that its environment names.
fn own_folders(words: &[String], program: &Path, cwd: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut with_real = |path: PathBuf, folder_of: fn(&Path) -> Option<PathBuf>| {
        let real = std::fs::canonicalize(&path).ok();
        all.extend(folder_of(&path));
        all.extend(real.and_then(|real| folder_of(&real)));
    };
    with_real(cwd.join(program), prefix_of);
    interpreter(program).into_iter().for_each(|named| with_real(named, prefix_of));
    for word in &words[1..] {
        // Also the value of an option: --model=weights/big.bin.
        let value = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
        for text in [word.as_str(), value].into_iter().filter(|text| !is_special(text)) {
            with_real(cwd.join(text), folder_of_argument);
        }
        // A command of a shell: sh -c 'exec /home/ann/bot --fast'.
        let parts =
            word.split(|letter: char| letter.is_whitespace() || "'\"=:;,()&|<>".contains(letter));
        for file in parts.filter(|part| part.starts_with('/') && !is_special(part)) {
            let file = PathBuf::from(file);
            if file.is_file() {
                with_real(file, prefix_of);
            }
        }
    }
    for name in PATH_LISTS {
        let list = std::env::var_os(name).unwrap_or_default();
        for folder in std::env::split_paths(&list).filter(|folder| folder.is_absolute()) {
            with_real(folder, |folder| prefix_of(&folder.join("program")));
        }
    }
    all
}

/// Names that are no files of anybody.
fn is_special(text: &str) -> bool {
    text.is_empty() || ["/dev/", "/proc/", "/sys/"].iter().any(|top| text.starts_with(top))
}

/// The folder of an argument that names a file, or the folder it names.
fn folder_of_argument(path: &Path) -> Option<PathBuf> {
    match path.is_dir() {
        true => Some(path.into()),
        false if path.exists() => path.parent().map(Path::to_owned),
        false => None,
    }
}

/// The folder that belongs to a program: its own, or the one above if that is a `bin`,
/// unless that is somebody's home.
fn prefix_of(program: &Path) -> Option<PathBuf> {
    let folder = program.parent()?;
    let above = folder.parent().filter(|above| above.parent().is_some());
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let name = folder.file_name().and_then(|name| name.to_str());
    match (above, name) {
        (Some(above), Some("bin" | "sbin" | "shims" | "libexec"))
            if Some(above) != home.as_deref() =>
        {
            Some(above.into())
        }
        _ => Some(folder.into()),
    }
}

/// Leaves out what is inside something else.
fn outermost(all: BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    // In order, so that outer folders come before what is inside them.
    for path in all {
        if !kept.iter().any(|outer| path.starts_with(outer)) {
            kept.push(path);
        }
    }
    kept
}

/// The folders to hide inside readable ones: the run's own folder, and those of other runs and
/// servers that lie directly in one of them.
fn hidden_in(
    own: &[PathBuf],
    system: &[PathBuf],
    hidden: Option<&Path>,
) -> Result<Vec<PathBuf>, InsideHidden> {
    let mut all = BTreeSet::new();
    if let Some(hidden) = hidden {
        let hidden = std::fs::canonicalize(hidden).unwrap_or_else(|_| hidden.to_owned());
        if let Some(needed) = own.iter().find(|folder| folder.starts_with(&hidden)) {
            let (hidden, needed) = (hidden.display().to_string(), needed.display().to_string());
            return Err(InsideHidden { hidden, needed });
        }
        if own.iter().chain(system).any(|folder| hidden.starts_with(folder)) {
            all.insert(hidden);
        }
    }
    for entry in own.iter().flat_map(std::fs::read_dir).flatten().flatten() {
        let path = entry.path();
        let holds_secrets = OURS.iter().any(|name| path.join(name).exists());
        if holds_secrets && !own.iter().any(|folder| folder.starts_with(&path)) {
            all.insert(path);
        }
    }
    let private = own.iter().flat_map(|folder| PRIVATE.map(|name| folder.join(name)));
    all.extend(private.filter(|path| path.is_dir()));
    Ok(outermost(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_folders_are_left_out() {
        let all = ["/a/b", "/a", "/ab", "/c/d"].map(PathBuf::from).into_iter().collect();
        assert_eq!(outermost(all), ["/a", "/ab", "/c/d"].map(PathBuf::from));
    }

    #[test]
    fn files_inside_a_shell_command_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let bot = dir.path().join("bot");
        std::fs::write(&bot, "").unwrap();
        let line = format!("cat /dev/null; exec '{}' --fast", bot.display());
        let words = ["sh", "-c", &line].map(String::from);
        let folders = own_folders(&words, Path::new("/bin/sh"), Path::new("/"));
        assert!(folders.contains(&dir.path().to_owned()), "{folders:?}");
        assert!(!folders.contains(&PathBuf::from("/dev")), "{folders:?}");
    }

    #[test]
    fn the_prefix_of_a_program_is_what_belongs_to_it() {
        let prefix = |program: &str| prefix_of(Path::new(program)).unwrap();
        assert_eq!(prefix("/home/a/.pyenv/shims/python"), Path::new("/home/a/.pyenv"));
        assert_eq!(prefix("/home/a/bots/bot.py"), Path::new("/home/a/bots"));
        assert_eq!(prefix("/bin/sh"), Path::new("/bin"));
    }

    #[test]
    fn runs_are_hidden_and_a_program_inside_one_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let dir = std::fs::canonicalize(dir.path()).unwrap();
        for name in ["cup", "other", "bots"] {
            std::fs::create_dir(dir.join(name)).unwrap();
        }
        std::fs::write(dir.join("other/run.json"), "{}").unwrap();
        std::fs::create_dir(dir.join(".ssh")).unwrap();
        let cup = dir.join("cup");
        let hidden = hidden_in(std::slice::from_ref(&dir), &[], Some(&cup)).unwrap();
        assert_eq!(hidden, [dir.join(".ssh"), cup.clone(), dir.join("other")]);
        assert_eq!(
            hidden_in(&[dir.join("bots")], &[], Some(&cup)).unwrap(),
            [""; 0].map(PathBuf::from)
        );
        let inside = hidden_in(&[dir.join("bots")], &[], Some(&dir)).unwrap_err().to_string();
        assert!(inside.contains("--no-sandbox"), "{inside}");
    }
}
