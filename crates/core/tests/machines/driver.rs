//! A table of one's own: observers, reports, and players that cheat, fail or panic.

use agon_core::driver::{Asked, Report, Table};
use agon_games::fish::{Answer, Config, Fish, Phase, Position, Question, View};
use agon_games::yahtzee::Yahtzee;
use agon_games::{Game, Seed};
use std::cell::RefCell;

fn first(ask: &Asked<'_, Fish>) -> Option<Answer> {
    Fish::legal_in(ask.question, ask.view).into_iter().next()
}

fn cheats(ask: &Asked<'_, Fish>) -> Option<Answer> {
    match ask.question {
        Question::Move => Some(Answer::Move(agon_games::fish::Action {
            from: Position { row: 99, column: 99 },
            to: Position { row: 0, column: 0 },
        })),
        _ => first(ask),
    }
}

fn fails(ask: &Asked<'_, Fish>) -> Option<Answer> {
    first(ask).filter(|_| *ask.question != Question::Move)
}

fn wrong_kind(ask: &Asked<'_, Fish>) -> Option<Answer> {
    match ask.question {
        Question::Move => Some(Answer::Ok),
        _ => first(ask),
    }
}

fn panics(ask: &Asked<'_, Fish>) -> Option<Answer> {
    // Without the hook that prints: a panic on purpose would only spoil the test's output.
    assert_ne!(*ask.question, Question::Move, "on purpose");
    first(ask)
}

fn config() -> Config {
    Config { fish: Some(2), ..Config::default() }
}

#[test]
fn a_table_says_what_is_played_and_who_plays() {
    let table = Table::<Fish>::new(config()).player("ann", first).player("bob", cheats);
    let text = format!("{table:?}");
    assert_eq!(text, r#"Table { game: "fish", players: ["ann", "bob"] }"#);
}

#[test]
fn observers_get_every_update_and_the_report() {
    let updates: RefCell<Vec<View>> = RefCell::default();
    let reports: RefCell<Vec<Report>> = RefCell::default();
    let answers = RefCell::new(0);
    let counting = |ask: &Asked<'_, Fish>| {
        *answers.borrow_mut() += 1;
        first(ask)
    };
    let second = RefCell::new(0);
    let report = Table::<Fish>::new(config())
        .seed(Seed::from_number(3))
        .player("ann", counting)
        .player("bob", counting)
        .player("cat", fails)
        .on_update(|view| updates.borrow_mut().push(view.clone()))
        .on_update(|_| *second.borrow_mut() += 1)
        .on_report(|report| reports.borrow_mut().push(report.clone()))
        .run()
        .expect("a game");
    let updates = updates.into_inner();
    // Set-up, every answer of ann and bob, three placements of cat's and its removal.
    assert_eq!(updates.len(), 1 + *answers.borrow() + 4);
    assert_eq!(*second.borrow(), updates.len());
    assert_eq!(reports.into_inner(), [report]);
    assert_eq!(updates.last().map(|view| view.phase), Some(Phase::Over));
    assert!(updates.windows(2).all(|pair| pair[0] != pair[1]), "each tells something new");
    assert!(updates[0].players.iter().all(|player| player.places.is_empty()));
}

#[test]
fn cheats_and_failures_are_told_apart_and_a_panic_is_a_failure() {
    let report = Table::<Fish>::new(config())
        .player("cheat", cheats)
        .player("fail", fails)
        .player("odd", wrong_kind)
        .player("good", first)
        .run()
        .expect("a game");
    assert_eq!(report.cheating_players, ["cheat"]);
    assert_eq!(report.failing_players, ["fail", "odd"]);
    let names: Vec<&str> = report.reasons.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["cheat", "fail", "odd"]);
    assert_eq!(report.leaderboard.len(), 1);
    assert_eq!((report.leaderboard[0].name.as_str(), report.leaderboard[0].rank), ("good", 1));
    let report = Table::<Fish>::new(config())
        .player("boom", panics)
        .player("good", first)
        .run()
        .expect("a game");
    assert_eq!(report.failing_players, ["boom"]);
    assert_eq!(report.reasons, [("boom".to_owned(), "panicked".to_owned())]);
    assert_eq!(report.leaderboard[0].name, "good");
}

#[test]
fn nobody_left_is_a_report_without_a_leaderboard() {
    let report =
        Table::<Fish>::new(config()).player("a", fails).player("b", fails).run().expect("a game");
    assert_eq!((report.leaderboard.len(), report.failing_players.len()), (0, 2));
}

#[test]
fn tables_that_cannot_be_set_up_say_why() {
    let alone = Table::<Fish>::new(config()).player("a", first).run();
    assert_eq!(alone.unwrap_err().to_string(), "fish is for 2 to 4 players, not 1");
    let small = Config { rows: 1, columns: 1, ..config() };
    let small = Table::<Fish>::new(small).player("a", first).player("b", first).run();
    assert!(small.unwrap_err().to_string().contains("1 tiles"));
}

/// Several seats are asked at once in Yahtzee; leaderboards share ranks.
#[test]
fn equal_players_share_first_place_under_duplicate_dice() {
    let first =
        |ask: &Asked<'_, Yahtzee>| Yahtzee::legal_in(ask.question, ask.view).into_iter().next();
    let report = Table::<Yahtzee>::new(Default::default())
        .seed_number(1)
        .player("ann", first)
        .player("bob", first)
        .run()
        .expect("a game");
    let ranks: Vec<u8> = report.leaderboard.iter().map(|standing| standing.rank).collect();
    assert_eq!(ranks, [1, 1]);
    assert_eq!(report.leaderboard[0].score, report.leaderboard[1].score);
}

/// What is hidden while a game runs is shown when it is over, to observers as to everybody.
#[test]
fn observers_see_the_public_view_until_the_end() {
    let first =
        |ask: &Asked<'_, Yahtzee>| Yahtzee::legal_in(ask.question, ask.view).into_iter().next();
    let luck = |seed: u64| {
        let shown = RefCell::new(Vec::new());
        Table::<Yahtzee>::new(Default::default())
            .seed_number(seed)
            .player("ann", first)
            .player("bob", first)
            .on_update(|view| shown.borrow_mut().push(view.sequences.clone()))
            .run()
            .expect("a game");
        let mut shown = shown.into_inner();
        let last = shown.pop().flatten().expect("all dice, at the end");
        assert!(shown.len() > 26 && shown.iter().all(Option::is_none));
        last
    };
    assert_eq!(luck(1), luck(1));
    assert_ne!(luck(1), luck(2));
}
