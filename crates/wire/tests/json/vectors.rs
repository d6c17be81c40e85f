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
