//! A NATS server.

use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::{free_port, wait_until};

/// A running NATS server, which keeps nothing.
pub struct Nats {
    port: u16,
    server: Option<Child>,
}

impl Nats {
    /// Starts a server.
    pub fn start() -> Nats {
        let mut nats = Nats { port: free_port(), server: None };
        nats.resume();
        nats
    }

    /// The address of the server.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// The port of the server, which it keeps.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Kills the server. It loses the messages on their way.
    pub fn kill(&mut self) {
        if let Some(mut server) = self.server.take() {
            // It may have ended by itself.
            let _ = server.kill();
            let _ = server.wait();
        }
    }

    /// Stops the server until the value is dropped: nothing is lost, and everything comes late.
    pub fn stall(&self) -> Stalled<'_> {
        self.signal(Signal::STOP);
        Stalled(self)
    }

    fn signal(&self, signal: Signal) {
        let id = self.server.as_ref().and_then(|server| Pid::from_raw(server.id().cast_signed()));
        kill_process(id.expect("the server runs"), signal).expect("a signal to a child");
    }

    /// Starts the server again, on the same port.
    pub fn resume(&mut self) {
        assert!(self.server.is_none(), "the server runs");
        let server = Command::new("nats-server")
            .args(["-a", "127.0.0.1", "-p", &self.port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nats-server starts; scripts/test installs it");
        self.server = Some(server);
        wait_until("NATS answers", || {
            let greeting = TcpStream::connect(("127.0.0.1", self.port));
            greeting.is_ok_and(|mut socket| socket.read(&mut [0; 4]).is_ok_and(|read| read > 0))
        });
    }
}

/// A server that stands still.
pub struct Stalled<'a>(&'a Nats);

impl Drop for Stalled<'_> {
    fn drop(&mut self) {
        self.0.signal(Signal::CONT);
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}
