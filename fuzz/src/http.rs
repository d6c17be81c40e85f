//! HTTP as a client reads it: heads, bodies in any pieces, server-sent events.

use crate::input::{Input, pieces};
use agon_client::body::{Body, Next};
use agon_client::http::{Http, escaped, read_event};

/// A response in any pieces: the cuts do not matter. The input is how it is cut, a head up to an
/// empty line, and a body.
pub fn response(data: &[u8]) -> bool {
    let mut input = Input(data);
    let how = input.byte();
    let bytes = input.rest();
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let Some(end) = end else { return false };
    let head = String::from_utf8_lossy(&bytes[..end + 4]).into_owned();
    let rest = &bytes[end + 4..];
    let Some(whole) = body_of(&head, rest, 255) else { return false };
    assert_eq!(Some(&whole), body_of(&head, rest, how).as_ref(), "the cuts decide what is read");
    let text = String::from_utf8_lossy(&whole.0);
    for block in text.split("\n\n") {
        let event = read_event(block);
        assert!(event.is_none_or(|event| block.contains("data") || event.data.is_empty()));
    }
    if let Ok((http, parts)) = Http::parse(&text) {
        assert!(!http.place().contains(char::is_whitespace), "{}", http.place());
        assert!(parts.iter().all(|part| !part.is_empty() && escaped(part).is_ascii()));
    }
    true
}

/// All of a body, and whether it ended as it should.
fn body_of(head: &str, bytes: &[u8], how: u8) -> Option<(Vec<u8>, bool)> {
    let mut body = Body::begin(head, Vec::new())?;
    let mut all = Vec::new();
    for piece in pieces(bytes, how, 64) {
        body.push(piece);
        loop {
            match body.take() {
                Ok(Next::Piece(piece)) => all.extend(piece),
                Ok(Next::More) => break,
                Ok(Next::End) => return Some((all, true)),
                Err(_) => return Some((all, false)),
            }
            assert!(all.len() <= bytes.len(), "a body out of nothing");
        }
    }
    let ended = matches!(body.take(), Ok(Next::End)) || body.finish().is_ok();
    Some((all, ended))
}
