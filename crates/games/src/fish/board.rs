//! A board as people and programs write it: rows of fish counts.

use super::{Shape, TILES_MAX, Tile};
use crate::SetupError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The most fish under one tile.
pub const FISH_MAX: u8 = 5;

/// Rows of 0 to 5 fish, 0 for a hole; all rows equally long, and 1 to [`TILES_MAX`] tiles in all.
/// Short rows are padded with holes as they are read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<Vec<u8>>", into = "Vec<Vec<u8>>")]
pub struct Board {
    shape: &'static Shape,
    /// By tile, [`Tile::NONE`] included.
    fish: Arc<[u8]>,
}

impl Board {
    /// A board of these rows.
    pub fn new(rows: &[Vec<u8>]) -> Result<Board, SetupError> {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let shape = Board::shape_of(rows.len(), columns)?;
        if let Some(fish) = rows.iter().flatten().find(|fish| **fish > FISH_MAX) {
            let text = format!("a tile has 0 to {FISH_MAX} fish, not {fish}");
            return Err(SetupError::Config(text));
        }
        let fish = |n: usize| rows[n / columns].get(n % columns).copied().unwrap_or(0);
        Ok(Board::filled(shape, |n| fish(n as usize)))
    }

    /// A board with `fish(n)` fish on tile number `n`, row by row from 0.
    pub(super) fn filled(shape: &'static Shape, mut fish: impl FnMut(u32) -> u8) -> Board {
        let by_tile = |at: u32| if at == 0 { 0 } else { fish(at - 1) };
        Board { shape, fish: (0..=shape.tiles() as u32).map(by_tile).collect() }
    }

    /// A board with these fish by tile, [`Tile::NONE`] included.
    pub(super) fn laid_out(shape: &'static Shape, fish: &[u8]) -> Board {
        Board { shape, fish: Arc::from(&fish[..=shape.tiles()]) }
    }

    /// The shape of boards of this size, or why there are none.
    pub(super) fn shape_of(rows: usize, columns: usize) -> Result<&'static Shape, SetupError> {
        Shape::of(rows, columns).ok_or_else(|| {
            let text = format!("a board has 1 to {TILES_MAX} tiles, not {rows} rows of {columns}");
            SetupError::Config(text)
        })
    }

    /// The board's shape.
    #[inline]
    pub fn shape(&self) -> &'static Shape {
        self.shape
    }

    /// How many fish are under a tile; 0 for a hole.
    #[inline]
    pub fn fish(&self, tile: Tile) -> u8 {
        self.fish[tile.index()]
    }

    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.fish[1..].chunks(self.shape.columns())
    }

    /// How many tiles are there, holes not counted.
    pub fn tiles(&self) -> usize {
        self.fish.iter().map(|fish| usize::from(*fish > 0)).sum()
    }

    /// Cuts a hole.
    pub(super) fn cut(&mut self, tile: Tile) {
        Arc::make_mut(&mut self.fish)[tile.index()] = 0;
    }
}

impl TryFrom<Vec<Vec<u8>>> for Board {
    type Error = SetupError;

    fn try_from(rows: Vec<Vec<u8>>) -> Result<Board, SetupError> {
        Board::new(&rows)
    }
}

impl From<Board> for Vec<Vec<u8>> {
    fn from(board: Board) -> Vec<Vec<u8>> {
        board.rows().map(<[u8]>::to_vec).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_rows_are_padded_and_impossible_boards_refused() {
        let parse = |text: &str| serde_json::from_str::<Board>(text);
        let padded = parse("[[1],[],[2,3]]").unwrap();
        assert!(padded.rows().eq([[1, 0], [0, 0], [2, 3]]));
        assert_eq!(serde_json::to_string(&padded).unwrap(), "[[1,0],[0,0],[2,3]]");
        for text in ["[]", "[[]]", "[[],[]]", "[[6]]", "[[-1]]", "[[1.5]]", "[1]"] {
            assert!(parse(text).is_err(), "{text}");
        }
        let huge = vec![vec![1]; TILES_MAX + 1];
        assert!(Board::new(&huge).is_err());
    }
}
