//! `agon log repair`: what can be saved of a damaged log, and with `--apply` a new log made of it.
//!
//! It changes nothing without keeping a copy. A server can continue from the new log: no stream
//! says more than the streams it rests on.

use super::copy::Copier;
use super::survey::{Fault, Says, Survey, TournamentSays, shows};
use super::{LogLocation, count};
use crate::args::log::LogRepairArgs;
use crate::exit::{Exit, Unreadable};
use agon_core::lobby::Standing;
use agon_store::{FileLog, Hold, Inspector, LogError, SqliteLog, Sync};
use anyhow::{Context, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The loss of a stream.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
struct Loss {
    stream: String,
    /// How many events are kept.
    kept: u64,
    /// How many readable events are lost; there may be unreadable ones besides.
    lost: u64,
    why: String,
}

pub(super) fn repair(args: &LogRepairArgs) -> Result<Exit> {
    let place = LogLocation::find(&args.data)?;
    // Locked before the survey, so that nobody writes afterwards.
    let _hold = args.apply.then(|| hold(&place)).transpose()?;
    if let Some(records) = all_lost(&place) {
        return accept_loss(args, place.path(), records);
    }
    let survey = Survey::take(&place, args.quiet)?;
    let losses = plan(&survey)?;
    let sound = losses.is_empty() && survey.pages.is_none();
    if sound {
        say(args, &survey, &losses, "Nothing to repair: the log is sound", None)?;
        return Ok(Exit::Success);
    }
    if !args.apply {
        say(args, &survey, &losses, "Nothing was changed. With --apply this would be lost:", None)?;
        return Ok(Exit::Damaged);
    }
    let kept = match &place {
        LogLocation::Database(path) | LogLocation::Gone(path, _) => {
            rebuild(path, &survey, &losses)?
        }
        LogLocation::Folder(dir) => cut_files(dir, &losses)?,
    };
    let after = Survey::take(&place, true)?;
    if let Some(Fault { stream, seq, what }) = after.faults().into_iter().next() {
        let kept = kept.display();
        let why = format!(
            "the log could not be repaired: {stream}, event {seq}: {what}; the \
            damaged log is {kept}"
        );
        return Err(Unreadable(why).into());
    }
    say(args, &survey, &losses, "Repaired. This is lost:", Some(&kept))?;
    Ok(Exit::Success)
}

/// How many records were acknowledged, if none of them is left.
fn all_lost(place: &LogLocation) -> Option<u64> {
    match place.inspector().err()?.downcast_ref::<LogError>()? {
        LogError::Lost { found: 0, acknowledged, .. } => Some(*acknowledged),
        _ => None,
    }
}

/// With `--apply`, lets a server start with an empty log.
fn accept_loss(args: &LogRepairArgs, path: &Path, records: u64) -> Result<Exit> {
    let kept_as = args.apply.then(|| SqliteLog::set_aside(path)).transpose()?;
    let applied = kept_as.is_some();
    if args.json {
        let text = serde_json::json!({
            "applied": applied,
            "damaged_copy": kept_as,
            "lost_records": records,
            "kept": 0,
        });
        super::super::print(&format!("{text}\n"))?;
    } else {
        let records = count(records, "acknowledged record is", "acknowledged records are");
        let text = match &kept_as {
            None => format!(
                "Nothing was changed. All {records} gone; with --apply the next start begins with an \
                 empty log\nIf you have a backup (`agon log backup`), restoring it loses less\n"
            ),
            Some(kept_as) => format!(
                "Accepted: all {records} gone, and the next start begins with an empty log\nWhat was \
                 left of the log is {}*\n",
                kept_as.display()
            ),
        };
        super::super::print(&text)?;
    }
    Ok(if applied { Exit::Success } else { Exit::Damaged })
}

/// A lock that keeps other processes from writing.
enum Held {
    Database(#[expect(dead_code, reason = "it is held, not used")] Hold),
    Folder(#[expect(dead_code, reason = "it is held, not used")] Box<FileLog>),
}

fn hold(place: &LogLocation) -> Result<Held> {
    Ok(match place {
        LogLocation::Database(path) | LogLocation::Gone(path, _) => {
            Held::Database(Hold::take(path)?)
        }
        LogLocation::Folder(dir) => Held::Folder(Box::new(FileLog::open(dir, Sync::Process)?)),
    })
}

/// The records to drop so that the rest is sound.
fn plan(survey: &Survey) -> Result<Vec<Loss>> {
    let mut plan = Plan { survey, losses: BTreeMap::new() };
    for (name, found) in &survey.streams {
        if let Some(fault) = &found.fault {
            plan.cut(name, found.good, &format!("event {}: {}", fault.seq, fault.what));
        } else if found.torn {
            plan.cut(name, found.good, "its last decision was torn by a crash");
        }
    }
    if survey.streams.contains_key("lobby") && survey.lobby().is_none() {
        let why = "nothing of the lobby is left, so there is nothing to repair; restore a backup";
        return Err(Unreadable(why.into()).into());
    }
    for id in survey.tournaments() {
        match survey.lobby().map(|lobby| lobby.tournament(&id.as_str().into())) {
            Some(Some(Standing::Finished(_))) => plan.all_or_nothing(&id),
            Some(Some(Standing::Running(_))) | None => plan.cut_tournament(&id),
            Some(_) => plan.drop_all(&id, "the lobby no longer knows that it started"),
        }
    }
    Ok(plan.losses.into_values().collect())
}

struct Plan<'a> {
    survey: &'a Survey,
    losses: BTreeMap<String, Loss>,
}

impl Plan<'_> {
    /// Keeps only the first events of a stream.
    fn cut(&mut self, name: &str, kept: u64, why: &str) {
        let Some(found) = self.survey.streams.get(name) else { return };
        let all = found.good + found.rest;
        match self.losses.get_mut(name) {
            Some(loss) if loss.kept > kept => {
                loss.kept = kept;
                loss.lost = all - kept;
                loss.why = format!("{}; {why}", loss.why);
            }
            Some(_) => {}
            None => {
                let (stream, why) = (name.to_owned(), why.to_owned());
                self.losses.insert(stream.clone(), Loss { stream, kept, lost: all - kept, why });
            }
        }
    }

    /// The streams of a tournament.
    fn own(&self, id: &str) -> Vec<String> {
        let own = self.survey.streams.keys().filter(|name| name.split('/').nth(1) == Some(id));
        own.cloned().collect()
    }

    fn drop_all(&mut self, id: &str, why: &str) {
        self.own(id).iter().for_each(|name| self.cut(name, 0, why));
    }

    /// The lobby keeps the winners. The other streams show how they won, which they cannot with
    /// gaps.
    fn all_or_nothing(&mut self, id: &str) {
        let own = self.own(id);
        let damaged = own.iter().any(|name| self.losses.contains_key(name));
        let disagrees = self.survey.disagreements.iter().any(|fault| own.contains(&fault.stream));
        if damaged || disagrees {
            self.drop_all(id, "the tournament is over, and it is kept whole or not at all");
        }
    }

    /// Cuts a running tournament back to the results that its matches still show.
    fn cut_tournament(&mut self, id: &str) {
        let name = format!("tournament/{id}");
        let nothing = TournamentSays::default();
        let (good, says) = match self.survey.streams.get(&name) {
            Some(found) => match &found.says {
                Says::Tournament(says) => (found.good, says),
                _ => (0, &nothing),
            },
            None => (0, &nothing),
        };
        let sound = |name: String| self.survey.streams.get(&name).filter(|found| found.good > 0);
        let on_a_server = self.survey.lobby().is_some();
        if on_a_server && good > 0 && !says.over && sound(format!("secret/{id}")).is_none() {
            return self.drop_all(id, "its secret is lost: it starts again from nothing");
        }
        let lost = says.reported.iter().find(|(_, own, result)| {
            !sound(format!("match/{id}/{own}")).is_some_and(|found| shows(found, result))
        });
        let kept = match lost {
            Some((record, own, _)) => {
                self.cut(&name, record - 1, &format!("the end of {own} is lost"));
                record - 1
            }
            None => good,
        };
        let paired = says.paired.iter().filter(|(record, _)| *record <= kept);
        let paired: Vec<&str> = paired.map(|(_, own)| own.as_str()).collect();
        for name in self.own(id) {
            let own = name.strip_prefix(&format!("match/{id}/")).map(str::to_owned);
            if own.is_some_and(|own| !paired.contains(&own.as_str())) {
                self.cut(&name, 0, "the tournament no longer knows this match");
            }
        }
    }
}

/// Builds a new database from the kept records and replaces the old one by it.
fn rebuild(path: &Path, survey: &Survey, losses: &[Loss]) -> Result<PathBuf> {
    let new = path.with_extension("sqlite.repaired");
    let own = ["repaired.lock", "repaired.watermark"].map(|end| new.with_extension(end));
    for file in own.iter().chain([&new]) {
        // An interrupted repair left it.
        if file.exists() {
            fs::remove_file(file)
                .with_context(|| format!("failed to remove {}", file.display()))?;
        }
    }
    let built = copy_kept(path, &new, survey, losses)
        .and_then(|()| Ok(SqliteLog::check(&new)?))
        .and_then(|()| Ok(SqliteLog::replace(path, &new)?));
    let _ = fs::remove_file(new.with_extension("repaired.lock"));
    if built.is_err() {
        let _ = fs::remove_file(&new);
    }
    built.context("failed to build the repaired log; the damaged one is unchanged")
}

fn copy_kept(path: &Path, new: &Path, survey: &Survey, losses: &[Loss]) -> Result<()> {
    let inspector = Inspector::of_sqlite(path)?;
    let log = SqliteLog::open(new)?;
    let copier = Copier::new(&log);
    for (name, found) in &survey.streams {
        let loss = losses.iter().find(|loss| loss.stream == *name);
        let kept = loss.map_or(found.good, |loss| loss.kept) as usize;
        copier.copy(name, inspector.inspect(name).lines.into_iter().take(kept))?;
    }
    copier.finish()
}

/// Cuts files of a run, after copying each.
fn cut_files(dir: &Path, losses: &[Loss]) -> Result<PathBuf> {
    let inspector = Inspector::of_folder(dir)?;
    let names = (1..).map(|number| format!("damaged-{number}"));
    let taken = |end: &String| {
        losses.iter().any(|loss| dir.join(format!("{}.jsonl.{end}", loss.stream)).exists())
            || dir.join(format!("results.json.{end}")).exists()
    };
    let mut free = names.filter(|end| !taken(end));
    let end = free.next().expect("fewer files than numbers");
    for loss in losses {
        let path = dir.join(format!("{}.jsonl", loss.stream));
        let failed = || format!("failed to cut {}", path.display());
        let kept = inspector.inspect(&loss.stream).lines;
        let bytes = kept.iter().take(loss.kept as usize).map(|line| line.len() as u64 + 1).sum();
        let copy = dir.join(format!("{}.jsonl.{end}", loss.stream));
        fs::copy(&path, &copy).with_context(failed)?;
        fs::File::open(&copy).and_then(|file| file.sync_all()).with_context(failed)?;
        if loss.kept == 0 {
            fs::remove_file(&path).with_context(failed)?;
        } else {
            let file = fs::OpenOptions::new().write(true).open(&path).with_context(failed)?;
            file.set_len(bytes).and_then(|()| file.sync_all()).with_context(failed)?;
        }
    }
    let results = dir.join("results.json");
    if results.exists() {
        fs::rename(&results, dir.join(format!("results.json.{end}")))?;
    }
    Ok(dir.join(format!("*.{end}")))
}

fn say(
    args: &LogRepairArgs,
    survey: &Survey,
    losses: &[Loss],
    what: &str,
    kept_as: Option<&Path>,
) -> Result<()> {
    let lost: u64 = losses.iter().map(|loss| loss.lost).sum();
    let from_good = |loss: &Loss| survey.streams[&loss.stream].good - loss.kept;
    let kept = survey.events() - losses.iter().map(from_good).sum::<u64>();
    if args.json {
        let text = serde_json::json!({
            "applied": kept_as.is_some(),
            "damaged_copy": kept_as,
            "pages": survey.pages,
            "lost_records": survey.lost_records,
            "kept": kept,
            "lost": lost,
            "losses": losses,
        });
        return super::super::print(&format!("{text}\n"));
    }
    let mut text = format!("{what}\n");
    if let Some(pages) = &survey.pages {
        text += &format!("  the database as a file: {pages}\n");
    }
    for Loss { stream, kept, lost, why } in losses {
        let events = count(*lost, "event that can be read", "events that can be read");
        text += &format!("  {stream}: all after event {kept}, {events}: {why}\n");
    }
    text += &format!("Kept: {}\n", count(kept, "event", "events"));
    if let Some(kept_as) = kept_as {
        text += &format!("The damaged log is {}\n", kept_as.display());
    } else if !losses.is_empty() || survey.pages.is_some() {
        text += "If you have a backup (`agon log backup`), restoring it may lose less\n";
    }
    super::super::print(&text)
}
