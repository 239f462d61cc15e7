//! A simulated disk under a trial's file system: a process that serves one file by FUSE and answers each request when a device's
//! model says so. It is a child of the parent of all trials, outside of the trial's limits.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde::{Deserialize, Serialize};
use storebench_disk::daemon::{self, Order};
use storebench_disk::disks::Disk;
use storebench_disk::fault::Fault;
use storebench_disk::figures::Load;
use storebench_disk::fixed::FixedTimes;
pub use storebench_disk::names::{DISK, SOURCE};

use crate::lifeline;

/// The word that makes this program the server of a disk.
pub const COMMAND: &str = "__disk";
/// A server prints this when its disk is mounted.
const MOUNTED: &str = "mounted";

/// A simulated disk by its name, with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimulatedDisk {
    /// Its name in cells.
    pub name: String,
    /// Its parameters.
    pub disk: Box<Disk>,
    /// The disks on which times are also estimated, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub estimates: BTreeMap<String, Disk>,
}

impl SimulatedDisk {
    /// One that answers at once.
    pub fn without_delay(name: &str) -> SimulatedDisk {
        let no_time = FixedTimes { read_us: 0.0, write_us: 0.0, flush_us: 0.0, at_once: None };
        let disk = Box::new(Disk { fixed: Some(no_time), ..Disk::default() });
        SimulatedDisk { name: name.into(), disk, estimates: BTreeMap::new() }
    }

    /// The time of a small write and a flush, one after the other, in nanoseconds.
    pub fn flushed_ns(&self) -> Option<f64> {
        Load::SyncedWrites.rate_on(&self.disk).ok().map(|per_second| 1e9 / per_second)
    }
}

/// A disk that is served. Dropping it ends the server.
#[derive(Debug)]
pub struct ServedDisk {
    server: Child,
}

/// The orders for the disk of one trial.
#[derive(Debug, Clone, Copy)]
pub struct DiskService<'a> {
    /// The disk.
    pub disk: &'a SimulatedDisk,
    /// The seed of what is random in it.
    pub seed: u64,
    /// Where the file system has its journal; nowhere where that is not known.
    pub journal: &'a [(u64, u64)],
    /// The image: a formatted one, of which a copy in memory is served, or one that is served itself.
    pub image: &'a File,
    /// Whether it is the copy.
    pub in_memory: bool,
    /// The traces that it leaves, or follows.
    pub traced: TracePart<'a>,
}

/// The part that a disk has in a cut check.
#[derive(Debug, Clone, Copy, Default)]
pub struct TracePart<'a> {
    /// It begins as a power cut left the disk whose log the first is; the other holds the state, as JSON.
    pub cut: Option<(&'a Path, &'a Path)>,
    /// It logs all that is asked of it, in this file.
    pub log: Option<&'a Path>,
    /// It has this fault.
    pub fault: Option<Fault>,
}

impl<'a> TracePart<'a> {
    /// As a power cut left it.
    pub fn from_cut(log: &'a Path, state: &'a Path) -> TracePart<'a> {
        TracePart { cut: Some((log, state)), ..TracePart::default() }
    }
}

impl ServedDisk {
    /// Starts a disk's server, and waits until the disk is mounted in the empty folder `mount_point`.
    pub fn start(serving: DiskService<'_>, mount_point: &Path) -> io::Result<ServedDisk> {
        let DiskService { disk: SimulatedDisk { name, disk, estimates }, traced, .. } = serving;
        let order = Order {
            disk: (**disk).clone(),
            seed: serving.seed,
            in_memory: serving.in_memory,
            journal: serving.journal.to_vec(),
            estimates: estimates.clone(),
            log: traced.log.map(Path::to_path_buf),
            cut: traced.cut.map(|(log, state)| (log.to_path_buf(), state.to_path_buf())),
            fault: traced.fault,
        };
        let mut command = Command::new(lifeline::this_program()?);
        command.arg0(lifeline::NAME).arg(COMMAND).arg(name).arg(mount_point).process_group(0);
        command.args([std::process::id().to_string(), serde_json::to_string(&order)?]);
        command.stdin(serving.image.try_clone()?).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut served = ServedDisk { server: command.spawn()? };
        let first_line = served.server.stdout.take().map(BufReader::new).and_then(|out| out.lines().next());
        match first_line.transpose()? {
            Some(line) if line == MOUNTED => Ok(served),
            Some(line) => Err(io::Error::other(format!("the simulated disk {name}: {line}"))),
            None => Err(io::Error::other(format!("the server of the simulated disk {name} ended at once"))),
        }
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.server.id()
    }
}

impl Drop for ServedDisk {
    fn drop(&mut self) {
        // It ends by itself once nothing is mounted any more.
        let _ = lifeline::end_group(&self.server);
        let _ = self.server.wait();
    }
}

/// Serves a disk whose image is the standard input, until it is unmounted or its parent ends. The parent also receives an error.
pub fn main(mount_point: &Path, parent: u32, order: &str) -> Result<(), String> {
    lifeline::die_with_parent(parent)?;
    let print_line = |line: &str| {
        let mut out = io::stdout();
        writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| error.to_string())
    };
    let serve = || {
        let order: Order = serde_json::from_str(order).map_err(|error| error.to_string())?;
        let image = File::options().read(true).write(true).open("/proc/self/fd/0");
        let image = image.map_err(|error| format!("opening its image: {error}"))?;
        daemon::serve(&order, image, mount_point, || print_line(MOUNTED))
    };
    serve().map(drop).inspect_err(|why| {
        // A parent that no longer listens has ended this process, or will.
        let _ = print_line(&why.replace('\n', " "));
    })
}
