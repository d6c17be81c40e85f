//! What a program said on stderr: the tail of it, kept for its owner.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

/// The last bytes of one process's stderr.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    tail: Arc<Mutex<VecDeque<u8>>>,
}

impl Evidence {
    /// How many bytes are kept.
    pub const BYTES_MAX: usize = 64 * 1024;

    /// Reads a pipe to its end in the background and keeps the tail.
    pub(crate) fn collect(mut stderr: pipe::Receiver) -> Evidence {
        let evidence = Evidence::default();
        let tail = Arc::clone(&evidence.tail);
        tokio::spawn(async move {
            let mut piece = vec![0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut piece).await {
                let mut tail = tail.lock().unwrap_or_else(|broken| broken.into_inner());
                tail.extend(&piece[..count]);
                let over = tail.len().saturating_sub(Evidence::BYTES_MAX);
                tail.drain(..over);
            }
        });
        evidence
    }

    /// Writes the tail to `DIR/PLAYER-N.stderr`, the first N that is free. Nothing said, nothing
    /// written.
    pub(crate) fn save(&self, dir: &Path, player: &str) -> std::io::Result<Option<PathBuf>> {
        let tail = self.tail.lock().unwrap_or_else(|broken| broken.into_inner());
        if tail.is_empty() {
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
        let bytes: Vec<u8> = tail.iter().copied().collect();
        for number in 1..=Evidence::FILES_MAX {
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

    /// How many files are kept per player.
    const FILES_MAX: u32 = 100;
}
