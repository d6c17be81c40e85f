//! The games of the exam: numbers of players, boards, maps and dice that make different demands on
//! a program. The exam plays a game that is not listed here with its default configuration.

use serde_json::{Map, Value, json};

/// A configuration and a number of players.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Shape {
    /// The game's configuration as JSON.
    pub(crate) config: String,
    pub(crate) seats: usize,
}

/// The shapes of a game for `seats`, on top of the fields in `base`. With `fixed`, the organiser
/// has said what is played: only the number of players differs.
pub(crate) fn shapes(
    game: &str,
    base: &Map<String, Value>,
    seats: std::ops::RangeInclusive<usize>,
    fixed: bool,
) -> Vec<Shape> {
    let (min, max) = (*seats.start(), *seats.end());
    let listed = match game {
        _ if fixed => seats.map(|seats| (seats, json!({}))).collect(),
        "yahtzee" => vec![
            (2, json!({})),
            (2, json!({"dice": "independent"})),
            (2, json!({"fixed_dice": five_alike()})),
        ],
        "fish" => vec![
            (2, json!({})),
            (3, json!({"rows": 6, "columns": 4})),
            (4, json!({"rows": 4, "columns": 8})),
            (2, json!({"rows": 10, "columns": 2})),
            (2, json!({"rows": 4, "columns": 3, "fish": 1})),
            (2, json!({"difficulty": 15})),
            (4, json!({"rows": 20, "columns": 20, "difficulty": 100})),
        ],
        "trains" => vec![
            (2, json!({})),
            (3, json!({})),
            (5, json!({})),
            (8, json!({})),
            (2, json!({"map": trains_map(6, 5)})),
        ],
        _ if min == max => vec![(min, json!({}))],
        _ => vec![(min, json!({})), (max, json!({}))],
    };
    listed
        .into_iter()
        .map(|(seats, fields)| Shape { config: merged(base, &fields), seats })
        .collect()
}

/// The shape whose requests are the longest.
pub(crate) fn longest(game: &str, base: &Map<String, Value>, min: usize, fixed: bool) -> Shape {
    let fields = match game {
        _ if fixed => json!({}),
        "fish" => json!({"rows": 20, "columns": 20}),
        "trains" => json!({"map": trains_map(25, 16)}),
        _ => json!({}),
    };
    Shape { config: merged(base, &fields), seats: min }
}

fn merged(base: &Map<String, Value>, fields: &Value) -> String {
    let mut all = base.clone();
    all.extend(fields.as_object().cloned().unwrap_or_default());
    Value::Object(all).to_string()
}

/// Dice that are five alike every turn: jokers and bonuses.
fn five_alike() -> Vec<Vec<u8>> {
    (0..13).map(|turn| vec![1 + (turn * 5) % 6; 15]).collect()
}

/// A map of cities in rows, each joined to its neighbours by rails of every colour and length.
fn trains_map(columns: usize, rows: usize) -> Value {
    let name = |column: usize, row: usize| format!("City {:02} {:02}", row, column);
    let place = |at: usize, count: usize, size: usize| (at * 2 + 1) * size / (count * 2);
    let colours = ["blue", "green", "red", "white"];
    let (mut cities, mut connections) = (Vec::new(), Map::new());
    for row in 0..rows {
        for column in 0..columns {
            let at = [place(column, columns, 800), place(row, rows, 800)];
            cities.push(json!([name(column, row), at]));
            let mut others = Map::new();
            let ways = [(column + 1, row), (column, row + 1)];
            for (way, (column, row)) in ways.into_iter().enumerate() {
                if column < columns && row < rows {
                    let (first, second) = (column + row + way, column + 2 * row + way + 1);
                    let mut rails = Map::new();
                    rails.insert(colours[first % 4].into(), (3 + first % 3).into());
                    rails.insert(colours[second % 4].into(), (3 + second % 3).into());
                    others.insert(name(column, row), Value::Object(rails));
                }
            }
            if !others.is_empty() {
                connections.insert(name(column, row), Value::Object(others));
            }
        }
    }
    json!({"width": 800, "height": 800, "cities": cities, "connections": connections})
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_games::{Registry, Seed};

    #[test]
    fn every_shape_is_a_game() {
        let games = Registry::standard();
        for game in games.names() {
            let kind = games.kind(game).expect("a name from the list");
            let mut all = shapes(game, &Map::new(), kind.seats(), false);
            all.extend(shapes(game, &Map::new(), kind.seats(), true));
            all.push(longest(game, &Map::new(), *kind.seats().start(), false));
            assert!(all.len() >= 3);
            for shape in all {
                let set_up = kind.set_up(&shape.config, shape.seats, &Seed::from_number(1));
                assert!(set_up.is_ok(), "{game} {shape:?}: {set_up:?}");
            }
        }
    }
}
