//! Where the log is kept.
