//! Observers: their subscriptions, and their events in order and with their delay. Events are sent
//! as server-sent events, or over WebSocket if the observer asks for that. Both carry the same
//! events.

use super::listener::Peer;
use super::play::{accepted, switching, wants_websocket};
use super::problem::Problem;
use super::{Answer, Web};
use crate::clock::now_ms;
use crate::engine::delay::DelayLine;
use crate::engine::seat_side::{Framed, Framing, GOING_AWAY, NORMAL, PROTOCOL_ERROR};
use crate::engine::watch::{About, Shown};
use crate::net::{Guest, Limits, socket};
use crate::watch::Watch;
use agon_core::{Millis, Policy, Timestamp};
use agon_wire::websocket::{Opcode, encode};
use axum::extract::{ConnectInfo, FromRequest, Query, Request};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_core::Stream;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use schemars::JsonSchema;
use serde::Deserialize;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::AsyncWrite;
use tokio::time::{Instant, Sleep, timeout};

/// The largest frame an observer may send: they only send pings and pongs.
const FRAME_BYTES_MAX: usize = 4 * 1024;

/// After how many seconds a spectator who was rejected for lack of room should retry.
const WATCHERS_RETRY_AFTER_S: u64 = 10;

/// How somebody wants to watch.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Watching {
    /// By how much events come late, in milliseconds, up to an hour.
    #[serde(default)]
    delay_ms: Option<Millis>,
    /// The id of the last event seen, for clients that cannot send it as a header.
    #[serde(default)]
    last_event_id: Option<String>,
}

/// A request for events.
pub(super) struct EventsRequest {
    pub(super) seen: Option<u64>,
    pub(super) delay_ms: Millis,
    /// The data for an answer over WebSocket, if the client asks for one.
    websocket: Option<Upgrade>,
    /// The observer's place in the limit of their address.
    place: Guest,
}

struct Upgrade {
    key: String,
    upgrade: OnUpgrade,
    guest: Guest,
    limits: Limits,
}

impl FromRequest<Web> for EventsRequest {
    type Rejection = Problem;

    async fn from_request(mut request: Request, web: &Web) -> Result<EventsRequest, Problem> {
        let Query(watching) = Query::<Watching>::try_from_uri(request.uri()).map_err(|_| {
            let hint = "the query takes `delay_ms` and `last_event_id`";
            Problem::unreadable(StatusCode::BAD_REQUEST, "bad-request", hint)
        })?;
        let delay_ms = watching.delay_ms.unwrap_or(0);
        if delay_ms > Policy::OBSERVER_DELAY_MS_MAX {
            let most = Policy::OBSERVER_DELAY_MS_MAX;
            return Err(Problem::unprocessable(format!(
                "the delay is at most {most} ms; ask for less"
            )));
        }
        let header = request.headers().get("last-event-id").and_then(|id| id.to_str().ok());
        let seen = watching.last_event_id.as_deref().or(header);
        let seen = seen.and_then(|id| u64::from_str_radix(id, 16).ok());
        let peer = request.extensions().get::<ConnectInfo<Peer>>();
        let Some(ConnectInfo(Peer(from))) = peer.copied() else { return Err(Problem::internal()) };
        let max = web.host.limits().watchers_per_address_max;
        let place = web.watchers.enter(from, max).ok_or_else(|| {
            let detail =
                format!("too many spectators from this address (limit {max}); close one of them");
            Problem::slow_down(detail, WATCHERS_RETRY_AFTER_S)
        })?;
        let websocket = match wants_websocket(request.headers()) {
            true => Some(Upgrade::open(&mut request, web)?),
            false => None,
        };
        Ok(EventsRequest { seen, delay_ms, websocket, place })
    }
}

impl Upgrade {
    fn open(request: &mut Request, web: &Web) -> Result<Upgrade, Problem> {
        let headers: &HeaderMap = request.headers();
        let key = accepted(headers)?;
        let peer = request.extensions().get::<ConnectInfo<Peer>>();
        let Some(ConnectInfo(Peer(peer))) = peer.copied() else { return Err(Problem::internal()) };
        let guest = web.host.guest(peer);
        let guest = guest.ok_or_else(|| Problem::busy("too many connections from this address"))?;
        let (upgrade, limits) = (hyper::upgrade::on(request), web.host.limits().clone());
        Ok(Upgrade { key, upgrade, guest, limits })
    }
}

impl EventsRequest {
    /// Answers with the observer's events.
    pub(super) fn answer(self, observer: Observer) -> Answer {
        let place = self.place;
        let Some(Upgrade { key, upgrade, guest, limits }) = self.websocket else {
            let events = Sse::new(Events(observer, place));
            return Ok(events.keep_alive(KeepAlive::default()).into_response());
        };
        tokio::spawn(async move {
            let patience = Duration::from_millis(limits.login_ms_max.max(1));
            if let Ok(Ok(upgraded)) = timeout(patience, upgrade).await {
                serve(TokioIo::new(upgraded), observer, &limits).await;
            }
            drop((guest, place));
        });
        Ok(switching(&key))
    }

    /// Answers with the only event of a finished topic; with nothing, if the client has seen it.
    pub(super) fn ended(self, data: Arc<str>) -> Answer {
        let shown = Shown::new(About::End, data.into(), now_ms());
        if self.seen == Some(shown.view.mark()) {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
        self.answer(Observer::once(shown))
    }
}

/// Server-sent events, and the observer's place.
struct Events(Observer, #[expect(dead_code, reason = "it is held until the end")] Guest);

impl Stream for Events {
    type Item = Result<Event, Infallible>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Event, Infallible>>> {
        let next = self.0.poll_next(context);
        next.map(|shown| {
            let shown = shown?;
            let event = Event::default().event(name(&shown)).id(id(&shown));
            Some(Ok(event.data(data(&shown))))
        })
    }
}

/// An event as a message: the same name and the same data.
fn message(shown: &Shown) -> String {
    let (name, id, data) = (name(shown), id(shown), data(shown));
    format!("{{\"event\":\"{name}\",\"id\":\"{id}\",\"data\":{data}}}")
}

/// The close code for a message, which observers may not send.
const NOT_FOR_YOU: u16 = 1008;

/// Sends events until there are no more, or the other end is gone.
async fn serve(stream: TokioIo<hyper::upgrade::Upgraded>, mut observer: Observer, limits: &Limits) {
    let (mut from, mut to) = tokio::io::split(stream);
    let mut framing = Framing::frames(FRAME_BYTES_MAX);
    let beat = Duration::from_millis(limits.heartbeat_ms.max(1));
    let silence = Duration::from_millis(limits.silence_ms_max);
    let (mut heard, mut next_beat) = (Instant::now(), Instant::now() + beat);
    let code = loop {
        let sent = tokio::select! {
            shown = poll_fn(|context| observer.poll_next(context)) => match shown {
                Some(shown) => {
                    let text = message(&shown);
                    send(&mut to, limits, Opcode::Text, text.as_bytes()).await
                }
                None => break NORMAL,
            },
            read = socket::read(&mut from, &mut framing) => {
                let Ok(1..) = read else { return };
                heard = Instant::now();
                match take(&mut framing, &mut to, limits).await {
                    Ok(sent) => sent,
                    Err(code) => break code,
                }
            }
            () = tokio::time::sleep_until(next_beat) => {
                if heard.elapsed() >= silence {
                    break GOING_AWAY;
                }
                next_beat = Instant::now() + beat;
                send(&mut to, limits, Opcode::Ping, &[]).await
            }
        };
        if !sent {
            return;
        }
    };
    send(&mut to, limits, Opcode::Close, &code.to_be_bytes()).await;
    socket::linger(&mut from).await;
}

/// Handles received frames and answers pings; returns whether that could be written, or the code to
/// close with.
async fn take(
    framing: &mut Framing,
    to: &mut (impl AsyncWrite + Unpin),
    limits: &Limits,
) -> Result<bool, u16> {
    while let Some(framed) = framing.take() {
        match framed {
            Framed::Ping(payload) => {
                if !send(to, limits, Opcode::Pong, payload).await {
                    return Ok(false);
                }
            }
            Framed::Pong => {}
            Framed::Close => return Err(NORMAL),
            Framed::Message(_) => return Err(NOT_FOR_YOU),
            Framed::Bad(_) | Framed::Broken(_) => return Err(PROTOCOL_ERROR),
        }
    }
    Ok(true)
}

async fn send(
    to: &mut (impl AsyncWrite + Unpin),
    limits: &Limits,
    opcode: Opcode,
    payload: &[u8],
) -> bool {
    let mut bytes = Vec::with_capacity(payload.len() + 10);
    encode(&mut bytes, opcode, payload, None);
    let patience = Duration::from_millis(limits.write_ms_max);
    socket::write(to, &bytes, patience).await.is_ok()
}

/// Extracts the message about a part from a message about the whole; `None` if there is none.
type Turned = Box<dyn Fn(&Shown) -> Option<Shown> + Send>;

/// The source of events.
enum Source {
    Watch(Watch),
    /// A finished topic: one event.
    Once(Option<Shown>),
}

/// An observer's events, with their delay.
pub(super) struct Observer {
    source: Source,
    /// How to extract the part that the observer watches, if it is not the whole topic.
    turned: Option<Turned>,
    /// The mark of the last extracted state.
    seen: Option<u64>,
    delay_ms: Millis,
    line: DelayLine,
    /// Fires when the first delayed event is due.
    bell: Option<Pin<Box<Sleep>>>,
    ended: bool,
}

impl Observer {
    fn new(source: Source, delay_ms: Millis) -> Observer {
        let line = DelayLine::new(delay_ms);
        let (turned, seen, bell, ended) = (None, None, None, false);
        Observer { source, turned, seen, delay_ms, line, bell, ended }
    }

    pub(super) fn of(watch: Watch, delay_ms: Millis) -> Observer {
        Observer::new(Source::Watch(watch), delay_ms)
    }

    /// Like `of`, for a part of the topic; no state is sent twice.
    pub(super) fn turned(
        watch: Watch,
        delay_ms: Millis,
        seen: Option<u64>,
        how: Turned,
    ) -> Observer {
        let observer = Observer::of(watch, delay_ms);
        Observer { turned: Some(how), seen, ..observer }
    }

    /// The event of a finished topic.
    fn once(shown: Shown) -> Observer {
        Observer::new(Source::Once(Some(shown)), 0)
    }

    /// The next event; `None` when there will be no more.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Shown>> {
        loop {
            if let Some(shown) = self.line.pop_due(now_ms()) {
                return Poll::Ready(Some(shown));
            }
            while !self.ended {
                let Poll::Ready(next) = self.poll_source(context) else { break };
                match next {
                    None => self.ended = true,
                    Some(shown) if self.delay_ms.max(shown.held_ms) == 0 => {
                        return Poll::Ready(Some(shown));
                    }
                    Some(shown) => self.line.push(shown),
                }
            }
            match self.line.next_due() {
                None if self.ended => return Poll::Ready(None),
                None => return Poll::Pending,
                Some(due) => ready!(self.poll_bell(due, context)),
            }
        }
    }

    /// Waits until `due`.
    fn poll_bell(&mut self, due: Timestamp, context: &mut Context<'_>) -> Poll<()> {
        // At most a minute, in case the clock was set back.
        let wait = Duration::from_millis(due.since(now_ms()).clamp(1, 60_000));
        let at = Instant::now() + wait;
        match &mut self.bell {
            Some(bell) => bell.as_mut().reset(at),
            None => self.bell = Some(Box::pin(tokio::time::sleep_until(at))),
        }
        self.bell.as_mut().map_or(Poll::Ready(()), |bell| bell.as_mut().poll(context))
    }

    fn poll_source(&mut self, context: &mut Context<'_>) -> Poll<Option<Shown>> {
        loop {
            let next = match &mut self.source {
                Source::Watch(watch) => ready!(watch.poll_next(context)),
                Source::Once(shown) => shown.take(),
            };
            let (Some(shown), Some(turned)) = (&next, &self.turned) else {
                return Poll::Ready(next);
            };
            let Some(shown) = turned(shown) else { continue };
            let mark = Some(shown.view.mark());
            let (ends, news) = (shown.about == About::End, self.seen != mark);
            self.seen = mark;
            if ends {
                self.source = Source::Once(None);
                self.turned = None;
            }
            if ends || news {
                return Poll::Ready(Some(shown));
            }
        }
    }
}

/// The name of an event.
fn name(shown: &Shown) -> &'static str {
    match shown.about {
        About::Snapshot => "snapshot",
        About::Change => "change",
        About::Lagged => "lagged",
        About::End => "end",
    }
}

/// The id of an event, which identifies its content.
fn id(shown: &Shown) -> String {
    format!("{:016x}", shown.view.mark())
}

/// The data of an event: the state, which was written once for all observers, and its age.
fn data(shown: &Shown) -> String {
    let behind_ms = now_ms().since(shown.at);
    let text = shown.view.text();
    let object = text.strip_suffix('}').unwrap_or(&text);
    match shown.skipped {
        0 => format!("{object},\"behind_ms\":{behind_ms}}}"),
        skipped => format!("{object},\"behind_ms\":{behind_ms},\"skipped\":{skipped}}}"),
    }
}

/// A message about another subject, with the same time and delay.
pub(super) fn like(shown: &Shown, about: About, data: Arc<str>) -> Shown {
    let Shown { at, held_ms, skipped, .. } = *shown;
    Shown { held_ms, skipped, ..Shown::new(about, data.into(), at) }
}
