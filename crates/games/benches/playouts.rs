//! How fast games play themselves: random legal answers from set-up to the end, through the trait.
//!
//! `cargo bench -p agon-games --bench playouts` runs every subject in turn, several rounds over, on
//! one core, and prints the median round of each. A new game is one line in `main`.
//!
//! The comparisons play the same luck and the same choices on the naive Yahtzee and the naive Fish
//! of the tests. Both must come to the same points, or the figures would be of different games.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "../tests/yahtzee/naive.rs"]
mod naive;

#[path = "../tests/fish_support/naive.rs"]
#[expect(dead_code, reason = "nobody leaves a game here")]
mod naive_fish;

use agon_games::fish::{self, Fish};
use agon_games::trains::{self, Trains};
use agon_games::yahtzee::{Config, DiceSource, Yahtzee};
use agon_games::{Game, Seed, Viewer};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Rounds per subject; odd, so that there is a median.
const ROUNDS: usize = 7;
/// How long a round should take.
const ROUND: Duration = Duration::from_millis(500);

/// Something that plays games by number and gives the sum of all points.
struct Subject {
    name: &'static str,
    play: Box<dyn Fn(std::ops::Range<u64>) -> i64>,
}

fn main() {
    let subjects = [
        game::<Yahtzee>("yahtzee", Config::default()),
        game::<Yahtzee>(
            "yahtzee, independent dice",
            Config { dice: DiceSource::Independent, ..Config::default() },
        ),
        Subject { name: "yahtzee, naive", play: Box::new(naive_games) },
        game::<Trains>("trains, two players", trains::Config::default()),
        game_of::<Trains>("trains, eight players", trains::Config::default(), 8),
        game::<Fish>("fish", fish::Config::default()),
        game::<Fish>("fish, 2 on every tile", fish::Config { fish: Some(2), ..<_>::default() }),
        game_of::<Fish>("fish, four players", fish::Config::default(), 4),
        game::<Fish>(
            "fish, 10 x 10",
            fish::Config { rows: 10, columns: 10, ..fish::Config::default() },
        ),
        Subject { name: "fish, naive", play: Box::new(naive_fish_games) },
    ];
    for (game, naive) in [(0, 2), (5, 9)] {
        let points = [game, naive].map(|at| (subjects[at].play)(0..200));
        assert_eq!(points[0], points[1], "not the same games: {}", subjects[naive].name);
    }

    let counts = subjects.each_ref().map(games_per_round);
    let mut rates = subjects.each_ref().map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for ((subject, count), rates) in subjects.iter().zip(counts).zip(&mut rates) {
            let start = Instant::now();
            black_box((subject.play)(0..count));
            rates.push(count as f64 / start.elapsed().as_secs_f64());
        }
    }
    println!(
        "{:28}{:>14}{:>14}{:>14}",
        "games per second, one core", "median", "lowest", "highest"
    );
    for (subject, rates) in subjects.iter().zip(&mut rates) {
        rates.sort_unstable_by(f64::total_cmp);
        let (median, low, high) = (rates[ROUNDS / 2], rates[0], rates[ROUNDS - 1]);
        println!("{:28}{median:>14.0}{low:>14.0}{high:>14.0}", subject.name);
    }
}

/// How many games of a subject fill a round, found by doubling.
fn games_per_round(subject: &Subject) -> u64 {
    let mut count = 64;
    loop {
        let start = Instant::now();
        black_box((subject.play)(0..count));
        let took = start.elapsed();
        if took > ROUND / 8 {
            return (count as f64 * ROUND.as_secs_f64() / took.as_secs_f64()) as u64;
        }
        count *= 2;
    }
}

fn game<G: Game>(name: &'static str, config: G::Config) -> Subject
where
    G::Config: 'static,
{
    game_of::<G>(name, config, *G::SEATS.start())
}

fn game_of<G: Game>(name: &'static str, config: G::Config, seats: usize) -> Subject
where
    G::Config: 'static,
{
    let play = move |numbers: std::ops::Range<u64>| {
        numbers.map(|number| playout::<G>(&config, seats, number)).sum()
    };
    Subject { name, play: Box::new(play) }
}

/// One game of random answers; the points of all seats.
#[inline(never)]
fn playout<G: Game>(config: &G::Config, seats: usize, number: u64) -> i64 {
    let mut game = G::new(config, seats, &Seed::from_number(number)).expect("a good set-up");
    let mut choices = Choices::new(number);
    loop {
        let awaiting = game.awaiting();
        if awaiting.is_empty() {
            break;
        }
        for seat in awaiting {
            let answer = game.playout_answer(seat, choices.next());
            game.apply(seat, &answer).expect("legal answers are accepted");
        }
    }
    game.outcome().expect("nobody is awaited").scores.iter().sum()
}

/// The same games as [`playout`] of [`Yahtzee`] on the naive implementation.
fn naive_games(numbers: std::ops::Range<u64>) -> i64 {
    numbers.map(naive_game).sum()
}

fn naive_game(number: u64) -> i64 {
    let dice = naive::sequences(&Seed::from_number(number), "dice");
    let mut table = naive::Table::new("tournament", [dice.clone(), dice]);
    // The game picks from a list of empty boxes where the last one takes the place of a filled one.
    let mut open = [0, 1].map(|_| naive::BOXES.to_vec());
    let mut choices = Choices::new(number);
    loop {
        let awaiting: Vec<usize> =
            [0, 1].into_iter().filter(|seat| table.may_keep(*seat).is_some()).collect();
        if awaiting.is_empty() {
            break;
        }
        for seat in awaiting {
            let choice = choices.next();
            if table.may_keep(seat) == Some(true) {
                table.keep(seat, std::array::from_fn(|at| choice >> (59 + at) & 1 != 0));
            } else {
                let at = (u128::from(choice) * open[seat].len() as u128) >> 64;
                let name = open[seat].swap_remove(at as usize);
                assert!(table.open(seat).contains(&name), "{name} is not open");
                table.score(seat, name);
            }
        }
    }
    (table.total(0) + table.total(1)) as i64
}

/// The same games as [`playout`] of [`Fish`] on the naive implementation.
fn naive_fish_games(numbers: std::ops::Range<u64>) -> i64 {
    numbers.map(naive_fish_game).sum()
}

fn naive_fish_game(number: u64) -> i64 {
    let config = fish::Config::default();
    let game = Fish::new(&config, 2, &Seed::from_number(number)).expect("a good set-up");
    let board: Vec<Vec<u8>> = game.view(Viewer::Public).board.into();
    let mut game = naive_fish::Naive::new(&board, 2);
    let mut choices = Choices::new(number);
    let mut pick = |count: usize| ((u128::from(choices.next()) * count as u128) >> 64) as usize;
    while let Some(seat) = game.turn {
        if game.placing {
            let places = game.placements();
            game.place(seat, places[pick(places.len())]);
        } else {
            let slides = game.slides(seat);
            let (from, to) = slides[pick(slides.len())];
            game.slide(seat, from, to);
        }
    }
    game.seats.iter().map(|seat| i64::from(seat.score)).sum()
}

/// Random choices, cheap enough not to be what is measured: a linear congruential generator, as the
/// games go by the high bits.
struct Choices(u64);

impl Choices {
    fn new(number: u64) -> Choices {
        Choices(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xe703_7ed1_a0b4_28db)
    }

    #[inline]
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        self.0
    }
}
