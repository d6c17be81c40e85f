//! One file per subcommand.

mod bot;
mod demo;
mod doctor;
mod join;
mod list;
mod replay;
mod run;
mod serve;
mod solve;
mod verify;

use crate::args::{Args, Command};
use crate::exit::Exit;
use anyhow::Result;

pub(crate) fn dispatch(args: Args) -> Result<Exit> {
    match args.command {
        None => demo::demo(),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Replay(args)) => replay::replay(&args),
        Some(Command::Verify(args)) => verify::verify(&args),
        Some(Command::Bot(args)) => bot::bot(&args),
        Some(Command::Serve(args)) => serve::serve(&args),
        Some(Command::Join(args)) => join::join(&args),
        Some(Command::Doctor(args)) => doctor::doctor(&args),
        Some(Command::Solve(args)) => solve::solve(&args),
        Some(Command::List { json }) => list::list(json),
    }
}

/// Writes to stdout; a reader that has gone away (`agon list | head`) is no failure.
pub(crate) fn print(text: &str) -> Result<()> {
    use std::io::Write;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
