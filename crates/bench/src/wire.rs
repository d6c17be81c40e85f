//! The framing of messages: lines over TCP, frames over a WebSocket or between Erlang nodes, values
//! on other systems' protocols.

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The initial size of the read buffer; it grows for longer messages.
const ROOM: usize = 8 * 1024;

/// How messages are delimited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wire {
    /// One line each.
    Lines,
    /// One text frame each.
    Frames,
    /// One array each, with nothing between them and no brackets in their texts.
    Values,
    /// Frames of an Erlang node; empty ones are ticks.
    Terms,
}

/// Received bytes, and how many of them are consumed.
pub(super) struct Inbox {
    bytes: Vec<u8>,
    from: usize,
    to: usize,
}

impl Inbox {
    pub(super) fn new() -> Inbox {
        Inbox { bytes: vec![0; ROOM], from: 0, to: 0 }
    }

    /// Reads once; returns the number of bytes, or 0 at the end.
    pub(super) async fn fill(&mut self, stream: &mut TcpStream) -> std::io::Result<usize> {
        if self.from == self.to {
            (self.from, self.to) = (0, 0);
        } else if self.to == self.bytes.len() {
            self.bytes.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
            if self.to > self.bytes.len() / 2 {
                self.bytes.resize(self.bytes.len() * 2, 0);
            }
        }
        let count = stream.read(&mut self.bytes[self.to..]).await?;
        self.to += count;
        Ok(count)
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.from..self.to]
    }
}

impl Wire {
    /// The next complete message, if there is one.
    pub(super) fn next(self, inbox: &mut Inbox) -> Result<Option<&[u8]>> {
        match self {
            Wire::Lines => {
                let rest = inbox.rest();
                let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
                    return Ok(None);
                };
                let from = inbox.from;
                inbox.from += end + 1;
                Ok(Some(&inbox.bytes[from..from + end]))
            }
            Wire::Values => {
                let mut depth = 0_usize;
                let end = inbox.rest().iter().position(|byte| {
                    match byte {
                        b'[' => depth += 1,
                        b']' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    depth == 0
                });
                let Some(end) = end else { return Ok(None) };
                let from = inbox.from;
                inbox.from += end + 1;
                Ok(Some(&inbox.bytes[from..=from + end]))
            }
            Wire::Frames => {
                let Some((opcode, head, length)) = frame(inbox.rest()) else { return Ok(None) };
                let from = inbox.from + head;
                inbox.from = from + length;
                match opcode {
                    1 => Ok(Some(&inbox.bytes[from..from + length])),
                    8 => bail!("the server closed the WebSocket"),
                    // The server sent a ping; the next answer is a sufficient sign of life.
                    _ => Ok(Some(&[])),
                }
            }
            Wire::Terms => {
                let Some((length, rest)) = inbox.rest().split_first_chunk() else {
                    return Ok(None);
                };
                let length = u32::from_be_bytes(*length) as usize;
                if rest.len() < length {
                    return Ok(None);
                }
                let from = inbox.from + 4;
                inbox.from = from + length;
                Ok(Some(&inbox.bytes[from..from + length]))
            }
        }
    }

    /// Starts a message in `out`; pass the returned position to [`Wire::end`].
    pub(super) fn begin(self, out: &mut Vec<u8>) -> usize {
        if self == Wire::Frames {
            // Reserves the longest header needed: two bytes, a length of two, a mask.
            out.extend_from_slice(&[0x81, 0x80 | 126, 0, 0, 0, 0, 0, 0]);
        }
        out.len()
    }

    /// Ends the message that began at `began`.
    pub(super) fn end(self, out: &mut Vec<u8>, began: usize) {
        match self {
            Wire::Lines => out.push(b'\n'),
            Wire::Values => {}
            // Nodes write their own framing.
            Wire::Terms => {}
            Wire::Frames => {
                let length = u16::try_from(out.len() - began).unwrap_or(u16::MAX);
                // Lengths below 126 must use the short form.
                if length < 126 {
                    out[began - 7] = 0x80 | length as u8;
                    out.drain(began - 6..began - 4);
                } else {
                    out[began - 6..began - 4].copy_from_slice(&length.to_be_bytes());
                }
            }
        }
    }

    /// Writes one whole message.
    pub(super) fn message(self, text: &str, out: &mut Vec<u8>) {
        let began = self.begin(out);
        out.extend_from_slice(text.as_bytes());
        self.end(out, began);
    }

    /// Performs the exchange before the first message.
    pub(super) async fn open(self, stream: &mut TcpStream, inbox: &mut Inbox) -> Result<()> {
        if self != Wire::Frames {
            return Ok(());
        }
        let host = stream.peer_addr()?;
        let request = format!(
            "GET /api/v1/play HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n\
             Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: YWdvbi1iZW5jaC1hZ29uIQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        loop {
            if inbox.fill(stream).await? == 0 {
                bail!("the server closed a connection that asked for a WebSocket");
            }
            let rest = inbox.rest();
            let Some(end) = rest.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
            let head = String::from_utf8_lossy(&rest[..end]).into_owned();
            inbox.from += end + 4;
            let status = head.lines().next().context("an HTTP answer has a first line")?;
            if !status.contains(" 101 ") {
                bail!("the server opens no WebSocket: {status}");
            }
            return Ok(());
        }
    }
}

/// The opcode of the first frame, the length of its header and that of its payload, if the frame is
/// complete. Servers do not mask.
fn frame(bytes: &[u8]) -> Option<(u8, usize, usize)> {
    let [first, second, rest @ ..] = bytes else { return None };
    let (head, length): (usize, usize) = match second & 0x7f {
        126 => (4, usize::from(u16::from_be_bytes(rest.get(..2)?.try_into().ok()?))),
        127 => (10, u64::from_be_bytes(rest.get(..8)?.try_into().ok()?) as usize),
        short => (2, usize::from(short)),
    };
    (bytes.len() >= head.checked_add(length)?).then_some((first & 0x0f, head, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inbox(bytes: &[u8]) -> Inbox {
        Inbox { bytes: bytes.to_vec(), from: 0, to: bytes.len() }
    }

    #[test]
    fn lines_are_taken_one_by_one() {
        let mut inbox = inbox(b"one\ntwo\nthr");
        assert_eq!(Wire::Lines.next(&mut inbox).unwrap(), Some(&b"one"[..]));
        assert_eq!(Wire::Lines.next(&mut inbox).unwrap(), Some(&b"two"[..]));
        assert_eq!(Wire::Lines.next(&mut inbox).unwrap(), None);
    }

    #[test]
    fn values_are_taken_one_by_one() {
        let mut inbox = inbox(br#"["start",[true]]["setup",[{"a":[]}]]["en"#);
        assert_eq!(Wire::Values.next(&mut inbox).unwrap(), Some(&br#"["start",[true]]"#[..]));
        assert_eq!(Wire::Values.next(&mut inbox).unwrap(), Some(&br#"["setup",[{"a":[]}]]"#[..]));
        assert_eq!(Wire::Values.next(&mut inbox).unwrap(), None);
    }

    #[test]
    fn frames_of_every_length_are_read_and_pieces_are_waited_for() {
        for length in [0_usize, 5, 125, 126, 70_000] {
            let mut bytes = vec![0x81];
            match length {
                0..126 => bytes.push(length as u8),
                126..65_536 => {
                    bytes.push(126);
                    bytes.extend((length as u16).to_be_bytes());
                }
                _ => {
                    bytes.push(127);
                    bytes.extend((length as u64).to_be_bytes());
                }
            }
            bytes.extend(std::iter::repeat_n(b'x', length));
            let cut = &bytes[..bytes.len() - 1];
            assert_eq!(Wire::Frames.next(&mut inbox(cut)).unwrap(), None, "{length}");
            let mut whole = inbox(&bytes);
            assert_eq!(Wire::Frames.next(&mut whole).unwrap().unwrap().len(), length);
            assert!(whole.rest().is_empty());
        }
        assert!(Wire::Frames.next(&mut inbox(&[0x88, 0])).is_err());
    }

    #[test]
    fn sent_message_is_a_masked_text_frame() {
        for length in [3, 125, 126, 300] {
            let mut out = vec![7];
            let text = "x".repeat(length);
            Wire::Frames.message(&text, &mut out);
            assert_eq!((out[0], out[1]), (7, 0x81));
            assert_eq!(out[2] & 0x80, 0x80, "masked");
            // Without the mask bit, this is a server's frame with four extra bytes of mask.
            let mut frame_bytes = out[1..].to_vec();
            frame_bytes[1] &= 0x7f;
            let head = if length < 126 { 2 } else { 4 };
            assert_eq!(&frame_bytes[head..head + 4], &[0; 4]);
            frame_bytes.drain(head..head + 4);
            assert_eq!(frame(&frame_bytes), Some((1, head, length)));
            assert_eq!(&frame_bytes[head..], text.as_bytes());
        }
    }
}
