//! Statistics of results: intervals, ratings with their errors, and sequential tests.
//!
//! Everything here is a function of numbers. The crate knows no game, no match and no log.
//!
//! | question | module |
//! | --- | --- |
//! | How sure is a proportion or a mean? | [`interval`] |
//! | How much better is one player than another, and how sure is that? | [`elo`] |
//! | What is a result without its luck? | [`control`] |
//! | May a test between two players stop now? | [`sprt`] |
//! | How strong is each of many players? How sure is their order? | [`bradley_terry`], [`podium`] |
//!
//! The same input gives the same bits on every machine. [`elementary`] has `exp` and `ln` from
//! additions and multiplications, because those of the standard library differ between hosts.
#![forbid(unsafe_code)]

pub mod bradley_terry;
pub mod control;
pub mod elementary;
pub mod elo;
pub mod interval;
pub mod normal;
pub mod podium;
pub mod random;
mod splitmix;
pub mod sprt;
pub mod student;

pub use bradley_terry::{DuplicateGroups, Meeting, Strengths, TableResults};
pub use control::{Controlled, without_controls};
pub use elo::{EloEstimate, GameCounts, PairCounts};
pub use interval::Interval;
pub use podium::{Podium, podium};
pub use random::RandomNumbers;
pub use splitmix::SplitMix64;
pub use sprt::{EloModel, Sprt, SprtState, SprtVerdict};
