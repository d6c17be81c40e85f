//! The game as text for people: the map as a plot of characters, then who has what.

use super::state::{Stage, Trains};
use super::talk::Answer;
use super::{Color, Connection, Hand};
use crate::{Game, Seat};
use std::fmt::Write;

/// Columns and rows of the plot.
const COLUMNS: usize = 78;
const ROWS: usize = 24;

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
        let _ = writeln!(text, "{} rails; {}", place.rails, cards.join(", "));
        if let Some(kept) = place.kept {
            let kept = kept.map(|at| self.destination(at).to_string());
            let _ = writeln!(text, "     wants {}", kept.join(" and "));
        }
        if !place.held().is_empty() {
            let held = place.held().iter().map(|at| {
                let connection = self.connection(*at);
                paint(&connection.to_string(), connection.color, colour)
            });
            let _ = writeln!(text, "     holds {}", held.collect::<Vec<_>>().join("; "));
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
        for city in self.map.cities() {
            let (column, row) = self.cell(city.x, city.y);
            let name = city.name.as_str();
            // To the right of the city if there is room, else so that it ends at the city.
            let right = column + 1 + name.len() <= COLUMNS;
            let start = if right { column + 1 } else { column.saturating_sub(name.len()) };
            for (cell, letter) in cells[row][start..].iter_mut().zip(name.chars()) {
                *cell = (letter, None);
            }
            cells[row][column] = ('o', None);
        }
        let mut text = String::new();
        for row in &cells {
            let line: String = row.iter().map(|cell| write_cell(*cell, colour)).collect::<String>();
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
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
            rails if rails <= super::RAILS_LAST => {
                format!("takes {connection} and has {rails} rails left")
            }
            _ => format!("takes {connection}"),
        }
    }
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
