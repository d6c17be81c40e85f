//! The referee as a component: deadlines, notifications, observers, reports, and players that
//! cheat, fail, panic or hang.

use agon_embed::{
    AgeOrder, Change, FinalReport, GameSetup, GameUpdate, LocalPlayer, PlayerInfo, Removal,
    RemovalKind, Seating, StartError, TurnRequest,
};
use agon_games::fish::{Action, Answer, Config, Fish, Phase, Position, Question};
use agon_games::yahtzee::Yahtzee;
use agon_games::{Game, Seat, Viewer};
use serde_json::json;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Long enough for every honest player, short enough for a test that waits for it.
const SOON: Duration = Duration::from_millis(1_500);

/// How long a test waits for something that has to happen.
const PATIENCE: Duration = Duration::from_secs(20);

fn first(turn: &TurnRequest<'_, Fish>) -> Option<Answer> {
    Fish::legal_in(turn.question, turn.view).into_iter().next()
}

fn cheats(turn: &TurnRequest<'_, Fish>) -> Option<Answer> {
    match turn.question {
        Question::Move => Some(Answer::Move(Action {
            from: Position { row: 99, column: 99 },
            to: Position { row: 0, column: 0 },
        })),
        _ => first(turn),
    }
}

fn fails(turn: &TurnRequest<'_, Fish>) -> Option<Answer> {
    first(turn).filter(|_| *turn.question != Question::Move)
}

fn wrong_kind(turn: &TurnRequest<'_, Fish>) -> Option<Answer> {
    match turn.question {
        Question::Move => Some(Answer::Ok),
        _ => first(turn),
    }
}

fn panics(turn: &TurnRequest<'_, Fish>) -> Option<Answer> {
    assert_ne!(*turn.question, Question::Move, "on purpose");
    first(turn)
}

fn hangs(_: &TurnRequest<'_, Fish>) -> Option<Answer> {
    loop {
        std::thread::park();
    }
}

fn config() -> Config {
    Config { fish: Some(2), ..Config::default() }
}

fn setup() -> GameSetup<Fish> {
    GameSetup::new(config())
}

/// A player that sends everything it is told to the test.
struct Recorder(Sender<String>);

impl Recorder {
    fn new() -> (Recorder, Receiver<String>) {
        let (sender, receiver) = channel();
        (Recorder(sender), receiver)
    }

    fn note(&self, text: String) {
        let _ = self.0.send(text);
    }
}

impl LocalPlayer<Fish> for Recorder {
    fn answer(&mut self, turn: &TurnRequest<'_, Fish>) -> Option<Answer> {
        self.note(format!("asked {:?}", turn.question));
        first(turn)
    }

    fn seated(&mut self, seating: &Seating) {
        let names: Vec<&str> = seating.players.iter().map(|player| player.name.as_str()).collect();
        let color = seating.color.expect("fish has colours");
        self.note(format!("seated {} as {color} among {}", seating.seat.0, names.join(" ")));
    }

    fn sync(&mut self, update: &GameUpdate<Fish>) {
        let what = match &update.change {
            Change::Started => "started".to_owned(),
            Change::Answered(seat) => format!("answered {}", seat.0),
            Change::Removed(Removal { name, kind, .. }) => format!("removed {name} {kind:?}"),
            Change::Over => "over".to_owned(),
        };
        assert!(update.view.you.is_some(), "a player gets its own view");
        self.note(format!("sync {what}"));
    }

    fn kick(&mut self, removal: &Removal) {
        self.note(format!("kick {:?}: {}", removal.kind, removal.reason));
    }

    fn game_over(&mut self, report: &FinalReport) {
        self.note(format!("game over {}", serde_json::to_string(report).expect("JSON")));
    }
}

#[test]
fn setup_names_the_game_and_its_players() {
    let text = format!("{:?}", setup().player("ann", first).player("bob", cheats));
    assert_eq!(text, r#"GameSetup { game: "fish", players: ["ann", "bob"] }"#);
}

#[test]
fn hanging_player_is_failing_and_the_game_goes_on() {
    let started = Instant::now();
    let report = setup()
        .answer_limit(SOON)
        .player("ann", first)
        .player("hung", hangs)
        .player("cat", first)
        .run()
        .expect("a game");
    assert!(started.elapsed() < PATIENCE, "the referee did not hang");
    assert_eq!(report.failing_players, ["hung"]);
    assert_eq!(report.removals[0].reason, "gave no answer within 1.5s");
    let ids: Vec<&str> = report.leaderboard.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids.len(), 2);
    assert!(ids.contains(&"ann") && ids.contains(&"cat"));
}

#[test]
fn player_that_hangs_in_a_notification_is_failing_at_its_next_turn() {
    struct Sleeper;
    impl LocalPlayer<Fish> for Sleeper {
        fn answer(&mut self, turn: &TurnRequest<'_, Fish>) -> Option<Answer> {
            first(turn)
        }
        fn sync(&mut self, _: &GameUpdate<Fish>) {
            loop {
                std::thread::park();
            }
        }
    }
    let report = setup()
        .answer_limit(SOON)
        .player("ann", first)
        .player("sleeper", Sleeper)
        .run()
        .expect("a game");
    assert_eq!(report.failing_players, ["sleeper"]);
}

#[test]
fn player_that_panics_in_a_notification_is_failing() {
    struct Fragile;
    impl LocalPlayer<Fish> for Fragile {
        fn answer(&mut self, turn: &TurnRequest<'_, Fish>) -> Option<Answer> {
            first(turn)
        }
        fn sync(&mut self, _: &GameUpdate<Fish>) {
            panic!("on purpose");
        }
    }
    let report = setup().player("ann", first).player("bob", Fragile).run().expect("a game");
    assert_eq!(report.failing_players, ["bob"]);
    assert_eq!(report.removals[0].reason, "panicked: on purpose");
}

#[test]
fn cheating_and_failing_players_are_listed_apart_with_reasons() {
    let report = setup()
        .player("cheat", cheats)
        .player("fail", fails)
        .player("odd", wrong_kind)
        .player("good", first)
        .run()
        .expect("a game");
    assert_eq!(report.cheating_players, ["cheat"]);
    assert_eq!(report.failing_players, ["fail", "odd"]);
    let ids: Vec<&str> = report.removals.iter().map(|removal| removal.id.as_str()).collect();
    assert_eq!(ids, ["cheat", "fail", "odd"]);
    assert_eq!((report.leaderboard.len(), report.leaderboard[0].rank), (1, 1));
    let report = setup().player("boom", panics).player("good", first).run().expect("a game");
    assert_eq!(report.failing_players, ["boom"]);
    assert!(report.removals[0].reason.starts_with("panicked: "), "{:?}", report.removals);
    assert_eq!(report.leaderboard[0].name, "good");
}

#[test]
fn report_has_the_shape_of_the_seed_and_names_colors_and_ranks_beside_it() {
    let report = setup()
        .player(PlayerInfo::new("p1", "Ann"), first)
        .player(PlayerInfo::new("p2", "Bob"), cheats)
        .player(PlayerInfo::new("p3", "Cat"), fails)
        .run()
        .expect("a game");
    let score = report.leaderboard[0].score;
    let text = serde_json::to_string(&report).expect("JSON");
    let expected = format!(
        r#"{{"leaderboard":{{"p1":{score}}},"cheating_players":["p2"],"failing_players":["p3"]}}"#
    );
    assert_eq!(text, expected);
    let entry = &report.leaderboard[0];
    assert_eq!((entry.name.as_str(), entry.color, entry.rank), ("Ann", Some("red"), 1));
    let removed: Vec<_> = report.removals.iter().map(|one| (one.color, one.kind)).collect();
    let expected = [(Some("white"), RemovalKind::Cheating), (Some("brown"), RemovalKind::Failing)];
    assert_eq!(removed, expected);
}

#[test]
fn players_get_notices_of_seats_changes_removals_and_the_end() {
    let (ann, told) = Recorder::new();
    let report = setup()
        .player("ann", ann)
        .player("bob", first)
        .player("cheat", cheats)
        .run()
        .expect("a game");
    let told: Vec<String> = told.into_iter().collect();
    assert_eq!(told[0], "seated 0 as red among ann bob cheat");
    let begin = ["asked Place", "sync answered 0", "sync answered 1", "sync answered 2"];
    assert_eq!(told[1..5], begin);
    assert!(told.contains(&"sync removed cheat Cheating".to_owned()), "{told:?}");
    let end = format!("game over {}", json!(report));
    assert_eq!(told.iter().filter(|text| text.starts_with("game over")).count(), 1);
    let last: serde_json::Value =
        serde_json::from_str(told.last().unwrap().trim_start_matches("game over ")).unwrap();
    assert_eq!(format!("game over {last}"), end);
}

#[test]
fn kicked_player_gets_the_reason_and_nothing_afterwards() {
    struct Cheat(Recorder);
    impl LocalPlayer<Fish> for Cheat {
        fn answer(&mut self, turn: &TurnRequest<'_, Fish>) -> Option<Answer> {
            cheats(turn)
        }
        fn kick(&mut self, removal: &Removal) {
            self.0.kick(removal);
        }
        fn game_over(&mut self, report: &FinalReport) {
            self.0.game_over(report);
        }
    }
    let (recorder, told) = Recorder::new();
    setup().player("ann", first).player("cheat", Cheat(recorder)).run().expect("a game");
    // The thread ends when the referee has nothing more to say, and closes the channel.
    let told: Vec<String> = told.into_iter().collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("kick Cheating: "), "{told:?}");
}

#[test]
fn players_sit_in_ascending_age_and_without_ages_in_call_order() {
    let seated = |setup: GameSetup<Fish>| -> Vec<String> {
        let game = setup.start().expect("a game");
        game.players().iter().map(|player| player.name.clone()).collect()
    };
    let with_ages = || {
        setup()
            .player(PlayerInfo::new("p1", "Ann").age(30), first)
            .player("nobody knows", first)
            .player(PlayerInfo::new("p2", "Bob").age(7), first)
            .player(PlayerInfo::new("p3", "Cat").age(12), first)
    };
    assert_eq!(seated(with_ages()), ["Bob", "Cat", "Ann", "nobody knows"]);
    let oldest = with_ages().age_order(AgeOrder::OldestFirst);
    assert_eq!(seated(oldest), ["Ann", "Cat", "Bob", "nobody knows"]);
    assert_eq!(seated(setup().player("zoe", first).player("ann", first)), ["zoe", "ann"]);
}

#[test]
fn observers_get_every_update_and_the_report() {
    let updates: Arc<Mutex<Vec<GameUpdate<Fish>>>> = Arc::default();
    let reports: Arc<Mutex<Vec<FinalReport>>> = Arc::default();
    let (noted, reported) = (Arc::clone(&updates), Arc::clone(&reports));
    let report = setup()
        .seed_number(3)
        .player("ann", first)
        .player("bob", first)
        .player("cat", fails)
        .subscribe_game_updates(move |update| noted.lock().unwrap().push(update.clone()))
        .subscribe_final_game_report(move |report| reported.lock().unwrap().push(report.clone()))
        .run()
        .expect("a game");
    let updates = updates.lock().unwrap();
    assert_eq!(updates[0].change, Change::Started);
    assert!(updates[0].view.players.iter().all(|player| player.places.is_empty()));
    let removed = |update: &&GameUpdate<Fish>| matches!(update.change, Change::Removed(_));
    assert_eq!(updates.iter().filter(removed).count(), 1);
    let placed = updates.iter().filter(|update| update.view.phase == Phase::Place).count();
    assert_eq!(placed, 9, "the set-up and every placement but the last");
    let last = updates.last().expect("updates");
    assert_eq!((&last.change, last.view.phase), (&Change::Over, Phase::Over));
    assert_eq!(*reports.lock().unwrap(), [report]);
}

#[test]
fn observer_may_subscribe_in_the_middle_and_after_the_end() {
    let mut game = setup().player("ann", first).player("bob", first).start().expect("a game");
    for _ in 0..5 {
        assert!(matches!(game.step(), Some(Change::Answered(_))));
    }
    let (updates, seen) = channel();
    let observers = game.observers();
    observers.subscribe_game_updates(move |update| drop(updates.send(update.clone()))).unwrap();
    let standing = seen.recv_timeout(PATIENCE).expect("how things stand");
    assert_eq!(standing.view, game.view(Viewer::Public));
    let next = game.step();
    assert_eq!(Some(seen.recv_timeout(PATIENCE).expect("an update").change), next);
    while game.step().is_some() {}
    assert_eq!(game.step(), None);
    let (reports, reported) = channel();
    observers
        .subscribe_final_game_report(move |report| drop(reports.send(report.clone())))
        .unwrap();
    let report = reported.recv_timeout(PATIENCE).expect("the report");
    assert_eq!(Some(&report), game.report());
}

#[test]
fn observer_that_panics_or_hangs_disturbs_nobody() {
    let count: Arc<Mutex<usize>> = Arc::default();
    let counted = Arc::clone(&count);
    let started = Instant::now();
    let report = setup()
        .delivery_limit(SOON)
        .player("ann", first)
        .player("bob", first)
        .subscribe_game_updates(|_| panic!("on purpose"))
        .subscribe_game_updates(|_| {
            loop {
                std::thread::park();
            }
        })
        .subscribe_final_game_report(|_| panic!("on purpose"))
        .subscribe_game_updates(move |_| *counted.lock().unwrap() += 1)
        .run()
        .expect("a game");
    assert!(started.elapsed() < PATIENCE);
    assert_eq!(report.leaderboard.len(), 2);
    assert!(*count.lock().unwrap() > 10, "the others hear everything");
}

#[test]
fn all_players_removed_is_a_report_without_a_leaderboard() {
    let report = setup().player("a", fails).player("b", fails).run().expect("a game");
    assert_eq!((report.leaderboard.len(), report.failing_players.len()), (0, 2));
}

#[test]
fn players_without_a_free_tile_end_the_game_and_stay_in_the_report() {
    let tiny = Config { rows: 1, columns: 1, room_check: false, ..config() };
    let changes: Arc<Mutex<Vec<Change>>> = Arc::default();
    let noted = Arc::clone(&changes);
    let (recorder, told) = Recorder::new();
    let report = GameSetup::<Fish>::new(tiny)
        .player("ann", recorder)
        .player("bob", first)
        .subscribe_game_updates(move |update| noted.lock().unwrap().push(update.change.clone()))
        .run()
        .expect("a game");
    assert_eq!(
        json!(report),
        json!({
            "leaderboard": {"ann": 0, "bob": 0}, "cheating_players": [], "failing_players": []
        })
    );
    assert!(report.leaderboard.iter().all(|entry| entry.rank == 1));
    let kinds: Vec<_> = report.removals.iter().map(|removal| removal.kind).collect();
    assert_eq!(kinds, [RemovalKind::ByTheRules; 2]);
    let told: Vec<String> = told.into_iter().collect();
    assert!(told.iter().any(|text| text.starts_with("kick ByTheRules")), "{told:?}");
    assert!(told.last().unwrap().starts_with("game over"), "{told:?}");
    assert_eq!(changes.lock().unwrap().last(), Some(&Change::Over));
}

/// The penguins of a removed player leave the board, so the other one finds room again.
#[test]
fn player_without_a_free_tile_is_ranked_behind_those_who_play_on() {
    let tiny = Config { rows: 2, columns: 2, room_check: false, ..config() };
    let setup = GameSetup::<Fish>::new(tiny).player("ann", first).player("bob", first);
    let report = setup.run().expect("a game");
    let ranks: Vec<(&str, u8)> =
        report.leaderboard.iter().map(|entry| (entry.id.as_str(), entry.rank)).collect();
    assert_eq!(ranks, [("bob", 1), ("ann", 2)]);
    assert!(report.cheating_players.is_empty() && report.failing_players.is_empty());
}

#[test]
fn games_that_cannot_be_set_up_say_why() {
    let refused = |setup: GameSetup<Fish>| setup.run().unwrap_err().to_string();
    assert_eq!(refused(setup().player("a", first)), "fish is for 2 to 4 players, not 1");
    let small = Config { rows: 1, columns: 1, ..config() };
    let small = GameSetup::<Fish>::new(small).player("a", first).player("b", first);
    assert_eq!(refused(small), "1 tiles do not hold 8 penguins of 2 players");
    let same = setup().player("a", first).player(PlayerInfo::new("a", "Bob"), first);
    assert!(matches!(same.run(), Err(StartError::SameId(id)) if id == "a"));
}

/// Several seats are asked at once in Yahtzee; leaderboards share ranks, and there are no colours.
#[test]
fn equal_players_share_first_place_under_duplicate_dice() {
    let first = |turn: &TurnRequest<'_, Yahtzee>| {
        Yahtzee::legal_in(turn.question, turn.view).into_iter().next()
    };
    let report = GameSetup::<Yahtzee>::new(Default::default())
        .seed_number(1)
        .player("ann", first)
        .player("bob", first)
        .run()
        .expect("a game");
    let ranks: Vec<u8> = report.leaderboard.iter().map(|entry| entry.rank).collect();
    assert_eq!(ranks, [1, 1]);
    assert_eq!(report.leaderboard[0].score, report.leaderboard[1].score);
    assert_eq!(report.leaderboard[0].color, None);
}

#[test]
fn observers_see_hidden_luck_only_when_the_game_is_over() {
    let first = |turn: &TurnRequest<'_, Yahtzee>| {
        Yahtzee::legal_in(turn.question, turn.view).into_iter().next()
    };
    let luck = |seed: u64| {
        let shown = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&shown);
        GameSetup::<Yahtzee>::new(Default::default())
            .seed_number(seed)
            .player("ann", first)
            .player("bob", first)
            .subscribe_game_updates(move |update| {
                noted.lock().unwrap().push(update.view.sequences.clone());
            })
            .run()
            .expect("a game");
        let mut shown = shown.lock().unwrap();
        let last = shown.pop().flatten().expect("all dice, at the end");
        assert!(shown.len() > 26 && shown.iter().all(Option::is_none));
        last
    };
    assert_eq!(luck(1), luck(1));
    assert_ne!(luck(1), luck(2));
}

/// The confirmations that wires ask for are given by the referee itself.
#[test]
fn players_are_not_asked_to_confirm_what_they_were_told() {
    let (recorder, told) = Recorder::new();
    let config = Config { confirm: true, ..config() };
    GameSetup::<Fish>::new(config)
        .player("ann", recorder)
        .player("bob", first)
        .run()
        .expect("a game");
    let told: Vec<String> = told.into_iter().collect();
    let asked = told.iter().filter(|text| text.starts_with("asked"));
    assert!(asked.clone().count() > 4);
    assert!(asked.clone().all(|text| text == "asked Place" || text == "asked Move"), "{told:?}");
    assert_eq!(Fish::color_of(Seat(3)), Some("black"));
    assert_eq!(Fish::color_of(Seat(4)), None);
}
