//! EPMD: the service where other nodes look up our port. The server uses an EPMD that runs on the
//! machine; if there is none, it answers in its place.

use super::ErlangError;
use crate::auth;
use agon_wire::erlang::epmd::{
    DIST_VERSION, Node, REQUEST_MAX, Registered, Request, decode_port, decode_registered,
    decode_request, encode_names, encode_port, encode_registered, encode_request,
};
use agon_wire::erlang::frames::{Frames, Header};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// How long EPMD may take to answer us, and a client to send its request.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait before the next attempt to reach EPMD.
const AGAIN: Duration = Duration::from_secs(1);

/// The connection limit; registered nodes keep theirs open.
const CONNECTIONS_MAX: usize = 1_000;

/// Where our name is registered.
pub(super) enum EpmdEntry {
    /// With a running EPMD, as long as this connection stays open.
    Theirs(TcpStream),
    /// With this server, which answers in EPMD's place.
    Ours(TcpListener),
}

/// Our node, as EPMD describes it.
pub(super) fn node(name: &str, port: u16) -> Node {
    let (name, versions) = (name.to_owned(), (DIST_VERSION, DIST_VERSION));
    Node { name, port, hidden: true, versions }
}

/// Registers a node, or takes EPMD's place; returns the creation number of this run.
pub(super) async fn register(
    epmd: SocketAddr,
    node: &Node,
) -> Result<(EpmdEntry, u32), ErlangError> {
    // An EPMD may be starting or stopping at this moment.
    for _ in 0..3 {
        match TcpStream::connect(epmd).await {
            Ok(stream) => return ask(epmd, stream, node).await,
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            Err(why) => return Err(ErlangError::Epmd { epmd, why: why.to_string() }),
        }
        match TcpListener::bind(epmd).await {
            Ok(listener) => return Ok((EpmdEntry::Ours(listener), new_creation()?)),
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            Err(why) => return Err(ErlangError::Epmd { epmd, why: why.to_string() }),
        }
    }
    Err(ErlangError::Epmd { epmd, why: "it is neither there nor is the port free".into() })
}

async fn ask(
    epmd: SocketAddr,
    mut stream: TcpStream,
    node: &Node,
) -> Result<(EpmdEntry, u32), ErlangError> {
    let failed = |why: String| ErlangError::Epmd { epmd, why };
    let asked = async {
        stream.write_all(&encode_request(&Request::Alive(node.clone()))).await?;
        let mut answer = Vec::new();
        while answer.len() < REQUEST_MAX && stream.read_buf(&mut answer).await? > 0 {
            if !matches!(decode_registered(&answer), Ok(None)) {
                break;
            }
        }
        Ok::<_, std::io::Error>(answer)
    };
    let answer = tokio::time::timeout(PATIENCE, asked).await;
    let answer = answer.map_err(|_| failed("no answer in time".into()))?;
    let answer = answer.map_err(|error| failed(error.to_string()))?;
    match decode_registered(&answer) {
        Ok(Some(Registered::Ok { creation })) => Ok((EpmdEntry::Theirs(stream), creation)),
        Ok(Some(Registered::Refused)) => Err(ErlangError::Taken(node.name.clone())),
        Ok(None) => Err(failed("it hung up".into())),
        Err(bad) => Err(failed(bad.to_string())),
    }
}

/// The port of the node with this name, if EPMD knows it.
pub(super) async fn port_of(epmd: SocketAddr, name: &str) -> std::io::Result<Option<u16>> {
    let mut stream = TcpStream::connect(epmd).await?;
    stream.write_all(&encode_request(&Request::PortPlease(name.to_owned()))).await?;
    let mut answer = Vec::new();
    while answer.len() < REQUEST_MAX && stream.read_buf(&mut answer).await? > 0 {}
    Ok(decode_port(&answer).ok().flatten().map(|node| node.port))
}

/// A number that tells runs of a node apart; EPMDs before OTP 23 gave small ones.
fn new_creation() -> Result<u32, ErlangError> {
    let random = auth::random::<4>().map_err(|error| ErlangError::Entropy(error.to_string()))?;
    Ok(u32::from_be_bytes(random) | 1 << 8)
}

/// Keeps the node registered as long as the server runs, even if EPMD restarts. Pids and references
/// keep their creation number.
pub(super) async fn stay(epmd: SocketAddr, node: Node, creation: u32, mut place: EpmdEntry) {
    loop {
        match place {
            EpmdEntry::Ours(listener) => return serve(listener, epmd.port(), node, creation).await,
            EpmdEntry::Theirs(mut stream) => while let Ok(1..) = stream.read(&mut [0; 64]).await {},
        }
        tracing::warn!(%epmd, "EPMD is gone; peers cannot find this node until it is back");
        place = loop {
            tokio::time::sleep(AGAIN).await;
            if let Ok((place, _)) = register(epmd, &node).await {
                tracing::info!(%epmd, "registered again");
                break place;
            }
        };
    }
}

/// Nodes that are registered with us, each with the number of its connection.
type Names = Arc<Mutex<HashMap<String, (u64, Node)>>>;

fn locked(names: &Names) -> MutexGuard<'_, HashMap<String, (u64, Node)>> {
    names.lock().unwrap_or_else(|broken| broken.into_inner())
}

/// Serves requests as EPMD does.
async fn serve(listener: TcpListener, port: u16, own: Node, creation: u32) {
    let names: Names = Arc::default();
    locked(&names).insert(own.name.clone(), (0, own));
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    for number in 1.. {
        let place = Arc::clone(&places).acquire_owned().await;
        let (stream, _) = crate::net::accept(&listener).await;
        let names = Arc::clone(&names);
        tokio::spawn(async move {
            // Invalid requests get no answer, as with any EPMD.
            let _ = answer(stream, port, &names, number, creation).await;
            locked(&names).retain(|_, (owner, _)| *owner != number);
            drop(place);
        });
    }
}

async fn answer(
    mut stream: TcpStream,
    port: u16,
    names: &Names,
    number: u64,
    creation: u32,
) -> std::io::Result<()> {
    let request = tokio::time::timeout(PATIENCE, request(&mut stream)).await;
    let Ok(Ok(Some(request))) = request else { return Ok(()) };
    let mut stays = false;
    let reply = match request {
        Request::Names => {
            let nodes: Vec<Node> = locked(names).values().map(|(_, node)| node.clone()).collect();
            encode_names(port, &nodes)
        }
        Request::PortPlease(name) => encode_port(locked(names).get(&name).map(|(_, node)| node)),
        Request::Alive(node) => {
            let mut names = locked(names);
            stays = !names.contains_key(&node.name);
            // Two successive runs of a node must differ.
            let creation = creation.wrapping_add(number as u32).max(4);
            if stays {
                names.insert(node.name.clone(), (number, node));
            }
            encode_registered(if stays { Registered::Ok { creation } } else { Registered::Refused })
        }
    };
    stream.write_all(&reply).await?;
    // A node is registered for as long as its connection lasts.
    while stays && stream.read(&mut [0; 64]).await? > 0 {}
    Ok(())
}

async fn request(stream: &mut TcpStream) -> std::io::Result<Option<Request>> {
    let mut frames = Frames::new(Header::Two, REQUEST_MAX);
    let mut bytes = [0; 512];
    loop {
        match frames.take() {
            Some(Ok(frame)) => return Ok(decode_request(frame).ok()),
            Some(Err(_)) => return Ok(None),
            None => match stream.read(&mut bytes).await? {
                0 => return Ok(None),
                count => frames.push(&bytes[..count]),
            },
        }
    }
}
