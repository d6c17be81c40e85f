//! A periodic check of all connections, instead of a timer for each.

use super::outbox::Liveness;
use super::{Gateway, Limits};
use crate::clock::now_ms;
use agon_core::Millis;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

/// The open connections.
#[derive(Default)]
pub(super) struct OpenConnections(Mutex<Vec<Weak<Liveness>>>);

impl OpenConnections {
    pub(super) fn add(&self, liveness: &Arc<Liveness>) {
        let mut all = self.0.lock().unwrap_or_else(|broken| broken.into_inner());
        all.push(Arc::downgrade(liveness));
    }

    /// The connections that are still open; the others are forgotten.
    fn open(&self) -> Vec<Arc<Liveness>> {
        let mut all = self.0.lock().unwrap_or_else(|broken| broken.into_inner());
        let mut open = Vec::with_capacity(all.len());
        all.retain(|liveness| liveness.upgrade().map(|liveness| open.push(liveness)).is_some());
        open
    }
}

/// How often to check: often enough for every limit.
fn pause_ms(limits: &Limits) -> Millis {
    let shortest = limits.login_ms_max.min(limits.heartbeat_ms).min(limits.silence_ms_max);
    (shortest / 4).clamp(5, 1_000)
}

/// Checks all connections as long as the gateway exists.
pub(super) async fn sweep(gateway: Gateway) {
    let pause = pause_ms(gateway.limits());
    let gateway = gateway.downgrade();
    let mut timer = tokio::time::interval(Duration::from_millis(pause));
    timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut looked_at = now_ms();
    loop {
        timer.tick().await;
        let Some(gateway) = gateway.upgrade() else { return };
        let now = now_ms();
        let late = now.since(looked_at) > pause + gateway.host.limits().heartbeat_ms;
        looked_at = now;
        for liveness in gateway.connections.open() {
            if late {
                // The server itself was stopped, so the silence does not count.
                liveness.heard(now);
            }
            liveness.look(now, gateway.host.limits(), gateway.host.engine());
        }
    }
}
