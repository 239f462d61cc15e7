//! Closed folders above a server's data, such as a private home: as root, storebench runs the server as a user that can't pass
//! them. Some servers reach their files through open folders; the others get one right of root's: to pass.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use storebench_core::server::{User, owner_of};

/// The right that root can pass on here: to pass and read what is closed. Containers mostly lack it, and have the one to write, too.
#[cfg(target_os = "linux")]
pub fn right_to_pass() -> Option<rustix::thread::CapabilitySet> {
    use rustix::thread::{CapabilitySet, capabilities};
    let permitted = capabilities(None).ok()?.permitted;
    [CapabilitySet::DAC_READ_SEARCH, CapabilitySet::DAC_OVERRIDE]
        .into_iter()
        .find(|right| permitted.contains(*right))
}

/// Takes on the right to pass, after a change of user that kept permitted rights. Called between fork and exec: it only makes
/// system calls.
#[cfg(target_os = "linux")]
pub fn take_right(right: rustix::thread::CapabilitySet) -> std::io::Result<()> {
    use rustix::thread::{CapabilitySets, configure_capability_in_ambient_set, set_capabilities};
    set_capabilities(None, CapabilitySets { effective: right, permitted: right, inheritable: right })?;
    Ok(configure_capability_in_ambient_set(right, true)?)
}

/// The topmost folder above the data that the server, running as another user, can't pass.
pub fn closed_above(folder: &Path) -> Option<(PathBuf, &'static User)> {
    let user = owner_of(folder)?;
    #[cfg(target_os = "linux")]
    if right_to_pass().is_some() {
        return None;
    }
    closed_for(user.uid, user.gid, folder).map(|closed| (closed, user))
}

fn closed_for(uid: u32, gid: u32, folder: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    let parents: Vec<&Path> = folder.ancestors().skip(1).collect();
    let is_closed = |path: &Path| {
        let pass_bit = |metadata: fs::Metadata| match () {
            () if metadata.uid() == uid => metadata.mode() & 0o100,
            () if metadata.gid() == gid => metadata.mode() & 0o010,
            () => metadata.mode() & 0o001,
        };
        fs::metadata(path).is_ok_and(|metadata| pass_bit(metadata) == 0)
    };
    parents.into_iter().rev().find(|path| is_closed(path)).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_topmost_folder_that_is_closed_is_found() {
        let root = tempfile::tempdir().unwrap();
        let (outer, inner) = (root.path().join("outer"), root.path().join("outer/inner"));
        let data = inner.join("own");
        fs::create_dir_all(&data).unwrap();
        let metadata = fs::metadata(&data).unwrap();
        let (uid, gid) = (metadata.uid() + 1, metadata.gid() + 1);
        let set_modes = |root_mode: u32, outer_mode: u32, inner_mode: u32| {
            for (path, mode) in [(root.path(), root_mode), (&outer, outer_mode), (&inner, inner_mode)] {
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            }
        };
        let canonical = |path: &Path| Some(fs::canonicalize(path).unwrap());
        set_modes(0o711, 0o700, 0o700);
        assert_eq!(closed_for(uid, gid, &data), canonical(&outer));
        assert_eq!(closed_for(metadata.uid(), gid, &data), None);
        set_modes(0o711, 0o711, 0o710);
        assert_eq!(closed_for(uid, gid, &data), canonical(&inner));
        assert_eq!(closed_for(uid, metadata.gid(), &data), None, "its group passes");
        set_modes(0o711, 0o711, 0o755);
        assert_eq!(closed_for(uid, gid, &data), None);
    }
}
