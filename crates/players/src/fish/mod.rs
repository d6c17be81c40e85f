//! House players of fish.
