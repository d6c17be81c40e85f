//! The rules of yahtzee.
