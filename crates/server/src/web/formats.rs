//! Formats compared by simulation, for organisers who choose one.

use super::caller::Caller;
use super::problem::Problem;
use super::{Answer, Web, archive};
use agon_analysis::simulate::{Candidate, Question, Seeding, Simulated, recommended, simulate};
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
    /// The strengths of the players in Elo, separated by commas or lines. A line may be one of a
    /// rating list: `player,rating`.
    #[serde(default)]
    strengths: String,
    /// Formats with their options, separated by commas, such as `bracket,groups:size=3 -> top 2`;
    /// all unless said.
    #[serde(default)]
    formats: String,
    /// The game, which limits how many players a match may have; `yahtzee` unless said.
    #[serde(default)]
    game: Option<String>,
    /// The most players of a match in formats that do not say it; 2 unless said.
    #[serde(default)]
    seats: Option<usize>,
    /// `random` puts players into slots by lot, which is usual; `rating` seeds them by strength.
    #[serde(default)]
    pairing: Seeding,
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
    let strengths = strengths(&asked.strengths).unwrap_or_default();
    let is_elo = |elo: &f64| (-10_000.0..=10_000.0).contains(elo);
    if !(2..=PLAYERS_MAX).contains(&strengths.len()) || !strengths.iter().all(is_elo) {
        return Err(format!("give the strengths of 2 to {PLAYERS_MAX} players, such as 100,50,0"));
    }
    let game = asked.game.clone().unwrap_or_else(|| "yahtzee".into());
    let seats = 2..=seats_max(&game, asked.seats.unwrap_or(2))?;
    let formats = match asked.formats.trim() {
        "" => Format::all(&seats),
        text => Format::read_list(text, &seats)?,
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
        game,
        draws: 0.0,
        runs,
        seed: 1,
        game_seconds: 1.0,
        concurrency: 1,
        seeding: asked.pairing,
        threads: 1,
    };
    let each = formats.into_iter().flat_map(|format| {
        best_of.iter().map(move |best_of| Candidate { format: format.clone(), best_of: *best_of })
    });
    Ok((question, each.collect()))
}

/// The numbers of a list, or the last column of a rating list; `None` if one is no number.
fn strengths(text: &str) -> Option<Vec<f64>> {
    let mut all = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let numbers: Vec<Option<f64>> = cells.iter().map(|cell| cell.parse().ok()).collect();
        match &numbers[..] {
            [None, Some(rating)] => all.push(*rating),
            [None, None] if all.is_empty() => {}
            numbers => all.extend(numbers.iter().copied().collect::<Option<Vec<f64>>>()?),
        }
    }
    Some(all)
}

/// The most players of a match: as many as asked, if the game has so many seats.
fn seats_max(game: &str, asked: usize) -> Result<usize, String> {
    let games = agon_analysis::registry();
    let kind = games.kind(game).ok_or_else(|| {
        format!("there is no game {game:?}; there are: {}", games.names().join(", "))
    })?;
    let most = *kind.seats().end();
    match (2..=most).contains(&asked) {
        true => Ok(asked),
        false => Err(format!("a match of {game} has 2 to {most} players, not {asked}")),
    }
}

#[cfg(test)]
mod tests {
    use super::strengths;

    #[test]
    fn strengths_are_numbers_or_a_rating_list() {
        assert_eq!(strengths("100, 50,-20"), Some(vec![100.0, 50.0, -20.0]));
        assert_eq!(strengths("player,rating\nann,1612.5\nbob, 1400\n"), Some(vec![1612.5, 1400.0]));
        assert_eq!(strengths("100\n0\n"), Some(vec![100.0, 0.0]));
        assert_eq!((strengths("100,many"), strengths("ann,1\nplayer,rating")), (None, None));
    }
}
