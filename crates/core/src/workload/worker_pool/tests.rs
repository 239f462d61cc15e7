//! Workers that end, wait, fail or panic: each thread has its handle, a round is all of them together, and one that fails ends it.

use std::sync::atomic::{AtomicU64, Ordering};

use storebench_model::cell::Rate;

use super::*;
use crate::workload::start_barrier::StartGate;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Course {
    Ends,
    NeverEnds,
    /// Its schedule has one operation in an hour.
    Waits,
    FailsBefore,
    PanicsBefore,
    Fails,
    Panics,
}

struct TestWorker {
    course: Course,
    rounds: u64,
}

impl Worker<u64, u64> for TestWorker {
    type Failed = WorkloadError;

    fn round(
        &mut self,
        handle: &mut u64,
        order: u64,
        approach: BarrierGuard<'_>,
    ) -> Result<TimedPart, WorkloadError> {
        self.rounds += 1;
        *handle += order;
        match self.course {
            Course::FailsBefore => return Err(WorkloadError::harness("it failed before")),
            Course::PanicsBefore => panic!("as planned"),
            _ => {}
        }
        let started = approach.cross()?;
        let (begin, mut pacer) = started.start_work(Rate::PerSecond(1));
        match self.course {
            Course::Fails => return Err(WorkloadError::harness("it failed")),
            Course::Panics => panic!("as planned"),
            Course::NeverEnds => while started.can_continue(begin, None) {},
            Course::Waits => {
                while let Some(pacer) = pacer.as_mut().filter(|_| started.can_continue(begin, None)) {
                    for _ in 0..3600 {
                        pacer.wait(&Clock::new());
                    }
                }
            }
            _ => {}
        }
        Ok(TimedPart { begin, end: begin + 1, ..TimedPart::default() })
    }
}

fn test_workers(courses: &[Course]) -> Vec<Mutex<TestWorker>> {
    courses.iter().map(|course| Mutex::new(TestWorker { course: *course, rounds: 0 })).collect()
}

fn rounds(courses: &[Course]) -> (Result<Elapsed, WorkloadError>, u64) {
    let workers = test_workers(courses);
    let (clock, opened) = (Clock::new(), AtomicU64::new(0));
    let open = || Ok(Box::new(opened.fetch_add(1, Ordering::Relaxed)));
    let add_seven = |first: &mut u64| {
        *first += 7;
        Ok(())
    };
    let result = run(&clock, &workers, open, add_seven, |pool| {
        pool.round(10)?;
        assert_eq!(*pool.handle, 17);
        pool.round(100)
    });
    if result.is_ok() {
        assert!(workers.iter().all(|worker| lock_worker(worker).rounds == 2));
    }
    (result, opened.load(Ordering::Relaxed))
}

#[test]
fn every_thread_has_one_handle_for_all_rounds() {
    for threads in [1, 3] {
        let (result, opened) = rounds(&vec![Course::Ends; threads]);
        assert_eq!(opened, threads as u64);
        assert!(result.is_ok(), "{result:?}");
    }
    let no_workers: &[Course] = &[];
    assert!(rounds(no_workers).0.is_err());
}

#[test]
fn a_thread_that_fails_or_panics_stops_all() {
    for (course, message) in [
        (Course::FailsBefore, "it failed before"),
        (Course::PanicsBefore, "a thread panicked: as planned"),
        (Course::Fails, "it failed"),
        (Course::Panics, "a thread panicked: as planned"),
    ] {
        for others in [Course::NeverEnds, Course::Waits] {
            for failing in 0..3 {
                let mut courses = [others; 3];
                courses[failing] = course;
                let stop = rounds(&courses).0.unwrap_err();
                assert_eq!(stop.message, message, "{course:?} in {failing} of {others:?}");
            }
        }
    }
}

#[test]
fn a_thread_whose_handle_can_not_be_opened_ends_it() {
    let workers = test_workers(&[Course::Ends; 3]);
    let (clock, opened) = (Clock::new(), AtomicU64::new(0));
    let open = || match opened.fetch_add(1, Ordering::Relaxed) {
        2 => Err(WorkloadError::harness("no more")),
        number => Ok(Box::new(number)),
    };
    let result = run(&clock, &workers, open, |_| Ok(()), |pool| pool.round(1));
    assert_eq!(result.unwrap_err().message, "no more");
}

struct TestGate<'c>(&'c Clock, bool);

impl StartGate for TestGate<'_> {
    fn wait_for_start(&self) -> Option<u64> {
        self.1.then(|| self.0.now() + self.0.ticks(5_000_000.0) as u64)
    }
}

#[test]
fn threads_behind_a_gate_start_when_it_opens() {
    for (is_opening, course) in [(true, Course::Ends), (false, Course::Ends), (true, Course::FailsBefore)] {
        let (workers, clock) = (test_workers(&[Course::Ends, course, Course::Ends]), Clock::new());
        let gate = TestGate(&clock, is_opening);
        let barrier = StartBarrier::new(workers.len(), &clock).for_part(5, 9, &gate);
        let start = clock.now();
        let result =
            run_at_barrier(&barrier, &clock, &workers, || Ok(Box::new(0)), |_| Ok(()), |pool| pool.parts(1));
        match (is_opening, course) {
            (true, Course::Ends) => {
                let parts = result.unwrap();
                let after_ns = clock.nanoseconds(start, parts[0].begin);
                assert!(after_ns >= 5_000_000 && parts.iter().all(|part| part.begin == parts[0].begin));
                assert!(barrier.take_late() > 0 && barrier.take_late() == 0, "each is a little late");
            }
            (true, _) => assert_eq!(result.unwrap_err().message, "it failed before"),
            (false, _) => assert_eq!(result.unwrap_err().message, "another thread has failed"),
        }
    }
}
