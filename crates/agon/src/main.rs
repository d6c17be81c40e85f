//! The `agon` command: reads arguments, calls libraries, prints.

mod args;
mod command;
mod config;
mod diagnostics;
mod exit;
mod show;

use clap::Parser;
use exit::Exit;
use std::process::ExitCode;

/// What one thread of the server makes, another often frees.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version go to stdout with success, mistakes to stderr.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage } else { Exit::Success }.into();
        }
    };
    match command::dispatch(args) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("agon: {error:#}");
            exit::of(&error).into()
        }
    }
}
