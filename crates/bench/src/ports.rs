//! Ports for listeners that must be named before they are opened.

use std::net::{IpAddr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

/// Below the ephemeral ports of Linux: connections and listeners on port 0 use those by the
/// thousand, and could take a port found free here.
const FIRST: u32 = 12_000;
const PORTS: u32 = 20_000;

/// A port of `ip` without a listener.
pub fn free_port(ip: IpAddr) -> std::io::Result<u16> {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    // Each process starts at its own offset, so that processes that search at once find different
    // ports.
    let start = std::process::id().wrapping_mul(7_919);
    let mut taken = None;
    for _ in 0..PORTS {
        let step = GIVEN.fetch_add(1, Ordering::Relaxed);
        let port = (FIRST + start.wrapping_add(step) % PORTS) as u16;
        match TcpListener::bind((ip, port)) {
            Ok(_) => return Ok(port),
            Err(error) => taken = Some(error),
        }
    }
    Err(taken.unwrap_or_else(|| std::io::ErrorKind::AddrInUse.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn no_port_is_given_twice_nor_one_that_is_in_use() {
        let ip = IpAddr::from(Ipv4Addr::LOCALHOST);
        let mut given = Vec::new();
        for _ in 0..50 {
            let port = free_port(ip).unwrap();
            assert!(!given.contains(&port) && u32::from(port) < FIRST + PORTS, "{port}");
            // The next one in turn is in use.
            let next = TcpListener::bind((ip, port + 1));
            let other = free_port(ip).unwrap();
            assert!(next.is_err() || other != port + 1, "{other}");
            given.extend([port, other]);
        }
    }
}
