//! A private network, for servers that know nothing but ports: a namespace of the kernel's with one interface, the loopback, which no other
//! process reaches. It lasts as long as the process that made it. A call goes through a gate, a Unix socket in a folder: the process
//! calls the server, and hands over the line, so that nobody stands between the two from then on.

use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The name of the gate's socket.
const GATE: &str = "gate";
/// The sentence where there is no such network.
#[cfg(target_os = "linux")]
const NEEDS: &str = "servers that know ports alone run in a private network, which this system lets nobody have here (user namespaces as \
                     a user, CAP_SYS_ADMIN as root)";

/// Calls the server that listens at a port of the private network whose gate is in this folder.
///
/// # Errors
/// The system's; [`io::ErrorKind::ConnectionRefused`] where none listens there.
pub fn call(folder: &Path, port: u16) -> io::Result<TcpStream> {
    system::call(&folder.join(GATE), port)
}

/// Has a command run in the private network of the process of this number.
///
/// # Errors
/// The system's.
pub fn admit(command: &mut Command, of: u32) -> io::Result<()> {
    system::admit(command, of)
}

/// A sentence that says why nobody can have such a network here.
pub fn lacks() -> Option<String> {
    static LACKS: OnceLock<Option<String>> = OnceLock::new();
    LACKS.get_or_init(|| system::tried().err().map(|error| error.to_string())).clone()
}

/// Moves this process, which must have no other threads, into a new private network.
///
/// # Errors
/// Where the system lets nobody have one.
pub(super) fn enter_new() -> io::Result<()> {
    system::enter_new()
}

/// Opens the gate in the working folder, and answers calls from then on.
///
/// # Errors
/// The system's.
pub(super) fn open_gate() -> io::Result<()> {
    system::open_gate()
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::File;
    use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
    use std::mem::MaybeUninit;
    use std::net::{Ipv4Addr, TcpStream};
    use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::os::unix::process::CommandExt;
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use rustix::net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, recvmsg, sendmsg,
    };
    use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

    use super::{GATE, NEEDS};

    /// The longest time that a call may take.
    const LONGEST_CALL: Duration = Duration::from_secs(10);
    /// The answers of the gate: with a line, and without.
    const HERE: u8 = 1;
    const NOBODY: u8 = 0;

    pub fn call(gate: &Path, port: u16) -> io::Result<TcpStream> {
        let mut asked = UnixStream::connect(gate)?;
        asked.set_read_timeout(Some(LONGEST_CALL))?;
        asked.write_all(&port.to_be_bytes())?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let mut answer = [NOBODY];
        let (into, flags) = (&mut [IoSliceMut::new(&mut answer)], RecvFlags::CMSG_CLOEXEC);
        rustix::io::retry_on_intr(|| recvmsg(&asked, into, &mut beside, flags))?;
        let lines = beside.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut lines) => lines.next(),
            _ => None,
        });
        let line = lines.last();
        line.map(TcpStream::from).ok_or_else(|| ErrorKind::ConnectionRefused.into())
    }

    pub fn admit(command: &mut Command, of: u32) -> io::Result<()> {
        let space = |name| File::open(format!("/proc/{of}/ns/{name}"));
        // Root has the right to enter; others have it in a user namespace of their own.
        let own = if rustix::process::geteuid().is_root() { None } else { Some(space("user")?) };
        let network = space("net")?;
        let enter = move || {
            if let Some(own) = &own {
                move_into_link_name_space(own.as_fd(), Some(LinkNameSpaceType::User))?;
            }
            Ok(move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?)
        };
        // SAFETY: between fork and exec the closure makes two system calls and allocates nothing.
        unsafe { command.pre_exec(enter) };
        Ok(())
    }

    /// Root has the right to have one; others have it in a user namespace of their own.
    fn leave_others() -> io::Result<()> {
        let network = UnshareFlags::NEWNET;
        let is_root = rustix::process::geteuid().is_root();
        let spaces = if is_root { network } else { network | UnshareFlags::NEWUSER };
        // SAFETY: no table of open files is taken apart.
        Ok(unsafe { unshare_unsafe(spaces) }?)
    }

    fn needed(error: io::Error) -> io::Error {
        io::Error::new(ErrorKind::Unsupported, format!("{NEEDS}: {error}"))
    }

    /// Has a program that does nothing have one.
    pub fn tried() -> io::Result<()> {
        let mut command = Command::new("/bin/true");
        // SAFETY: between fork and exec the closure makes system calls and allocates nothing.
        unsafe { command.pre_exec(leave_others) };
        command.stdin(Stdio::null()).stdout(Stdio::null()).status().map(drop).map_err(needed)
    }

    pub fn enter_new() -> io::Result<()> {
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        leave_others().map_err(needed)?;
        if !user.is_root() {
            // Whoever is not root there may map itself alone.
            std::fs::write("/proc/self/setgroups", "deny")?;
            std::fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))?;
            std::fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
        }
        turn_on_loopback()
    }

    /// A new network's interface is down.
    fn turn_on_loopback() -> io::Result<()> {
        let check = |result: i32| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) };
        // SAFETY: it takes no pointer; the number is a new socket's, and nobody else's.
        let socket = unsafe {
            OwnedFd::from_raw_fd(check(libc::socket(
                libc::AF_INET,
                libc::SOCK_DGRAM | libc::SOCK_CLOEXEC,
                0,
            ))?)
        };
        // SAFETY: all zeroes are a valid request.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = libc::c_char::from_ne_bytes([*from]);
        }
        let number = socket.as_raw_fd();
        // SAFETY: the request is ours, and has the form of both calls; the flags are what the first has written.
        unsafe {
            check(libc::ioctl(number, libc::SIOCGIFFLAGS as _, &raw mut request))?;
            request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short;
            check(libc::ioctl(number, libc::SIOCSIFFLAGS as _, &raw const request))?;
        }
        Ok(())
    }

    pub fn open_gate() -> io::Result<()> {
        let gate = UnixListener::bind(GATE)?;
        std::thread::Builder::new().name("gate".into()).spawn(move || {
            // A call that fails is its caller's to tell.
            gate.incoming().flatten().for_each(|asked| drop(answer(asked)));
        })?;
        Ok(())
    }

    fn answer(mut asked: UnixStream) -> io::Result<()> {
        asked.set_read_timeout(Some(LONGEST_CALL))?;
        let mut port = [0; 2];
        asked.read_exact(&mut port)?;
        let called = TcpStream::connect((Ipv4Addr::LOCALHOST, u16::from_be_bytes(port)));
        let called = called.and_then(|line| line.set_nodelay(true).map(|()| line));
        let Ok(line) = called else { return asked.write_all(&[NOBODY]) };
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        let lines = [line.as_fd()];
        beside.push(SendAncillaryMessage::ScmRights(&lines));
        sendmsg(&asked, &[IoSlice::new(&[HERE])], &mut beside, SendFlags::empty())?;
        Ok(())
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::net::TcpStream;
    use std::path::Path;
    use std::process::Command;

    fn none<T>() -> io::Result<T> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "private networks are Linux's alone"))
    }

    pub fn call(_gate: &Path, _port: u16) -> io::Result<TcpStream> {
        none()
    }

    pub fn admit(_command: &mut Command, _of: u32) -> io::Result<()> {
        none()
    }

    pub fn tried() -> io::Result<()> {
        none()
    }

    pub fn enter_new() -> io::Result<()> {
        none()
    }

    pub fn open_gate() -> io::Result<()> {
        none()
    }
}
