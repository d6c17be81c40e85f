//! Frames: a big-endian length in two or four bytes, then as many bytes.

/// How much buffer capacity is kept between frames.
const KEPT_MAX: usize = 4 * 1024;

/// How wide the length is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Header {
    /// Two bytes: the handshake, and requests to EPMD.
    Two,
    /// Four bytes: everything after the handshake. An empty frame is a tick.
    Four,
}

impl Header {
    fn width(self) -> usize {
        match self {
            Header::Two => 2,
            Header::Four => 4,
        }
    }
}

/// A frame longer than allowed. Nothing after it can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a frame of {announced} bytes; at most {max}")]
pub struct TooLong {
    /// The announced length.
    pub announced: usize,
    /// The limit.
    pub max: usize,
}

/// Received bytes that are not consumed as frames yet. Holds no more than one frame's limit and one
/// push.
#[derive(Clone, Debug)]
pub struct Frames {
    buffer: Vec<u8>,
    /// Bytes before this are consumed.
    from: usize,
    header: Header,
    max: usize,
    broken: Option<TooLong>,
}

impl Frames {
    /// Reads frames of at most `max` bytes, without their length.
    pub fn new(header: Header, max: usize) -> Frames {
        Frames { buffer: Vec::new(), from: 0, header, max, broken: None }
    }

    /// Switches to wider lengths after the handshake. Keeps the bytes already received.
    #[must_use]
    pub fn with(self, header: Header, max: usize) -> Frames {
        Frames { header, max, ..self }
    }

    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.broken.is_some() {
            return;
        }
        if self.from > 64 * 1024 {
            self.buffer.drain(..self.from);
            self.from = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete frame. After an error it returns only that error.
    pub fn take(&mut self) -> Option<Result<&[u8], TooLong>> {
        if let Some(broken) = self.broken {
            return Some(Err(broken));
        }
        if self.from == self.buffer.len() {
            // Release the capacity of a large frame instead of holding it for the whole connection.
            self.buffer.clear();
            self.buffer.shrink_to(KEPT_MAX);
            self.from = 0;
        }
        let (header, rest) = self.buffer[self.from..].split_at_checked(self.header.width())?;
        let announced = header.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        if announced > self.max {
            let broken = TooLong { announced, max: self.max };
            self.broken = Some(broken);
            return Some(Err(broken));
        }
        if rest.len() < announced {
            return None;
        }
        let start = self.from + self.header.width();
        self.from = start + announced;
        Some(Ok(&self.buffer[start..start + announced]))
    }
}

/// A frame around the bytes that `write` writes.
///
/// # Panics
/// If the frame is longer than its length field can express.
pub fn frame(header: Header, write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    frame_to(&mut out, header, write);
    out
}

/// Appends a frame around the bytes that `write` appends.
///
/// # Panics
/// If the frame is longer than its length field can express.
pub fn frame_to(out: &mut Vec<u8>, header: Header, write: impl FnOnce(&mut Vec<u8>)) {
    let (start, width) = (out.len(), header.width());
    out.resize(start + width, 0);
    write(out);
    let length = u32::try_from(out.len() - start - width).expect("a frame of ours is short");
    let length = length.to_be_bytes();
    let (high, low) = length.split_at(4 - width);
    assert!(high.iter().all(|byte| *byte == 0), "a frame of ours is short");
    out[start..start + width].copy_from_slice(low);
}
