//! The few bytes of the system's shared memory by which some servers know whether another is at work on their data.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::server_kind::{self, Segment};

/// Servers keep less.
const MOST_BYTES: usize = 4096;

/// Removes the shared memory of these data's server, if it is that user's, unused, and small. Waits at most this long for a killed
/// server to detach: the kernel hides its files before it has released its memory.
pub fn remove_shared_memory(data: &Path, longest: Duration) {
    let Ok(owner) = fs::symlink_metadata(data).map(|data| data.uid()) else { return };
    let segments = server_kind::all().iter().filter_map(|known| (known.shared_memory)(data));
    segments.for_each(|segment| remove(segment, owner, longest));
}

fn remove(segment: Segment, owner: u32, longest: Duration) {
    let number = match segment.number {
        Some(number) => number,
        // It would make one.
        None if segment.key == libc::IPC_PRIVATE => return,
        // SAFETY: the call takes no pointer, and makes nothing.
        None => unsafe { libc::shmget(segment.key, 0, 0) },
    };
    let start = Instant::now();
    while let Some(attached) = attach_count(number, segment.key, owner) {
        if attached == 0 {
            // SAFETY: the call takes no pointer; nobody has it mapped.
            unsafe { libc::shmctl(number, libc::IPC_RMID, std::ptr::null_mut()) };
        }
        if attached == 0 || start.elapsed() > longest {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The number of attached processes, if the segment is the expected one.
fn attach_count(number: i32, key: i32, owner: u32) -> Option<libc::shmatt_t> {
    let mut stat = std::mem::MaybeUninit::<libc::shmid_ds>::zeroed();
    // SAFETY: the structure is ours; all zeroes are a valid one.
    let stat = unsafe {
        if libc::shmctl(number, libc::IPC_STAT, stat.as_mut_ptr()) != 0 {
            return None;
        }
        stat.assume_init()
    };
    #[cfg(target_env = "musl")]
    #[expect(deprecated, reason = "the field will have the other's name")]
    let stored_key = stat.shm_perm.__ipc_perm_key;
    #[cfg(not(target_env = "musl"))]
    let stored_key = stat.shm_perm.__key;
    let is_server_segment = stored_key == key && stat.shm_perm.uid == owner && stat.shm_segsz <= MOST_BYTES;
    is_server_segment.then_some(stat.shm_nattch)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_WAIT: Duration = Duration::from_millis(20);

    /// A segment that a server has noted in its folder.
    fn make_segment(data: &Path, bytes: usize) -> i32 {
        server_kind::add(&[&server_kind::EXAMPLE]);
        let key = libc::IPC_PRIVATE;
        // SAFETY: no pointers; the tests give it back.
        let number = unsafe { libc::shmget(key, bytes, libc::IPC_CREAT | 0o600) };
        assert!(number >= 0);
        fs::write(data.join("segment"), format!("{key} {number}")).unwrap();
        number
    }

    fn is_there(number: i32) -> bool {
        // SAFETY: no pointers.
        unsafe { libc::shmctl(number, libc::IPC_RMID, std::ptr::null_mut()) == 0 }
    }

    #[test]
    fn what_a_server_noted_is_given_back() {
        let data = tempfile::tempdir().unwrap();
        let number = make_segment(data.path(), 56);
        remove_shared_memory(data.path(), MAX_WAIT);
        assert!(!is_there(number));
        remove_shared_memory(data.path(), MAX_WAIT);
    }

    /// A server was killed before it noted its segment.
    #[test]
    fn what_has_the_key_of_a_server_s_data_is_given_back() {
        let key = i32::try_from(std::process::id()).unwrap();
        // SAFETY: no pointers; it is given back below.
        let number = unsafe { libc::shmget(key, 56, libc::IPC_CREAT | libc::IPC_EXCL | 0o600) };
        assert!(number >= 0);
        // SAFETY: the call has no requirements.
        let owner = unsafe { libc::geteuid() };
        remove(Segment { key, number: None }, owner + 1, MAX_WAIT);
        remove(Segment { key: key + 1, number: Some(number) }, owner, MAX_WAIT);
        assert_eq!(attach_count(number, key, owner), Some(0));
        remove(Segment { key, number: None }, owner, MAX_WAIT);
        assert!(!is_there(number));
    }

    #[test]
    fn what_is_in_use_or_of_another_size_stays() {
        let data = tempfile::tempdir().unwrap();
        let number = make_segment(data.path(), 1 << 20);
        remove_shared_memory(data.path(), MAX_WAIT);
        assert!(is_there(number));
        let number = make_segment(data.path(), 56);
        // SAFETY: the system chooses the address; it is let go of below.
        let address = unsafe { libc::shmat(number, std::ptr::null(), 0) };
        remove_shared_memory(data.path(), MAX_WAIT);
        // SAFETY: it was taken above, and nothing points to it.
        unsafe { libc::shmdt(address) };
        assert!(is_there(number));
    }
}
