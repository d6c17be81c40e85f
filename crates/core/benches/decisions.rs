//! The cost of the machines: decisions per second through referee, match and in-memory log, beside
//! the bare rules with the same answers, and a log's events per second through `verify`.
//!
//! `cargo bench -p agon-core`. Medians of interleaved rounds on one core; the ratio in each line
//! is of figures from the same rounds.
#![expect(clippy::print_stdout, reason = "a bench prints")]

use agon_bots::Houses;
use agon_core::verify;
use agon_core::{
    Event, Match, MatchCommand, MatchId, MatchPlan, PlayerName, Preset, Raw, Secret, Secrets,
    Timestamp, TournamentId, record_lines,
};
use agon_games::{Game, Registry, Seat, Seed, fish, trains, yahtzee};
use agon_store::{Append, Log, MemoryLog};
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;
const GAMES: u32 = 60;

/// A match that was played, as commands and as the lines they gave.
struct Recorded {
    plan: MatchPlan,
    secret: Secret,
    commands: Vec<MatchCommand>,
    lines: Vec<String>,
    decisions: u64,
}

fn plan(preset: &Preset, number: u32, seats: usize) -> MatchPlan {
    let games = Registry::standard();
    let kind = games.kind(preset.game).expect("a preset's game");
    let mut rules = preset.policy.rules.clone();
    rules.confirm_result = false;
    MatchPlan {
        tournament: TournamentId::from("bench"),
        id: MatchId::of(1, number),
        round: 1,
        players: (0..seats).map(|at| PlayerName::new(&format!("p{at}")).unwrap()).collect(),
        reason: "bench".into(),
        game: preset.game.into(),
        config: Raw(kind.default_config()),
        rules,
    }
}

/// Plays a match between random house players and keeps what was said.
fn record(preset: &Preset, number: u32, seats: usize) -> Recorded {
    let (games, houses) = (Registry::standard(), Houses::standard());
    let plan = plan(preset, number, seats);
    let kind = games.kind(&plan.game).expect("a preset's game").clone();
    let secret = Secret::from_seed_number(u64::from(number));
    let (mut played, first) =
        Match::create(plan.clone(), kind, Secrets::Known(secret.clone()), Timestamp::default())
            .unwrap();
    let mut lines = record_lines("match/bench/m", 0, Timestamp::default(), &[first]);
    let mut commands: Vec<MatchCommand> = Vec::new();
    let mut take = |played: &mut Match, lines: &mut Vec<String>, command: MatchCommand| {
        let events = played.step(Timestamp::default(), command.clone()).unwrap();
        lines.extend(record_lines(
            "match/bench/m",
            lines.len() as u64,
            Timestamp::default(),
            &events,
        ));
        commands.push(command);
    };
    for player in plan.players.clone() {
        take(&mut played, &mut lines, MatchCommand::Arrive { player, nonce: None });
    }
    let mut house = houses.make(&plan.game, "random").unwrap();
    let mut decisions = 0;
    while let Some(pending) = played.pending().into_iter().next() {
        let agon_core::Ask::Game(seat) = pending.ask else { unreachable!("nothing to confirm") };
        let game = played.referee().unwrap().game();
        let answer = house.answer(pending.player.as_str(), pending.id.as_str(), seat, game);
        let (player, request) = (pending.player, pending.id);
        let answer = answer.get().to_owned();
        take(
            &mut played,
            &mut lines,
            MatchCommand::Answer { player, request, answer, took_ms: Some(0) },
        );
        decisions += 1;
    }
    Recorded { plan, secret, commands, lines, decisions }
}

/// Plays the recorded commands again through match and log.
fn through_machines(recorded: &[Recorded], games: &Registry) -> Duration {
    // Shells hand their commands over; copies made here are no part of the work.
    let commands: Vec<Vec<MatchCommand>> =
        recorded.iter().map(|one| one.commands.clone()).collect();
    let started = Instant::now();
    for (one, commands) in recorded.iter().zip(commands) {
        let log = MemoryLog::default();
        let kind = games.kind(&one.plan.game).expect("a preset's game").clone();
        let secrets = Secrets::Known(one.secret.clone());
        let (mut played, first) =
            Match::create(one.plan.clone(), kind, secrets, Timestamp::default()).unwrap();
        let mut version = 0;
        let mut commit = |events: &[Event]| {
            let lines = record_lines("match/bench/m", version, Timestamp::default(), events);
            let stream = "match/bench/m".to_owned();
            version =
                log.append(Append { stream: stream.into(), expected: version, lines }).unwrap();
        };
        commit(&[first]);
        for command in commands {
            commit(&played.step(Timestamp::default(), command).unwrap());
            // The queries that a shell makes after every step.
            black_box(played.pending());
        }
        assert!(played.result().is_some(), "the recorded match ends");
    }
    started.elapsed()
}

/// The answers of recorded matches for the bare rules.
fn answers<G: Game>(recorded: &[Recorded]) -> Vec<Vec<(Seat, G::Answer)>> {
    let of_one = |one: &Recorded| {
        let lines = verify::read(&one.lines).unwrap();
        let accepted = lines.iter().filter_map(|line| match &line.event {
            Event::AnswerAccepted(accepted) => {
                Some((accepted.seat, serde_json::from_str(accepted.answer.get()).unwrap()))
            }
            _ => None,
        });
        accepted.collect()
    };
    recorded.iter().map(of_one).collect()
}

/// The same answers through the rules alone. Only the first game of a match: luck is its own.
fn bare<G: Game>(recorded: &[Recorded], answers: &[Vec<(Seat, G::Answer)>]) -> Duration {
    let seeds: Vec<Seed> = recorded
        .iter()
        .map(|one| {
            let game = one.secret.of_game(1);
            let nonces = vec![None; one.plan.players.len()];
            game.game_seed(&one.plan.tournament, &one.plan.id, 1, &nonces)
        })
        .collect();
    let configs: Vec<G::Config> =
        recorded.iter().map(|one| serde_json::from_str(one.plan.config.get()).unwrap()).collect();
    let started = Instant::now();
    for (((one, seed), config), answers) in recorded.iter().zip(&seeds).zip(&configs).zip(answers) {
        let mut game = G::new(config, one.plan.players.len(), seed).unwrap();
        for (seat, answer) in answers {
            game.apply(*seat, answer).unwrap();
        }
        assert!(game.outcome().is_some(), "the recorded game ends");
    }
    started.elapsed()
}

fn verified(recorded: &[Recorded], games: &Registry) -> (Duration, u64) {
    let mut events = 0;
    let started = Instant::now();
    for one in recorded {
        let lines = verify::read(&one.lines).unwrap();
        events += verify::verify_match(&lines, games, None).unwrap().events;
    }
    (started.elapsed(), events)
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn bench<G: Game>(preset: &str, seats: usize) {
    let games = Registry::standard();
    let preset = Preset::named(preset).unwrap();
    // Matches of one game, so that the bare rules can follow with the first game's luck alone.
    let recorded: Vec<Recorded> = (1..=GAMES)
        .map(|number| record(&preset, number, seats))
        .filter(|one| one.lines.iter().filter(|line| line.contains("game-started")).count() == 1)
        .collect();
    let answers = answers::<G>(&recorded);
    let decisions: u64 = recorded.iter().map(|one| one.decisions).sum();
    let (mut machines, mut rules, mut checks) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let rate = |time: Duration, count: u64| count as f64 / time.as_secs_f64();
        machines.push(rate(through_machines(&recorded, &games), decisions));
        rules.push(rate(bare::<G>(&recorded, &answers), decisions));
        let (time, events) = verified(&recorded, &games);
        checks.push(rate(time, events));
    }
    let overhead: Vec<f64> =
        machines.iter().zip(&rules).map(|(machine, rules)| 1e9 / machine - 1e9 / rules).collect();
    let ratio: Vec<f64> = machines.iter().zip(&rules).map(|(a, b)| b / a).collect();
    println!(
        "{:<8} {seats} players  {:>9.0} decisions/s through match and log  {:>11.0}/s bare rules  \
         ratio 1:{:<5.1} overhead {:>5.0} ns  verify {:>9.0} events/s",
        G::NAME,
        median(machines),
        median(rules),
        median(ratio),
        median(overhead),
        median(checks),
    );
}

fn main() {
    bench::<yahtzee::Yahtzee>("yahtzee-class", 2);
    bench::<fish::Fish>("fish", 2);
    bench::<trains::Trains>("trains", 3);
}
