//! A long load at a steady rate, against the usual time limits: the latencies that players see, the
//! faults charged, and the growth of the server.

use super::report::{BenchReport, Latency, machine, round};
use super::{Run, SETTLE};
use anyhow::Result;
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// How often the server's memory is sampled.
const LOOK: Duration = Duration::from_secs(1);

/// How often progress is reported.
const TELL: Duration = Duration::from_secs(10);

/// A long load at a steady rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steady {
    /// The requested decisions per second.
    wanted: u32,
    seconds: f64,
    decisions: u64,
    latency: Latency,
    slowest_ms: f64,
    /// From reading an answer to writing the next request, as the server measures it: bounds of the
    /// 50th, 90th, 99th and 99.9th percentile.
    server_ms: [f64; 4],
    /// The server's processor use, in cores.
    cores: f64,
    /// Faults charged to players.
    faults: u64,
    /// The server's peak memory in the first tenth of the time, in the last tenth, and overall.
    bytes_early: u64,
    bytes_late: u64,
    bytes_most: u64,
}

impl Run<'_> {
    /// Lets everybody play all the time, at this many decisions per second in all.
    pub(super) async fn steady(&self, rate: u32) -> Result<Steady> {
        let length = Duration::from_secs_f64(self.args.seconds);
        let playing = (2 * self.args.matches_wanted()).min(self.args.players);
        let load = &self.crew.load;
        load.start(Some(Duration::from_secs_f64(playing as f64 / f64::from(rate))));
        tokio::time::sleep(SETTLE).await;
        load.latency.borrow_mut().clear();
        let turns = self.server.turns().await?;
        let (answers, cpu, began) = (load.answers.get(), self.server.cpu()?, Instant::now());
        let mut sizes = vec![self.server.process.resident()?];
        let mut shown_at = Duration::ZERO;
        while began.elapsed() < length && self.crew.complaint().is_none() {
            tokio::time::sleep(LOOK.min(length)).await;
            sizes.push(self.server.process.resident()?);
            let (so_far, count) = (began.elapsed(), load.answers.get() - answers);
            if so_far >= shown_at + TELL {
                shown_at = so_far;
                let left = length.saturating_sub(so_far).as_secs();
                self.progress.say(&format!("steady load: {count} decisions, {left} s left"));
            }
        }
        let (took, cpu) = (began.elapsed(), self.server.cpu()?.since(&cpu));
        let decisions = load.answers.get() - answers;
        let latency = load.latency.borrow().clone();
        load.drain().await;
        let turns = (turns, self.server.turns().await?);
        let tenth = sizes.len().div_ceil(10);
        Ok(Steady {
            wanted: rate,
            seconds: took.as_secs_f64(),
            decisions,
            latency: Latency::of(&latency),
            slowest_ms: latency.percentile_ms(1.0),
            server_ms: [0.5, 0.9, 0.99, 0.999].map(|s| super::share_below(&turns.0, &turns.1, s)),
            cores: cpu.as_secs_f64() / took.as_secs_f64(),
            faults: self.server.faults().await?,
            bytes_early: sizes.iter().take(tenth).max().copied().unwrap_or(0),
            bytes_late: sizes.iter().rev().take(tenth).max().copied().unwrap_or(0),
            bytes_most: sizes.iter().max().copied().unwrap_or(0),
        })
    }
}

impl Steady {
    fn per_second(&self) -> f64 {
        self.decisions as f64 / self.seconds
    }

    pub(super) fn json(&self, report: &BenchReport) -> Value {
        let mut latency = self.latency.json();
        latency["max"] = json!(self.slowest_ms);
        let [p50, p90, p99, p999] = self.server_ms;
        json!({
            "game": report.game, "players": report.players, "matches": report.matches,
            "transport": report.transport, "seconds": round(self.seconds), "machine": machine(),
            "wanted_per_second": self.wanted, "decisions": self.decisions,
            "decisions_per_second": self.per_second().round(),
            "latency_ms": latency,
            "server_ms": {"p50": p50, "p90": p90, "p99": p99, "p999": p999},
            "server_cores": round(self.cores),
            "faults": self.faults,
            "bytes": {
                "early": self.bytes_early, "late": self.bytes_late, "most": self.bytes_most,
            },
            "complaint": report.complaint,
        })
    }

    pub(super) fn table(&self, report: &BenchReport) -> String {
        let Steady { decisions, seconds, latency, slowest_ms, cores, faults, .. } = self;
        let [p50, p90, p99, p999] = self.server_ms;
        let mb = |bytes: u64| bytes as f64 / 1e6;
        let (early, late) = (mb(self.bytes_early), mb(self.bytes_late));
        let most = mb(self.bytes_most);
        let mut rows = vec![
            (
                "decisions",
                format!("{decisions} in {seconds:.0} s, {:.0} a second", self.per_second()),
            ),
            ("latency", format!("{}, at most {slowest_ms:.1} ms", latency.text())),
            (
                "in the server",
                format!("p50 {p50:.0}, p90 {p90:.0}, p99 {p99:.0}, p99.9 {p999:.0} ms, or less"),
            ),
            ("server", format!("{cores:.2} cores")),
            ("faults", format!("{faults} charged to players")),
            (
                "memory",
                format!(
                    "{early:.0} MB in the first tenth, {late:.0} in the last; {most:.0} at most"
                ),
            ),
        ];
        rows.extend(
            report.complaint.iter().map(|complaint| ("something failed", complaint.clone())),
        );
        rows.push(("machine", machine()));
        let BenchReport { game, players, matches, transport, .. } = report;
        let mut text =
            format!("{game}: {players} players in {matches} matches over {transport}, steady\n\n");
        for (name, value) in rows {
            let _ = writeln!(text, "{name:<22}{value}");
        }
        text
    }
}
