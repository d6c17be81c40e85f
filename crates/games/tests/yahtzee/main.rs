//! Yahtzee from outside the crate: every scoring rule as data, whole turns, random games against a
//! second implementation, and views that must not tell too much.

mod common;
mod naive;
mod properties;
mod refusals;
mod scoring;
mod turns;
mod views;
