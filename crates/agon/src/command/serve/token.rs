//! Delivers a new operator token: on stdout, or in a file if others keep stdout.

use anyhow::{Context, Result};
use std::fs::{OpenOptions, remove_file};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A new token.
pub(super) enum Token {
    /// To be printed.
    Said(String),
    /// In this file.
    In(PathBuf),
}

/// Writes the token to the file, if one is set. The file is new, and only its owner may read it.
pub(super) fn keep(token: String, file: Option<&Path>) -> Result<Token> {
    let Some(file) = file else { return Ok(Token::Said(token)) };
    write(&token, file).with_context(|| {
        let next = "fix that, then start once with --operator-token";
        format!("failed to write the operator's token to {}; {next}", file.display())
    })?;
    Ok(Token::In(file.to_owned()))
}

fn write(token: &str, file: &Path) -> std::io::Result<()> {
    match remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    writeln!(to, "{token}")
}
