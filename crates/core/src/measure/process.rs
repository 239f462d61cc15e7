//! The trial's own process: memory and processor time.

use std::io;

use crate::result::Cpu;

/// Resident memory now and at its peak, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resident {
    /// Now.
    pub now_bytes: u64,
    /// The most since the process was started, or since [`reset_peak`].
    pub peak_bytes: u64,
}

/// Resident memory of this process.
///
/// # Errors
/// Where there is no /proc, or it does not tell.
pub fn resident() -> io::Result<Resident> {
    let status =
        procfs::process::Process::myself().and_then(|process| process.status()).map_err(io::Error::other)?;
    let bytes =
        |kib: Option<u64>| kib.map(|kib| kib * 1024).ok_or_else(|| io::Error::other("/proc tells no memory"));
    Ok(Resident { now_bytes: bytes(status.vmrss)?, peak_bytes: bytes(status.vmhwm)? })
}

/// Makes the peak start anew from what is resident now.
///
/// # Errors
/// Where the kernel does not allow it.
pub fn reset_peak() -> io::Result<()> {
    std::fs::write("/proc/self/clear_refs", "5")
}

/// Processor time of this process, all its threads together, since it was started.
pub fn cpu() -> Cpu {
    let usage = usage();
    let nanoseconds = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    Cpu { user_ns: nanoseconds(usage.ru_utime), system_ns: nanoseconds(usage.ru_stime) }
}

/// What this process used since it was started, all its threads together.
pub(super) fn usage() -> libc::rusage {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a rusage of our own, and all-zero is a valid rusage should the call fail.
    unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    }
}

impl Cpu {
    /// What was used since `earlier`.
    pub fn since(&self, earlier: &Cpu) -> Cpu {
        Cpu {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_seen_after_it_has_gone() {
        reset_peak().unwrap();
        let before = resident().unwrap();
        let hoard = std::hint::black_box(vec![1_u8; 64 << 20]);
        drop(hoard);
        let after = resident().unwrap();
        assert!(after.peak_bytes >= before.now_bytes + (60 << 20), "{before:?} {after:?}");
    }

    #[test]
    fn work_takes_processor_time() {
        let before = cpu();
        let mut sum = 0_u64;
        while cpu().since(&before).user_ns < 20_000_000 {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(cpu().since(&before).user_ns >= 20_000_000);
    }
}
