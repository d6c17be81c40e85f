//! `agon run`: a whole tournament between local players.

use crate::args::RunArgs;
use crate::config::{NewRun, RunFile, new_run};
use crate::exit::Exit;
use crate::show;
use agon_core::{Results, Secret};
use agon_games::Registry;
use agon_players::Houses;
use agon_runner::{Folder, Outcome, RunSettings, Stop};
use agon_store::Sync;
use anyhow::{Context, Result};
use std::io::IsTerminal;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};

pub(crate) fn run(args: &RunArgs) -> Result<Exit> {
    let folder = match &args.resume {
        Some(dir) => Folder::new(dir),
        None => prepare(args)?,
    };
    let sync = if args.fsync { Sync::Always } else { Sync::Process };
    let quiet = args.quiet || (args.json && !std::io::stderr().is_terminal());
    folder.open()?;
    if !quiet {
        // Said before anything can happen: whoever is killed later cannot say it.
        eprintln!("If this is interrupted, go on with: {}", resume_command(&folder));
    }
    let outcome = play(&folder, sync, quiet)?;
    finish(args, &folder, &outcome)
}

/// Makes the folder of a new run.
pub(crate) fn prepare(args: &RunArgs) -> Result<Folder> {
    let file = RunFile::read(args.config.as_deref())?;
    let NewRun { settings, seed, out } = new_run(args, file, &Registry::standard())?;
    check_players(&settings)?;
    let folder = Folder::new(out);
    folder.create(&settings, &secret(seed)?)?;
    Ok(folder)
}

/// Plays what is in the folder, with progress on stderr.
pub(crate) fn play(folder: &Folder, sync: Sync, quiet: bool) -> Result<Outcome> {
    let (settings, _) = folder.open()?;
    crate::command::solve::use_cache(None);
    let stop = Stop::default();
    let progress = show::Progress::start(&settings, quiet);
    let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // The players need the other cores; a worker handles some 30,000 decisions a second.
        .worker_threads(cores.div_ceil(2))
        .build()
        .context("failed to start the runtime")?;
    let teller = progress.teller();
    let asked = stop.clone();
    let outcome = runtime.block_on(async {
        // From here on, not from when the task first runs: no signal is missed.
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let signals = tokio::spawn(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            asked.ask();
        });
        let houses = Arc::new(Houses::standard());
        let outcome =
            agon_runner::run(folder, sync, Registry::standard(), houses, stop, teller).await;
        signals.abort();
        anyhow::Ok(outcome?)
    });
    progress.finish();
    outcome
}

/// Says now, not in the middle of the tournament, that a house player does not exist.
fn check_players(settings: &RunSettings) -> Result<()> {
    let houses = Houses::standard();
    for player in &settings.players {
        if let agon_runner::Plays::House(name) = &player.plays {
            houses.make(&settings.plan.game, name)?;
        }
    }
    let kind = Registry::standard().kind(&settings.plan.game).cloned();
    let kind = kind.expect("the game was looked up before");
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

/// What to type to go on.
fn resume_command(folder: &Folder) -> String {
    format!("agon run --resume {}", quoted(folder))
}

/// The folder as a shell reads it.
fn quoted(folder: &Folder) -> String {
    let dir = folder.path().display().to_string();
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+:@%".contains(letter);
    match dir.chars().all(plain) {
        true => dir,
        false => format!("'{}'", dir.replace('\'', r"'\''")),
    }
}

fn finish(args: &RunArgs, folder: &Folder, outcome: &Outcome) -> Result<Exit> {
    if outcome.stopped {
        let command = resume_command(folder);
        eprintln!("Stopped. Nothing is lost; go on with:\n\n    {command}\n");
        return Ok(Exit::Stopped);
    }
    let dir = quoted(folder);
    let results = &outcome.results;
    let text = if args.json {
        let text = folder.results_text().context("failed to read the results just written")?;
        String::from_utf8(text).context("failed to read the results just written")?
    } else {
        let shown = show::results(results, show::colour(std::io::stdout().is_terminal()));
        format!("{shown}Log and results: {dir}\nCheck them with: agon verify {dir}\n")
    };
    super::print(&text)?;
    Ok(exit_of(args, results))
}

fn exit_of(args: &RunArgs, results: &Results) -> Exit {
    if results.status.starts_with("aborted") {
        eprintln!("agon: the tournament could not be held: {}", &results.status[9..]);
        return Exit::NotHeld;
    }
    let faults = results.standings.iter().any(|summary| !summary.faults.is_empty());
    if args.strict && faults { Exit::Faults } else { Exit::Success }
}
