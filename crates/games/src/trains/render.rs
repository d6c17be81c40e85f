//! The game as text for people: the map as a plot of characters, then the players' possessions.

use super::state::{Stage, Trains};
use super::talk::Answer;
use super::view::{Player, View};
use super::{Color, Connection, Map};
use crate::Seat;
use std::fmt::Write;

/// Columns and rows of the plot.
const COLUMNS: usize = 78;
const ROWS: usize = 24;

/// The column after which a list of connections wraps.
const LINE: usize = 96;

/// One character of the plot and the colour it may have.
type Cell = (char, Option<Color>);

/// The position of a view as text; `scores` by seat, once there are any.
pub(super) fn draw(view: &View, scores: Option<&[i64]>, names: &[String], colour: bool) -> String {
    let mut text = Plot { map: &view.map }.draw(&view.players, colour);
    for (at, player) in view.players.iter().enumerate() {
        let seat = Seat(at as u8);
        let name = names.get(at).cloned().unwrap_or_else(|| seat.to_string());
        let mark = if view.turn == Some(seat) { '>' } else { ' ' };
        let _ = write!(text, "{mark}{} {name}: ", at + 1);
        let score = scores.and_then(|scores| scores.get(at)).copied();
        write_player(&mut text, player, score, colour);
    }
    let _ = write!(text, "deck: {} cards", view.deck);
    match (view.turn, &view.last_turns) {
        (None, _) => text.push_str("; the game is over\n"),
        (_, Some(seats)) => {
            let _ = writeln!(text, "; {} more turns", seats.len());
        }
        (_, None) => text.push('\n'),
    }
    text
}

/// The possessions of one player: their cards if visible, else the number of cards.
fn write_player(text: &mut String, player: &Player, score: Option<i64>, colour: bool) {
    if player.out {
        text.push_str("out\n");
        return;
    }
    if let Some(score) = score {
        let _ = write!(text, "{score} points; ");
    }
    let cards = match player.hand {
        Some(hand) => {
            let count = |color| paint(&format!("{} {color}", hand.of(color)), color, colour);
            Color::ALL.map(count).join(", ")
        }
        None => format!("{} cards", player.cards),
    };
    let _ = writeln!(text, "{}; {cards}", rails(player.rails));
    if let Some(kept) = player.destinations {
        let _ = writeln!(text, "     wants {}", kept.map(|pair| pair.to_string()).join(" and "));
    }
    if !player.acquired.is_empty() {
        write_held(text, &player.acquired, colour);
    }
}

/// The map as characters.
struct Plot<'a> {
    map: &'a Map,
}

impl Plot<'_> {
    /// Free connections as dots, others as the number of the player who holds them.
    fn draw(&self, players: &[Player], colour: bool) -> String {
        let mut cells = vec![[(' ', None); COLUMNS]; ROWS];
        for at in 0..self.map.connections().len() {
            self.draw_line(&mut cells, at, ('·', None));
        }
        for (number, player) in players.iter().enumerate().filter(|(_, player)| !player.out) {
            let digit = char::from_digit(number as u32 + 1, 36).unwrap_or('#');
            for held in &player.acquired {
                if let Some(at) = self.map.find(held) {
                    self.draw_line(&mut cells, at, (digit, Some(held.color)));
                }
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

    /// The cities and their names, each where it covers no other, if possible.
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
}

impl Trains {
    /// Uses only public information, so that it can be shown while the game runs.
    pub(super) fn describe(&self, before: &Trains, seat: Seat, answer: &Answer) -> String {
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

/// The text in an ANSI colour, if `colour` is set.
fn paint(text: &str, color: Color, colour: bool) -> String {
    let code = match color {
        Color::Blue => 34,
        Color::Green => 32,
        Color::Red => 31,
        Color::White => 37,
    };
    if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into() }
}

#[cfg(test)]
mod tests;
