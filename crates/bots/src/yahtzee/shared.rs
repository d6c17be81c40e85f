//! The tables of this process: one for each rule. A table is made on first use, from a valid cache
//! file if there is one.

use super::cache::CacheError;
use super::rule::Rule;
use super::solve::solve;
use super::table::Table;
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();

/// The source of a table, and the problems on the way. None of them affects the values of the
/// table.
#[derive(Debug, Default)]
pub struct Origin {
    /// True if this call had to solve the table.
    pub solved: bool,
    /// The cache file, if one is set.
    pub file: Option<PathBuf>,
    /// Why the existing file was not used.
    pub refused: Option<CacheError>,
    /// Why the solved table was not saved to the file.
    pub not_saved: Option<io::Error>,
}

/// Keeps tables in the directory `dir`. Call it once, before the first use of a table. Returns
/// whether this was the first call.
pub fn use_cache(dir: impl Into<PathBuf>) -> bool {
    DIRECTORY.set(dir.into()).is_ok()
}

/// The table of `rule`. If it is not in the cache, the first call takes as long as solving.
pub fn table(rule: Rule) -> &'static Table {
    prepare(rule, &mut |_| ()).0
}

/// The table of `rule`, and how this call obtained it. `progress` is called as by [`solve`].
pub fn prepare(rule: Rule, progress: &mut dyn FnMut(f64)) -> (&'static Table, Origin) {
    static TABLES: [OnceLock<Table>; 3] = [const { OnceLock::new() }; 3];
    let mut origin = Origin::default();
    let table = TABLES[rule as usize].get_or_init(|| {
        origin.file = DIRECTORY.get().map(|dir| dir.join(format!("yahtzee-{rule}.table")));
        load_or_solve(rule, &mut origin, progress)
    });
    (table, origin)
}

fn load_or_solve(rule: Rule, origin: &mut Origin, progress: &mut dyn FnMut(f64)) -> Table {
    let loaded = origin.file.as_deref().map(|file| load(rule, file));
    match loaded {
        Some(Ok(table)) => return table,
        Some(Err(CacheError::Read(error))) if error.kind() == ErrorKind::NotFound => (),
        Some(Err(error)) => origin.refused = Some(error),
        None => (),
    }
    let table = solve(rule, progress);
    origin.solved = true;
    origin.not_saved = origin.file.as_deref().and_then(|file| save(&table, file).err());
    table
}

fn load(rule: Rule, file: &Path) -> Result<Table, CacheError> {
    Table::load(rule, &mut BufReader::new(File::open(file).map_err(CacheError::Read)?))
}

/// Writes to a draft beside the file and renames it, so that no other process reads half a table.
fn save(table: &Table, file: &Path) -> io::Result<()> {
    if let Some(dir) = file.parent() {
        fs::create_dir_all(dir)?;
    }
    let draft = file.with_extension(format!("draft-{}", std::process::id()));
    let written = File::create(&draft).and_then(|mut draft| table.save(&mut draft));
    let saved = written.and_then(|()| fs::rename(&draft, file));
    if saved.is_err() {
        // The draft is useless now. A failure to remove it adds nothing to the error.
        let _ = fs::remove_file(&draft);
    }
    saved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_file_is_used_and_a_bad_one_replaced() {
        let dir = std::env::temp_dir().join(format!("agon-yahtzee-{}", std::process::id()));
        let file = dir.join("deep").join("table");
        let get = || {
            let mut origin = Origin { file: Some(file.clone()), ..Origin::default() };
            let table = load_or_solve(Rule::Tournament, &mut origin, &mut |_| ());
            (format!("{:.4}", table.optimum()), origin)
        };
        let (optimum, first) = get();
        assert!(first.solved && first.refused.is_none() && first.not_saved.is_none());
        let (again, second) = get();
        assert!(!second.solved && again == optimum);
        fs::write(&file, b"AGON").unwrap();
        let (_, third) = get();
        assert!(third.solved && matches!(third.refused, Some(CacheError::NotATable)));
        assert!(!get().1.solved);
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "no draft is left");
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn unusable_cache_directory_is_reported_but_not_fatal() {
        let file = Some(PathBuf::from("/dev/null/agon/table"));
        let mut origin = Origin { file, ..Origin::default() };
        load_or_solve(Rule::Tournament, &mut origin, &mut |_| ());
        assert!(origin.solved && origin.not_saved.is_some());
    }
}
