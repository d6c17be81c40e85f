//! A table of the sandbox's protections and whether they work.

use super::{paint, table};
use agon_runner::Protection;
use std::fmt::Write;

/// The protections as text.
pub(crate) fn protections(all: &[Protection], colour: bool) -> String {
    let mut rows = vec![["protection", "holds", ""].map(String::from).to_vec()];
    for Protection { name, holds, detail } in all {
        let holds = if *holds { "yes" } else { "NO" };
        rows.push(vec![(*name).to_owned(), holds.to_owned(), detail.clone()]);
    }
    let mut out = table(&rows, &[], colour);
    let missing = all.iter().filter(|one| !one.holds).count();
    let (words, style) = match missing {
        0 => ("All protections work on this machine.".to_owned(), "1;32"),
        1 => ("One protection does not work on this machine.".to_owned(), "1;31"),
        _ => (format!("{missing} protections do not work on this machine."), "1;31"),
    };
    let _ = writeln!(out, "\n{}", paint(&words, style, colour));
    out
}
