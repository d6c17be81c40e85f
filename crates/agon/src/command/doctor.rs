//! `agon doctor`: examines a program before its first tournament.

use crate::args::DoctorArgs;
use crate::exit::{Exit, Misuse};
use crate::show;
use agon_runner::doctor::{ExamReport, ExamSettings, GameExam, SettingsError};
use agon_runner::{Sandbox, SandboxSettings, Stop};
use anyhow::{Context, Result};
use std::io::IsTerminal;
use std::time::Duration;

pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit> {
    if args.sandbox {
        return sandbox(args);
    }
    let settings = settings(args)?;
    super::solve::use_cache(None);
    let quiet = args.quiet || (args.json && !std::io::stderr().is_terminal());
    if !quiet {
        eprintln!("positions from --seed {}", settings.seed);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .worker_threads(2)
        .build()
        .context("failed to start the runtime")?;
    let report = runtime.block_on(examine(args, &settings, quiet))?;
    let text = match args.json {
        true => format!("{}\n", json(&report)?),
        false => show::exam(&report, show::colour(std::io::stdout().is_terminal())),
    };
    super::print(&text)?;
    Ok(match (report.stopped, report.passed()) {
        (true, _) => Exit::Stopped,
        (false, true) => Exit::Success,
        (false, false) => Exit::NotPassed,
    })
}

/// Shows which protections of the sandbox work on this machine.
fn sandbox(args: &DoctorArgs) -> Result<Exit> {
    let protections = Sandbox::open(SandboxSettings::default(), None).protections();
    let text = match args.json {
        true => {
            let all = protections.iter().all(|one| one.holds);
            let value = serde_json::json!({ "all_hold": all, "protections": protections });
            format!("{value:#}\n")
        }
        false => show::protections(&protections, show::colour(std::io::stdout().is_terminal())),
    };
    super::print(&text)?;
    Ok(Exit::Success)
}

/// Runs the exam until it ends, or until Ctrl-C.
async fn examine(args: &DoctorArgs, settings: &ExamSettings, quiet: bool) -> Result<ExamReport> {
    let stop = Stop::default();
    let signals = super::stop_on_signals(stop.clone())?;
    let progress = show::ExamProgress::new(quiet);
    let tell = |step: agon_runner::doctor::ExamStep| progress.step(&step);
    let report = match &args.listen {
        None => agon_runner::doctor::examine_program(settings, stop, &tell).await,
        Some(address) => {
            let say = |place: &std::net::SocketAddr| eprintln!("waiting for a player on {place}");
            let held =
                agon_runner::doctor::examine_guest(settings, address, stop, &tell, &say).await;
            held.with_context(|| format!("failed to listen on {address}"))?
        }
    };
    progress.clear();
    signals.abort();
    Ok(report)
}

fn settings(args: &DoctorArgs) -> Result<ExamSettings> {
    let misuse = |error: SettingsError| Misuse(error.to_string());
    let games = match &args.game[..] {
        [] => GameExam::all(args.answer_ms),
        names => {
            let config = args.game_config.as_deref();
            let games = names.iter().map(|name| GameExam::new(name, config, args.answer_ms));
            games.collect::<Result<_, _>>().map_err(misuse)?
        }
    };
    let seed = match args.seed {
        Some(seed) => seed,
        None => {
            let mut bytes = [0; 4];
            getrandom::fill(&mut bytes)
                .map_err(|error| anyhow::anyhow!("failed to get random bytes: {error}"))?;
            u64::from(u32::from_le_bytes(bytes))
        }
    };
    Ok(ExamSettings {
        words: args.program.clone(),
        games,
        named: !args.game.is_empty(),
        seed,
        quick: args.quick,
        hello_limit: Duration::from_millis(args.hello_ms.max(1)),
    })
}

fn json(report: &ExamReport) -> Result<String> {
    let mut value = serde_json::to_value(report).context("failed to write the report")?;
    value["passed"] = report.passed().into();
    serde_json::to_string_pretty(&value).context("failed to write the report")
}
