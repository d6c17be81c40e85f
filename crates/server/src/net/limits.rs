//! Limits on connections, the same for every transport.

use agon_wire::native;

/// Limits on connections.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Limits {
    /// Connections at once.
    pub connections_max: usize,
    /// Connections at once from one address.
    pub connections_per_address_max: usize,
    /// Messages that may wait for one reader.
    pub outbox_lines_max: usize,
    /// The longest message a player may send.
    pub line_bytes_max: usize,
    /// Messages of one connection that may wait for the engine; more stay in the socket.
    pub inbox_lines_max: usize,
    /// Messages a second that the server reads from one connection.
    pub lines_per_second_max: u32,
    /// Messages that may come at once beyond that rate.
    pub lines_burst_max: u32,
    /// How long a write may take.
    pub write_ms_max: u64,
    /// How long a connection may take to log in, and before that for a handshake or the head of an
    /// HTTP request.
    pub login_ms_max: u64,
    /// After how much silence the server sends a heartbeat or a ping.
    pub heartbeat_ms: u64,
    /// After how much silence the server closes a connection.
    pub silence_ms_max: u64,
    /// HTTP requests at once.
    pub http_requests_max: usize,
    /// HTTP requests at once from one address.
    pub http_requests_per_address_max: usize,
    /// Bodies of HTTP requests of one address that are being read.
    pub http_bodies_per_address_max: usize,
    /// How long the body of an HTTP request may take.
    pub http_body_ms_max: u64,
    /// Observers from one address.
    pub watchers_per_address_max: usize,
    /// Passwords of one address that may wait to be checked.
    pub password_checks_per_address_max: usize,
    /// Sign-ups a minute from one address, at ports where a player needs only a name.
    pub sign_ups_per_minute_max: u32,
    /// Guests a minute from one address.
    pub guests_per_minute_max: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections_max: 20_000,
            connections_per_address_max: 2_000,
            outbox_lines_max: 64,
            line_bytes_max: native::LINE_BYTES_MAX,
            inbox_lines_max: 32,
            lines_per_second_max: 2_000,
            lines_burst_max: 4_000,
            write_ms_max: 10_000,
            login_ms_max: 10_000,
            heartbeat_ms: 15_000,
            silence_ms_max: 45_000,
            http_requests_max: 256,
            http_requests_per_address_max: 64,
            http_bodies_per_address_max: 32,
            http_body_ms_max: 10_000,
            watchers_per_address_max: 500,
            password_checks_per_address_max: 1_000,
            sign_ups_per_minute_max: 300,
            guests_per_minute_max: 60,
        }
    }
}
