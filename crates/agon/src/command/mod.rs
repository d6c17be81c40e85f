//! One file per subcommand.

mod admin;
mod analyse;
mod bench;
mod bot;
mod cluster;
mod demo;
mod doctor;
mod export;
mod format;
mod join;
mod list;
mod log;
mod login;
mod play;
mod replay;
mod run;
mod serve;
mod solve;
mod source;
mod verify;
mod watch;

pub(crate) use analyse::Analysis;
pub(crate) use format::read_named_ratings;

use crate::args::{Args, Command};
use crate::exit::Exit;
use anyhow::{Context, Result};
use tokio::signal::unix::{SignalKind, signal};

pub(crate) fn dispatch(args: Args) -> Result<Exit> {
    match args.command {
        None => serve::plain(),
        Some(Command::Demo(args)) => demo::demo(&args),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Replay(args)) => replay::replay(&args),
        Some(Command::Analyse(args)) => analyse::analyse(&args),
        Some(Command::Verify(args)) => verify::verify(&args),
        Some(Command::Bot(args)) => bot::bot(&args),
        Some(Command::Serve(args)) => serve::serve(&args),
        Some(Command::Join(args)) => join::join(&args),
        Some(Command::Log(args)) => log::log(&args),
        Some(Command::Cluster(args)) => cluster::cluster(&args),
        Some(Command::Play(args)) => play::play(&args),
        Some(Command::Watch(args)) => watch::watch(&args),
        Some(Command::Admin(args)) => admin::admin(&args),
        Some(Command::Doctor(args)) => doctor::doctor(&args),
        Some(Command::Solve(args)) => solve::solve(&args),
        Some(Command::Bench(args)) => bench::bench(&args),
        Some(Command::BenchPart(args)) => bench::part(&args),
        Some(Command::Export(args)) => export::export(&args),
        Some(Command::Format(args)) => format::format(&args),
        Some(Command::List { json }) => list::list(json),
    }
}

/// A runtime with one thread, for a client or a run.
pub(crate) fn single_thread() -> Result<tokio::runtime::Runtime> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.context("failed to start the runtime")
}

/// Asks a run or an exam to stop at Ctrl-C or SIGTERM. Signals count from the call on.
fn stop_on_signals(stop: agon_runner::Stop) -> Result<tokio::task::JoinHandle<()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        stop.ask();
    }))
}

/// Writes to stdout. A closed pipe (`agon list | head`) is no error.
pub(crate) fn print(text: &str) -> Result<()> {
    use std::io::Write;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
