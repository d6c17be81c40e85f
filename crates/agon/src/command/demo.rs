//! Plain `agon`: a tournament between house players, from the first dice to the checked result.

use crate::args::{ColourArg, ReplayArgs, RunArgs, VerifyArgs};
use crate::command::{replay, run, verify};
use crate::exit::Exit;
use anyhow::{Context, Result};
use std::io::IsTerminal;

pub(crate) fn demo() -> Result<Exit> {
    super::print(
        "Agon: a Yahtzee cup between house players, best of three. `agon --help` has the rest.\n\n",
    )?;
    let out = std::env::temp_dir().join(format!("agon-demo-{}", std::process::id()));
    let players = ["optimal", "greedy", "random", "greedy", "optimal", "random"];
    let args = RunArgs {
        preset: Some("yahtzee-class".into()),
        player: players.iter().map(|name| format!("house:{name}")).collect(),
        best_of: Some(3),
        out: Some(out.clone()),
        quiet: !std::io::stderr().is_terminal(),
        ..RunArgs::default()
    };
    let exit = run::run(&args)?;
    if exit != Exit::Success {
        return Ok(exit);
    }
    super::print("\nThe last game of the final:\n\n")?;
    replay::replay(&ReplayArgs {
        path: out.clone(),
        match_id: None,
        game: None,
        last: true,
        every: None,
        colour: ColourArg::Auto,
        json: false,
    })?;
    let exit = verify::verify(&VerifyArgs { paths: vec![out.clone()], json: false, quiet: false })?;
    std::fs::remove_dir_all(&out).context("failed to remove the demonstration's folder")?;
    Ok(exit)
}
