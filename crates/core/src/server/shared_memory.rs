//! The few bytes of the system's shared memory by which some servers know whether another is at work on their data.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::known::{self, Segment};

/// More than any server keeps.
const MOST_BYTES: usize = 4096;

/// Gives back what the server of these data noted, if it is that user's, no process uses it, and it is as small.
pub fn give_back(data: &Path) {
    let Ok(owner) = fs::symlink_metadata(data).map(|data| data.uid()) else { return };
    let noted = known::all().iter().filter_map(|known| (known.shared_memory)(data));
    noted.for_each(|segment| remove(segment, owner));
}

fn remove(segment: Segment, owner: u32) {
    let mut about = std::mem::MaybeUninit::<libc::shmid_ds>::zeroed();
    // SAFETY: the structure is ours; all zeroes are a valid one.
    let about = unsafe {
        if libc::shmctl(segment.number, libc::IPC_STAT, about.as_mut_ptr()) != 0 {
            return;
        }
        about.assume_init()
    };
    let is_its = about.shm_perm.__key == segment.key
        && about.shm_perm.uid == owner
        && about.shm_segsz <= MOST_BYTES
        && about.shm_nattch == 0;
    if is_its {
        // SAFETY: the call takes no pointer; nobody has it mapped.
        unsafe { libc::shmctl(segment.number, libc::IPC_RMID, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment of so many bytes that a server has noted in its folder.
    fn noted(data: &Path, bytes: usize) -> i32 {
        known::add(&[&known::EXAMPLE]);
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
        let number = noted(data.path(), 56);
        give_back(data.path());
        assert!(!is_there(number));
        give_back(data.path());
    }

    #[test]
    fn what_is_in_use_or_of_another_size_stays() {
        let data = tempfile::tempdir().unwrap();
        let number = noted(data.path(), 1 << 20);
        give_back(data.path());
        assert!(is_there(number));
        let number = noted(data.path(), 56);
        // SAFETY: the system chooses the address; it is let go of below.
        let at = unsafe { libc::shmat(number, std::ptr::null(), 0) };
        give_back(data.path());
        // SAFETY: it was taken above, and nothing points to it.
        unsafe { libc::shmdt(at) };
        assert!(is_there(number));
    }
}
