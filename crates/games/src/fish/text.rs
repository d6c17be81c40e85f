//! Fish for people: the board as text, and moves as sentences.

use super::{Answer, Color, Fish, Phase, PlayerView, Position, View};
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

/// The board, a row of tiles a line and odd rows shifted, then the players. A tile shows its fish,
/// with the letter of the player who stands on it; a hole is a dot.
pub(super) fn draw(view: &View, names: &[String], colour: bool) -> String {
    let mut text = String::new();
    for (row, tiles) in view.board.rows().enumerate() {
        let shift = if row % 2 == 1 { "  " } else { "" };
        let _ = write!(text, "{row:>3}  {shift}");
        for (column, fish) in tiles.iter().enumerate() {
            text.push_str(if column > 0 { "  " } else { "" });
            let at = Position::new(row as i64, column as i64);
            let owner = view.players.iter().find(|player| player.places.contains(&at));
            let _ = match owner.map(|owner| owner.color) {
                Some(color) if colour => {
                    write!(text, "{}{}{fish}\x1b[0m", color.paint(), color.letter())
                }
                Some(color) => write!(text, "{}{fish}", color.letter()),
                None if *fish > 0 => write!(text, " {fish}"),
                None => write!(text, " ."),
            };
        }
        text.push('\n');
    }
    for (seat, player) in view.players.iter().enumerate() {
        text.push('\n');
        let name = names.get(seat).map_or("", String::as_str);
        let turn = view.turn.is_some_and(|turn| turn.index() == seat);
        player_text(&mut text, player, turn, name, colour);
    }
    text.push('\n');
    text
}

fn player_text(text: &mut String, player: &PlayerView, turn: bool, name: &str, colour: bool) {
    let (color, score) = (player.color, player.score);
    let mark = if turn { '>' } else { ' ' };
    let (on, off) = if colour { (color.paint(), "\x1b[0m") } else { ("", "") };
    let _ = write!(text, "{mark} {on}{}{off} {color:<5} {score:>4} fish", color.letter());
    for word in [name, if player.removed { "(removed)" } else { "" }] {
        if !word.is_empty() {
            let _ = write!(text, "  {word}");
        }
    }
}

impl Fish {
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
    use crate::fish::{Action, Config};
    use crate::{Game, Seat, Seed};

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

    #[test]
    fn colours_identify_players() {
        let mut game = played();
        game.remove(Seat(3));
        let text = game.render(&[], true);
        let first = text.lines().next().unwrap();
        let paint = |color: Color| format!("{}{}", color.paint(), color.letter());
        let tile = |color: Color, fish: u8| format!("{}{fish}\x1b[0m", paint(color));
        let row = [(Color::Red, 1), (Color::Brown, 2), (Color::Red, 3), (Color::Brown, 4)];
        let row = row.map(|(color, fish)| tile(color, fish)).join("  ");
        assert_eq!(first, format!("  0  {row}"));
        let colors = [Color::Red, Color::White, Color::Brown, Color::Black];
        assert_eq!(colors.map(Color::letter), ['R', 'W', 'B', 'K']);
        let codes = ["1;97;41", "1;30;107", "1;97;43", "1;97;100"];
        assert_eq!(colors.map(Color::paint), codes.map(|code| format!("\x1b[{code}m")));
        let players: Vec<&str> = text.lines().skip(5).collect();
        assert_eq!(players[0], format!("> {}\x1b[0m red      0 fish", paint(Color::Red)));
        let black = paint(Color::Black);
        assert_eq!(players[3], format!("  {black}\x1b[0m black    0 fish  (removed)"));
    }

    #[test]
    fn confirmations_have_a_text() {
        let config: Config = serde_json::from_str(r#"{"confirm":true}"#).unwrap();
        let mut game = Fish::new(&config, 2, &Seed::from_number(0)).unwrap();
        let mut told = Vec::new();
        while let Some(seat) = game.awaiting().first() {
            let before = game.clone();
            let answer = game.legal(seat).remove(0);
            game.apply(seat, &answer).unwrap();
            told.push(game.tell(&before, seat, &answer));
            if answer != Answer::Ok {
                break;
            }
        }
        let colours = ["confirms the colour"; 2];
        let opponents = ["confirms the opponents"; 2];
        assert_eq!(told[..4], [colours, opponents].concat());
        assert!(told[4].starts_with("places a penguin at "), "{told:?}");
    }
}
