//! Where test vectors are. They are not part of the repository: the folder is named by
//! `AGON_VECTORS` or lies beside the workspace.

use serde_json::Value;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};

/// Compares every expected output of a folder with what `solve` makes of its input, and names all
/// that differ. Without vectors it says so and passes; on CI they must be there.
pub(crate) fn run(folder: &str, solve: impl Fn(&[Box<RawValue>]) -> Value) {
    let root = std::env::var_os("AGON_VECTORS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors"),
        PathBuf::from,
    );
    let folder = root.join(folder);
    if !folder.is_dir() {
        assert!(std::env::var_os("CI").is_none(), "no vectors in {}", folder.display());
        eprintln!("not run: no vectors in {}", folder.display());
        return;
    }
    let entries = std::fs::read_dir(&folder).expect("a readable folder");
    let mut inputs: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.to_string_lossy().ends_with("-in.json"))
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "no pairs in {}", folder.display());
    let mut wrong = Vec::new();
    for path in &inputs {
        let name = path.to_string_lossy();
        let text = std::fs::read_to_string(path).expect("a readable input");
        let input: Result<Vec<Box<RawValue>>, _> =
            serde_json::Deserializer::from_str(&text).into_iter().collect();
        let output = std::fs::read_to_string(name.replace("-in.json", "-out.json"));
        let expected: Value = serde_json::from_str(&output.expect("an output")).expect("JSON");
        let given = solve(&input.expect("JSON values"));
        if given != expected {
            wrong.push(format!("{name}\n  expected {expected}\n  given    {given}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), inputs.len(), wrong.join("\n"));
}
