//! Fish for people: the board as text, and moves as sentences.

use super::{Answer, Color, Fish, Phase, Tile};
use crate::{Game, Seat};
use std::fmt::Write;

impl Color {
    /// One letter for the board. Black is K, as printers have it, since B is brown.
    fn letter(self) -> char {
        match self {
            Color::Red => 'R',
            Color::White => 'W',
            Color::Brown => 'B',
            Color::Black => 'K',
        }
    }

    /// The ANSI sequence for things of this colour: bold, on a background that shows it.
    fn paint(self) -> &'static str {
        match self {
            Color::Red => "\x1b[1;97;41m",
            Color::White => "\x1b[1;30;107m",
            Color::Brown => "\x1b[1;97;43m",
            Color::Black => "\x1b[1;97;100m",
        }
    }
}

impl Fish {
    /// The board, a row of tiles a line and odd rows shifted, then the players. A tile shows its
    /// fish, with the letter of whoever stands on it; a hole is a dot.
    pub(super) fn text(&self, names: &[String], colour: bool) -> String {
        let shape = self.ice.shape();
        let mut text = String::new();
        for (at, tile) in shape.all().enumerate() {
            let (row, column) = (at / shape.columns(), at % shape.columns());
            if column == 0 {
                let shift = if row % 2 == 1 { "  " } else { "" };
                let _ = write!(text, "{}{row:>3}  {shift}", if row > 0 { "\n" } else { "" });
            } else {
                text.push_str("  ");
            }
            self.tile_text(&mut text, tile, colour);
        }
        text.push('\n');
        for seat in Seat::all(self.seats()) {
            text.push('\n');
            self.player_text(&mut text, seat, names, colour);
        }
        text.push('\n');
        text
    }

    /// Two characters for a tile.
    fn tile_text(&self, text: &mut String, tile: Tile, colour: bool) {
        let fish = self.ice.fish(tile);
        let owner = Seat::all(self.seats()).find(|seat| self.flock(*seat).any(|own| own == tile));
        let _ = match owner.map(Color::of) {
            Some(color) if colour => {
                write!(text, "{}{}{fish}\x1b[0m", color.paint(), color.letter())
            }
            Some(color) => write!(text, "{}{fish}", color.letter()),
            None if self.ice.is_free(tile) => write!(text, " {fish}"),
            None => write!(text, " ."),
        };
    }

    fn player_text(&self, text: &mut String, seat: Seat, names: &[String], colour: bool) {
        let color = Color::of(seat);
        let mark = if self.turn() == Some(seat) { '>' } else { ' ' };
        let (on, off) = if colour { (color.paint(), "\x1b[0m") } else { ("", "") };
        let name = names.get(seat.index()).map_or("", String::as_str);
        let score = self.scores[seat.index()];
        let _ = write!(text, "{mark} {on}{}{off} {color:<5} {score:>4} fish", color.letter());
        let removed = self.removed.contains(seat);
        for word in [name, if removed { "(removed)" } else { "" }] {
            if !word.is_empty() {
                let _ = write!(text, "  {word}");
            }
        }
    }

    /// An answer given in this position, as a sentence without its subject.
    pub(super) fn sentence(&self, answer: &Answer) -> String {
        match answer {
            Answer::Ok if self.phase == Phase::PlayingAs => "confirms the colour".into(),
            Answer::Ok => "confirms the opponents".into(),
            Answer::Place(position) => format!("places a penguin at {position}"),
            Answer::Move(action) => {
                let fish = self.ice.tile(action.from).map_or(0, |tile| self.ice.fish(tile));
                format!("slides from {} to {} and eats {fish} fish", action.from, action.to)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use crate::fish::{Action, Config, Position};

    fn at(row: i64, column: i64) -> Position {
        Position::new(row, column)
    }

    fn played() -> Fish {
        let board = r#"{"board": [[1,2,3,4],[5,0,1,2],[3,4,5,1],[2,3,4]]}"#;
        let config: Config = serde_json::from_str(board).unwrap();
        let mut game = Fish::new(&config, 4, &Seed::from_number(0)).unwrap();
        for column in 0..4 {
            for row in [0, 2] {
                let seat = game.awaiting().first().unwrap();
                game.apply(seat, &Answer::Place(at(row, column))).unwrap();
            }
        }
        game
    }

    #[test]
    fn the_board_shows_tiles_penguins_holes_and_scores() {
        let mut game = played();
        let before = game.clone();
        let action = Action { from: at(0, 0), to: at(1, 0) };
        game.apply(Seat(0), &Answer::Move(action)).unwrap();
        game.remove(Seat(3));
        let names = ["ann", "ben", "cat", "dan"].map(String::from);
        let expected = "  0   .  B2  R3  B4
  1    R5   .   1   2
  2  W3   4  W5   1
  3     2   3   4   .

  R red      1 fish  ann
> W white    0 fish  ben
  B brown    0 fish  cat
  K black    0 fish  dan  (removed)
";
        assert_eq!(game.render(&names, false), expected);
        assert!(game.render(&[], true).contains("\x1b[1;97;41mR5\x1b[0m"));
        let told = game.tell(&before, Seat(0), &Answer::Move(action));
        assert_eq!(told, "slides from 0,0 to 1,0 and eats 1 fish");
        let told = game.tell(&before, Seat(0), &Answer::Place(at(0, 1)));
        assert_eq!(told, "places a penguin at 0,1");
    }
}
