//! Where test vectors are. They are not part of the repository: the folder is named by
//! `AGON_VECTORS` or lies beside the workspace.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The pairs of input and expected output in `folder`, with their names; `None`, said aloud, if
/// there are no vectors here. On CI they must be there.
pub(crate) fn pairs(folder: &str) -> Option<Vec<(String, Value, Value)>> {
    let root = std::env::var_os("AGON_VECTORS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors"),
        PathBuf::from,
    );
    let folder = root.join(folder);
    if !folder.is_dir() {
        assert!(std::env::var_os("CI").is_none(), "no vectors at {}", folder.display());
        eprintln!("not run: no vectors at {}", folder.display());
        return None;
    }
    let mut inputs: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("a readable folder")
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.to_string_lossy().ends_with("-in.json"))
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "no pairs in {}", folder.display());
    let pair = |input: &PathBuf| {
        let name = input.to_string_lossy().into_owned();
        let output = PathBuf::from(name.replace("-in.json", "-out.json"));
        (name, parse(input), parse(&output))
    };
    Some(inputs.iter().map(pair).collect())
}

fn parse(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}
