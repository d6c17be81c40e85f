//! Flags of the sandbox for players' programs.

use agon_runner::{SandboxLimits, SandboxSettings};
use clap::Args as ClapArgs;

/// For the help of every command that starts programs.
pub(crate) const SANDBOX_HELP: &str = "\
Programs run in a sandbox (bubblewrap). They can read the system and their own folders, and write to
a private /tmp. They see no other process, no network, and nothing in the run's folder. Agon reports
at the start what this machine cannot enforce; `agon doctor --sandbox` shows all protections
(docs/sandbox.md).";

/// How programs are confined.
#[derive(ClapArgs, Clone, Debug, Default)]
pub(crate) struct SandboxArgs {
    /// Trust all programs: run them without a sandbox and without limits. They can then do
    /// everything you can.
    #[arg(long, conflicts_with_all = ["memory", "cpus", "cpu_time", "network"])]
    pub(crate) no_sandbox: bool,
    /// Memory limit of one program, such as 512m or 4g; by default 2g. A program that needs more is
    /// killed.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) memory: Option<u64>,
    /// CPU limit of one program in processors, such as 0.5 or 2; by default 1.
    #[arg(long, value_name = "N", value_parser = cpus)]
    pub(crate) cpus: Option<f64>,
    /// Processor time of one process of a program, in seconds; by default 14400 (4 hours). A process
    /// that uses more is killed.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) cpu_time: Option<u64>,
    /// Let programs use the network.
    #[arg(long)]
    pub(crate) network: bool,
}

impl SandboxArgs {
    /// The given settings, overridden by these flags.
    pub(crate) fn over(&self, base: SandboxSettings) -> SandboxSettings {
        let limits = SandboxLimits {
            memory: self.memory.unwrap_or(base.limits.memory),
            cpus: self.cpus.unwrap_or(base.limits.cpus),
            cpu_seconds: self.cpu_time.unwrap_or(base.limits.cpu_seconds),
            ..base.limits
        };
        SandboxSettings {
            off: base.off || self.no_sandbox,
            network: base.network || self.network,
            ponder: base.ponder,
            limits,
        }
    }
}

/// Parses a number of bytes with the suffix k, m or g.
fn size(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(['k', 'm', 'g', 'b', 'i']);
    let unit = match &lower[digits.len()..] {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return Err("invalid size; write it as 512m or 4g".into()),
    };
    let number: u64 = digits.parse().map_err(|_| {
        "invalid size; write it as 512m or \
        4g"
        .to_owned()
    })?;
    let bytes = number.checked_mul(1 << unit).ok_or("the size is too large")?;
    match bytes {
        0..0x40_0000 => Err("the size is too small; a program needs at least 4m".into()),
        _ => Ok(bytes),
    }
}

fn cpus(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.05..=1024.0).contains(&number) => Ok(number),
        _ => Err("invalid number of processors; use 0.05 to 1024".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(size("512m"), Ok(512 << 20));
        assert_eq!(size("4G"), Ok(4 << 30));
        assert_eq!(size("8388608"), Ok(8 << 20));
        assert_eq!(
            size("100KiB").unwrap_err(),
            "the size is too small; a program needs at least \
            4m"
        );
        for bad in ["", "m", "4x", "-1g", "99999999999g"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_of_processors_have_limits() {
        assert_eq!(cpus("0.5"), Ok(0.5));
        for bad in ["", "0", "-1", "nan", "inf", "1e9"] {
            assert!(cpus(bad).is_err(), "{bad}");
        }
    }
}
