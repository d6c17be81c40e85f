//! The `agon` command.

use std::process::ExitCode;

/// What one thread of the server makes, another often frees.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    agon::run()
}
