//! WebSocket frames (RFC 6455) as a codec, for both ends: bytes in, messages out, and back.
//!
//! It handles framing, limits and the key of the handshake, and supports no extension. The caller
//! interprets messages and answers pings.

use base64ct::{Base64, Encoding};
use sha1::{Digest, Sha1};

/// The largest payload of a control frame.
const CONTROL_BYTES_MAX: usize = 125;

/// A buffer that grew beyond this is given back when it is empty: most connections are idle.
const KEPT_BYTES_MAX: usize = 1024;

/// The type of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opcode {
    /// Continues a message.
    Continuation = 0,
    /// A text message.
    Text = 1,
    /// A binary message.
    Binary = 2,
    /// The end.
    Close = 8,
    /// A question for a sign of life.
    Ping = 9,
    /// The answer to it.
    Pong = 10,
}

impl Opcode {
    fn read(bits: u8) -> Option<Opcode> {
        use Opcode::{Binary, Close, Continuation, Ping, Pong, Text};
        let all = [Continuation, Text, Binary, Close, Ping, Pong];
        all.into_iter().find(|opcode| *opcode as u8 == bits)
    }

    fn is_control(self) -> bool {
        self as u8 >= 8
    }
}

/// A received message or control frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Incoming<'a> {
    /// A whole text message; whether it is UTF-8 was not looked at.
    Text(&'a [u8]),
    /// A ping, to be answered with these bytes.
    Ping(&'a [u8]),
    /// A pong, with the bytes of its ping.
    Pong(&'a [u8]),
    /// The peer closes the connection, with its status code if it sent one.
    Close(Option<u16>),
}

/// An invalid frame or message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadFrame {
    /// A message longer than allowed. The rest of it is skipped.
    #[error("a message of more than {max} bytes")]
    TooLong {
        /// The bound.
        max: usize,
    },
    /// A binary message. It is skipped.
    #[error("a binary message; send text")]
    Binary,
    /// The stream cannot be parsed any further; the connection must be closed.
    #[error("not WebSocket: {0}")]
    Broken(&'static str),
}

/// The head of a frame.
struct Head {
    opcode: Opcode,
    last: bool,
    mask: Option<[u8; 4]>,
    length: u64,
    /// How long the head itself is.
    bytes: usize,
}

/// The state of a message in several frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Open {
    /// It is collected.
    Kept,
    /// It is too long or binary, was reported, and is skipped.
    Skipped,
}

/// Received bytes that are not yet split into messages. Holds at most one message and one frame of
/// maximum size, and one read.
#[derive(Debug)]
pub struct Frames {
    buffer: Vec<u8>,
    /// Bytes before this index are consumed.
    from: usize,
    /// The earlier frames of a message in several.
    message: Vec<u8>,
    open: Option<Open>,
    /// Bytes still to come that are not looked at.
    skip: u64,
    max: usize,
    /// True if the other end has to mask its frames: clients do, servers do not.
    masked: bool,
    broken: bool,
}

impl Frames {
    /// For a server: messages of at most `max` bytes in masked frames.
    pub fn of_client(max: usize) -> Frames {
        Frames::new(max, true)
    }

    /// For a client.
    pub fn of_server(max: usize) -> Frames {
        Frames::new(max, false)
    }

    fn new(max: usize, masked: bool) -> Frames {
        let (buffer, message) = (Vec::new(), Vec::new());
        Frames { buffer, from: 0, message, open: None, skip: 0, max, masked, broken: false }
    }

    /// Adds bytes.
    pub fn push(&mut self, mut bytes: &[u8]) {
        if self.skip > 0 {
            let skipped = self.skip.min(bytes.len() as u64);
            self.skip -= skipped;
            bytes = &bytes[skipped as usize..];
        }
        if self.from == self.buffer.len() {
            self.buffer.clear();
            self.from = 0;
        } else if self.from > 64 * 1024 {
            self.buffer.drain(..self.from);
            self.from = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete message or control frame, if there is one. After [`BadFrame::Broken`]
    /// there is nothing more.
    pub fn take(&mut self) -> Option<Result<Incoming<'_>, BadFrame>> {
        if self.open.is_none() && !self.message.is_empty() {
            // It was given out by the last call.
            reset(&mut self.message);
        }
        loop {
            if self.broken {
                return None;
            }
            if self.from == self.buffer.len() && self.from > 0 {
                reset(&mut self.buffer);
                self.from = 0;
            }
            let head = match self.head() {
                Ok(Some(head)) => head,
                Ok(None) => return None,
                Err(why) => {
                    self.broken = true;
                    return Some(Err(BadFrame::Broken(why)));
                }
            };
            if !head.opcode.is_control()
                && let Some(reported) = self.skip_frame(&head)
            {
                match reported {
                    Some(bad) => return Some(Err(bad)),
                    None => continue,
                }
            }
            let payload = self.payload(&head)?;
            match (head.opcode, head.last) {
                (Opcode::Ping, _) => return Some(Ok(Incoming::Ping(&self.buffer[payload]))),
                (Opcode::Pong, _) => return Some(Ok(Incoming::Pong(&self.buffer[payload]))),
                (Opcode::Close, _) => {
                    let code = self.buffer[payload].first_chunk().copied();
                    return Some(Ok(Incoming::Close(code.map(u16::from_be_bytes))));
                }
                (Opcode::Continuation, last) => {
                    self.message.extend_from_slice(&self.buffer[payload]);
                    if last {
                        self.open = None;
                        return Some(Ok(Incoming::Text(&self.message)));
                    }
                }
                (_, true) => return Some(Ok(Incoming::Text(&self.buffer[payload]))),
                (_, false) => {
                    self.message.extend_from_slice(&self.buffer[payload]);
                    self.open = Some(Open::Kept);
                }
            }
        }
    }

    /// The header of the next frame, if it is complete.
    fn head(&self) -> Result<Option<Head>, &'static str> {
        let bytes = &self.buffer[self.from..];
        let [first, second, ..] = bytes else { return Ok(None) };
        if first & 0x70 != 0 {
            return Err("reserved bits are set");
        }
        let opcode = Opcode::read(first & 0x0f).ok_or("an unknown opcode")?;
        let (last, masked) = (first & 0x80 != 0, second & 0x80 != 0);
        if masked != self.masked {
            return Err(if masked { "a masked frame" } else { "a frame that is not masked" });
        }
        let (short, mut at) = (usize::from(second & 0x7f), 2);
        if opcode.is_control() && (short > CONTROL_BYTES_MAX || !last) {
            return Err("a control frame in parts, or of more than 125 bytes");
        }
        match (opcode, self.open.is_some()) {
            (Opcode::Continuation, false) => return Err("goes on with no message"),
            (Opcode::Text | Opcode::Binary, true) => return Err("a message within a message"),
            _ => {}
        }
        let wide = match short {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        let Some(number) = bytes.get(at..at + wide) else { return Ok(None) };
        let mut length = number.iter().fold(0u64, |length, byte| length << 8 | u64::from(*byte));
        if wide == 0 {
            length = short as u64;
        }
        if length >> 63 != 0 {
            return Err("a length beyond all bounds");
        }
        at += wide;
        let mut mask = None;
        if masked {
            let Some(key) = bytes.get(at..at + 4) else { return Ok(None) };
            mask = Some([key[0], key[1], key[2], key[3]]);
            at += 4;
        }
        Ok(Some(Head { opcode, last, mask, length, bytes: at }))
    }

    /// Skips a data frame that is too long or binary, and returns what to report, once per message.
    /// `None` if the frame is kept.
    fn skip_frame(&mut self, head: &Head) -> Option<Option<BadFrame>> {
        let too_long = head.length.saturating_add(self.message.len() as u64) > self.max as u64;
        let bad = match (self.open, head.opcode) {
            (Some(Open::Skipped), _) => None,
            (_, Opcode::Binary) => Some(BadFrame::Binary),
            _ if too_long => Some(BadFrame::TooLong { max: self.max }),
            _ => return None,
        };
        reset(&mut self.message);
        self.open = (!head.last).then_some(Open::Skipped);
        let here = self.buffer.len() - self.from - head.bytes;
        let skipped = head.length.min(here as u64);
        self.skip = head.length - skipped;
        self.from += head.bytes + skipped as usize;
        Some(bad)
    }

    /// The range of the unmasked payload, if it is complete; this consumes the frame.
    fn payload(&mut self, head: &Head) -> Option<std::ops::Range<usize>> {
        let start = self.from + head.bytes;
        // Lengths that come here are within the bound of a message.
        let end = start + head.length as usize;
        let payload = self.buffer.get_mut(start..end)?;
        if let Some(mask) = head.mask {
            apply_mask(payload, mask);
        }
        self.from = end;
        Some(start..end)
    }
}

/// Empties a buffer, and gives it back if it is large.
fn reset(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.shrink_to(KEPT_BYTES_MAX);
}

fn apply_mask(payload: &mut [u8], mask: [u8; 4]) {
    let word = u64::from_ne_bytes([
        mask[0], mask[1], mask[2], mask[3], mask[0], mask[1], mask[2], mask[3],
    ]);
    let mut words = payload.chunks_exact_mut(8);
    for chunk in &mut words {
        let bytes: [u8; 8] = (&*chunk).try_into().expect("eight bytes");
        chunk.copy_from_slice(&(u64::from_ne_bytes(bytes) ^ word).to_ne_bytes());
    }
    let rest = words.into_remainder().iter_mut().zip(mask.iter().cycle());
    rest.for_each(|(byte, key)| *byte ^= key);
}

/// The beginning of a frame, before its mask and its payload.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    bytes: [u8; 10],
    len: usize,
}

impl Opening {
    /// The header of a whole message with a payload of `payload_bytes`.
    pub fn new(opcode: Opcode, payload_bytes: usize, masked: bool) -> Opening {
        let mut opening = Opening { bytes: [0; 10], len: 2 };
        let masked = if masked { 0x80 } else { 0 };
        opening.bytes[0] = 0x80 | opcode as u8;
        match payload_bytes {
            short @ 0..126 => opening.bytes[1] = masked | short as u8,
            middle @ 126..0x1_0000 => {
                opening.bytes[1] = masked | 126;
                opening.bytes[2..4].copy_from_slice(&(middle as u16).to_be_bytes());
                opening.len = 4;
            }
            long => {
                opening.bytes[1] = masked | 127;
                opening.bytes[2..].copy_from_slice(&(long as u64).to_be_bytes());
                opening.len = 10;
            }
        }
        opening
    }
}

impl std::ops::Deref for Opening {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Adds a whole frame to `out`. Clients give a mask, servers none.
pub fn encode(out: &mut Vec<u8>, opcode: Opcode, payload: &[u8], mask: Option<[u8; 4]>) {
    out.extend_from_slice(&Opening::new(opcode, payload.len(), mask.is_some()));
    let start = out.len() + if mask.is_some() { 4 } else { 0 };
    out.extend_from_slice(mask.as_ref().map_or(&[], |mask| &mask[..]));
    out.extend_from_slice(payload);
    if let Some(mask) = mask {
        apply_mask(&mut out[start..], mask);
    }
}

/// The server's reply to the `Sec-WebSocket-Key` of a handshake.
pub fn accept_key(key: &str) -> String {
    let mut hash = Sha1::new();
    hash.update(key.as_bytes());
    hash.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    Base64::encode_string(&hash.finalize())
}

/// The `Sec-WebSocket-Key` of a handshake.
pub fn key(bytes: [u8; 16]) -> String {
    Base64::encode_string(&bytes)
}

/// Returns whether this is the `Sec-WebSocket-Key` of a handshake: sixteen bytes in base64.
pub fn is_key(key: &str) -> bool {
    let mut bytes = [0; 16];
    Base64::decode(key, &mut bytes).is_ok_and(|bytes| bytes.len() == 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MASK: Option<[u8; 4]> = Some([1, 2, 3, 250]);

    fn all(frames: &mut Frames) -> Vec<String> {
        let mut taken = Vec::new();
        while let Some(came) = frames.take() {
            taken.push(match came {
                Ok(Incoming::Text(text)) => format!("text {}", String::from_utf8_lossy(text)),
                other => format!("{other:?}"),
            });
        }
        taken
    }

    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(&mut bytes, Opcode::Text, payload, MASK);
        bytes[0] = first;
        bytes
    }

    #[test]
    fn the_handshake_of_the_standard() {
        assert_eq!(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert!(is_key("dGhlIHNhbXBsZSBub25jZQ=="));
        assert!(!is_key("dGhlIHNhbXBsZQ==") && !is_key("") && !is_key("not base64 at all!!!!!!!"));
    }

    #[test]
    fn the_frames_of_the_standard() {
        // Section 5.7: a masked "Hello", then the same in two parts with a ping in between.
        let mut frames = Frames::of_client(10);
        frames.push(&[0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]);
        assert_eq!(all(&mut frames), ["text Hello"]);
        let mut frames = Frames::of_server(10);
        frames.push(b"\x01\x03Hel\x89\x05Hello\x80\x02lo\x81\x02ab");
        let ping = format!("{:?}", Ok::<_, BadFrame>(Incoming::Ping(b"Hello")));
        assert_eq!(all(&mut frames), [ping.as_str(), "text Hello", "text ab"]);
    }

    #[test]
    fn long_or_binary_message_is_reported_once_and_skipped() {
        let mut frames = Frames::of_client(4);
        let long = "Err(TooLong { max: 4 })";
        frames.push(&frame(0x81, b"123456789"));
        frames.push(&frame(0x81, b"ok"));
        assert_eq!(all(&mut frames), [long, "text ok"]);
        // In parts: each within the bound, together beyond it.
        frames.push(&frame(0x01, b"123"));
        frames.push(&frame(0x00, b"456"));
        frames.push(&frame(0x00, b"7"));
        frames.push(&frame(0x80, b"8"));
        frames.push(&frame(0x81, b"ok"));
        assert_eq!(all(&mut frames), [long, "text ok"]);
        frames.push(&frame(0x02, b"1"));
        frames.push(&frame(0x80, b"2"));
        frames.push(&frame(0x82, b"3"));
        frames.push(&frame(0x81, b""));
        assert_eq!(all(&mut frames), ["Err(Binary)", "Err(Binary)", "text "]);
    }

    #[test]
    fn a_long_message_is_not_collected() {
        let mut frames = Frames::of_client(100);
        frames.push(&[0x81, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(all(&mut frames), ["Err(TooLong { max: 100 })"]);
        for _ in 0..1024 {
            frames.push(&[0; 1024 * 1024]);
            assert!(frames.buffer.is_empty());
        }
        frames.push(&frame(0x81, b"ok"));
        assert_eq!(all(&mut frames), ["text ok"]);
        assert!(frames.buffer.capacity() <= KEPT_BYTES_MAX);
    }

    #[test]
    fn protocol_violation_ends_the_connection() {
        let unmasked = b"\x81\x02ab".to_vec();
        let huge = vec![0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4];
        let long_ping = frame(0x89, &[0; 126]);
        let broken = [
            (unmasked, "not masked"),
            (frame(0xc1, b"a"), "reserved"),
            (frame(0x83, b"a"), "opcode"),
            (frame(0x8b, b"a"), "opcode"),
            (frame(0x80, b"a"), "no message"),
            (frame(0x09, b"a"), "control"),
            (long_ping, "control"),
            (huge, "length"),
            ([frame(0x01, b"a"), frame(0x81, b"b")].concat(), "within"),
        ];
        for (bytes, why) in broken {
            let mut frames = Frames::of_client(1000);
            frames.push(&bytes);
            frames.push(&frame(0x81, b"never"));
            let taken = all(&mut frames);
            assert!(taken.len() == 1 && taken[0].contains(why), "{why}: {taken:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            messages in prop::collection::vec(
                (0usize..5, prop::collection::vec(0u8..250, 0..300)),
                0..8,
            ),
            cuts in prop::collection::vec(1usize..200, 1..40),
        ) {
            let mut bytes = Vec::new();
            for (kind, payload) in &messages {
                match kind {
                    0 => bytes.extend(frame(0x89, &payload[..payload.len().min(125)])),
                    1 => {
                        let (head, tail) = payload.split_at(payload.len() / 2);
                        bytes.extend(frame(0x01, head));
                        bytes.extend(frame(0x80, tail));
                    }
                    2 => bytes.extend(frame(0x82, payload)),
                    _ => bytes.extend(frame(0x81, payload)),
                }
            }
            let mut whole = Frames::of_client(200);
            whole.push(&bytes);
            let expected = all(&mut whole);
            prop_assert_eq!(expected.len(), messages.len());
            let mut pieces = Frames::of_client(200);
            let mut taken = Vec::new();
            let (mut rest, mut cuts) = (&bytes[..], cuts.iter().cycle());
            while !rest.is_empty() {
                let (piece, tail) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
                pieces.push(piece);
                taken.extend(all(&mut pieces));
                rest = tail;
            }
            prop_assert_eq!(taken, expected);
        }

        #[test]
        fn no_bytes_make_it_panic(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 0..10),
        ) {
            let mut frames = Frames::of_client(50);
            for piece in pieces {
                frames.push(&piece);
                while frames.take().is_some() {}
            }
        }
    }
}
