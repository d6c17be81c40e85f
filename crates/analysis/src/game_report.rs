//! The analysis of one game: its steps, the sums of each player, and the costliest decisions.

use crate::model::{Change, Models, Refused, Step};
use crate::recorded::{RecordedGame, RecordingError, recorded_games};
use agon_core::{GameEnd, Line, MatchId, PlayerName, TournamentId};
use agon_games::{Registry, Seat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many of a player's decisions are listed as the costliest.
const COSTLIEST: usize = 3;

/// The analysis of one game.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GameAnalysis {
    /// The tournament.
    pub tournament: TournamentId,
    /// The match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// The game's number in the match, from 1.
    pub game: u32,
    /// The first game of the match with the same luck, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<u32>,
    /// The name of the game's rules.
    pub kind: String,
    /// The meaning of the values, and how exact they are.
    pub model: String,
    /// Of this many decisions one was examined.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub every: u32,
    /// True if the game was played to its end and counts. The luck of other games is incomplete.
    pub complete: bool,
    /// The sums of each player, by seat.
    pub players: Vec<PlayerAnalysis>,
    /// All steps, in order.
    pub steps: Vec<Step>,
}

fn one() -> u32 {
    1
}

fn is_one(every: &u32) -> bool {
    *every == 1
}

/// The luck and the costs of one player's game.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlayerAnalysis {
    /// The player.
    pub player: PlayerName,
    /// The score.
    pub score: i64,
    /// The sum of all luck; `None` if the model does not measure luck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub luck: Option<f64>,
    /// The luck of each kind of draw. In Yahtzee: of all first, second and third rolls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub luck_by_draw: Vec<f64>,
    /// The score without luck; `None` if the model does not measure luck or the game is incomplete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjusted: Option<f64>,
    /// The cost of all decisions together.
    pub cost: f64,
    /// The standard error of the cost: of the model, and of examining only some decisions. 0 if the
    /// model is exact and all decisions were examined.
    pub error: f64,
    /// How many decisions of the player were examined.
    pub decisions: u32,
    /// How many of them were not the best.
    pub mistakes: u32,
    /// The costliest decisions, worst first.
    pub costliest: Vec<Step>,
}

/// Analyses all finished games of a match, from its stream.
pub fn analyse_match(
    lines: &[Line],
    games: &Registry,
    models: &Models,
) -> Result<Vec<Result<GameAnalysis, Refused>>, RecordingError> {
    let recorded = recorded_games(lines, games)?;
    Ok(recorded.iter().map(|game| analyse_game(game, models)).collect())
}

/// Analyses one game.
pub fn analyse_game(game: &RecordedGame, models: &Models) -> Result<GameAnalysis, Refused> {
    let steps = models.steps(game)?;
    let complete = game.result.end == GameEnd::Played;
    let has_luck = models.has_luck(&game.kind);
    let every = models.every(&game.kind);
    let about = models.about(&game.kind).unwrap_or_default();
    let players = game.result.seats.iter().zip(Seat::all(game.result.seats.len()));
    let players = players.map(|(player, seat)| {
        let score = game.result.scores.get(seat.index()).copied().unwrap_or(0);
        let own = steps.iter().filter(|step| step.seat == seat);
        let mut analysis = PlayerAnalysis::sum(player.clone(), score, own, every);
        analysis.luck = analysis.luck.filter(|_| has_luck);
        analysis.adjusted =
            analysis.luck.filter(|_| complete).map(|luck| analysis.score as f64 - luck);
        analysis
    });
    Ok(GameAnalysis {
        tournament: game.tournament.clone(),
        match_id: game.match_id.clone(),
        game: game.result.game,
        duplicate_of: game.duplicate_of,
        kind: game.kind.clone(),
        model: match every {
            1 => about.to_owned(),
            _ => format!("{about}; one of {every} decisions was examined, and counts for all"),
        },
        every,
        complete,
        players: players.collect(),
        steps,
    })
}

impl PlayerAnalysis {
    /// Adds up the steps of one player, of whose decisions one of `every` was examined.
    ///
    /// Each decision was examined with the chance `1 / every`, whatever it cost. So `every` times
    /// the examined costs has the right mean, and its variance follows from their squares (the
    /// estimator of Horvitz and Thompson).
    fn sum<'a>(
        player: PlayerName,
        score: i64,
        steps: impl Iterator<Item = &'a Step>,
        every: u32,
    ) -> PlayerAnalysis {
        let every = f64::from(every);
        let (mut cost, mut variance) = (0.0, 0.0);
        let mut luck_by_draw: Vec<f64> = Vec::new();
        let (mut decisions, mut mistakes) = (0, 0);
        let mut costly: Vec<(f64, &Step)> = Vec::new();
        for step in steps {
            match &step.change {
                Change::Luck { luck: own, draw } => {
                    let draw = usize::from(*draw);
                    luck_by_draw.resize(luck_by_draw.len().max(draw + 1), 0.0);
                    luck_by_draw[draw] += own;
                }
                Change::Decision { cost: own, better } => {
                    cost += every * own;
                    variance += every * every * step.error * step.error;
                    variance += every * (every - 1.0) * own * own;
                    decisions += 1;
                    if better.is_some() {
                        mistakes += 1;
                        costly.push((*own, step));
                    }
                }
            }
        }
        costly.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let costliest = costly.into_iter().take(COSTLIEST).map(|(_, step)| step.clone()).collect();
        PlayerAnalysis {
            player,
            score,
            luck: Some(luck_by_draw.iter().sum()),
            luck_by_draw,
            adjusted: None,
            cost,
            error: f64::sqrt(variance),
            decisions,
            mistakes,
            costliest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;
    use agon_stats::RandomNumbers;

    fn decision(cost: f64, error: f64) -> Step {
        let change = Change::Decision { cost, better: None };
        let (place, what) = (String::new(), String::new());
        Step { answer: 0, seat: Seat(0), place, what, change, error }
    }

    fn sum(steps: &[Step], every: u32) -> PlayerAnalysis {
        PlayerAnalysis::sum(PlayerName::new("ann").unwrap(), 0, steps.iter(), every)
    }

    #[test]
    fn error_of_all_decisions_is_that_of_the_model() {
        let all = sum(&[decision(3.0, 0.3), decision(1.0, 0.4)], Sample::ALL.every);
        assert!((all.cost - 4.0).abs() < 1e-12 && (all.error - 0.5).abs() < 1e-12, "{all:?}");
    }

    #[test]
    fn error_of_a_sample_covers_the_decisions_that_were_not_examined() {
        let mut random = RandomNumbers::new(4);
        let costs: Vec<f64> = (0..200).map(|_| random.unit() * random.unit() * 5.0).collect();
        let truth: f64 = costs.iter().sum();
        let runs = 10_000;
        let (mut hits, mut mean) = (0, 0.0);
        for _ in 0..runs {
            let mut steps: Vec<Step> = Vec::new();
            for cost in &costs {
                if random.below(4) == 0 {
                    steps.push(decision(cost + 0.3 * random.normal(), 0.3));
                }
            }
            let own = sum(&steps, 4);
            mean += own.cost / f64::from(runs);
            hits += u32::from((own.cost - truth).abs() <= 1.96 * own.error);
        }
        let share = f64::from(hits) / f64::from(runs);
        eprintln!("cost of sampled decisions: {:.2} %", share * 100.0);
        assert!((mean / truth - 1.0).abs() < 0.01, "{mean} and {truth}");
        assert!((0.93..=0.965).contains(&share), "{share}");
    }
}
