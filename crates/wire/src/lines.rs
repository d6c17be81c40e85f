//! Splits a stream of bytes into lines of bounded length.

/// A line longer than allowed. The rest of it is skipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a line of more than {max} bytes")]
pub struct TooLong {
    /// The bound.
    pub max: usize,
}

/// A buffer that grew beyond this is given back when it is empty: most connections are idle.
const KEPT_BYTES_MAX: usize = 1024;

/// Received bytes that are not yet split into lines. Holds at most one line of maximum length and
/// one read.
#[derive(Clone, Debug)]
pub struct Lines {
    buffer: Vec<u8>,
    /// Bytes before this index are consumed.
    from: usize,
    /// Bytes before this hold no line end.
    scanned: usize,
    max: usize,
    skipping: bool,
}

impl Lines {
    /// Lines of at most `max` bytes, without their ends.
    pub fn new(max: usize) -> Lines {
        Lines { buffer: Vec::new(), from: 0, scanned: 0, max, skipping: false }
    }

    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.from > 0 && self.from == self.buffer.len() {
            self.buffer.clear();
            (self.from, self.scanned) = (0, 0);
        } else if self.from > 64 * 1024 {
            self.buffer.drain(..self.from);
            self.scanned -= self.from;
            self.from = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete line, if there is one. Empty lines are skipped.
    pub fn take(&mut self) -> Option<Result<&[u8], TooLong>> {
        loop {
            let end = memchr::memchr(b'\n', &self.buffer[self.scanned..]);
            let Some(end) = end.map(|at| self.scanned + at) else {
                self.scanned = self.buffer.len();
                if self.from == self.scanned {
                    self.buffer.clear();
                    self.buffer.shrink_to(KEPT_BYTES_MAX);
                    (self.from, self.scanned) = (0, 0);
                }
                return self.give_up_on_long();
            };
            let (start, skipped) = (self.from, self.skipping);
            self.from = end + 1;
            self.scanned = end + 1;
            self.skipping = false;
            let line = trim_end(&self.buffer[start..end]);
            if skipped || line.is_empty() {
                continue;
            }
            if line.len() > self.max {
                return Some(Err(TooLong { max: self.max }));
            }
            let length = line.len();
            return Some(Ok(&self.buffer[start..start + length]));
        }
    }

    /// Reports a line that is too long once, as soon as that is clear, and skips the rest of it.
    fn give_up_on_long(&mut self) -> Option<Result<&[u8], TooLong>> {
        if self.buffer.len() - self.from <= self.max {
            return None;
        }
        self.buffer.clear();
        (self.from, self.scanned) = (0, 0);
        let first = !self.skipping;
        self.skipping = true;
        first.then_some(Err(TooLong { max: self.max }))
    }
}

fn trim_end(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(lines: &mut Lines) -> Vec<Result<String, TooLong>> {
        let mut taken = Vec::new();
        while let Some(line) = lines.take() {
            taken.push(line.map(|line| String::from_utf8(line.to_vec()).unwrap()));
        }
        taken
    }

    #[test]
    fn long_lines_are_reported_once_and_skipped() {
        let mut lines = Lines::new(4);
        lines.push(b"ab\r\n\n123456789");
        let long = Err(TooLong { max: 4 });
        assert_eq!(all(&mut lines), [Ok("ab".into()), long.clone()]);
        lines.push(b"0123456789");
        assert_eq!(all(&mut lines), []);
        lines.push(b"x\ncd\n12345\n");
        assert_eq!(all(&mut lines), [Ok("cd".into()), long]);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            text in "[ab\n]{0,60}",
            cuts in prop::collection::vec(1usize..9, 1..40),
        ) {
            let mut whole = Lines::new(5);
            whole.push(text.as_bytes());
            let expected = all(&mut whole);
            let mut pieces = Lines::new(5);
            let mut taken = Vec::new();
            let (mut rest, mut cuts) = (text.as_bytes(), cuts.iter().cycle());
            while !rest.is_empty() {
                let (piece, tail) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
                pieces.push(piece);
                taken.extend(all(&mut pieces));
                rest = tail;
            }
            prop_assert_eq!(taken, expected);
        }
    }
}
