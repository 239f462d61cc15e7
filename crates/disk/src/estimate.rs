//! Estimates in virtual time: a disk's requests are repeated on models of others, without waiting. A request counts as caused by
//! the replies sent just before it: on the other disk it arrives as long after they are due. If as many requests follow as there
//! were replies, each follows one of them; if fewer, they waited for all.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

use crate::device::{Device, Id};
use crate::request::{Nanos, Request};

/// The replies that something waited for, and the time since the last of them; since the start if there are none.
#[derive(Debug, Clone, Default)]
struct WaitedFor {
    replies: Vec<Id>,
    pause: Nanos,
}

#[derive(Debug, Clone)]
struct MadeRequest {
    id: Id,
    request: Request,
    after: WaitedFor,
}

/// The disks with estimated times, and the requests since their clocks were last read.
#[derive(Default)]
pub struct Estimates {
    shadows: BTreeMap<String, ShadowDevice>,
    recorded: Vec<MadeRequest>,
    /// Requests without a reply.
    open: HashSet<Id>,
    /// Replies in a row with no request between, when each was sent, and the requests before the next reply.
    replies: Vec<(Id, Nanos)>,
    later_requests: Vec<(Id, Request, Nanos)>,
}

impl Estimates {
    pub fn new(devices: impl IntoIterator<Item = (String, Box<dyn Device>)>) -> Estimates {
        let shadows = devices.into_iter().map(|(name, device)| (name, ShadowDevice::new(device))).collect();
        Estimates { shadows, ..Estimates::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.shadows.is_empty()
    }

    pub fn add_request(&mut self, id: Id, request: Request, now: Nanos) {
        if !self.is_empty() {
            self.later_requests.push((id, request, now));
            self.open.insert(id);
        }
    }

    pub(crate) fn add_reply(&mut self, id: Id, now: Nanos) {
        if self.is_empty() {
            return;
        }
        if !self.later_requests.is_empty() {
            self.follow();
            self.replies.clear();
        }
        self.open.remove(&id);
        self.replies.push((id, now));
    }

    /// Finds the replies that each request followed.
    fn follow(&mut self) {
        let Estimates { recorded, replies, later_requests, .. } = self;
        let is_one_each = later_requests.len() >= replies.len();
        for (number, (id, request, now)) in later_requests.drain(..).enumerate() {
            let index = number.min(replies.len().saturating_sub(1));
            let followed =
                if is_one_each { replies.get(index..=index).unwrap_or_default() } else { &replies[..] };
            recorded.push(MadeRequest { id, request, after: WaitedFor::from_replies(followed, now) });
        }
    }

    /// The time on each other disk, by name, at a moment of the disk that waits.
    pub fn clocks(&mut self, now: Nanos) -> BTreeMap<String, Nanos> {
        self.follow();
        let until = WaitedFor::from_replies(&self.replies, now);
        // All of them have been waited for now.
        self.replies.drain(..self.replies.len().saturating_sub(1));
        let Estimates { shadows, recorded, open, replies, .. } = self;
        let is_needed = |id: &Id| open.contains(id) || replies.iter().any(|(reply, _)| reply == id);
        let clock = |(name, shadow): (&String, &mut ShadowDevice)| {
            let clock = shadow.run(recorded, &until);
            shadow.due.retain(|id, _| is_needed(id));
            (name.clone(), clock)
        };
        let clocks = shadows.iter_mut().map(clock).collect();
        recorded.clear();
        clocks
    }
}

impl WaitedFor {
    /// For a moment after all of some replies.
    fn from_replies(replies: &[(Id, Nanos)], now: Nanos) -> WaitedFor {
        let last = replies.iter().map(|(_, sent)| *sent).max().unwrap_or_default();
        WaitedFor { replies: replies.iter().map(|(id, _)| *id).collect(), pause: now.saturating_sub(last) }
    }
}

struct ShadowDevice {
    device: Box<dyn Device>,
    now: Nanos,
    /// When each reply was due that a request may still follow.
    due: HashMap<Id, Nanos>,
    /// Requests after replies that are not all due yet, and the requests that wait for each of these.
    waiting: HashMap<Id, MadeRequest>,
    waited_for: HashMap<Id, Vec<Id>>,
    arriving: BinaryHeap<Reverse<(Nanos, Id)>>,
    requests: HashMap<Id, Request>,
}

impl ShadowDevice {
    fn new(device: Box<dyn Device>) -> ShadowDevice {
        ShadowDevice {
            device,
            now: 0,
            due: HashMap::new(),
            waiting: HashMap::new(),
            waited_for: HashMap::new(),
            arriving: BinaryHeap::new(),
            requests: HashMap::new(),
        }
    }

    /// Takes requests, and runs to a moment after some replies; returns that moment on this disk.
    fn run(&mut self, recorded: &[MadeRequest], until: &WaitedFor) -> Nanos {
        recorded.iter().for_each(|made_request| self.take(made_request.clone()));
        let moment = loop {
            match self.moment(until) {
                Some(moment) if self.next().is_none_or(|next| next > moment) => break moment,
                _ if !self.step() => break self.now,
                _ => {}
            }
        };
        self.now = self.now.max(moment);
        self.now
    }

    /// The moment a time after some replies, once all are due.
    fn moment(&self, after: &WaitedFor) -> Option<Nanos> {
        let due = after.replies.iter().map(|id| self.due.get(id).copied());
        Some(due.collect::<Option<Vec<Nanos>>>()?.into_iter().max().unwrap_or_default() + after.pause)
    }

    /// Takes a request, which arrives once what it follows is due.
    fn take(&mut self, made_request: MadeRequest) {
        if let Some(moment) = self.moment(&made_request.after) {
            self.requests.insert(made_request.id, made_request.request);
            self.arriving.push(Reverse((moment, made_request.id)));
            return;
        }
        if let Some(reply) = made_request.after.replies.iter().find(|id| !self.due.contains_key(id)) {
            self.waited_for.entry(*reply).or_default().push(made_request.id);
            self.waiting.insert(made_request.id, made_request);
        }
    }

    /// The moment of the next event.
    fn next(&self) -> Option<Nanos> {
        let arrival = self.arriving.peek().map(|Reverse((moment, _))| *moment);
        self.device.next_event().into_iter().chain(arrival).min()
    }

    /// Handles one reply or arrival; returns whether there was any.
    fn step(&mut self) -> bool {
        let arrival = self.arriving.peek().map(|Reverse((moment, _))| *moment);
        match self.device.next_event() {
            Some(wakes) if arrival.is_none_or(|arrival| wakes <= arrival) => {
                self.now = self.now.max(wakes);
                while let Some((id, due)) = self.device.take(self.now) {
                    self.mark_due(id, due);
                }
                true
            }
            _ => match self.arriving.pop() {
                Some(Reverse((moment, id))) => {
                    self.now = self.now.max(moment);
                    if let Some(request) = self.requests.remove(&id) {
                        self.device.arrive(id, &request, self.now);
                    }
                    true
                }
                None => false,
            },
        }
    }

    fn mark_due(&mut self, id: Id, due: Nanos) {
        self.due.insert(id, due);
        for waiting_id in self.waited_for.remove(&id).unwrap_or_default() {
            if let Some(made_request) = self.waiting.remove(&waiting_id) {
                self.take(made_request);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disks::shipped;
    use crate::random::Random;
    use crate::request::{MICROSECOND, MILLISECOND, SECOND};

    const IMAGE: u64 = 256 << 20;

    fn device(name: &str) -> Box<dyn Device> {
        shipped(name).unwrap().device(IMAGE, 7).unwrap()
    }

    /// A host with `depth` requests under way, which pauses before each; gives when the last reply was due, there and by the
    /// estimates for others.
    fn host(
        disk_name: &str,
        others: &[&str],
        depth: usize,
        request: impl Fn(&mut Random, u64) -> Request,
    ) -> (Nanos, BTreeMap<String, Nanos>) {
        let mut device = device(disk_name);
        let other_devices = others.iter().map(|name| ((*name).to_owned(), self::device(name)));
        let mut estimates = Estimates::new(other_devices);
        let mut random = Random::seeded(3);
        let (mut now, mut sent, mut under_way) = (0, 0, 0);
        let mut arrivals: BinaryHeap<Reverse<Nanos>> = std::iter::repeat_n(Reverse(0), depth).collect();
        loop {
            let arrival = arrivals.peek().map(|Reverse(moment)| *moment).filter(|_| sent < 2_000);
            match device.next_event() {
                Some(wakes) if arrival.is_none_or(|arrival| wakes <= arrival) => {
                    now = now.max(wakes);
                    while let Some((id, _)) = device.take(now) {
                        estimates.add_reply(id, now);
                        arrivals.push(Reverse(now + 50 * MICROSECOND));
                        under_way -= 1;
                    }
                }
                _ => {
                    let Some(arrival) = arrival else { break };
                    arrivals.pop();
                    now = now.max(arrival);
                    let request = request(&mut random, sent);
                    device.arrive(sent, &request, now);
                    estimates.add_request(sent, request, now);
                    (sent, under_way) = (sent + 1, under_way + 1);
                }
            }
        }
        assert_eq!(under_way, 0);
        (now, estimates.clocks(now))
    }

    fn reads(random: &mut Random, _: u64) -> Request {
        Request::read(random.below(IMAGE / 4096) * 4096, 4096)
    }

    fn synced(random: &mut Random, number: u64) -> Request {
        match number % 2 {
            0 => Request::write(random.below(IMAGE / 4096) * 4096, 4096),
            _ => Request::flush(),
        }
    }

    #[test]
    fn an_estimate_of_a_host_that_waits_is_what_it_would_wait() {
        let names = ["hdd-7200", "hdd-7200-uncached", "sd-a1", "sata-ssd", "ebs-gp3", "steady", "recorder"];
        for request in [reads, synced] {
            let real = names.map(|name| (name.to_owned(), host(name, &[], 1, request).0));
            for disk_name in ["recorder", "steady", "hdd-7200"] {
                let (_, estimated) = host(disk_name, &names, 1, request);
                assert_eq!(estimated, BTreeMap::from(real.clone()), "on {disk_name}");
            }
        }
    }

    #[test]
    fn many_at_once_stay_many_at_once() {
        for depth in [4, 32] {
            for name in ["hdd-7200", "sd-a1", "sata-ssd", "ebs-gp3"] {
                let (real, _) = host(name, &[], depth, reads);
                let (_, estimated) = host("recorder", &[name], depth, reads);
                let ratio = estimated[name] as f64 / real as f64;
                assert!((0.9..1.1).contains(&ratio), "{name} at {depth}: {ratio}");
            }
        }
    }

    #[test]
    fn clocks_go_on_while_nothing_is_asked_and_never_back() {
        let mut estimates = Estimates::new([("hdd-7200".to_owned(), device("hdd-7200"))]);
        let clock = |estimates: &mut Estimates, now: Nanos| estimates.clocks(now)["hdd-7200"];
        assert_eq!(clock(&mut estimates, SECOND), SECOND);
        estimates.add_request(0, Request::read(0, 4096), SECOND);
        estimates.add_reply(0, SECOND + MILLISECOND);
        let then = clock(&mut estimates, SECOND + MILLISECOND);
        assert!(then > SECOND + MILLISECOND, "{then}");
        assert_eq!(clock(&mut estimates, 2 * SECOND), then + SECOND - MILLISECOND);
        // Requests in the background, which are not waited for, are no reason to wait.
        estimates.add_request(1, Request::read(64 << 20, 4096), 2 * SECOND);
        let during = clock(&mut estimates, 2 * SECOND);
        assert_eq!(during, then + SECOND - MILLISECOND);
        estimates.add_reply(1, 3 * SECOND);
        let after = clock(&mut estimates, 3 * SECOND);
        assert!((during..during + 50 * MILLISECOND).contains(&after), "{after} after {during}");
    }
}
