//! Links between the lobby's node and the nodes that own cells: the rules, without a bus.
//!
//! ```text
//!   lobby's node: Lender ── LinkWriter ─▶ frames ─▶ Borrower: a node with cells
//!                        ◀─ frames ◀─ LinkWriter ──
//! ```
//!
//! [`Lender`] decides when the lobby's node opens a link and when it gives one up, [`Borrower`]
//! does so on the other side. [`frame`] numbers the packets. The server and the simulator share
//! these rules. The time comes in, as the time since some fixed moment.

mod borrower;
mod frame;
mod lender;

pub use borrower::{Borrower, FromLobby};
pub use frame::{Broken, FORMAT, Frame, LinkReceiver, LinkWriter, Packet, alone};
pub use lender::{FromNode, Lender, LostNode};

use std::time::Duration;

/// How often each side says that it is there.
pub const ALIVE_PAUSE: Duration = Duration::from_millis(50);
