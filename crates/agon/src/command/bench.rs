//! `agon bench`: runs the load generator of `agon-bench` and prints its report.

use super::serve;
use crate::exit::Exit;
use agon_bench::{BenchArgs, BenchPartArgs};
use anyhow::{Context, Result};

pub(crate) fn bench(args: &BenchArgs) -> Result<Exit> {
    let Some(report) = agon_bench::bench(args, serve::LOG_FILE)? else {
        return Ok(Exit::Stopped);
    };
    super::print(&report)?;
    Ok(Exit::Success)
}

/// One process of the ping-pong. The echo runs on the runtime of a server.
pub(crate) fn part(args: &BenchPartArgs) -> Result<Exit> {
    match args.part.as_str() {
        "echo" => serve::runtime()?.block_on(async {
            let listener = serve::open(args.address).context("failed to listen")?;
            agon_bench::echo(listener, args.connections, args.file.as_deref()).await
        })?,
        _ => agon_bench::ping(args.address, args.connections)?,
    }
    Ok(Exit::Success)
}
