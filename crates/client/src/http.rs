//! The HTTP interface of a server: one request at a time, and server-sent events. HTTP/1.1 with TLS
//! or without, as much of it as the server speaks: `docs/protocol/http.md`.

use super::body::{BODY_BYTES_MAX, Body, Next};
use super::socket::Socket;
use serde_json::Value;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The longest head of a response.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// How long a whole request may take.
const PATIENCE: Duration = Duration::from_secs(40);
/// How long events may be silent: the server sends a sign of life more often than that.
const QUIET: Duration = Duration::from_secs(60);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Not the address of a server.
    #[error("{0:?} is no address of a server; use http://HOST:PORT or https://HOST")]
    Url(String),
    /// Nobody answers there.
    #[error("failed to reach {server}: {why}")]
    Unreachable {
        /// Where.
        server: String,
        /// Why.
        why: io::Error,
    },
    /// The server says no.
    #[error("{detail} ({status})")]
    Problem {
        /// The status.
        status: u16,
        /// The last word of the problem's type, such as `not-found`.
        code: String,
        /// A sentence.
        detail: String,
    },
    /// What came is not HTTP.
    #[error("{server} does not speak as an Agon server does: {why}")]
    Garbled {
        /// Where.
        server: String,
        /// What is wrong.
        why: String,
    },
}

/// A server's HTTP interface.
#[derive(Clone)]
pub struct Http {
    /// `HOST:PORT`.
    place: String,
    tls: bool,
    token: Option<String>,
}

impl std::fmt::Debug for Http {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Http({})", self.place)
    }
}

/// A response that is no error.
#[derive(Debug)]
pub struct Response {
    /// The status, 200 to 299.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

impl Http {
    /// From `http://HOST:PORT/…` or `https://…`; the parts of its path, without `api/v1`, are given
    /// as well.
    pub fn parse(url: &str) -> Result<(Http, Vec<String>), HttpError> {
        let wrong = || HttpError::Url(url.into());
        let (tls, port, rest) = match url.split_once("://") {
            Some(("http", rest)) => (false, 80, rest),
            Some(("https", rest)) => (true, 443, rest),
            Some(_) => return Err(wrong()),
            None => (false, 80, url),
        };
        let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
        let odd = |letter: char| letter.is_whitespace() || letter.is_control() || letter == '@';
        if place.is_empty() || place.starts_with(':') || place.contains(odd) {
            return Err(wrong());
        }
        let place = match place.rsplit_once(':') {
            Some((_, port)) if port.parse::<u16>().is_ok() => place.to_owned(),
            Some(_) if !place.ends_with(']') => return Err(wrong()),
            _ => format!("{place}:{port}"),
        };
        let path = path.strip_prefix("api/v1").unwrap_or(path);
        let parts = path.split('/').filter(|part| !part.is_empty()).map(str::to_owned);
        Ok((Http { place, tls, token: None }, parts.collect()))
    }

    /// The same with a token.
    #[must_use]
    pub fn with_token(self, token: Option<String>) -> Http {
        Http { token, ..self }
    }

    /// `HOST:PORT`.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Asks for a page.
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
            let mut answer = self.open(method, path, body, "").await?;
            let mut whole = Vec::new();
            while let Some(piece) = answer.piece().await.map_err(|why| self.lost(why))? {
                whole.extend_from_slice(&piece);
                if whole.len() > BODY_BYTES_MAX {
                    return Err(self.garbled("a body that does not end"));
                }
            }
            Ok((answer.body.status(), whole))
        };
        let talked = tokio::time::timeout(PATIENCE, talking).await;
        let (status, body) = talked.map_err(|_| self.lost(io::ErrorKind::TimedOut.into()))??;
        match status {
            200..300 => Ok(Response { status, body }),
            _ => Err(problem(status, &body)),
        }
    }

    /// Follows events, from after the one with the id `last`. `None`: there will be no more.
    pub async fn events(
        &self,
        path: &str,
        last: Option<&str>,
    ) -> Result<Option<Events>, HttpError> {
        let head = last.map_or(String::new(), |last| format!("last-event-id: {last}\r\n"));
        let opening = tokio::time::timeout(PATIENCE, self.open("GET", path, None, &head)).await;
        let mut answer = opening.map_err(|_| self.lost(io::ErrorKind::TimedOut.into()))??;
        match answer.body.status() {
            200 => Ok(Some(Events { http: self.clone(), answer, text: Vec::new() })),
            204 => Ok(None),
            status => {
                let mut body = Vec::new();
                while let Ok(Ok(Some(piece))) = tokio::time::timeout(PATIENCE, answer.piece()).await
                    && body.len() < HEAD_BYTES_MAX
                {
                    body.extend_from_slice(&piece);
                }
                Err(problem(status, &body))
            }
        }
    }

    async fn open(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        head: &str,
    ) -> Result<Answer, HttpError> {
        let mut request = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n{head}", self.place);
        if let Some(token) = &self.token {
            request.push_str(&format!("authorization: Bearer {token}\r\n"));
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        if !body.is_empty() {
            request.push_str("content-type: application/json\r\n");
        }
        let length = body.len();
        request.push_str(&format!("content-length: {length}\r\nconnection: close\r\n\r\n{body}"));
        let socket = Socket::open(&self.place, self.tls).await;
        let mut socket = socket.map_err(|why| self.lost(why))?;
        socket.write_all(request.as_bytes()).await.map_err(|why| self.lost(why))?;
        socket.flush().await.map_err(|why| self.lost(why))?;
        let mut buffer = Vec::new();
        loop {
            if let Some(end) = find(&buffer, b"\r\n\r\n") {
                let rest = buffer.split_off(end + 4);
                let head = String::from_utf8_lossy(&buffer).into_owned();
                let body = Body::begin(&head, rest);
                let body = body.ok_or_else(|| self.garbled("no HTTP response"))?;
                return Ok(Answer { socket, body });
            }
            if buffer.len() > HEAD_BYTES_MAX {
                return Err(self.garbled("a head that does not end"));
            }
            match socket.read_buf(&mut buffer).await.map_err(|why| self.lost(why))? {
                0 => return Err(self.lost(io::ErrorKind::UnexpectedEof.into())),
                _ => continue,
            }
        }
    }

    fn json(&self, body: &[u8]) -> Result<Value, HttpError> {
        serde_json::from_slice(body).map_err(|error| self.garbled(&error.to_string()))
    }

    fn lost(&self, why: io::Error) -> HttpError {
        HttpError::Unreachable { server: self.place.clone(), why }
    }

    fn garbled(&self, why: &str) -> HttpError {
        HttpError::Garbled { server: self.place.clone(), why: why.into() }
    }
}

/// A name as a part of a path.
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
    HttpError::Problem {
        status,
        code: code.unwrap_or_default().to_owned(),
        detail: detail.to_owned(),
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// A response whose body is being read.
struct Answer {
    socket: Socket,
    body: Body,
}

impl Answer {
    /// The next piece of the body; `None` at its end.
    async fn piece(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            match self.body.take()? {
                Next::Piece(piece) => return Ok(Some(piece)),
                Next::End => return Ok(None),
                Next::More => {}
            }
            if self.socket.read_buf(&mut self.body.buffer).await? == 0 {
                return self.body.finish().map(|()| None);
            }
        }
    }
}

/// One server-sent event.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ServerEvent {
    /// `snapshot`, `change`, `lagged` or `end`.
    pub event: String,
    /// What to come back with.
    pub id: Option<String>,
    /// What it shows.
    pub data: String,
}

/// Events as they come.
pub struct Events {
    http: Http,
    answer: Answer,
    text: Vec<u8>,
}

impl Events {
    /// The next event; `None` when the server closed the stream.
    pub async fn next(&mut self) -> Result<Option<ServerEvent>, HttpError> {
        loop {
            while let Some(end) = find(&self.text, b"\n\n") {
                let rest = self.text.split_off(end + 2);
                let block = std::mem::replace(&mut self.text, rest);
                if let Some(event) = read_event(&String::from_utf8_lossy(&block)) {
                    return Ok(Some(event));
                }
            }
            if self.text.len() > BODY_BYTES_MAX {
                return Err(self.http.garbled("an event that does not end"));
            }
            let piece = tokio::time::timeout(QUIET, self.answer.piece()).await;
            let piece = piece.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
            match piece.map_err(|why| self.http.lost(why))? {
                Some(piece) => self.text.extend_from_slice(&piece),
                None => return Ok(None),
            }
        }
    }
}

/// One block of lines; comments and blocks without data are none.
pub fn read_event(block: &str) -> Option<ServerEvent> {
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
        for bad in ["", "http://", "ftp://host", "host:x", "http://:80", "http://a b"] {
            assert!(matches!(Http::parse(bad), Err(HttpError::Url(_))), "{bad}");
        }
        assert_eq!(Http::parse("https://host").unwrap().0.place(), "host:443");
        assert_eq!(escaped("a b/ö"), "a%20b%2F%C3%B6");
    }

    #[test]
    fn events_are_read_and_comments_passed_over() {
        assert_eq!(read_event(":\n\n"), None);
        let event = read_event("event: change\nid: 7\ndata: {\"a\":\ndata: 1}\n\n").unwrap();
        let data = "{\"a\":\n1}".to_owned();
        assert_eq!(event, ServerEvent { event: "change".into(), id: Some("7".into()), data });
    }
}
