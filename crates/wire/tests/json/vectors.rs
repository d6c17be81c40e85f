//! Vectors of other people, beside the workspace or where `AGON_VECTORS` says.

use agon_wire::values::{Limits, Values};
use std::path::{Path, PathBuf};

/// A folder of vectors, or `None` where there are none; on CI they must be there.
pub(crate) fn vectors(folder: &str) -> Option<PathBuf> {
    let root = std::env::var_os("AGON_VECTORS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors"),
        PathBuf::from,
    );
    let folder = root.join(folder);
    if !folder.is_dir() {
        assert!(std::env::var_os("CI").is_none(), "no vectors in {}", folder.display());
        eprintln!("not run: no vectors in {}", folder.display());
        return None;
    }
    Some(folder)
}

/// A document beside the workspace whose name begins like this; `None` where there is none.
pub(crate) fn beside(folder: &str, number: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(folder);
    let mut files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let begins = |name: std::ffi::OsString| name.to_string_lossy().starts_with(number);
    let Some(file) = files.find(|file| begins(file.file_name())) else {
        eprintln!("not run: no document {number} in {}", folder.display());
        return None;
    };
    std::fs::read_to_string(file.path()).ok()
}

/// All values of a file, through the framer.
pub(crate) fn values(bytes: &[u8]) -> Vec<String> {
    let mut values = Values::new(Limits::default());
    values.push(bytes);
    let mut taken = Vec::new();
    while let Some(value) = values.take() {
        taken.push(value.expect("JSON").to_owned());
    }
    assert!(values.finish().is_none(), "the file ends with a value");
    taken
}
