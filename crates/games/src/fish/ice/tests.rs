//! Sliding, picking and counting agree with walking tile by tile, on boards of any size.

use super::*;

/// Masks and walking must agree; larger boards only walk.
#[test]
fn both_ways_to_slide_agree() {
    for (rows, columns) in [(5, 5), (1, 9), (9, 1), (7, 8), (29, 2), (58, 1), (1, 58)] {
        for salt in 1..20u64 {
            let mut word = salt;
            let board = Board::filled(Shape::of(rows, columns).unwrap(), |_| {
                word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (word >> 29);
                u8::from(word >> 60 > 3)
            });
            let ice = Ice::new(board);
            for from in ice.shape().all() {
                let walked = ice.walk_set(from);
                assert_eq!(ice.reach(from), walked, "{rows} x {columns}, {from:?}");
                assert_eq!(ice.reach_count(from), walked.len());
                assert_eq!(ice.can_leave(from), !walked.is_empty());
                let reached = ice.shape().all().filter(|to| ice.reaches(from, *to));
                assert!(reached.eq(walked.iter()));
            }
        }
    }
}

#[test]
fn exhausted_tile_iterator_stays_exhausted() {
    let shape = Shape::of(9, 9).unwrap();
    let set: TileSet = shape.all().collect();
    let mut tiles = set.iter();
    assert_eq!(tiles.by_ref().count(), 81);
    assert_eq!((tiles.next(), tiles.next()), (None, None));
}

#[test]
fn picks_cover_every_slide_evenly() {
    for (rows, columns) in [(5, 5), (9, 9)] {
        let ice = Ice::new(Board::filled(Shape::of(rows, columns).unwrap(), |_| 1));
        let penguins = [Tile(7), Tile::NONE, Tile(13), Tile(1)];
        let count: usize = penguins.iter().map(|from| ice.reach_count(*from)).sum();
        let step = u64::MAX / count as u64;
        let mut picked: Vec<(Tile, Tile)> = (0..count as u64)
            .map(|at| ice.pick_slide(&penguins, at * step + step / 2).unwrap())
            .collect();
        picked.sort_unstable();
        picked.dedup();
        assert_eq!(picked.len(), count);
        assert!(picked.iter().all(|(from, to)| ice.reaches(*from, *to)));
    }
}

#[test]
fn sets_list_their_tiles_in_order() {
    let tiles = [1, 63, 64, 127, 128, 400].map(Tile);
    let set: TileSet = tiles.iter().rev().copied().collect();
    assert!(set.iter().eq(tiles));
    assert_eq!(set.len(), 6);
    assert!((0..6).all(|n| set.nth(n) == Some(tiles[n])) && set.nth(6).is_none());
    assert_eq!(TileSet::default().iter().next(), None);
}

/// Ice with holes, on a board for one word and on one for more.
fn holed() -> Vec<Ice> {
    let sizes = [(7, 8), (1, 58), (12, 9), (20, 20), (1, 400)];
    let ice = |(rows, columns): (usize, usize)| {
        let mut count = 0u8;
        let board = Board::filled(Shape::of(rows, columns).unwrap(), |_| {
            count = count.wrapping_mul(5).wrapping_add(3);
            count >> 5
        });
        Ice::new(board)
    };
    sizes.into_iter().map(ice).collect()
}

#[test]
fn neighbours_are_counted_and_leave_room_on_any_board() {
    for ice in holed() {
        let near = |tile: Tile| {
            let next = (0..DIRECTIONS).map(|direction| ice.shape().next(tile, direction));
            next.filter(|next| ice.fish(*next) > 0).count()
        };
        let tiles: Vec<Tile> = ice.shape().all().collect();
        for tile in &tiles {
            assert_eq!(ice.exits(*tile), near(*tile), "{:?} {tile:?}", ice.shape());
            assert_eq!(ice.can_leave(*tile), near(*tile) > 0);
        }
        for two in tiles.windows(2) {
            let penguins = [two[0], Tile::NONE, two[1]];
            let can = two.iter().any(|tile| near(*tile) > 0);
            assert_eq!(ice.any_can_leave(&penguins), can);
        }
        assert!(!ice.any_can_leave(&[Tile::NONE; 3]));
    }
}

#[test]
fn free_tiles_are_picked_evenly_until_none_is_left() {
    for mut ice in holed() {
        let free: Vec<Tile> = ice.shape().all().filter(|tile| ice.fish(*tile) > 0).collect();
        assert!(ice.free().iter().eq(free.iter().copied()));
        let step = u64::MAX / free.len() as u64;
        let pick = |at: usize| ice.pick_free(at as u64 * step + step / 2).unwrap();
        assert!((0..free.len()).map(pick).eq(free.iter().copied()));
        for tile in &free {
            assert!(ice.any_free() && ice.is_free(*tile));
            ice.occupy(*tile);
            assert!(!ice.is_free(*tile));
        }
        assert!(!ice.any_free() && ice.pick_free(0).is_none());
        let last = *free.last().unwrap();
        ice.vacate(last);
        assert_eq!((ice.any_free(), ice.pick_free(u64::MAX)), (true, Some(last)));
        assert_eq!(ice.reaches(free[0], last), ice.reach(free[0]).contains(last));
        let board = ice.board([free[0]]);
        let left = ice.shape().all().filter(|tile| board.fish(*tile) > 0);
        assert!(left.eq([free[0], last]));
    }
}

#[test]
fn slide_stops_before_taken_tiles_on_any_board() {
    for mut ice in holed() {
        let tiles: Vec<Tile> = ice.free().iter().step_by(5).collect();
        tiles.iter().for_each(|tile| ice.occupy(*tile));
        for from in ice.shape().all() {
            let mut reached = TileSet::default();
            for direction in 0..DIRECTIONS {
                let next = |at: &Tile| Some(ice.shape().next(*at, direction));
                let ray = std::iter::successors(next(&from), next);
                let open = |tile: &Tile| ice.fish(*tile) > 0 && !tiles.contains(tile);
                ray.take_while(open).for_each(|tile| reached.insert(tile));
            }
            assert_eq!(ice.reach(from), reached, "{:?} {from:?}", ice.shape());
            assert_eq!(ice.reach_count(from), reached.len());
            let to = ice.shape().all().filter(|to| ice.reaches(from, *to));
            assert!(to.eq(reached.iter()));
        }
    }
}

#[test]
fn slides_are_picked_in_the_order_of_directions_and_none_where_there_is_none() {
    for ice in holed() {
        let penguins = [ice.free().nth(2).unwrap(), Tile::NONE, ice.free().nth(0).unwrap()];
        let count: usize = penguins.iter().map(|from| ice.reach_count(*from)).sum();
        let mut slides = Vec::new();
        for from in penguins {
            ice.walk(from, |to| slides.push((from, to)));
        }
        let step = u64::MAX / count.max(1) as u64;
        let pick = |at: usize| ice.pick_slide(&penguins, at as u64 * step + step / 2).unwrap();
        let picked: Vec<(Tile, Tile)> = (0..count).map(pick).collect();
        assert_eq!(picked, slides, "{:?}", ice.shape());
        assert_eq!(ice.pick_slide(&[Tile::NONE; 2], 5), None);
    }
}
