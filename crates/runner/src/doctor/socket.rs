//! A program behind a TCP connection, and the lobby's replies to it.

use crate::ProgramOutput;
use agon_core::TournamentId;
use agon_wire::lines::Lines;
use agon_wire::native::{self, ToLobby, ToPlayer};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long a write may take before the connection counts as lost.
const WRITE_LIMIT: Duration = Duration::from_secs(10);

/// One connection.
pub(crate) struct Socket {
    stream: TcpStream,
    lines: Lines,
    read: Box<[u8]>,
    lost: bool,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream) -> Socket {
        // Only speed is lost without it.
        let _ = stream.set_nodelay(true);
        let lines = Lines::new(native::LINE_BYTES_MAX);
        Socket { stream, lines, read: vec![0; 16 * 1024].into_boxed_slice(), lost: false }
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        let written = tokio::time::timeout(WRITE_LIMIT, self.stream.write_all(bytes)).await;
        self.lost |= !matches!(written, Ok(Ok(())));
    }

    /// The next message. Dropping this future loses nothing.
    pub(crate) async fn next(&mut self) -> ProgramOutput {
        loop {
            if let Some(line) = self.lines.take() {
                return ProgramOutput::read(line);
            }
            match self.stream.read(&mut self.read).await {
                Ok(count @ 1..) if !self.lost => self.lines.push(&self.read[..count]),
                _ => return ProgramOutput::Closed,
            }
        }
    }

    /// Does what the program asks the lobby for, as far as an exam has a lobby.
    pub(crate) async fn serve(&mut self, said: &ToLobby) {
        let reply = match said {
            ToLobby::Ping {} => native::encode(&ToPlayer::Pong),
            ToLobby::Enqueue { .. } => done("enqueue", None),
            ToLobby::Dequeue { .. } => done("dequeue", None),
            ToLobby::SignUp { tournament, .. } => done("sign-up", Some(tournament)),
            ToLobby::Withdraw { tournament } => done("withdraw", Some(tournament)),
            ToLobby::ChangePassword { .. } => done("change-password", None),
            ToLobby::Subscribe {} => done("subscribe", None),
            ToLobby::Accept { .. } | ToLobby::Reject { .. } | ToLobby::Ready { .. } => {
                refused("there are no invitations in an exam")
            }
            ToLobby::Announce { .. } => refused("an exam has no tournaments to announce"),
            ToLobby::Login { .. } | ToLobby::Logout {} => return,
        };
        self.send(&reply).await;
    }
}

fn done(what: &str, tournament: Option<&TournamentId>) -> Vec<u8> {
    native::encode(&ToPlayer::Done { what, tournament })
}

fn refused(why: &str) -> Vec<u8> {
    let (id, accepted) = (None, None);
    native::encode(&ToPlayer::Error { code: "refused", id, detail: why.into(), accepted })
}
