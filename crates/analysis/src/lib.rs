//! Analysis of finished games: how much was luck, and what each decision cost.
#![forbid(unsafe_code)]

pub mod record;
pub mod simulate;
