//! House players of yahtzee.
