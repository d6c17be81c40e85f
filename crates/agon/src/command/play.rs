//! `agon play`: a person plays in the terminal, on a server or against house players and programs.

mod here;
mod keyboard;
mod program;
mod prompt;
mod there;

use crate::args::{ColourArg, PlayArgs};
use crate::exit::{Exit, Misuse};
use crate::show;
use anyhow::Result;
use std::io::IsTerminal;

pub(crate) fn play(args: &PlayArgs) -> Result<Exit> {
    if args.server.is_none() && args.vs.is_empty() {
        let why = "no opponent was given; use --vs house:NAME, --vs 'PROGRAM' or --server \
            HOST:PORT";
        return Err(Misuse(why.into()).into());
    }
    super::solve::use_cache(None);
    let colour = coloured(args.colour);
    let runtime = super::single_thread()?;
    let exit = runtime.block_on(async {
        match &args.server {
            Some(server) => there::play(args, server, colour).await,
            None => here::play(args, colour).await,
        }
    });
    // A thread may still wait for input.
    runtime.shutdown_background();
    exit
}

/// Returns whether to use colours.
pub(super) fn coloured(colour: ColourArg) -> bool {
    match colour {
        ColourArg::Always => true,
        ColourArg::Never => false,
        ColourArg::Auto => show::colour(std::io::stdout().is_terminal()),
    }
}

/// Writes to the terminal and flushes.
fn say(text: &str) -> Result<()> {
    use std::io::Write;
    super::print(text)?;
    match std::io::stdout().flush() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
