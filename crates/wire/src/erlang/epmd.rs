//! EPMD, which maps node names of a machine to ports: requests and responses, both sides.

use super::frames::{Header, frame};

/// The version of the distribution protocol that OTP 23 and later speak.
pub const DIST_VERSION: u16 = 6;

/// The longest request EPMD accepts.
pub const REQUEST_MAX: usize = 1_024;

/// A node as EPMD knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Its name, without the host.
    pub name: String,
    /// Where it listens.
    pub port: u16,
    /// True if it is hidden: node lists leave it out.
    pub hidden: bool,
    /// The lowest and the highest version of the distribution protocol it speaks.
    pub versions: (u16, u16),
}

/// A request to EPMD.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// Register a node for as long as the connection lasts.
    Alive(Node),
    /// The port of the node with this name.
    PortPlease(String),
    /// The list of all nodes.
    Names,
}

/// EPMD's answer to a registration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registered {
    /// Registered; pids and references carry this creation.
    Ok {
        /// Identifies the run of the node.
        creation: u32,
    },
    /// The name is taken, or the request is invalid.
    Refused,
}

/// Bytes that are no valid EPMD message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadEpmd {
    /// The message is truncated, or its lengths do not fit.
    #[error("not a well-formed message of EPMD")]
    Malformed,
    /// An unsupported tag.
    #[error("no message of EPMD has tag {0}")]
    Tag(u8),
}

/// A request with its length.
pub fn encode_request(request: &Request) -> Vec<u8> {
    frame(Header::Two, |out| match request {
        Request::Alive(node) => {
            out.push(120);
            write_node(out, node);
        }
        Request::PortPlease(name) => {
            out.push(122);
            out.extend_from_slice(name.as_bytes());
        }
        Request::Names => out.push(110),
    })
}

/// Decodes a request, without its length.
pub fn decode_request(bytes: &[u8]) -> Result<Request, BadEpmd> {
    match bytes.split_first().ok_or(BadEpmd::Malformed)? {
        (120, node) => read_node(node).map(Request::Alive),
        (122, name) => text(name).map(Request::PortPlease),
        (110, []) => Ok(Request::Names),
        (110, _) => Err(BadEpmd::Malformed),
        (tag, _) => Err(BadEpmd::Tag(*tag)),
    }
}

/// Encodes the response to a registration, as EPMD of OTP 23 and later does.
pub fn encode_registered(registered: Registered) -> Vec<u8> {
    let (result, creation) = match registered {
        Registered::Ok { creation } => (0, creation),
        Registered::Refused => (1, 0),
    };
    let mut out = vec![118, result];
    out.extend(creation.to_be_bytes());
    out
}

/// Decodes the response to a registration; `None` if it is incomplete.
pub fn decode_registered(bytes: &[u8]) -> Result<Option<Registered>, BadEpmd> {
    let (result, creation) = match bytes {
        [118, result, creation @ ..] => match creation.first_chunk() {
            Some(creation) => (*result, u32::from_be_bytes(*creation)),
            None => return Ok(None),
        },
        [121, result, creation @ ..] => match creation.first_chunk() {
            Some(creation) => (*result, u16::from_be_bytes(*creation).into()),
            None => return Ok(None),
        },
        [] | [118 | 121] => return Ok(None),
        [tag, ..] => return Err(BadEpmd::Tag(*tag)),
    };
    Ok(Some(if result == 0 { Registered::Ok { creation } } else { Registered::Refused }))
}

/// Encodes the response with a node's port.
pub fn encode_port(node: Option<&Node>) -> Vec<u8> {
    match node {
        None => vec![119, 1],
        Some(node) => {
            let mut out = vec![119, 0];
            write_node(&mut out, node);
            out
        }
    }
}

/// Decodes the complete response with a node's port: EPMD closes the connection after it.
pub fn decode_port(bytes: &[u8]) -> Result<Option<Node>, BadEpmd> {
    match bytes {
        [119, 0, node @ ..] => read_node(node).map(Some),
        [119, _] => Ok(None),
        [119, ..] | [] => Err(BadEpmd::Malformed),
        [tag, ..] => Err(BadEpmd::Tag(*tag)),
    }
}

/// Encodes the list of all nodes: EPMD's own port, then a line for each.
pub fn encode_names<'a>(port: u16, nodes: impl IntoIterator<Item = &'a Node>) -> Vec<u8> {
    let mut out = u32::from(port).to_be_bytes().to_vec();
    for node in nodes {
        out.extend_from_slice(format!("name {} at port {}\n", node.name, node.port).as_bytes());
    }
    out
}

fn write_node(out: &mut Vec<u8>, node: &Node) {
    out.extend(node.port.to_be_bytes());
    out.extend([if node.hidden { 72 } else { 77 }, 0]);
    out.extend(node.versions.1.to_be_bytes());
    out.extend(node.versions.0.to_be_bytes());
    out.extend((node.name.len() as u16).to_be_bytes());
    out.extend_from_slice(node.name.as_bytes());
    out.extend([0, 0]);
}

fn read_node(bytes: &[u8]) -> Result<Node, BadEpmd> {
    let (head, rest) = bytes.split_first_chunk::<10>().ok_or(BadEpmd::Malformed)?;
    let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let (name, rest) = rest.split_at_checked(word(8).into()).ok_or(BadEpmd::Malformed)?;
    // The extra field has no meaning, but its length must fit.
    let (extra, rest) = rest.split_first_chunk().ok_or(BadEpmd::Malformed)?;
    if rest.len() != usize::from(u16::from_be_bytes(*extra)) {
        return Err(BadEpmd::Malformed);
    }
    let (port, versions) = (word(0), (word(6), word(4)));
    Ok(Node { name: text(name)?, port, hidden: head[2] == 72, versions })
}

fn text(bytes: &[u8]) -> Result<String, BadEpmd> {
    let text = std::str::from_utf8(bytes).map_err(|_| BadEpmd::Malformed)?;
    let fits = !text.is_empty() && !text.chars().any(char::is_control);
    fits.then(|| text.to_owned()).ok_or(BadEpmd::Malformed)
}
