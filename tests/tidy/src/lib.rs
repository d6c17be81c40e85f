//! The promises of CONTRIBUTING.md about the source tree, as tests. Each module checks one kind of
//! promise; [`tree`] finds the files. A failure names the file, the line and what to do.
//!
//! Some promises do not hold everywhere yet. Their exceptions are listed beside the check, and the
//! lists may only shrink: an exception that is no longer needed fails the test as well.
#![forbid(unsafe_code)]
#![cfg(test)]

mod crates;
mod manifests;
mod names;
mod pages;
mod prose;
mod source;
mod tree;

/// Fails with all complaints at once, so that one run shows them all.
fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}
