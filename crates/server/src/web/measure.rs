//! Counts and logs every HTTP request: its status and how long it took.

use super::Web;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The next request number.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Measures a request, until the head of its answer.
pub(super) async fn measured(State(web): State<Web>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let method = request.method().clone();
    // Without the query string. Tokens come in a header, which is not logged.
    let path = request.uri().path().to_owned();
    let response = next.run(request).await;
    let (status, took) = (response.status().as_u16(), started.elapsed());
    let meters = web.handle.meters();
    meters.http(status / 100).add();
    let took_ms = took.as_millis().try_into().unwrap_or(u64::MAX);
    meters.http_ms.add(took_ms);
    match status {
        // Overload is logged where it arises; a 500 is an internal error.
        500 => tracing::warn!(http = number, %method, path, status, took_ms, "a request failed"),
        _ => tracing::debug!(http = number, %method, path, status, took_ms, "answered"),
    }
    response
}
