//! Views that are written straight from the game are the bytes that the typed view is written as.

use agon_games::fish::{self, Fish};
use agon_games::trains::{self, Trains};
use agon_games::{Game, Seat, Seed, Viewer};
use proptest::prelude::*;

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut text = Vec::new();
    write(&mut text);
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// Compares the writers of a game with serde, for every viewer. `forget` drops past turns from a view.
fn assert_written_alike<G: Game>(game: &G, forget: fn(&mut G::View)) {
    let seats = Seat::all(game.seats()).map(Viewer::Seat);
    for viewer in seats.chain([Viewer::Public, Viewer::Full]) {
        let mut view = game.view(viewer);
        let whole = serde_json::to_string(&view).unwrap();
        assert_eq!(written(|out| game.write_view(viewer, out)), whole);
        if viewer != Viewer::Full {
            forget(&mut view);
        }
        let now = serde_json::to_string(&view).unwrap();
        assert_eq!(written(|out| game.write_view_now(viewer, out)), now);
    }
}

/// Plays by these choices and compares at every step; one seat is removed on the way.
fn play<G: Game>(
    mut game: G,
    choices: &[u64],
    removed: Option<(usize, u8)>,
    forget: fn(&mut G::View),
) {
    assert_written_alike(&game, forget);
    for (at, choice) in choices.iter().enumerate() {
        if let Some((when, seat)) = removed
            && when == at
        {
            game.remove(Seat(seat));
        } else if let Some(seat) = game.awaiting().next() {
            let answer = game.playout_answer(seat, *choice);
            game.apply(seat, &answer).unwrap();
        }
        assert_written_alike(&game, forget);
    }
}

proptest! {
    #[test]
    fn fish_views_are_written_alike_at_every_step(
        seed in any::<u64>(),
        seats in 2..5_usize,
        confirm in any::<bool>(),
        choices in prop::collection::vec(any::<u64>(), 0..60),
        removed in prop::option::of((0..60_usize, 0..4_u8)),
    ) {
        let config = fish::Config { confirm, ..fish::Config::default() };
        let game = Fish::new(&config, seats, &Seed::from_number(seed)).unwrap();
        play(game, &choices, removed, |_| {});
    }

    #[test]
    fn trains_views_are_written_alike_at_every_step(
        seed in any::<u64>(),
        seats in 2..5_usize,
        confirm in any::<bool>(),
        choices in prop::collection::vec(any::<u64>(), 0..80),
        removed in prop::option::of((0..80_usize, 0..4_u8)),
    ) {
        let config = trains::Config { confirm, ..trains::Config::default() };
        let game = Trains::new(&config, seats, &Seed::from_number(seed)).unwrap();
        play(game, &choices, removed, |view| view.history.clear());
    }
}
