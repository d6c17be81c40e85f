//! The body of an HTTP response, from bytes as they come: by its length, in chunks, or to the end of
//! the connection. Sockets and time are other people's business.

use std::io;

/// The longest body.
pub(super) const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The longest line that says how long a chunk is.
const SIZE_BYTES_MAX: usize = 64;

/// How a body ends.
enum Ends {
    /// After so many bytes.
    After(u64),
    /// With an empty chunk.
    Chunks,
    /// With the connection.
    Closed,
}

/// What is there of a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// The next piece.
    Piece(Vec<u8>),
    /// Nothing before more bytes come.
    More,
    /// Nothing more.
    End,
}

/// A response whose body is being read.
pub struct Body {
    status: u16,
    /// What came and was not taken.
    pub(super) buffer: Vec<u8>,
    ends: Ends,
}

impl Body {
    /// After the head of a response, and with the bytes that came behind it; `None` if that is none.
    pub fn begin(head: &str, buffer: Vec<u8>) -> Option<Body> {
        let mut lines = head.split("\r\n");
        let mut words = lines.next()?.split(' ');
        words.next()?.strip_prefix("HTTP/1.")?;
        let status: u16 = words.next()?.parse().ok()?;
        let mut ends = if status == 204 { Ends::After(0) } else { Ends::Closed };
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            match (name.to_ascii_lowercase().as_str(), value.trim()) {
                ("content-length", length) => ends = Ends::After(length.parse().ok()?),
                ("transfer-encoding", value) if value.eq_ignore_ascii_case("chunked") => {
                    ends = Ends::Chunks;
                }
                _ => {}
            }
        }
        Some(Body { status, buffer, ends })
    }

    /// The status of the response.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// What is there now.
    pub fn take(&mut self) -> io::Result<Next> {
        Ok(match &mut self.ends {
            Ends::After(0) => Next::End,
            Ends::After(_) | Ends::Closed if self.buffer.is_empty() => Next::More,
            Ends::After(left) => {
                let count = (self.buffer.len() as u64).min(*left);
                *left -= count;
                let rest = self.buffer.split_off(count as usize);
                Next::Piece(std::mem::replace(&mut self.buffer, rest))
            }
            Ends::Closed => Next::Piece(std::mem::take(&mut self.buffer)),
            Ends::Chunks => match self.chunk()? {
                None => Next::More,
                Some(piece) if piece.is_empty() => Next::End,
                Some(piece) => Next::Piece(piece),
            },
        })
    }

    /// Whether it may end here, where the connection does.
    pub fn finish(&self) -> io::Result<()> {
        match self.ends {
            Ends::Closed => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The next chunk, if all of it is there.
    fn chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        // However it comes, the line with the size is as long as it may be, or it is not.
        let most = self.buffer.len().min(SIZE_BYTES_MAX + 2);
        let Some(end) = self.buffer[..most].windows(2).position(|window| window == b"\r\n") else {
            return match self.buffer.len() < SIZE_BYTES_MAX + 2 {
                true => Ok(None),
                false => Err(io::ErrorKind::InvalidData.into()),
            };
        };
        let line = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
        let digits = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(digits, 16).map_err(|_| io::ErrorKind::InvalidData)?;
        if size > BODY_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if self.buffer.len() < end + 2 + size + 2 {
            return Ok(None);
        }
        let rest = self.buffer.split_off(end + 2 + size + 2);
        let chunk = std::mem::replace(&mut self.buffer, rest);
        Ok(Some(chunk[end + 2..end + 2 + size].to_vec()))
    }
}
