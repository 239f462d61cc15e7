//! Cgroups for one trial: what the kernel charges to one is memory with the page cache included, and others hold the trial to
//! limits ([`crate::measure::limit`]). The parent makes and removes them; the trial joins just before its store is opened, so
//! that what is charged is the store's.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::guard::{Folder, Lock, try_lock};
use crate::kernel::cgroups::{self, Membership, Version};
use crate::measure::limit::Controller;

/// The prefix of cgroup names; the process number of the maker and a counter follow.
const PREFIX: &str = "storebench-";
/// Names tried for a cgroup: containers can count their processes alike.
const MAX_GROUPS: u32 = 1000;

impl Version {
    /// The file with what is charged now, the line of `memory.stat` with the page cache in it, and the file with the peak.
    fn usage_files(self) -> [&'static str; 3] {
        match self {
            Version::V1 => ["memory.usage_in_bytes", "cache", "memory.max_usage_in_bytes"],
            Version::V2 => ["memory.current", "file", "memory.peak"],
        }
    }
}

/// Where cgroups for trials can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CgroupParent {
    folder: PathBuf,
    pub(crate) version: Version,
    /// This process's cgroup, whose limits those made here must not escape.
    own_folder: PathBuf,
}

/// A trial's cgroup, as the trial knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialCgroup {
    /// Where it is.
    pub folder: PathBuf,
    /// Which of the kernel's interfaces.
    pub version: Version,
}

/// A trial's cgroup, as its maker holds it: the folder stays locked, so that nobody removes it before the trial has joined.
#[derive(Debug)]
pub struct HeldCgroup {
    /// The cgroup as the trial knows it.
    pub group: TrialCgroup,
    lock: fs::File,
}

impl Drop for HeldCgroup {
    /// Unlocks explicitly: a process that another thread starts holds the same lock until it runs its program.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

impl CgroupParent {
    /// Finds where this process may make cgroups that count memory; `try_out` tries one and removes it.
    pub fn find(try_out: impl FnMut(&CgroupParent) -> Result<(), String>) -> Result<CgroupParent, String> {
        let reason = "this system has no cgroups that count memory".into();
        CgroupParent::first(Controller::Memory, reason, try_out)
    }

    fn candidates(controller: Controller) -> Vec<CgroupParent> {
        candidates(controller, &cgroups::own_memberships())
    }

    /// The first candidate that passes a check, or why the last one does not.
    fn first(
        controller: Controller,
        mut reason: String,
        mut check: impl FnMut(&CgroupParent) -> Result<(), String>,
    ) -> Result<CgroupParent, String> {
        for parent in CgroupParent::candidates(controller) {
            match parent.check_may_be_left().and_then(|()| check(&parent)) {
                Ok(()) => return Ok(parent),
                Err(error) => reason = error,
            }
        }
        Err(reason)
    }

    /// Where cgroups with this controller can be made, as far as files and permissions show. The error says why there is no such place.
    pub(crate) fn with_controller(controller: Controller) -> Result<CgroupParent, String> {
        let reason = format!("this system has no cgroups for {}", controller.name());
        CgroupParent::first(controller, reason, |parent| parent.check_controller(controller))
    }

    fn check_controller(&self, controller: Controller) -> Result<(), String> {
        if self.version == Version::V2 {
            let path = self.folder.join("cgroup.subtree_control");
            let text = fs::read_to_string(&path).unwrap_or_default();
            if !text.split_whitespace().any(|passed_on| passed_on == controller.name()) {
                return Err(format!("{} does not pass on {}", path.display(), controller.name()));
            }
        }
        let procs = self.folder.join("cgroup.procs");
        let writable_paths =
            [Some(self.folder.as_path()), (self.version == Version::V2).then_some(procs.as_path())];
        for path in writable_paths.into_iter().flatten() {
            rustix::fs::access(path, rustix::fs::Access::WRITE_OK)
                .map_err(|error| format!("{} can't be written ({error})", path.display()))?;
        }
        Ok(())
    }

    /// Whether one cgroup can serve both: they lie in one folder.
    pub fn is_beside(&self, other: &CgroupParent) -> bool {
        self.folder == other.folder
    }

    /// Whether a memory limit made here holds swap, too, as far as is known before one is made.
    pub(crate) fn limits_swap(&self) -> bool {
        match self.version {
            Version::V1 => self.folder.join("memory.memsw.limit_in_bytes").exists(),
            // The top has no such file, and what is made there has.
            Version::V2 => self.own_folder == self.folder || self.own_folder.join("memory.swap.max").exists(),
        }
    }

    /// A home for tests.
    #[cfg(test)]
    pub fn sample(version: Version) -> CgroupParent {
        CgroupParent { folder: "/nowhere".into(), version, own_folder: "/nowhere".into() }
    }

    /// An unused path for a trial's cgroup.
    pub fn unused(&self) -> Result<PathBuf, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("{PREFIX}{}", std::process::id());
        let names = (0..MAX_GROUPS).map(|_| format!("{name}-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
        let found =
            names.map(|name| self.folder.join(name)).find(|folder| fs::symlink_metadata(folder).is_err());
        found.ok_or_else(|| {
            format!("{} holds {MAX_GROUPS} cgroups whose names begin with {name}", self.folder.display())
        })
    }

    /// Makes a cgroup at a path that was [`CgroupParent::unused`]. After a failure it may be there.
    pub fn make(&self, folder: &Path) -> Result<HeldCgroup, String> {
        let describe_error =
            |action: &str, path: &Path, error: io::Error| format!("{action} {}: {error}", path.display());
        fs::create_dir(folder).map_err(|error| describe_error("making the cgroup", folder, error))?;
        let lock = fs::File::open(folder).and_then(|lock| try_lock(&lock).map(|_| lock));
        let lock = lock.map_err(|error| describe_error("locking the cgroup", folder, error))?;
        let group = TrialCgroup { folder: folder.to_path_buf(), version: self.version };
        // Joining takes the right to write here and, in version 2, in the cgroup that both lie in.
        let joined_folders = [Some(folder), (self.version == Version::V2).then_some(self.folder.as_path())];
        for procs in joined_folders.into_iter().flatten().map(|folder| folder.join("cgroup.procs")) {
            let opened = fs::OpenOptions::new().write(true).open(&procs);
            opened.map_err(|error| describe_error("joining a cgroup needs", &procs, error))?;
        }
        Ok(HeldCgroup { group, lock })
    }

    /// Refuses to let a trial leave this process's cgroup for one made here if it would escape a limit.
    fn check_may_be_left(&self) -> Result<(), String> {
        if self.version == Version::V1 {
            return Ok(());
        }
        let left_folders = self.own_folder.ancestors().take_while(|folder| *folder != self.folder);
        for limit in left_folders.flat_map(|folder| LIMITS.map(|name| folder.join(name))) {
            let text = fs::read_to_string(&limit).unwrap_or_default();
            if !(text.trim().is_empty() || text.starts_with("max")) {
                let limit = limit.display();
                return Err(format!("a separate cgroup would let the trial escape {limit}"));
            }
        }
        Ok(())
    }

    /// Checks that a cgroup made here reports its peak.
    pub fn tells_peak(&self, held: &HeldCgroup) -> Result<(), String> {
        let peak = held.group.peak_file();
        match peak.exists() {
            true => Ok(()),
            false => Err(format!("the cgroup does not report its peak: there is no {}", peak.display())),
        }
    }

    fn sweep(&self) -> Vec<PathBuf> {
        let Ok(parent) = Folder::open(&self.folder) else { return Vec::new() };
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let abandoned = entries.filter(|entry| {
            let pid = pid_of_maker(&entry.file_name());
            pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists())
        });
        let removed = abandoned.filter(|entry| remove_from(&parent, &entry.file_name()));
        removed.map(|entry| entry.path()).collect()
    }
}

/// Limits of version 2 that a process would escape in another cgroup; those without a limit are empty or begin with `max`.
const LIMITS: [&str; 6] =
    ["memory.max", "memory.high", "memory.swap.max", "cpu.max", "io.max", "cpuset.cpus"];

/// Removes the cgroups of storebench whose process is gone, wherever [`CgroupParent::find`] would look; gives those removed. A killed
/// run's ledger names them; this is for lost ledgers, and for versions without one.
pub fn clean() -> Vec<PathBuf> {
    let parents = Controller::ALL.into_iter().flat_map(CgroupParent::candidates);
    let removed: BTreeSet<PathBuf> = parents.flat_map(|parent| parent.sweep()).collect();
    removed.into_iter().collect()
}

/// Removes a cgroup that storebench made, once its processes have ended; gives whether it did. What is no cgroup, has another's
/// name or owner, is at work, or is locked by another process stays.
pub fn remove(folder: &Path) -> bool {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else { return false };
    Folder::open(parent).is_ok_and(|parent| is_cgroup(&parent) && remove_from(&parent, name))
}

/// Removes an entry of a folder of cgroups, under the same conditions.
fn remove_from(parent: &Folder, name: &OsStr) -> bool {
    let Ok(group) = parent.open_subfolder(name) else { return false };
    // In another container processes have other numbers, but locks work there.
    let is_ours = pid_of_maker(name).is_some() && matches!(group.foreign_owner(), Ok(None));
    if !is_ours || !try_lock(group.handle()).is_ok_and(|lock| lock != Lock::Held) {
        return false;
    }
    // Only one without processes can be removed. One that has just ended may count for a moment longer.
    for _ in 0..50 {
        match parent.remove_empty(name) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                std::thread::sleep(Duration::from_millis(10));
            }
            removed => return removed.is_ok(),
        }
    }
    false
}

fn pid_of_maker(name: &OsStr) -> Option<u32> {
    let mut numbers = name.to_str()?.strip_prefix(PREFIX)?.splitn(2, '-').map(str::parse::<u32>);
    let pid = numbers.next()?.ok()?;
    numbers.all(|number| number.is_ok()).then_some(pid)
}

// The type of these numbers differs between systems.
#[allow(clippy::unnecessary_cast)]
fn is_cgroup(folder: &Folder) -> bool {
    #[cfg(target_os = "linux")]
    {
        let kinds = [libc::CGROUP_SUPER_MAGIC, libc::CGROUP2_SUPER_MAGIC].map(|kind| kind as i64);
        rustix::fs::fstatfs(folder.handle()).is_ok_and(|system| kinds.contains(&(system.f_type as i64)))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        false
    }
}

impl TrialCgroup {
    /// Moves this process, all its threads, into the cgroup: what it takes from now on is charged there.
    pub fn join(&self) -> Result<(), String> {
        let procs = self.folder.join("cgroup.procs");
        fs::write(&procs, "0").map_err(|error| format!("joining {}: {error}", procs.display()))
    }

    /// The bytes charged now, and how many of them are page cache.
    pub fn charged(&self) -> Option<(u64, u64)> {
        let [file, line, _] = self.version.usage_files();
        let read = |name: &str| fs::read_to_string(self.folder.join(name)).ok();
        let stat = read("memory.stat")?;
        let cache = stat.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(' '))?;
        Some((read(file)?.trim().parse().ok()?, cache.trim().parse().ok()?))
    }

    fn peak_file(&self) -> PathBuf {
        let [.., peak] = self.version.usage_files();
        self.folder.join(peak)
    }

    /// The most that was charged at once, in bytes: memory of its processes, page cache that they were the first to fill, and
    /// what the kernel keeps for them. The kernel charges in steps of up to 256 KiB a processor.
    pub fn peak_bytes(&self) -> Result<u64, String> {
        let path = self.peak_file();
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        text.trim().parse().map_err(|_| format!("{} says {:?}", path.display(), text.trim()))
    }
}

/// Where cgroups could be made, the best first. In version 1 that is within this process's own cgroup. In version 2 a cgroup with
/// processes can't have one with memory below it, so it is next to one's own, or at the top.
fn candidates(controller: Controller, memberships: &[Membership]) -> Vec<CgroupParent> {
    let mut parents = Vec::new();
    let relevant = memberships.iter().filter(|membership| membership.is_for(controller.v1()));
    for Membership { version, top, folder: own_folder, .. } in relevant {
        let folders = match version {
            Version::V1 => vec![own_folder.clone()],
            Version::V2 if own_folder == top => vec![top.clone()],
            Version::V2 => vec![own_folder.parent().unwrap_or(top).to_path_buf(), top.clone()],
        };
        let parent = |folder| CgroupParent { folder, version: *version, own_folder: own_folder.clone() };
        parents.extend(folders.into_iter().map(parent));
    }
    parents.dedup();
    parents
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::mounts;

    const V1: &str = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
        32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
        35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
        40 31 0:37 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
    const V2: &str = "26 22 0:24 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

    fn parents_of(controller: Controller, cgroups: &str, mounts: &str) -> Vec<CgroupParent> {
        candidates(
            controller,
            &cgroups::parse_memberships(cgroups.as_bytes(), &mounts::parse(mounts.as_bytes())),
        )
    }

    fn parent_at(folder: &Path, own_name: &str) -> CgroupParent {
        CgroupParent { folder: folder.into(), version: Version::V2, own_folder: folder.join(own_name) }
    }

    fn parent_folders(cgroups: &str, mounts: &str) -> Vec<(Version, String)> {
        let parents = parents_of(Controller::Memory, cgroups, mounts);
        parents.iter().map(|parent| (parent.version, parent.folder.display().to_string())).collect()
    }

    #[test]
    fn version_1_is_below_ones_own_and_version_2_beside_it_or_at_the_top() {
        let v1 = parent_folders("4:memory:/a/b\n1:cpu:/\n0::/\n", V1);
        let [own, unified] = ["memory/a/b", "unified"].map(|path| format!("/sys/fs/cgroup/{path}"));
        assert_eq!(v1, [(Version::V1, own), (Version::V2, unified)]);
        let v2 = parent_folders("0::/user.slice/user-1000.slice/session-2.scope\n", V2);
        let slice = "/sys/fs/cgroup/user.slice/user-1000.slice".to_owned();
        assert_eq!(v2, [(Version::V2, slice), (Version::V2, "/sys/fs/cgroup".into())]);
        assert_eq!(parent_folders("0::/\n", V2), [(Version::V2, "/sys/fs/cgroup".into())]);
        assert_eq!(parent_folders("0::/a.slice\n", V2), [(Version::V2, "/sys/fs/cgroup".into())]);
        // Each controller of version 1 has a hierarchy of its own.
        let parents_of_cpu = parents_of(Controller::Cpu, "4:memory:/a/b\n1:cpu,cpuacct:/c\n", V1);
        let [parent] = parents_of_cpu.as_slice() else { panic!("{parents_of_cpu:?}") };
        assert_eq!(parent.folder, Path::new("/sys/fs/cgroup/cpu/c"));
        assert_eq!(parents_of(Controller::Io, "1:cpu:/c\n", V1), []);
    }

    #[test]
    fn version_2_hosts_what_it_passes_on() {
        let top = tempfile::tempdir().unwrap();
        let parent = parent_at(top.path(), "own");
        fs::write(top.path().join("cgroup.subtree_control"), "cpu memory pids\n").unwrap();
        fs::write(top.path().join("cgroup.procs"), "").unwrap();
        for controller in [Controller::Memory, Controller::Cpu] {
            assert_eq!(parent.check_controller(controller), Ok(()));
        }
        let error = parent.check_controller(Controller::Io).unwrap_err();
        assert!(error.ends_with("cgroup.subtree_control does not pass on io"), "{error}");
        fs::remove_file(top.path().join("cgroup.procs")).unwrap();
        let error = parent.check_controller(Controller::Memory).unwrap_err();
        assert!(error.contains("cgroup.procs can't be written"), "{error}");
    }

    /// Where this process may make cgroups: elsewhere the reason is printed.
    #[test]
    fn a_group_is_charged_for_the_page_cache_and_leaves_nothing_behind() {
        let try_out = |parent: &CgroupParent| {
            let folder = parent.unused()?;
            let held = parent.make(&folder).map(drop);
            assert!(remove(&folder) || held.is_err());
            held
        };
        let parent = match CgroupParent::find(try_out) {
            Ok(parent) => parent,
            Err(reason) => return println!("not tried: {reason}"),
        };
        let files = tempfile::tempdir().unwrap();
        let held = parent.make(&parent.unused().unwrap()).unwrap();
        let script = "echo 0 > \"$0/cgroup.procs\"; head -c 8388608 /dev/zero > \"$1/file\"";
        let arguments = [held.group.folder.as_path(), files.path()];
        let status = std::process::Command::new("sh").args(["-euc", script]).args(arguments).status();
        assert!(status.unwrap().success());
        assert!(held.group.peak_bytes().unwrap() >= 8 << 20);
        let (memory_bytes, page_cache) = held.group.charged().unwrap();
        assert!(page_cache >= 8 << 20 && memory_bytes >= page_cache, "{memory_bytes} {page_cache}");
        let folder = held.group.folder.clone();
        assert_ne!(parent.unused().unwrap(), folder);
        assert!(!remove(&folder), "it is locked");
        drop(held);
        // A process that has ended counts for a moment longer, and another test may remove what nobody holds any more.
        let deadline = std::time::Instant::now() + Duration::from_secs(60);
        while folder.exists() && std::time::Instant::now() < deadline {
            remove(&folder);
        }
        assert!(!folder.exists() && !remove(&folder));
    }

    #[test]
    fn only_cgroups_of_storebenchs_names_are_removed() {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join("storebench-1");
        fs::create_dir(&folder).unwrap();
        assert!(!remove(&folder) && folder.exists(), "it is no cgroup");
        let pid_of = |name: &str| pid_of_maker(OsStr::new(name));
        assert_eq!((pid_of("storebench-12"), pid_of("storebench-12-3")), (Some(12), Some(12)));
        for name in ["storebench-", "storebench-x", "storebench-1-x", "storebench-1-2-3", "other-1", ".."] {
            assert_eq!(pid_of(name), None, "{name}");
        }
    }

    #[test]
    fn a_limit_is_not_escaped() {
        let top = tempfile::tempdir().unwrap();
        let own_folder = top.path().join("limited.scope");
        fs::create_dir(&own_folder).unwrap();
        let parent = parent_at(top.path(), "limited.scope");
        fs::write(own_folder.join("memory.max"), "max\n").unwrap();
        fs::write(own_folder.join("cpu.max"), "max 100000\n").unwrap();
        fs::write(own_folder.join("io.max"), "").unwrap();
        assert_eq!(parent.check_may_be_left(), Ok(()));
        fs::write(own_folder.join("cpu.max"), "50000 100000\n").unwrap();
        assert!(parent.check_may_be_left().unwrap_err().contains("limited.scope/cpu.max"));
        // The limits of the home hold for each cgroup that is made there.
        fs::remove_file(own_folder.join("cpu.max")).unwrap();
        fs::write(top.path().join("memory.max"), "1000\n").unwrap();
        assert_eq!(parent.check_may_be_left(), Ok(()));
    }

    #[test]
    fn what_a_killed_run_left_is_swept_and_what_lives_is_not() {
        let top = tempfile::tempdir().unwrap();
        let folder = |name: &str| top.path().join(name);
        let living = format!("{PREFIX}{}", std::process::id());
        // No process has this number: the kernel's largest is 2^22.
        for name in [living.as_str(), "storebench-4194305", "storebench-notes", "other"] {
            fs::create_dir(folder(name)).unwrap();
        }
        let parent = parent_at(top.path(), "own");
        // A run in another container made it.
        fs::create_dir(folder("storebench-4194306")).unwrap();
        let held = fs::File::open(folder("storebench-4194306")).unwrap();
        assert_eq!(try_lock(&held).unwrap(), Lock::Taken);
        assert_eq!(parent.sweep(), [folder("storebench-4194305")]);
        drop(held);
        // A child that another test has just started holds the lock, too, until it runs its program.
        let swept = std::iter::repeat_with(|| parent.sweep())
            .inspect(|_| std::thread::sleep(std::time::Duration::from_millis(5)))
            .take(1000)
            .find(|swept| !swept.is_empty());
        assert_eq!(swept, Some(vec![folder("storebench-4194306")]));
        assert!(folder(&living).exists() && folder("storebench-notes").exists() && folder("other").exists());
    }
}
