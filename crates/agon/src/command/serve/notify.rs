//! Notifies the service manager (see sd_notify(3)) by a datagram to the socket that it names.

use agon_server::Handle;
use agon_server::query::Ping;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// Sends the manager a state such as `READY=1`, without waiting.
pub(super) fn tell(state: &str) {
    let Some(name) = std::env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty()) else {
        return;
    };
    let bytes = name.as_encoded_bytes();
    let address = match bytes.strip_prefix(b"@") {
        Some(hidden) => SocketAddr::from_abstract_name(hidden),
        None => SocketAddr::from_pathname(&name),
    };
    let sent = address.and_then(|address| {
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        socket.send_to_addr(state.as_bytes(), &address)
    });
    if let Err(error) = sent {
        tracing::warn!(%error, "the service manager was not reached");
    }
}

/// Keeps the manager's watchdog informed that the engine answers, if there is one.
pub(super) async fn keep_watchdog(handle: Handle) {
    let asked = std::env::var("WATCHDOG_USEC").ok();
    let Some(micros) = asked.and_then(|text| text.parse::<u64>().ok()).filter(|us| *us > 0) else {
        return;
    };
    let mut timer = tokio::time::interval(Duration::from_micros(micros / 2));
    timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        timer.tick().await;
        if handle.ask(Ping { through_log: false }).await.is_none() {
            return;
        }
        tell("WATCHDOG=1");
    }
}
