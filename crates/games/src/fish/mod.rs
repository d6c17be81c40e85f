//! The rules of fish.
