//! The set-up and display of games: configurations, maps, boards, views.

use agon_games::trains::Map;
use agon_games::{GameKind, Proposal, Registry, Seat, Seed, Viewer};
use std::sync::{Arc, LazyLock};

/// All games, read once.
pub(crate) static GAMES: LazyLock<Registry> = LazyLock::new(Registry::standard);

pub(crate) fn kind(name: &str) -> &'static Arc<dyn GameKind> {
    GAMES.kind(name).expect("a game that comes with Agon")
}

fn kinds() -> impl Iterator<Item = &'static Arc<dyn GameKind>> {
    GAMES.names().into_iter().map(kind)
}

/// Configurations of all games: an accepted one is also accepted in its full form, and a game can
/// be set up from it for any number of players, or fails with a reason.
pub fn configs(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let mut good = false;
    for kind in kinds() {
        let Ok(full) = kind.check_config(text) else { continue };
        good = true;
        let again = kind.check_config(full.get()).expect("a complete configuration is valid");
        assert_eq!(again.get(), full.get());
        let _ = kind.after_undecidable(full.get()).expect("a complete configuration is valid");
        for seats in 0..=9 {
            let Ok(game) = kind.set_up(full.get(), seats, &Seed::from_number(7)) else { continue };
            assert_eq!(game.seats(), seats);
            assert_eq!(game.outcome().is_none(), !game.awaiting().is_empty());
            let _ = game.view(Viewer::Public);
        }
    }
    good
}

/// Maps of Trains: an accepted map is the same after writing and reading, and a proposal of it is
/// judged.
pub fn maps(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let trains = kind("trains");
    let config = trains.default_config();
    let proposal = trains.propose(config.get(), text, 4);
    let map = match Map::parse(text) {
        Ok(map) => map,
        Err(error) => {
            assert!(error.to_string().len() < 1_000, "{error}");
            assert!(matches!(proposal, Proposal::Refused(_)), "a proposal that is no map");
            return false;
        }
    };
    let written = serde_json::to_string(&map).expect("a map is JSON");
    assert_eq!(Map::parse(&written).as_ref(), Ok(&map), "{written}");
    assert_eq!(map.destinations().len(), map.destination_count());
    for (at, connection) in map.connections().iter().enumerate() {
        assert_eq!(map.find(connection), Some(at));
        let ends = map.ends(at).map(usize::from);
        assert!(ends.iter().all(|city| *city < map.cities().len()));
    }
    match proposal {
        Proposal::Fits(config) => {
            let game = trains.set_up(config.get(), 4, &Seed::from_number(1));
            assert!(game.is_ok(), "a map that serves four is played by four");
        }
        Proposal::Unfit(_) => assert!(!map.serves(4)),
        Proposal::Refused(refusal) => panic!("a map is refused: {refusal:?}"),
    }
    true
}

/// Questions and views as a server may send them, displayed to a person. The input is a question, a
/// line end, a view, a line end, and what the person types.
pub fn views(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let mut parts = text.splitn(3, '\n');
    let mut part = || parts.next().unwrap_or_default();
    let (question, view, typed) = (part(), part(), part());
    for kind in kinds() {
        if let Ok(answer) = kind.understand(typed, question, view) {
            let _ = answer.get();
        }
    }
    shown(question, view)
}

/// Draws a view and asks a question in all games that know them.
pub(crate) fn shown(question: &str, view: &str) -> bool {
    let mut good = false;
    for kind in kinds() {
        let names = ["ann".to_owned(), "bob".to_owned()];
        good |= kind.draw(view, &names, true).is_ok();
        let Ok(asked) = kind.ask(question, view) else { continue };
        for (words, answer) in asked.choices.iter().take(20) {
            let understood = kind.understand(words, question, view);
            // The list holds one of several equivalent wordings, so only its acceptance is checked.
            assert!(understood.is_ok(), "{words}: {understood:?}, not {answer}");
        }
    }
    good
}

/// Seats of a game.
pub(crate) fn seats(count: usize) -> impl Iterator<Item = Seat> {
    (0..count as u8).map(Seat)
}
