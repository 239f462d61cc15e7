//! Load from several machines. The trial's process opens the store, loads it and reads it back; the sessions of the timed part
//! are on clients, each of which has some of the threads. A thread does there what it would do here: the same records, in the
//! same order. All start at one moment, and their measurements are merged without loss.

mod clock;
mod fleet;
pub mod link;
pub mod messages;

pub(crate) use self::fleet::{Fleet, FleetRound};
