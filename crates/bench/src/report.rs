//! The report of a run, as JSON and as a table.

use super::bare::Trips;
use super::latencies::Latencies;
use super::steady::Steady;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write;

/// Latencies in milliseconds, as players see them.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Latency {
    p50: f64,
    p90: f64,
    p99: f64,
    p999: f64,
}

impl Latency {
    pub(super) fn of(latencies: &Latencies) -> Latency {
        Latency {
            p50: latencies.percentile_ms(0.5),
            p90: latencies.percentile_ms(0.9),
            p99: latencies.percentile_ms(0.99),
            p999: latencies.percentile_ms(0.999),
        }
    }

    /// The median of each percentile over several slices.
    fn median(slices: impl Iterator<Item = Latency> + Clone) -> Latency {
        let of = |what: fn(&Latency) -> f64| median(slices.clone().map(|slice| what(&slice)));
        Latency { p50: of(|l| l.p50), p90: of(|l| l.p90), p99: of(|l| l.p99), p999: of(|l| l.p999) }
    }

    pub(super) fn json(&self) -> Value {
        json!({"p50": self.p50, "p90": self.p90, "p99": self.p99, "p999": self.p999})
    }

    pub(super) fn text(&self) -> String {
        let Latency { p50, p90, p99, p999 } = self;
        match p50 < &1.0 {
            true => format!("p50 {p50:.3}, p90 {p90:.3}, p99 {p99:.3}, p99.9 {p999:.3} ms"),
            false => format!("p50 {p50:.1}, p90 {p90:.1}, p99 {p99:.1}, p99.9 {p999:.1} ms"),
        }
    }
}

/// A slice of play and one of ping-pong.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Pair {
    pub(super) per_second: f64,
    pub(super) cpu_us: f64,
    pub(super) latency: Latency,
    pub(super) bare: Trips,
    /// The ping-pong with as many messages in flight as the game has, where that differs.
    pub(super) in_flight: Option<Trips>,
    /// The ping-pong that syncs a file for every message, where there is one match.
    pub(super) synced: Option<Trips>,
}

/// Play at half the full rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paced {
    pub(super) per_second: f64,
    pub(super) latency: Latency,
    /// From reading an answer to writing the next request, as the server measures it.
    pub(super) server_p99: f64,
}

/// Play with observers.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    pub(super) each: usize,
    pub(super) events_per_second: f64,
    pub(super) pairs: Vec<Pair>,
}

/// One match with many spectators.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watched {
    pub(super) watchers: usize,
    /// Further spectators that never read.
    pub(super) asleep: usize,
    /// Events that each spectator received.
    pub(super) events_per_second: f64,
    /// The server's processor use in cores, with spectators and without.
    pub(super) cores: f64,
    pub(super) cores_unwatched: f64,
    pub(super) latency: Latency,
    pub(super) latency_unwatched: Latency,
}

/// A server that was killed and started again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Restarted {
    pub(super) listening_seconds: f64,
    pub(super) all_back_seconds: f64,
    pub(super) per_second_after: f64,
}

/// The game relative to one sort of ping-pong.
struct Beside {
    per_second: f64,
    cpu_us: f64,
    ratio: f64,
    cpu_ratio: f64,
    latency: Latency,
    latency_ratio: f64,
}

/// The whole report.
#[derive(Clone, Debug, Default)]
pub(super) struct BenchReport {
    pub(super) game: String,
    pub(super) players: usize,
    pub(super) matches: usize,
    pub(super) transport: &'static str,
    pub(super) seconds: f64,
    pub(super) connect_seconds: f64,
    pub(super) bytes_per_connection: u64,
    pub(super) bare_bytes_per_connection: u64,
    pub(super) bytes_up: usize,
    pub(super) bytes_down: usize,
    pub(super) pairs: Vec<Pair>,
    pub(super) half_load: Option<Paced>,
    pub(super) observers: Option<Observed>,
    pub(super) watched: Option<Watched>,
    pub(super) steady: Option<Steady>,
    pub(super) restart: Option<Restarted>,
    pub(super) complaint: Option<String>,
}

impl BenchReport {
    pub(super) fn decisions_per_second(&self) -> f64 {
        median(self.pairs.iter().map(|pair| pair.per_second))
    }

    fn bare_per_second(&self) -> f64 {
        median(self.pairs.iter().map(|pair| pair.bare.per_second))
    }

    fn cpu_us(&self) -> f64 {
        median(self.pairs.iter().map(|pair| pair.cpu_us))
    }

    /// Rate, processor time and both ratios relative to one sort of ping-pong, if it was measured.
    fn beside(&self, which: fn(&Pair) -> Option<Trips>) -> Option<Beside> {
        let both: Vec<_> =
            self.pairs.iter().filter_map(|pair| Some((*pair, which(pair)?))).collect();
        let of = |what: fn(&(Pair, Trips)) -> f64| median(both.iter().map(what));
        (!both.is_empty()).then(|| Beside {
            per_second: of(|(_, bare)| bare.per_second),
            cpu_us: of(|(_, bare)| bare.cpu_us),
            ratio: of(|(pair, bare)| pair.per_second / bare.per_second),
            cpu_ratio: of(|(pair, bare)| pair.cpu_us / bare.cpu_us),
            latency: Latency::median(both.iter().map(|(_, bare)| bare.latency)),
            latency_ratio: of(|(pair, bare)| pair.latency.p50 / bare.latency.p50),
        })
    }

    fn bare_cpu(&self) -> (f64, f64) {
        self.beside(|pair| Some(pair.bare)).map_or((0.0, 0.0), |bare| (bare.cpu_us, bare.cpu_ratio))
    }

    fn latency(&self) -> Latency {
        Latency::median(self.pairs.iter().map(|pair| pair.latency))
    }

    fn in_flight_text(&self) -> String {
        match self.beside(|pair| pair.in_flight) {
            Some(Beside { per_second, cpu_us, ratio, cpu_ratio, .. }) => format!(
                "{per_second:.0} a second, ratio {ratio:.2}; {cpu_us:.1} µs, ratio {cpu_ratio:.2}"
            ),
            None => "the same: every player is asked at once".to_owned(),
        }
    }

    /// The share of the rate that remains with observers; both rates are relative to their own
    /// ping-pong.
    fn observed_share(&self, observed: &Observed) -> f64 {
        ratio(&observed.pairs) / ratio(&self.pairs)
    }

    pub(super) fn json(&self) -> String {
        if let Some(watched) = &self.watched {
            return format!("{}\n", self.watched_json(watched));
        }
        if let Some(steady) = &self.steady {
            return format!("{}\n", steady.json(self));
        }
        let (bare_cpu, cpu_ratio) = self.bare_cpu();
        let cpu = self.cpu_us();
        let ratios: Vec<f64> = ratios(&self.pairs).map(round).collect();
        let mut value = json!({
            "game": self.game, "players": self.players, "matches": self.matches,
            "transport": self.transport, "seconds": self.seconds, "machine": machine(),
            "decisions_per_second": self.decisions_per_second().round(),
            "bare_per_second": self.bare_per_second().round(),
            "ratio": round(ratio(&self.pairs)), "ratios": ratios,
            "latency_ms": self.latency().json(),
            "server_cpu_us_per_decision": round(cpu),
            "bare_cpu_us_per_round_trip": round(bare_cpu),
            "cpu_ratio": round(cpu_ratio),
            "bytes_per_connection": self.bytes_per_connection,
            "bare_bytes_per_connection": self.bare_bytes_per_connection,
            "bytes_per_answer": self.bytes_up, "bytes_per_request": self.bytes_down,
            "connect_seconds": round(self.connect_seconds),
            "complaint": self.complaint,
        });
        if let Some(beside) = self.beside(|pair| pair.in_flight) {
            value["in_flight"] = json!({
                "bare_per_second": beside.per_second.round(),
                "ratio": round(beside.ratio),
                "bare_cpu_us_per_round_trip": round(beside.cpu_us),
                "cpu_ratio": round(beside.cpu_ratio),
            });
        }
        if let Some(beside) = self.beside(|pair| pair.synced) {
            value["synced"] = json!({
                "bare_latency_ms": beside.latency.json(),
                "latency_ratio": round(beside.latency_ratio),
            });
        }
        if let Some(paced) = &self.half_load {
            let (rate, latency) = (paced.per_second.round(), paced.latency.json());
            value["half_load"] = json!({
                "decisions_per_second": rate,
                "latency_ms": latency,
                "server_ms": {"p99": paced.server_p99},
            });
        }
        if let Some(observed) = &self.observers {
            value["observers"] = json!({
                "each": observed.each,
                "decisions_per_second": median(observed.pairs.iter().map(|p| p.per_second)).round(),
                "ratio": round(ratio(&observed.pairs)),
                "share_of_rate": round(self.observed_share(observed)),
                "events_per_second": observed.events_per_second.round(),
            });
        }
        if let Some(restart) = &self.restart {
            value["restart"] = json!({
                "listening_seconds": round(restart.listening_seconds),
                "all_back_seconds": round(restart.all_back_seconds),
                "decisions_per_second_after": restart.per_second_after.round(),
            });
        }
        format!("{value}\n")
    }

    fn watched_json(&self, watched: &Watched) -> Value {
        json!({
            "game": self.game, "seconds": self.seconds, "machine": machine(),
            "watchers": watched.watchers, "asleep": watched.asleep,
            "events_per_second": round(watched.events_per_second),
            "server_cores": round(watched.cores),
            "server_cores_unwatched": round(watched.cores_unwatched),
            "latency_ms": watched.latency.json(),
            "latency_ms_unwatched": watched.latency_unwatched.json(),
            "complaint": self.complaint,
        })
    }

    fn watched_table(&self, watched: &Watched) -> String {
        let Watched { watchers, asleep, events_per_second, cores, cores_unwatched, .. } = watched;
        let rows = [
            ("events", format!("{events_per_second:.1} a second to each")),
            ("server", format!("{cores:.3} cores; without watchers {cores_unwatched:.3}")),
            ("latency", watched.latency.text()),
            ("without watchers", watched.latency_unwatched.text()),
            ("machine", machine()),
        ];
        let game = &self.game;
        let mut text =
            format!("{game}: {watchers} watchers of one match, and {asleep} that never read\n\n");
        for (name, value) in rows {
            let _ = writeln!(text, "{name:<22}{value}");
        }
        text
    }

    pub(super) fn table(&self) -> String {
        if let Some(watched) = &self.watched {
            return self.watched_table(watched);
        }
        if let Some(steady) = &self.steady {
            return steady.table(self);
        }
        let (bare_cpu, cpu_ratio) = self.bare_cpu();
        let cpu = self.cpu_us();
        let mut rows: Vec<(&str, String)> = vec![
            ("decisions per second", format!("{:.0}", self.decisions_per_second())),
            ("bare ping-pong", format!("{:.0} a second", self.bare_per_second())),
            ("ratio", format!("{:.2} ({})", ratio(&self.pairs), spread(&self.pairs))),
            ("latency", self.latency().text()),
            ("server CPU", format!("{cpu:.1} µs a decision")),
            ("bare CPU", format!("{bare_cpu:.1} µs a round trip; ratio {cpu_ratio:.2}")),
            ("as many in flight", self.in_flight_text()),
            (
                "memory",
                format!(
                    "{} bytes a connection; bare {}",
                    self.bytes_per_connection, self.bare_bytes_per_connection
                ),
            ),
            ("messages", format!("{} bytes up, {} down", self.bytes_up, self.bytes_down)),
            ("logging in", format!("{:.2} s for all", self.connect_seconds)),
        ];
        if let Some(Beside { latency, latency_ratio, .. }) = self.beside(|pair| pair.synced) {
            let text = format!("{}; ratio of the medians {latency_ratio:.2}", latency.text());
            rows.push(("ping-pong with sync", text));
        }
        if let Some(paced) = &self.half_load {
            let rate = paced.per_second;
            let server = paced.server_p99;
            let text = paced.latency.text();
            let text = format!("{rate:.0} a second: {text}; in the server p99 {server:.0} ms");
            rows.push(("half the load", text));
        }
        if let Some(observed) = &self.observers {
            let Observed { each, events_per_second, .. } = observed;
            let share = 100.0 * self.observed_share(observed);
            let text = format!(
                "{each} a match leave {share:.0} % of the rate; {events_per_second:.0} events a second"
            );
            rows.push(("observers", text));
        }
        if let Some(restart) = &self.restart {
            let Restarted { listening_seconds, all_back_seconds, per_second_after } = restart;
            let text = format!(
                "listens after {listening_seconds:.2} s, everybody back after \
                 {all_back_seconds:.2} s, then {per_second_after:.0} decisions a second"
            );
            rows.push(("killed", text));
        }
        rows.extend(self.complaint.iter().map(|complaint| ("something failed", complaint.clone())));
        let BenchReport { game, players, matches, transport, .. } = self;
        let mut text =
            format!("{game}: {players} players in {matches} matches over {transport}, durable\n\n");
        for (name, value) in rows {
            let _ = writeln!(text, "{name:<22}{value}");
        }
        let _ = writeln!(text, "{:<22}{}", "machine", machine());
        text
    }
}

fn ratios(pairs: &[Pair]) -> impl Iterator<Item = f64> {
    pairs.iter().map(|pair| pair.per_second / pair.bare.per_second)
}

/// The median of the pairs' ratios.
fn ratio(pairs: &[Pair]) -> f64 {
    median(ratios(pairs))
}

/// From the smallest to the largest ratio.
fn spread(pairs: &[Pair]) -> String {
    let least = ratios(pairs).fold(f64::INFINITY, f64::min);
    let largest = ratios(pairs).fold(0.0, f64::max);
    format!("pairs from {least:.2} to {largest:.2}")
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

pub(super) fn round(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}

/// A description of the machine, as far as it is available.
pub(super) fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find(|line| line.starts_with("model name"));
    let name = name.and_then(|line| line.split_once(": ")).map_or("unknown", |(_, name)| name);
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    format!("{cores} cores of {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_of_pairs() {
        let pair = |per_second: f64, bare_per_second: f64| Pair {
            per_second,
            cpu_us: 10.0,
            bare: Trips { per_second: bare_per_second, cpu_us: 5.0, ..Trips::default() },
            ..Pair::default()
        };
        let pairs = vec![pair(1.0, 10.0), pair(6.0, 10.0), pair(10.0, 20.0)];
        let report = BenchReport { pairs, ..BenchReport::default() };
        let value: Value = serde_json::from_str(&report.json()).unwrap();
        assert_eq!(value["ratio"], 0.5);
        assert_eq!(value["cpu_ratio"], 2.0);
        assert_eq!(value["decisions_per_second"], 6.0);
        assert!(report.table().contains("0.50 (pairs from 0.10 to 0.60)"), "{}", report.table());
    }
}
