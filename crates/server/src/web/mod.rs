//! The HTTP interface: JSON in and out, changes as server-sent events. `docs/protocol/http.md` is
//! the contract.
//!
//! This module checks permissions and shapes the answers. It decides nothing: the engine does, and
//! an answer is sent only when the records it depends on are durable. Finished tournaments and
//! matches are read from the log, away from the engine.

mod accounts;
mod analysis;
mod announce;
mod answers;
mod archive;
mod assets;
mod body;
mod caller;
mod casual;
mod changes;
mod compress;
mod docs;
mod events;
mod exposition;
mod faults;
mod formats;
mod games;
mod guard;
mod guests;
mod html;
mod invitations;
mod listener;
mod lobby;
mod matches;
mod measure;
mod metrics;
mod observe;
mod openapi;
mod operator;
mod page;
mod places;
mod play;
mod played;
mod positions;
mod problem;
mod python;
mod queues;
mod reports;
mod route;
mod routes;
mod rulings;
mod standby;
mod standings;
mod start;
mod tournaments;

use crate::cluster::PortConnections;
use crate::driver::Handle;
use crate::engine::query::Query;
use crate::net::{Guests, Host, PlayerSockets};
use crate::per_minute::PerMinute;
use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
pub use guard::Hosts;
use listener::Peer;
pub use openapi::openapi;
use places::PlaceGuard;
use problem::Problem;
pub use standby::answer_starting;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// How long a request may take after its body was read.
const REQUEST_MS_MAX: u64 = 30_000;

/// The route that needs no place.
const HEALTH: &str = "/healthz";

/// How many threads may read the log for answers at once. They are few, so that everything else
/// has processors left.
const READERS_MAX: usize = 2;

/// The state of every handler.
#[derive(Clone)]
struct Web {
    handle: Handle,
    host: Arc<Host>,
    players: PlayerSockets,
    hub: Arc<lobby::Hub>,
    hosts: Arc<Hosts>,
    places: Arc<places::Places>,
    /// The counts of observers by address.
    watchers: Arc<Guests>,
    answers: Arc<answers::Answers>,
    /// The new guests of each address.
    guests: Arc<PerMinute>,
    /// The permits of the threads that read the log.
    readers: Arc<Semaphore>,
    analysts: Arc<analysis::Analysts>,
}

impl Web {
    /// Sends the engine a query.
    async fn ask<Q: Query>(&self, query: Q) -> Result<Q::Answer, Problem> {
        self.handle.ask(query).await.ok_or_else(Problem::stopping)
    }
}

/// The result of a handler: an answer, or a problem.
type Answer = Result<Response, Problem>;

/// All routes, over one engine. Requests carry the address they come from.
fn router(web: Web) -> Router {
    let all = routes::all().into_iter();
    let all = all.fold(Router::new(), |router, route| router.route(route.path, route.handler));
    all.with_state(web.clone())
        .layer(from_fn(compress::compressed))
        .layer(from_fn_with_state(web.clone(), bounded))
        .layer(from_fn_with_state(web.clone(), guard::guarded))
        .layer(from_fn(problem::for_every_error))
        .layer(from_fn_with_state(web, measure::measured))
}

/// Serves HTTP under these host names, and players over WebSocket, until the task is dropped.
pub async fn serve_http(
    incoming: impl Into<PortConnections>,
    host: Arc<Host>,
    players: PlayerSockets,
    hosts: Hosts,
) {
    let web = Web {
        handle: host.engine().clone(),
        host: Arc::clone(&host),
        players,
        hub: Arc::default(),
        hosts: Arc::new(hosts),
        places: Arc::new(places::Places::new(host.limits())),
        watchers: Arc::default(),
        answers: Arc::default(),
        guests: Arc::default(),
        readers: Arc::new(Semaphore::new(READERS_MAX)),
        analysts: Arc::default(),
    };
    tokio::spawn(standings::warm(web.clone()));
    listener::serve(incoming.into(), router(web), host).await;
}

/// Limits the number of requests at once, and their time. Health checks are always answered.
async fn bounded(
    State(web): State<Web>,
    ConnectInfo(Peer(from)): ConnectInfo<Peer>,
    request: Request,
    next: Next,
) -> Response {
    if request.uri().path() == HEALTH {
        return in_time(next.run(request)).await;
    }
    match admitted(&web, from, request).await {
        Ok((request, place)) => places::held_until_sent(in_time(next.run(request)).await, place),
        Err(problem) => problem.into_response(),
    }
}

/// Reads the body of a request, and gives it a place.
async fn admitted(
    web: &Web,
    from: IpAddr,
    request: Request,
) -> Result<(Request, PlaceGuard), Problem> {
    let request = body::whole(web, from, request).await?;
    let place = match web.places.request(from) {
        Ok(place) => place,
        Err(full) => caller::operators_place(web, request.headers()).await.ok_or(full)?,
    };
    Ok((request, place))
}

async fn in_time(answer: impl Future<Output = Response>) -> Response {
    match tokio::time::timeout(Duration::from_millis(REQUEST_MS_MAX), answer).await {
        Ok(response) => response,
        Err(_) => Problem::busy("the request took too long").into_response(),
    }
}
