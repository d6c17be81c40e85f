//! The rules of trains.
