//! A trial's stage: the resources that it needs outside its process. The parent takes them in order, notes each in a ledger on the disk
//! before making it, and releases them in reverse, however the trial ends. The ledger of a killed run serves `storebench clean` and the
//! next start in the same place to release what is left. To hold a new kind: a [`Note`] that says how it is released, and a method of
//! [`Stage`] that makes it.

pub(crate) mod ledger;
mod note;
mod process;
mod spread;

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use crate::image::mount::{MountedImage, Site};
use ledger::{Ledger, Leftovers};
pub use note::STORE;
use note::{Note, Owner};
use process::Process;
use spread::Spread;
use storebench_core::guard::Folder;
use storebench_core::measure::cgroup::{CgroupParent, HeldCgroup, TrialCgroup};
use storebench_model::error::{Error, Exit, Result};
use storebench_model::server::running;
use storebench_model::simulated::{DISK, ServedDisk};

/// All resources of one work folder, in the order in which they were taken, and the folder's ledger.
pub(crate) struct Holdings {
    pub folder: Folder,
    pub ledger: Ledger,
    resources: Vec<HeldResource>,
    spread: Spread,
}

struct HeldResource {
    note: Note,
    /// Keeps others from removing a cgroup before the trial has joined it.
    group: Option<HeldCgroup>,
    /// Ends the server of a simulated disk.
    served: Option<ServedDisk>,
}

impl Holdings {
    /// Nothing yet except the folder and its ledger.
    pub fn new(folder: Folder, ledger: Ledger) -> Holdings {
        Holdings { folder, ledger, resources: Vec::new(), spread: Spread::default() }
    }

    pub fn stage(&mut self) -> Stage<'_> {
        let earlier_count = self.resources.len();
        Stage { holdings: self, earlier_count }
    }

    /// Releases everything. Returns the first error; what could not be released is still held and noted.
    pub fn release(&mut self) -> Result<()> {
        self.release_after(0)
    }

    fn note(&mut self, note: Note) -> io::Result<()> {
        self.ledger.note(&note)?;
        self.resources.push(HeldResource { note, group: None, served: None });
        Ok(())
    }

    /// A new file in the work folder; an existing one of this name is deleted.
    fn empty_file(&self, name: &str) -> io::Result<File> {
        self.folder.remove(OsStr::new(name))?;
        self.folder.make_file(OsStr::new(name))
    }

    /// Makes a new folder for a mount in the work folder; an existing file or folder of this name is deleted.
    fn empty_folder(&self, name: &str) -> Result<()> {
        let path = self.folder.path().join(name);
        self.folder.remove(OsStr::new(name)).map_err(Error::io("deleting", &path))?;
        self.folder.make(OsStr::new(name), 0o700).map_err(Error::io("making", &path)).map(drop)
    }

    fn strike_last(&mut self) {
        self.ledger.strike_last();
        self.resources.pop();
    }

    fn owner(&self) -> Owner<'_> {
        Owner { folder: &self.folder, pid: std::process::id() }
    }

    /// Releases in reverse all that was taken after the first `earlier_count`. What can't be released stays noted, and so does
    /// everything taken before it, though that is released: releasing it once more changes nothing.
    fn release_after(&mut self, earlier_count: usize) -> Result<()> {
        let mut result = Ok(());
        for index in (earlier_count..self.resources.len()).rev() {
            // Locked resources belong to others, as far as the release can tell.
            drop(self.resources[index].group.take());
            let note = &self.resources[index].note;
            if let Note::Folder { name } = note {
                self.spread.note_deletion(&self.folder, OsStr::new(name));
            }
            match note.release(self.owner()) {
                Ok(_) if result.is_ok() => self.strike_last(),
                Ok(_) => {}
                Err(error) => {
                    let path = note.path(self.owner());
                    let kept_by_server = running::is_undropped(&error);
                    let error = Error::io("deleting", &path)(error);
                    let exit = if kept_by_server { Exit::Unreachable } else { error.exit };
                    result = result.and(Err(Error { exit, ..error }));
                }
            }
        }
        result
    }
}

/// The resources of one trial. Dropping it releases them all, the last first.
pub struct Stage<'a> {
    holdings: &'a mut Holdings,
    /// The number of resources that were held before it.
    earlier_count: usize,
}

impl Stage<'_> {
    /// A stage upon this one, which releases what it takes itself.
    pub fn inner(&mut self) -> Stage<'_> {
        let earlier_count = self.holdings.resources.len();
        Stage { holdings: &mut *self.holdings, earlier_count }
    }

    /// Takes an empty folder in the work folder; an existing one of this name is deleted.
    pub fn folder(&mut self, name: &str) -> Result<PathBuf> {
        let path = self.work().join(name);
        self.take_noted(Note::Folder { name: name.to_owned() }, |holdings| {
            holdings.folder.remove(OsStr::new(name)).map_err(Error::io("deleting", &path))?;
            holdings.spread.make(&holdings.folder, name).map_err(Error::io("making", &path))
        })?;
        Ok(path)
    }

    /// Takes an empty file in the work folder; an existing one of this name is deleted.
    pub fn file(&mut self, name: &str) -> Result<(PathBuf, File)> {
        let path = self.work().join(name);
        let file = self.take_noted(Note::Folder { name: name.to_owned() }, |holdings| {
            holdings.empty_file(name).map_err(Error::io("making", &path))
        })?;
        Ok((path, file))
    }

    /// Takes a file system: `mount` gets an empty file for the image and the empty folder in the work folder to mount it at, whose path
    /// this returns. If it can't be noted, made or mounted, nothing of it remains.
    pub fn mount(
        &mut self,
        name: &str,
        mount: impl FnOnce(&File, Site<'_>) -> io::Result<MountedImage>,
    ) -> Result<(PathBuf, MountedImage)> {
        self.mount_image(format!("{name}.image"), name, mount, Holdings::empty_file)
    }

    fn mount_image(
        &mut self,
        image: String,
        name: &str,
        mount: impl FnOnce(&File, Site<'_>) -> io::Result<MountedImage>,
        open: impl FnOnce(&Holdings, &str) -> io::Result<File>,
    ) -> Result<(PathBuf, MountedImage)> {
        let (mount_point, image_path) = (self.work().join(name), self.work().join(&image));
        let note = Note::Mount { image: image.clone(), at: name.to_owned() };
        let mounted = self.take_noted(note, |holdings| {
            holdings.empty_folder(name)?;
            let file = open(holdings, &image).map_err(Error::io("making", &image_path))?;
            let site = Site { folder: holdings.folder.handle(), image: &image, at: name };
            mount(&file, site).map_err(Error::io("mounting a file system at", &mount_point))
        })?;
        Ok((mount_point, mounted))
    }

    /// Takes a simulated disk, which `start` serves in the given folder; returns the folder's path. If that fails, nothing of it remains.
    pub fn disk(
        &mut self,
        name: &str,
        start: impl FnOnce(&Path) -> io::Result<ServedDisk>,
    ) -> Result<PathBuf> {
        let mount_point = self.work().join(name);
        let note = |process| Note::Disk { at: name.to_owned(), process };
        // Until the number is noted, only the process's own lifeline ends it.
        let served = self.take_noted(note(None), |holdings| {
            holdings.empty_folder(name)?;
            start(&mount_point).map_err(Error::io("serving a disk at", &mount_point))
        })?;
        // The first note stays: whatever happens to this one, the mount is known.
        let noted = self.holdings.note(note(Some(Process::from_pid(served.id()))));
        noted.map_err(Error::io("writing", &self.work().join(ledger::NAME)))?;
        if let Some(resource) = self.holdings.resources.last_mut() {
            resource.served = Some(served);
        }
        Ok(mount_point)
    }

    /// Takes a file system on a simulated disk that was taken under a name, like [`Stage::mount`].
    pub fn mount_on(
        &mut self,
        disk: &str,
        name: &str,
        mount: impl FnOnce(&File, Site<'_>) -> io::Result<MountedImage>,
    ) -> Result<(PathBuf, MountedImage)> {
        let image = format!("{disk}/{DISK}");
        self.mount_image(image, name, mount, |holdings, image| {
            File::options().read(true).write(true).open(holdings.folder.path().join(image))
        })
    }

    /// Takes a cgroup that counts memory; returns what the trial needs to know of it.
    pub fn group(&mut self, parent: &CgroupParent) -> std::result::Result<TrialCgroup, String> {
        self.take_cgroup(parent, |cgroup| parent.tells_peak(cgroup))
    }

    /// Takes a cgroup that limits the trial; returns what the trial needs to know of it.
    pub fn limiting_group(&mut self, parent: &CgroupParent) -> std::result::Result<TrialCgroup, String> {
        self.take_cgroup(parent, |_| Ok(()))
    }

    fn take_cgroup(
        &mut self,
        parent: &CgroupParent,
        check: impl FnOnce(&HeldCgroup) -> std::result::Result<(), String>,
    ) -> std::result::Result<TrialCgroup, String> {
        let folder = parent.unused()?;
        let note = Note::Group { folder: folder.clone() };
        let describe_error = |error| format!("noting the cgroup {}: {error}", folder.display());
        let cgroup = self.take(note, describe_error, |_| {
            let cgroup = parent.make(&folder)?;
            check(&cgroup).map(|()| cgroup)
        })?;
        let group = cgroup.group.clone();
        if let Some(resource) = self.holdings.resources.last_mut() {
            resource.group = Some(cgroup);
        }
        Ok(group)
    }

    /// Takes a background load's process, which `start` starts in a separate group and whose number `number` returns. The caller
    /// ends it; the note is for the case that this process is killed before.
    pub fn load<T>(
        &mut self,
        start: impl FnOnce() -> io::Result<T>,
        number: impl FnOnce(&T) -> u32,
    ) -> io::Result<T> {
        // Until the number is noted, only the process's own lifeline ends it.
        let started = self.take(Note::Load { process: None }, |error| error, |_| start())?;
        self.holdings.strike_last();
        self.holdings.note(Note::Load { process: Some(Process::from_pid(number(&started))) })?;
        Ok(started)
    }

    /// The work folder that holds everything.
    pub fn work(&self) -> &Path {
        self.holdings.folder.path()
    }

    /// Releases all that it took, the last first; more can be taken after that. Returns the first error, [`Exit::Unreachable`] if a
    /// server keeps what was made there; what could not be released is tried again when the run ends, and at the next start.
    pub fn release(&mut self) -> Result<()> {
        self.holdings.release_after(self.earlier_count)
    }

    /// Keeps what it took until the run ends.
    pub fn keep(mut self) {
        self.earlier_count = self.holdings.resources.len();
    }

    fn take_noted<T>(&mut self, note: Note, make: impl FnOnce(&mut Holdings) -> Result<T>) -> Result<T> {
        let ledger = self.work().join(ledger::NAME);
        self.take(note, Error::io("writing", &ledger), make)
    }

    /// Notes a resource, then makes it. If that fails, an incomplete one is released.
    fn take<T, E>(
        &mut self,
        note: Note,
        describe_error: impl FnOnce(io::Error) -> E,
        make: impl FnOnce(&mut Holdings) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.holdings.note(note).map_err(describe_error)?;
        let last = self.holdings.resources.len() - 1;
        make(self.holdings).inspect_err(|_| {
            // The first error says more than one during release.
            let _ = self.holdings.release_after(last);
        })
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        // A resource that can't be released stays noted.
        let _ = self.release();
    }
}

impl Leftovers {
    /// Releases in reverse what an ended run left; returns what was outside the work folder. What the run had released itself is released
    /// once more, which changes nothing. If one can't be released, those taken before it stay, too.
    pub fn release(&self, folder: &Folder) -> io::Result<Vec<PathBuf>> {
        let owner = Owner { folder, pid: self.pid };
        let mut outside = Vec::new();
        for note in self.notes.iter().rev() {
            outside.extend(note.release(owner)?);
        }
        Ok(outside)
    }
}

impl fmt::Debug for Holdings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.resources.iter().map(|resource| &resource.note)).finish()
    }
}

#[cfg(test)]
mod tests;
