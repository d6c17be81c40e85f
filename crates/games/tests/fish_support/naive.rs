//! Fish written a second time, straight from the rules and with no thought for speed: what the
//! game proper is compared with. Knows placement, moves and removals; not confirmations.

use std::collections::BTreeMap;

pub(crate) type Place = (i64, i64);

#[derive(Clone, Debug)]
pub(crate) struct Seat {
    pub(crate) places: Vec<Place>,
    pub(crate) score: u32,
    pub(crate) removed: bool,
    placed: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Naive {
    pub(crate) tiles: BTreeMap<Place, u32>,
    pub(crate) seats: Vec<Seat>,
    /// The seat to move; `None` once the game is over.
    pub(crate) turn: Option<usize>,
    pub(crate) placing: bool,
}

impl Naive {
    pub(crate) fn new(board: &[Vec<u8>], seats: usize) -> Naive {
        let mut tiles = BTreeMap::new();
        for (row, fish) in board.iter().enumerate() {
            for (column, fish) in fish.iter().enumerate() {
                if *fish > 0 {
                    tiles.insert((row as i64, column as i64), u32::from(*fish));
                }
            }
        }
        let seat = Seat { places: Vec::new(), score: 0, removed: false, placed: 0 };
        let mut game = Naive { tiles, seats: vec![seat; seats], turn: None, placing: true };
        game.next(seats - 1);
        game
    }

    pub(crate) fn free(&self, place: Place) -> bool {
        let taken = self.seats.iter().any(|seat| seat.places.contains(&place));
        self.tiles.contains_key(&place) && !taken
    }

    /// Where `seat` may place, in order.
    pub(crate) fn placements(&self) -> Vec<Place> {
        self.tiles.keys().copied().filter(|place| self.free(*place)).collect()
    }

    /// How `seat` may move, in order.
    pub(crate) fn moves(&self, seat: usize) -> Vec<(Place, Place)> {
        let mut moves = self.slides(seat);
        moves.sort_unstable();
        moves
    }

    /// How `seat` may move, by penguin, direction and distance.
    pub(crate) fn slides(&self, seat: usize) -> Vec<(Place, Place)> {
        let mut moves = Vec::new();
        for from in &self.seats[seat].places {
            for direction in ["N", "NE", "SE", "S", "SW", "NW"] {
                let mut at = neighbour(*from, direction);
                while self.free(at) {
                    moves.push((*from, at));
                    at = neighbour(at, direction);
                }
            }
        }
        moves
    }

    pub(crate) fn place(&mut self, seat: usize, place: Place) {
        assert!(self.placing && self.turn == Some(seat) && self.free(place));
        self.seats[seat].places.push(place);
        self.seats[seat].placed += 1;
        self.next(seat);
    }

    pub(crate) fn slide(&mut self, seat: usize, from: Place, to: Place) {
        assert!(!self.placing && self.turn == Some(seat));
        assert!(self.slides(seat).contains(&(from, to)));
        let penguin = self.seats[seat].places.iter().position(|place| *place == from).unwrap();
        self.seats[seat].places[penguin] = to;
        self.seats[seat].score += self.tiles.remove(&from).unwrap();
        self.next(seat);
    }

    pub(crate) fn remove(&mut self, seat: usize) {
        if self.turn.is_none() || self.seats[seat].removed {
            return;
        }
        self.seats[seat].removed = true;
        self.seats[seat].places.clear();
        if self.turn == Some(seat) {
            self.next(seat);
        }
    }

    /// Finds whose turn it is after `last`.
    fn next(&mut self, last: usize) {
        let count = self.seats.len();
        let order: Vec<usize> = (1..=count).map(|step| (last + step) % count).collect();
        while self.placing {
            let owes = |seat: &&usize| {
                !self.seats[**seat].removed && self.seats[**seat].placed < 6 - count
            };
            match order.iter().find(owes) {
                None => self.placing = false,
                Some(seat) if self.placements().is_empty() => {
                    // Asked for a tile where none is free: out, and the tiles it stood on are free.
                    let seat = *seat;
                    self.seats[seat].removed = true;
                    self.seats[seat].places.clear();
                    return self.next(seat);
                }
                Some(seat) => {
                    self.turn = Some(*seat);
                    return;
                }
            }
        }
        self.turn = order.into_iter().find(|seat| !self.slides(*seat).is_empty());
    }
}

fn neighbour((row, column): Place, direction: &str) -> Place {
    let odd = row % 2;
    match direction {
        "N" => (row - 2, column),
        "NE" => (row - 1, column + odd),
        "SE" => (row + 1, column + odd),
        "S" => (row + 2, column),
        "SW" => (row + 1, column - 1 + odd),
        "NW" => (row - 1, column - 1 + odd),
        other => unreachable!("{other}"),
    }
}
