//! House players of Trains: they play by the rules, whatever the map, and as their names promise.

use agon_bots::trains::{BuyNow, Cheat, HoldTen};
use agon_bots::{Ask, Bot, Houses};
use agon_games::trains::{Config, Trains};
use agon_games::{Game, Proposal, RefusalKind, Registry, Seat, SeatSet, Seed, Viewer, json};

const NAMES: [&str; 5] = ["random", "greedy", "hold-10", "buy-now", "cheat"];

/// Plays a game of house players through JSON, as over a wire; those refused are removed.
fn play(names: &[&str], seed: u64, confirm: bool) -> Box<dyn agon_games::GameState> {
    let houses = Houses::standard();
    let registry = Registry::standard();
    let config = json(&Config { confirm, ..Config::default() });
    let kind = registry.kind("trains").expect("registered");
    let luck = Seed::from_number(seed);
    let mut game = kind.set_up(config.get(), names.len(), &luck).expect("a game");
    let mut step = 0;
    while let Some(seat) = game.awaiting().first() {
        let name = names[seat.index()];
        let mut player = houses.make("trains", name).expect("a house player");
        let key = format!("{seed}/{step}");
        let question = game.question(seat).expect("asked");
        let view = game.view(Viewer::Seat(seat));
        let answer = player.answer_text(name, &key, seat, question.get(), view.get());
        let answer = answer.expect("a request of its game");
        assert_eq!(answer.get(), player.answer(name, &key, seat, &*game).get());
        if let Err(refusal) = game.apply(seat, answer.get()) {
            assert_eq!((name, refusal.kind), ("cheat", RefusalKind::Illegal), "{refusal}");
            assert_eq!(refusal.code, "not-on-map");
            game.remove(seat);
        }
        step += 1;
    }
    game
}

#[test]
fn only_the_cheat_is_ever_refused() {
    for seed in 0..6 {
        let mut names = NAMES;
        names.rotate_left(seed as usize % NAMES.len());
        let game = play(&names, seed, seed % 2 == 0);
        let cheat = names.iter().position(|name| *name == "cheat").expect("there is one");
        assert_eq!(game.removed(), SeatSet::one(Seat(cheat as u8)));
        assert!(game.outcome().is_some());
    }
}

#[test]
fn all_of_them_propose_a_map_for_eight() {
    let houses = Houses::standard();
    for name in NAMES {
        let mut player = houses.make("trains", name).expect("a house player");
        let map = player.propose().expect("a map");
        let config = Config::default();
        assert_eq!(Trains::propose(&config, map.get(), 8), Proposal::Fits(config));
    }
}

/// Greedy is there to be a better opponent than the simple ones.
#[test]
fn greedy_wins_more_often_than_the_simple_players() {
    let mut wins = 0;
    for seed in 0..16 {
        let names = [["greedy", "buy-now", "hold-10"], ["hold-10", "greedy", "buy-now"]];
        let names = names[seed as usize % 2];
        let outcome = play(&names, seed, false).outcome().expect("over");
        let greedy = names.iter().position(|name| *name == "greedy").expect("there is one");
        wins += u32::from(outcome.ranks[greedy] == Some(1));
    }
    assert!(wins > 8, "{wins} of 16");
}

#[test]
fn plain_players_keep_the_first_or_the_last_two() {
    let mut game = Trains::new(&Config::default(), 3, &Seed::from_number(4)).expect("a game");
    let mut bots: [Box<dyn Bot<Trains>>; 3] =
        [Box::new(HoldTen), Box::new(BuyNow), Box::new(Cheat)];
    for (seat, bot) in Seat::all(3).zip(&mut bots) {
        let question = game.question(seat).expect("asked");
        let view = game.view(Viewer::Seat(seat));
        let answer =
            bot.answer(&Ask { player: "p", key: "k", seat, question: &question, view: &view });
        let picks = game.legal(seat);
        let first = seat == Seat(0);
        assert_eq!(answer, picks[if first { 0 } else { picks.len() - 1 }]);
        game.apply(seat, &answer).expect("legal");
    }
}
