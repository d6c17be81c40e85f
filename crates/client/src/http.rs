//! The HTTP interface of a server: one request at a time, and server-sent events. hyper implements
//! HTTP/1.1; this file handles addresses, errors, timeouts and size limits. It follows no
//! redirects. `docs/protocol/http.md` is the contract.

use super::socket::Socket;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The longest body.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The longest head of a response.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// How long a whole request may take.
const PATIENCE: Duration = Duration::from_secs(40);
/// How long events may be silent: the server sends a keep-alive more often than that.
const QUIET: Duration = Duration::from_secs(60);

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Not the address of a server.
    #[error("{0:?} is no address of a server; use http://HOST:PORT or https://HOST")]
    Url(String),
    /// The server cannot be reached.
    #[error("failed to reach {server}: {why}")]
    Unreachable {
        /// Where.
        server: String,
        /// Why.
        why: io::Error,
    },
    /// The server answered with an error.
    #[error("{detail} ({status})")]
    Problem {
        /// The status.
        status: u16,
        /// The last word of the problem's type, such as `not-found`.
        code: String,
        /// An explanation for people.
        detail: String,
    },
    /// The response is not valid HTTP.
    #[error("{server} does not speak as an Agon server does: {why}")]
    Garbled {
        /// Where.
        server: String,
        /// The problem.
        why: String,
    },
}

/// The HTTP interface of a server, or of several nodes that serve the same tournaments.
#[derive(Clone)]
pub struct Http {
    /// At least one.
    nodes: Vec<Node>,
    /// The place of the node to send the next request to; clones share it.
    current: Arc<AtomicUsize>,
    token: Option<String>,
}

/// The HTTP interface of one node.
#[derive(Clone, PartialEq, Debug)]
struct Node {
    /// `HOST:PORT`.
    place: String,
    tls: bool,
}

impl std::fmt::Debug for Http {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Http({})", self.place())
    }
}

/// A successful response.
#[derive(Debug)]
pub struct Response {
    /// The status, 200 to 299.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

impl Http {
    /// Parses `http://HOST:PORT/…` or `https://…`; also returns the parts of its path, without
    /// `api/v1`. Commas separate several nodes: `http://HOST:PORT,http://HOST:PORT/…`.
    pub fn parse(url: &str) -> Result<(Http, Vec<String>), HttpError> {
        let (mut nodes, mut path) = (Vec::new(), "");
        for node in url.split(',') {
            // Only the last node is followed by a path.
            if !path.is_empty() {
                return Err(HttpError::Url(url.into()));
            }
            let (node, after) = Node::parse(node).ok_or_else(|| HttpError::Url(url.into()))?;
            nodes.push(node);
            path = after;
        }
        let path = path.strip_prefix("api/v1").unwrap_or(path);
        let parts = path.split('/').filter(|part| !part.is_empty()).map(str::to_owned);
        Ok((Http { nodes, current: Arc::default(), token: None }, parts.collect()))
    }

    /// Sets the token.
    #[must_use]
    pub fn with_token(self, token: Option<String>) -> Http {
        Http { token, ..self }
    }

    /// `HOST:PORT` of the node that gets the next request.
    pub fn place(&self) -> &str {
        &self.node().place
    }

    fn node(&self) -> &Node {
        &self.nodes[self.current.load(Ordering::Relaxed) % self.nodes.len()]
    }

    /// Sends later requests to the next node, if there are several.
    fn turn_to_next_node(&self) {
        self.current.fetch_add(1, Ordering::Relaxed);
    }

    /// Fetches a page.
    pub async fn get(&self, path: &str) -> Result<Value, HttpError> {
        let response = self.send("GET", path, None).await?;
        self.json(&response.body)
    }

    /// Sends a request and reads the whole response.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Response, HttpError> {
        let talking = async {
            let answer = self.open(method, path, body, None).await?;
            let status = answer.status().as_u16();
            Ok((status, self.whole(answer.into_body(), BODY_BYTES_MAX).await?))
        };
        let (status, body) = self.in_time(talking).await?;
        match status {
            200..300 => Ok(Response { status, body }),
            _ => Err(problem(status, &body)),
        }
    }

    /// Follows events, from after the one with the id `last`. `None` means that there will be no
    /// more.
    pub async fn events(
        &self,
        path: &str,
        last: Option<&str>,
    ) -> Result<Option<Events>, HttpError> {
        let answer = self.in_time(self.open("GET", path, None, last)).await?;
        match answer.status().as_u16() {
            200 => {
                let (http, body) = (self.clone(), answer.into_body());
                Ok(Some(Events { http, body, decoder: EventDecoder::default() }))
            }
            204 => Ok(None),
            status => {
                let body = self.in_time(self.whole(answer.into_body(), HEAD_BYTES_MAX)).await;
                Err(problem(status, &body.unwrap_or_default()))
            }
        }
    }

    /// Sends a request on a new connection, and reads the head of the response.
    async fn open(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        last: Option<&str>,
    ) -> Result<hyper::Response<Incoming>, HttpError> {
        let socket = self.connect().await?;
        let mut request = hyper::Request::builder().method(method).uri(path);
        request = request.header(header::HOST, self.place()).header(header::CONNECTION, "close");
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = request.body(Full::new(Bytes::from(body)));
        let request = request.map_err(|_| HttpError::Url(format!("{}{path}", self.place())))?;
        let socket = TokioIo::new(socket);
        let opened = http1::Builder::new().max_buf_size(HEAD_BYTES_MAX).handshake(socket).await;
        let (mut sender, connection) = opened.map_err(|error| self.failed(error))?;
        // The task ends with the body of the response, or when the body is dropped.
        tokio::spawn(connection);
        sender.send_request(request).await.map_err(|error| self.failed(error))
    }

    /// Connects to the current node, or to the next one that accepts a connection. A request is
    /// sent once at most, so it is safe to try another node only until a connection is open.
    async fn connect(&self) -> Result<Socket, HttpError> {
        let mut tries = 0;
        loop {
            let node = self.node();
            let error = match Socket::open(&node.place, node.tls).await {
                Ok(socket) => return Ok(socket),
                Err(why) => self.lost(why),
            };
            tries += 1;
            if tries == self.nodes.len() {
                return Err(error);
            }
        }
    }

    /// Reads a body of at most this many bytes.
    async fn whole(&self, mut body: Incoming, bytes_max: usize) -> Result<Vec<u8>, HttpError> {
        let mut whole = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| self.failed(error))?;
            whole.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
            if whole.len() > bytes_max {
                return Err(self.garbled("a body that does not end"));
            }
        }
        Ok(whole)
    }

    /// Applies the timeout of a whole request.
    async fn in_time<T>(
        &self,
        what: impl Future<Output = Result<T, HttpError>>,
    ) -> Result<T, HttpError> {
        let done = tokio::time::timeout(PATIENCE, what).await;
        done.map_err(|_| self.lost(io::ErrorKind::TimedOut.into()))?
    }

    fn json(&self, body: &[u8]) -> Result<Value, HttpError> {
        serde_json::from_slice(body).map_err(|error| self.garbled(&error.to_string()))
    }

    /// The error of a node that cannot be reached. Later requests go to the next node.
    fn lost(&self, why: io::Error) -> HttpError {
        let server = self.place().to_owned();
        self.turn_to_next_node();
        HttpError::Unreachable { server, why }
    }

    /// Translates an error of hyper.
    fn failed(&self, error: hyper::Error) -> HttpError {
        if error.is_parse() || error.is_parse_too_large() {
            return self.garbled(&error.to_string());
        }
        let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
        let kind = match cause {
            Some(cause) => cause.kind(),
            None if error.is_incomplete_message() => io::ErrorKind::UnexpectedEof,
            None => return self.lost(io::Error::other(error)),
        };
        self.lost(kind.into())
    }

    fn garbled(&self, why: &str) -> HttpError {
        HttpError::Garbled { server: self.place().to_owned(), why: why.into() }
    }
}

impl Node {
    /// Parses `http://HOST:PORT/…`; also returns what follows the first slash.
    fn parse(url: &str) -> Option<(Node, &str)> {
        let (tls, port, rest) = match url.split_once("://") {
            Some(("http", rest)) => (false, 80, rest),
            Some(("https", rest)) => (true, 443, rest),
            Some(_) => return None,
            None => (false, 80, url),
        };
        let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
        let odd = |letter: char| letter.is_whitespace() || letter.is_control() || letter == '@';
        if place.is_empty() || place.starts_with(':') || place.contains(odd) {
            return None;
        }
        let place = match place.rsplit_once(':') {
            Some((_, port)) if port.parse::<u16>().is_ok() => place.to_owned(),
            Some(_) if !place.ends_with(']') => return None,
            _ => format!("{place}:{port}"),
        };
        Some((Node { place, tls }, path))
    }
}

/// Escapes a name for use in a path.
pub fn escaped(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte);
    let letters = name.bytes().map(|byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    letters.collect()
}

fn problem(status: u16, body: &[u8]) -> HttpError {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let code = body["type"].as_str().and_then(|kind| kind.rsplit(':').next());
    let detail = body["detail"].as_str().unwrap_or("the server says no, and not why");
    // The hint is for authors of programs, as the caller is.
    let hint = body["hint"].as_str().map(|hint| format!(" ({hint})")).unwrap_or_default();
    HttpError::Problem {
        status,
        code: code.unwrap_or_default().to_owned(),
        detail: format!("{detail}{hint}"),
    }
}

/// One server-sent event.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ServerEvent {
    /// `snapshot`, `change`, `lagged` or `end`.
    pub event: String,
    /// The id to resume with.
    pub id: Option<String>,
    /// The payload.
    pub data: String,
}

/// A stream of events.
pub struct Events {
    http: Http,
    body: Incoming,
    decoder: EventDecoder,
}

impl Events {
    /// The next event; `None` when the server closed the stream.
    pub async fn next(&mut self) -> Result<Option<ServerEvent>, HttpError> {
        loop {
            if let Some(event) = self.decoder.take() {
                return Ok(Some(event));
            }
            if self.decoder.text.len() > BODY_BYTES_MAX {
                return Err(self.http.garbled("an event that does not end"));
            }
            let frame = tokio::time::timeout(QUIET, self.body.frame()).await;
            match frame.map_err(|_| self.http.lost(io::ErrorKind::TimedOut.into()))? {
                Some(Ok(frame)) => {
                    self.decoder.push(frame.data_ref().map_or(&[], |data| data));
                }
                Some(Err(error)) => return Err(self.http.failed(error)),
                None => return Ok(None),
            }
        }
    }
}

/// Decodes server-sent events from text that arrives in pieces.
#[derive(Default)]
pub struct EventDecoder {
    text: Vec<u8>,
}

impl EventDecoder {
    /// Adds a piece.
    pub fn push(&mut self, piece: &[u8]) {
        self.text.extend_from_slice(piece);
    }

    /// The next event, if it is complete.
    pub fn take(&mut self) -> Option<ServerEvent> {
        while let Some(end) = self.text.windows(2).position(|window| window == b"\n\n") {
            let rest = self.text.split_off(end + 2);
            let block = std::mem::replace(&mut self.text, rest);
            if let Some(event) = read_event(&String::from_utf8_lossy(&block)) {
                return Some(event);
            }
        }
        None
    }
}

/// One block of lines; `None` for comments and blocks without data.
fn read_event(block: &str) -> Option<ServerEvent> {
    let (mut event, mut data) = (ServerEvent::default(), Vec::new());
    for line in block.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => event.event = value.into(),
            "id" => event.id = Some(value.into()),
            "data" => data.push(value),
            _ => {}
        }
    }
    event.data = data.join("\n");
    (!data.is_empty()).then_some(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_with_their_paths() {
        let (http, parts) = Http::parse("http://127.0.0.1:7380/api/v1/cup/r1m1").unwrap();
        assert_eq!(
            (http.place(), &parts[..]),
            ("127.0.0.1:7380", &["cup", "r1m1"].map(String::from)[..])
        );
        let (http, parts) = Http::parse("example.org").unwrap();
        assert_eq!((http.place(), parts.len()), ("example.org:80", 0));
        assert_eq!(Http::parse("http://[::1]:80/").unwrap().0.place(), "[::1]:80");
        for bad in
            ["", "http://", "ftp://host", "host:x", "http://:80", "http://a b", "a,", "a/x,b"]
        {
            assert!(matches!(Http::parse(bad), Err(HttpError::Url(_))), "{bad}");
        }
        assert_eq!(Http::parse("https://host").unwrap().0.place(), "host:443");
        assert_eq!(escaped("a b/ö"), "a%20b%2F%C3%B6");
    }

    #[test]
    fn events_come_in_pieces_and_comments_are_no_events() {
        let mut decoder = EventDecoder::default();
        decoder.push(b":\n\nevent: change\nid: 7\ndata: {\"a\":\ndata: 1}\n");
        assert_eq!(decoder.take(), None);
        decoder.push(b"\ndata: 2");
        let data = "{\"a\":\n1}".to_owned();
        let event = ServerEvent { event: "change".into(), id: Some("7".into()), data };
        assert_eq!(decoder.take(), Some(event));
        assert_eq!(decoder.take(), None);
    }

    /// Answers one request with these bytes, and closes the connection.
    async fn answered(bytes: &'static [u8]) -> Result<Response, HttpError> {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (http, _) = Http::parse(&listener.local_addr().unwrap().to_string()).unwrap();
        let server = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                socket.read_buf(&mut request).await.unwrap();
            }
            socket.write_all(bytes).await.unwrap();
        });
        let answer = http.send("GET", "/", None).await;
        server.await.unwrap();
        answer
    }

    #[tokio::test]
    async fn bodies_end_by_length_by_chunks_or_with_the_connection() {
        for bytes in [
            &b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntext"[..],
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nte\r\n2\r\nxt\r\n0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n\r\ntext",
        ] {
            assert_eq!(answered(bytes).await.unwrap().body, b"text");
        }
    }

    #[tokio::test]
    async fn broken_responses_and_redirects_are_errors() {
        for cut in [
            &b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\ntext"[..],
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nte\r\n",
            b"HTTP/1.1 200",
            b"",
        ] {
            let error = answered(cut).await.unwrap_err();
            assert!(matches!(error, HttpError::Unreachable { .. }), "{error}");
        }
        let error = answered(b"SSH-2.0-nobody\r\n\r\n").await.unwrap_err();
        assert!(matches!(error, HttpError::Garbled { .. }), "{error}");
        let moved = b"HTTP/1.1 301 Moved\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n";
        let error = answered(moved).await.unwrap_err();
        assert!(matches!(error, HttpError::Problem { status: 301, .. }), "{error}");
    }
}
