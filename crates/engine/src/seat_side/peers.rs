//! What a port for programs of another system is like.

use crate::Wire;
use agon_core::Millis;
use agon_core::lobby::Announcement;
use agon_wire::peer::Language;
use std::sync::Arc;

/// A port for programs of another system.
#[derive(Clone, Debug)]
pub struct Peers {
    /// Which words they use.
    pub language: Language,
    /// Whether names must be as the course demands, and no two the same.
    pub strict_names: bool,
    /// How long a program may take to say its name.
    pub sign_up_ms: Millis,
    /// How long later sign-ups wait for a program to say its name.
    pub order_ms: Millis,
    /// Whether they speak TLS, as all others do where there is a certificate.
    pub tls: bool,
    /// What they play in.
    pub series: Arc<Announcement>,
}

impl Peers {
    /// How their messages look.
    pub fn wire(&self) -> Wire {
        match self.language {
            Language::Fish(_) => Wire::Fish,
            Language::Trains(_) => Wire::Trains,
        }
    }
}
