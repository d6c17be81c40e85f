//! Formats compared by simulation, for organisers who choose one.

use super::caller::Caller;
use super::problem::Problem;
use super::{Answer, Web, archive};
use agon_analysis::simulate::{Candidate, Question, Simulated, recommended, simulate};
use agon_core::Format;
use axum::Json;
use axum::extract::{Query, State};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The most players, and the most tournaments of all candidates together.
const PLAYERS_MAX: usize = 32;
const TOURNAMENTS_MAX: usize = 10_000;

/// How long a simulation may take. Candidates share it; those that need more have fewer runs.
const TIME_MAX: Duration = Duration::from_secs(3);

/// Which players and formats.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Simulating {
    /// The strengths of the players in Elo, separated by commas.
    #[serde(default)]
    strengths: String,
    /// Names of formats, separated by commas; all unless said.
    #[serde(default)]
    formats: String,
    /// Best of how many games a match is, separated by commas; `1,3,5` unless said.
    #[serde(default)]
    best_of: String,
    /// How often the best player should win, in percent; 80 unless said.
    #[serde(default)]
    want: Option<f64>,
    /// The most tournaments to simulate for each candidate; 200 unless said.
    #[serde(default)]
    runs: Option<u32>,
}

/// How often each format finds the best player.
#[derive(Serialize, JsonSchema)]
pub(super) struct Simulation {
    /// Every format with every length of a match.
    simulated: Vec<Simulated>,
    /// The cheapest that is good enough, as an index; absent if none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    recommended: Option<usize>,
}

pub(super) async fn simulation(
    State(web): State<Web>,
    Query(asked): Query<Simulating>,
    who: Result<Caller, Problem>,
) -> Answer {
    who?;
    let wanted = asked.want.unwrap_or(80.0) / 100.0;
    let (question, candidates) = read(&asked).map_err(Problem::unprocessable)?;
    let answer = archive::read(&web, move |_| {
        let share = TIME_MAX / candidates.len().max(1) as u32;
        let simulated = candidates.iter().map(|one| {
            let started = Instant::now();
            simulate(&question, one, &|_| started.elapsed() < share)
        });
        // Formats that cannot be played by so many players are left out.
        let simulated: Vec<Simulated> = simulated.filter_map(Result::ok).collect();
        let best = recommended(&simulated, wanted);
        let recommended = best.and_then(|best| simulated.iter().position(|one| one == best));
        Some(Simulation { simulated, recommended })
    });
    Ok(Json(answer.await?).into_response())
}

fn read(asked: &Simulating) -> Result<(Question, Vec<Candidate>), String> {
    let parts = |text: &str| -> Vec<String> {
        let parts = text.split(',').map(|part| part.trim().to_owned());
        parts.filter(|part| !part.is_empty()).collect()
    };
    let strengths = parts(&asked.strengths).iter().map(|part| part.parse::<f64>()).collect();
    let strengths: Vec<f64> = Result::unwrap_or_default(strengths);
    let is_elo = |elo: &f64| (-10_000.0..=10_000.0).contains(elo);
    if !(2..=PLAYERS_MAX).contains(&strengths.len()) || !strengths.iter().all(is_elo) {
        return Err(format!("give the strengths of 2 to {PLAYERS_MAX} players, such as 100,50,0"));
    }
    let seats = 2..=2;
    let formats: Vec<Format> = match parts(&asked.formats) {
        names if names.is_empty() => Format::all(&seats),
        names => {
            let named = |name: &String| {
                let known: Vec<&str> = Format::all(&seats).iter().map(Format::name).collect();
                let known = known.join(", ");
                Format::named(name, &seats)
                    .ok_or_else(|| format!("there is no format {name:?}; there are: {known}"))
            };
            names.iter().map(named).collect::<Result<_, String>>()?
        }
    };
    let best_of = match parts(&asked.best_of) {
        numbers if numbers.is_empty() => Ok(vec![1, 3, 5]),
        numbers => numbers.iter().map(|number| number.parse::<u32>()).collect(),
    };
    let best_of = best_of.map_err(|_| "best_of holds odd numbers, such as 1,3".to_owned())?;
    let runs = asked.runs.unwrap_or(200);
    let tournaments = formats.len() * best_of.len() * runs as usize;
    if !(2..=TOURNAMENTS_MAX).contains(&tournaments) || best_of.len() > 10 {
        return Err(format!(
            "{tournaments} tournaments are too many (limit {TOURNAMENTS_MAX}); simulate fewer \
             formats or runs, or use `agon format simulate`"
        ));
    }
    let question = Question {
        strengths,
        game: "yahtzee".into(),
        draws: 0.0,
        runs,
        seed: 1,
        game_seconds: 1.0,
        concurrency: 1,
        threads: 1,
    };
    let each = formats.into_iter().flat_map(|format| {
        best_of.iter().map(move |best_of| Candidate { format: format.clone(), best_of: *best_of })
    });
    Ok((question, each.collect()))
}
