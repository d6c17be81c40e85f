//! Large answers about finished tournaments and matches: built once, shared by all readers, sent in
//! pieces.
//!
//! All answers that are cached or being sent share a limit on bytes, however many readers there
//! are.

use super::compress;
use super::problem::Problem;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};

/// The limit on all answers together.
const ROOM_KIB: u32 = 64 * 1024;

/// How long a reader waits for room.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many answers are cached.
const KEPT_MAX: usize = 64;

/// How many bytes are passed to a socket at once.
const PIECE_BYTES: usize = 64 * 1024;

/// The key of an answer: its subject, and the subject's version.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    pub(super) path: String,
    pub(super) version: u64,
}

/// A finished answer.
pub(super) struct Built {
    bytes: Bytes,
    /// The answer compressed, unless it is too long for that.
    gzip: Option<Bytes>,
    _room: OwnedSemaphorePermit,
}

type Cell = Arc<OnceCell<Arc<Built>>>;

#[derive(Default)]
struct Kept {
    cells: HashMap<Key, Cell>,
    /// The oldest first.
    order: VecDeque<Key>,
}

/// All answers.
pub(super) struct Answers {
    kept: Mutex<Kept>,
    room: Arc<Semaphore>,
    patience: Duration,
}

impl Default for Answers {
    fn default() -> Answers {
        let room = Arc::new(Semaphore::new(ROOM_KIB as usize));
        Answers { kept: Mutex::default(), room, patience: PATIENCE }
    }
}

impl Answers {
    /// The answer for a key. The first request builds it; the others wait.
    pub(super) async fn get(
        &self,
        key: Key,
        build: impl Future<Output = Result<Vec<u8>, Problem>>,
    ) -> Result<Arc<Built>, Problem> {
        let cell = self.cell(&key);
        let built = cell.get_or_try_init(|| async {
            let bytes = Bytes::from(build.await?);
            let gzip = compressed(&bytes).await;
            let length = bytes.len() + gzip.as_ref().map_or(0, Bytes::len);
            let room = self.make_room(length).await?;
            Ok(Arc::new(Built { bytes, gzip, _room: room }))
        });
        match built.await {
            Ok(built) => Ok(Arc::clone(built)),
            Err(problem) => {
                self.forget(&key);
                Err(problem)
            }
        }
    }

    fn cell(&self, key: &Key) -> Cell {
        let mut kept = self.kept();
        if let Some(cell) = kept.cells.get(key) {
            return Arc::clone(cell);
        }
        if kept.order.len() >= KEPT_MAX {
            kept.forget_oldest();
        }
        let cell = Cell::default();
        kept.cells.insert(key.clone(), Arc::clone(&cell));
        kept.order.push_back(key.clone());
        cell
    }

    fn forget(&self, key: &Key) {
        let mut kept = self.kept();
        // Another waiting request may build it next; its answer is not cached then.
        if kept.cells.get(key).is_some_and(|cell| cell.get().is_none()) {
            kept.cells.remove(key);
            kept.order.retain(|other| other != key);
        }
    }

    /// Reserves room for an answer; cached answers are dropped for it, the oldest first.
    async fn make_room(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let kib = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX).min(ROOM_KIB);
        loop {
            if let Ok(room) = Arc::clone(&self.room).try_acquire_many_owned(kib) {
                return Ok(room);
            }
            if !self.kept().forget_oldest() {
                break;
            }
        }
        let room = Arc::clone(&self.room).acquire_many_owned(kib);
        let room = tokio::time::timeout(self.patience, room).await.ok().and_then(Result::ok);
        room.ok_or_else(|| Problem::busy("too many large answers are being read"))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(|broken| broken.into_inner())
    }
}

impl Kept {
    /// Drops the oldest finished answer; returns whether there was one.
    fn forget_oldest(&mut self) -> bool {
        let built = |key: &Key| self.cells.get(key).is_none_or(|cell| cell.get().is_some());
        let Some(at) = self.order.iter().position(built) else { return false };
        if let Some(key) = self.order.remove(at) {
            self.cells.remove(&key);
        }
        true
    }
}

/// Compresses an answer on a thread that may block.
async fn compressed(bytes: &Bytes) -> Option<Bytes> {
    let bytes = (bytes.len() <= compress::BYTES_MAX).then(|| bytes.clone())?;
    tokio::task::spawn_blocking(move || compress::gzip(&bytes)).await.ok().map(Bytes::from)
}

/// Sends an answer in pieces. Its compressed form goes along, for a client that accepts that.
pub(super) fn send(built: Arc<Built>, content_type: &'static str) -> Response {
    let gzip = built.gzip.clone();
    let body = Body::new(Pieces { rest: built.bytes.clone(), _built: Arc::clone(&built) });
    let mut response = ([(header::CONTENT_TYPE, content_type)], body).into_response();
    if let Some(gzip) = gzip {
        response.extensions_mut().insert(Compressed { gzip, built });
    }
    response
}

/// The compressed form of a shared answer, which a response carries along.
#[derive(Clone)]
pub(super) struct Compressed {
    gzip: Bytes,
    built: Arc<Built>,
}

impl Compressed {
    pub(super) fn into_body(self) -> Body {
        Body::new(Pieces { rest: self.gzip, _built: self.built })
    }
}

/// The rest of an answer.
struct Pieces {
    rest: Bytes,
    _built: Arc<Built>,
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let length = self.rest.len().min(PIECE_BYTES);
        let piece = (length > 0).then(|| Ok(Frame::data(self.rest.split_to(length))));
        Poll::Ready(piece)
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn key(path: &str) -> Key {
        Key { path: path.into(), version: 0 }
    }

    #[tokio::test]
    async fn an_answer_is_built_once_for_all_who_read_it() {
        let (answers, builds) = (Arc::new(Answers::default()), Arc::new(AtomicUsize::new(0)));
        let readers = (0..50).map(|_| {
            let (answers, builds) = (Arc::clone(&answers), Arc::clone(&builds));
            tokio::spawn(async move {
                let build = async {
                    builds.fetch_add(1, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    Ok(vec![7; 100_000])
                };
                answers.get(key("replay"), build).await.unwrap().bytes.len()
            })
        });
        for reader in readers.collect::<Vec<_>>() {
            assert_eq!(reader.await.unwrap(), 100_000);
        }
        assert_eq!(builds.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn all_answers_together_have_a_bound() {
        let answers = Answers { patience: Duration::from_millis(1), ..Answers::default() };
        for number in 0..20 {
            let build = async { Ok(vec![7; 10 * 1024 * 1024]) };
            answers.get(key(&number.to_string()), build).await.unwrap();
        }
        let kept: usize = answers.kept().cells.values().filter(|cell| cell.get().is_some()).count();
        assert!(kept <= 6, "{kept}");
        let mut read = Vec::new();
        let full = loop {
            let build = async { Ok(vec![7; 10 * 1024 * 1024]) };
            match answers.get(key(&format!("read {}", read.len())), build).await {
                Ok(built) => read.push(built),
                Err(problem) => break problem,
            }
            assert!(read.len() < 20, "those who read hold their answers");
        };
        assert_eq!(full, Problem::busy("too many large answers are being read"));
    }

    #[tokio::test]
    async fn an_answer_that_cannot_be_built_is_tried_again() {
        let answers = Answers::default();
        let failed = answers.get(key("x"), async { Err(Problem::internal()) }).await;
        assert!(failed.is_err());
        answers.get(key("x"), async { Ok(vec![1]) }).await.unwrap();
    }
}
