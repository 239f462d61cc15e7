//! The drivers that mount a file system on this machine: the kernel's, a program by FUSE, or none, with what would help.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use rustix::fs::{Access, access};

use super::program;
use storebench_model::axis::file_system::FileSystem;
use storebench_model::axis::file_system::kind::{FileSystemKind, Fuse, Tool, WITHOUT_ROOT};

/// The device through which the kernel assigns loop devices.
const LOOP_CONTROL: &str = "/dev/loop-control";
/// The kernel's list of loaded drivers.
const FILE_SYSTEMS: &str = "/proc/filesystems";
/// The device through which programs act as file systems.
const FUSE: &str = "/dev/fuse";
/// The helper that mounts by FUSE without root: of the present version, and the name in the one before. Debian's package has both.
const HELPERS: [Tool; 2] =
    [Tool { program: "fusermount3", package: "fuse3" }, Tool { program: "fusermount", package: "fuse3" }];

/// The way that needs no root, in words.
pub const BY_FUSE: &str = "FUSE";

/// The two ways to mount file systems in images, each with its device, or what would help.
pub fn devices() -> [(&'static str, Result<&'static str, String>); 2] {
    [("loop devices", device(LOOP_CONTROL, "loop")), (BY_FUSE, fuse_device())]
}

/// The FUSE device, if this user may mount by it.
fn fuse_device() -> Result<&'static str, String> {
    let path = device(FUSE, "fuse")?;
    access(path, Access::READ_OK | Access::WRITE_OK).map_err(|_| {
        format!(
            "{path} is closed to this user: root can open it, as most systems have it, by chmod 666 {path}"
        )
    })?;
    if !rustix::process::geteuid().is_root() {
        for tool in HELPERS {
            find_tool(tool, "mounts by FUSE for who is not root")?;
        }
    }
    Ok(path)
}

/// The program that unmounts by FUSE without root.
pub(super) fn helper() -> Option<PathBuf> {
    HELPERS.into_iter().find_map(|tool| program(tool.program))
}

/// A device that exists once a kernel module is loaded.
fn device(path: &'static str, module: &str) -> Result<&'static str, String> {
    let missing = || format!("there is no {path}: modprobe {module}");
    Path::new(path).exists().then_some(path).ok_or_else(missing)
}

/// The driver that mounts a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    /// The kernel, with this driver.
    Kernel(&'static str),
    /// A program, by FUSE.
    Fuse {
        /// The program's name.
        program: &'static str,
        /// Options that the program always gets.
        options: &'static str,
    },
}

impl Driver {
    /// The name of the driver in results.
    pub fn name(self) -> String {
        match self {
            Driver::Kernel(name) => format!("kernel ({name})"),
            Driver::Fuse { program, .. } => format!("FUSE ({program})"),
        }
    }

    /// The best driver for a file system, if the program that formats it is installed. Else says what is missing, and what would help.
    pub fn find(file_system: &FileSystem) -> Result<Driver, String> {
        let kind = file_system.kind();
        if let Some(tool) = kind.format {
            find_tool(tool, &format!("formats {}", kind.name))?;
        }
        if kind.is_a_program() {
            return fuse_driver(file_system).unwrap_or_else(|| Err(format!("nothing mounts {}", kind.name)));
        }
        kernel_driver(kind, load_kernel_driver(kind)?).or_else(|missing| match fuse_driver(file_system) {
            Some(driver) => driver.map_err(|why| format!("{missing}; {why}")),
            None => Err(missing),
        })
    }
}

/// Whether this process may attach loop devices.
pub(super) fn has_loop_devices() -> bool {
    rustix::process::geteuid().is_root() && device(LOOP_CONTROL, "loop").is_ok()
}

fn kernel_driver(kind: &FileSystemKind, driver_name: Option<&'static str>) -> Result<Driver, String> {
    let name = kind.name;
    if !rustix::process::geteuid().is_root() {
        return Err(format!("mounting {name} needs root ({WITHOUT_ROOT} needs none): {}", with_sudo()));
    }
    let driver_name = driver_name.ok_or_else(|| {
        format!(
            "this kernel has no driver for {name}; Debian's (apt-get install linux-image-amd64) and Ubuntu's \
             (linux-image-generic) have one"
        )
    })?;
    if !kind.is_in_memory() {
        device(LOOP_CONTROL, "loop")
            .map_err(|missing| format!("{name} needs a loop device, and {missing}"))?;
    }
    Ok(Driver::Kernel(driver_name))
}

/// A driver by FUSE, if a program exists for this kind.
fn fuse_driver(file_system: &FileSystem) -> Option<Result<Driver, String>> {
    let kind = file_system.kind();
    let Fuse { tool, options } = kind.fuse?;
    let find = || {
        if !file_system.options().is_empty() {
            return Err(format!("{} takes no mount options here", tool.program));
        }
        fuse_device().map_err(|missing| format!("{} could mount it, but {missing}", tool.program))?;
        find_tool(tool, &format!("mounts {} without the kernel's driver", kind.name))?;
        Ok(Driver::Fuse { program: tool.program, options })
    };
    Some(find())
}

static ADVICE: OnceLock<&str> = OnceLock::new();

/// Has [`with_sudo`] say something else, where it is no use to start this command again as root.
pub fn advise(advice: &'static str) {
    let _ = ADVICE.set(advice);
}

/// The command that started this process, as root: with sudo, if it is installed.
pub fn with_sudo() -> String {
    if let Some(advice) = ADVICE.get() {
        return (*advice).to_owned();
    }
    let prefix = if self::program("sudo").is_some() { "sudo" } else { "as root:" };
    let program = std::env::current_exe().map_or_else(|_| "storebench".into(), PathBuf::into_os_string);
    let words = [program].into_iter().chain(std::env::args_os().skip(1));
    let words: Vec<String> = words.map(|word| for_shell(&word.to_string_lossy())).collect();
    format!("{prefix} {}", words.join(" "))
}

fn for_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=+.,:/@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The kernel's driver, loaded if it is a module; none for users who may not mount. Fails when the kernel's list can't be read: a run
/// must not use another driver because of that.
fn load_kernel_driver(kind: &FileSystemKind) -> Result<Option<&'static str>, String> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    for name in kind.kernel {
        if is_listed(name)? || (load(name) && is_listed(name)?) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn is_listed(name: &str) -> Result<bool, String> {
    let list = fs::read_to_string(FILE_SYSTEMS)
        .map_err(|error| format!("reading {FILE_SYSTEMS}, for the kernel's drivers: {error}"))?;
    Ok(list.lines().any(|line| line.split_whitespace().next_back() == Some(name)))
}

fn load(name: &str) -> bool {
    let Some(modprobe) = program("modprobe") else { return false };
    let status =
        Command::new(modprobe).args(["-q", name]).stdin(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn find_tool(tool: Tool, purpose: &str) -> Result<PathBuf, String> {
    let Tool { program: name, package } = tool;
    program(name)
        .ok_or_else(|| format!("{name}, which {purpose}, is not installed: apt-get install {package}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_what_would_help() {
        let spec: FileSystem = "tmpfs".parse().unwrap();
        match Driver::find(&spec) {
            Ok(driver) => assert_eq!(driver, Driver::Kernel("tmpfs")),
            Err(reason) => assert!(reason.contains("needs root (fuse2fs needs none): "), "{reason}"),
        }
        let tool = Tool { program: "mkfs.nothing", package: "nothing-progs" };
        let error = find_tool(tool, "formats nothing").unwrap_err();
        let expected = "mkfs.nothing, which formats nothing, is not installed: apt-get install nothing-progs";
        assert_eq!(error, expected);
        assert_eq!((is_listed("proc"), is_listed("storebench-has-none")), (Ok(true), Ok(false)));
        assert!(!load("storebench-has-none"));
        let options = fuse_driver(&"exfat,noatime".parse().unwrap()).unwrap().unwrap_err();
        assert_eq!(options, "mount.exfat-fuse takes no mount options here");
        assert_eq!(fuse_driver(&"btrfs".parse().unwrap()), None);
        match Driver::find(&"fuse2fs".parse().unwrap()) {
            Ok(driver) => assert_eq!(driver.name(), "FUSE (fuse2fs)"),
            Err(reason) => {
                assert!(!reason.contains("kernel's list") && !reason.contains("needs root"), "{reason}")
            }
        }
    }

    #[test]
    fn a_command_is_written_as_a_shell_reads_it() {
        assert_eq!(for_shell("--place=ext4:4096,noatime"), "--place=ext4:4096,noatime");
        assert_eq!(for_shell("it's here"), r"'it'\''s here'");
        assert_eq!(for_shell(""), "''");
        let prefix = if super::program("sudo").is_some() { "sudo /" } else { "as root: /" };
        assert!(with_sudo().starts_with(prefix), "{}", with_sudo());
    }
}
