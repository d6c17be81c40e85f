//! Output for people: progress during a run, brackets and tables at its end.

mod analysis;
mod bracket;
mod comparison;
mod exam;
mod live;
mod progress;
mod results;
mod sandbox;

pub(crate) use analysis::{analysis, luck_of_game, standings as adjusted_standings};
pub(crate) use exam::{ExamProgress, exam};
pub(crate) use live::{of_match, on_wires, tournament};
pub(crate) use progress::Progress;
pub(crate) use results::{reasons, results};
pub(crate) use sandbox::protections;

/// Returns whether to use ANSI colours.
pub(crate) fn colour(terminal: bool) -> bool {
    terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Text in an ANSI style, if `colour` is set.
pub(crate) fn paint(text: &str, style: &str, colour: bool) -> String {
    if colour { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
}

/// A table with aligned columns; the first row is the header. Columns in `right` are aligned to the
/// right.
pub(crate) fn table(rows: &[Vec<String>], right: &[usize], colour: bool) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for (at, row) in rows.iter().enumerate() {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let pad = " ".repeat(widths[column] - cell.chars().count());
            if right.contains(&column) { format!("{pad}{cell}") } else { format!("{cell}{pad}") }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        let line = line.trim_end();
        out.push_str(&if at == 0 { paint(line, "2", colour) } else { line.to_owned() });
        out.push('\n');
    }
    out
}
