//! The packets of a relay link, as bytes: they carry all input and output of players.

use std::net::IpAddr;

/// A time of the steady clock of the node that has the sockets, in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct NodeTime(pub(super) u64);

/// The number of a connection on its link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct RelayId(pub(super) u64);

/// A message between two nodes about relayed connections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum RelayPacket {
    /// A node with sockets offers a link, for so many times. The packet has no link yet.
    Offer { node: String, attempt: u64, format: String },
    /// The node with the lobby opens the link, as its first packet.
    Accept { owner: String, attempt: u64 },
    /// The sender is there. All bytes that arrived at its sockets by `read_until` were sent.
    Alive { sent: NodeTime, read_until: NodeTime },
    /// The node with the sockets stops: its connections are to be closed.
    Stopping,
    /// The sender ends the link.
    Close,
    /// A connection was accepted on this port.
    Open { conn: RelayId, from: IpAddr, port: String },
    /// Bytes of a connection; the node with the socket read them at `at`.
    Data { conn: RelayId, at: NodeTime, bytes: Vec<u8> },
    /// So many bytes were used in all. The node with the socket wrote them at `at`.
    Took { conn: RelayId, count: u64, at: NodeTime },
    /// The sender sends no more bytes of a connection.
    End { conn: RelayId },
    /// A connection is over.
    Drop { conn: RelayId },
}

impl RelayPacket {
    /// The bytes of the packet.
    pub(super) fn encode(&self) -> Vec<u8> {
        match self {
            RelayPacket::Offer { node, attempt, format } => {
                Writer::new(0).number(*attempt).text(node).text(format).0
            }
            RelayPacket::Accept { owner, attempt } => Writer::new(1).number(*attempt).text(owner).0,
            RelayPacket::Alive { sent, read_until } => {
                Writer::new(2).number(sent.0).number(read_until.0).0
            }
            RelayPacket::Stopping => Writer::new(3).0,
            RelayPacket::Close => Writer::new(4).0,
            RelayPacket::Open { conn, from, port } => {
                Writer::new(5).number(conn.0).text(&from.to_string()).text(port).0
            }
            RelayPacket::Data { conn, at, bytes } => data(*conn, *at, bytes),
            RelayPacket::Took { conn, count, at } => {
                Writer::new(7).number(conn.0).number(*count).number(at.0).0
            }
            RelayPacket::End { conn } => Writer::new(8).number(conn.0).0,
            RelayPacket::Drop { conn } => Writer::new(9).number(conn.0).0,
        }
    }

    /// Reads a packet; `None` if these bytes are none.
    pub(super) fn decode(bytes: &[u8]) -> Option<RelayPacket> {
        let (kind, rest) = bytes.split_first()?;
        let mut reader = Reader(rest);
        let packet = match kind {
            0 => {
                let attempt = reader.number()?;
                RelayPacket::Offer { node: reader.text()?, attempt, format: reader.text()? }
            }
            1 => {
                let attempt = reader.number()?;
                RelayPacket::Accept { owner: reader.text()?, attempt }
            }
            2 => RelayPacket::Alive { sent: reader.time()?, read_until: reader.time()? },
            3 => RelayPacket::Stopping,
            4 => RelayPacket::Close,
            5 => {
                let (conn, from) = (reader.conn()?, reader.text()?.parse().ok()?);
                RelayPacket::Open { conn, from, port: reader.text()? }
            }
            6 => {
                let (conn, at) = (reader.conn()?, reader.time()?);
                let bytes = std::mem::take(&mut reader.0).to_vec();
                RelayPacket::Data { conn, at, bytes }
            }
            7 => {
                let (conn, count) = (reader.conn()?, reader.number()?);
                RelayPacket::Took { conn, count, at: reader.time()? }
            }
            8 => RelayPacket::End { conn: reader.conn()? },
            9 => RelayPacket::Drop { conn: reader.conn()? },
            _ => return None,
        };
        reader.0.is_empty().then_some(packet)
    }
}

/// Reads a packet and writes it again; `None` if these bytes are none.
pub fn packet_again(bytes: &[u8]) -> Option<Vec<u8>> {
    RelayPacket::decode(bytes).map(|packet| packet.encode())
}

/// The bytes of a packet with data, which need not be copied into a packet before.
pub(super) fn data(conn: RelayId, at: NodeTime, bytes: &[u8]) -> Vec<u8> {
    let mut writer = Writer::new(6).number(conn.0).number(at.0);
    writer.0.extend_from_slice(bytes);
    writer.0
}

struct Writer(Vec<u8>);

impl Writer {
    fn new(kind: u8) -> Writer {
        Writer(vec![kind])
    }

    fn number(mut self, number: u64) -> Writer {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    /// Adds a text after its length.
    fn text(self, text: &str) -> Writer {
        let mut writer = self.number(text.len() as u64);
        writer.0.extend_from_slice(text.as_bytes());
        writer
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_be_bytes(*number))
    }

    fn time(&mut self) -> Option<NodeTime> {
        self.number().map(NodeTime)
    }

    fn conn(&mut self) -> Option<RelayId> {
        self.number().map(RelayId)
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(std::str::from_utf8(text).ok()?.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<RelayPacket> {
        let (conn, at) = (RelayId(7), NodeTime(1_234_567_890_123));
        vec![
            RelayPacket::Offer { node: "a-1-ff".into(), attempt: 3, format: "0.1.0/1".into() },
            RelayPacket::Accept { owner: "b".into(), attempt: 3 },
            RelayPacket::Alive { sent: at, read_until: NodeTime(1) },
            RelayPacket::Stopping,
            RelayPacket::Close,
            RelayPacket::Open { conn, from: "2001:db8::7".parse().unwrap(), port: "fish".into() },
            RelayPacket::Data { conn, at, bytes: b"{\"type\":\"ping\"}\n".to_vec() },
            RelayPacket::Data { conn, at, bytes: Vec::new() },
            RelayPacket::Took { conn, count: u64::MAX, at },
            RelayPacket::End { conn },
            RelayPacket::Drop { conn },
        ]
    }

    #[test]
    fn packets_survive_their_encoding() {
        for packet in samples() {
            assert_eq!(RelayPacket::decode(&packet.encode()), Some(packet));
        }
    }

    #[test]
    fn cut_and_foreign_bytes_are_no_packets() {
        for packet in samples() {
            let bytes = packet.encode();
            let has_rest = matches!(packet, RelayPacket::Data { .. });
            for length in 0..bytes.len() {
                let cut = RelayPacket::decode(&bytes[..length]);
                assert!(cut.is_none() || (has_rest && length >= 17), "{packet:?} {length}");
            }
            if !has_rest {
                assert_eq!(RelayPacket::decode(&[&bytes[..], b"x"].concat()), None, "{packet:?}");
            }
        }
        assert_eq!(RelayPacket::decode(&[255, 0]), None);
    }
}
