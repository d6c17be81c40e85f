//! WebSocket frames, as a server and as a client reads them.

use crate::input::{Input, pieces};
use agon_wire::websocket::{BadFrame, Frames, Incoming, Opcode, accept_key, encode, is_key};

/// Small, so that inputs reach the limit.
const MESSAGE_MAX: usize = 300;

/// The longest piece that arrives at once.
const PIECE_MAX: usize = 64;

/// Frames of either end: how they are cut does not matter, no message exceeds its bound, and a
/// decoded frame decodes again after encoding.
pub fn frames(data: &[u8]) -> bool {
    let mut input = Input(data);
    let (from_client, how) = (input.byte().is_multiple_of(2), input.byte());
    let bytes = input.rest();
    let whole = taken(bytes, from_client, 255);
    assert_eq!(whole, taken(bytes, from_client, how), "the cuts decide what the messages are");
    if let Ok(text) = std::str::from_utf8(bytes) {
        assert!(!is_key(text) || accept_key(text).len() == 28);
    }
    let mut good = false;
    for message in whole.iter().filter_map(|came| came.as_ref().ok()) {
        good = true;
        let (opcode, payload) = match message {
            Said::Text(text) => (Opcode::Text, text),
            Said::Ping(bytes) => (Opcode::Ping, bytes),
            Said::Pong(bytes) => (Opcode::Pong, bytes),
            Said::Close(_) => continue,
        };
        let mut again = Vec::new();
        encode(&mut again, opcode, payload, from_client.then_some([7, 250, 0, 33]));
        assert_eq!(taken(&again, from_client, how), [Ok(message.clone())]);
    }
    good
}

/// A decoded message that owns its bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Said {
    Text(Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>),
}

fn taken(bytes: &[u8], from_client: bool, how: u8) -> Vec<Result<Said, BadFrame>> {
    let mut frames = match from_client {
        true => Frames::of_client(MESSAGE_MAX),
        false => Frames::of_server(MESSAGE_MAX),
    };
    let mut all = Vec::new();
    for piece in pieces(bytes, how, PIECE_MAX) {
        frames.push(piece);
        while let Some(came) = frames.take() {
            let said = came.map(|came| match came {
                Incoming::Text(text) => Said::Text(text.to_vec()),
                Incoming::Ping(bytes) => Said::Ping(bytes.to_vec()),
                Incoming::Pong(bytes) => Said::Pong(bytes.to_vec()),
                Incoming::Close(why) => Said::Close(why),
            });
            match &said {
                Ok(Said::Text(text)) => assert!(text.len() <= MESSAGE_MAX, "a long message"),
                Ok(Said::Ping(bytes) | Said::Pong(bytes)) => {
                    assert!(bytes.len() <= 125, "a long control frame");
                }
                _ => {}
            }
            all.push(said);
            assert!(all.len() <= bytes.len(), "messages out of nothing");
        }
    }
    all
}
