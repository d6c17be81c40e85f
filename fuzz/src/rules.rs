//! The rules of every game under arbitrary answers: nothing panics, a rejected answer changes
//! nothing, an accepted one keeps the game's sums, and every game ends.

use crate::boards::{kind, seats};
use crate::input::Input;
use agon_games::{Game, GameState, Seat, Seed, Viewer, fish, trains, yahtzee};

/// A map for a few players, on which games are short.
const SMALL_MAP: &str = r#"{"width":100,"height":100,"cities":[["A",[0,0]],["B",[9,9]],["C",[9,90]],
    ["D",[90,9]],["E",[50,50]],["F",[99,99]]],"connections":{"A":{"B":{"red":3,"blue":4},
    "C":{"blue":5,"red":3}},"B":{"D":{"green":5},"E":{"white":3,"red":5}},"C":{"E":{"green":4}},
    "D":{"E":{"blue":3}},"E":{"F":{"white":4}}}}"#;

/// More steps than any game takes.
const STEPS_MAX: usize = 5_000;

/// Checks the invariants of a game, and returns a sum that must stay the same as long as there is
/// one.
type Sums = fn(&dyn GameState) -> Option<u64>;

/// Yahtzee.
pub fn of_yahtzee(data: &[u8]) -> bool {
    let configs = [
        "{}",
        r#"{"dice":"independent"}"#,
        r#"{"rule":"forced-joker"}"#,
        r#"{"rule":"free-joker"}"#,
    ];
    play("yahtzee", &configs, data, yahtzee_sums)
}

/// Fish, on small boards, some with too little room.
pub fn of_fish(data: &[u8]) -> bool {
    let configs = [
        r#"{"rows":3,"columns":3,"room_check":false}"#,
        r#"{"rows":4,"columns":4,"confirm":true,"difficulty":3}"#,
        r#"{"board":[[1,0,3],[5,2,1],[0,4,4],[1,1,1],[2,3,0]],"room_check":false}"#,
        r#"{"rows":1,"columns":9,"fish":3,"room_check":false}"#,
        r#"{"rows":6,"columns":6}"#,
    ];
    play("fish", &configs, data, fish_sums)
}

/// Trains.
pub fn of_trains(data: &[u8]) -> bool {
    let plain = format!(r#"{{"map":{SMALL_MAP}}}"#);
    let confirmed = format!(r#"{{"map":{SMALL_MAP},"confirm":true}}"#);
    play("trains", &["{}", &plain, &confirmed], data, trains_sums)
}

/// The input selects the configuration, the number of players and the seed; then, step by step, who
/// answers what. After its end, every asked seat gives its first legal answer.
fn play(name: &str, configs: &[&str], data: &[u8], sums: Sums) -> bool {
    let mut input = Input(data);
    let config = input.pick(configs);
    let range = kind(name).seats();
    let count = range.start() + input.below(range.end() - range.start() + 1);
    let seed = Seed::from_number(u64::from(input.byte()));
    let Ok(mut game) = kind(name).set_up(config, count, &seed) else { return false };
    let (mut accepted, sum) = (false, sums(&*game));
    for number in 0..STEPS_MAX {
        if game.outcome().is_none() && input.is_empty() && number % 16 != 0 {
            step(&mut *game, &mut input);
            continue;
        }
        promised(&*game);
        let now = sums(&*game);
        assert!(now.is_none() || now == sum, "{now:?} where there was {sum:?}");
        if game.outcome().is_some() {
            over(&*game);
            return accepted;
        }
        accepted |= step(&mut *game, &mut input);
    }
    panic!("a game of {STEPS_MAX} steps");
}

/// Applies one answer or removal; returns whether an answer of the input's own was accepted.
fn step(game: &mut dyn GameState, input: &mut Input<'_>) -> bool {
    let asked = game.awaiting().first().expect("an unfinished game has an open request");
    if input.is_empty() {
        let legal = game.legal(asked);
        game.apply(asked, legal[0].get()).expect("a legal answer");
        return false;
    }
    let anybody = Seat(input.byte() % 10);
    match input.byte() {
        // A legal answer, also in other JSON spellings.
        0..=179 => {
            let legal = game.legal(asked);
            let answer = &legal[input.below(legal.len())];
            apply(game, asked, &format!(" {answer} "))
        }
        // An answer for another seat, or an invalid one.
        180..=209 => {
            let legal = game.legal(asked);
            let answer = legal[input.below(legal.len())].get().to_owned();
            apply(game, anybody, &answer)
        }
        210..=249 => {
            let text = String::from_utf8_lossy(input.piece()).into_owned();
            apply(game, asked, &text)
        }
        _ => {
            let before = game.boxed_clone();
            let was_out = game.removed().contains(anybody) || anybody.index() >= game.seats();
            game.remove(anybody);
            assert!(!was_out || game.same(&*before), "removed twice, or nobody, changed something");
            false
        }
    }
}

fn apply(game: &mut dyn GameState, seat: Seat, answer: &str) -> bool {
    let before = game.boxed_clone();
    let checked = game.check(seat, answer);
    match game.apply(seat, answer) {
        Ok(canonical) => {
            let checked = checked.expect("applied answers were checked");
            assert_eq!(checked.get(), canonical.get(), "{answer}");
            assert!(before.awaiting().contains(seat), "{seat} was not asked");
            let mut again = before.boxed_clone();
            let twice = again.apply(seat, canonical.get()).expect("its canonical form is accepted");
            assert!(twice.get() == canonical.get() && again.same(game), "{answer}");
            let _ = game.tell(&*before, seat, canonical.get());
            true
        }
        Err(refusal) => {
            assert!(checked.is_err(), "{answer} is checked and refused: {refusal:?}");
            assert!(game.same(&*before), "{answer} was refused and changed something");
            false
        }
    }
}

/// Checks what the trait promises of every position.
fn promised(game: &dyn GameState) {
    assert_eq!(game.outcome().is_none(), !game.awaiting().is_empty());
    for seat in seats(game.seats()) {
        let asked = game.awaiting().contains(seat);
        assert_eq!(game.question(seat).is_some(), asked, "{seat}");
        assert_eq!(game.legal(seat).is_empty(), !asked, "{seat}");
        assert!(!asked || !game.removed().contains(seat), "{seat} is out and asked");
        let mut written = Vec::new();
        game.write_view(Viewer::Seat(seat), &mut written);
        assert_eq!(written, game.view(Viewer::Seat(seat)).get().as_bytes(), "two views of {seat}");
    }
    let _ = game.drawn();
}

fn over(game: &dyn GameState) {
    let outcome = game.outcome().expect("the game is over");
    assert_eq!((outcome.scores.len(), outcome.ranks.len()), (game.seats(), game.seats()));
    for seat in seats(game.seats()) {
        let rank = outcome.ranks[seat.index()];
        assert_eq!(rank.is_none(), game.removed().contains(seat), "{seat} has rank {rank:?}");
    }
    let staying = seats(game.seats()).filter(|seat| !game.removed().contains(*seat));
    let best = staying.map(|seat| outcome.scores[seat.index()]).max();
    for seat in outcome.winners() {
        assert_eq!(Some(outcome.scores[seat.index()]), best, "{seat} won");
    }
    let names: Vec<String> = seats(game.seats()).map(|seat| seat.to_string()).collect();
    let _ = game.render(&names, true);
}

fn full<G: Game>(game: &dyn GameState) -> G::View {
    game.as_any().downcast_ref::<G>().expect("a game of this kind").view(Viewer::Full)
}

/// Dice have six sides, and a card adds up.
fn yahtzee_sums(game: &dyn GameState) -> Option<u64> {
    let view = full::<yahtzee::Yahtzee>(game);
    for (card, seat) in view.cards.iter().zip(seats(2)) {
        let points: u64 = card.boxes.0.iter().flatten().map(|points| u64::from(*points)).sum();
        let bonus = u64::from(card.upper_bonus) + 100 * u64::from(card.yahtzee_bonuses);
        assert_eq!(u64::from(card.total), points + bonus, "{seat}: {card:?}");
        assert_eq!(card.upper_bonus, if card.upper >= 63 { 35 } else { 0 }, "{card:?}");
        if let Some(outcome) = game.outcome() {
            assert_eq!(outcome.scores[seat.index()], i64::from(card.total), "{seat}");
        }
    }
    for play in view.history.iter().flatten().chain(view.now.iter().flatten()) {
        for dice in &play.rolls {
            let json = serde_json::to_value(dice).expect("dice are JSON");
            let sides: Vec<u64> =
                json.as_array().into_iter().flatten().filter_map(|side| side.as_u64()).collect();
            assert!(sides.len() == 5 && sides.iter().all(|side| (1..=6).contains(side)), "{json}");
        }
    }
    // Every player who is still in the game fills one box a turn.
    let filled = |card: &yahtzee::CardView| card.boxes.0.iter().flatten().count();
    let turn = usize::from(view.turn) - 1;
    let fair = view.cards.iter().all(|card| (turn..=turn + 1).contains(&filled(card)));
    assert!(fair || !view.removed.is_empty(), "turn {turn}: {:?}", view.cards);
    None
}

/// Fish are on the ice or with a player; every penguin stands alone on a tile.
fn fish_sums(game: &dyn GameState) -> Option<u64> {
    let view = full::<fish::Fish>(game);
    let mut places: Vec<fish::Position> =
        view.players.iter().flat_map(|player| player.places.clone()).collect();
    let penguins = places.len();
    places.sort_by_key(|place| (place.row, place.column));
    places.dedup();
    assert_eq!(places.len(), penguins, "two penguins on one tile");
    let rows: Vec<&[u8]> = view.board.rows().collect();
    for place in places {
        let row = rows.get(place.row as usize);
        let tile = row.and_then(|row| row.get(place.column as usize));
        assert!(tile.is_some_and(|fish| *fish > 0), "a penguin in the water at {place:?}");
    }
    for (player, seat) in view.players.iter().zip(seats(game.seats())) {
        assert_eq!(player.removed, game.removed().contains(seat));
        assert!(!player.removed || player.places.is_empty(), "{seat} is out and on the ice");
        if let Some(outcome) = game.outcome() {
            assert_eq!(outcome.scores[seat.index()], i64::from(player.score));
        }
    }
    let on_ice: u64 = rows.iter().flat_map(|row| row.iter()).map(|fish| u64::from(*fish)).sum();
    let caught: u64 = view.players.iter().map(|player| u64::from(player.score)).sum();
    Some(on_ice + caught)
}

/// Cards are in the deck, in a hand or spent; rails are left or laid; no connection is held twice.
fn trains_sums(game: &dyn GameState) -> Option<u64> {
    let view = full::<trains::Trains>(game);
    let mut held: Vec<String> = Vec::new();
    let mut cards = u64::from(view.deck);
    assert_eq!(view.deck_cards.as_ref().map(Vec::len), Some(usize::from(view.deck)));
    for (player, seat) in view.players.iter().zip(seats(game.seats())) {
        assert_eq!(player.out, game.removed().contains(seat));
        let hand = player.hand.expect("the full view shows hands");
        let in_hand: u64 = trains::Color::ALL.iter().map(|c| u64::from(hand.of(*c))).sum();
        assert_eq!(u64::from(player.cards), in_hand, "{seat}");
        let laid: u64 = player.acquired.iter().map(|one| u64::from(one.length)).sum();
        let dealt = player.rails > 0 || laid > 0;
        assert!(!dealt || u64::from(player.rails) + laid == 45, "{seat}: {laid} laid");
        cards += in_hand + laid;
        held.extend(player.acquired.iter().map(|one| format!("{one:?}")));
    }
    let count = held.len();
    held.sort();
    held.dedup();
    assert_eq!(held.len(), count, "a connection is held twice");
    // A removed player takes their cards along.
    game.removed().is_empty().then_some(cards)
}
