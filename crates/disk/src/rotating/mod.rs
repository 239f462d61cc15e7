//! Hard disks: seeking heads, turning platters, zones, read-ahead, a write cache, and the choice among waiting requests (NCQ).

mod buffer;
mod cache;
mod geometry;
mod spread;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use self::buffer::Buffer;
use self::cache::Cache;
use self::geometry::Surface;
use self::spread::Spread;
use crate::device::{Device, DeviceTally, Id, Replies};
use crate::request::{Kind, MICROSECOND, MILLISECOND, Nanos, Request, SECOND};

/// Cached writes among which the next is chosen.
const CHOICE_OF_WRITES: usize = 16;

/// A hard disk's data sheet.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HardDiskSpec {
    pub capacity_gb: f64,
    pub turns_per_minute: f64,
    /// To the next track.
    pub seek_track_ms: f64,
    /// The mean of all seeks.
    pub seek_average_ms: f64,
    /// Over all tracks.
    pub seek_full_ms: f64,
    /// How much longer the heads settle before a write.
    pub write_settle_ms: f64,
    /// From the end of a track to the next, in sequence.
    pub track_switch_ms: f64,
    /// Sequential, on the outermost tracks.
    pub outer_mb_per_s: f64,
    /// Sequential, on the innermost tracks.
    pub inner_mb_per_s: f64,
    /// The controller's time for a request.
    pub command_us: f64,
    /// Between its buffer and the host.
    pub link_mb_per_s: f64,
    /// For reads.
    pub buffer_mib: f64,
    /// Segments of the buffer: streams that it can read ahead.
    pub segments: u32,
    /// 0 if it is switched off.
    pub write_cache_mib: f64,
    /// The most separate stretches in it.
    pub write_cache_places: u32,
    /// Requests among which it chooses.
    pub queue: u32,
    /// The extents in which an image is spread over it.
    pub extent_mib: f64,
}

#[derive(Debug)]
struct WaitingRequest {
    id: Id,
    kind: Kind,
    /// On the disk, each from one byte to before another.
    parts: Vec<(u64, u64)>,
    bytes: u64,
    arrived: Nanos,
}

#[derive(Debug)]
pub(crate) struct HardDisk {
    surface: Surface,
    spread: Spread,
    buffer: Buffer,
    cache: Cache,
    has_cache: bool,
    max_candidates: usize,
    command: Nanos,
    link_mb_per_s: f64,
    write_settle: f64,
    /// In order of arrival.
    queue: VecDeque<WaitingRequest>,
    replies: Replies,
    /// The track and byte of the heads, and since when they are free.
    track: u64,
    byte: u64,
    heads_free: Nanos,
    link_free: Nanos,
    tally: DeviceTally,
}

fn mib(mib: f64) -> u64 {
    (mib * 1_048_576.0) as u64
}

impl HardDisk {
    pub fn new(data: &HardDiskSpec, image_bytes: u64) -> HardDisk {
        let disk = (data.capacity_gb * 1e9) as u64;
        HardDisk {
            surface: Surface::from_data_sheet(data),
            spread: Spread::new(image_bytes, disk, mib(data.extent_mib)),
            buffer: Buffer::new(mib(data.buffer_mib), data.segments),
            cache: Cache::new(mib(data.write_cache_mib), data.write_cache_places as usize),
            has_cache: data.write_cache_mib > 0.0,
            max_candidates: data.queue.max(1) as usize,
            command: (data.command_us * MICROSECOND as f64) as Nanos,
            link_mb_per_s: data.link_mb_per_s,
            write_settle: data.write_settle_ms * MILLISECOND as f64,
            queue: VecDeque::new(),
            replies: Replies::default(),
            track: 0,
            byte: 0,
            heads_free: 0,
            link_free: 0,
            tally: DeviceTally::default(),
        }
    }

    /// When a request that only uses the link is answered.
    fn due_over_link(&mut self, bytes: u64, now: Nanos) -> Nanos {
        let time = (bytes as f64 / (self.link_mb_per_s * 1e6) * SECOND as f64) as Nanos;
        self.link_free = self.link_free.max(now) + time;
        self.link_free + self.command
    }

    /// Answers a request that needs no heads; returns it otherwise.
    fn answer_at_once(&mut self, request: WaitingRequest, now: Nanos) -> Option<WaitingRequest> {
        let is_there =
            |part: &(u64, u64)| self.cache.holds(*part) || self.buffer.holds(&self.surface, *part, now);
        let answered = match request.kind {
            Kind::Read => request.parts.iter().all(is_there),
            Kind::Write => self.has_cache && self.cache.fits(request.bytes),
            Kind::Discard => true,
            Kind::Flush => self.cache.is_empty(),
        };
        if !answered {
            return Some(request);
        }
        for part in &request.parts {
            match request.kind {
                Kind::Write => {
                    self.buffer.forget(*part);
                    self.cache.put(*part, now);
                }
                Kind::Discard => self.cache.discard(*part),
                Kind::Read | Kind::Flush => {}
            }
        }
        let bytes = if request.kind == Kind::Discard { 0 } else { request.bytes };
        // A flush is answered when the last write before it has been written.
        let now = if request.kind == Kind::Flush { now.max(self.heads_free) } else { now };
        let due = self.due_over_link(bytes, now);
        self.replies.push(request.id, due);
        None
    }

    /// Answers queued requests that need no heads any more; what follows a flush waits for it.
    fn admit(&mut self, now: Nanos) {
        let mut remaining = VecDeque::with_capacity(self.queue.len());
        let mut behind_a_flush = false;
        while let Some(request) = self.queue.pop_front() {
            let is_flush = request.kind == Kind::Flush;
            let must_wait = behind_a_flush || (is_flush && !remaining.is_empty());
            let moment = now.max(request.arrived);
            if let Some(request) =
                if must_wait { Some(request) } else { self.answer_at_once(request, moment) }
            {
                behind_a_flush |= is_flush;
                remaining.push_back(request);
            }
        }
        self.queue = remaining;
    }

    fn work(&mut self, now: Nanos) {
        loop {
            let Some(first) = self.queue.front() else {
                if self.cache.is_empty() || self.heads_free.max(self.cache.oldest_arrival) > now {
                    return;
                }
                self.write_back(self.heads_free.max(self.cache.oldest_arrival));
                continue;
            };
            let start = self.heads_free.max(first.arrived);
            if start > now {
                return;
            }
            match first.kind {
                Kind::Flush => self.write_back(start),
                Kind::Write if self.has_cache => self.write_back(start),
                Kind::Read | Kind::Write | Kind::Discard => self.serve(start),
            }
            self.admit(self.heads_free);
        }
    }

    /// Writes what the heads reach first from the cache.
    fn write_back(&mut self, start: Nanos) {
        let reach = |part: &(u64, u64)| self.passing_time(*part, Kind::Write, start);
        let writes = self.cache.next(self.byte, CHOICE_OF_WRITES);
        let Some(part) = writes.into_iter().min_by(|a, b| reach(a).total_cmp(&reach(b))) else { return };
        self.cache.written(part);
        self.transfer(part, Kind::Write, start);
    }

    /// Serves the waiting request that the heads reach first.
    fn serve(&mut self, start: Nanos) {
        let is_no_flush = |request: &&WaitingRequest| request.kind != Kind::Flush;
        let can_serve = |request: &WaitingRequest| {
            request.arrived <= start && (request.kind == Kind::Read || !self.has_cache)
        };
        let candidates = self.queue.iter().take_while(is_no_flush).take(self.max_candidates).enumerate();
        let reached = candidates.filter(|(_, request)| can_serve(request)).filter_map(|(index, request)| {
            Some((index, self.passing_time(*request.parts.first()?, request.kind, start)))
        });
        let best = reached.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(index, _)| index);
        let Some(request) = self.queue.remove(best) else { return };
        let mut moment = start;
        for part in &request.parts {
            self.transfer(*part, request.kind, moment);
            moment = self.heads_free;
        }
        self.replies.push(request.id, self.heads_free);
    }

    /// When a part would begin to pass under the heads, if they left now.
    fn passing_time(&self, (from, to): (u64, u64), kind: Kind, start: Nanos) -> f64 {
        if kind == Kind::Read
            && let Some(end) = self.buffer.reaches(&self.surface, (from, to), start)
        {
            return (start as f64).max(end - self.surface.pass(self.surface.position_of(from), to - from));
        }
        let spot = self.surface.position_of(from);
        let settle = if kind == Kind::Write && spot.track != self.track { self.write_settle } else { 0.0 };
        let begun = start as f64 + self.command as f64;
        let arrived = begun + self.surface.seek(self.track, spot.track) + settle;
        arrived + self.surface.wait(&spot, arrived)
    }

    /// Moves the heads to a part, and reads or writes it.
    fn transfer(&mut self, (from, to): (u64, u64), kind: Kind, start: Nanos) {
        let spot = self.surface.position_of(from);
        let read_ahead_end = match kind {
            Kind::Read => self.buffer.reaches(&self.surface, (from, to), start),
            _ => None,
        };
        let end = match read_ahead_end {
            Some(end) => end.max(start as f64),
            None => {
                let begins = self.passing_time((from, to), kind, start);
                let pass = self.surface.pass(spot, to - from);
                self.tally.seeks += u64::from(spot.track != self.track);
                self.tally.seek_ns += (begins - start as f64).max(0.0) as Nanos;
                self.tally.transfer_ns += pass as Nanos;
                self.buffer.leave(&self.surface, start);
                begins + pass
            }
        };
        self.heads_free = end.ceil() as Nanos;
        self.track = self.surface.position_of(to.saturating_sub(1)).track;
        self.byte = to;
        match kind {
            Kind::Read => self.buffer.read((from, to), self.heads_free, self.spread.end_of(from)),
            _ => self.buffer.forget((from, to)),
        }
    }
}

impl Device for HardDisk {
    fn arrive(&mut self, id: Id, request: &Request, now: Nanos) {
        self.work(now);
        let parts = self.spread.parts(request.at, request.bytes);
        let parts = parts.into_iter().map(|(offset, bytes)| (offset, offset + bytes)).collect();
        let request = WaitingRequest { id, kind: request.kind, parts, bytes: request.bytes, arrived: now };
        self.queue.push_back(request);
        self.admit(now);
        self.work(now);
    }

    fn next_event(&self) -> Option<Nanos> {
        let work_start = self.queue.front().map(|first| self.heads_free.max(first.arrived));
        self.replies.next().into_iter().chain(work_start).min()
    }

    fn take(&mut self, now: Nanos) -> Option<(Id, Nanos)> {
        self.work(now);
        self.replies.take(now)
    }

    fn tally(&self) -> DeviceTally {
        self.tally
    }
}

#[cfg(test)]
mod tests;
