//! `agon verify`: does a log follow from the rules?

use super::source::{Progress, Source, address_of, shown};
use crate::args::VerifyArgs;
use crate::exit::{Exit, Misuse, Unreadable};
use agon_core::verify::{
    self, Finding, MatchCheck, Receipt, ReceiptCheck, RunningMatchCheck, TournamentCheck,
};
use agon_core::{Event, Head, Line, PlayerName, Results, Secret, TournamentId};
use agon_games::Registry;
use agon_runner::Folder;
use agon_store::{Log, fold_together, read_file};
use anyhow::Result;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

/// The counts and heads of what was checked.
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
    /// Tournaments that occur in the log.
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
        let found = match path.is_dir() || sqlite || address_of(path).is_some() {
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

    /// Checks that the log has everything the claims require.
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
            "path": shown(path),
            "stream": finding.stream,
            "seq": finding.seq,
            "event": finding.event,
            "what": finding.what,
        });
        super::print(&format!("{text}\n"))?;
    } else {
        super::print(&format!("NOT verified: {}\n  {finding}\n", shown(path)))?;
    }
    Ok(Exit::NotVerified)
}

/// Checks one file: a match or a tournament on its own.
fn file(path: &Path, claims: &Claims) -> Result<Verdict<Checked>> {
    let games = agon_analysis::registry();
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
            let (name, head) = (lines[0].stream.to_string(), check.heads.last());
            checked.heads.extend(head.map(|head| (name, head.clone())));
            if let Some(receipt) = &claims.receipt {
                checked.add_receipt(receipt.check_match(&lines, &games)?);
            }
        }
        Ok(checked)
    };
    Ok(check())
}

/// The result of a check: a value, or the first event that does not follow.
type Verdict<T> = Result<T, Finding>;

/// Checks a whole log: every stream, the references between streams, and the results file.
fn folder(path: &Path, claims: &Claims) -> Result<Verdict<Checked>> {
    let source = Source::open(path)?;
    let names = source.names()?;
    let known = match &source {
        Source::Database(..) => None,
        Source::Folder(_) => Folder::new(path).secret()?,
    };
    // Read the lobby first: a running server may write more to the streams that are read later.
    let lobby = match &names.lobby {
        Some(name) => Some(source.log().load(name, 0)?),
        None => None,
    };
    let progress =
        Progress::new("verifying", names.tournaments.len() + names.matches.len(), claims.quiet);
    let checks =
        Checks { source: &source, games: agon_analysis::registry(), known, claims, progress };
    let tournaments = match checks.tournaments(&names.tournaments)? {
        Ok(tournaments) => tournaments,
        Err(finding) => return Ok(Err(finding)),
    };
    if lobby.is_none() && source.is_database() && !tournaments.is_empty() {
        return Ok(Err(finding("lobby", "its log is missing")));
    }
    // The lobby is one long stream, so it is checked beside the matches.
    let (lobby, matches) = std::thread::scope(|scope| {
        let secret = |id: &TournamentId| tournaments.get(id.as_str())?.0.secret.clone();
        let lobby = lobby.map(|lines| {
            scope.spawn(move || {
                verify::read(&lines).and_then(|lines| verify::verify_lobby(&lines, secret))
            })
        });
        let matches = checks.matches(&names.matches, &tournaments);
        (lobby.map(|thread| thread.join().expect("checks do not panic")), matches)
    });
    let lobby = match lobby.transpose() {
        Ok(lobby) => lobby,
        Err(finding) => return Ok(Err(finding)),
    };
    let matches = match matches? {
        Ok(matches) => matches,
        Err(finding) => return Ok(Err(finding)),
    };
    if !source.is_database() && tournaments.is_empty() && matches.is_empty() {
        let why = format!("{} holds no logs (*.jsonl)", path.display());
        return Err(Unreadable(why).into());
    }
    let mut checked = Checked { torn: source.torn(), ..Checked::default() };
    checked.unchecked += lobby.as_ref().map_or(0, |check| check.unchecked);
    for (check, seen) in tournaments.values() {
        checked.add_tournament(check);
        checked.add_receipt(*seen);
    }
    for (check, seen) in matches.values() {
        checked.add_match(check);
        checked.add_receipt(*seen);
    }
    let (tournaments, matches) = (without_receipts(tournaments), without_receipts(matches));
    let agreed = verify::agree(lobby.as_ref(), &tournaments, &matches);
    Ok(agreed.and_then(|()| results_file(path, &tournaments)).map(|()| checked))
}

/// The result for each stream, and the parts of the receipt that it holds.
type Found<T> = BTreeMap<String, (T, ReceiptCheck)>;

fn without_receipts<T>(found: Found<T>) -> BTreeMap<String, T> {
    found.into_iter().map(|(name, (check, _))| (name, check)).collect()
}

/// State that the checks of single streams share.
struct Checks<'a> {
    source: &'a Source,
    games: Registry,
    /// The secret of a run that is not over.
    known: Option<Secret>,
    claims: &'a Claims,
    progress: Progress,
}

impl Checks<'_> {
    /// Checks all tournaments, by their ids.
    fn tournaments(&self, names: &[String]) -> Result<Verdict<Found<TournamentCheck>>> {
        let found = self.each(names, |log, name, lines| {
            let secret = match &self.known {
                Some(secret) => Some(secret.clone()),
                None => kept_secret(log, name)?,
            };
            Ok(verify::read(lines).and_then(|lines| {
                let check = verify::verify_tournament(&lines, &self.games, secret.as_ref())?;
                let receipt = self.claims.receipt.as_ref();
                let seen = receipt.map(|one| one.check_tournament(&lines, &check)).transpose()?;
                Ok((check, seen.unwrap_or_default()))
            }))
        })?;
        let id = |name: String| name.trim_start_matches("tournament/").to_owned();
        Ok(found.map(|found| found.into_iter().map(|(name, check)| (id(name), check)).collect()))
    }

    /// Checks all matches, by the names of their streams.
    fn matches(
        &self,
        names: &[String],
        tournaments: &Found<TournamentCheck>,
    ) -> Result<Verdict<Found<MatchCheck>>> {
        let secret = |name: &str| {
            let tournament = name.split('/').nth(1).and_then(|id| tournaments.get(id));
            let tournament = tournament.map(|(check, _)| check);
            let lost = tournament.is_some_and(|check| {
                name.rsplit('/').next().is_some_and(|id| check.of_lost_luck.contains(&id.into()))
            });
            let secret = tournament.and_then(|check| check.secret.as_ref());
            secret.or(self.known.as_ref()).filter(|_| !lost)
        };
        let mut found = self.matches_while_read(names, &secret);
        let rest: Vec<String> =
            names.iter().filter(|name| !found.contains_key(*name)).cloned().collect();
        let checked = self.each(&rest, |_, name, lines| {
            let receipt = self.claims.receipt.as_ref();
            let running = secret(name).filter(|_| receipt.is_none()).and_then(|secret| {
                RunningMatchCheck::new(name, &self.games, secret).of_lines(lines)
            });
            if let Some(check) = running {
                return Ok(Ok((check, ReceiptCheck::default())));
            }
            Ok(verify::read(lines).and_then(|lines| {
                let check = verify::verify_match(&lines, &self.games, secret(name))?;
                let seen = receipt.map(|one| one.check_match(&lines, &self.games)).transpose()?;
                Ok((check, seen.unwrap_or_default()))
            }))
        })?;
        Ok(checked.map(|checked| {
            found.extend(checked);
            found
        }))
    }

    /// Checks matches while the log is read, without keeping their streams. Matches are missing if
    /// they need another look, or if the log cannot be read that way.
    fn matches_while_read<'a>(
        &'a self,
        names: &[String],
        secret: &(impl Fn(&str) -> Option<&'a Secret> + Sync),
    ) -> Found<MatchCheck> {
        if self.claims.receipt.is_some() {
            return Found::new();
        }
        let (names, secrets): (Vec<&str>, Vec<&Secret>) =
            names.iter().filter_map(|name| Some((name.as_str(), secret(name)?))).unzip();
        let begin = |at: usize| RunningMatchCheck::new(names[at], &self.games, secrets[at]);
        let add = |running: &mut RunningMatchCheck<'_>, line: &str| running.add(line);
        let end = |running: RunningMatchCheck<'_>| {
            self.progress.add_one();
            running.finish().map(|check| (check, ReceiptCheck::default()))
        };
        let log = self.source.log();
        let found = self.progress.show_during(|| fold_together(log, &names, begin, add, end));
        found.into_iter().map(|(at, check)| (names[at].to_owned(), check)).collect()
    }

    /// Checks streams on all cores. Returns the result for each stream that has events, or the finding of the first invalid
    /// stream.
    fn each<T: Send>(
        &self,
        names: &[String],
        check: impl Fn(&dyn Log, &str, &[&str]) -> Result<Verdict<T>> + Sync,
    ) -> Result<Verdict<BTreeMap<String, T>>> {
        let all = self.source.each(names, &self.progress, |log, name, lines| {
            let verdict = check(log, name, lines)?;
            if verdict.as_ref().is_err_and(Finding::is_unreadable) {
                self.source.check_whole(name)?;
            }
            Ok(verdict)
        });
        let mut found = BTreeMap::new();
        for (name, checked) in all {
            match checked? {
                Ok(check) => drop(found.insert(name, check)),
                Err(finding) => return Ok(Err(finding)),
            }
        }
        Ok(Ok(found))
    }
}

/// The secret that a server keeps for a running tournament: pairings and dice follow from it.
fn kept_secret(log: &dyn Log, tournament: &str) -> Result<Option<Secret>> {
    let lines = log.load(&tournament.replacen("tournament/", "secret/", 1), 0)?;
    let secret = lines.iter().find_map(|text| match Line::read(text).ok()?.event {
        Event::SecretKept(kept) => Some(kept.secret),
        _ => None,
    });
    Ok(secret)
}

/// Checks that the results file of a run agrees with the log.
fn results_file(
    path: &Path,
    tournaments: &BTreeMap<String, TournamentCheck>,
) -> Result<(), Finding> {
    let mut all = tournaments.values();
    let (Some(tournament), None) = (all.next(), all.next()) else { return Ok(()) };
    let Some(text) = Folder::new(path).results_text() else { return Ok(()) };
    // Parse it as results, which rejects duplicate fields, and as plain JSON, which keeps all
    // fields.
    let results: Option<Results> = serde_json::from_slice(&text).ok();
    let found: Option<serde_json::Value> = serde_json::from_slice(&text).ok();
    let mut expected = tournament.results.clone();
    // Runs with a seed have no head.
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
pub(crate) fn read_lines(lines: &[impl AsRef<str>]) -> Result<Vec<Line>> {
    Ok(verify::read(lines)?.to_vec())
}
