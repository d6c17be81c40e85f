//! Starts processes from a thread that lives as long as this process.
//!
//! A program in a sandbox is killed when the *thread* that started it ends. The threads of an
//! asynchronous runtime come and go, so programs are started from one that stays.

use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, OnceLock};

type Order = (Command, SyncSender<io::Result<Child>>);

static STARTER: OnceLock<Mutex<Sender<Order>>> = OnceLock::new();

/// Starts a command.
pub(crate) fn start(command: Command) -> io::Result<Child> {
    let gone = || io::Error::other("the thread that starts programs is gone");
    let starter = STARTER.get_or_init(|| Mutex::new(open()));
    let (reply, started) = sync_channel(1);
    let orders = starter.lock().unwrap_or_else(|broken| broken.into_inner()).clone();
    orders.send((command, reply)).map_err(|_| gone())?;
    started.recv().map_err(|_| gone())?
}

fn open() -> Sender<Order> {
    let (sender, orders) = channel::<Order>();
    std::thread::spawn(move || {
        for (mut command, reply) in orders {
            // The requester waits for the reply.
            let _ = reply.send(command.spawn());
        }
    });
    sender
}
