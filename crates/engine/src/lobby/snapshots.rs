//! Snapshots of the lobby, taken from time to time and when the server stops.
//!
//! A snapshot only saves time. It contains durable records only, and a start that cannot read it
//! folds the log. So a snapshot that cannot be stored is only a warning.

use super::LobbyCell;
use crate::journal::StreamKey;
use crate::services::Services;
use crate::{Effect, LobbySnapshot, StreamReader};
use agon_core::lobby::Lobby;

/// Events of the lobby between two snapshots, at least.
const EVERY_MIN: u64 = 10_000;

/// How many events the latest snapshot covers, and whether one is being stored.
#[derive(Default)]
pub(super) struct Snapshots {
    covered: u64,
    is_busy: bool,
}

impl LobbyCell {
    /// The latest snapshot of the lobby and the number of events it covers; the error says why it
    /// cannot be used.
    pub(crate) fn latest_snapshot(
        reader: &dyn StreamReader,
    ) -> Result<Option<(Lobby, u64)>, String> {
        let found = reader.snapshot().map_err(|error| error.to_string())?;
        let Some(LobbySnapshot { format, seq, state }) = found else { return Ok(None) };
        if format != Lobby::SNAPSHOT_VERSION {
            let known = Lobby::SNAPSHOT_VERSION;
            return Err(format!("the lobby's snapshot has version {format}, not {known}"));
        }
        let lobby = Lobby::from_snapshot(&state).map_err(|error| error.to_string())?;
        Ok(Some((lobby, seq)))
    }

    /// Records that a snapshot covers `seq` events.
    pub(crate) fn snapshot_covers(&mut self, seq: u64) {
        self.snapshots.covered = seq;
    }

    /// The driver has finished the last snapshot.
    pub(crate) fn snapshot_kept(&mut self) {
        self.snapshots.is_busy = false;
    }

    /// Takes a snapshot if the lobby has enough new events, and none is in flight.
    pub(crate) fn snapshot_if_due(&mut self, services: &mut Services) {
        let seq = services.journals.version(&StreamKey::Lobby);
        // The larger the lobby, the rarer the snapshots, so that the cost per event stays constant.
        let usual = || EVERY_MIN.max(self.machine.size() as u64);
        let every = services.settings.snapshot_every.unwrap_or_else(usual);
        let due = seq.saturating_sub(self.snapshots.covered) >= every;
        if due && !self.snapshots.is_busy && services.is_durable(&StreamKey::Lobby) {
            self.take_snapshot(services, seq);
        }
    }

    /// Takes the snapshot that the next start begins with.
    pub(crate) fn final_snapshot(&mut self, services: &mut Services) {
        let seq = services.journals.version(&StreamKey::Lobby);
        let is_new = seq > self.snapshots.covered && !services.has_only_cells();
        if is_new && services.is_durable(&StreamKey::Lobby) {
            self.take_snapshot(services, seq);
        }
    }

    fn take_snapshot(&mut self, services: &mut Services, seq: u64) {
        self.snapshots = Snapshots { covered: seq, is_busy: true };
        let lobby = Box::new(self.machine.clone());
        services.effects.push(Effect::KeepSnapshot { seq, lobby });
    }
}
