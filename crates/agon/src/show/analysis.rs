//! The analysis of games as text: points with and without luck, and the costliest decisions.

use super::{paint, table};
use crate::command::Analysis;
use agon_analysis::{AdjustedStandings, Change, Estimate, GameAnalysis, PlayerAnalysis, Step};
use std::fmt::Write;

/// How many costly decisions of each player are listed for several games.
const SHOWN: usize = 3;

/// How many games are listed one by one.
const GAMES_SHOWN: usize = 20;

/// The analysis as text; `with_steps` lists every step.
pub(crate) fn analysis(analysis: &Analysis, with_steps: bool, colour: bool) -> String {
    let mut out = String::new();
    if let [game] = &analysis.games[..] {
        out.push_str(&one_game(game, with_steps, colour));
    } else {
        for game in analysis.games.iter().take(GAMES_SHOWN) {
            match with_steps {
                true => out.push_str(&one_game(game, true, colour)),
                false => out.push_str(&in_short(game)),
            }
        }
        let rest = analysis.games.len().saturating_sub(GAMES_SHOWN);
        if rest > 0 {
            let _ = writeln!(out, "… and {rest} more games; --json has all of them");
        }
        out.push('\n');
        out.push_str(&standings(&analysis.standings, colour));
        out.push_str(&costs(&analysis.standings, colour));
        out.push_str(&costliest(&analysis.games, colour));
    }
    for refused in analysis.refused.iter().take(GAMES_SHOWN) {
        let (id, game, why) = (&refused.match_id, refused.game, &refused.why);
        let _ = writeln!(out, "Not analysed: game {game} of {id}: {why}");
    }
    if let Some(game) = analysis.games.first() {
        let _ = writeln!(out, "Values: {}", game.model);
    }
    out
}

/// Points per game with and without luck, with 95 % intervals; empty without a player.
pub(crate) fn standings(standings: &AdjustedStandings, colour: bool) -> String {
    if standings.players.is_empty() {
        return String::new();
    }
    let head = ["player", "games", "points per game", "without luck", "luck", "cost"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for player in &standings.players {
        rows.push(vec![
            player.player.to_string(),
            player.games.to_string(),
            estimate(&player.raw),
            estimate(&player.adjusted),
            format!("{:+.1}", player.luck),
            format!("{:.1}", player.cost),
        ]);
    }
    let title = paint("Luck and skill (95 % intervals)", "1", colour);
    let mut out = format!("{title}\n{}", table(&rows, &[1, 2, 3, 4, 5], colour));
    let pairs: Vec<_> = standings.pairs.iter().filter(|pair| pair.games > 1).collect();
    for pair in pairs.iter().take(GAMES_SHOWN) {
        let (raw, adjusted) = (signed(&pair.raw), signed(&pair.adjusted));
        let (player, opponent, games) = (&pair.player, &pair.opponent, pair.games);
        let _ = writeln!(
            out,
            "{player} – {opponent}, {games} games: {raw} points per game, {adjusted} without luck"
        );
    }
    out.push('\n');
    out
}

/// The costs of decisions, with 95 % intervals; empty without an examined decision.
fn costs(standings: &AdjustedStandings, colour: bool) -> String {
    if standings.costs.is_empty() {
        return String::new();
    }
    let head = ["player", "games", "decisions", "mistakes", "cost per decision", "cost per game"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for one in &standings.costs {
        let reach = |of: &Estimate| {
            of.interval
                .map_or_else(String::new, |[low, high]| format!(" ± {:.3}", (high - low) / 2.0))
        };
        rows.push(vec![
            one.player.to_string(),
            one.games.to_string(),
            one.decisions.to_string(),
            one.mistakes.to_string(),
            format!("{:.3}{}", one.per_decision.mean, reach(&one.per_decision)),
            estimate(&one.per_game),
        ]);
    }
    let title = paint("Cost of decisions (95 % intervals)", "1", colour);
    format!("{title}\n{}\n", table(&rows, &[1, 2, 3, 4, 5], colour))
}

fn estimate(of: &Estimate) -> String {
    format!("{:.1}{}", of.mean, reach(of))
}

fn signed(of: &Estimate) -> String {
    format!("{:+.1}{}", of.mean, reach(of))
}

fn reach(of: &Estimate) -> String {
    of.interval.map_or_else(String::new, |[low, high]| format!(" ± {:.1}", (high - low) / 2.0))
}

/// The 95 % reach of a normal estimate with this standard error.
const REACH: f64 = 1.96;

/// One game in one line.
fn in_short(game: &GameAnalysis) -> String {
    let players = game.players.iter().map(|player| {
        let PlayerAnalysis { player: name, score, cost, .. } = player;
        let luck = player.luck.map_or_else(String::new, |luck| format!("luck {luck:+.1}, "));
        format!("{name} {score} ({luck}cost {cost:.1})")
    });
    let players = players.collect::<Vec<_>>().join(" · ");
    let end = if game.complete { "" } else { " · not played to its end" };
    format!("{} game {}: {players}{end}\n", game.match_id, game.game)
}

/// The luck and skill of each player in one game, a line each.
pub(crate) fn luck_of_game(game: &GameAnalysis) -> String {
    let mut out = String::new();
    for player in &game.players {
        if let (Some(luck), Some(adjusted)) = (player.luck, player.adjusted) {
            let PlayerAnalysis { player: name, score, cost, .. } = player;
            let _ = writeln!(
                out,
                "  {name}: {score} points, {adjusted:.1} without luck ({luck:+.1}); decisions \
                 cost {cost:.1}"
            );
        }
    }
    out
}

fn one_game(game: &GameAnalysis, with_steps: bool, colour: bool) -> String {
    let names: Vec<&str> = game.players.iter().map(|player| player.player.as_str()).collect();
    let head = format!(
        "{} of {}, game {}: {}",
        game.match_id,
        game.tournament,
        game.game,
        names.join(" – ")
    );
    let mut out = format!("{}\n", paint(&head, "1", colour));
    if !game.complete {
        out.push_str("The game was not played to its end, so its luck is incomplete.\n");
    }
    out.push('\n');
    if with_steps {
        out.push_str(&steps(game, colour));
    }
    let head = ["player", "score", "luck", "without luck", "cost", "decisions", "mistakes"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for player in &game.players {
        let points = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.1}"));
        rows.push(vec![
            player.player.to_string(),
            player.score.to_string(),
            player.luck.map_or_else(String::new, |luck| format!("{luck:+.1}")),
            points(player.adjusted),
            cost(player.cost, player.error),
            player.decisions.to_string(),
            player.mistakes.to_string(),
        ]);
    }
    let _ = writeln!(out, "{}", table(&rows, &[1, 2, 3, 4, 5, 6], colour));
    if game.players.iter().any(|player| player.error > 0.0) {
        out.push_str("± is the 95 % interval of a cost.\n\n");
    }
    out.push_str(&costliest(std::slice::from_ref(game), colour));
    out
}

fn cost(value: f64, error: f64) -> String {
    if error > 0.0 { format!("{value:.1} ± {:.1}", REACH * error) } else { format!("{value:.1}") }
}

/// Every step of a game.
fn steps(game: &GameAnalysis, colour: bool) -> String {
    let head = ["player", "luck", "cost", "", "what happened", "better"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for step in &game.steps {
        let player = game.players.get(step.seat.index()).map(|own| own.player.to_string());
        let (luck, cost, better) = match &step.change {
            Change::Luck { luck, .. } => (format!("{luck:+.2}"), String::new(), None),
            Change::Decision { cost, better: None } if *cost == 0.0 => {
                (String::new(), "0".into(), None)
            }
            Change::Decision { cost, better } => {
                (String::new(), format!("{cost:.2}"), better.clone())
            }
        };
        let better = better.unwrap_or_default();
        let (place, what) = (step.place.clone(), step.what.clone());
        rows.push(vec![player.unwrap_or_default(), luck, cost, place, what, better]);
    }
    format!("{}\n", table(&rows, &[1, 2], colour))
}

/// The costliest decisions of each player over all games.
fn costliest(games: &[GameAnalysis], colour: bool) -> String {
    let mut worst: Vec<(&str, f64, &GameAnalysis, &Step)> = Vec::new();
    for game in games {
        for player in &game.players {
            for step in &player.costliest {
                if let Change::Decision { cost, .. } = step.change {
                    worst.push((player.player.as_str(), cost, game, step));
                }
            }
        }
    }
    if worst.is_empty() {
        return String::new();
    }
    worst.sort_by(|a, b| a.0.cmp(b.0).then(b.1.total_cmp(&a.1)));
    let mut out = format!("{}\n", paint("Costliest decisions", "1", colour));
    let (mut latest, mut count) = ("", 0);
    for (player, cost, game, step) in worst {
        count = if player == latest { count + 1 } else { 1 };
        latest = player;
        if count > SHOWN {
            continue;
        }
        let place = match games {
            [_] => step.place.clone(),
            _ => format!("{} game {}, {}", game.match_id, game.game, step.place),
        };
        let better = match &step.change {
            Change::Decision { better: Some(better), .. } => format!("; better: {better}"),
            _ => String::new(),
        };
        let _ = writeln!(out, "  {player} −{cost:.1}  {place}: {}{better}", step.what);
    }
    out.push('\n');
    out
}
