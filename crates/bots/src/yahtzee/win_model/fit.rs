//! Fits the weights of the model to games that are played out from positions of turn ends.
//!
//! Slow, so it is ignored: `cargo nextest run -p agon-bots --run-ignored only --no-capture fit`.

use super::{CardFeatures, SHIFT, Spread, VARIANCE, Weights, student4};
use crate::SplitMix64;
use crate::yahtzee::playing::{MeanPlayer, TurnDice, ends};
use crate::yahtzee::{Card, Rule, Table, table};
use agon_games::yahtzee::DiceSource;

/// A position between two turns, and the end of the game from there.
struct Sample {
    spread: Spread,
    mean: f64,
    /// The final difference of points.
    end: f64,
}

fn dice(random: &mut SplitMix64) -> TurnDice {
    std::array::from_fn(|_| 1 + random.below(6) as u8)
}

/// One turn; `slips` times in a thousand the player fills a random box.
fn turn(
    table: &Table,
    card: &Card,
    dice: &TurnDice,
    slips: u64,
    random: &mut SplitMix64,
) -> (Card, f64) {
    let mut player = MeanPlayer::new(table, card).expect("a card that is not full");
    let mut end = player.play(dice);
    if random.chance(slips) {
        let number = player.keeps().play(dice);
        let all: Vec<_> = ends(table.rule(), card, number).collect();
        let value = |at: &usize| f64::from(all[*at].points) + table.value(&all[*at].card);
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|a, b| value(b).total_cmp(&value(a)));
        end = all[order[random.index(order.len().min(3))]];
    }
    (end.card, f64::from(end.points))
}

fn samples(count: usize, source: DiceSource, random: &mut SplitMix64) -> Vec<Sample> {
    let table = table(Rule::Tournament);
    let mut samples = Vec::with_capacity(count);
    while samples.len() < count {
        let turns = 1 + random.index(12);
        let (mut cards, mut points) = ([Card::EMPTY; 2], [0.0; 2]);
        let mut start = None;
        for at in 0..13 {
            if at == turns {
                start = Some((cards, points));
            }
            let own = dice(random);
            let other = match source {
                DiceSource::Duplicate => own,
                DiceSource::Independent => dice(random),
            };
            let slips = if at < turns { 300 } else { 0 };
            for (seat, dice) in [own, other].iter().enumerate() {
                let (card, more) = turn(table, &cards[seat], dice, slips, random);
                cards[seat] = card;
                points[seat] += more;
            }
        }
        let (at, scored) = start.expect("a turn was reached");
        if at[0] == at[1] && source == DiceSource::Duplicate {
            continue;
        }
        let value = |seat: usize| table.value(&at[seat]);
        let mean = value(0) - value(1);
        let end = (points[0] - scored[0] + table.value(&cards[0]))
            - (points[1] - scored[1] + table.value(&cards[1]));
        // Any difference so far is as good as another, so take one that makes the game close.
        let offset = (random.between(0, 120) as f64 - 60.0 - mean).round();
        let [own, other] = at.map(|card| CardFeatures::of(&card));
        samples.push(Sample {
            spread: Spread::of(&own, &other),
            mean: mean + offset,
            end: end + offset,
        });
    }
    samples
}

/// The mean loss (negative log-likelihood), and its gradient by numeric parts.
fn fit(samples: &[Sample], start: &Weights) -> (Weights, f64) {
    let mut weights = [0.0; VARIANCE + SHIFT];
    weights[..VARIANCE].copy_from_slice(&start.variance);
    weights[VARIANCE..].copy_from_slice(&start.shift);
    let (mut first, mut second) = ([0.0; VARIANCE + SHIFT], [0.0; VARIANCE + SHIFT]);
    let mut last = 0.0;
    for step in 1..=400 {
        let mut gradient = [0.0; VARIANCE + SHIFT];
        let mut loss = 0.0;
        for Sample { spread, mean, end } in samples {
            let variance: f64 = 1.0
                + (0..VARIANCE)
                    .map(|at| weights[at] * weights[at] * spread.variance[at])
                    .sum::<f64>();
            let shift: f64 = (0..SHIFT).map(|at| weights[VARIANCE + at] * spread.shift[at]).sum();
            let scale = variance.sqrt();
            let t = (mean + shift) / scale;
            let chance = student4(t).clamp(1e-6, 1.0 - 1e-6);
            let won = if *end > 0.5 {
                1.0
            } else if *end < -0.5 {
                0.0
            } else {
                0.5
            };
            loss -= won * chance.ln() + (1.0 - won) * (1.0 - chance).ln();
            let density = 0.375 * (1.0 + t * t / 4.0).powf(-2.5);
            let by_t = (chance - won) / (chance * (1.0 - chance)) * density;
            for at in 0..VARIANCE {
                gradient[at] -= by_t * t / variance * weights[at] * spread.variance[at];
            }
            for at in 0..SHIFT {
                gradient[VARIANCE + at] += by_t / scale * spread.shift[at];
            }
        }
        let rate = 0.3 * (1.0 - f64::from(step) / 420.0);
        for at in 0..VARIANCE + SHIFT {
            let slope = gradient[at] / samples.len() as f64;
            first[at] = 0.9 * first[at] + 0.1 * slope;
            second[at] = 0.99 * second[at] + 0.01 * slope * slope;
            weights[at] -= rate * first[at] / (second[at].sqrt() + 1e-8);
        }
        last = loss / samples.len() as f64;
    }
    let weights = Weights {
        variance: std::array::from_fn(|at| weights[at].abs()),
        shift: std::array::from_fn(|at| weights[VARIANCE + at]),
    };
    (weights, last)
}

#[test]
#[ignore = "takes minutes and prints weights"]
fn fit_the_weights_to_games_played_out() {
    let count = std::env::var("AGON_FIT_SAMPLES").ok().and_then(|text| text.parse().ok());
    let count = count.unwrap_or(40_000);
    for source in [DiceSource::Duplicate, DiceSource::Independent] {
        let mut random = SplitMix64::new(7);
        let all = samples(count, source, &mut random);
        let (learn, check) = all.split_at(count * 4 / 5);
        let (weights, loss) = fit(learn, Weights::of(source));
        let shown = |values: &[f64]| {
            values.iter().map(|value| format!("{value:.1}")).collect::<Vec<_>>().join(", ")
        };
        eprintln!("{source:?}: loss {loss:.4}");
        eprintln!("variance: [{}]", shown(&weights.variance));
        eprintln!("shift: [{}]", shown(&weights.shift));
        // Calibration on positions that were not used for the fit.
        let mut bins = [(0.0, 0.0, 0u32); 10];
        for Sample { spread, mean, end } in check {
            let variance: f64 = 1.0
                + (0..VARIANCE)
                    .map(|at| weights.variance[at].powi(2) * spread.variance[at])
                    .sum::<f64>();
            let shift: f64 = (0..SHIFT).map(|at| weights.shift[at] * spread.shift[at]).sum();
            let chance = student4((mean + shift) / variance.sqrt());
            let won = if *end > 0.5 {
                1.0
            } else if *end < -0.5 {
                0.0
            } else {
                0.5
            };
            let bin = &mut bins[((chance * 10.0) as usize).min(9)];
            *bin = (bin.0 + chance, bin.1 + won, bin.2 + 1);
        }
        for (chance, won, count) in bins {
            let count_f = f64::from(count.max(1));
            eprintln!("  predicted {:.3}, won {:.3} of {count}", chance / count_f, won / count_f);
        }
    }
}
