//! Keeps the end of a program's stderr for its owner.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;

/// The last bytes of one process's stderr.
#[derive(Debug)]
pub struct StderrTail {
    tail: Arc<Mutex<VecDeque<u8>>>,
    reader: JoinHandle<()>,
}

impl StderrTail {
    /// How many bytes are kept.
    pub const BYTES_MAX: usize = 64 * 1024;

    /// Reads a pipe to its end in the background and keeps the tail.
    pub(crate) fn collect(mut stderr: pipe::Receiver) -> StderrTail {
        let tail = Arc::new(Mutex::new(VecDeque::new()));
        let evidence = Arc::clone(&tail);
        let reader = tokio::spawn(async move {
            let mut piece = vec![0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut piece).await {
                let mut tail = tail.lock().unwrap_or_else(|broken| broken.into_inner());
                tail.extend(&piece[..count]);
                let over = tail.len().saturating_sub(StderrTail::BYTES_MAX);
                tail.drain(..over);
            }
        });
        StderrTail { tail: evidence, reader }
    }

    /// The tail, once the pipe was read to its end.
    pub(crate) async fn tail(mut self) -> Vec<u8> {
        // Only what left the process group can hold the pipe open now; nobody waits for that.
        if tokio::time::timeout(StderrTail::DRAIN, &mut self.reader).await.is_err() {
            self.reader.abort();
        }
        let tail = self.tail.lock().unwrap_or_else(|broken| broken.into_inner());
        tail.iter().copied().collect()
    }

    /// Writes the tail to `DIR/PLAYER-N.stderr`, the first N that is free. Nothing said, nothing
    /// written.
    pub(crate) async fn save(self, dir: &Path, player: &str) -> std::io::Result<Option<PathBuf>> {
        let bytes = self.tail().await;
        if bytes.is_empty() {
            return Ok(None);
        }
        std::fs::create_dir_all(dir)?;
        let safe: String = player
            .chars()
            .map(
                |letter| {
                    if letter.is_alphanumeric() || "-_".contains(letter) { letter } else { '_' }
                },
            )
            .collect();
        for number in 1..=StderrTail::FILES_MAX {
            let path = dir.join(format!("{safe}-{number}.stderr"));
            match std::fs::OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    std::io::Write::write_all(&mut file, &bytes)?;
                    return Ok(Some(path));
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// How long the end of the pipe is waited for.
    const DRAIN: Duration = Duration::from_millis(300);

    /// How many files are kept per player.
    const FILES_MAX: u32 = 100;
}
