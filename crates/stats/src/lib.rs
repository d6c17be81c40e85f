//! Statistics of results: intervals, ratings with their errors, and sequential tests.
//!
//! Everything here is a function of numbers. The crate knows no game, no match and no log.
#![forbid(unsafe_code)]
