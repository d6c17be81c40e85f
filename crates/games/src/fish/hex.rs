//! Hexagonal geometry: positions as players write them, tiles as numbers, and for every shape of
//! board the tables of neighbouring tiles. [`super::Ice`] holds what is on the tiles.

use super::small::Small;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

/// The most tiles a board may have, holes included.
pub const TILES_MAX: usize = 400;

/// How many directions there are: N, NE, SE, S, SW, NW, in this order.
pub const DIRECTIONS: usize = 6;

/// A place on or off the board: `[row, column]`, counted from the top left. Odd rows are shifted
/// right by half a tile, and straight up or down is two rows away.
///
/// Players may send any numbers, so they are wider than a board ever is; numbers beyond 64 bits
/// read as the largest or smallest there is, and lie off the board either way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position {
    /// The row, 0 at the top.
    pub row: i64,
    /// The column, 0 at the left.
    pub column: i64,
}

impl Position {
    /// The position `[row, column]`.
    pub fn new(row: i64, column: i64) -> Position {
        Position { row, column }
    }

    /// The next position in a direction, on the board or not.
    fn neighbour(self, direction: usize) -> Position {
        let odd = self.row & 1;
        let (rows, columns) = match direction {
            0 => (-2, 0),
            1 => (-1, odd),
            2 => (1, odd),
            3 => (2, 0),
            4 => (1, odd - 1),
            _ => (-1, odd - 1),
        };
        Position { row: self.row + rows, column: self.column + columns }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.row, self.column)
    }
}

impl JsonSchema for Position {
    fn schema_name() -> Cow<'static, str> {
        "Position".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A place on or off the board: row and column from the top left.",
            "type": "array",
            "items": {"type": "integer"},
            "minItems": 2,
            "maxItems": 2,
        })
    }
}

impl Serialize for Position {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.row, self.column).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Position, D::Error> {
        let (Coordinate(row), Coordinate(column)) = Deserialize::deserialize(deserializer)?;
        Ok(Position { row, column })
    }
}

/// One number of a position. Out of range is cheating, which is for the rules to say, so every
/// whole number must parse.
struct Coordinate(i64);

impl<'de> Deserialize<'de> for Coordinate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Coordinate, D::Error> {
        deserializer.deserialize_any(CoordinateVisitor).map(Coordinate)
    }
}

struct CoordinateVisitor;

impl Visitor<'_> for CoordinateVisitor {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<i64, E> {
        Ok(number)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<i64, E> {
        Ok(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<i64, E> {
        // Whole numbers beyond 64 bits arrive as floats.
        if number.abs() >= i64::MAX as f64 {
            Ok(number as i64)
        } else {
            Err(E::custom(format!("{number} is not a whole number")))
        }
    }
}

/// A penguin's way from one tile to another; `[[row, column], [row, column]]` on wires. Actions
/// are ordered by from-row, from-column, to-row, to-column.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(from = "[Position; 2]", into = "[Position; 2]")]
pub struct Action {
    /// The tile it leaves.
    pub from: Position,
    /// The tile it comes to stand on.
    pub to: Position,
}

impl From<[Position; 2]> for Action {
    fn from([from, to]: [Position; 2]) -> Action {
        Action { from, to }
    }
}

impl From<Action> for [Position; 2] {
    fn from(action: Action) -> [Position; 2] {
        [action.from, action.to]
    }
}

/// A tile of a board by number: 1 at the top left, row by row. The order of tiles is the order of
/// their positions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Tile(pub(super) u16);

impl Tile {
    /// No tile: a place off the board. It is never free and has no neighbours.
    pub const NONE: Tile = Tile(0);

    /// The tile's place in a table that has an entry for [`Tile::NONE`] and every tile.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The geometry of all boards of one size.
pub struct Shape {
    rows: u16,
    columns: u16,
    positions: Box<[Position]>,
    next: Box<[[Tile; DIRECTIONS]]>,
    small: Option<Box<Small>>,
}

/// Shapes that were needed so far. There are about 2,400, of a few kilobytes each, so they are
/// kept for good: games of the same shape share it without counting references or waiting.
static SHAPES: [OnceLock<Shape>; SHAPES_MAX] = [const { OnceLock::new() }; SHAPES_MAX];

/// By number of rows: where in [`SHAPES`] those of one column stand; more columns follow.
static SHAPES_FROM: [u16; TILES_MAX + 1] = shapes_from();

/// How many shapes there are.
const SHAPES_MAX: usize = shapes_from()[TILES_MAX] as usize + 1;

const fn shapes_from() -> [u16; TILES_MAX + 1] {
    let mut from = [0; TILES_MAX + 1];
    let mut rows = 2;
    while rows <= TILES_MAX {
        from[rows] = from[rows - 1] + (TILES_MAX / (rows - 1)) as u16;
        rows += 1;
    }
    from
}

impl Shape {
    /// The shape of boards with this many rows and columns; `None` if there are no tiles or more
    /// than [`TILES_MAX`].
    pub fn of(rows: usize, columns: usize) -> Option<&'static Shape> {
        if !(1..=TILES_MAX).contains(&rows.checked_mul(columns)?) {
            return None;
        }
        let shape = &SHAPES[usize::from(SHAPES_FROM[rows]) + columns - 1];
        Some(shape.get_or_init(|| Shape::build((rows as u16, columns as u16))))
    }

    fn build((rows, columns): (u16, u16)) -> Shape {
        let off = Position::new(-1, -1);
        let places = (0..rows).flat_map(|row| {
            (0..columns).map(move |column| Position::new(row.into(), column.into()))
        });
        let positions: Box<[Position]> = std::iter::once(off).chain(places).collect();
        let next = vec![[Tile::NONE; DIRECTIONS]; positions.len()].into_boxed_slice();
        let mut shape = Shape { rows, columns, positions, next, small: None };
        for at in 1..shape.positions.len() {
            shape.next[at] = std::array::from_fn(|direction| {
                shape.tile(shape.positions[at].neighbour(direction)).unwrap_or(Tile::NONE)
            });
        }
        shape.small = Small::new(&shape);
        shape
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows.into()
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.columns.into()
    }

    /// How many tiles there are, holes included.
    pub fn tiles(&self) -> usize {
        self.positions.len() - 1
    }

    /// All tiles, holes included, in order.
    pub fn all(&self) -> impl Iterator<Item = Tile> + use<> {
        (1..=self.tiles() as u16).map(Tile)
    }

    /// The tile at a position, if that is on the board.
    #[inline]
    pub fn tile(&self, position: Position) -> Option<Tile> {
        let Position { row, column } = position;
        let (rows, columns) = (i64::from(self.rows), i64::from(self.columns));
        ((0..rows).contains(&row) && (0..columns).contains(&column))
            .then(|| Tile((row * columns + column + 1) as u16))
    }

    /// Where a tile is.
    #[inline]
    pub fn position(&self, tile: Tile) -> Position {
        self.positions[tile.index()]
    }

    /// The neighbour in a direction, or [`Tile::NONE`] at the edge.
    #[inline]
    pub fn next(&self, tile: Tile, direction: usize) -> Tile {
        self.next[tile.index()][direction]
    }

    /// Tables for sliding, if the board is small.
    #[inline]
    pub(super) fn small(&self) -> Option<&Small> {
        self.small.as_deref()
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Shape) -> bool {
        (self.rows, self.columns) == (other.rows, other.columns)
    }
}

impl Eq for Shape {}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shape({} x {})", self.rows, self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_mutual_and_as_the_rules_list_them() {
        let shape = Shape::of(6, 4).unwrap();
        let around = |row, column| -> Vec<Position> {
            let tile = shape.tile(Position::new(row, column)).unwrap();
            (0..DIRECTIONS).map(|direction| shape.position(shape.next(tile, direction))).collect()
        };
        let even = [(0, 1), (1, 1), (3, 1), (4, 1), (3, 0), (1, 0)];
        let odd = [(1, 1), (2, 2), (4, 2), (5, 1), (4, 1), (2, 1)];
        assert_eq!(around(2, 1), even.map(|(row, column)| Position::new(row, column)));
        assert_eq!(around(3, 1), odd.map(|(row, column)| Position::new(row, column)));
        for tile in shape.all() {
            for direction in 0..DIRECTIONS {
                let next = shape.next(tile, direction);
                let back = shape.next(next, (direction + 3) % DIRECTIONS);
                assert!(next == Tile::NONE || back == tile, "{tile:?} {direction}");
            }
        }
    }

    #[test]
    fn every_size_has_a_shape_of_its_own() {
        for rows in 1..=TILES_MAX {
            for columns in [1, 2, TILES_MAX / rows] {
                let Some(shape) = Shape::of(rows, columns) else { continue };
                assert_eq!((shape.rows(), shape.columns()), (rows, columns));
            }
        }
    }

    #[test]
    fn sizes_out_of_bounds_have_no_shape() {
        assert!(Shape::of(0, 5).is_none() && Shape::of(5, 0).is_none());
        assert!(Shape::of(401, 1).is_none() && Shape::of(usize::MAX, 2).is_none());
        assert_eq!(Shape::of(400, 1).unwrap().tiles(), 400);
        assert!(std::ptr::eq(Shape::of(5, 5).unwrap(), Shape::of(5, 5).unwrap()));
        let (one, other) = (Shape::of(5, 4).unwrap(), Shape::of(4, 5).unwrap());
        assert!(one == one && one != other);
        assert_eq!(format!("{one:?}"), "Shape(5 x 4)");
    }

    #[test]
    fn every_whole_number_parses_and_nothing_else_does() {
        let parse = |text: &str| serde_json::from_str::<Position>(text).ok();
        assert_eq!(parse("[1, -2]"), Some(Position::new(1, -2)));
        assert_eq!(parse("[1e40, -99999999999999999999]"), Some(Position::new(i64::MAX, i64::MIN)));
        assert_eq!(parse("[18446744073709551615, 0]"), Some(Position::new(i64::MAX, 0)));
        for text in ["[1]", "[1,2,3]", "[1,2.5]", "[1,\"2\"]", "[1,null]", "{}", "3"] {
            assert_eq!(parse(text), None, "{text}");
        }
        let why = |text: &str| serde_json::from_str::<Position>(text).unwrap_err().to_string();
        assert!(why("[1,2.5]").starts_with("2.5 is not a whole number"));
        assert!(why("[1,null]").starts_with("invalid type: null, expected a whole number"));
    }
}
