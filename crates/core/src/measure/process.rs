//! The trial's own process: memory and processor time.

use std::io;
use std::time::Duration;

use procfs_core::process::{Stat, Status};
use procfs_core::{FromRead, Uptime};
use storebench_model::result::{Cpu, Memory};

use crate::measure::children;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResidentMemory {
    pub now_bytes: u64,
    /// Since the process was started, or since [`reset_peak`].
    pub peak_bytes: u64,
    /// Pages of mapped files, the program included; `None` if the kernel does not count them.
    pub mapped_files_bytes: Option<u64>,
}

impl ResidentMemory {
    /// The memory taken above `base`; `charged_bytes` is the most that the process's cgroup was charged for.
    pub fn memory_above(&self, base: &ResidentMemory, charged_bytes: Option<u64>) -> Memory {
        Memory {
            base_bytes: base.now_bytes,
            peak_above_base_bytes: self.peak_bytes.saturating_sub(base.now_bytes),
            peak_without_mapped_files_bytes: self.without_mapped_files_above(base),
            peak_with_page_cache_bytes: charged_bytes,
        }
    }

    /// The peak above `base` without pages of mapped files. Their number at the peak is unknown, so the present one is
    /// subtracted; the result is at least all else that is resident now.
    pub(crate) fn without_mapped_files_above(&self, base: &ResidentMemory) -> Option<u64> {
        let (files, base_files) = (self.mapped_files_bytes?, base.mapped_files_bytes?);
        let unmapped = self.now_bytes.saturating_sub(files);
        let base_unmapped = base.now_bytes.saturating_sub(base_files);
        let unmapped_at_peak = self.peak_bytes.saturating_sub(files);
        Some(unmapped_at_peak.max(unmapped).saturating_sub(base_unmapped))
    }
}

/// Resident memory of this process and its servers. There is no common peak of several processes, so servers count as they are now.
pub fn resident() -> io::Result<ResidentMemory> {
    let status = Status::from_file("/proc/self/status");
    let status = status.map_err(|error| io::Error::other(format!("reading the memory in use: {error}")))?;
    let bytes = |kib: Option<u64>| {
        kib.map(|kib| kib * 1024).ok_or_else(|| io::Error::other("/proc reports no memory"))
    };
    let (servers, files_of_servers) = children::memory_of(&children::processes())?;
    Ok(ResidentMemory {
        now_bytes: bytes(status.vmrss)? + servers,
        peak_bytes: bytes(status.vmhwm)? + servers,
        mapped_files_bytes: status.rssfile.map(|kib| kib * 1024 + files_of_servers),
    })
}

/// Makes the peak start anew from what is resident now.
pub(crate) fn reset_peak() -> io::Result<()> {
    std::fs::write("/proc/self/clear_refs", "5")
        .map_err(|error| io::Error::new(error.kind(), format!("writing /proc/self/clear_refs: {error}")))
}

/// Time since this process was started, to a clock tick (mostly 10 ms); `None` without /proc.
pub fn age() -> Option<Duration> {
    let started = Stat::from_file("/proc/self/stat").ok()?.starttime;
    let now = Uptime::from_file("/proc/uptime").ok()?.uptime;
    Duration::try_from_secs_f64(now - started as f64 / rustix::param::clock_ticks_per_second() as f64).ok()
}

/// Processor time of this process since it was started, and of its servers, ended ones included.
pub fn cpu() -> Cpu {
    let nanoseconds = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    let [own_usage, ended_children] = [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN].map(usage_of);
    let servers = children::cpu_of(&children::processes());
    Cpu {
        user_ns: nanoseconds(own_usage.ru_utime) + nanoseconds(ended_children.ru_utime) + servers.user_ns,
        system_ns: nanoseconds(own_usage.ru_stime) + nanoseconds(ended_children.ru_stime) + servers.system_ns,
    }
}

/// [`cpu`] in total and to the nanosecond: [`cpu`] may lag behind by a clock tick, and servers' time does here, too.
pub(super) fn cpu_now() -> Duration {
    let own_time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let own_time = Duration::try_from(own_time).unwrap_or_default();
    let servers = children::cpu_of(&children::processes());
    own_time + Duration::from_nanos(servers.user_ns + servers.system_ns)
}

pub(super) fn usage_of(who: libc::c_int) -> libc::rusage {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a rusage of our own, and all-zero is a valid rusage should the call fail.
    unsafe {
        libc::getrusage(who, usage.as_mut_ptr());
        usage.assume_init()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_seen_after_it_has_gone() {
        let is_seen = || {
            reset_peak().unwrap();
            let before = resident().unwrap();
            drop(std::hint::black_box(vec![1_u8; 64 << 20]));
            resident().unwrap().peak_bytes >= before.now_bytes + (60 << 20)
        };
        // Other tests of this process may give memory back, or forget the peak, in the midst of one look.
        assert!((0..10).any(|_| is_seen()));
    }

    #[test]
    fn pages_of_a_mapped_file_are_told_from_the_rest() {
        let bytes = 32 << 20;
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &vec![1_u8; bytes]).unwrap();
        reset_peak().unwrap();
        let base = resident().unwrap();
        // SAFETY: a new mapping of a file that stays open and is not shortened, unmapped below before its length is used again.
        let mapped = unsafe {
            let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
            libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, fd, 0)
        };
        assert_ne!(mapped, libc::MAP_FAILED);
        // SAFETY: all of the mapping is readable, and nobody writes to the file.
        let pages = unsafe { std::slice::from_raw_parts(mapped.cast::<u8>(), bytes) };
        let sum: usize = pages.iter().step_by(4096).map(|byte| usize::from(*byte)).sum();
        assert_eq!(sum, bytes / 4096);
        let after = resident().unwrap();
        // SAFETY: the mapping made above, whose slice is no longer used.
        assert_eq!(unsafe { libc::munmap(mapped, bytes) }, 0);
        // Other tests of this process take memory, too, but map no files.
        let grown = after.mapped_files_bytes.unwrap() - base.mapped_files_bytes.unwrap();
        assert!((30 << 20..64 << 20).contains(&grown), "{base:?} {after:?}");
        let resident = after.peak_bytes.saturating_sub(base.now_bytes);
        let unmapped = after.without_mapped_files_above(&base).unwrap();
        assert!(unmapped <= resident.saturating_sub(30 << 20), "{unmapped}: {base:?} {after:?}");
    }

    #[test]
    fn what_was_taken_besides_mapped_files_is_never_less_than_what_is_left_of_it() {
        let resident = |now_bytes, peak_bytes, mapped_files_bytes| ResidentMemory {
            now_bytes,
            peak_bytes,
            mapped_files_bytes,
        };
        let base = resident(10, 10, Some(4));
        // 6 of all else at the base. At the end 30 of all else and 60 of files; at the peak 10 more.
        assert_eq!(resident(90, 100, Some(60)).without_mapped_files_above(&base), Some(34));
        // The files came after the peak.
        assert_eq!(resident(90, 50, Some(60)).without_mapped_files_above(&base), Some(24));
        assert_eq!(resident(90, 100, None).without_mapped_files_above(&base), None);
        assert_eq!(resident(5, 5, Some(4)).without_mapped_files_above(&base), Some(0));
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
