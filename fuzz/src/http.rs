//! HTTP as a client reads it: addresses, and server-sent events in any pieces. hyper does the rest.

use crate::input::{Input, pieces};
use agon_client::http::{EventDecoder, Http, ServerEvent, escaped};

/// Events in any pieces: how they are cut does not matter. The input is the sizes of the pieces,
/// and the text.
pub fn events(data: &[u8]) -> bool {
    let mut input = Input(data);
    let how = input.byte();
    let bytes = input.rest();
    let whole = events_of(bytes, 255);
    assert_eq!(whole, events_of(bytes, how), "the cuts decide what is read");
    let text = String::from_utf8_lossy(bytes);
    if let Ok((http, parts)) = Http::parse(&text) {
        assert!(!http.place().contains(char::is_whitespace), "{}", http.place());
        assert!(parts.iter().all(|part| !part.is_empty() && escaped(part).is_ascii()));
    }
    !whole.is_empty()
}

fn events_of(bytes: &[u8], how: u8) -> Vec<ServerEvent> {
    let mut decoder = EventDecoder::default();
    let mut all = Vec::new();
    for piece in pieces(bytes, how, 64) {
        decoder.push(piece);
        all.extend(std::iter::from_fn(|| decoder.take()));
    }
    all
}
