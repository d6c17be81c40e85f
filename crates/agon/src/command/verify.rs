//! `agon verify`: does a log follow from the rules?

use crate::args::VerifyArgs;
use crate::exit::{Exit, Misuse, Unreadable};
use agon_core::verify::{self, Finding, MatchCheck, Receipt, ReceiptCheck, TournamentCheck};
use agon_core::{Event, Head, Line, PlayerName, Results, Secret, TournamentId};
use agon_games::Registry;
use agon_runner::Folder;
use agon_store::{FileLog, Log, SqliteLog, read_file};
use anyhow::{Context, Result};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What was checked and found in order.
#[derive(Clone, Default, Debug, Serialize)]
struct Checked {
    tournaments: u64,
    matches: u64,
    games: u64,
    events: u64,
    /// Events of games that are still running, without their secret.
    unchecked: u64,
    /// Streams whose last decision was torn by a crash; resuming cuts it off.
    torn: u64,
    /// Streams that are over and were written by a version without a hash chain.
    unchained: u64,
    /// The heads of tournaments that are over, and of matches that were checked alone.
    heads: BTreeMap<String, Head>,
    /// The heads of all matches that are over.
    #[serde(skip)]
    match_heads: Vec<Head>,
    /// The parts of the receipt that the log holds.
    #[serde(skip)]
    receipt: ReceiptCheck,
    /// Tournaments that the log holds something of.
    #[serde(skip)]
    named: BTreeSet<TournamentId>,
}

/// A head or a receipt to compare a log with.
struct Claims {
    receipt: Option<Receipt>,
    head: Option<Head>,
    quiet: bool,
}

impl Checked {
    fn add(&mut self, other: &Checked) {
        self.tournaments += other.tournaments;
        self.matches += other.matches;
        self.games += other.games;
        self.events += other.events;
        self.unchecked += other.unchecked;
        self.torn += other.torn;
        self.unchained += other.unchained;
        self.heads.extend(other.heads.clone());
        self.match_heads.extend(other.match_heads.clone());
        self.named.extend(other.named.clone());
        self.add_receipt(other.receipt);
    }

    fn add_receipt(&mut self, seen: ReceiptCheck) {
        self.receipt.tournaments += seen.tournaments;
        self.receipt.matches += seen.matches;
        self.receipt.answers += seen.answers;
    }

    fn add_tournament(&mut self, check: &TournamentCheck) {
        self.tournaments += 1;
        self.events += check.events;
        self.unchecked += check.unchecked;
        self.unchained += u64::from(check.predates_chain);
        let head = check.head.clone().map(|head| (format!("tournament/{}", check.plan.id), head));
        self.heads.extend(head);
        self.named.insert(check.plan.id.clone());
    }

    fn add_match(&mut self, check: &MatchCheck) {
        self.matches += 1;
        self.games += check.games;
        self.events += check.events;
        self.unchecked += check.unchecked;
        self.unchained += u64::from(check.predates_chain);
        self.match_heads.extend(check.heads.clone());
        self.named.insert(check.plan.tournament.clone());
    }
}

pub(crate) fn verify(args: &VerifyArgs) -> Result<Exit> {
    let started = Instant::now();
    let claims = Claims::of(args)?;
    let mut checked = Checked::default();
    for path in &args.paths {
        let sqlite = path.extension().is_some_and(|end| end == "sqlite");
        let found = match path.is_dir() || sqlite {
            true => folder(path, &claims),
            false => file(path, &claims),
        }?;
        match found {
            Ok(more) => checked.add(&more),
            Err(finding) => return not_verified(args, path, &finding),
        }
    }
    if let Err(finding) = claims.hold(&checked) {
        return not_verified(args, &args.paths[0], &finding);
    }
    let seconds = started.elapsed().as_secs_f64();
    match args.json {
        true => {
            let text = serde_json::json!({"ok": true, "checked": checked, "seconds": seconds});
            super::print(&format!("{text}\n"))?;
        }
        false => super::print(&in_words(&checked, &claims, seconds))?,
    }
    Ok(Exit::Success)
}

impl Claims {
    fn of(args: &VerifyArgs) -> Result<Claims> {
        let head = args.head.clone().map(Head::try_from).transpose();
        let head = head.map_err(|error| Misuse(format!("--head: {error}")))?;
        let receipt = match (&args.player, &args.receipt[..]) {
            (Some(player), files) if !files.is_empty() => {
                let player = PlayerName::new(player).map_err(|error| Misuse(error.to_string()))?;
                let mut text = String::new();
                for file in files {
                    let read = std::fs::read_to_string(file);
                    text += &read.map_err(|error| {
                        Unreadable(format!("failed to read {}: {error}", file.display()))
                    })?;
                }
                let read = Receipt::read(&player, &text);
                Some(read.map_err(|error| Unreadable(format!("the receipt: {error}")))?)
            }
            _ => None,
        };
        Ok(Claims { receipt, head, quiet: args.quiet })
    }

    /// Whether the log has what it must have, and not only nothing else.
    fn hold(&self, checked: &Checked) -> Result<(), Finding> {
        if let Some(head) = &self.head {
            let mut all = checked.heads.values().chain(&checked.match_heads);
            if !all.any(|found| found == head) {
                let found: Vec<String> = checked.heads.values().map(Head::to_string).collect();
                let what =
                    format!("no tournament or match has the head {head}; there is: {found:?}");
                return Err(finding("head", &what));
            }
        }
        let named = self.receipt.iter().flat_map(Receipt::tournaments);
        match named.into_iter().find(|id| !checked.named.contains(id)) {
            Some(id) => Err(finding(
                &format!("tournament/{id}"),
                "the receipt names it, and it is not there",
            )),
            None => Ok(()),
        }
    }
}

/// How many heads are printed; `--json` has all of them.
const HEADS_SHOWN: usize = 10;

fn in_words(checked: &Checked, claims: &Claims, seconds: f64) -> String {
    let count = |number: u64, one: &str, many: &str| match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {many}"),
    };
    let mut text = format!(
        "Verified: {}, {}, {}; all {} follow from the rules and the revealed luck ({seconds:.2} s)\n",
        count(checked.tournaments, "tournament", "tournaments"),
        count(checked.matches, "match", "matches"),
        count(checked.games, "game", "games"),
        count(checked.events, "event", "events"),
    );
    for (stream, head) in checked.heads.iter().take(HEADS_SHOWN) {
        text += &format!("Head of {stream}: {head}\n");
    }
    if checked.heads.len() > HEADS_SHOWN {
        text +=
            &format!("… and {} more heads; --json has all\n", checked.heads.len() - HEADS_SHOWN);
    }
    if claims.receipt.is_some() {
        text += &format!(
            "The receipt agrees: {}, {}, {}\n",
            count(checked.receipt.tournaments, "tournament", "tournaments"),
            count(checked.receipt.matches, "match", "matches"),
            count(checked.receipt.answers, "answer", "answers"),
        );
    }
    if checked.unchained > 0 {
        text += &format!(
            "No hash chain: an older version of agon wrote {}; a change to times, answers or names \
             in all places at once cannot be found there\n",
            count(checked.unchained, "stream", "streams")
        );
    }
    if checked.unchecked > 0 {
        text += &format!(
            "Not checked yet: {}, of games and draws whose secrets are not revealed\n",
            count(checked.unchecked, "event", "events")
        );
    }
    if checked.torn > 0 {
        text += &format!(
            "Torn by a crash: the last decision of {}; `agon run --resume` goes on before it\n",
            count(checked.torn, "stream", "streams")
        );
    }
    text
}

fn not_verified(args: &VerifyArgs, path: &Path, finding: &Finding) -> Result<Exit> {
    if args.json {
        let text = serde_json::json!({
            "ok": false,
            "path": path,
            "stream": finding.stream,
            "seq": finding.seq,
            "event": finding.event,
            "what": finding.what,
        });
        super::print(&format!("{text}\n"))?;
    } else {
        super::print(&format!("NOT verified: {}\n  {finding}\n", path.display()))?;
    }
    Ok(Exit::NotVerified)
}

/// Checks one file: a match or a tournament on its own.
fn file(path: &Path, claims: &Claims) -> Result<Result<Checked, Finding>> {
    let games = Registry::standard();
    let stream = read_file(path)?;
    let mut checked = Checked { torn: u64::from(stream.torn.is_some()), ..Checked::default() };
    let check = || -> Result<Checked, Finding> {
        let lines = verify::read(&stream.lines)?;
        if matches!(lines.first().map(|line| &line.event), Some(Event::TournamentCreated(_))) {
            let check = verify::verify_tournament(&lines, &games, None)?;
            checked.add_tournament(&check);
            if let Some(receipt) = &claims.receipt {
                checked.add_receipt(receipt.check_tournament(&lines, &check)?);
            }
        } else {
            let check = verify::verify_match(&lines, &games, None)?;
            checked.add_match(&check);
            let (name, head) = (lines[0].stream.clone(), check.heads.last());
            checked.heads.extend(head.map(|head| (name, head.clone())));
            if let Some(receipt) = &claims.receipt {
                checked.add_receipt(receipt.check_match(&lines, &games)?);
            }
        }
        Ok(checked)
    };
    Ok(check())
}

/// A folder's streams, sorted by what they are.
struct Streams {
    log: Box<dyn Log>,
    tournaments: Vec<String>,
    matches: Vec<String>,
    lobby: Option<String>,
    torn: u64,
}

/// The database of a server, if the path is one or is the folder of one.
fn database(path: &Path) -> Option<PathBuf> {
    match path.is_dir() {
        true => Some(path.join(super::serve::LOG_FILE)).filter(|path| path.exists()),
        false => Some(path.to_owned()),
    }
}

fn open(path: &Path) -> Result<Streams> {
    let sqlite = database(path);
    let (log, torn): (Box<dyn Log>, u64) = match &sqlite {
        Some(path) => (Box::new(SqliteLog::open_read_only(path)?), 0),
        None => {
            let log = FileLog::open_read_only(path)?;
            let torn = log.repairs().len() as u64;
            (Box::new(log), torn)
        }
    };
    let mut tournaments = Vec::new();
    let mut matches = Vec::new();
    let mut lobby = None;
    for (name, _) in log.streams()? {
        match name.split('/').next() {
            Some("tournament") => tournaments.push(name),
            Some("lobby") if sqlite.is_some() => lobby = Some(name),
            // Secrets of a server: nothing that follows from rules.
            Some("secret") if sqlite.is_some() => {}
            _ => matches.push(name),
        }
    }
    if sqlite.is_none() && tournaments.is_empty() && matches.is_empty() {
        let why = format!("{} holds no logs (*.jsonl)", path.display());
        return Err(Unreadable(why).into());
    }
    Ok(Streams { log, tournaments, matches, lobby, torn })
}

/// Checks a whole folder: every stream, what they say of each other, and the results file.
fn folder(path: &Path, claims: &Claims) -> Result<Result<Checked, Finding>> {
    let games = Registry::standard();
    let streams = open(path)?;
    let known = match database(path) {
        Some(_) => None,
        None => Folder::new(path).secret()?,
    };
    let mut checked = Checked { torn: streams.torn, ..Checked::default() };
    // Before the rest: a server that writes on may be ahead with whatever is read later.
    let lobby = match &streams.lobby {
        Some(name) => Some(streams.log.load(name, 0)?),
        None => None,
    };
    let mut tournaments = BTreeMap::new();
    for name in &streams.tournaments {
        let lines = streams.log.load(name, 0)?;
        let secret = match &known {
            Some(secret) => Some(secret.clone()),
            None => kept_secret(&*streams.log, name)?,
        };
        let check = verify::read(&lines).and_then(|lines| {
            let check = verify::verify_tournament(&lines, &games, secret.as_ref())?;
            let seen = claims.receipt.as_ref().map(|one| one.check_tournament(&lines, &check));
            Ok((check, seen.transpose()?))
        });
        let check = match check {
            Ok((check, seen)) => {
                checked.add_receipt(seen.unwrap_or_default());
                check
            }
            Err(finding) => return Ok(Err(finding)),
        };
        checked.add_tournament(&check);
        tournaments.insert(name.trim_start_matches("tournament/").to_owned(), check);
    }
    let lobby = match lobby {
        Some(lines) => {
            let secret = |id: &TournamentId| tournaments.get(id.as_str())?.secret.clone();
            let check = verify::read(&lines).and_then(|lines| verify::verify_lobby(&lines, secret));
            match check {
                Ok(check) => {
                    checked.unchecked += check.unchecked;
                    Some(check)
                }
                Err(finding) => return Ok(Err(finding)),
            }
        }
        None if database(path).is_some() && !tournaments.is_empty() => {
            return Ok(Err(finding("lobby", "its log is missing")));
        }
        None => None,
    };
    let checks = match matches(&streams, &games, &tournaments, known.as_ref(), claims)? {
        Ok(checks) => checks,
        Err(finding) => return Ok(Err(finding)),
    };
    for (check, seen) in checks.values() {
        checked.add_match(check);
        checked.add_receipt(*seen);
    }
    let checks = checks.into_iter().map(|(name, (check, _))| (name, check)).collect();
    let agreed = verify::agree(lobby.as_ref(), &tournaments, &checks);
    Ok(agreed.and_then(|()| results_file(path, &tournaments)).map(|()| checked))
}

/// The secret a server keeps of a tournament: of one that runs, pairings and dice follow from it.
fn kept_secret(log: &dyn Log, tournament: &str) -> Result<Option<Secret>> {
    let lines = log.load(&tournament.replacen("tournament/", "secret/", 1), 0)?;
    let secret = lines.iter().find_map(|text| match Line::read(text).ok()?.event {
        Event::SecretKept(kept) => Some(kept.secret),
        _ => None,
    });
    Ok(secret)
}

/// The findings for every match, by the name of its stream.
type MatchChecks = BTreeMap<String, (MatchCheck, ReceiptCheck)>;

/// Checks all match streams, on all cores, and finds the first that is wrong.
fn matches(
    streams: &Streams,
    games: &Registry,
    tournaments: &BTreeMap<String, TournamentCheck>,
    known: Option<&Secret>,
    claims: &Claims,
) -> Result<Result<MatchChecks, Finding>> {
    let next = AtomicUsize::new(0);
    let names = &streams.matches;
    let one = |name: &String| -> Result<Result<(MatchCheck, ReceiptCheck), Finding>> {
        let lines = streams.log.load(name, 0)?;
        let tournament = name.split('/').nth(1).and_then(|id| tournaments.get(id));
        let lost = tournament.is_some_and(|check| {
            name.rsplit('/').next().is_some_and(|id| check.of_lost_luck.contains(&id.into()))
        });
        let secret = tournament.and_then(|check| check.secret.as_ref()).or(known);
        let secret = secret.filter(|_| !lost);
        Ok(verify::read(&lines).and_then(|lines| {
            let check = verify::verify_match(&lines, games, secret)?;
            let seen = claims.receipt.as_ref().map(|one| one.check_match(&lines, games));
            Ok((check, seen.transpose()?.unwrap_or_default()))
        }))
    };
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(name) = names.get(at) else { return done };
            done.push((name.clone(), one(name)));
        }
    };
    let cores =
        std::thread::available_parallelism().map_or(1, |cores| cores.get()).min(names.len());
    let all = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        if !claims.quiet && std::io::stderr().is_terminal() {
            show_progress(&next, names.len());
        }
        let joined = threads.into_iter().map(|thread| thread.join().expect("checks do not panic"));
        joined.flatten().collect::<BTreeMap<_, _>>()
    });
    let mut checks = BTreeMap::new();
    for (name, check) in all {
        match check.with_context(|| format!("failed to read {name}"))? {
            Ok(check) => checks.insert(name, check),
            Err(finding) => return Ok(Err(finding)),
        };
    }
    Ok(Ok(checks))
}

/// Draws how many streams are done until all are begun, if that takes long.
fn show_progress(next: &AtomicUsize, total: usize) {
    let started = Instant::now();
    let mut drawn = false;
    loop {
        let done = next.load(Ordering::Relaxed).min(total);
        if done >= total {
            break;
        }
        if started.elapsed() > Duration::from_secs(1) {
            let left = started.elapsed().as_secs_f64() * (total - done) as f64 / done.max(1) as f64;
            eprint!("\r\x1b[Kverifying {done}/{total} streams · ETA {left:.0} s");
            drawn = true;
        }
        std::thread::park_timeout(Duration::from_millis(100));
    }
    if drawn {
        eprint!("\r\x1b[K");
    }
}

/// Whether the results file of a run says what the log does.
fn results_file(
    path: &Path,
    tournaments: &BTreeMap<String, TournamentCheck>,
) -> Result<(), Finding> {
    let mut all = tournaments.values();
    let (Some(tournament), None) = (all.next(), all.next()) else { return Ok(()) };
    let Some(text) = Folder::new(path).results_text() else { return Ok(()) };
    // As results, in which nothing stands twice, and as all that the file holds.
    let results: Option<Results> = serde_json::from_slice(&text).ok();
    let found: Option<serde_json::Value> = serde_json::from_slice(&text).ok();
    let mut expected = tournament.results.clone();
    // Runs with a seed leave it out.
    if results.as_ref().is_some_and(|results| results.head.is_some()) {
        expected.head.clone_from(&tournament.head);
    }
    let all = serde_json::to_value(&expected).expect("results are JSON");
    match results.as_ref() == Some(&expected) && found.as_ref() == Some(&all) {
        true => Ok(()),
        false => Err(finding("results.json", "it is not what follows from the log")),
    }
}

fn finding(stream: &str, what: &str) -> Finding {
    Finding { stream: stream.into(), seq: 1, event: "whole".into(), what: what.into() }
}

/// The lines of a match, for `replay`.
pub(crate) fn read_lines(lines: &[String]) -> Result<Vec<Line>> {
    Ok(verify::read(lines)?.to_vec())
}
