//! The process that serves one disk: it receives one order, reports when the disk is mounted, and ends when it is unmounted.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::counts::Counts;
use crate::disks::Disk;
use crate::fault::Fault;

/// The disk that is to be served.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The disk.
    pub disk: Disk,
    /// The seed of what is random in it.
    pub seed: u64,
    /// Whether it is a copy of the image, in memory; else it is the image itself.
    pub in_memory: bool,
    /// The file system's journal, in parts from one byte to before another: writes there are counted separately.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub journal: Vec<(u64, u64)>,
    /// The disks on which times are estimated, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub estimates: BTreeMap<String, Disk>,
    /// The file in which its requests are logged, with what they write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    /// Another disk's log with the same image, and a file with its state after a power cut, to begin from. In memory only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<(PathBuf, PathBuf)>,
    /// A fault that it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

/// Serves an image in an empty folder, reports once it is mounted, and returns the counts once it is unmounted.
#[cfg(target_os = "linux")]
pub fn serve(
    order: &Order,
    image: File,
    mount_point: &Path,
    report_mounted: impl FnOnce() -> Result<(), String>,
) -> Result<Counts, String> {
    use crate::estimate::Estimates;
    use crate::fault::Faulty;
    use crate::image::Image;
    use crate::log::Writer;
    use crate::server::{DiskExtras, Server};

    let image = if order.in_memory { Image::copy_of(&image) } else { Image::from_file(image) };
    let image = image.map_err(|error| format!("having its image: {error}"))?;
    if let Some((log, cut)) = &order.cut {
        replay(log, cut, &image).map_err(|error| format!("making the state after a power cut: {error}"))?;
    }
    let device = order.disk.device(image.bytes, order.seed)?;
    let devices = order.estimates.iter().map(|(name, disk)| {
        let device = disk.device(image.bytes, order.seed);
        Ok((name.clone(), device.map_err(|error| format!("estimating for {name}: {error}"))?))
    });
    let estimates = Estimates::new(devices.collect::<Result<Vec<_>, String>>()?);
    let log = order.log.as_ref().map(|path| {
        let file = File::options().write(true).truncate(true).open(path)?;
        Writer::new(Box::new(std::io::BufWriter::new(file)))
    });
    let log = log.transpose().map_err(|error| format!("beginning its log: {error}"))?;
    let fault = order.fault.map(|fault| Faulty::new(fault, &image)).transpose();
    let fault = fault.map_err(|error| format!("making a fault: {error}"))?;
    let extras = DiskExtras { journal: order.journal.clone(), estimates, log, fault };
    let server = Server::mount(image, device, extras, mount_point);
    let server = server.map_err(|error| format!("mounting it by FUSE: {error}"))?;
    report_mounted()?;
    server.wait().map_err(|error| error.to_string())
}

/// Applies a state of a log to an image.
#[cfg(target_os = "linux")]
fn replay(log: &Path, cut: &Path, image: &crate::image::Image) -> std::io::Result<()> {
    use crate::cut::{Cut, Log};

    let cut: Cut = serde_json::from_slice(&std::fs::read(cut)?)?;
    let log = Log::first(cut.at, std::io::BufReader::new(File::open(log)?))?;
    log.replay(&cut, |offset, bytes, data| match data {
        Some(data) => image.write(data, offset),
        None => image.discard(offset, bytes),
    })
}

/// Serves nothing: other systems have no loop devices over a file by FUSE. Always fails.
#[cfg(not(target_os = "linux"))]
pub fn serve(
    _order: &Order,
    _image: File,
    _mount_point: &Path,
    _report_mounted: impl FnOnce() -> Result<(), String>,
) -> Result<Counts, String> {
    Err("simulated disks need Linux".into())
}
