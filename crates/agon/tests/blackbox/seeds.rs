//! `docs/seeds.md` lists every requirement of the design documents: each row names tests, and every
//! test it names exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The names of all functions in the tests and sources below `folder`.
fn collect_functions(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect_functions(&path, names);
            continue;
        }
        let keyword = match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => "fn ",
            Some("py") => "def ",
            _ => continue,
        };
        let text = fs::read_to_string(&path).expect("a source file");
        for line in text.lines() {
            let Some((_, rest)) = line.split_once(keyword) else { continue };
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            names.insert(rest[..end].to_owned());
        }
    }
}

/// The texts between backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn seeds_page_names_existing_tests() {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/seeds.md")).expect("docs/seeds.md");
    let mut known = BTreeSet::new();
    for folder in ["crates", "clients/python/tests"] {
        collect_functions(&Path::new(ROOT).join(folder), &mut known);
    }
    let rows: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| ") && !line.contains("---")).collect();
    let rows: Vec<&str> =
        rows.into_iter().filter(|row| !row.starts_with("| requirement")).collect();
    assert!(rows.len() > 100, "only {} requirements", rows.len());
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [_, _, tests] = cells[..] else { panic!("a row has three cells: {row}") };
        let tests_named = quoted(tests);
        assert!(!tests_named.is_empty(), "a row without a test: {row}");
        for test in tests_named {
            assert!(known.contains(test), "no test is called {test}: {row}");
        }
    }
}
