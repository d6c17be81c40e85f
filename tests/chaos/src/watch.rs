//! Monitors the server from outside: its metrics must add up, and its resource use must stay within
//! bounds.

use crate::history::History;
use crate::server::{Alive, memory_kb, open_files};
use agon_client::http::Http;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;

/// How long a page may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The highest value of each figure.
#[derive(Clone, Copy, Default, Debug, Serialize)]
pub(crate) struct Peaks {
    /// Pages of `/metrics` that were read.
    pub(crate) looks: u64,
    pub(crate) memory_kb: u64,
    pub(crate) open_files: u64,
}

/// Polls the server.
#[derive(Debug)]
pub(crate) struct Watcher {
    http: watch::Receiver<SocketAddr>,
    alive: Alive,
    history: Arc<History>,
    peaks: Mutex<Peaks>,
}

impl Watcher {
    pub(crate) fn new(
        http: watch::Receiver<SocketAddr>,
        alive: Alive,
        history: Arc<History>,
    ) -> Watcher {
        Watcher { http, alive, history, peaks: Mutex::default() }
    }

    pub(crate) fn peaks(&self) -> Peaks {
        *self.peaks.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Polls at this interval, for ever.
    pub(crate) async fn look(self: Arc<Self>, every: Duration) {
        loop {
            tokio::time::sleep(every).await;
            self.look_at_process();
            let text = tokio::time::timeout(PATIENCE, self.metrics()).await.ok().flatten();
            if let Some(text) = text {
                let metrics = Metrics::read(&text);
                metrics.check().into_iter().for_each(|what| self.history.complain(what));
                self.peaks.lock().unwrap_or_else(|broken| broken.into_inner()).looks += 1;
            }
        }
    }

    fn look_at_process(&self) {
        let Some(pid) = self.alive.pid() else { return };
        let (memory, files) = (memory_kb(pid, "VmHWM"), open_files(pid));
        let mut peaks = self.peaks.lock().unwrap_or_else(|broken| broken.into_inner());
        peaks.memory_kb = peaks.memory_kb.max(memory.unwrap_or(0));
        peaks.open_files = peaks.open_files.max(files.unwrap_or(0));
    }

    async fn metrics(&self) -> Option<String> {
        let place = *self.http.borrow();
        let (http, _) = Http::parse(&format!("http://{place}")).ok()?;
        let response = http.send("GET", "/metrics", None).await.ok()?;
        let text = String::from_utf8(response.body).ok();
        // A node that stands by has other metrics.
        text.filter(|text| !text.contains("agon_relay_up"))
    }
}

/// A page of metrics: values by name and labels.
struct Metrics(BTreeMap<String, f64>);

impl Metrics {
    fn read(text: &str) -> Metrics {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let values = lines.filter_map(|line| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        });
        Metrics(values.collect())
    }

    fn of(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(f64::NAN)
    }

    /// The sum over all label sets that contain this one.
    fn sum(&self, name: &str, label: &str) -> f64 {
        let fits = |key: &&String| {
            key.strip_prefix(name).is_some_and(|rest| rest.starts_with('{') && rest.contains(label))
        };
        self.0.keys().filter(fits).map(|key| self.0[key]).sum()
    }

    /// Sums that do not match, as `docs/protocol/http.md` defines them.
    fn check(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut equal = |what: &str, left: f64, right: f64| {
            // NaN, where a metric is missing, is not equal either.
            if left != right {
                wrong.push(format!("metrics: {what}: {left} is not {right}"));
            }
        };
        let of = |name: &str| self.of(&format!("agon_{name}"));
        let games = of("games_finished_total") + of("games_void_total") + of("games_running");
        equal("games", of("games_started_total"), games);
        for what in ["tournaments", "matches"] {
            let (ended, running) =
                (of(&format!("{what}_ended_total")), of(&format!("{what}_running")));
            equal(what, of(&format!("{what}_started_total")), ended + running);
        }
        for transport in ["tcp", "websocket"] {
            let label = format!("transport=\"{transport}\"");
            let opened = self.sum("agon_connections_opened_total", &label);
            let closed = self.sum("agon_connections_closed_total", &label);
            equal(transport, opened, closed + self.sum("agon_connections", &label));
        }
        for (key, count) in self.0.iter().filter(|(key, _)| key.ends_with("_seconds_count")) {
            let name = key.trim_end_matches("_count");
            equal(name, self.of(&format!("{name}_bucket{{le=\"+Inf\"}}")), *count);
        }
        wrong
    }
}
