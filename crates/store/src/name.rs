//! Names of streams, and which of them are allowed.
//!
//! A name is also a path below a folder in the file log. So two names must never mean one file, and
//! no name may lead out of the folder.

use crate::{AppendError, LogError};

/// The longest allowed stream name; every character is one byte.
pub const STREAM_NAME_CHARS_MAX: usize = 200;

/// Checks a stream name: parts of `a-z 0-9 . _ -` joined by `/`, each starting with a letter or a
/// digit, without `..`, at most [`STREAM_NAME_CHARS_MAX`] long.
///
/// No part may end in `.jsonl`: the folder of `a.jsonl/b` would be the file of `a`.
pub fn check_stream_name(name: &str) -> Result<(), AppendError> {
    match fault(name) {
        None => Ok(()),
        Some(reason) => Err(AppendError::BadStream { stream: shortened(name), reason }),
    }
}

/// Like `check_stream_name`, for readers.
pub(crate) fn check_for_reading(name: &str) -> Result<(), LogError> {
    match fault(name) {
        None => Ok(()),
        Some(_) => Err(LogError::BadStream(shortened(name))),
    }
}

fn fault(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.len() > STREAM_NAME_CHARS_MAX {
        return Some("it is longer than 200 characters");
    }
    let (mut before, mut has_dot) = (b'/', false);
    for byte in name.bytes() {
        has_dot |= byte == b'.';
        match byte {
            b'a'..=b'z' | b'0'..=b'9' => {}
            b'.' | b'_' | b'-' | b'/' if before == b'/' => {
                return Some("every part must start with a letter or a digit");
            }
            b'.' if before == b'.' => return Some("`..` is not allowed"),
            b'.' | b'_' | b'-' | b'/' => {}
            _ => return Some("only a-z, 0-9, `.`, `_`, `-` and `/` are allowed"),
        }
        before = byte;
    }
    if before == b'/' {
        return Some("it ends with `/`");
    }
    if has_dot && (name.ends_with(".jsonl") || name.contains(".jsonl/")) {
        return Some("no part may end in `.jsonl`");
    }
    None
}

/// The beginning of a bad name, for an error: the name may have any length.
fn shortened(name: &str) -> String {
    name.chars().take(STREAM_NAME_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_are_allowed() {
        let longest = "a".repeat(STREAM_NAME_CHARS_MAX);
        for name in ["lobby", "match/r1m1", "t/2026-07.final_1/m/3", "7", "a-", "a._-b", &longest] {
            assert_eq!(check_stream_name(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn invalid_names_are_rejected() {
        let long = "a".repeat(STREAM_NAME_CHARS_MAX + 1);
        let names = [
            "",
            "/",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            ".lock",
            "a/..",
            "a/../b",
            "a..b",
            "a/.b",
            "a/-b",
            "-a",
            "_a",
            "A",
            "a b",
            "a\\b",
            "a\nb",
            "a\0",
            "é",
            "a.jsonl",
            "a.jsonl/b",
            &long,
        ];
        for name in names {
            assert!(check_stream_name(name).is_err(), "{name:?}");
        }
    }
}
