//! The configuration of a port for programs of another system.

use crate::Wire;
use agon_core::Millis;
use agon_core::lobby::Announcement;
use agon_wire::peer::Language;
use std::sync::Arc;

/// A port for programs of another system.
#[derive(Clone, Debug)]
pub struct Peers {
    /// The language they use.
    pub language: Language,
    /// True if names must follow the course's rules, and be unique.
    pub strict_names: bool,
    /// How long a program has to send its name.
    pub sign_up_ms: Millis,
    /// How long later sign-ups wait for a program to send its name.
    pub order_ms: Millis,
    /// True if the port uses TLS, as all others do where there is a certificate.
    pub tls: bool,
    /// The series they play in.
    pub series: Arc<Announcement>,
}

impl Peers {
    /// The wire of these programs.
    pub fn wire(&self) -> Wire {
        match self.language {
            Language::Fish(_) => Wire::Fish,
            Language::Trains(_) => Wire::Trains,
        }
    }
}
