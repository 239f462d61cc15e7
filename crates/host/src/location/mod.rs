//! The places where stores' files are.

pub mod abandoned;
pub mod backing_device;
pub mod directory;
pub mod image;
pub mod transit;

use std::path::{Path, PathBuf};

use self::directory::WorkFolder;
use self::image::Template;
use storebench_core::measure::probe::Probe;
use storebench_model::axis::file_system::FileSystem;
use storebench_model::error::Result;
use storebench_model::result::StorageBacking;
use storebench_model::simulated::SimulatedDisk;

/// The size of an image that is only probed, in bytes: more than a probe writes.
const PROBED_BYTES: u64 = 128 << 20;

/// A place for stores' files.
#[derive(Debug, Clone, PartialEq)]
pub enum Location {
    /// In a directory of the user's.
    Directory(PathBuf),
    /// On a separate file system, in an image.
    Image {
        /// The directory of the user's that holds the image.
        within: PathBuf,
        /// The image's file system.
        file_system: FileSystem,
        /// The simulated disk under it, if any.
        disk: Option<SimulatedDisk>,
    },
}

impl Location {
    /// The directory of the user's in which storebench has its work folder.
    pub fn directory(&self) -> &Path {
        match self {
            Location::Directory(path) | Location::Image { within: path, .. } => path,
        }
    }

    /// The simulated disk under it, if any.
    pub fn disk(&self) -> Option<&SimulatedDisk> {
        match self {
            Location::Directory(_) => None,
            Location::Image { disk, .. } => disk.as_ref(),
        }
    }

    /// What holds its bytes in the end.
    pub fn bottom(&self) -> StorageBacking {
        match self.disk() {
            Some(_) => StorageBacking::Simulated,
            None => backing_device::follow(self.directory()),
        }
    }

    /// Measures the costs of the place, in a work folder that is removed again.
    pub fn probe(&self) -> Result<Probe> {
        let mut work = WorkFolder::create(self.directory())?;
        match self {
            Location::Directory(_) => work.probe(),
            Location::Image { file_system, disk, .. } => {
                Template::make(&mut work, file_system, disk.as_ref(), PROBED_BYTES)?.probe(&mut work)
            }
        }
    }
}
