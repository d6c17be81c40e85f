//! Flags that confine the programs of players.

use agon_runner::{Limits, SandboxSettings};
use clap::Args as ClapArgs;

/// For the help of every command that starts programs.
pub(crate) const SANDBOX_HELP: &str = "\
Programs run in a sandbox (bubblewrap): they see the system and their own folders read-only, /tmp of
their own, no other process, no network, and nothing of the run's folder. What this machine cannot
enforce is reported at the start; `agon doctor --sandbox` shows all of it (docs/sandbox.md).";

/// How programs are confined.
#[derive(ClapArgs, Clone, Debug, Default)]
pub(crate) struct SandboxArgs {
    /// Trust all programs: run them without a sandbox and without limits. They can then do whatever
    /// you can.
    #[arg(long, conflicts_with_all = ["memory", "cpus", "cpu_time", "network"])]
    pub(crate) no_sandbox: bool,
    /// Memory of one program, such as 512m or 4g; by default 2g. One that takes more is killed.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) memory: Option<u64>,
    /// Processors one program may keep busy, such as 0.5 or 2; by default 1.
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
    /// These flags over settings from elsewhere.
    pub(crate) fn over(&self, base: SandboxSettings) -> SandboxSettings {
        let limits = Limits {
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

/// A number of bytes with k, m or g behind it.
fn size(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(['k', 'm', 'g', 'b', 'i']);
    let unit = match &lower[digits.len()..] {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return Err("write a size such as 512m or 4g".into()),
    };
    let number: u64 = digits.parse().map_err(|_| "write a size such as 512m or 4g".to_owned())?;
    let bytes = number.checked_mul(1 << unit).ok_or("that is too much")?;
    match bytes {
        0..0x40_0000 => Err("no program runs in less than 4m".into()),
        _ => Ok(bytes),
    }
}

fn cpus(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.05..=1024.0).contains(&number) => Ok(number),
        _ => Err("write a number of processors from 0.05 to 1024".into()),
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
        assert_eq!(size("100KiB").unwrap_err(), "no program runs in less than 4m");
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
