//! The handshake with a node: from its side, or from ours.

use super::Hub;
use crate::auth;
use agon_wire::erlang::control;
use agon_wire::erlang::frames::{Frames, Header};
use agon_wire::erlang::handshake::{
    Acceptor, FRAME_MAX, HandshakeStep, Initiator, Next, NotLetIn, Peer,
};
use std::net::IpAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Accepts a node: returns its identity, and the input after its handshake; `None` if it is
/// rejected.
pub(super) async fn let_in(
    hub: &Hub,
    from: IpAddr,
    socket: &mut TcpStream,
) -> Option<(Peer, Frames)> {
    let patience = Duration::from_millis(hub.gateway.limits().login_ms_max.max(1));
    match tokio::time::timeout(patience, shake_hands(hub, socket)).await {
        Ok(Ok(Ok(met))) => Some(met),
        // The other side only sees that the connection is closed.
        Ok(Ok(Err(why @ NotLetIn::WrongCookie { .. }))) => {
            tracing::warn!(%from, "an Erlang node was not let in: {why}");
            None
        }
        Ok(Ok(Err(why))) => {
            tracing::info!(%from, "an Erlang node was not let in: {why}");
            None
        }
        Ok(Err(error)) => {
            tracing::debug!(%from, %error, "a handshake was broken off");
            None
        }
        Err(_) => {
            tracing::debug!(%from, "a handshake took too long");
            None
        }
    }
}

async fn shake_hands(
    hub: &Hub,
    socket: &mut TcpStream,
) -> std::io::Result<Result<(Peer, Frames), NotLetIn>> {
    let challenge = auth::random::<4>().map_err(std::io::Error::other)?;
    let (node, cookie) = (hub.settings.node.0.clone(), hub.settings.cookie.0.clone());
    let challenge = u32::from_be_bytes(challenge);
    let mut acceptor = Acceptor::new(node, hub.creation, cookie, challenge);
    let mut frames = Frames::new(Header::Two, FRAME_MAX);
    let mut bytes = [0; 1_024];
    loop {
        let step = match frames.take() {
            Some(Ok(frame)) => acceptor.message(frame),
            Some(Err(_)) => Err(NotLetIn::Malformed),
            None => match socket.read(&mut bytes).await? {
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                count => {
                    frames.push(&bytes[..count]);
                    continue;
                }
            },
        };
        match step {
            Err(why) => return Ok(Err(why)),
            Ok(HandshakeStep::Send(send)) => socket.write_all(&send).await?,
            Ok(HandshakeStep::Done { send, peer }) => {
                socket.write_all(&send).await?;
                return Ok(Ok((peer, frames.with(Header::Four, control::FRAME_MAX))));
            }
        }
    }
}

/// Makes the handshake with a node that this server connected to; the error says why it failed.
pub(super) async fn begin(
    mut initiator: Initiator,
    socket: &mut TcpStream,
) -> Result<(Peer, Frames), String> {
    let failed = |error: std::io::Error| error.to_string();
    socket.write_all(&initiator.name()).await.map_err(failed)?;
    let mut frames = Frames::new(Header::Two, FRAME_MAX);
    let mut bytes = [0; 1_024];
    loop {
        let next = match frames.take() {
            Some(Ok(frame)) => initiator.message(frame),
            Some(Err(_)) => Err(NotLetIn::Malformed),
            None => match socket.read(&mut bytes).await.map_err(failed)? {
                0 => return Err("it ended the connection; its cookie may be another".into()),
                count => {
                    frames.push(&bytes[..count]);
                    continue;
                }
            },
        };
        match next.map_err(|why| why.to_string())? {
            Next::Send(send) => socket.write_all(&send).await.map_err(failed)?,
            Next::Done(peer) => {
                return Ok((peer, frames.with(Header::Four, control::FRAME_MAX)));
            }
        }
    }
}
