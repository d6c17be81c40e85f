//! Shared by the tests of wires: transcripts in files, and damage to them.

use proptest::prelude::*;
use std::path::Path;

/// Compares what was said with a transcript under `tests/data`, and with the page that shows it.
/// With `AGON_RECORD` set it writes the file anew instead.
pub(crate) fn compare(file: &str, page: &str, said: &[String]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("tests/data").join(file);
    let said = said.join("\n") + "\n";
    if std::env::var_os("AGON_RECORD").is_some() {
        std::fs::write(&path, &said).expect("a writable transcript");
        return;
    }
    let expected = std::fs::read_to_string(&path).expect("a transcript");
    assert_eq!(said, expected, "{file}");
    let page = root.join("../../docs/protocol").join(page);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains(&expected), "the page does not show {file}");
}

/// `text` with some bytes changed, left out, put in or doubled.
pub(crate) fn damage(text: Vec<u8>, changes: &[(prop::sample::Index, u8, u8)]) -> Vec<u8> {
    let mut text = text;
    for (at, byte, how) in changes {
        let at = at.index(text.len() + 1);
        match how % 4 {
            0 => text.insert(at, *byte),
            1 if at < text.len() => text[at] = *byte,
            2 if at < text.len() => drop(text.remove(at)),
            3 => text.truncate(at),
            _ => {}
        }
    }
    text
}

/// Changes for [`damage`].
pub(crate) fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, u8, u8)>> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<u8>()), 1..5)
}
