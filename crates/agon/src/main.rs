//! The `agon` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    agon::run()
}
