//! The server: accounts, queues and live tournaments over sockets.
//!
//! ```text
//!   sockets ── gateway tasks ──▶ inbox ──▶ engine (one thread) ──▶ log (SQLite, group commit)
//!      ▲                                     │    ▲                        │
//!      └──────────── outboxes ◀── effects ◀──┘    └──────── committed ◀────┘
//! ```
//!
//! The engine owns all machines of `agon-core` and nothing else does. It takes one input after the
//! other, lets the machine concerned decide, hands the events to the log, and does what follows
//! from them (sends, starts, reports) only when the log says they are durable. Inputs of other
//! matches go on meanwhile, so that many of them share one sync of the disk.
#![forbid(unsafe_code)]

mod address;
mod auth;
mod clock;
mod engine;
mod gateway;
mod lateness;
mod ledger;
mod meters;
mod names;
mod net;
mod passwords;
mod recent;
mod throttle;
mod wanted;
pub mod web;
mod wires;

pub use engine::query::{self, Order};
pub use engine::{
    AnnounceError, Asked, Driven, Engine, EngineError, GameCounts, Handle, MatchKey, NotObeyed,
    Over, Promise, SecondLogin, Settings, Socket, Status, StreamKey, Wrote, check_announcement,
    hash_password,
};
pub use gateway::{
    ErlangCookie, ErlangError, ErlangSettings, Gateway, NodeName, Peers, serve_erlang, serve_peers,
    serve_tcp,
};
pub use net::{Host, Limits, PlayerSockets, Tls, TlsError};
pub use wanted::Wanted;
