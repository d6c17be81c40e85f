//! The server's diagnostics on stderr: lines of text or of JSON, by level.
//!
//! Diagnostics never block the server. Lines go through a bounded queue to a thread that writes
//! them. If nobody reads stderr and the queue is full, lines are lost, and a later line reports how
//! many. The log of events is separate.

use crate::args::LogFormat;
use crate::exit::Misuse;
use anyhow::Result;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, Registry, fmt};

/// The length of the queue.
const LINES_MAX: usize = 4_096;

/// How long the last lines may take when the process ends.
const FLUSH_MAX: Duration = Duration::from_secs(1);

/// The default level.
pub(crate) const LEVEL: &str = "info";

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Reads a level, or a list such as `info,agon_server::gateway=debug`.
pub(crate) fn parse(level: &str) -> Result<Targets, Misuse> {
    let known = |text: &str| LEVELS.contains(&text);
    let fits = level.split(',').all(|part| match part.split_once('=') {
        Some((target, level)) => !target.is_empty() && known(level),
        None => known(part),
    });
    let parsed = level.parse::<Targets>().ok().filter(|_| fits);
    parsed.ok_or_else(|| {
        Misuse(format!(
            "{level:?} is not a log level; use one of: \
        {}",
            LEVELS.join(", ")
        ))
    })
}

/// Writes queued lines when it is dropped.
pub(crate) struct Diagnostics {
    queue: SyncSender<Item>,
}

/// Starts the diagnostics of this process.
pub(crate) fn start(level: Targets, format: LogFormat) -> Diagnostics {
    let (queue, items) = sync_channel(LINES_MAX);
    let lines = Lines { queue: queue.clone(), lost: Arc::default() };
    let lost = Arc::clone(&lines.lost);
    std::thread::spawn(move || write(&items, &lost, format, std::io::stderr()));
    let layer = fmt::layer().with_writer(lines).with_target(false);
    let colour = crate::show::colour(std::io::stderr().is_terminal());
    let layer: Box<dyn Layer<Registry> + Send + Sync> = match format {
        LogFormat::Text => Box::new(layer.with_ansi(colour)),
        LogFormat::Json => {
            let layer = layer.json().flatten_event(true).with_target(true);
            Box::new(layer.with_current_span(false).with_span_list(false))
        }
    };
    // Fails only if a subscriber exists already; that one stays.
    let subscriber = Registry::default().with(layer.with_filter(level));
    let _ = tracing::subscriber::set_global_default(subscriber);
    Diagnostics { queue }
}

impl Drop for Diagnostics {
    /// Waits a moment for the last lines, but not for a reader that does not read.
    fn drop(&mut self) {
        let (done, written) = sync_channel(1);
        if self.queue.try_send(Item::Flush(done)).is_ok() {
            let _ = written.recv_timeout(FLUSH_MAX);
        }
    }
}

enum Item {
    Line(Vec<u8>),
    Flush(SyncSender<()>),
}

/// The writer that puts lines into the queue.
#[derive(Clone)]
struct Lines {
    queue: SyncSender<Item>,
    lost: Arc<AtomicU64>,
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Lines;

    fn make_writer(&'a self) -> Lines {
        self.clone()
    }
}

impl Write for Lines {
    /// Takes one whole line, because tracing-subscriber writes one line at a time.
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        if let Err(TrySendError::Full(_)) = self.queue.try_send(Item::Line(line.to_vec())) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Writes lines to stderr and ignores errors, such as a closed stderr.
fn write(items: &Receiver<Item>, lost: &AtomicU64, format: LogFormat, mut to: impl Write) {
    for item in items {
        match item {
            Item::Line(line) => drop(to.write_all(&line)),
            Item::Flush(done) => {
                let _ = to.flush();
                let _ = done.send(());
            }
        }
        let count = lost.swap(0, Ordering::Relaxed);
        if count > 0 {
            let words = "lines were lost because nobody read them";
            let _ = match format {
                LogFormat::Text => writeln!(to, "{count} {words}"),
                LogFormat::Json => {
                    let line =
                        serde_json::json!({"level": "WARN", "lost": count, "message": words});
                    writeln!(to, "{line}")
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_levels_are_rejected() {
        for good in ["info", "off", "warn,agon_server=trace", "agon_server::gateway=debug"] {
            assert!(parse(good).is_ok(), "{good}");
        }
        for bad in ["", "loud", "INFO!", "agon_server", "=info", "agon_server=loud", "info,"] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn full_queue_drops_lines_and_reports_how_many() {
        let (queue, items) = sync_channel(2);
        let mut lines = Lines { queue, lost: Arc::default() };
        for line in ["one\n", "two\n", "three\n", "four\n"] {
            lines.write_all(line.as_bytes()).unwrap();
        }
        let lost = Arc::clone(&lines.lost);
        drop(lines);
        let mut text = Vec::new();
        write(&items, &lost, LogFormat::Text, &mut text);
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text, "one\n2 lines were lost because nobody read them\ntwo\n");
    }
}
