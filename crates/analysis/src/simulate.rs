//! Which format finds the best player? Whole tournaments between players of known strength, with
//! drawn results.
//!
//! The tournament machine of core does all pairings, so every format is simulated exactly as it is
//! played. Only the games are drawn: the chance to win follows from the difference in Elo, and in
//! games of more players from the same odds, place by place (Plackett–Luce). Games are independent
//! of each other, and nobody commits a fault.

use agon_core::{
    Farewell, Format, GameEnd, GameResult, Greeting, How, MatchPlan, MatchResult, Pairing,
    PlanError, PlayerName, Policy, Preset, Raw, Secret, Ties, Tournament, TournamentCommand,
    TournamentPlan,
};
use agon_games::GameKind;
use agon_stats::{Interval, RandomNumbers, elo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The question: which players, and how they play.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    /// The strengths of the players in Elo, in any order.
    pub strengths: Vec<f64>,
    /// The game; it only decides how many players a match may have.
    pub game: String,
    /// The chance that a game between equal players is drawn.
    pub draws: f64,
    /// How many tournaments are simulated for each candidate.
    pub runs: u32,
    /// The same seed gives the same answers.
    pub seed: u64,
    /// How long a game takes.
    pub game_seconds: f64,
    /// How many matches are played at a time.
    pub concurrency: usize,
    /// How players are put into slots: by lot, or by their true strengths.
    pub seeding: Seeding,
    /// How many threads simulate; the answer does not depend on it.
    pub threads: usize,
}

/// How players are put into the slots of a format.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Seeding {
    /// By lot.
    #[default]
    Random,
    /// As seeds by their strengths, as if everybody's rating were right.
    Rating,
}

/// A format to simulate.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// The format with its options.
    pub format: Format,
    /// Best of how many games a match is.
    pub best_of: u32,
}

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// The simulated results of a candidate.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Simulated {
    /// The format with its options, as people write it.
    pub format: String,
    /// The format with its options, as in a policy.
    pub options: Format,
    /// Best of how many games a match is.
    pub best_of: u32,
    /// How many tournaments were simulated.
    pub runs: u32,
    /// How often the strongest player wins. A shared victory counts in part.
    pub best_wins: Estimate,
    /// How often the three strongest players take the first three places, in any order.
    pub top_three: Estimate,
    /// The number of games.
    pub games: Estimate,
    /// The mean number of rounds.
    pub rounds: f64,
    /// How many seconds a tournament takes.
    pub seconds: Estimate,
}

/// One simulated tournament.
#[derive(Clone, Copy, Default)]
struct Run {
    best_won: f64,
    top_three: bool,
    games: u32,
    rounds: u32,
    seconds: f64,
}

/// The most players.
pub const PLAYERS_MAX: usize = 1_000;

/// Simulates a candidate. `progress` hears how many tournaments are over, and returns whether to go
/// on; the answer then covers those.
///
/// The error says why such a tournament cannot be held.
pub fn simulate(
    question: &Question,
    candidate: &Candidate,
    progress: &(dyn Fn(u32) -> bool + Sync),
) -> Result<Simulated, String> {
    let games = crate::registry();
    let kind = games.kind(&question.game).ok_or_else(|| {
        let known = games.names().join(", ");
        format!("there is no game {:?}; there are: {known}", question.game)
    })?;
    let plan = plan(question, candidate, &**kind)?;
    // The first run also finds out whether such a tournament can be held.
    let first = run(question, &plan, kind, 0)?;
    let goes_on = progress(1);
    let next = AtomicU32::new(if goes_on { 1 } else { question.runs });
    let work = || {
        let mut runs = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= question.runs {
                return runs;
            }
            if let Ok(run) = run(question, &plan, kind, number) {
                runs.push((number, run));
            }
            if !progress(number + 1) {
                next.store(question.runs, Ordering::Relaxed);
            }
        }
    };
    let mut runs = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..question.threads.max(1)).map(|_| scope.spawn(work)).collect();
        let runs = workers.into_iter().map(|worker| worker.join().expect("a simulation ends"));
        runs.flatten().collect::<Vec<_>>()
    });
    runs.push((0, first));
    // In order of their numbers, so that sums do not depend on the threads.
    runs.sort_by_key(|(number, _)| *number);
    let text = candidate.format.text(&kind.seats());
    Ok(summary(candidate, text, runs.into_iter().map(|(_, run)| run).collect()))
}

/// The cheapest of these that reaches a wanted share of tournaments won by the best player. Its
/// lower bound must reach it if one does; otherwise the estimate is enough.
pub fn recommended(simulated: &[Simulated], wanted: f64) -> Option<&Simulated> {
    let cheapest = |reaches: &dyn Fn(&Simulated) -> bool| {
        let reaching = simulated.iter().filter(|one| reaches(one));
        reaching.min_by(|one, other| one.games.value.total_cmp(&other.games.value))
    };
    cheapest(&|one| one.best_wins.low >= wanted)
        .or_else(|| cheapest(&|one| one.best_wins.value >= wanted))
}

fn plan(
    question: &Question,
    candidate: &Candidate,
    kind: &dyn GameKind,
) -> Result<TournamentPlan, String> {
    let count = question.strengths.len();
    if !(2..=PLAYERS_MAX).contains(&count) {
        return Err(format!("{count} players: a simulation needs 2 to {PLAYERS_MAX}"));
    }
    let preset = Preset::named("yahtzee-class").map_err(|error| error.to_string())?;
    let mut policy = Policy {
        format: candidate.format.clone(),
        pairing: match question.seeding {
            Seeding::Random => Pairing::Random,
            Seeding::Rating => Pairing::Rating,
        },
        greeting: Greeting::None,
        farewell: Farewell::None,
        ..preset.policy
    };
    if question.seeding == Seeding::Rating {
        let rating = |(at, elo): (usize, &f64)| (name(at), (1_500.0 + elo).round() as i64);
        policy.ratings = question.strengths.iter().enumerate().map(rating).collect();
    }
    policy.rules.best_of = candidate.best_of;
    policy.format.rules().adapt(&mut policy.rules);
    let config = kind.check_config("{}").map_err(|error| error.to_string())?;
    Ok(TournamentPlan {
        id: "simulated".into(),
        preset: None,
        game: question.game.clone(),
        config: Raw(config),
        policy,
        players: (0..count).map(name).collect(),
    })
}

/// The name of a player, from which their strength can be found.
fn name(at: usize) -> PlayerName {
    PlayerName::new(&format!("p{at}")).expect("a valid name")
}

fn index(player: &PlayerName) -> usize {
    player.as_str()[1..].parse().expect("a simulated player")
}

/// Simulates one tournament.
fn run(
    question: &Question,
    plan: &TournamentPlan,
    kind: &Arc<dyn GameKind>,
    number: u32,
) -> Result<Run, String> {
    let mut random = RandomNumbers::new(question.seed ^ (u64::from(number) << 32));
    let mut plan = plan.clone();
    // Equal players stay in order of sign-up, which must not be the order of strength.
    for at in (1..plan.players.len()).rev() {
        plan.players.swap(at, random.below(at + 1));
    }
    let secret = Secret::from_seed_number(random.bits());
    let created = Tournament::create(plan, Arc::clone(kind), secret);
    let (mut tournament, _) = created.map_err(|error: PlanError| error.to_string())?;
    let mut run = Run::default();
    while !tournament.is_over() {
        let round = tournament.rounds().len();
        let open: Vec<MatchPlan> = tournament.open_matches().cloned().collect();
        if open.is_empty() {
            return Err("the format neither pairs a match nor ends".into());
        }
        let mut lengths = Vec::with_capacity(open.len());
        for plan in open {
            let result = draw_match(question, &plan, &mut random);
            lengths.push(result.games.len() as u32);
            let command = TournamentCommand::Report { id: plan.id, result, head: None };
            tournament.step(command).map_err(|rejection| rejection.to_string())?;
            if tournament.rounds().len() > round {
                break;
            }
        }
        run.games += lengths.iter().sum::<u32>();
        run.rounds = run.rounds.max(round as u32);
        run.seconds += duration(&lengths, question);
    }
    let results = tournament.results();
    let mut order: Vec<usize> = (0..question.strengths.len()).collect();
    order.sort_by(|one, other| {
        question.strengths[*other].total_cmp(&question.strengths[*one]).then(one.cmp(other))
    });
    if results.winners.contains(&name(order[0])) {
        run.best_won = 1.0 / results.winners.len() as f64;
    }
    let places = order.len().min(3);
    let top = results.standings[..places].iter();
    run.top_three = top.into_iter().all(|one| order[..places].contains(&index(&one.player)));
    Ok(run)
}

/// How long the matches of a round take if the next one begins as soon as a place is free.
fn duration(games: &[u32], question: &Question) -> f64 {
    let mut places = vec![0u32; question.concurrency.max(1)];
    for length in games {
        if let Some(place) = places.iter_mut().min() {
            *place += length;
        }
    }
    f64::from(places.into_iter().max().unwrap_or(0)) * question.game_seconds
}

/// Draws the games of a match until it is decided, as the match machine would.
fn draw_match(question: &Question, plan: &MatchPlan, random: &mut RandomNumbers) -> MatchResult {
    let count = plan.players.len();
    let best_of = plan.rules.best_of;
    let mut halves = vec![0; count];
    let mut games: Vec<GameResult> = Vec::new();
    loop {
        let game = draw_game(question, plan, games.len() as u32 + 1, random);
        let is_shared = game.winners.len() > 1;
        for (side, player) in plan.players.iter().enumerate() {
            if game.winners.contains(player) {
                halves[side] += match (is_shared, plan.rules.ties) {
                    (false, _) => 2,
                    (true, Ties::Share) => 1,
                    (true, Ties::Replay) => 0,
                };
            }
        }
        games.push(game);
        let is_over = match plan.rules.ties {
            Ties::Share => {
                games.len() as u32 >= best_of || halves.iter().any(|halves| *halves > best_of)
            }
            Ties::Replay => halves.iter().any(|halves| *halves >= 2 * best_of.div_ceil(2)),
        };
        if is_over || games.len() > 10_000 {
            break;
        }
    }
    let most = halves.iter().copied().max().unwrap_or(0);
    let winners = plan.players.iter().zip(&halves).filter(|(_, halves)| **halves == most);
    MatchResult {
        winners: winners.map(|(player, _)| player.clone()).collect(),
        how: How::Played,
        halves,
        games,
        counts_from: 1,
        faults: Vec::new(),
        out: Vec::new(),
    }
}

fn draw_game(
    question: &Question,
    plan: &MatchPlan,
    number: u32,
    random: &mut RandomNumbers,
) -> GameResult {
    let elos: Vec<f64> =
        plan.players.iter().map(|player| question.strengths[index(player)]).collect();
    let ranks = match elos[..] {
        [one, other] => {
            let score = elo::expected_score(one - other);
            // Draws are rarer between unequal players, and never make a chance negative.
            let draws = question.draws * 4.0 * score * (1.0 - score);
            match random.unit() {
                number if number < score - draws / 2.0 => vec![1, 2],
                number if number < score + draws / 2.0 => vec![1, 1],
                _ => vec![2, 1],
            }
        }
        _ => ranks_of_many(&elos, random),
    };
    let count = plan.players.len();
    let first = plan.players.iter().zip(&ranks).filter(|(_, rank)| **rank == 1);
    GameResult {
        game: number,
        seats: plan.players.clone(),
        end: GameEnd::Played,
        scores: ranks.iter().map(|rank| count as i64 - i64::from(*rank)).collect(),
        winners: first.map(|(player, _)| player.clone()).collect(),
        ranks: ranks.into_iter().map(Some).collect(),
        luck: Vec::new(),
        voided: None,
    }
}

/// Draws the places of a game of many players, from the first on.
fn ranks_of_many(elos: &[f64], random: &mut RandomNumbers) -> Vec<u8> {
    let weight = |elo: f64| {
        let score = elo::expected_score(elo.clamp(-4_000.0, 4_000.0));
        score / (1.0 - score)
    };
    let mut weights: Vec<f64> = elos.iter().map(|elo| weight(*elo)).collect();
    let mut ranks = vec![0; elos.len()];
    for rank in 1..=elos.len() as u8 {
        let mut number = random.unit() * weights.iter().sum::<f64>();
        let open = || (0..elos.len()).filter(|at| ranks[*at] == 0);
        let mut chosen = open().next_back().unwrap_or(0);
        for at in open() {
            number -= weights[at];
            if number <= 0.0 {
                chosen = at;
                break;
            }
        }
        weights[chosen] = 0.0;
        ranks[chosen] = rank;
    }
    ranks
}

fn summary(candidate: &Candidate, format: String, runs: Vec<Run>) -> Simulated {
    let count = runs.len() as f64;
    let share = |successes: f64| {
        let Interval { low, high } = Interval::of_proportion(successes, count, 0.95);
        Estimate { value: successes / count, low, high }
    };
    let mean = |of: &dyn Fn(&Run) -> f64| {
        let values: Vec<f64> = runs.iter().map(of).collect();
        let value = values.iter().sum::<f64>() / count;
        let Interval { low, high } = match values.len() {
            0 | 1 => Interval { low: value, high: value },
            _ => Interval::of_mean(&values, 0.95),
        };
        Estimate { value, low, high }
    };
    Simulated {
        format,
        options: candidate.format.clone(),
        best_of: candidate.best_of,
        runs: runs.len() as u32,
        best_wins: share(runs.iter().map(|run| run.best_won).sum()),
        top_three: share(runs.iter().filter(|run| run.top_three).count() as f64),
        games: mean(&|run| f64::from(run.games)),
        rounds: mean(&|run| f64::from(run.rounds)).value,
        seconds: mean(&|run| run.seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(strengths: &[f64]) -> Question {
        Question {
            strengths: strengths.to_vec(),
            game: "yahtzee".into(),
            draws: 0.0,
            runs: 400,
            seed: 1,
            game_seconds: 1.0,
            concurrency: 2,
            seeding: Seeding::Random,
            threads: 2,
        }
    }

    fn candidate(name: &str, best_of: u32) -> Candidate {
        Candidate { format: Format::named(name, &(2..=2)).unwrap(), best_of }
    }

    fn simulated(strengths: &[f64], name: &str, best_of: u32) -> Simulated {
        simulate(&question(strengths), &candidate(name, best_of), &|_| true).unwrap()
    }

    #[test]
    fn two_players_win_as_often_as_their_strength_says() {
        let one = simulated(&[190.85, 0.0], "bracket", 1);
        assert!(one.best_wins.low < 0.75 && 0.75 < one.best_wins.high, "{one:?}");
        assert_eq!((one.games.value, one.seconds.value, one.rounds), (1.0, 1.0, 1.0));
    }

    #[test]
    fn equal_players_win_equally_often_whatever_their_order() {
        for name in ["bracket", "round-robin"] {
            let one = simulated(&[0.0; 5], name, 1);
            assert!(one.best_wins.low < 0.2 && 0.2 < one.best_wins.high, "{name} {one:?}");
        }
    }

    #[test]
    fn more_games_find_the_best_player_more_often() {
        let field = [150.0, 100.0, 50.0, 0.0, -50.0, -100.0, -150.0, -200.0];
        let all = [
            simulated(&field, "bracket", 1),
            simulated(&field, "bracket", 5),
            simulated(&field, "round-robin", 5),
        ];
        assert!(all[0].best_wins.high < all[1].best_wins.low, "{all:?}");
        assert!(all[1].best_wins.value < all[2].best_wins.value, "{all:?}");
        assert_eq!((all[0].games.value, all[0].rounds, all[2].rounds), (7.0, 3.0, 7.0));
        // Two at a time: 2, 1 and 1 games one after the other.
        assert_eq!(all[0].seconds.value, 4.0);
        let wanted = all[1].best_wins.low;
        assert_eq!(recommended(&all, wanted).map(|one| one.best_of), Some(5));
        assert_eq!(recommended(&all, 0.0).map(|one| one.games.value), Some(7.0));
        assert_eq!(recommended(&all, 1.1), None);
    }

    #[test]
    fn same_seed_has_the_same_answer_and_progress_counts_every_run() {
        let heard = AtomicU32::new(0);
        let count = |_: u32| {
            heard.fetch_add(1, Ordering::Relaxed);
            true
        };
        let asked = question(&[100.0, 0.0, 0.0]);
        let one = simulate(&asked, &candidate("round-robin", 3), &count).unwrap();
        let asked = Question { threads: 1, ..asked };
        let other = simulate(&asked, &candidate("round-robin", 3), &|_| true).unwrap();
        assert_eq!((one, heard.into_inner()), (other, 400));
    }

    #[test]
    fn simulation_that_is_stopped_has_fewer_runs() {
        let asked = question(&[100.0, 0.0]);
        let one = simulate(&asked, &candidate("bracket", 1), &|done| done < 50).unwrap();
        assert!((50..=52).contains(&one.runs), "{}", one.runs);
        assert_eq!(simulate(&asked, &candidate("bracket", 1), &|_| false).unwrap().runs, 1);
    }

    #[test]
    fn tables_of_many_players_are_drawn_place_by_place() {
        let asked = Question { game: "fish".into(), ..question(&[400.0, 0.0, 0.0, 0.0]) };
        let format = Format::named("knockout", &(2..=4)).unwrap();
        let one = simulate(&asked, &Candidate { format, best_of: 1 }, &|_| true).unwrap();
        // Ten to one against each of three: 10 of 13.
        assert!(one.best_wins.low < 10.0 / 13.0 && 10.0 / 13.0 < one.best_wins.high, "{one:?}");
    }

    #[test]
    fn seeds_by_rating_keep_the_best_players_apart() {
        let field = [200.0, 180.0, 0.0, 0.0, 0.0, 0.0, 0.0, -20.0];
        let by_lot = simulated(&field, "bracket", 3);
        let asked = Question { seeding: Seeding::Rating, ..question(&field) };
        let seeded = simulate(&asked, &candidate("bracket", 3), &|_| true).unwrap();
        assert!(seeded.top_three.value > by_lot.top_three.value, "{seeded:?} {by_lot:?}");
    }

    #[test]
    fn answers_name_formats_with_their_options() {
        let games = crate::registry();
        let seats = games.kind("yahtzee").unwrap().seats();
        for text in ["groups:size=3 -> bracket", "swiss:rounds=2 -> top 2", "swiss:rounds=3"] {
            let format = Format::read(text, &seats).unwrap();
            let asked = Question { runs: 2, ..question(&[0.0; 6]) };
            let one = simulate(&asked, &Candidate { format, best_of: 1 }, &|_| true).unwrap();
            assert_eq!(one.format, text);
        }
    }

    #[test]
    fn impossible_questions_say_why() {
        let why =
            |asked: Question| simulate(&asked, &candidate("bracket", 1), &|_| true).unwrap_err();
        assert!(why(question(&[1.0])).contains("a simulation needs 2 to 1000"));
        let unknown = Question { game: "chess".into(), ..question(&[1.0, 2.0]) };
        assert!(why(unknown).contains("there is no game"));
        let even = simulate(&question(&[1.0, 2.0]), &candidate("bracket", 2), &|_| true);
        assert!(even.unwrap_err().contains("odd number"));
    }
}
