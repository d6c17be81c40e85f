//! Plays house players against each other and prints how often the first one wins, with intervals
//! and the time of a decision. `docs/strength.md` has the figures of the long runs.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use agon_bots::{HousePlayer, Houses};
use agon_games::{Registry, Seat, Seed};
use std::time::{Duration, SystemTime};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [game, config, boards, first, others @ ..] = &args[..] else {
        println!("usage: strength GAME CONFIG BOARDS PLAYER OPPONENT…");
        return;
    };
    let boards: u64 = boards.parse().expect("a number of boards");
    run(game, config, boards, first, others);
}

/// The time that this thread has spent on a processor; the time of day where Linux does not say.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
    nanoseconds
        .map_or_else(|| SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default(), Duration::from_nanos)
}

/// One player and how long it thought.
struct Seated {
    name: String,
    player: Box<dyn HousePlayer>,
    spent: Duration,
    longest: Duration,
    answers: u32,
    points: i64,
}

fn run(game: &str, config: &str, boards: u64, first: &str, others: &[String]) {
    let (houses, registry) = (Houses::standard(), Registry::standard());
    let kind = registry.kind(game).expect("a game");
    let mut names = vec![first.to_owned()];
    names.extend(others.iter().cloned());
    let mut seated: Vec<Seated> = names
        .iter()
        .map(|name| Seated {
            name: name.clone(),
            player: houses.make(game, name).expect("a house player"),
            spent: Duration::ZERO,
            longest: Duration::ZERO,
            answers: 0,
            points: 0,
        })
        .collect();
    let seats = names.len();
    let (mut won, mut tied, mut games) = (0u32, 0u32, 0u32);
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut margin = 0i64;
    for board in 0..boards {
        let mut share = 0.0;
        // Every player sits everywhere once on the same luck.
        for turn in 0..seats {
            let mut state = kind.set_up(config, seats, &Seed::from_number(board)).expect("a game");
            let mut step = 0;
            while let Some(seat) = state.awaiting().first() {
                let one = &mut seated[(seat.index() + turn) % seats];
                let start = processor_time();
                let key = format!("{board}/{turn}/{step}");
                let answer = one.player.answer(&one.name, &key, seat, &*state);
                let spent = processor_time() - start;
                one.spent += spent;
                one.longest = one.longest.max(spent);
                one.answers += 1;
                state.apply(seat, answer.get()).expect("a legal answer");
                step += 1;
            }
            let outcome = state.outcome().expect("over");
            for at in 0..seats {
                seated[(at + turn) % seats].points += outcome.scores[at];
            }
            let own = Seat(((seats - turn) % seats) as u8);
            let winners: Vec<Seat> = outcome.winners().collect();
            games += 1;
            if winners.contains(&own) {
                share += 1.0 / winners.len() as f64;
                if winners.len() == 1 { won += 1 } else { tied += 1 }
            }
            let best_other =
                (0..seats).filter(|at| *at != own.index()).map(|at| outcome.scores[at]).max();
            margin += outcome.scores[own.index()] - best_other.unwrap_or(0);
        }
        let mean = share / seats as f64;
        sum += mean;
        squares += mean * mean;
    }
    let n = boards as f64;
    let (mean, games_f) = (sum / n, f64::from(games));
    let error = 1.96 * ((squares / n - mean * mean).max(0.0) / (n - 1.0).max(1.0)).sqrt();
    println!(
        "{game} {config}: {first} against {}: {games} games on {boards} boards: {:.1} % won, \
         {:.1} % shared; score {:.1} % ± {:.1}; margin {:.2}",
        others.join(", "),
        100.0 * f64::from(won) / games_f,
        100.0 * f64::from(tied) / games_f,
        100.0 * mean,
        100.0 * error,
        margin as f64 / games_f,
    );
    for one in &seated {
        println!(
            "  {:<12} mean score {:>6.2}; {:>9.3} ms a decision, longest {:.1} ms",
            one.name,
            one.points as f64 / games_f,
            one.spent.as_secs_f64() * 1e3 / f64::from(one.answers.max(1)),
            one.longest.as_secs_f64() * 1e3,
        );
    }
}
