//! `agon export`: games as text records, and results as CSV or JSON tables.

use super::source::open_database;
use super::verify::read_lines;
use crate::args::{ExportArgs, ExportTable};
use crate::exit::{Exit, Misuse, Unreadable};
use agon_analysis::Estimate;
use agon_analysis::record::{GameRecord, records};
use agon_core::{
    Comparison, EloInterval, Event, Line, Ranked, RatingSettings, Results, Secret, Secrets,
    Statistics, TestVerdict, Tournament, TournamentId,
};
use agon_games::Registry;
use agon_runner::Folder;
use agon_store::{FileLog, Log, read_file};
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The tables of one tournament.
struct Evaluated {
    results: Results,
    comparison: Comparison,
}

pub(crate) fn export(args: &ExportArgs) -> Result<Exit> {
    let log = Exported::open(args)?;
    let text = match args.what {
        ExportTable::Records => log.records(args)?,
        ExportTable::Luck => luck(args)?,
        ExportTable::Ladders => log.ladders(args)?,
        what => {
            let all = log.evaluated()?;
            match args.json {
                true => format!("{}\n", as_json(what, &all)),
                false => as_csv(what, &all),
            }
        }
    };
    match &args.out {
        Some(path) => std::fs::write(path, text)
            .map_err(|error| Misuse(format!("failed to write {}: {error}", path.display())))?,
        None => super::print(&text)?,
    }
    Ok(Exit::Success)
}

/// The log of a run or a server, and whether it is a database.
fn open_log(path: &Path) -> Result<(Box<dyn Log>, bool)> {
    Ok(match open_database(path)? {
        Some(log) => (log, true),
        None => (Box::new(FileLog::open_read_only(path)?), false),
    })
}

/// The streams to export.
struct Exported {
    /// The lines of tournaments and of matches, by name.
    tournaments: BTreeMap<String, Vec<Line>>,
    matches: BTreeMap<String, Vec<Line>>,
    /// The secret that the folder of a run still has.
    kept: Option<Secret>,
}

impl Exported {
    fn open(args: &ExportArgs) -> Result<Exported> {
        let is_log_file = args.path.extension().is_some_and(|end| end == "jsonl");
        if is_log_file {
            return Exported::of_file(args);
        }
        let (log, is_database) = open_log(&args.path)?;
        let names: Vec<String> = log.streams()?.into_iter().map(|(name, _)| name).collect();
        let wanted = |name: &&String| {
            let mut parts = name.split('/').skip(1);
            let (tournament, id) = (parts.next(), parts.next());
            let is = |given: &Option<String>, own: Option<&str>| {
                given.as_deref().is_none_or(|given| own.is_none_or(|own| own == given))
            };
            is(&args.tournament, tournament) && is(&args.match_id, id)
        };
        let read = |kind: &str| -> Result<BTreeMap<String, Vec<Line>>> {
            let of_kind = names.iter().filter(|name| name.starts_with(kind)).filter(wanted);
            let streams = of_kind.map(|name| Ok((name.clone(), read_lines(&log.load(name, 0)?)?)));
            streams.collect()
        };
        let matches = match args.what {
            ExportTable::Records => read("match/")?,
            _ => BTreeMap::new(),
        };
        let kept = if is_database { None } else { Folder::new(&args.path).secret()? };
        Ok(Exported { tournaments: read("tournament/")?, matches, kept })
    }

    /// One stream from its own file.
    fn of_file(args: &ExportArgs) -> Result<Exported> {
        let lines = read_lines(&read_file(&args.path)?.lines)?;
        let name = lines.first().map_or(String::new(), |line| line.stream.to_string());
        let mut log =
            Exported { tournaments: BTreeMap::new(), matches: BTreeMap::new(), kept: None };
        let streams =
            if name.starts_with("match/") { &mut log.matches } else { &mut log.tournaments };
        streams.insert(name, lines);
        Ok(log)
    }

    /// The text records of all finished games, in order of rounds and matches.
    fn records(&self, args: &ExportArgs) -> Result<String> {
        let games = Registry::standard();
        let mut all: Vec<(&str, (u32, u32), Vec<GameRecord>)> = Vec::new();
        for (name, lines) in &self.matches {
            let Some(Event::MatchCreated(created)) = lines.first().map(|line| &line.event) else {
                continue;
            };
            let plan = &created.plan;
            let known =
                self.secret(plan.tournament.as_str()).map(|secret| secret.of_match(&plan.id));
            let secrets = Secrets::of_log(lines, known);
            let own = records(lines, &games, &secrets).map_err(|why| {
                Unreadable(format!("{name}, {why}; `agon verify` checks the whole log"))
            })?;
            let place = super::replay::place(plan.id.as_str());
            all.push((plan.tournament.as_str(), place, own));
        }
        if self.matches.is_empty() {
            return Err(Misuse(format!("{} has no such match", args.path.display())).into());
        }
        all.sort_by_key(|(tournament, place, _)| (tournament.to_owned(), *place));
        let wanted = |record: &&GameRecord| {
            let number = record.get("Number").and_then(|number| number.parse().ok());
            args.game.is_none_or(|game| number == Some(game))
        };
        let own = all.iter().flat_map(|(_, _, own)| own).filter(wanted);
        Ok(match args.json {
            true => own.map(|record| format!("{}\n", record_json(record))).collect(),
            false => own.map(GameRecord::to_string).collect(),
        })
    }

    /// The secret of a tournament: revealed at its end, or kept in the folder of a run.
    fn secret(&self, tournament: &str) -> Option<Secret> {
        let lines = self.tournaments.get(&format!("tournament/{tournament}"));
        let revealed = lines.into_iter().flatten().find_map(|line| match &line.event {
            Event::TournamentEnded(ended) => Some(ended.secret.clone()),
            _ => None,
        });
        revealed.or_else(|| self.kept.clone())
    }

    /// The ratings of all players after the tournaments of this log.
    fn ladders(&self, args: &ExportArgs) -> Result<String> {
        let games = Registry::standard();
        let mut statistics = Statistics::new(&games, RatingSettings::default());
        for (name, lines) in &self.tournaments {
            let id = TournamentId::from(name.trim_start_matches("tournament/"));
            for line in lines {
                let applied = statistics.apply(&id, line.at, &line.event);
                applied.map_err(|error| Unreadable(format!("{name}: {error}")))?;
            }
        }
        let ladders = games.names().into_iter().map(|game| (game, statistics.ranking(game)));
        let ladders: Vec<_> = ladders.filter(|(_, ranking)| !ranking.is_empty()).collect();
        if args.json {
            let all =
                ladders.iter().map(|(game, players)| json!({"game": game, "players": players}));
            return Ok(format!("{}\n", Value::Array(all.collect())));
        }
        let mut rows = header(&["game", "rank", "player", "rating", "low", "high", "deviation"]);
        for (game, players) in ladders {
            for Ranked { rank, player, rating } in players {
                let interval = rating.interval();
                let numbers = [rating.value, interval.low, interval.high, rating.deviation];
                let mut row = vec![game.to_owned(), rank.to_string(), player.to_string()];
                row.extend(numbers.map(|one| number(Some(one))));
                rows.push(row);
            }
        }
        Ok(rows.iter().map(|row| csv_line(row)).collect())
    }

    fn evaluated(&self) -> Result<Vec<Evaluated>> {
        let games = Registry::standard();
        let folded = self.tournaments.iter().map(|(name, lines)| {
            let folded = Tournament::fold(lines, &games, None);
            let results = folded.map_err(|error| Unreadable(format!("{name}: {error}")))?.results();
            Ok(Evaluated { comparison: Comparison::of(&results), results })
        });
        folded.collect()
    }
}

/// The table of luck and costs, from the analysis of all games.
fn luck(args: &ExportArgs) -> Result<String> {
    let standings = super::analyse::standings_of(args)?;
    if args.json {
        return Ok(format!("{}\n", json!(standings)));
    }
    let mut head = vec!["player".to_owned(), "games".to_owned()];
    for what in ["points", "without_luck", "cost_per_decision", "cost_per_game"] {
        head.extend(["", "_low", "_high"].map(|bound| format!("{what}{bound}")));
    }
    head.extend(["luck", "decisions", "mistakes"].map(String::from));
    let bounds = |estimate: Option<&Estimate>| {
        let interval = estimate.and_then(|estimate| estimate.interval);
        let [low, high] = interval.map_or([None; 2], |bounds| bounds.map(Some));
        [estimate.map(|estimate| estimate.mean), low, high].map(number)
    };
    let mut rows = vec![head];
    for cost in &standings.costs {
        let own = standings.players.iter().find(|one| one.player == cost.player);
        let mut row = vec![cost.player.to_string(), cost.games.to_string()];
        row.extend(bounds(own.map(|own| &own.raw)));
        row.extend(bounds(own.map(|own| &own.adjusted)));
        row.extend(bounds(Some(&cost.per_decision)));
        row.extend(bounds(Some(&cost.per_game)));
        row.push(number(own.map(|own| own.luck)));
        row.extend([cost.decisions, cost.mistakes].map(|count| count.to_string()));
        rows.push(row);
    }
    Ok(rows.iter().map(|row| csv_line(row)).collect())
}

fn record_json(record: &GameRecord) -> Value {
    let tags: serde_json::Map<String, Value> =
        record.tags.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let moves = record.moves.iter().map(|one| {
        let answer = one.answer.as_deref().and_then(|text| serde_json::from_str(text).ok());
        json!({"seat": one.seat, "answer": answer.unwrap_or(Value::Null), "told": one.comment})
    });
    json!({"tags": tags, "moves": moves.collect::<Vec<_>>()})
}

fn as_json(what: ExportTable, all: &[Evaluated]) -> Value {
    let tables = all.iter().map(|Evaluated { results, comparison }| {
        let table = match what {
            ExportTable::Standings => json!(results.standings),
            ExportTable::Strengths => json!(comparison.players),
            ExportTable::Pairs => json!(comparison.pairs),
            ExportTable::Podium => json!(comparison.podium.as_ref().map(|podium| &podium.players)),
            _ => return json!({"tournament": results.tournament, "comparison": comparison, "results": results}),
        };
        json!({"tournament": results.tournament, "rows": table, "podium": comparison.podium})
    });
    Value::Array(tables.collect())
}

fn as_csv(what: ExportTable, all: &[Evaluated]) -> String {
    let mut rows = Vec::new();
    for one in all {
        let table = match what {
            ExportTable::Standings
            | ExportTable::Records
            | ExportTable::Luck
            | ExportTable::Ladders => standings(&one.results),
            ExportTable::Strengths => strengths(one),
            ExportTable::Pairs => pairs(one),
            ExportTable::CrossTable => cross_table(one),
            ExportTable::Games => games(&one.results),
            ExportTable::Podium => podium(one),
        };
        // Tables with the same columns have one header; a cross-table has columns of its own.
        let is_new = rows.first() != table.first();
        rows.extend(table.into_iter().skip(usize::from(!is_new)));
    }
    rows.iter().map(|row: &Vec<String>| csv_line(row)).collect()
}

/// A line of CSV (RFC 4180, but with a plain line end).
pub(super) fn csv_line(cells: &[String]) -> String {
    let cells = cells.iter().map(|cell| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    });
    cells.collect::<Vec<_>>().join(",") + "\n"
}

fn header(names: &[&str]) -> Vec<Vec<String>> {
    vec![names.iter().map(|name| (*name).to_owned()).collect()]
}

fn standings(results: &Results) -> Vec<Vec<String>> {
    let mut rows = header(&[
        "tournament",
        "rank",
        "player",
        "matches_won",
        "matches_lost",
        "matches_drawn",
        "games_won",
        "games_lost",
        "games_tied",
        "points",
        "byes",
        "faults",
    ]);
    let tie_breaks = results.tie_breaks();
    rows[0].extend(tie_breaks.iter().map(|name| (*name).to_owned()));
    for one in &results.standings {
        let numbers = [
            one.matches_won,
            one.matches_lost,
            one.matches_drawn,
            one.games_won,
            one.games_lost,
            one.games_tied,
        ];
        let mut row =
            vec![results.tournament.to_string(), one.rank.to_string(), one.player.to_string()];
        row.extend(numbers.map(|number| number.to_string()));
        row.extend([one.points.to_string(), one.byes.to_string(), one.faults.len().to_string()]);
        let value = |name| one.tie_breaks.iter().find(|own| own.by == name);
        let values = tie_breaks.iter().map(|name| value(*name));
        row.extend(values.map(|own| own.map_or(String::new(), |own| own.value.to_string())));
        rows.push(row);
    }
    rows
}

fn number(value: Option<f64>) -> String {
    // A sum with zero has no negative zero.
    let rounded = value.map(|value| (value * 1_000.0).round() / 1_000.0 + 0.0);
    rounded.map_or(String::new(), |value| format!("{value:.3}"))
}

/// The confidence in the podium; no row if there were too few games for it.
fn podium(Evaluated { results, comparison }: &Evaluated) -> Vec<Vec<String>> {
    let mut rows = header(&["tournament", "players", "winner", "set", "order"]);
    rows.extend(comparison.podium.iter().map(|podium| {
        let players: Vec<&str> = podium.players.iter().map(|player| player.as_str()).collect();
        let sure = [podium.winner, podium.set, podium.order].map(|sure| number(Some(sure)));
        [vec![results.tournament.to_string(), players.join(" ")], sure.to_vec()].concat()
    }));
    rows
}

fn bounds(elo: Option<&EloInterval>) -> [String; 3] {
    elo.map_or([None; 3], |elo| [elo.value, elo.low, elo.high]).map(number)
}

fn strengths(Evaluated { results, comparison }: &Evaluated) -> Vec<Vec<String>> {
    let mut rows = header(&[
        "tournament",
        "rank",
        "player",
        "games",
        "score",
        "rating",
        "low",
        "high",
        "performance",
    ]);
    for one in &comparison.players {
        let score = (one.games > 0).then(|| one.points / f64::from(one.games));
        let mut row = vec![
            results.tournament.to_string(),
            one.rank.to_string(),
            one.player.to_string(),
            one.games.to_string(),
            number(score),
        ];
        row.extend(bounds(one.elo.as_ref()));
        row.push(number(one.performance));
        rows.push(row);
    }
    rows
}

fn pairs(Evaluated { results, comparison }: &Evaluated) -> Vec<Vec<String>> {
    let mut rows = header(&[
        "tournament",
        "one",
        "other",
        "won",
        "drawn",
        "lost",
        "elo",
        "low",
        "high",
        "superiority",
        "pairs",
        "llr",
        "llr_lower",
        "llr_upper",
        "verdict",
        "tested",
    ]);
    for one in &comparison.pairs {
        let mut row =
            vec![results.tournament.to_string(), one.one.to_string(), one.other.to_string()];
        row.extend([one.won, one.drawn, one.lost].map(|count| count.to_string()));
        row.extend(bounds(Some(&one.elo)));
        row.push(number(Some(one.superiority)));
        let counts = one.pairs.map(|counts| counts.map(|count| count.to_string()).join(" "));
        row.push(counts.unwrap_or_default());
        let test = one.test.as_ref();
        let ratios = test.map_or([None; 3], |test| [test.llr, test.lower, test.upper].map(Some));
        row.extend(ratios.map(number));
        row.push(test.map_or(String::new(), |test| match test.verdict {
            Some(TestVerdict::H0) => "h0".into(),
            Some(TestVerdict::H1) => "h1".into(),
            None => "none".into(),
        }));
        row.push(test.map_or(String::new(), |test| test.player.to_string()));
        rows.push(row);
    }
    rows
}

/// The points of every player against every other.
fn cross_table(Evaluated { results, comparison }: &Evaluated) -> Vec<Vec<String>> {
    let players: Vec<&str> =
        comparison.players.iter().map(|player| player.player.as_str()).collect();
    let mut points: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for pair in &comparison.pairs {
        let (one, other) = (pair.one.as_str(), pair.other.as_str());
        let halves = pair.drawn as f64 / 2.0;
        points.insert((one, other), pair.won as f64 + halves);
        points.insert((other, one), pair.lost as f64 + halves);
    }
    let mut rows = header(&[&["tournament", "player"], &players[..]].concat());
    for player in &players {
        let mut row = vec![results.tournament.to_string(), (*player).to_owned()];
        row.extend(
            players
                .iter()
                .map(|other| points.get(&(*player, *other)).map_or(String::new(), f64::to_string)),
        );
        rows.push(row);
    }
    rows
}

fn games(results: &Results) -> Vec<Vec<String>> {
    let mut rows = header(&[
        "tournament",
        "match",
        "number",
        "end",
        "players",
        "scores",
        "ranks",
        "winners",
        "luck",
    ]);
    for report in results.rounds.iter().flat_map(|round| &round.matches) {
        for game in &report.result.games {
            let end = json!(game)["end"].as_str().unwrap_or_default().to_owned();
            let rank = |rank: &Option<u8>| rank.map_or("-".into(), |rank| rank.to_string());
            let joined = |texts: Vec<String>| texts.join(" ");
            rows.push(vec![
                results.tournament.to_string(),
                report.id.to_string(),
                game.game.to_string(),
                end,
                joined(game.seats.iter().map(|player| player.to_string()).collect()),
                joined(game.scores.iter().map(|score| score.to_string()).collect()),
                joined(game.ranks.iter().map(rank).collect()),
                joined(game.winners.iter().map(|player| player.to_string()).collect()),
                joined(game.luck.iter().map(|luck| luck.to_string()).collect()),
            ]);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_separators_are_quoted() {
        let cells = ["plain", "a,b", "say \"hi\"", ""].map(String::from);
        assert_eq!(csv_line(&cells), "plain,\"a,b\",\"say \"\"hi\"\"\",\n");
    }
}
