//! The `agon` command as a library: it parses arguments, calls other crates and prints. Programs
//! that embed Agon depend on those crates instead.

mod args;
mod command;
mod config;
mod diagnostics;
mod exit;
mod show;

pub use agon_bench::free_port;
pub use config::{check_run_file, check_serve_file};

use clap::Parser;
use exit::Exit;
use std::process::ExitCode;

/// Runs the command with the arguments of this process.
pub fn run() -> ExitCode {
    // First of all, because every start of a player's program in the sandbox goes through here.
    if std::env::args_os().nth(1).is_some_and(|first| first == agon_runner::CONFINE) {
        return agon_runner::confine(std::env::args_os().skip(2));
    }
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Prints help and version to stdout, and errors to stderr.
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
