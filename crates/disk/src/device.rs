//! A device in virtual time: requests arrive, replies come due. It never looks at a clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::request::{Nanos, Request};

/// The number by which a reply names its request.
pub type Id = u64;

/// A device in virtual time, which only goes forward: no call may name a moment before that of an earlier one.
pub trait Device: Send {
    /// Takes a request that arrives now.
    fn arrive(&mut self, id: Id, request: &Request, now: Nanos);

    /// The next moment at which it may have a reply; `None` if nothing waits. A device that chooses among waiting requests may
    /// name the moment of its choice, at which no reply is due yet.
    fn next_event(&self) -> Option<Nanos>;

    /// The earliest reply that is due by now, with the moment at which it was.
    fn take(&mut self, now: Nanos) -> Option<(Id, Nanos)>;

    /// The events that it has counted.
    fn tally(&self) -> DeviceTally;
}

/// Events in a device that its requests don't show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceTally {
    /// Movements of a hard disk's heads to another track.
    pub seeks: u64,
    /// Allocation units of flash that were copied to close them.
    pub merges: u64,
    /// Time in which a hard disk's heads moved, settled, and waited for the platters to turn, in nanoseconds.
    #[serde(default)]
    pub seek_ns: Nanos,
    /// Time that copying units took.
    #[serde(default)]
    pub merge_ns: Nanos,
    /// Time in which bytes were read from platters or written to them, passed a wire, or were programmed.
    #[serde(default)]
    pub transfer_ns: Nanos,
}

impl DeviceTally {
    fn zip_with(self, other: DeviceTally, combine: fn(u64, u64) -> u64) -> DeviceTally {
        DeviceTally {
            seeks: combine(self.seeks, other.seeks),
            merges: combine(self.merges, other.merges),
            seek_ns: combine(self.seek_ns, other.seek_ns),
            merge_ns: combine(self.merge_ns, other.merge_ns),
            transfer_ns: combine(self.transfer_ns, other.transfer_ns),
        }
    }

    /// Both together.
    pub fn plus(self, other: DeviceTally) -> DeviceTally {
        self.zip_with(other, u64::saturating_add)
    }

    /// The events since an earlier count.
    pub fn since(self, before: DeviceTally) -> DeviceTally {
        self.zip_with(before, u64::saturating_sub)
    }
}

/// The model of a device that takes requests in their order: when each is due is known as it arrives.
pub trait Model: Send {
    /// When the reply to a request that arrives now is due.
    fn reply_due(&mut self, request: &Request, now: Nanos) -> Nanos;

    /// The events that it has counted.
    fn tally(&self) -> DeviceTally {
        DeviceTally::default()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Replies(BinaryHeap<Reverse<(Nanos, Id)>>);

impl Replies {
    pub fn push(&mut self, id: Id, due: Nanos) {
        self.0.push(Reverse((due, id)));
    }

    pub fn next(&self) -> Option<Nanos> {
        self.0.peek().map(|Reverse((due, _))| *due)
    }

    pub fn take(&mut self, now: Nanos) -> Option<(Id, Nanos)> {
        if self.next()? > now {
            return None;
        }
        self.0.pop().map(|Reverse((due, id))| (id, due))
    }
}

/// A model that serves requests in order.
#[derive(Debug)]
pub(crate) struct InOrderDevice<M> {
    model: M,
    replies: Replies,
}

impl<M: Model> InOrderDevice<M> {
    pub fn new(model: M) -> InOrderDevice<M> {
        InOrderDevice { model, replies: Replies::default() }
    }
}

impl<M: Model> Device for InOrderDevice<M> {
    fn arrive(&mut self, id: Id, request: &Request, now: Nanos) {
        let due = self.model.reply_due(request, now);
        self.replies.push(id, due.max(now));
    }

    fn next_event(&self) -> Option<Nanos> {
        self.replies.next()
    }

    fn take(&mut self, now: Nanos) -> Option<(Id, Nanos)> {
        self.replies.take(now)
    }

    fn tally(&self) -> DeviceTally {
        self.model.tally()
    }
}
