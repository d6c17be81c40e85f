//! `agon demo`: a tournament between house players, from the first roll to the verified log.

mod cluster;
mod erlang;
mod peers;

use crate::args::{ColourArg, DemoArgs, DemoSystem, ReplayArgs, RunArgs, VerifyArgs};
use crate::command::{replay, run, verify};
use crate::exit::Exit;
use crate::show;
use agon_store::Sync;
use anyhow::{Context, Result};
use std::io::IsTerminal;

pub(crate) fn demo(args: &DemoArgs) -> Result<Exit> {
    match args.system {
        None => house_cup(),
        Some(DemoSystem::Cluster) => cluster::demo(),
        Some(DemoSystem::Erlang) => erlang::demo(),
        Some(DemoSystem::Fish) => peers::fish(),
        Some(DemoSystem::Trains) => peers::trains(),
    }
}

fn house_cup() -> Result<Exit> {
    super::print(
        "Agon plays a Yahtzee cup between house players, best of three. `agon --help` lists all \
         commands.\n\n",
    )?;
    let out = std::env::temp_dir().join(format!("agon-demo-{}", std::process::id()));
    let players = ["optimal", "greedy", "random", "greedy", "optimal", "random"];
    let args = RunArgs {
        preset: Some("yahtzee-class".into()),
        player: players.iter().map(|name| format!("house:{name}")).collect(),
        best_of: Some(3),
        out: Some(out.clone()),
        ..RunArgs::default()
    };
    let exit = show_all(run::prepare(&args)?);
    std::fs::remove_dir_all(&out).context("failed to remove the demonstration's folder")?;
    exit
}

/// Plays the tournament, shows the results and the final, and verifies the log.
fn show_all(ready: run::Ready) -> Result<Exit> {
    let folder = ready.folder.clone();
    let outcome = run::play(ready, Sync::Process, !std::io::stderr().is_terminal())?;
    if outcome.stopped {
        return Ok(Exit::Stopped);
    }
    let colour = show::colour(std::io::stdout().is_terminal());
    super::print(&show::results(&outcome.results, colour))?;
    super::print("\nHow the games of the final ended:\n\n")?;
    replay::replay(&ReplayArgs {
        path: folder.path().to_owned(),
        match_id: None,
        game: None,
        last: true,
        every: None,
        colour: ColourArg::Auto,
        json: false,
    })?;
    let paths = vec![folder.path().to_owned()];
    verify::verify(&VerifyArgs { paths, ..VerifyArgs::default() })
}
