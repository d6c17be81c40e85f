//! Strengths of players as text: Elo with intervals, who is better than whom, how sure the podium is.

use super::{paint, table};
use agon_core::{ComparedPair, Comparison, EloInterval, TestResult, TestVerdict};
use std::fmt::Write;

/// The most players and pairs that are listed.
const SHOWN: usize = 20;

/// The comparison as text; empty if no game says anything.
pub(crate) fn comparison(comparison: &Comparison, colour: bool) -> String {
    let mut out = String::new();
    if comparison.pairs.is_empty() {
        return out;
    }
    if comparison.players.len() > 2 {
        let _ = writeln!(out, "{}", strengths(comparison, colour));
    }
    if comparison.pairs.len() <= SHOWN && comparison.players.len() <= 4 {
        for pair in &comparison.pairs {
            let _ = writeln!(out, "{}", versus(pair));
        }
    }
    if comparison.players.len() > 4 {
        let _ = writeln!(out, "{}", pairs(comparison, colour));
    }
    for test in comparison.pairs.iter().filter_map(|pair| pair.test.as_ref()) {
        let _ = writeln!(out, "{}", paint(&verdict(test), "1", colour));
    }
    if let Some(podium) = comparison.podium.as_ref().filter(|podium| podium.players.len() > 2) {
        let names: Vec<&str> = podium.players.iter().map(|player| player.as_str()).collect();
        let _ = writeln!(
            out,
            "How sure is this podium? {} is the strongest: {}; {} are the top {}: {}, in this \
             order: {}.",
            names[0],
            percent(podium.winner),
            names.join(", "),
            names.len(),
            percent(podium.set),
            percent(podium.order),
        );
    }
    out.push('\n');
    out
}

fn strengths(comparison: &Comparison, colour: bool) -> String {
    let head = ["rank", "player", "games", "score", "Elo", "95 %", "performance"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for player in comparison.players.iter().take(SHOWN) {
        let elo = player.elo.as_ref();
        rows.push(vec![
            player.rank.to_string(),
            player.player.to_string(),
            player.games.to_string(),
            match player.games {
                0 => String::new(),
                games => percent(player.points / f64::from(games)),
            },
            elo.map_or(String::new(), |elo| number(elo.value)),
            elo.map_or(String::new(), interval),
            player.performance.map_or(String::new(), |elo| number(Some(elo))),
        ]);
    }
    table(&rows, &[0, 2, 3, 4, 5, 6], colour)
}

/// Everybody against everybody, a line for each pair.
fn pairs(comparison: &Comparison, colour: bool) -> String {
    let head = ["player", "against", "won", "drawn", "lost", "Elo", "95 %", "stronger"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for pair in comparison.pairs.iter().take(SHOWN) {
        rows.push(vec![
            pair.one.to_string(),
            pair.other.to_string(),
            pair.won.to_string(),
            pair.drawn.to_string(),
            pair.lost.to_string(),
            number(pair.elo.value),
            interval(&pair.elo),
            percent(pair.superiority),
        ]);
    }
    let mut text = table(&rows, &[2, 3, 4, 5, 6, 7], colour);
    let rest = comparison.pairs.len().saturating_sub(SHOWN);
    if rest > 0 {
        let _ = writeln!(text, "… and {rest} more pairs: agon export --what pairs");
    }
    text
}

/// Two players in one line.
fn versus(pair: &ComparedPair) -> String {
    let ComparedPair { one, other, won, drawn, lost, .. } = pair;
    let pairs = pair.pairs.map_or(String::new(), |counts| format!(", pairs {counts:?}"));
    let elo = match pair.elo.value {
        Some(value) => format!("{value:+.1} ({})", interval(&pair.elo)),
        None => format!("unlimited ({})", interval(&pair.elo)),
    };
    let superiority = percent(pair.superiority);
    format!(
        "{one} – {other}: {won} won, {drawn} drawn, {lost} lost{pairs} · Elo {elo} · {one} is \
         stronger: {superiority}"
    )
}

fn verdict(test: &TestResult) -> String {
    let [elo0, elo1] = [test.rule.elo0, test.rule.elo1].map(f64::from);
    let outcome = match test.verdict {
        Some(TestVerdict::H1) => format!("{} is at least {elo1} Elo stronger (H1)", test.player),
        Some(TestVerdict::H0) => format!("{} is not {elo1} Elo stronger (H0)", test.player),
        None => "no verdict".into(),
    };
    format!(
        "SPRT [{elo0}, {elo1}]: {outcome} · LLR {:.2} ({:.2}, {:.2})",
        test.llr, test.lower, test.upper
    )
}

fn interval(elo: &EloInterval) -> String {
    let bound = |value: Option<f64>, infinite: &str| {
        value.map_or_else(|| infinite.to_owned(), |value| format!("{value:+.0}"))
    };
    format!("{} to {}", bound(elo.low, "–∞"), bound(elo.high, "+∞"))
}

fn number(value: Option<f64>) -> String {
    // Adding zero turns -0 into +0.
    value.map_or(String::new(), |value| format!("{:+.0}", value.round() + 0.0))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
