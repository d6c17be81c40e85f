//! The decoders of what arrives over the bus, as functions of bytes for the fuzz targets.

pub use super::nats::messages_in as nats_messages;
pub use super::relay::packet_again as relay_packet;
