//! Shared by the tests of the statistics.

pub(crate) mod random;
pub(crate) mod recount;
