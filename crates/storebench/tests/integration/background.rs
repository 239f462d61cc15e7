//! Loads during trials: each does what it says, ends with what started it, and shows in the results.

mod ends;
mod loads;
mod players;
mod runs;
mod support;
