//! The wires of Fish and Trains: whole games through them, transcripts, wrong replies, damage.

mod fish;
mod seeds;
mod sign_up;
#[path = "../support/mod.rs"]
mod support;
mod trains;
mod vectors;
