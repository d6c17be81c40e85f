//! `agon format simulate`: how often each format finds the best player.

use super::export::csv_line;
use crate::args::{FormatArgs, FormatCommand, SeedingArg, SimulateArgs};
use crate::exit::{Exit, Misuse};
use crate::show;
use agon_analysis::simulate::{
    Candidate, Estimate, Question, Seeding, Simulated, recommended, simulate,
};
use agon_core::{Format, PlayerName};
use anyhow::Result;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub(crate) fn format(args: &FormatArgs) -> Result<Exit> {
    match &args.command {
        FormatCommand::Simulate(args) => simulation(args),
    }
}

fn simulation(args: &SimulateArgs) -> Result<Exit> {
    let strengths = match &args.ratings {
        Some(path) => read_ratings(path)?,
        None => args.strengths.clone(),
    };
    check(args, &strengths)?;
    let question = Question {
        strengths,
        game: args.game.clone(),
        draws: args.draws,
        runs: args.runs,
        seed: args.seed,
        game_seconds: args.game_seconds,
        concurrency: args.concurrency,
        seeding: match args.pairing {
            SeedingArg::Random => Seeding::Random,
            SeedingArg::Rating => Seeding::Rating,
        },
        threads: std::thread::available_parallelism().map_or(1, |cores| cores.get()),
    };
    let (candidates, seats) = candidates(args)?;
    let total = candidates.len() as u32 * args.runs;
    let progress = Progress::new(total, args.quiet || args.json || args.csv);
    let (mut simulated, mut left_out) = (Vec::new(), Vec::new());
    for (at, candidate) in candidates.iter().enumerate() {
        let before = at as u32 * args.runs;
        match simulate(&question, candidate, &|done| progress.draw(before + done)) {
            Ok(one) => simulated.push(one),
            Err(why) => {
                let format = candidate.format.text(&seats);
                left_out.push(LeftOut { format, best_of: candidate.best_of, why });
            }
        }
    }
    progress.clear();
    if simulated.is_empty() {
        let why = left_out.first().map_or_else(String::new, |one| one.why.clone());
        return Err(Misuse(format!("no format can be played: {why}")).into());
    }
    let best = recommended(&simulated, args.want / 100.0);
    let text = match args.json {
        true => {
            let answer = json!({
                "players": question.strengths.len(), "wanted": args.want / 100.0,
                "simulated": simulated, "recommended": best, "left_out": left_out,
            });
            format!("{answer}\n")
        }
        false if args.csv => as_csv(&simulated, best),
        false => as_text(&simulated, best, &left_out, args.want),
    };
    super::print(&text)?;
    Ok(Exit::Success)
}

fn check(args: &SimulateArgs, strengths: &[f64]) -> Result<()> {
    let misuse = |why: String| Err(Misuse(why).into());
    if let Some(odd) = strengths.iter().find(|elo| !(-10_000.0..=10_000.0).contains(*elo)) {
        return misuse(format!("a strength is a number from -10000 to 10000, not {odd}"));
    }
    if !(0.0..=1.0).contains(&args.draws) {
        return misuse(format!("--draws is a chance from 0 to 1, not {}", args.draws));
    }
    if !(2..=1_000_000).contains(&args.runs) {
        return misuse(format!("--runs is 2 to 1000000, not {}", args.runs));
    }
    if !(0.0..=100.0).contains(&args.want) {
        return misuse(format!("--want is 0 to 100 percent, not {}", args.want));
    }
    if !(0.0..=1e6).contains(&args.game_seconds) || !(1..=10_000).contains(&args.concurrency) {
        return misuse("--game-seconds is 0 to 1000000, and --concurrency 1 to 10000".into());
    }
    Ok(())
}

/// A format that cannot be played by these players.
#[derive(Serialize)]
struct LeftOut {
    format: String,
    best_of: u32,
    why: String,
}

/// The formats to simulate, each with every length of a match, and the seats of the game.
fn candidates(args: &SimulateArgs) -> Result<(Vec<Candidate>, RangeInclusive<usize>)> {
    let games = agon_analysis::registry();
    let kind = games.kind(&args.game).ok_or_else(|| {
        let known = games.names().join(", ");
        Misuse(format!("there is no game {:?}; there are: {known}", args.game))
    })?;
    let seats = kind.seats();
    let formats = match args.format.is_empty() {
        true => Format::all(&seats),
        false => {
            let read = |text: &String| match text.starts_with('{') {
                true => serde_json::from_str(text)
                    .map_err(|error| Misuse(format!("invalid format {text}: {error}"))),
                false => Format::read(text, &seats).map_err(Misuse),
            };
            args.format.iter().map(read).collect::<Result<_, Misuse>>()?
        }
    };
    let each = formats.into_iter().flat_map(|format| {
        args.best_of
            .iter()
            .map(move |best_of| Candidate { format: format.clone(), best_of: *best_of })
    });
    Ok((each.collect(), seats))
}

/// Reads the names and ratings of a rating list, for the players of a run.
pub(crate) fn read_named_ratings(path: &Path) -> Result<BTreeMap<PlayerName, i64>> {
    let unread = |error| Misuse(format!("failed to read {}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(unread)?;
    let rated = match serde_json::from_str::<Value>(&text) {
        Ok(ladder) => {
            let players = ladder["players"].as_array().cloned().unwrap_or_default();
            let one = |one: &Value| {
                let name = one["player"].as_str()?.to_owned();
                Some((name, one["rating"]["value"].as_f64()?))
            };
            players.iter().map(one).collect()
        }
        Err(_) => named_ratings_of_csv(&text),
    };
    let rated: Option<Vec<(String, f64)>> = rated;
    let rated = rated.filter(|all| !all.is_empty()).ok_or_else(|| invalid_list(path))?;
    let named = rated.into_iter().map(|(name, rating)| {
        let player = PlayerName::new(&name).map_err(|error| Misuse(format!("{name}: {error}")))?;
        Ok((player, rating.round() as i64))
    });
    named.collect()
}

fn invalid_list(path: &Path) -> Misuse {
    let why = "a rating list is CSV with the columns player and rating, or a ladder as JSON";
    Misuse(format!("invalid rating list {}: {why}", path.display()))
}

/// The columns `player` and `rating` of a CSV file.
fn named_ratings_of_csv(text: &str) -> Option<Vec<(String, f64)>> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let cells = |line: &str| -> Vec<String> {
        line.split(',').map(|cell| cell.trim().trim_matches('"').to_owned()).collect()
    };
    let head = cells(lines.next()?);
    let column = |name: &str| head.iter().position(|one| one == name);
    let (player, rating) = (column("player")?, column("rating")?);
    let row = |line: &str| {
        let cells = cells(line);
        Some((cells.get(player)?.clone(), cells.get(rating)?.parse().ok()?))
    };
    lines.map(row).collect()
}

/// Reads a rating list: CSV, or the answer of a ladder as JSON.
fn read_ratings(path: &Path) -> Result<Vec<f64>> {
    let unread = |error| Misuse(format!("failed to read {}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(unread)?;
    let ratings = match serde_json::from_str::<Value>(&text) {
        Ok(ladder) => {
            let players = ladder["players"].as_array().cloned().unwrap_or_default();
            players.iter().map(|one| one["rating"]["value"].as_f64()).collect::<Option<Vec<f64>>>()
        }
        Err(_) => ratings_of_csv(&text),
    };
    ratings.filter(|all| !all.is_empty()).ok_or_else(|| invalid_list(path).into())
}

/// The column `rating` of a CSV file.
fn ratings_of_csv(text: &str) -> Option<Vec<f64>> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let head: Vec<&str> =
        lines.next()?.split(',').map(|cell| cell.trim().trim_matches('"')).collect();
    let column = head.iter().position(|name| *name == "rating")?;
    let cell = |line: &str| line.split(',').nth(column)?.trim().parse::<f64>().ok();
    lines.map(cell).collect()
}

fn as_csv(simulated: &[Simulated], best: Option<&Simulated>) -> String {
    let mut head = ["format", "best_of", "runs"].map(String::from).to_vec();
    for what in ["best_wins", "top_three", "games", "seconds"] {
        head.extend(["", "_low", "_high"].map(|bound| format!("{what}{bound}")));
    }
    head.extend(["rounds", "recommended"].map(String::from));
    let mut text = csv_line(&head);
    for one in simulated {
        let mut row = vec![one.format.clone(), one.best_of.to_string(), one.runs.to_string()];
        for Estimate { value, low, high } in [one.best_wins, one.top_three, one.games, one.seconds]
        {
            row.extend([value, low, high].map(|number| format!("{number:.4}")));
        }
        row.extend([format!("{:.4}", one.rounds), (best == Some(one)).to_string()]);
        text.push_str(&csv_line(&row));
    }
    text
}

fn as_text(
    simulated: &[Simulated],
    best: Option<&Simulated>,
    left_out: &[LeftOut],
    want: f64,
) -> String {
    let percent = |share: &Estimate| {
        format!("{:.1} ({:.1}–{:.1})", share.value * 100.0, share.low * 100.0, share.high * 100.0)
    };
    let head =
        ["format", "best of", "best wins, %", "top 3 right, %", "games", "rounds", "time", ""];
    let mut rows = vec![head.map(String::from).to_vec()];
    for one in simulated {
        rows.push(vec![
            one.format.clone(),
            one.best_of.to_string(),
            percent(&one.best_wins),
            percent(&one.top_three),
            with_interval(&one.games, |games| format!("{games:.1}")),
            format!("{:.1}", one.rounds),
            with_interval(&one.seconds, clock),
            if best == Some(one) { "◀".into() } else { String::new() },
        ]);
    }
    let colour = show::colour(std::io::stdout().is_terminal());
    let mut text = show::table(&rows, &[1, 2, 3, 4, 5, 6], colour);
    for LeftOut { format, best_of, why } in left_out {
        text.push_str(&format!("Left out: {format}, best of {best_of}: {why}\n"));
    }
    text.push_str(&match best {
        Some(one) => format!(
            "\nThe cheapest format in which the best player wins {want} % of the time: {}, best of \
             {} ({:.1} games).\n",
            one.format, one.best_of, one.games.value
        ),
        None => format!(
            "\nIn none of these does the best player win {want} % of the time. Try longer matches \
             (--best-of), or more rounds.\n"
        ),
    });
    text
}

/// An estimate with its 95 % interval, unless both bounds read the same.
fn with_interval(estimate: &Estimate, written: impl Fn(f64) -> String) -> String {
    let [value, low, high] = [estimate.value, estimate.low, estimate.high].map(written);
    if low == high { value } else { format!("{value} ({low}–{high})") }
}

/// Seconds as hours, minutes and seconds.
fn clock(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

/// Progress on a terminal, once it takes longer than two seconds.
struct Progress {
    shown: bool,
    total: u32,
    started: Instant,
    most: AtomicU32,
    drawn: Mutex<Option<Instant>>,
}

impl Progress {
    fn new(total: u32, quiet: bool) -> Progress {
        let shown = !quiet && std::io::stderr().is_terminal();
        let (started, most) = (Instant::now(), AtomicU32::new(0));
        Progress { shown, total, started, most, drawn: Mutex::new(None) }
    }

    /// Draws the line; a simulation always goes on.
    fn draw(&self, done: u32) -> bool {
        let done = self.most.fetch_max(done, Ordering::Relaxed).max(done);
        let elapsed = self.started.elapsed();
        if !self.shown || elapsed < Duration::from_secs(2) {
            return true;
        }
        let Ok(mut drawn) = self.drawn.try_lock() else { return true };
        if drawn.is_some_and(|at| at.elapsed() < Duration::from_millis(100)) {
            return true;
        }
        *drawn = Some(Instant::now());
        let left = elapsed.as_secs_f64() * f64::from(self.total - done) / f64::from(done.max(1));
        let share = 100 * u64::from(done) / u64::from(self.total.max(1));
        let mut stderr = std::io::stderr().lock();
        let text =
            format!("{done} of {} tournaments · {share} % · ETA {}", self.total, clock(left));
        let _ = write!(stderr, "\r\x1b[K{text}").and_then(|()| stderr.flush());
        true
    }

    fn clear(&self) {
        if self.drawn.lock().is_ok_and(|drawn| drawn.is_some()) {
            eprint!("\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rating_lists_are_csv_with_a_column_for_ratings() {
        let text = "player,rating,low\nann,1612.5,1500\nbob, 1400 ,1300\n\n";
        assert_eq!(ratings_of_csv(text), Some(vec![1612.5, 1400.0]));
        assert_eq!(ratings_of_csv("player,points\nann,3\n"), None);
        assert_eq!(ratings_of_csv("player,rating\nann,many\n"), None);
        let named = named_ratings_of_csv("rank,player,rating\n1,ann,1612.5\n2,\"bob\",1400\n");
        assert_eq!(named, Some(vec![("ann".into(), 1612.5), ("bob".into(), 1400.0)]));
    }

    #[test]
    fn intervals_without_width_are_left_out() {
        let text = |low, high| {
            let estimate = Estimate { value: 7.0, low, high };
            with_interval(&estimate, |games| format!("{games:.1}"))
        };
        assert_eq!((text(7.0, 7.0), text(6.25, 7.75)), ("7.0".into(), "7.0 (6.2–7.8)".into()));
    }

    #[test]
    fn times_are_written_like_a_clock() {
        assert_eq!([0.4, 61.0, 3_725.0].map(clock), ["0:00", "1:01", "1:02:05"]);
    }
}
