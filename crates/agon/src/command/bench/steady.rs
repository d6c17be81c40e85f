//! A long load at a steady rate, against the usual time limits: what players see of it, whether
//! anybody is charged with anything, and whether the server grows.

use super::report::{Latency, Steady};
use super::{Run, SETTLE};
use anyhow::Result;
use std::time::{Duration, Instant};

/// How often the server's size is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// How often it is told how far it is.
const TELL: Duration = Duration::from_secs(10);

impl Run<'_> {
    /// Everybody plays all the time, so many decisions a second in all.
    pub(super) async fn steady(&self, rate: u32) -> Result<Steady> {
        let length = Duration::from_secs_f64(self.args.seconds);
        let playing = (2 * self.args.matches_wanted()).min(self.args.players);
        let load = &self.crew.load;
        load.start(Some(Duration::from_secs_f64(playing as f64 / f64::from(rate))));
        tokio::time::sleep(SETTLE).await;
        load.latency.borrow_mut().clear();
        let turns = self.server.turns().await?;
        let (answers, cpu, began) =
            (load.answers.get(), self.server.process.cpu()?, Instant::now());
        let mut sizes = vec![self.server.process.resident()?];
        let mut told = Duration::ZERO;
        while began.elapsed() < length && self.crew.complaint().is_none() {
            tokio::time::sleep(LOOK.min(length)).await;
            sizes.push(self.server.process.resident()?);
            let (so_far, count) = (began.elapsed(), load.answers.get() - answers);
            if so_far >= told + TELL {
                told = so_far;
                let left = length.saturating_sub(so_far).as_secs();
                self.progress.say(&format!("steady load: {count} decisions, {left} s left"));
            }
        }
        let (took, cpu) = (began.elapsed(), self.server.process.cpu()?.saturating_sub(cpu));
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
