//! A stream as the verifier reads it: its lines, their numbers and times, and the heads of its
//! chain.

use super::Finding;
use crate::chain::Head;
use crate::event::Event;
use crate::line::Line;
use std::ops::Deref;

/// The lines of one stream, with the head of its chain after each of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stream {
    lines: Vec<Line>,
    heads: Vec<Head>,
    /// The indices of the events that end the stream.
    ends: Vec<usize>,
}

impl Deref for Stream {
    type Target = [Line];

    fn deref(&self) -> &[Line] {
        &self.lines
    }
}

impl Stream {
    /// A stream of lines in memory, as this program would write them.
    pub fn of(lines: Vec<Line>) -> Stream {
        let texts: Vec<String> = lines.iter().map(Line::write).collect();
        Stream::new(lines, &texts)
    }

    fn new(lines: Vec<Line>, texts: &[impl AsRef<str>]) -> Stream {
        let heads = heads(&lines, texts);
        let ends = lines.iter().enumerate().filter(|(_, line)| line.event.own_head().is_some());
        let ends = ends.map(|(at, _)| at).collect();
        Stream { lines, heads, ends }
    }

    /// The head after all lines; `None` if the stream has no lines.
    pub fn head(&self) -> Option<&Head> {
        self.heads.last()
    }

    /// The head after each event that ends the stream. A reopened match has several.
    pub fn ends(&self) -> impl Iterator<Item = (&Line, &Head)> {
        self.ends.iter().map(|at| (&self.lines[*at], &self.heads[*at]))
    }

    /// Returns whether an event ends the stream without the head of the lines before it. Then a
    /// version without a chain wrote it.
    pub fn predates_chain(&self) -> bool {
        self.ends().any(|(line, _)| line.event.own_head() == Some(None))
    }

    /// Checks the heads that a record holds of its own stream.
    pub(super) fn check_heads(&self, record: &[Line]) -> Result<(), Finding> {
        for line in record {
            let Some(Some(found)) = line.event.own_head() else { continue };
            let before = (line.seq as usize).checked_sub(2).and_then(|at| self.heads.get(at));
            if before != Some(found) {
                let due = before.map_or("nothing".into(), Head::to_string);
                let what = format!(
                    "head should be {due}, not {found}: a line before it was changed after it was \
                     written"
                );
                return Err(super::finding(line, what));
            }
        }
        Ok(())
    }

    /// Checks that time never goes back, and that one decision has one time. Versions before the
    /// chain wrote the machine's clock as it was, so their times are not checked.
    fn check_times(&self) -> Result<(), Finding> {
        if self.predates_chain() {
            return Ok(());
        }
        for (line, next) in self.lines.iter().zip(self.lines.iter().skip(1)) {
            let what = match next.at {
                at if at < line.at => "time goes back",
                at if at != line.at && line.more > 0 => "its decision was made at another time",
                _ => continue,
            };
            let what = format!("{what}: {} ms after {} ms", next.at, line.at);
            return Err(super::finding(next, what));
        }
        Ok(())
    }
}

fn heads(lines: &[Line], texts: &[impl AsRef<str>]) -> Vec<Head> {
    let Some(first) = lines.first() else { return Vec::new() };
    let mut head = Head::first(&first.stream);
    let heads = texts.iter().map(|text| {
        head = head.after(text.as_ref());
        head.clone()
    });
    heads.collect()
}

/// Reads a stream, and checks its numbering and its times.
pub fn read(texts: &[impl AsRef<str>]) -> Result<Stream, Finding> {
    let mut lines: Vec<Line> = Vec::with_capacity(texts.len());
    let mut more = 0;
    for (text, seq) in texts.iter().zip(1..) {
        let known = lines.first().map(|line| &line.stream);
        let line = Line::read_of(text.as_ref(), known).map_err(|error| {
            let stream = known.map_or_else(String::new, |stream| stream.to_string());
            Finding { stream, seq, event: Finding::UNREADABLE.into(), what: error.to_string() }
        })?;
        let found = |what: String| Finding {
            stream: line.stream.to_string(),
            seq,
            event: line.event.tag().into(),
            what,
        };
        if line.seq != seq {
            return Err(found(format!("it is numbered {}, not {seq}", line.seq)));
        }
        if lines.first().is_some_and(|first| first.stream != line.stream) {
            return Err(found("it belongs to another stream".into()));
        }
        if more > 0 && line.more + 1 != more {
            let due = more - 1;
            return Err(found(format!("{due} more events should follow, not {}", line.more)));
        }
        more = line.more;
        lines.push(line);
    }
    if more > 0 {
        let last = lines.last().expect("the last line announced more");
        let what = format!("{more} more events of its decision should follow");
        return Err(super::finding(last, what));
    }
    let stream = Stream::new(lines, texts);
    stream.check_times()?;
    Ok(stream)
}

/// Checks that once one event of a tournament holds a head, all later ones that can also do.
pub(super) fn check_reports(stream: &Stream) -> Result<(), Finding> {
    let mut chained = false;
    for line in stream.iter() {
        let head = match &line.event {
            Event::MatchReported(reported) => reported.head.as_ref(),
            event => match event.own_head() {
                Some(head) => head,
                None => continue,
            },
        };
        if chained && head.is_none() {
            return Err(super::finding(line, "its head is missing".into()));
        }
        chained |= head.is_some();
    }
    Ok(())
}

/// Splits a stream into its records.
pub(super) fn records(lines: &[Line]) -> impl Iterator<Item = &[Line]> {
    let mut rest = lines;
    std::iter::from_fn(move || {
        let first = rest.first()?;
        let (record, tail) = rest.split_at((first.more as usize + 1).min(rest.len()));
        rest = tail;
        Some(record)
    })
}
