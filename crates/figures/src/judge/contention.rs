//! Decides whether other programs left too few processors: then times depend on those programs, and judge no store.

/// Processors that other programs may use during a trial that needs all: a system is never wholly idle.
const ROOM: f64 = 0.25;

/// The load of other programs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contention {
    /// The processors that they kept busy, on average.
    pub others: f64,
    /// The processors of the machine; `u32::MAX` if unknown.
    pub cores: u32,
    /// The threads that used a store at once.
    pub threads: u32,
}

/// The other programs during some trials, each with its duration in seconds, if they left too few processors. `None` also if unknown.
pub fn find_contention(loads: impl Iterator<Item = (Contention, f64)>) -> Option<Contention> {
    let (mut work_s, mut took_s, mut threads, mut cores) = (0.0, 0.0, 1, u32::MAX);
    for (load, wall_s) in loads {
        work_s += load.others * wall_s;
        took_s += wall_s;
        threads = threads.max(load.threads);
        cores = cores.min(load.cores);
    }
    let contention = Contention { others: work_s / took_s, cores, threads };
    let left_over = f64::from(cores.saturating_sub(threads));
    (took_s > 0.0 && contention.others > left_over + ROOM).then_some(contention)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_may_take_what_a_trial_leaves_and_a_little_more() {
        let judge = |loads: &[(f64, f64)]| {
            let load = |&(others, wall_s): &(f64, f64)| (Contention { others, cores: 2, threads: 1 }, wall_s);
            find_contention(loads.iter().map(load))
        };
        assert_eq!((judge(&[]), judge(&[(1.2, 1.0)])), (None, None));
        assert_eq!(judge(&[(1.5, 1.0)]), Some(Contention { others: 1.5, cores: 2, threads: 1 }));
        // Long trials count for more.
        let is_found = |wall_s| judge(&[(2.0, wall_s), (0.0, 1.0)]).is_some();
        assert!(is_found(1000.0) && !is_found(0.001));
    }
}
