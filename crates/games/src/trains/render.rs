//! The game as text for people: the map as a plot of characters, then who has what.

use super::state::{Stage, Trains};
use super::talk::Answer;
use super::view::{Player, View};
use super::{Color, Connection, Map};
use crate::Seat;
use std::fmt::Write;

/// Columns and rows of the plot.
const COLUMNS: usize = 78;
const ROWS: usize = 24;

/// Where a list of connections goes on in the next line.
const LINE: usize = 96;

/// One character of the plot and the colour it may have.
type Cell = (char, Option<Color>);

/// The position as a view has it; `scores` by seat, once there are any.
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

/// What one player has: its cards where they are seen, else how many.
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
}

impl Trains {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trains::Config;
    use crate::{Game, Seed};
    use serde_json::json;

    /// Names where there is room for them: beside, and in a corner left of, below and above their
    /// cities; in the thick of it over nothing but dots.
    fn crowded() -> serde_json::Value {
        json!({
            "width": 770, "height": 230,
            "cities": [
                ["Alfa", [0, 0]], ["Bravo", [770, 0]], ["Charlie", [770, 230]], ["Delta", [0, 230]],
                ["Echo", [300, 100]], ["Foxtrot", [330, 100]], ["Golf", [380, 100]],
                ["Hotel", [350, 110]], ["India", [310, 90]], ["Juliett", [360, 90]],
                ["Kilo", [340, 100]], ["L", [755, 220]]
            ],
            "connections": {
                "Alfa": {"Bravo": {"red": 3}, "Charlie": {"blue": 5}, "Delta": {"green": 4}},
                "Bravo": {"Charlie": {"white": 3}, "Delta": {"red": 4}},
                "Charlie": {"Delta": {"green": 3}, "Echo": {"white": 4}},
                "Echo": {"Foxtrot": {"red": 3}, "Golf": {"blue": 3}, "India": {"green": 3}}
            },
        })
    }

    /// Three players: one whose cards are seen, one with one rail left, one that is out.
    fn view(more: serde_json::Value) -> View {
        let mut view = json!({
            "map": crowded(),
            "players": [
                {
                    "rails": 27, "cards": 7, "hand": {"blue": 1, "red": 4, "white": 2},
                    "destinations": [["Alfa", "Bravo"], ["Charlie", "Echo"]],
                    "acquired": [
                        ["Alfa", "Bravo", "red", 3], ["Bravo", "Charlie", "white", 3],
                        ["Alfa", "Delta", "green", 4], ["Alfa", "Charlie", "blue", 5],
                        ["Echo", "Foxtrot", "red", 3]
                    ],
                },
                {"rails": 1, "cards": 12, "acquired": [["Charlie", "Delta", "green", 3]]},
                {"out": true, "rails": 0, "cards": 0, "acquired": []},
            ],
            "deck": 83,
            "history": [],
        });
        view.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(view).unwrap()
    }

    /// What is drawn is what the file says; `AGON_BLESS=1` writes the file anew.
    fn assert_drawn(file: &str, drawn: &str) {
        let path = format!("{}/tests/data/trains/{file}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("AGON_BLESS").is_some() {
            std::fs::write(&path, drawn).unwrap();
        }
        assert_eq!(drawn, std::fs::read_to_string(&path).unwrap());
    }

    #[test]
    fn a_position_is_drawn_as_it_always_was() {
        let names = ["Ann", "Bob"].map(String::from);
        let (plain, running) = (json!({"turn": 1}), json!({"turn": 0, "last_turns": [1, 2]}));
        assert_drawn("drawn.txt", &draw(&view(plain), None, &names, false));
        assert_drawn("drawn-colours.txt", &draw(&view(running), None, &[], true));
    }

    #[test]
    fn the_end_is_drawn_with_points() {
        let text = draw(&view(json!({})), Some(&[42, -7, 0]), &[], false);
        let (_, players) = text.split_once(" 1 seat").unwrap();
        let lines: Vec<&str> = players.lines().filter(|line| !line.contains("   ")).collect();
        assert_eq!(
            lines,
            [
                " 0: 42 points; 27 rails; 1 blue, 0 green, 4 red, 2 white",
                " 2 seat 1: -7 points; 1 rail; 12 cards",
                " 3 seat 2: out",
                "deck: 83 cards; the game is over",
            ]
        );
    }

    #[test]
    fn lists_break_where_the_next_connection_would_pass_the_margin() {
        let held = |count: usize, letters: usize| -> Vec<Connection> {
            let connection = |at: usize| {
                let (one, other) = (format!("City {at:020}"), "Z".repeat(letters));
                serde_json::from_value(json!([one, other, "red", 3])).unwrap()
            };
            (0..count).map(connection).collect()
        };
        for count in 1..7 {
            // Two of them fill a line to the last character; with a letter more, each takes one.
            for (letters, in_a_line) in [(4, 2), (5, 1)] {
                let mut text = String::new();
                write_held(&mut text, &held(count, letters), false);
                let lines: Vec<&str> = text.lines().collect();
                assert_eq!(lines.len(), count.div_ceil(in_a_line), "{text}");
                assert_eq!(text.matches(';').count(), count - 1);
                assert!(lines.iter().all(|line| line.chars().count() <= LINE), "{text}");
                assert!(lines[0].starts_with("     holds City 0"), "{text}");
                assert!(lines[1..].iter().all(|line| line.starts_with("           City 0")));
            }
        }
    }

    #[test]
    fn what_players_do_is_told() {
        let config = Config { confirm: true, ..Config::default() };
        let mut game = Trains::new(&config, 2, &Seed::from_number(3)).unwrap();
        let mut told = Vec::new();
        while let Some(seat) = game.awaiting().first() {
            let before = game.clone();
            let answer = game.legal(seat).pop().unwrap();
            game.apply(seat, &answer).unwrap();
            let sentence = game.told(&before, seat, &answer);
            let left = game.place(seat).rails;
            if let Answer::Acquire(connection) = answer {
                let end = match left {
                    0 | 2 => format!(" and has {left} rails left"),
                    1 => " and has 1 rail left".into(),
                    _ => String::new(),
                };
                assert_eq!(sentence, format!("takes {connection}{end}"));
            } else if told.last() != Some(&sentence) {
                told.push(sentence);
            }
        }
        let setup = ["is ready", "keeps two of five destinations"];
        assert_eq!(told[..4], [setup, setup].concat());
        assert_eq!(told[4..6], ["draws two cards", "takes the cards"]);
        game.deck = crate::trains::deck::Deck::fixed(&[]);
        let more = game.told(&game, Seat(0), &Answer::MoreCards);
        assert_eq!(more, "asks for cards, but the deck is used up");
    }
}
