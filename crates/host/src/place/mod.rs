//! Where stores' files live.

pub mod abandoned;
pub mod bottom;
pub mod directory;
pub mod image;
pub mod transit;

use std::path::{Path, PathBuf};

use self::directory::WorkFolder;
use self::image::Template;
use storebench_core::axis::file_system::FileSystem;
use storebench_core::error::Result;
use storebench_core::measure::probe::Probe;
use storebench_core::result::Bottom;
use storebench_core::simulated::OnDisk;

/// Room in an image that is probed alone, in bytes: more than a probe writes.
const PROBED_BYTES: u64 = 128 << 20;

/// Where stores' files live.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// In a directory of the user's.
    Directory(PathBuf),
    /// On a file system of their own, in an image.
    Image {
        /// The directory of the user's in which the image lies.
        within: PathBuf,
        /// The file system that it is formatted as.
        file_system: FileSystem,
        /// The simulated disk under it, if there is one.
        disk: Option<OnDisk>,
    },
}

impl Place {
    /// The directory of the user's in which storebench has its work folder.
    pub fn directory(&self) -> &Path {
        match self {
            Place::Directory(path) | Place::Image { within: path, .. } => path,
        }
    }

    /// The simulated disk that it is on, if there is one.
    pub fn disk(&self) -> Option<&OnDisk> {
        match self {
            Place::Directory(_) => None,
            Place::Image { disk, .. } => disk.as_ref(),
        }
    }

    /// What holds its bytes in the end.
    pub fn bottom(&self) -> Bottom {
        match self.disk() {
            Some(_) => Bottom::Simulated,
            None => bottom::follow(self.directory()),
        }
    }

    /// The costs of the place, from a work folder that is gone again.
    ///
    /// # Errors
    /// When it can't be probed, or the file system can't be had.
    pub fn probe(&self) -> Result<Probe> {
        let mut work = WorkFolder::create(self.directory())?;
        match self {
            Place::Directory(_) => work.probe(),
            Place::Image { file_system, disk, .. } => {
                Template::make(&mut work, file_system, disk.as_ref(), PROBED_BYTES)?.probe(&mut work)
            }
        }
    }
}
