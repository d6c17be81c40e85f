//! Maps of any size: their bounds, what is joined, and what can be paid for on them.

use super::*;
use crate::trains::{Answer, Config, Trains};
use crate::{Game, Seat, Seed};

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn pair(one: &str, other: &str) -> Pair {
    Pair::new(name(one), name(other)).unwrap()
}

/// A draft with cities on a grid, named by number, and connections by numbers.
fn draft(cities: usize, connections: impl Iterator<Item = (usize, usize, usize)>) -> Draft {
    let city = |at: usize| (format!("{at:04}"), [at as u64 % 40, at as u64 / 40]);
    let connection = |(from, to, color): (usize, usize, usize)| {
        let color = Color::ALL[color].name().to_owned();
        (format!("{from:04}"), format!("{to:04}"), color, 3 + (from + to) as u64 % 3)
    };
    let connections = connections.map(connection).collect();
    Draft { width: 40, height: 30, cities: (0..cities).map(city).collect(), connections }
}

/// Every city joined with the next four in all colours.
fn ladder(cities: usize) -> Draft {
    let all = (0..cities).flat_map(move |from| {
        let next = from + 1..(from + 5).min(cities);
        next.flat_map(move |to| (0..4).map(move |color| (from, to, color)))
    });
    draft(cities, all)
}

#[test]
fn the_largest_map_is_a_map_and_one_more_of_anything_is_not() {
    let full = || draft(1000, (0..4000).map(|at| (at / 4, (at / 4 + 1) % 1000, at % 4)));
    let map = Map::from_draft(full()).unwrap();
    assert_eq!((map.cities().len(), map.connections().len()), (1000, 4000));
    assert_eq!((map.width(), map.height()), (40, 30));
    assert_eq!(map.destination_count(), 1000 * 999 / 2);
    let mut more = full();
    more.connections.push(("0000".into(), "0002".into(), "red".into(), 3));
    assert_eq!(Map::from_draft(more).err(), Some(MapError::Connections(4001)));
    let mut more = full();
    more.cities.push(("x".into(), [30, 30]));
    assert_eq!(Map::from_draft(more).err(), Some(MapError::Cities(1001)));
}

#[test]
fn sides_and_spots_have_bounds() {
    let with = |width, height, spot| {
        let cities = vec![("A".to_owned(), spot)];
        Map::from_draft(Draft { width, height, cities, connections: Vec::new() }).err()
    };
    assert_eq!(with(10, 800, [10, 800]), None);
    assert_eq!(with(800, 10, [0, 0]), None);
    assert_eq!(with(10, 9, [0, 0]), Some(MapError::Side { side: "height", given: 9 }));
    assert_eq!(with(801, 10, [0, 0]), Some(MapError::Side { side: "width", given: 801 }));
    for [x, y] in [[11, 0], [0, 21]] {
        assert_eq!(with(10, 20, [x, y]), Some(MapError::Outside { name: name("A"), x, y }));
    }
}

#[test]
fn cities_are_joined_by_ways_and_parts_are_apart() {
    // 0-1-2 and 3-4-5-6, and 7 for itself.
    let ways = [(0, 1, 0), (1, 2, 1), (5, 6, 3), (3, 4, 2), (4, 5, 2), (4, 5, 0)];
    let map = Map::from_draft(draft(8, ways.into_iter())).unwrap();
    let part = [0, 0, 0, 3, 3, 3, 3, 7];
    let mut due = Vec::new();
    for one in 0..8usize {
        for other in one + 1..8 {
            let pair = pair(&format!("{one:04}"), &format!("{other:04}"));
            assert_eq!(map.joined(&pair), part[one] == part[other], "{pair}");
            if part[one] == part[other] {
                due.push([one as u16, other as u16]);
            }
        }
    }
    assert_eq!(map.destinations(), due);
    assert_eq!(map.destination_count(), 3 + 6);
    assert!(!map.joined(&pair("0000", "Atlantis")) && !map.joined(&pair("X", "Y")));
    assert!(map.serves(3) && !map.serves(4), "nine are three and two for each");
    assert_eq!((map.city(name("0005")), map.city(name("5"))), (Some(5), None));
    assert_eq!(map.ends(0), [0, 1]);
}

#[test]
fn connections_are_found_by_what_they_are() {
    let map = Map::from_draft(ladder(20)).unwrap();
    for (at, connection) in map.connections().iter().enumerate() {
        assert_eq!(map.find(connection), Some(at));
        let own = Connection::new(connection.pair, connection.color, connection.length);
        assert_eq!(map.find(&own), Some(at), "also without a hint");
        let wrong = Connection { hint: Hint(at as u16 + 1), ..*connection };
        assert_eq!(map.find(&wrong), Some(at), "and with a wrong one");
        assert_eq!(wrong.partial_cmp(connection), Some(std::cmp::Ordering::Equal));
        assert_eq!(wrong, *connection);
        let longer = Length::ALL.into_iter().find(|length| *length != connection.length);
        let none = Connection { length: longer.unwrap(), ..*connection };
        assert_eq!(map.find(&none), None);
    }
    let same = Map::from_draft(ladder(20)).unwrap();
    assert_eq!(map, same);
    let wider = Map::from_draft(Draft { width: 41, ..ladder(20) }).unwrap();
    let higher = Map::from_draft(Draft { height: 31, ..ladder(20) }).unwrap();
    let fewer = Map::from_draft(draft(20, std::iter::empty())).unwrap();
    let mut moved = ladder(20);
    moved.cities[3].1 = [7, 20];
    for other in [wider, higher, fewer, Map::from_draft(moved).unwrap()] {
        assert_ne!(map, other);
    }
}

/// On maps of one word of connections, of just as many as words have bits, and of many words.
#[test]
fn payable_connections_are_listed_and_picked_on_maps_of_any_size() {
    for cities in [8, 6, 40] {
        let mut draft = ladder(cities);
        if cities == 8 {
            draft.connections.truncate(64);
        }
        let config = Config::default().with_map(Map::from_draft(draft).unwrap());
        let mut game = Trains::new(&config, 2, &Seed::from_number(1)).unwrap();
        let mut choice = 7u64;
        while let Some(seat) = game.awaiting().first() {
            assert_legal(&game, seat);
            choice = choice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            // Take cards first, so that there are many choices.
            let more = game.deck.left() > 150 && game.check(seat, &Answer::MoreCards).is_ok();
            let answer = match more {
                true => Answer::MoreCards,
                false => game.playout_answer(seat, choice),
            };
            game.apply(seat, &answer).unwrap();
        }
    }
}

fn assert_legal(game: &Trains, seat: Seat) {
    let legal = game.legal(seat);
    if !legal.contains(&Answer::MoreCards) {
        return;
    }
    let acquire = |connection: &Connection| Answer::Acquire(*connection);
    let due = game.map.connections().iter().map(acquire);
    let due = due.filter(|answer| game.check(seat, answer).is_ok());
    assert!(legal[1..].iter().cloned().eq(due));
    // The middles of as many equal parts of all choices: each is picked once, cards last.
    let count = legal.len() as u64;
    let middle = |at: u64| u64::MAX / count * at + u64::MAX / count / 2;
    let picked = (0..count).map(|at| game.playout_answer(seat, middle(at)));
    let due = legal[1..].iter().chain(&legal[..1]).cloned();
    assert!(picked.eq(due));
}
