//! The limits on requests at once: in all, and from one address.
//!
//! A request needs two places, one after the other: one while its body is read, which takes as long
//! as the client likes, and one from then until its answer is sent. `/healthz` needs none, and some
//! places are reserved for operators.

use super::problem::Problem;
use crate::net::{Guest, Guests, Limits};
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{StatusCode, header};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Places reserved for operators.
const OPERATORS_MAX: usize = 32;

/// How many bodies are read at once.
const BODIES_MAX: usize = 256;

/// After how many seconds a client with too many requests should retry.
const RETRY_AFTER_S: u64 = 1;

/// All places.
pub(super) struct Places {
    requests: Pool,
    bodies: Pool,
    operators: Arc<Semaphore>,
}

/// Places of one kind.
struct Pool {
    all: Arc<Semaphore>,
    by_address: Arc<Guests>,
    per_address_max: usize,
    /// Their purpose, for error messages.
    what: &'static str,
}

/// A place; dropping it frees the place.
pub(super) struct PlaceGuard {
    _all: OwnedSemaphorePermit,
    _of_address: Option<Guest>,
}

impl Pool {
    fn new(all: usize, per_address_max: usize, what: &'static str) -> Pool {
        let (all, by_address) = (Arc::new(Semaphore::new(all)), Arc::default());
        Pool { all, by_address, per_address_max, what }
    }

    fn enter(&self, from: IpAddr) -> Result<PlaceGuard, Problem> {
        let Some(of_address) = self.by_address.enter(from, self.per_address_max) else {
            let (what, max) = (self.what, self.per_address_max);
            let detail = format!("too many {what} from this address (limit {max}); wait for some");
            return Err(Problem::slow_down(detail, RETRY_AFTER_S));
        };
        match Arc::clone(&self.all).try_acquire_owned() {
            Ok(all) => Ok(PlaceGuard { _all: all, _of_address: Some(of_address) }),
            Err(_) => Err(Problem::busy(format!("too many {} at once", self.what))),
        }
    }
}

impl Places {
    pub(super) fn new(limits: &Limits) -> Places {
        let per_address = limits.http_requests_per_address_max;
        let bodies = limits.http_bodies_per_address_max;
        Places {
            requests: Pool::new(limits.http_requests_max, per_address, "requests"),
            bodies: Pool::new(BODIES_MAX, bodies, "unfinished bodies"),
            operators: Arc::new(Semaphore::new(OPERATORS_MAX)),
        }
    }

    /// A place for a request whose body was read.
    pub(super) fn request(&self, from: IpAddr) -> Result<PlaceGuard, Problem> {
        self.requests.enter(from)
    }

    /// A place for a body to read.
    pub(super) fn body(&self, from: IpAddr) -> Result<PlaceGuard, Problem> {
        self.bodies.enter(from)
    }

    /// A place for an operator.
    pub(super) fn operator(&self) -> Option<PlaceGuard> {
        let all = Arc::clone(&self.operators).try_acquire_owned().ok()?;
        Some(PlaceGuard { _all: all, _of_address: None })
    }
}

/// Holds a place until an answer is sent. Event streams last for hours and have places of their
/// own.
pub(super) fn held_until_sent(response: Response, place: PlaceGuard) -> Response {
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let events = content_type.is_some_and(|value| value.as_bytes().starts_with(b"text/event-"));
    match events || response.status() == StatusCode::SWITCHING_PROTOCOLS {
        true => response,
        false => response.map(|body| Body::new(Held { body, _place: place })),
    }
}

/// A body with the place of its request.
struct Held {
    body: Body,
    _place: PlaceGuard,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
