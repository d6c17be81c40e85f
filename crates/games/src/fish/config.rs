//! The settings of an organiser, and the board that follows from them and from luck.

use super::{Board, FISH_MAX, Shape, TILES_MAX, Tile, penguins_each};
use crate::{Luck, Seed, SetupError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many tiles one random number lays out: 5^25 fits into 64 bits, and few words are rejected.
const TILES_A_WORD: usize = 25;

/// The fish of five tiles by the number they spell in base five.
static FISH_OF_FIVE: [[u8; 5]; 3125] = {
    let mut table = [[0; 5]; 3125];
    let mut number = 0;
    while number < 3125 {
        let mut digits = number;
        let mut at = 0;
        while at < 5 {
            table[number][at] = 1 + (digits % 5) as u8;
            digits /= 5;
            at += 1;
        }
        number += 1;
    }
    table
};

const FISH: u64 = FISH_MAX as u64;

/// The settings of a game of Fish.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Rows of the board; not looked at where `board` is given.
    pub rows: u32,
    /// Columns of the board; not looked at where `board` is given.
    pub columns: u32,
    /// The fish on every tile, 1 to 5; where absent, luck gives each tile its own number. Not to be
    /// combined with `board`.
    pub fish: Option<u8>,
    /// The largest number of holes that luck may cut. There is always room left for all penguins.
    /// Not to be combined with `board`.
    pub difficulty: u32,
    /// The board, tile by tile; 0 is a hole.
    pub board: Option<Board>,
    /// True if a board that cannot hold all penguins is refused. Otherwise players that find no
    /// free tile are removed as they are asked for one.
    pub room_check: bool,
    /// True if players are asked to confirm their colour and their opponents' before they place.
    pub confirm: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            rows: 5,
            columns: 5,
            fish: None,
            difficulty: 0,
            board: None,
            room_check: true,
            confirm: false,
        }
    }
}

impl Config {
    /// The board of a game for `seats` players.
    ///
    /// Luck gives 25 tiles at a time: with w the number below 5^25 at index `n / 25` of the stream
    /// `fish`, tile `n` (row by row from 0) has `1 + ⌊w / 5^(n mod 25)⌋ mod 5` fish. The number of
    /// holes is index 0 of the stream `holes`, evenly up to the largest number allowed; the tiles,
    /// shuffled from index 1 on, are cut from the first.
    pub(super) fn lay_out(&self, seats: usize, seed: &Seed) -> Result<Board, SetupError> {
        let penguins = seats * penguins_each(seats);
        let board = match &self.board {
            Some(board) if self.fish.is_none() && self.difficulty == 0 => board.clone(),
            Some(_) => {
                let text = "a board goes neither with fish nor with a difficulty";
                return Err(SetupError::Config(text.into()));
            }
            None => self.random_board(penguins, seed)?,
        };
        let tiles = board.tiles();
        if self.room_check && tiles < penguins {
            let text = format!("{tiles} tiles do not hold {penguins} penguins of {seats} players");
            return Err(SetupError::TooSmall(text));
        }
        Ok(board)
    }

    fn random_board(&self, penguins: usize, seed: &Seed) -> Result<Board, SetupError> {
        let shape = Board::shape_of(self.rows as usize, self.columns as usize)?;
        let mut board = match self.fish {
            Some(fish @ 1..=FISH_MAX) => Board::filled(shape, |_| fish),
            Some(fish) => {
                let text = format!("a tile has 1 to {FISH_MAX} fish, not {fish}");
                return Err(SetupError::Config(text));
            }
            None => fish_from(seed, shape),
        };
        let spare = shape.tiles().saturating_sub(penguins);
        let holes_max = spare.min(self.difficulty as usize);
        if holes_max > 0 {
            let mut luck = Luck::new(seed, "holes");
            let holes = luck.below(0, holes_max as u64 + 1) as usize;
            let mut tiles: Vec<Tile> = shape.all().collect();
            luck.shuffle(1, &mut tiles);
            tiles.iter().take(holes).for_each(|tile| board.cut(*tile));
        }
        Ok(board)
    }
}

/// A board where luck gives each tile its number of fish.
fn fish_from(seed: &Seed, shape: &'static Shape) -> Board {
    let mut luck = Luck::new(seed, "fish");
    // By tile, so that the first entry stands for no tile.
    let mut fish = [0; 1 + TILES_MAX.next_multiple_of(TILES_A_WORD)];
    let words = shape.tiles().div_ceil(TILES_A_WORD);
    let chunks = fish[1..].as_chunks_mut::<TILES_A_WORD>().0;
    for (index, tiles) in chunks.iter_mut().take(words).enumerate() {
        let mut word = luck.below(index as u32, FISH.pow(TILES_A_WORD as u32));
        for five in tiles.as_chunks_mut::<5>().0 {
            *five = FISH_OF_FIVE[(word % 3125) as usize];
            word /= 3125;
        }
    }
    Board::laid_out(shape, &fish)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lay_out(config: &str, seats: usize, number: u64) -> Result<Board, String> {
        let config: Config = serde_json::from_str(config).map_err(|error| error.to_string())?;
        config.lay_out(seats, &Seed::from_number(number)).map_err(|error| error.to_string())
    }

    #[test]
    fn luck_lays_out_every_count_of_fish_and_of_holes_and_leaves_room() {
        let (mut fish, mut holes) = ([0; 6], [0; 18]);
        for number in 0..400 {
            let board = lay_out(r#"{"difficulty": 99}"#, 2, number).unwrap();
            assert!(board.tiles() >= 8);
            holes[25 - board.tiles()] += 1;
            board.rows().flatten().for_each(|count| fish[usize::from(*count)] += 1);
        }
        assert!(fish.iter().all(|count| *count > 500), "{fish:?}");
        assert!(holes.iter().all(|count| *count > 5), "{holes:?}");
    }

    #[test]
    fn the_same_seed_lays_out_the_same_board() {
        let config = r#"{"difficulty": 4}"#;
        assert_eq!(lay_out(config, 2, 7), lay_out(config, 2, 7));
        assert_ne!(lay_out(config, 2, 7), lay_out(config, 2, 8));
    }

    #[test]
    fn impossible_settings_are_refused_with_the_reason() {
        for (config, reason) in [
            (r#"{"rows": 0}"#, "1 to 400 tiles"),
            (r#"{"rows": 4000000000, "columns": 4000000000}"#, "1 to 400 tiles"),
            (r#"{"rows": 21, "columns": 20}"#, "1 to 400 tiles"),
            (r#"{"fish": 0}"#, "1 to 5 fish"),
            (r#"{"fish": 6}"#, "1 to 5 fish"),
            (r#"{"rows": 2, "columns": 3}"#, "6 tiles do not hold 8 penguins"),
            (r#"{"board": [[1, 1], [0, 6]]}"#, "0 to 5 fish"),
            (r#"{"board": [[1, 1]], "fish": 2}"#, "neither with fish"),
            (r#"{"board": [[1, 1]], "difficulty": 2}"#, "neither with fish"),
            (r#"{"size": 5}"#, "unknown field"),
        ] {
            let error = lay_out(config, 2, 1).unwrap_err();
            assert!(error.contains(reason), "{config}: {error}");
        }
        let tiny = r#"{"rows": 2, "columns": 2, "difficulty": 9, "room_check": false}"#;
        assert_eq!(lay_out(tiny, 2, 1).unwrap().tiles(), 4);
    }
}
