//! What the tests of the statistics share.

pub(crate) mod random;
pub(crate) mod recount;
