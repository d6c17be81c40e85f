//! A connection to a server that can be cut in the middle, for lost requests and lost answers.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

/// The next thing that happens to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Cut {
    /// Everything passes.
    Nothing = 0,
    /// The next request is lost, and its connection with it.
    Request = 1,
    /// The next request arrives; its answer is lost, and the connection with it.
    Answer = 2,
}

/// Forwards connections to a port of this machine.
pub(crate) struct Proxy {
    port: u16,
    cut: Arc<AtomicU8>,
}

impl Proxy {
    pub(crate) fn start(target: u16) -> Proxy {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let cut = Arc::new(AtomicU8::new(Cut::Nothing as u8));
        let shared = Arc::clone(&cut);
        thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", target)) else { continue };
                forward(client.unwrap(), server, &shared);
            }
        });
        Proxy { port, cut }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Cuts the next connection that carries a request, once.
    pub(crate) fn arm(&self, cut: Cut) {
        self.cut.store(cut as u8, Ordering::SeqCst);
    }

    /// Returns whether the connection was cut.
    pub(crate) fn has_cut(&self) -> bool {
        self.cut.load(Ordering::SeqCst) == Cut::Nothing as u8
    }
}

/// Starts the two threads of a connection.
fn forward(client: TcpStream, server: TcpStream, cut: &Arc<AtomicU8>) {
    let ends = [client.try_clone().unwrap(), server.try_clone().unwrap()];
    let close = move || ends.iter().for_each(|end| drop(end.shutdown(Shutdown::Both)));
    let (up, down) = (Arc::clone(cut), Arc::clone(cut));
    let (mut from_client, mut to_server) =
        (client.try_clone().unwrap(), server.try_clone().unwrap());
    let both = Arc::new(close);
    let close_up = Arc::clone(&both);
    thread::spawn(move || {
        copy(&mut from_client, &mut to_server, |_| take(&up, Cut::Request));
        close_up();
    });
    let (mut from_server, mut to_client) = (server, client);
    thread::spawn(move || {
        copy(&mut from_server, &mut to_client, |_| take(&down, Cut::Answer));
        both();
    });
}

/// Returns whether this cut is due; it happens once.
fn take(cut: &AtomicU8, due: Cut) -> bool {
    let nothing = Cut::Nothing as u8;
    cut.compare_exchange(due as u8, nothing, Ordering::SeqCst, Ordering::SeqCst).is_ok()
}

fn copy(from: &mut TcpStream, to: &mut TcpStream, is_cut: impl Fn(&[u8]) -> bool) {
    let mut buffer = [0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if is_cut(&buffer[..count]) || to.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
}
