//! A place in the header of a run.

use serde::{Deserialize, Serialize};

use crate::axis::file_system::FileSystem;
use crate::cell::{Cell, HERE, LocationOnDisk};
use crate::simulated::SimulatedDisk;

/// What holds the bytes of a directory in the end, by what can be seen of the mounts and devices under it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum StorageBacking {
    /// A disk.
    Disk,
    /// A simulated disk, which keeps what its model keeps.
    Simulated,
    /// It can't be seen.
    Unseen {
        /// Where the way down ends.
        why: String,
    },
    /// A disk that a mount above does not have flush its cache.
    NoBarriers {
        /// The mount, with the option.
        what: String,
    },
    /// Memory.
    Memory {
        /// The mount, or the device.
        what: String,
    },
}

impl StorageBacking {
    /// Why a power cut takes what was synced there, if it does.
    pub fn loses(&self) -> Option<String> {
        match self {
            StorageBacking::Disk | StorageBacking::Simulated | StorageBacking::Unseen { .. } => None,
            StorageBacking::NoBarriers { what } => {
                Some(format!("{what}, so that a power cut can take what was synced"))
            }
            StorageBacking::Memory { what } => {
                Some(format!("{what} is memory, which a power cut takes with all that was synced"))
            }
        }
    }
}

/// A place where stores' files live.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocationInfo {
    /// Its name, with a simulated disk's: `ext4:4096 on simulated hdd-7200`.
    pub name: String,
    /// Its name in cells, if it is on a simulated disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The directory given.
    pub path: String,
    /// The file system's type, such as `ext4`.
    pub file_system: Option<String>,
    /// Its mount options, as in /proc/self/mountinfo, without names of files, people and machines.
    pub mount_options: Option<String>,
    /// The block device's name, such as `nvme0n1`.
    pub device: Option<String>,
    /// Its model, if the kernel reports one.
    pub device_model: Option<String>,
    /// Whether it rotates.
    pub rotates: Option<bool>,
    /// Free bytes when the run was started.
    pub free_bytes: u64,
    /// The file system that each trial has there, in an image, as plans write it: `ext4:4096,noatime`. The device is the directory's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<FileSystem>,
    /// The driver that mounts it: `kernel (ext4)`, `FUSE (ntfs-3g)`; absent if it can't be mounted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Whether a program mounts it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_fuse: bool,
    /// What holds its bytes; unknown in older results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottom: Option<StorageBacking>,
    /// The simulated disk that this is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<SimulatedDisk>,
}

impl LocationInfo {
    /// The disk under it: simulated, or `here`.
    pub fn disk(&self) -> &str {
        self.disk.as_ref().map_or(HERE, |disk| disk.name.as_str())
    }

    /// Its name in cells, which name the disk apart.
    pub fn location_name(&self) -> &str {
        self.place.as_deref().unwrap_or(&self.name)
    }

    /// The location with its disk.
    pub fn location_on_disk(&self) -> LocationOnDisk {
        let disk = self.disk.as_ref().map(|disk| disk.name.clone());
        LocationOnDisk { place: self.location_name().to_owned(), disk }
    }

    /// Why it can't be known whether a power cut leaves what was synced there.
    pub fn unseen(&self) -> Option<String> {
        let Some(StorageBacking::Unseen { why }) = &self.bottom else { return None };
        let name = self.location_name();
        Some(format!("Whether {name} keeps through a power cut what was synced can't be seen: {why}."))
    }

    /// Whether it is the one that a cell is in, on the cell's disk.
    pub fn is_location_of(&self, cell: &Cell) -> bool {
        (self.location_name(), self.disk()) == (cell.location_name(), cell.disk())
    }
}
