//! House players of trains.
