//! The time of the machine's processors by what they did, from /proc/stat: of all, or of those allowed to a trial.

use std::fs;
use std::io;
use std::time::Duration;

use storebench_model::result::Processors;

/// Times since boot, in clock ticks (mostly 10 ms).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Snapshot {
    user: u64,
    system: u64,
    idle: u64,
    io_wait: u64,
    total: u64,
}

/// Shares of processor time, by use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    pub user: f64,
    /// Interrupts included.
    pub system: f64,
    pub io_wait: f64,
    pub idle: f64,
}

impl Snapshot {
    /// The time of all processors.
    pub fn now() -> io::Result<Snapshot> {
        let missing = || io::Error::other(format!("{STAT} has no line of all processors"));
        parse(&read()?, "cpu").ok_or_else(missing)
    }

    /// The time of the processors with these numbers.
    pub fn read_numbered(numbers: &[usize]) -> io::Result<Snapshot> {
        let text = read()?;
        let mut snapshots = numbers.iter().map(|number| {
            let missing = || io::Error::other(format!("{STAT} has no line of processor {number}"));
            parse(&text, &format!("cpu{number}")).ok_or_else(missing)
        });
        snapshots.try_fold(Snapshot::default(), |sum, snapshot| Ok(sum.plus(snapshot?)))
    }

    fn plus(self, other: Snapshot) -> Snapshot {
        Snapshot {
            user: self.user + other.user,
            system: self.system + other.system,
            idle: self.idle + other.idle,
            io_wait: self.io_wait + other.io_wait,
            total: self.total + other.total,
        }
    }

    /// Busy time since `earlier`, of all together.
    pub(crate) fn busy_since(&self, earlier: &Snapshot) -> Duration {
        let ticks = (self.user + self.system).saturating_sub(earlier.user + earlier.system);
        Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second().max(1) as f64)
    }

    /// Shares of the time since `earlier`; `None` if that was less than a tick.
    pub fn since(&self, earlier: &Snapshot) -> Option<Processors> {
        let Shares { idle, io_wait, .. } = self.shares(earlier)?;
        Some(Processors { idle_share: idle, io_wait_share: io_wait })
    }

    /// Shares without the time that other guests on the same hardware took (steal).
    pub fn shares(&self, earlier: &Snapshot) -> Option<Shares> {
        let total = self.total.saturating_sub(earlier.total);
        // A processor that wakes from waiting may take some of it back.
        let share = |now: u64, before: u64| (now.saturating_sub(before) as f64 / total as f64).min(1.0);
        (total > 0).then(|| Shares {
            user: share(self.user, earlier.user),
            system: share(self.system, earlier.system),
            io_wait: share(self.io_wait, earlier.io_wait),
            idle: share(self.idle, earlier.idle),
        })
    }
}

const STAT: &str = "/proc/stat";

fn read() -> io::Result<String> {
    fs::read_to_string(STAT).map_err(|error| io::Error::new(error.kind(), format!("{STAT}: {error}")))
}

/// The fields after a line's name: user, nice, system, idle, iowait, irq, softirq, steal; guests' time is in user and nice already.
fn parse(text: &str, name: &str) -> Option<Snapshot> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    let fields: Vec<u64> = line.split_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
    let [user, nice, system, idle, io_wait, others @ ..] = fields.as_slice() else { return None };
    Some(Snapshot {
        user: user + nice,
        system: system + others.iter().take(2).sum::<u64>(),
        idle: *idle,
        io_wait: *io_wait,
        total: fields.iter().sum(),
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_all_time_but_guests() {
        let before = parse("cpu  100 0 100 1000 50 0 0 0 70 0\ncpu0 1 2 3\n", "cpu").unwrap();
        let after = parse("cpu  110 5 120 1150 60 2 1 2 90 0\n", "cpu").unwrap();
        let shares = after.since(&before).unwrap();
        assert_eq!((shares.idle_share, shares.io_wait_share), (0.75, 0.05));
        let shares = after.shares(&before).unwrap();
        assert_eq!((shares.user, shares.system), (0.075, 0.115));
        assert_eq!(after.since(&after), None);
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(after.busy_since(&before), Duration::from_secs_f64(38.0 / ticks));
        assert_eq!((parse("intr 1 2\n", "cpu"), parse("cpu  1 2 3\n", "cpu")), (None, None));
    }

    #[test]
    fn each_processor_has_a_line_of_its_own() {
        let text =
            "cpu  30 0 0 70 0 0 0 0\ncpu0 20 0 0 30 0 0 0 0\ncpu1 10 0 0 40 0 0 0 0\ncpu10 1 0 0 9 0 0 0 0\n";
        let processor = |number: u32| parse(text, &format!("cpu{number}"));
        assert_eq!(processor(1).map(|snapshot| (snapshot.user, snapshot.idle)), Some((10, 40)));
        assert_eq!(processor(0).unwrap().plus(processor(1).unwrap()), parse(text, "cpu").unwrap());
        assert_eq!(processor(2), None);
    }

    #[test]
    fn the_machine_tells() {
        let before = Snapshot::now().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
        let shares = Snapshot::now().unwrap().since(&before).unwrap();
        assert!((0.0..=1.0).contains(&shares.idle_share) && (0.0..=1.0).contains(&shares.io_wait_share));
    }
}
