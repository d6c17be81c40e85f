//! `agon run`: a whole tournament between local players.

use crate::args::RunArgs;
use crate::config::{NewRun, RunFile, new_run};
use crate::exit::{Exit, Misuse, NotHeld};
use crate::show;
use agon_bots::Houses;
use agon_core::{Commitment, Event, Line, Results, Secret};
use agon_runner::{Folder, Plays, RunOutcome, RunSettings, Sandbox, Stop};
use agon_store::{FileLog, Log, Sync};
use anyhow::{Context, Result};
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

/// A run that is ready to be played.
pub(crate) struct Ready {
    pub(crate) folder: Folder,
    secret: Secret,
    sandbox: Sandbox,
    /// Flags to add to the command that resumes the run.
    resume_flags: String,
}

pub(crate) fn run(args: &RunArgs) -> Result<Exit> {
    let ready = match &args.resume {
        Some(dir) => resume(args, dir)?,
        None => prepare(args)?,
    };
    let sync = if args.fsync { Sync::Always } else { Sync::Process };
    let quiet = args.quiet || (args.json && !std::io::stderr().is_terminal());
    let command = resume_command(&ready);
    if !quiet {
        if let Some(warning) = ready.sandbox.warning() {
            eprintln!("agon: {warning}");
        }
        // Printed first, because a killed process cannot print it.
        eprintln!("If this is interrupted, continue with: {command}");
    }
    let folder = ready.folder.clone();
    let outcome = play(ready, sync, quiet)?;
    finish(args, &folder, &command, &outcome)
}

/// Creates the folder of a new run.
pub(crate) fn prepare(args: &RunArgs) -> Result<Ready> {
    let file = RunFile::read(args.config.as_deref())?;
    let NewRun { settings, seed, out } = new_run(args, file, &agon_analysis::registry())?;
    check_players(&settings)?;
    let folder = Folder::new(out);
    let (secret, sandbox) = (secret(seed)?, open_sandbox(&settings, &folder)?);
    let keep = may_keep_secret(&settings, &sandbox);
    folder.create(&settings, keep.then_some(&secret))?;
    let resume_flags = resume_flags(keep, seed);
    Ok(Ready { folder, secret, sandbox, resume_flags })
}

/// Opens the folder of an earlier run.
fn resume(args: &RunArgs, dir: &Path) -> Result<Ready> {
    let folder = Folder::new(dir);
    let mut settings = folder.open()?;
    settings.sandbox = args.sandbox.over(settings.sandbox);
    settings.sandbox.ponder |= args.ponder;
    let kept = folder.secret()?;
    let wanted = args.seed.map(Secret::from_seed_number);
    if let (Some(wanted), Some(committed)) = (&wanted, committed(&folder, &settings)?)
        && wanted.commitment() != committed
    {
        let why = "--seed is not the number that this run started with; give that number, or leave \
             --seed out";
        return Err(Misuse(why.into()).into());
    }
    let secret = wanted.or(kept.clone()).map_or_else(|| secret(None), Ok)?;
    if folder.results_text().is_some() {
        let (sandbox, resume_flags) = (Sandbox::none(), String::new());
        return Ok(Ready { folder, secret, sandbox, resume_flags });
    }
    check_programs(&settings)?;
    let sandbox = open_sandbox(&settings, &folder)?;
    let keep = may_keep_secret(&settings, &sandbox);
    match keep {
        true if kept.as_ref() != Some(&secret) => folder.keep_secret(&secret)?,
        true => {}
        false => folder.remove_secret()?,
    }
    let resume_flags = resume_flags(keep, args.seed);
    Ok(Ready { folder, secret, sandbox, resume_flags })
}

/// Returns whether the secret may be in a file, because no player can open it.
fn may_keep_secret(settings: &RunSettings, sandbox: &Sandbox) -> bool {
    !has_programs(settings) || sandbox.hides_files()
}

fn has_programs(settings: &RunSettings) -> bool {
    settings.players.iter().any(|player| matches!(player.plays, Plays::Command(_)))
}

fn resume_flags(keep: bool, seed: Option<u64>) -> String {
    seed.filter(|_| !keep).map_or_else(String::new, |seed| format!(" --seed {seed}"))
}

/// Finds out what this machine can enforce, and whether every program starts in the sandbox.
fn open_sandbox(settings: &RunSettings, folder: &Folder) -> Result<Sandbox> {
    if !has_programs(settings) {
        return Ok(Sandbox::none());
    }
    let sandbox = Sandbox::open(settings.sandbox.clone(), Some(folder.path()));
    for player in &settings.players {
        if let Plays::Command(words) = &player.plays {
            sandbox.check(words).map_err(|error| Misuse(error.to_string()))?;
        }
    }
    if !sandbox.hides_files() {
        agon_runner::protect_memory();
    }
    Ok(sandbox)
}

/// The commitment in the log of a run, if the run has begun.
fn committed(folder: &Folder, settings: &RunSettings) -> Result<Option<Commitment>> {
    let log = FileLog::open_read_only(folder.path())?;
    let lines = log.load(&format!("tournament/{}", settings.plan.id), 0)?;
    let commitments = lines.iter().rev().filter_map(|text| match Line::read(text).ok()?.event {
        Event::TournamentCreated(created) => Some(created.commitment),
        Event::LuckRenewed(renewed) => Some(renewed.commitment),
        _ => None,
    });
    Ok(commitments.take(1).next())
}

/// Plays the run in the folder and shows progress on stderr.
pub(crate) fn play(ready: Ready, sync: Sync, quiet: bool) -> Result<RunOutcome> {
    let Ready { folder, secret, sandbox, .. } = ready;
    let settings = folder.open()?;
    crate::command::solve::use_cache(None);
    let stop = Stop::default();
    let progress = show::Progress::start(&settings, quiet);
    // The players need the other cores: one thread handles tens of thousands of decisions a second.
    let runtime = super::single_thread()?;
    let teller = progress.teller();
    let outcome = runtime.block_on(async {
        let signals = super::stop_on_signals(stop.clone())?;
        let players = agon_runner::Known {
            games: agon_analysis::registry(),
            houses: Arc::new(Houses::standard()),
        };
        let played = agon_runner::run(&folder, secret, sync, players, sandbox, stop, teller).await;
        signals.abort();
        anyhow::Ok(played?)
    });
    progress.finish();
    outcome
}

/// Refuses a tournament of one player, or with a program that cannot be started.
fn check_programs(settings: &RunSettings) -> Result<()> {
    if settings.players.len() < 2 {
        let why = "a tournament needs at least 2 players, and there is only 1; add one, for \
                   example house:random. Nothing was played";
        return Err(NotHeld(why.into()).into());
    }
    let mut missing = Vec::new();
    for player in &settings.players {
        if let Plays::Command(words) = &player.plays
            && let Err(why) = agon_runner::find_program(&words[0])
        {
            missing.push(format!("player {} cannot be started: {why}", player.name));
        }
    }
    match missing.is_empty() {
        true => Ok(()),
        false => Err(NotHeld(format!("{}. Nothing was played", missing.join("; "))).into()),
    }
}

/// Reports an unknown house player before the tournament starts.
fn check_players(settings: &RunSettings) -> Result<()> {
    let houses = Houses::standard();
    for player in &settings.players {
        if let Plays::House(name) = &player.plays {
            houses.make(&settings.plan.game, name)?;
        }
    }
    check_programs(settings)?;
    let kind = agon_analysis::registry().kind(&settings.plan.game).cloned();
    let kind = kind.expect("the game was checked before");
    agon_core::Tournament::create(settings.plan.clone(), kind, Secret::from_seed_number(0))?;
    Ok(())
}

fn secret(seed: Option<u64>) -> Result<Secret> {
    if let Some(number) = seed {
        return Ok(Secret::from_seed_number(number));
    }
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("failed to get random bytes from the system: {error}"))?;
    Ok(Secret::from_bytes(bytes))
}

/// The command that resumes the run.
fn resume_command(ready: &Ready) -> String {
    format!("agon run --resume {}{}", quoted(&ready.folder), ready.resume_flags)
}

/// The folder, quoted for a shell.
fn quoted(folder: &Folder) -> String {
    let dir = folder.path().display().to_string();
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+:@%".contains(letter);
    match dir.chars().all(plain) {
        true => dir,
        false => format!("'{}'", dir.replace('\'', r"'\''")),
    }
}

fn finish(args: &RunArgs, folder: &Folder, command: &str, outcome: &RunOutcome) -> Result<Exit> {
    if outcome.stopped {
        eprintln!("Stopped. Nothing is lost; continue with:\n\n    {command}\n");
        return Ok(Exit::Stopped);
    }
    let dir = quoted(folder);
    let results = &outcome.results;
    let text = if args.json {
        let text = folder.results_text().context("failed to read the results just written")?;
        String::from_utf8(text).context("failed to read the results just written")?
    } else {
        let colour = show::colour(std::io::stdout().is_terminal());
        let mut shown = show::results(results, colour);
        if args.reasons {
            shown.push_str(&show::reasons(results, colour));
        }
        let luck = luck_and_skill(folder, results, colour);
        format!("{shown}{luck}Log and results: {dir}\nCheck them with: agon verify {dir}\n")
    };
    super::print(&text)?;
    Ok(exit_of(args, results))
}

/// The most games that are analysed at the end of a run: about a second.
const ANALYSED_MAX: usize = 2_000;

/// The points of all players with and without luck, if the analysis of their game measures luck.
fn luck_and_skill(folder: &Folder, results: &Results, colour: bool) -> String {
    if !agon_analysis::Models::standard().has_luck(&results.game) {
        return String::new();
    }
    let matches = results.rounds.iter().flat_map(|round| &round.matches);
    if matches.map(|report| report.result.games.len()).sum::<usize>() > ANALYSED_MAX {
        return format!("Luck and skill of so many games: agon analyse {}\n", quoted(folder));
    }
    match super::analyse::standings(folder.path()) {
        Ok(Some(standings)) => format!("\n{}", show::adjusted_standings(&standings, colour)),
        Ok(None) => String::new(),
        Err(error) => {
            eprintln!("agon: failed to analyse the games: {error:#}");
            String::new()
        }
    }
}

fn exit_of(args: &RunArgs, results: &Results) -> Exit {
    if results.status.starts_with("aborted") {
        eprintln!("agon: the tournament could not be held: {}", &results.status[9..]);
        return Exit::NotHeld;
    }
    let faults = results.standings.iter().any(|summary| !summary.faults.is_empty());
    if args.strict && faults { Exit::Faults } else { Exit::Success }
}
