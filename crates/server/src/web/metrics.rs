//! Health checks and counters, for monitoring systems.

use super::exposition::Exposition;
use super::problem::Problem;
use super::{Answer, Web};
use crate::engine::Wire;
use crate::engine::query::{Count, Counts, Ping};
use crate::engine::{CloseReason, LoginOutcome};
use crate::meters::{FAULTS, Meters};
use agon_store::{Lease, Meter};
use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::header;
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often a health check that waits for the engine looks at the lease.
const UNSURE_PAUSE: Duration = Duration::from_millis(50);

/// A sign of life.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Health {
    pub(super) status: &'static str,
    /// True if new players should come: false once the server stops, and without its database.
    pub(super) ready: bool,
    pub(super) version: &'static str,
    pub(super) uptime_ms: u64,
}

/// Reports whether the engine answers; with `?ready`, whether it accepts new players.
pub(super) async fn health(State(web): State<Web>, RawQuery(query): RawQuery) -> Answer {
    let asked_ready = match query.as_deref() {
        None | Some("") => false,
        Some("ready") => true,
        Some(_) => return Err(Problem::unprocessable("ask for /healthz or /healthz?ready")),
    };
    let meters = web.handle.meters();
    let is_stopping = meters.stopping.load(Ordering::Relaxed);
    if asked_ready && is_stopping {
        return Err(Problem::stopping());
    }
    // Without its database the server lives, but the engine answers nothing.
    let is_answered = tokio::select! {
        answer = web.ask(Ping { through_log: true }) => answer.map(|_| true)?,
        () = database_is_lost(meters) => false,
    };
    if asked_ready && !is_answered {
        return Err(Problem::busy("the database does not answer"));
    }
    let ready = !is_stopping && is_answered;
    let health = Health {
        status: "ok",
        ready,
        version: env!("CARGO_PKG_VERSION"),
        uptime_ms: meters.started.elapsed().as_millis() as u64,
    };
    Ok(Json(health).into_response())
}

/// Waits until the lease on the log has expired.
async fn database_is_lost(meters: &Meters) {
    while !meters.unsure.load(Ordering::Relaxed) {
        tokio::time::sleep(UNSURE_PAUSE).await;
    }
}

pub(super) async fn metrics(State(web): State<Web>) -> Answer {
    let counts = web.ask(Count).await?;
    let mut text = Exposition::default();
    running(&mut text, &counts, web.handle.meters());
    let help = "Passwords that were checked or hashed.";
    text.counter("agon_password_checks_total", help, web.handle.passwords().checked());
    connections(&mut text, web.handle.meters());
    delays(&mut text, web.handle.meters());
    if let Some(log) = web.handle.archive().and_then(|archive| archive.log.meter()) {
        commits(&mut text, &log);
    }
    if let Some(lease) = web.handle.archive().and_then(|archive| archive.log.lease()) {
        cluster(&mut text, &lease, web.handle.meters());
    }
    let content_type = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    Ok((content_type, text.into_text()).into_response())
}

/// Tournaments, matches and games. Counters start with the process; one that is resumed after a
/// restart counts as started.
fn running(text: &mut Exposition, counts: &Counts, meters: &Meters) {
    let Counts { status, games, .. } = counts;
    let version = format!("version=\"{}\"", env!("CARGO_PKG_VERSION"));
    text.labelled(("agon_build_info", "gauge"), "The version that runs here.", [(version, 1)]);
    let uptime = meters.started.elapsed().as_secs();
    text.gauge("agon_uptime_seconds", "Since the process started.", uptime);
    text.gauge("agon_accounts", "Accounts there are.", status.accounts as u64);
    text.comment("tournaments: started = ended + running");
    let (started, ended) = (counts.tournaments_started, counts.tournaments_ended);
    text.counter("agon_tournaments_started_total", "Started or taken up.", started);
    text.counter("agon_tournaments_ended_total", "Ended.", ended);
    text.gauge("agon_tournaments_running", "In progress.", status.tournaments as u64);
    text.comment("matches: started = ended + running");
    let (started, ended) = (counts.matches_started, counts.matches_ended);
    text.counter("agon_matches_started_total", "Started or taken up.", started);
    text.counter("agon_matches_ended_total", "Ended.", ended);
    text.gauge("agon_matches_running", "In progress.", status.matches as u64);
    text.comment("games: started = finished + void + running");
    text.counter("agon_games_started_total", "Started or taken up.", games.started);
    text.counter("agon_games_finished_total", "Ended with a result.", games.finished);
    text.counter("agon_games_void_total", "Broken off.", games.void);
    text.gauge("agon_games_running", "In progress.", games.running);
    text.counter("agon_decisions_total", "Answers accepted.", status.decisions);
    let faults =
        FAULTS.map(|(kind, word)| (format!("kind=\"{word}\""), meters.fault(kind).count()));
    text.labelled(("agon_faults_total", "counter"), "Faults of players.", faults);
}

fn connections(text: &mut Exposition, meters: &Meters) {
    let wires = Wire::ALL.map(|wire| {
        // Closed ones are counted first, so that no wire has more closed than opened connections.
        let closed = CloseReason::ALL.map(|end| (end, meters.closed(wire, end).count()));
        (wire, closed, meters.opened(wire).count())
    });
    let of = |wire: Wire| format!("transport=\"{}\"", wire.word());
    text.comment("connections of players, each wire: opened = closed + open");
    let opened = wires.iter().map(|(wire, _, opened)| (of(*wire), *opened));
    text.labelled(("agon_connections_opened_total", "counter"), "Connections.", opened);
    let closed = wires.iter().flat_map(|(wire, closed, _)| {
        closed
            .iter()
            .map(|(end, count)| (format!("{},reason=\"{}\"", of(*wire), end.word()), *count))
    });
    text.labelled(("agon_connections_closed_total", "counter"), "By why they ended.", closed);
    let open = wires.iter().map(|(wire, closed, opened)| {
        (of(*wire), opened - closed.iter().map(|(_, count)| count).sum::<u64>())
    });
    text.labelled(("agon_connections", "gauge"), "Connections that are open.", open);
    let turned = meters.turned_away.count();
    text.counter("agon_connections_refused_total", "Turned away: too many.", turned);
    text.counter("agon_connections_slowed_total", "Read slower: too fast.", meters.slowed.count());
    let logins = LoginOutcome::ALL
        .map(|login| (format!("outcome=\"{}\"", login.word()), meters.login(login).count()));
    text.labelled(("agon_logins_total", "counter"), "Tries to log in.", logins);
    let http = (1..=5).map(|class| (format!("class=\"{class}xx\""), meters.http(class).count()));
    text.labelled(("agon_http_requests_total", "counter"), "HTTP requests.", http);
}

/// The server's own delays; no player is charged for them.
fn delays(text: &mut Exposition, meters: &Meters) {
    let help = "From a message's socket to the engine.";
    text.histogram("agon_inbox_wait_seconds", help, &meters.inbox_ms, 1e3);
    let help = "From reading an answer to writing the request that follows from it.";
    text.histogram("agon_turn_seconds", help, &meters.turn_ms, 1e3);
    let help = "How late the threads are that read players' sockets.";
    text.histogram("agon_read_late_seconds", help, &meters.reads.late_ms, 1e3);
    let help = "How long the engine's thread was away from the sockets that it reads.";
    text.histogram("agon_socket_turn_seconds", help, &meters.turns, 1e3);
    let help = "Reads that came late; their senders are charged for the time before only.";
    text.counter("agon_reads_late_total", help, meters.read_late.count());
    let help = "How much later than set timers rang.";
    text.histogram("agon_timers_late_seconds", help, &meters.late_ms, 1e3);
    let help = "From an HTTP request to the head of its answer.";
    text.histogram("agon_http_request_seconds", help, &meters.http_ms, 1e3);
}

/// The lease of this node on a log that several nodes share, whether it plays or stands by.
pub(super) fn lease(text: &mut Exposition, lease: &Lease) {
    text.gauge("agon_cells_owned", "Parts of the log that this node owns.", lease.cells as u64);
    let help = "Records rejected because another node owns the log.";
    text.counter("agon_fenced_total", help, lease.fenced);
    let help = "How far the clocks of the database and of this machine have moved apart.";
    text.seconds("agon_clock_drift_seconds", help, lease.clock_drift_ms.unsigned_abs());
}

/// The part of this node in a cluster.
fn cluster(text: &mut Exposition, own: &Lease, meters: &Meters) {
    lease(text, own);
    let help = "From the claim of the log to the end of reading it.";
    text.seconds("agon_takeover_seconds", help, meters.takeover_ms.load(Ordering::Relaxed));
}

fn commits(text: &mut Exposition, log: &Meter) {
    let help = "How long it took to make a group of records durable.";
    text.histogram("agon_commit_seconds", help, &log.commit_us, 1e6);
    text.histogram("agon_commit_records", "Records of a group.", &log.records, 1.0);
    let refused = log.refused.load(Ordering::Relaxed);
    text.counter("agon_commit_refused_total", "Records the log did not take.", refused);
}
