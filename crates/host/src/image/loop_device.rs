//! A loop device over an open file. It detaches itself when nobody has it open any more, also after a kill: storebench never
//! detaches one, as its number may belong to another file by then.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};

const CONTROL: &str = "/dev/loop-control";
/// Attempts to get a device while others take the free one first.
const ATTEMPTS: u32 = 32;

// From the kernel's include/uapi/linux/loop.h.
const LOOP_CTL_GET_FREE: u32 = 0x4c82;
const LOOP_CONFIGURE: u32 = 0x4c0a;
const AUTOCLEAR: u32 = 4;
const DIRECT_IO: u32 = 16;
/// Words of 32 bits in `struct loop_config`: a file, a block size, `struct loop_info64`, and reserved room.
const CONFIG_WORDS: usize = 76;
/// The index of the file's number in it.
const FILE: usize = 0;
/// The index of the flags: after the file and the block size, five words of 64 bits and three of 32.
const FLAGS: usize = 2 + 10 + 3;

/// A loop device that is held open.
#[derive(Debug)]
pub struct LoopDevice {
    /// Keeps it attached.
    _open: File,
    number: u32,
}

impl LoopDevice {
    /// Attaches an open file, with direct I/O if its file system can.
    pub fn attach(image: &File) -> io::Result<LoopDevice> {
        let control = open(Path::new(CONTROL))?;
        for _ in 0..ATTEMPTS {
            let number = get_free_number(&control)?;
            let device = open(&path(number))?;
            match configure(&device, image.as_raw_fd()) {
                Ok(()) => {
                    // A kernel may refuse to mount a device that somebody could still write to.
                    let open = File::open(path(number))?;
                    return Ok(LoopDevice { _open: open, number });
                }
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
                Err(error) => return Err(device_error(error)),
            }
        }
        Err(io::Error::other("others take every free loop device first"))
    }

    /// The path of the device.
    pub fn path(&self) -> PathBuf {
        path(self.number)
    }

    /// The name in /sys/block.
    pub fn name(&self) -> String {
        format!("loop{}", self.number)
    }

    /// Whether the device bypasses the page cache of the file system that holds the image. Fails when the kernel doesn't report it: a run
    /// must not miss direct I/O because of a failed read.
    pub fn is_direct(&self) -> io::Result<bool> {
        let file = PathBuf::from(format!("/sys/block/{}/loop/dio", self.name()));
        let text = fs::read_to_string(&file)
            .map_err(|error| io::Error::new(error.kind(), format!("reading {}: {error}", file.display())))?;
        Ok(text.trim() == "1")
    }
}

/// The loop devices to which the file at `image` is attached.
pub fn devices_of(image: &Path) -> Vec<PathBuf> {
    let has_image = |name: &str| {
        let backing = fs::read_to_string(format!("/sys/block/{name}/loop/backing_file")).unwrap_or_default();
        let backing = backing.trim_end_matches('\n');
        Path::new(backing.strip_suffix(" (deleted)").unwrap_or(backing)) == image
    };
    let entries = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let loops = names.filter(|name| name.starts_with("loop"));
    loops.filter(|name| has_image(name)).map(|name| Path::new("/dev").join(name)).collect()
}

fn path(number: u32) -> PathBuf {
    PathBuf::from(format!("/dev/loop{number}"))
}

fn open(path: &Path) -> io::Result<File> {
    let opened = File::options().read(true).write(true).open(path);
    opened.map_err(|error| io::Error::new(error.kind(), format!("opening {}: {error}", path.display())))
}

fn get_free_number(control: &File) -> io::Result<u32> {
    // SAFETY: the call takes no argument, and the file is open.
    let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE as _) };
    u32::try_from(number).map_err(|_| io::Error::last_os_error())
}

fn configure(device: &File, image: RawFd) -> io::Result<()> {
    let mut config = [0_u32; CONFIG_WORDS];
    config[FILE] = image.cast_unsigned();
    config[FLAGS] = AUTOCLEAR | DIRECT_IO;
    // SAFETY: the array is as long as `struct loop_config`, its fields are whole words, and both files are open. Words of 64 bits
    // in it are zero, so that their alignment is of no matter: the kernel copies the bytes.
    match unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE as _, config.as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn device_error(error: io::Error) -> io::Error {
    let why = match error.raw_os_error() {
        Some(libc::EINVAL | libc::ENOTTY) => "; Linux 5.8 or newer is needed",
        _ => "",
    };
    io::Error::new(error.kind(), format!("attaching a loop device: {error}{why}"))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    fn attach_or_skip(image: &File) -> Option<LoopDevice> {
        match LoopDevice::attach(image) {
            Ok(device) => Some(device),
            Err(error) => {
                eprintln!("skipped: {error}");
                None
            }
        }
    }

    fn wait_until_free(image: &Path) {
        for _ in 0..1000 {
            if devices_of(image).is_empty() {
                return;
            }
            sleep(Duration::from_millis(10));
        }
        panic!("{:?} still uses {}", devices_of(image), image.display());
    }

    #[test]
    fn what_can_not_be_read_is_not_taken_for_lacking() {
        let device = LoopDevice { _open: File::open("/dev/null").unwrap(), number: u32::MAX };
        let error = device.is_direct().unwrap_err();
        assert!(error.to_string().starts_with("reading /sys/block/loop4294967295/loop/dio: "), "{error}");
    }

    #[test]
    fn a_device_is_there_as_long_as_it_is_open() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = folder.path().canonicalize().unwrap().join("image");
        let mut image = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        image.write_all(&[7; 1 << 20]).unwrap();
        image.sync_all().unwrap();
        let Some(device) = attach_or_skip(&image) else { return };
        assert_eq!(devices_of(&path), [device.path()]);
        let mut bytes = vec![0; 1 << 20];
        File::open(device.path()).unwrap().read_exact(&mut bytes).unwrap();
        assert!(bytes.iter().all(|byte| *byte == 7));
        drop(device);
        wait_until_free(&path);
    }

    #[test]
    fn what_has_taken_the_image_s_name_is_not_attached() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = folder.path().canonicalize().unwrap().join("image");
        let image = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        image.set_len(1 << 20).unwrap();
        let moved = path.with_file_name("moved");
        fs::rename(&path, &moved).unwrap();
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        let Some(device) = attach_or_skip(&image) else { return };
        assert_eq!(devices_of(&moved), [device.path()]);
        drop(device);
        wait_until_free(&moved);
    }
}
