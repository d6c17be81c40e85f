//! Plays house players against each other and prints how often the first one wins, with a 95 %
//! interval and the processor time of a decision. `scripts/strength` runs it for the figures of
//! `docs/strength.md`.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use agon_bots::{HousePlayer, Houses};
use agon_games::{Outcome, Registry, Seat, Seed};
use std::ops::Range;
use std::time::{Duration, SystemTime};

const USAGE: &str = "usage: strength GAME CONFIG BOARDS PLAYER OPPONENT…

Plays BOARDS boards (a number, or FROM..TO), each once from every seat with the same luck.";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [game, config, boards, players @ ..] = &args[..] else {
        println!("{USAGE}");
        return;
    };
    let number = |text: &str| text.parse::<u64>().expect("a number of boards");
    let boards = match boards.split_once("..") {
        Some((from, to)) => number(from)..number(to),
        None => 0..number(boards),
    };
    let mut table = Table::new(game, players);
    let mut tally = Tally::default();
    for board in boards.clone() {
        tally.add(&table.play(config, board));
    }
    tally.print(game, config, boards, players);
    table.seated.iter().for_each(Seated::print);
}

/// One player, its points and its time.
struct Seated {
    name: String,
    player: Box<dyn HousePlayer>,
    points: i64,
    games: u32,
    answers: u32,
    spent: Duration,
    longest: Duration,
}

impl Seated {
    fn print(&self) {
        println!(
            "  {:<10} mean score {:>6.2}; {:>8.3} ms a decision, {:.1} ms at most",
            self.name,
            self.points as f64 / f64::from(self.games.max(1)),
            self.spent.as_secs_f64() * 1e3 / f64::from(self.answers.max(1)),
            self.longest.as_secs_f64() * 1e3,
        );
    }
}

/// The players of all games.
struct Table {
    game: String,
    registry: Registry,
    seated: Vec<Seated>,
}

impl Table {
    fn new(game: &str, players: &[String]) -> Table {
        let houses = Houses::standard();
        let seated = players.iter().map(|name| Seated {
            name: name.clone(),
            player: houses.make(game, name).expect("a house player"),
            points: 0,
            games: 0,
            answers: 0,
            spent: Duration::ZERO,
            longest: Duration::ZERO,
        });
        Table { game: game.into(), registry: Registry::standard(), seated: seated.collect() }
    }

    /// Plays one board from every seat; returns the ends, with the first player's seat.
    fn play(&mut self, config: &str, board: u64) -> Vec<(Seat, Outcome)> {
        let seats = self.seated.len();
        let kind = self.registry.kind(&self.game).expect("a game");
        let mut ends = Vec::new();
        for turn in 0..seats {
            let luck = Seed::from_number(board);
            let mut game = kind.set_up(config, seats, &luck).expect("a game");
            let mut step = 0;
            while let Some(seat) = game.awaiting().first() {
                let one = &mut self.seated[(seat.index() + turn) % seats];
                let start = processor_time();
                let key = format!("{board}/{turn}/{step}");
                let answer = one.player.answer(&one.name, &key, seat, &*game);
                let spent = processor_time().saturating_sub(start);
                one.spent += spent;
                one.longest = one.longest.max(spent);
                one.answers += 1;
                game.apply(seat, answer.get()).expect("a legal answer");
                step += 1;
            }
            let outcome = game.outcome().expect("the game is over");
            for (at, points) in outcome.scores.iter().enumerate() {
                let one = &mut self.seated[(at + turn) % seats];
                one.points += points;
                one.games += 1;
            }
            ends.push((Seat(((seats - turn) % seats) as u8), outcome));
        }
        ends
    }
}

/// The results of the first player. Games on one board share their luck, so the interval is that
/// of the mean over boards.
#[derive(Default)]
struct Tally {
    boards: u32,
    games: u32,
    won: u32,
    shared: u32,
    sum: f64,
    squares: f64,
    lead: i64,
}

impl Tally {
    fn add(&mut self, ends: &[(Seat, Outcome)]) {
        let mut score = 0.0;
        for (own, outcome) in ends {
            let winners = outcome.winners();
            if winners.contains(*own) {
                score += 1.0 / winners.len() as f64;
                if winners.len() == 1 { self.won += 1 } else { self.shared += 1 }
            }
            let others = outcome.scores.iter().enumerate().filter(|(at, _)| *at != own.index());
            self.lead += outcome.scores[own.index()] - others.map(|(_, at)| *at).max().unwrap_or(0);
            self.games += 1;
        }
        let mean = score / ends.len() as f64;
        self.boards += 1;
        self.sum += mean;
        self.squares += mean * mean;
    }

    fn print(&self, game: &str, config: &str, boards: Range<u64>, players: &[String]) {
        let (boards_played, games) = (f64::from(self.boards.max(1)), f64::from(self.games.max(1)));
        let mean = self.sum / boards_played;
        let variance = (self.squares / boards_played - mean * mean).max(0.0);
        let half = 1.96 * (variance / (boards_played - 1.0).max(1.0)).sqrt();
        println!("{game} {config} boards {boards:?}: {}", players.join(" against "));
        println!(
            "  {} games: {:.1} % won, {:.1} % shared; score {:.1} % ± {:.1}; mean lead {:.2}",
            self.games,
            100.0 * f64::from(self.won) / games,
            100.0 * f64::from(self.shared) / games,
            100.0 * mean,
            100.0 * half,
            self.lead as f64 / games,
        );
    }
}

/// The time that this thread has spent on a processor; the time of day where Linux does not say.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
    nanoseconds
        .map_or_else(|| SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default(), Duration::from_nanos)
}
