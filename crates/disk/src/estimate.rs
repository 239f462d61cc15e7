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
    made: Vec<MadeRequest>,
    /// Requests without a reply.
    open: HashSet<Id>,
    /// Replies in a row with no request between, when each was sent, and the requests before the next reply.
    replies: Vec<(Id, Nanos)>,
    since: Vec<(Id, Request, Nanos)>,
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
            self.since.push((id, request, now));
            self.open.insert(id);
        }
    }

    pub(crate) fn replied(&mut self, id: Id, now: Nanos) {
        if self.is_empty() {
            return;
        }
        if !self.since.is_empty() {
            self.follow();
            self.replies.clear();
        }
        self.open.remove(&id);
        self.replies.push((id, now));
    }

    /// Finds the replies that each request followed.
    fn follow(&mut self) {
        let Estimates { made, replies, since, .. } = self;
        let each = since.len() >= replies.len();
        for (number, (id, request, now)) in since.drain(..).enumerate() {
            let one = number.min(replies.len().saturating_sub(1));
            let followed = if each { replies.get(one..=one).unwrap_or_default() } else { &replies[..] };
            made.push(MadeRequest { id, request, after: WaitedFor::from_replies(followed, now) });
        }
    }

    /// The time on each other disk, by name, at a moment of the disk that waits.
    pub fn clocks(&mut self, now: Nanos) -> BTreeMap<String, Nanos> {
        self.follow();
        let until = WaitedFor::from_replies(&self.replies, now);
        // All of them have been waited for now.
        self.replies.drain(..self.replies.len().saturating_sub(1));
        let Estimates { shadows, made, open, replies, .. } = self;
        let followed = |id: &Id| open.contains(id) || replies.iter().any(|(own, _)| own == id);
        let clock = |(name, shadow): (&String, &mut ShadowDevice)| {
            let clock = shadow.run(made, &until);
            shadow.due.retain(|id, _| followed(id));
            (name.clone(), clock)
        };
        let clocks = shadows.iter_mut().map(clock).collect();
        made.clear();
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

    /// Takes requests, and runs to a moment after some replies; gives that moment here.
    fn run(&mut self, made: &[MadeRequest], until: &WaitedFor) -> Nanos {
        made.iter().for_each(|one| self.take(one.clone()));
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
    fn take(&mut self, one: MadeRequest) {
        if let Some(moment) = self.moment(&one.after) {
            self.requests.insert(one.id, one.request);
            self.arriving.push(Reverse((moment, one.id)));
            return;
        }
        if let Some(reply) = one.after.replies.iter().find(|id| !self.due.contains_key(id)) {
            self.waited_for.entry(*reply).or_default().push(one.id);
            self.waiting.insert(one.id, one);
        }
    }

    /// The moment of the next event.
    fn next(&self) -> Option<Nanos> {
        let arrival = self.arriving.peek().map(|Reverse((moment, _))| *moment);
        self.device.next_event().into_iter().chain(arrival).min()
    }

    /// Handles one reply or arrival; gives whether there was any.
    fn step(&mut self) -> bool {
        let arrival = self.arriving.peek().map(|Reverse((moment, _))| *moment);
        match self.device.next_event() {
            Some(wakes) if arrival.is_none_or(|arrival| wakes <= arrival) => {
                self.now = self.now.max(wakes);
                while let Some((id, due)) = self.device.take(self.now) {
                    self.is_due(id, due);
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

    fn is_due(&mut self, id: Id, due: Nanos) {
        self.due.insert(id, due);
        for waits in self.waited_for.remove(&id).unwrap_or_default() {
            if let Some(one) = self.waiting.remove(&waits) {
                self.take(one);
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
        on: &str,
        others: &[&str],
        depth: usize,
        request: impl Fn(&mut Random, u64) -> Request,
    ) -> (Nanos, BTreeMap<String, Nanos>) {
        let mut device = device(on);
        let all = others.iter().map(|name| ((*name).to_owned(), self::device(name)));
        let mut estimates = Estimates::new(all);
        let mut random = Random::seeded(3);
        let (mut now, mut made, mut under_way) = (0, 0, 0);
        let mut arrivals: BinaryHeap<Reverse<Nanos>> = std::iter::repeat_n(Reverse(0), depth).collect();
        loop {
            let arrival = arrivals.peek().map(|Reverse(moment)| *moment).filter(|_| made < 2_000);
            match device.next_event() {
                Some(wakes) if arrival.is_none_or(|arrival| wakes <= arrival) => {
                    now = now.max(wakes);
                    while let Some((id, _)) = device.take(now) {
                        estimates.replied(id, now);
                        arrivals.push(Reverse(now + 50 * MICROSECOND));
                        under_way -= 1;
                    }
                }
                _ => {
                    let Some(arrival) = arrival else { break };
                    arrivals.pop();
                    now = now.max(arrival);
                    let request = request(&mut random, made);
                    device.arrive(made, &request, now);
                    estimates.add_request(made, request, now);
                    (made, under_way) = (made + 1, under_way + 1);
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
            for on in ["recorder", "steady", "hdd-7200"] {
                let (_, told) = host(on, &names, 1, request);
                assert_eq!(told, BTreeMap::from(real.clone()), "on {on}");
            }
        }
    }

    #[test]
    fn many_at_once_stay_many_at_once() {
        for depth in [4, 32] {
            for name in ["hdd-7200", "sd-a1", "sata-ssd", "ebs-gp3"] {
                let (real, _) = host(name, &[], depth, reads);
                let (_, told) = host("recorder", &[name], depth, reads);
                let ratio = told[name] as f64 / real as f64;
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
        estimates.replied(0, SECOND + MILLISECOND);
        let then = clock(&mut estimates, SECOND + MILLISECOND);
        assert!(then > SECOND + MILLISECOND, "{then}");
        assert_eq!(clock(&mut estimates, 2 * SECOND), then + SECOND - MILLISECOND);
        // Requests in the background, which are not waited for, are no reason to wait.
        estimates.add_request(1, Request::read(64 << 20, 4096), 2 * SECOND);
        let during = clock(&mut estimates, 2 * SECOND);
        assert_eq!(during, then + SECOND - MILLISECOND);
        estimates.replied(1, 3 * SECOND);
        let after = clock(&mut estimates, 3 * SECOND);
        assert!((during..during + 50 * MILLISECOND).contains(&after), "{after} after {during}");
    }
}
