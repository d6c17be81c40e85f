//! The game as text for people: the map as a plot of characters, then who has what.

use super::state::{Stage, Trains};
use super::talk::Answer;
use super::{Color, Connection, Hand};
use crate::{Game, Seat};
use std::fmt::Write;

/// Columns and rows of the plot.
const COLUMNS: usize = 78;
const ROWS: usize = 24;

/// Where a list of connections goes on in the next line.
const LINE: usize = 96;

/// One character of the plot and the colour it may have.
type Cell = (char, Option<Color>);

impl Trains {
    pub(super) fn as_text(&self, names: &[String], colour: bool) -> String {
        let mut text = self.plot(colour);
        let outcome = self.outcome();
        for seat in Seat::all(self.seats()) {
            let name = names.get(seat.index()).cloned().unwrap_or_else(|| seat.to_string());
            let score = outcome.as_ref().map(|outcome| outcome.scores[seat.index()]);
            self.write_player(&mut text, seat, &name, score, colour);
        }
        let _ = write!(text, "deck: {} cards", self.deck.left());
        match (self.stage, self.last_turns) {
            (Stage::Over, _) => text.push_str("; the game is over\n"),
            (_, Some(seats)) => {
                let _ = writeln!(text, "; {} more turns", seats.len());
            }
            (_, None) => text.push('\n'),
        }
        text
    }

    fn write_player(
        &self,
        text: &mut String,
        seat: Seat,
        name: &str,
        score: Option<i64>,
        colour: bool,
    ) {
        let place = self.place(seat);
        let awaited = self.stage != Stage::Over && self.turn == seat;
        let mark = if awaited { '>' } else { ' ' };
        let _ = write!(text, "{mark}{} {name}: ", seat.0 + 1);
        if !self.remaining.contains(seat) {
            text.push_str("out\n");
            return;
        }
        if let Some(score) = score {
            let _ = write!(text, "{score} points; ");
        }
        let hand = Hand::from_counts(place.hand);
        let cards =
            Color::ALL.map(|color| paint(&format!("{} {color}", hand.of(color)), color, colour));
        let _ = writeln!(text, "{}; {}", rails(place.rails), cards.join(", "));
        if let Some(kept) = place.kept {
            let kept = kept.map(|at| self.destination(at).to_string());
            let _ = writeln!(text, "     wants {}", kept.join(" and "));
        }
        if !place.held().is_empty() {
            let held: Vec<Connection> =
                place.held().iter().map(|at| self.connection(*at)).collect();
            write_held(text, &held, colour);
        }
    }

    /// The map: free connections as dots, others as the number of the player who holds them.
    fn plot(&self, colour: bool) -> String {
        let mut cells = vec![[(' ', None); COLUMNS]; ROWS];
        for at in 0..self.map.connections().len() {
            self.draw_line(&mut cells, at, ('·', None));
        }
        for seat in self.remaining {
            let digit = char::from(b'1' + seat.0);
            for at in self.place(seat).held() {
                let at = usize::from(*at);
                self.draw_line(&mut cells, at, (digit, Some(self.map.connections()[at].color)));
            }
        }
        self.write_cities(&mut cells);
        let mut text = String::new();
        for row in &cells {
            let line: String = row.iter().map(|cell| write_cell(*cell, colour)).collect::<String>();
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// The cities and their names, each where it covers no other if there is such a place.
    fn write_cities(&self, cells: &mut [[Cell; COLUMNS]]) {
        let mut taken = vec![[false; COLUMNS]; ROWS];
        let places: Vec<_> =
            self.map.cities().iter().map(|city| self.cell(city.x, city.y)).collect();
        for (column, row) in &places {
            cells[*row][*column] = ('o', None);
            taken[*row][*column] = true;
        }
        for (city, (column, row)) in self.map.cities().iter().zip(places) {
            let name = city.name.as_str();
            let length = name.chars().count();
            // To the right, to the left, below, above.
            let beside = [Some(column + 1), column.checked_sub(length)];
            let under = Some(column.saturating_sub(length / 2).min(COLUMNS.saturating_sub(length)));
            let rows = [Some(row + 1).filter(|below| *below < ROWS), row.checked_sub(1)];
            let beside = beside.into_iter().flatten().map(|start| (row, start));
            let around = beside.chain(rows.into_iter().flatten().zip(under.into_iter().cycle()));
            let fits = |(row, start): &(usize, usize)| {
                let cells = taken[*row].get(*start..start + length);
                cells.is_some_and(|cells| !cells.contains(&true))
            };
            let (row, start) = around.into_iter().find(fits).unwrap_or((row, column + 1));
            for (at, letter) in (start..COLUMNS).zip(name.chars()) {
                if !taken[row][at] {
                    cells[row][at] = (letter, None);
                    taken[row][at] = true;
                }
            }
        }
    }

    fn cell(&self, x: u16, y: u16) -> (usize, usize) {
        let scale =
            |at: u16, side: u16, cells: usize| usize::from(at) * (cells - 1) / usize::from(side);
        (scale(x, self.map.width(), COLUMNS), scale(y, self.map.height(), ROWS))
    }

    fn draw_line(&self, cells: &mut [[Cell; COLUMNS]], connection: usize, cell: Cell) {
        let [from, to] = self.map.ends(connection).map(|city| {
            let city = self.map.cities()[usize::from(city)];
            self.cell(city.x, city.y)
        });
        let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1)).max(1);
        let between = |from: usize, to: usize, step: usize| {
            (from * (steps - step) + to * step + steps / 2) / steps
        };
        for step in 0..=steps {
            cells[between(from.1, to.1, step)][between(from.0, to.0, step)] = cell;
        }
    }

    /// Tells nothing that others may not know, so that it can be shown while the game runs.
    pub(super) fn told(&self, before: &Trains, seat: Seat, answer: &Answer) -> String {
        match answer {
            Answer::Ok if before.stage == Stage::Setup => "is ready".into(),
            Answer::Ok => "takes the cards".into(),
            Answer::Return(_) => "keeps two of five destinations".into(),
            Answer::MoreCards if before.deck.left() == self.deck.left() => {
                "asks for cards, but the deck is used up".into()
            }
            Answer::MoreCards => "draws two cards".into(),
            Answer::Acquire(connection) => self.told_acquired(seat, connection),
        }
    }

    fn told_acquired(&self, seat: Seat, connection: &Connection) -> String {
        match self.place(seat).rails {
            left if left <= super::RAILS_LAST => {
                format!("takes {connection} and has {} left", rails(left))
            }
            _ => format!("takes {connection}"),
        }
    }
}

fn rails(count: u8) -> String {
    if count == 1 { "1 rail".into() } else { format!("{count} rails") }
}

/// The connections of a player, on as many lines as they need.
fn write_held(text: &mut String, held: &[Connection], colour: bool) {
    let mut width = "     holds".len();
    text.push_str("     holds");
    for (at, connection) in held.iter().enumerate() {
        let plain = connection.to_string();
        let end = if at + 1 < held.len() { ";" } else { "" };
        width += plain.chars().count() + 2;
        if at > 0 && width > LINE {
            text.push_str("\n          ");
            width = 12 + plain.chars().count();
        }
        let _ = write!(text, " {}{end}", paint(&plain, connection.color, colour));
    }
    text.push('\n');
}

fn write_cell((letter, color): Cell, colour: bool) -> String {
    match color {
        Some(color) => paint(&letter.to_string(), color, colour),
        None => letter.to_string(),
    }
}

/// The text in an ANSI colour, if that is allowed.
fn paint(text: &str, color: Color, colour: bool) -> String {
    let code = match color {
        Color::Blue => 34,
        Color::Green => 32,
        Color::Red => 31,
        Color::White => 37,
    };
    if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into() }
}
