//! The pace of a loop: operations are counted in quanta, smaller if they are slow, so that seconds and the end are met in time.

use std::time::Instant;

use storebench_model::cell::Rate;

use crate::measure::series::QUANTUM_TIME;

/// Operations in a quantum at most.
pub const QUANTUM_OPERATIONS: usize = 128;
/// The first quantum, before their speed is known.
const FIRST_QUANTUM: u64 = 8;

/// Operations in a quantum at most. An open loop prepares only half a millisecond ahead.
pub(crate) fn largest_quantum(rate: Rate) -> u64 {
    match rate {
        Rate::Closed => QUANTUM_OPERATIONS as u64,
        Rate::PerSecond(rate) => (u64::from(rate) / 2_000).clamp(1, QUANTUM_OPERATIONS as u64),
    }
}

/// Does at most `operations` in quanta of at most `largest`, while `can_continue`. `quantum` gives how many it did, 0 at the end.
pub(crate) fn run_in_quanta<E>(
    operations: u64,
    largest: u64,
    can_continue: impl Fn() -> bool,
    mut quantum: impl FnMut(u64) -> Result<u64, E>,
) -> Result<(), E> {
    let (mut remaining, mut limit) = (operations, largest.min(FIRST_QUANTUM));
    while remaining > 0 && can_continue() {
        let start = Instant::now();
        let done = quantum(remaining.min(limit))?;
        if done == 0 {
            break;
        }
        remaining -= done;
        limit = match start.elapsed() {
            took if took > QUANTUM_TIME => limit / 2,
            took if took < QUANTUM_TIME / 2 => limit * 2,
            _ => limit,
        }
        .clamp(1, largest);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The size of each quantum if an operation takes `operation_time`.
    fn quantum_sizes(operations: u64, operation_time: Duration) -> Vec<u64> {
        let mut sizes = Vec::new();
        let quantum = |size: u64| {
            sizes.push(size);
            std::thread::sleep(operation_time * size as u32);
            Ok::<_, ()>(size)
        };
        run_in_quanta(operations, 128, || true, quantum).unwrap();
        sizes
    }

    #[test]
    fn quanta_grow_while_operations_are_quick_and_shrink_while_they_are_slow() {
        assert_eq!(quantum_sizes(1_000, Duration::ZERO).iter().sum::<u64>(), 1_000);
        assert_eq!(quantum_sizes(20, QUANTUM_TIME)[..4], [8, 4, 2, 1]);
    }

    #[test]
    fn it_ends_with_the_operations_the_time_or_what_there_is_to_do() {
        let done = |can_continue: bool, most: u64| {
            let mut total = 0;
            let quantum = |limit: u64| {
                let done = limit.min(most).min(30 - total);
                total += done;
                Ok::<_, ()>(done)
            };
            run_in_quanta(100, 4, || can_continue, quantum).map(|()| total)
        };
        assert_eq!((done(true, 3), done(false, 3), done(true, 0)), (Ok(30), Ok(0), Ok(0)));
        assert_eq!(run_in_quanta(9, 4, || true, |_| Err("wrong")), Err("wrong"));
    }

    #[test]
    fn an_open_loop_is_prepared_half_a_millisecond_ahead() {
        assert_eq!([1, 20_000, 10_000_000].map(|rate| largest_quantum(Rate::PerSecond(rate))), [1, 10, 128]);
    }
}
