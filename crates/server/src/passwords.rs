//! The queue of password checks and hashes: as many at once as there are cores, the addresses in
//! turn, and none whose caller has gone.
//!
//! A hash takes 19 MiB and tens of milliseconds, so strangers must not decide their number. This
//! module asks the throttle before every guess, so simultaneous guesses are not all checked. A file
//! beside the log stores the counts: a restart does not give a guesser new guesses.

use crate::address;
use crate::clock;
use crate::meters::Counter;
use crate::throttle::{CountedGuess, GuessVerdict, Kept, Throttle};
use agon_core::{Millis, PlayerName, Timestamp};
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// How soon after a change the counts are written, if there are few. The delay grows by a second
/// for every thousand counts, so that an attack from many addresses does not keep the disk busy.
const KEEP_AFTER: Duration = Duration::from_secs(1);

/// The purpose of a password.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// A login. Wrong passwords are counted.
    Proof,
    /// A login with a name that no account has; the name is not written anywhere.
    ProofOfNobody,
    /// The first password of a new account.
    New,
}

/// A password to check or hash.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) from: IpAddr,
    pub(crate) account: PlayerName,
    pub(crate) purpose: Purpose,
    /// When it was sent.
    pub(crate) at: Timestamp,
}

/// Why a password is not checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unchecked {
    /// There were too many wrong ones; the next is checked after this time.
    TooManyWrong(Millis),
    /// Too many passwords of its address are waiting.
    TooManyWaiting,
    /// The check failed because of an internal error.
    Failed,
}

impl Unchecked {
    /// When to try again.
    pub(crate) fn retry_after_s(self) -> u64 {
        match self {
            Unchecked::TooManyWrong(wait_ms) => wait_ms.div_ceil(1_000).max(1),
            Unchecked::TooManyWaiting | Unchecked::Failed => 5,
        }
    }
}

impl std::fmt::Display for Unchecked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = self.retry_after_s();
        match self {
            Unchecked::TooManyWrong(_) => {
                write!(f, "too many wrong passwords; try again in {seconds} s")
            }
            Unchecked::TooManyWaiting => {
                write!(f, "too many logins from this address are waiting; try again in {seconds} s")
            }
            Unchecked::Failed => write!(f, "the password was not checked; try again"),
        }
    }
}

/// The outcome of a check: whether the password is right, and the callback that passes the result
/// on.
pub(crate) struct Finished {
    pub(crate) verdict: GuessVerdict,
    pub(crate) deliver: Box<dyn FnOnce() + Send>,
}

/// Slow work that checks a password, or handles that it was not checked.
type Work = Box<dyn FnOnce(Result<(), Unchecked>) -> Finished + Send>;

struct Job {
    attempt: Attempt,
    place: Option<CountedGuess>,
    /// Returns whether the caller still waits for the result.
    is_wanted: Box<dyn Fn() -> bool + Send>,
    work: Work,
}

#[derive(Default)]
struct State {
    throttle: Throttle,
    waiting: HashMap<IpAddr, VecDeque<Job>>,
    /// The addresses with waiting jobs, the next first.
    turns: VecDeque<IpAddr>,
    running: usize,
}

struct Shared {
    state: Mutex<State>,
    /// Without a runtime, the caller does the work itself.
    runtime: Option<tokio::runtime::Handle>,
    running_max: usize,
    per_address_max: usize,
    checked: Counter,
    file: Mutex<Option<PathBuf>>,
}

/// All password checks of a server.
#[derive(Clone)]
pub(crate) struct Passwords(Arc<Shared>);

impl Passwords {
    pub(crate) fn new(
        runtime: Option<tokio::runtime::Handle>,
        per_address_max: usize,
    ) -> Passwords {
        let running_max = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let (state, file, checked) = (Mutex::default(), Mutex::default(), Counter::default());
        let shared = Shared { state, runtime, running_max, per_address_max, checked, file };
        Passwords(Arc::new(shared))
    }

    /// Queues a password check, which is skipped if its caller has gone when its turn comes. The
    /// work is notified if the password is not checked.
    pub(crate) fn submit(
        &self,
        attempt: Attempt,
        is_wanted: impl Fn() -> bool + Send + 'static,
        work: impl FnOnce(Result<(), Unchecked>) -> Finished + Send + 'static,
    ) {
        let place = match self.enter(&attempt) {
            Ok(place) => place,
            Err(why) => return (work(Err(why)).deliver)(),
        };
        let from = address::counted(attempt.from);
        let job = Job { attempt, place, is_wanted: Box::new(is_wanted), work: Box::new(work) };
        let mut state = self.state();
        let queue = state.waiting.entry(from).or_default();
        queue.push_back(job);
        if queue.len() == 1 {
            state.turns.push_back(from);
        }
        drop(state);
        self.run_waiting();
    }

    /// Checks a password and waits for the result. If the caller stops waiting, a check that has
    /// not begun is skipped.
    pub(crate) async fn check<T: Send + 'static>(
        &self,
        attempt: Attempt,
        work: impl FnOnce() -> (GuessVerdict, T) + Send + 'static,
    ) -> Result<T, Unchecked> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let alive = Arc::new(());
        let waiting = Arc::downgrade(&alive);
        let work = move |start: Result<(), Unchecked>| {
            let (verdict, result) = match start {
                Ok(()) => {
                    let (verdict, value) = work();
                    (verdict, Ok(value))
                }
                Err(why) => (GuessVerdict::Unchecked, Err(why)),
            };
            Finished { verdict, deliver: Box::new(move || drop(sender.send(result))) }
        };
        self.submit(attempt, move || waiting.strong_count() > 0, work);
        let result = receiver.await.unwrap_or(Err(Unchecked::Failed));
        drop(alive);
        result
    }

    /// How long a guess would have to wait now.
    pub(crate) fn wait_ms(&self, from: IpAddr, account: &PlayerName, now: Timestamp) -> Millis {
        let mut state = self.state();
        match state.throttle.admit(from, account, now) {
            Ok(place) => {
                state.throttle.settle(place, GuessVerdict::Unchecked, now);
                0
            }
            Err(wait_ms) => wait_ms,
        }
    }

    /// Gives an attempt its place in the count, if it is a guess and there is room for it.
    fn enter(&self, attempt: &Attempt) -> Result<Option<CountedGuess>, Unchecked> {
        let Attempt { from, account, purpose, at } = attempt;
        let mut state = self.state();
        let queue = state.waiting.get_mut(&address::counted(*from));
        if let Some(queue) = queue.filter(|queue| queue.len() >= self.0.per_address_max) {
            let all = std::mem::take(queue).into_iter();
            let (wanted, gone): (VecDeque<Job>, VecDeque<Job>) =
                all.partition(|job| (job.is_wanted)());
            let full = wanted.len() >= self.0.per_address_max;
            *queue = wanted;
            for place in gone.into_iter().filter_map(|job| job.place) {
                state.throttle.settle(place, GuessVerdict::Unchecked, *at);
            }
            if full {
                return Err(Unchecked::TooManyWaiting);
            }
        }
        match purpose {
            Purpose::New => Ok(None),
            Purpose::Proof | Purpose::ProofOfNobody => {
                let place = state.throttle.admit(*from, account, *at);
                let place = place.map_err(Unchecked::TooManyWrong)?;
                if *purpose == Purpose::ProofOfNobody {
                    state.throttle.keep_secret(&place);
                }
                Ok(Some(place))
            }
        }
    }

    /// Starts waiting checks as long as there are threads for them.
    fn run_waiting(&self) {
        while let Some(Next { job, start }) = self.next() {
            let Job { attempt, place, work, .. } = job;
            let running = Running { passwords: self.clone(), attempt, place };
            match (start, &self.0.runtime) {
                (Ok(()), Some(runtime)) => {
                    let after = Pump(self.clone());
                    drop(runtime.spawn_blocking(move || {
                        let _after = after;
                        running.run(work, Ok(()));
                    }));
                }
                (start, _) => running.run(work, start),
            }
        }
    }

    /// The next job, if another may start. It counts as running.
    fn next(&self) -> Option<Next> {
        let mut state = self.state();
        loop {
            if state.running >= self.0.running_max {
                return None;
            }
            let from = state.turns.pop_front()?;
            let Some(queue) = state.waiting.get_mut(&from) else { continue };
            let job = queue.pop_front();
            match queue.is_empty() {
                true => drop(state.waiting.remove(&from)),
                false => state.turns.push_back(from),
            }
            let Some(mut job) = job else { continue };
            let now = self.now(&job.attempt);
            if !(job.is_wanted)() {
                if let Some(place) = job.place {
                    state.throttle.settle(place, GuessVerdict::Unchecked, now);
                }
                continue;
            }
            let started = job.place.as_mut().map(|place| state.throttle.start(place, now));
            let start = started.unwrap_or(Ok(())).map_err(Unchecked::TooManyWrong);
            state.running += 1;
            if start.is_ok() {
                self.0.checked.add();
            }
            return Some(Next { job, start });
        }
    }

    /// The time: the server's clock, or the attempt's time in a simulation with another clock.
    fn now(&self, attempt: &Attempt) -> Timestamp {
        match self.0.runtime {
            Some(_) => clock::now_ms(),
            None => attempt.at,
        }
    }

    /// How many passwords were checked or hashed since the start.
    pub(crate) fn checked(&self) -> u64 {
        self.0.checked.count()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(|broken| broken.into_inner())
    }
}

struct Next {
    job: Job,
    start: Result<(), Unchecked>,
}

/// A running check; dropping it frees its place, also after a panic.
struct Running {
    passwords: Passwords,
    attempt: Attempt,
    place: Option<CountedGuess>,
}

impl Running {
    fn run(mut self, work: Work, start: Result<(), Unchecked>) {
        let Finished { verdict, deliver } = work(start);
        self.settle(verdict);
        // The count is updated before the result is passed on.
        deliver();
    }

    fn settle(&mut self, verdict: GuessVerdict) {
        let now = self.passwords.now(&self.attempt);
        let mut state = self.passwords.state();
        match self.place.take() {
            Some(place) => state.throttle.settle(place, verdict, now),
            None if verdict == GuessVerdict::Right => {
                let (from, account) = (self.attempt.from, self.attempt.account.clone());
                state.throttle.note_login(from, account, now);
            }
            None => {}
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.place.is_some() {
            self.settle(GuessVerdict::Unchecked);
        }
        self.passwords.state().running -= 1;
    }
}

/// Starts the next checks when it is dropped, also after a panic.
struct Pump(Passwords);

impl Drop for Pump {
    fn drop(&mut self) {
        self.0.run_waiting();
    }
}

impl Passwords {
    /// Restores the counts from a file, and stores them there from now on. A file that cannot be
    /// read is ignored.
    pub(crate) fn keep_in(&self, file: PathBuf) {
        match std::fs::read(&file).map(|bytes| serde_json::from_slice::<Kept>(&bytes)) {
            Ok(Ok(kept)) => self.state().throttle.restore(kept),
            Ok(Err(error)) => {
                let file = file.display();
                tracing::warn!(%file, %error, "the counts of wrong passwords cannot be read");
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                let file = file.display();
                tracing::warn!(%file, %error, "the counts of wrong passwords cannot be read");
            }
        }
        *self.file() = Some(file);
        let shared = Arc::downgrade(&self.0);
        let keeping = std::thread::Builder::new().name("passwords".into()).spawn(move || {
            let mut pause = KEEP_AFTER;
            loop {
                std::thread::sleep(pause);
                let Some(shared) = shared.upgrade() else { return };
                pause = KEEP_AFTER + Duration::from_millis(Passwords(shared).keep() as u64);
            }
        });
        if let Err(error) = keeping {
            tracing::warn!(%error, "the counts of wrong passwords are kept only at a stop");
        }
    }

    /// Writes the counts if they have changed; returns how many there are.
    pub(crate) fn keep(&self) -> usize {
        let file = self.file();
        let Some(file) = file.as_ref() else { return 0 };
        let Some(kept) = self.state().throttle.keep(clock::now_ms()) else { return 0 };
        if let Err(error) = write(file, &kept) {
            let file = file.display();
            tracing::warn!(%file, %error, "the counts of wrong passwords cannot be written");
        }
        kept.len()
    }

    fn file(&self) -> MutexGuard<'_, Option<PathBuf>> {
        self.0.file.lock().unwrap_or_else(|broken| broken.into_inner())
    }
}

/// Replaces the file as a whole. It is not synced: after a power failure a guesser has a few more
/// guesses, and no more.
fn write(file: &Path, kept: &Kept) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let bytes = serde_json::to_vec(kept)?;
    let next = file.with_extension("new");
    let mut options = std::fs::OpenOptions::new();
    let mut writer = options.write(true).create(true).truncate(true).mode(0o600).open(&next)?;
    writer.write_all(&bytes)?;
    std::fs::rename(&next, file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    fn attempt(from: u8, account: &str) -> Attempt {
        let (from, account) = (IpAddr::from([10, 0, 0, from]), PlayerName::new(account).unwrap());
        Attempt { from, account, purpose: Purpose::Proof, at: clock::now_ms() }
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap()
    }

    /// Work that records its number and waits for a signal before it ends.
    fn work(
        number: usize,
        verdict: GuessVerdict,
        to: &mpsc::Sender<(usize, bool)>,
    ) -> impl FnOnce(Result<(), Unchecked>) -> Finished + Send + 'static {
        let to = to.clone();
        move |start| {
            let checked = start.is_ok();
            let deliver = Box::new(move || {
                let _ = to.send((number, checked));
            });
            Finished { verdict: if checked { verdict } else { GuessVerdict::Unchecked }, deliver }
        }
    }

    #[test]
    fn only_free_guesses_of_a_burst_are_checked() {
        let runtime = runtime();
        let passwords = Passwords::new(Some(runtime.handle().clone()), 1_000);
        let (sender, results) = mpsc::channel();
        for number in 0..300 {
            passwords.submit(
                attempt(1, "ann"),
                || true,
                work(number, GuessVerdict::Wrong, &sender),
            );
        }
        drop(sender);
        assert_eq!(results.iter().filter(|(_, checked)| *checked).count(), 5);
    }

    #[test]
    fn many_correct_logins_of_one_address_are_all_checked() {
        let runtime = runtime();
        let passwords = Passwords::new(Some(runtime.handle().clone()), 1_000);
        let (sender, results) = mpsc::channel();
        for number in 0..300 {
            let attempt = attempt(1, &format!("p{number}"));
            passwords.submit(attempt, || true, work(number, GuessVerdict::Right, &sender));
        }
        drop(sender);
        assert_eq!(results.iter().filter(|(_, checked)| *checked).count(), 300);
    }

    #[test]
    fn addresses_take_turns_and_checks_of_gone_callers_are_skipped() {
        let runtime = runtime();
        let passwords = Passwords::new(Some(runtime.handle().clone()), 1_000);
        let (release, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let hold = || {
            let held = Arc::clone(&held);
            move |_| {
                let _ = held.lock().unwrap().recv();
                Finished { verdict: GuessVerdict::Right, deliver: Box::new(|| ()) }
            }
        };
        for number in 0..passwords.0.running_max {
            passwords.submit(attempt(9, &format!("busy {number}")), || true, hold());
        }
        let (sender, results) = mpsc::channel();
        let begun = Arc::new(AtomicUsize::new(0));
        for number in 0..50 {
            let begun = Arc::clone(&begun);
            passwords.submit(
                attempt(1, &format!("gone {number}")),
                || false,
                move |_| {
                    begun.fetch_add(1, Ordering::SeqCst);
                    Finished { verdict: GuessVerdict::Wrong, deliver: Box::new(|| ()) }
                },
            );
        }
        for number in 0..50 {
            let attempt = attempt(1, &format!("p{number}"));
            passwords.submit(attempt, || true, work(number, GuessVerdict::Right, &sender));
        }
        passwords.submit(attempt(2, "ann"), || true, work(99, GuessVerdict::Right, &sender));
        drop(sender);
        // One thread does all the work, so the results come in the order in which it began.
        release.send(()).unwrap();
        let order: Vec<usize> = results.iter().map(|(number, _)| number).collect();
        drop(release);
        assert_eq!(order.len(), 51);
        let ann = order.iter().position(|number| *number == 99).unwrap();
        assert!(ann <= 1 + passwords.0.running_max, "{order:?}");
        assert_eq!(begun.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn waiting_checks_of_one_address_are_limited() {
        let runtime = runtime();
        let passwords = Passwords::new(Some(runtime.handle().clone()), 10);
        let (release, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let (sender, results) = mpsc::channel();
        for number in 0..10 + passwords.0.running_max + 5 {
            let (held, work) = (Arc::clone(&held), work(number, GuessVerdict::Right, &sender));
            passwords.submit(
                attempt(1, &format!("p{number}")),
                || true,
                move |start| {
                    if start.is_ok() {
                        let _ = held.lock().unwrap().recv();
                    }
                    work(start)
                },
            );
        }
        drop((sender, release));
        assert_eq!(results.iter().filter(|(_, checked)| !*checked).count(), 5);
    }

    #[test]
    fn a_check_that_panics_frees_its_place() {
        let runtime = runtime();
        let passwords = Passwords::new(Some(runtime.handle().clone()), 1_000);
        let (sender, results) = mpsc::channel();
        for _ in 0..4 {
            passwords.submit(attempt(1, "ann"), || true, |_| panic!("a test"));
        }
        passwords.submit(attempt(1, "bob"), || true, work(1, GuessVerdict::Right, &sender));
        drop(sender);
        assert_eq!(results.iter().count(), 1);
    }

    #[test]
    fn counts_survive_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("agon.sqlite.passwords");
        let guess = |passwords: &Passwords| {
            let (sender, results) = mpsc::channel();
            passwords.submit(attempt(1, "ann"), || true, work(1, GuessVerdict::Wrong, &sender));
            drop(sender);
            results.iter().all(|(_, checked)| checked)
        };
        let before = Passwords::new(None, 10);
        before.keep_in(file.clone());
        while guess(&before) {}
        before.keep();
        let after = Passwords::new(None, 10);
        after.keep_in(file.clone());
        assert!(!guess(&after));
        std::fs::write(&file, "{\"version\":").unwrap();
        let damaged = Passwords::new(None, 10);
        damaged.keep_in(file);
        assert!(guess(&damaged));
    }
}
