//! The files of the source tree.

use std::path::{Path, PathBuf};

/// Folders that hold what programs made, not what people wrote.
const MADE: &[&str] = &["target", ".git", "found", "artifacts", "agon-data", "__pycache__"];

/// A text file of the tree.
pub(crate) struct File {
    /// Its path from the top of the tree, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The top of the tree.
pub(crate) fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the source tree exists")
}

/// All files whose name ends like this and that are text, by path.
pub(crate) fn files(ending: &str) -> Vec<File> {
    let (top, mut found) = (top(), Vec::new());
    let mut folders = vec![top.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_symlink() || MADE.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(ending) {
                let inside = path.strip_prefix(&top).expect("a path of the tree");
                let inside = inside.to_string_lossy().replace('\\', "/");
                let Ok(text) = std::fs::read_to_string(&path) else { continue };
                found.push(File { path: inside, text });
            }
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(!found.is_empty(), "there are no files called *{ending}");
    found
}
