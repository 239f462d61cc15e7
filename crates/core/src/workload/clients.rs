//! Load from several machines. The trial's process opens the store, loads it and reads it back; the sessions of the timed part are
//! on clients, each of which has some of the threads. A thread does there what it would do here: the same records, in the same
//! order. All start at one moment, and what they measured is merged without loss.

mod clock;
mod fleet;
mod words;

pub use self::fleet::{Fleet, Rounded};
pub use self::words::{All, Did, Kind, Order, Round, Task, Told, packed, unpacked};

use std::time::Duration;

/// The way to a client.
pub trait Link: Send {
    /// Sends it an order.
    ///
    /// # Errors
    /// Why it can't be reached any more.
    fn send(&mut self, order: &Order) -> Result<(), String>;

    /// Its next word, if one comes in so long a time.
    ///
    /// # Errors
    /// Why none will come any more.
    fn next(&mut self, within: Duration) -> Result<Option<Told>, String>;
}

/// Starts a client on a host, which takes up its task; or says why it can't.
pub type Reach = fn(&str, &Task) -> Result<Box<dyn Link>, String>;

/// A client's own way to the trial's process.
pub trait Wire: Sync {
    /// Tells it something. Where nobody is there any more, this process ends.
    fn say(&self, told: &Told);

    /// The next order; `None` where none will come any more.
    fn hear(&self) -> Option<Order>;
}
