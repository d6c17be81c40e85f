//! The `agon` command.

use std::process::ExitCode;

/// mimalloc is fast when one thread frees what another allocated.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    agon::run()
}
