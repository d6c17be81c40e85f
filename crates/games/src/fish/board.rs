//! A board as people and programs write it: rows of fish counts.

use super::{Shape, TILES_MAX};
use crate::SetupError;
use serde::{Deserialize, Serialize};

/// The most fish under one tile.
pub const FISH_MAX: u8 = 5;

/// Rows of 0 to 5 fish, 0 for a hole; all rows equally long, and 1 to [`TILES_MAX`] tiles in all.
/// Short rows are padded with holes as they are read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec<u8>>", into = "Vec<Vec<u8>>")]
pub struct Board(Vec<Vec<u8>>);

impl Board {
    /// A board of these rows.
    pub fn new(mut rows: Vec<Vec<u8>>) -> Result<Board, SetupError> {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        check_size(rows.len(), columns)?;
        if let Some(fish) = rows.iter().flatten().find(|fish| **fish > FISH_MAX) {
            let text = format!("a tile has 0 to {FISH_MAX} fish, not {fish}");
            return Err(SetupError::Config(text));
        }
        rows.iter_mut().for_each(|row| row.resize(columns, 0));
        Ok(Board(rows))
    }

    /// A board with `fish(n)` fish on tile number `n`, row by row from 0. The size must have been
    /// checked.
    pub(super) fn filled(rows: usize, columns: usize, mut fish: impl FnMut(u32) -> u8) -> Board {
        let mut numbers = 0..;
        let mut tile = || fish(numbers.next().unwrap_or(u32::MAX));
        Board((0..rows).map(|_| (0..columns).map(|_| tile()).collect()).collect())
    }

    /// A board of rows that are known to be equally long and within bounds.
    pub(super) fn of_rows(rows: Vec<Vec<u8>>) -> Board {
        Board(rows)
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<u8>] {
        &self.0
    }

    /// The board's shape.
    pub fn shape(&self) -> &'static Shape {
        Shape::of(self.0.len(), self.0[0].len()).expect("the size was checked")
    }

    /// Fish by tile, row by row.
    pub fn fish(&self) -> impl Iterator<Item = u8> {
        self.0.iter().flatten().copied()
    }

    /// How many tiles are there, holes not counted.
    pub fn tiles(&self) -> usize {
        self.fish().filter(|fish| *fish > 0).count()
    }

    /// Cuts a hole at tile number `n`, row by row from 0.
    pub(super) fn cut(&mut self, n: usize) {
        let columns = self.0[0].len();
        self.0[n / columns][n % columns] = 0;
    }
}

/// Whether a board may have this size.
pub(super) fn check_size(rows: usize, columns: usize) -> Result<(), SetupError> {
    if Shape::of(rows, columns).is_some() {
        return Ok(());
    }
    let text = format!("a board has 1 to {TILES_MAX} tiles, not {rows} rows of {columns}");
    Err(SetupError::Config(text))
}

impl TryFrom<Vec<Vec<u8>>> for Board {
    type Error = SetupError;

    fn try_from(rows: Vec<Vec<u8>>) -> Result<Board, SetupError> {
        Board::new(rows)
    }
}

impl From<Board> for Vec<Vec<u8>> {
    fn from(board: Board) -> Vec<Vec<u8>> {
        board.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_rows_are_padded_and_impossible_boards_refused() {
        let parse = |text: &str| serde_json::from_str::<Board>(text);
        assert_eq!(parse("[[1],[],[2,3]]").unwrap().rows(), [[1, 0], [0, 0], [2, 3]]);
        for text in ["[]", "[[]]", "[[],[]]", "[[6]]", "[[-1]]", "[[1.5]]", "[1]"] {
            assert!(parse(text).is_err(), "{text}");
        }
        let huge = vec![vec![1]; TILES_MAX + 1];
        assert!(Board::new(huge).is_err());
    }
}
