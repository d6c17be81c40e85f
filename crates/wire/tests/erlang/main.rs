//! The Erlang wire: terms as OTP writes them, whole games in all vocabularies, how nodes meet.

mod games;
mod honest;
mod messages;
mod nodes;
mod seeds;
mod sessions;
#[path = "../support/mod.rs"]
mod support;
mod terms;
mod turns;
