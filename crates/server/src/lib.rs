//! The server: accounts, queues and live tournaments over sockets.
//!
//! ```text
//!   sockets ── gateway tasks ──▶ inbox ──▶ engine (one thread) ──▶ log (SQLite, group commit)
//!      ▲                                     │    ▲                        │
//!      └──────────── outboxes ◀── effects ◀──┘    └──────── committed ◀────┘
//! ```
//!
//! Only the engine owns the machines of `agon-core`. It takes one input after the other, lets the
//! machine concerned decide, and submits the events to the log. It carries out their follow-ups
//! (sends, starts, reports) only when the log reports them as durable. Meanwhile it handles inputs
//! of other matches, so that many records share one sync of the disk.
#![forbid(unsafe_code)]

mod address;
mod auth;
mod clock;
mod cluster;
mod driver;
mod gateway;
mod lateness;
mod ledger;
mod meters;
mod net;
mod passwords;
mod per_minute;
mod recent;
mod throttle;
mod watch;
pub mod web;

use agon_engine as engine;
pub use agon_engine::query::{self, Order};
pub use agon_engine::{
    AnnounceError, Engine, EngineError, EngineRole, EngineStatus, GameTotals, MatchKey, NotObeyed,
    Peers, SecondLogin, Settings, StreamKey, Wanted, check_announcement,
};
pub use auth::hash_password;
#[doc(hidden)]
pub use cluster::fuzzing;
pub use cluster::{
    BusAddress, BusInbox, CellsNode, NodeLinks, PortConnections, RelayPort, Relays,
    StandbyListener, StandbyMeters,
};
pub use driver::{Driver, Handle, ServerError};
pub use gateway::{
    ErlangCookie, ErlangError, ErlangSettings, Gateway, NodeName, serve_erlang, serve_peers,
    serve_tcp,
};
pub use net::{Host, Limits, PlayerSockets, Tls, TlsError};
