//! Loads that run beside trials: that each does what it says, and ends with what started it. In runs: cases/background.txt.

mod ends;
mod loads;
mod players;
mod support;
