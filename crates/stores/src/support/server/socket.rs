//! The socket to a server: a Unix socket, or TCP, with blocking calls.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use storebench_model::read_limited;
use storebench_model::server::running::{Address, Endpoint};
use storebench_model::store::StoreError;

use super::process::LOG;

/// The time for a running server to accept a session.
pub const LONGEST_LOGIN: Duration = Duration::from_secs(10);
/// The bytes that a running server may send before it accepts a session.
const MOST_LOGIN_BYTES: usize = 1 << 20;
/// Lines of its log to show when a server has gone.
const LAST_LINES: usize = 3;
const LAST_BYTES: u64 = 64 << 10;

#[derive(Debug)]
pub struct Socket {
    stream: Stream,
    /// The deadline for accepting the session, until then.
    login_deadline: Option<Instant>,
    /// Whether it is accepted, shared by the socket's clones.
    is_logged_in: Arc<AtomicBool>,
    /// The bytes received until then.
    login_bytes: usize,
    /// The log of a trial's own server.
    log: Option<PathBuf>,
}

#[derive(Debug)]
enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    fn from_stream(stream: Stream) -> Socket {
        let is_logged_in = Arc::default();
        Socket { stream, login_deadline: None, is_logged_in, login_bytes: 0, log: None }
    }

    /// Connects to a running server, at `port` if its address names none.
    pub fn connect(address: &Address, port: u16) -> io::Result<Socket> {
        match &address.at {
            Endpoint::Host(name) => Socket::tcp(name, address.port.unwrap_or(port)),
            Endpoint::Socket(path) => Socket::unix(path),
        }
    }

    pub fn unix(path: &Path) -> io::Result<Socket> {
        let login_deadline = Instant::now().checked_add(LONGEST_LOGIN);
        Ok(Socket { login_deadline, ..Socket::from(UnixStream::connect(path)?) })
    }

    /// Lifts the login's limits: from now on it waits as long as the server works.
    pub fn end_login(&mut self) {
        self.is_logged_in.store(true, Ordering::Relaxed);
    }

    /// Limits the time and the bytes in which the server ends the session.
    pub fn limit_end(&mut self, limit: Duration) {
        (self.login_deadline, self.login_bytes) = (Instant::now().checked_add(limit), 0);
        self.is_logged_in = Arc::default();
    }

    /// The deadline for accepting or ending the session.
    fn deadline(&self) -> Option<Instant> {
        self.login_deadline.filter(|_| !self.is_logged_in.load(Ordering::Relaxed))
    }

    /// Connects to a trial's own server, in the folder with its log.
    pub fn connect_own(folder: &Path, name: &str) -> io::Result<Socket> {
        Ok(Socket { log: Some(folder.join(LOG)), ..Socket::from(UnixStream::connect(folder.join(name))?) })
    }

    /// The error for a lost connection: the last lines of the log, for a trial's own server.
    pub fn lost_error(&self, error: io::Error) -> StoreError {
        let log = self.log.as_ref().map_or_else(Vec::new, |path| read_limited::end(path, LAST_BYTES));
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines[lines.len().saturating_sub(LAST_LINES)..].join(" | ");
        let context = match last.as_str() {
            "" => "talking to the server".into(),
            last => format!("talking to the server, whose log ends with: {last}"),
        };
        StoreError::Io { context, source: error }
    }

    /// Reads some bytes; an ended connection is an error, which has the end of the server's log.
    pub fn receive(&mut self, buffer: &mut [u8]) -> Result<usize, StoreError> {
        loop {
            match self.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) => {
                    let ended = io::Error::new(io::ErrorKind::UnexpectedEof, "it has ended the connection");
                    return Err(self.lost_error(ended));
                }
                read => return read.map_err(|error| self.lost_error(error)),
            }
        }
    }

    /// Connects without delaying writes. The error is the last of the addresses'.
    pub fn tcp(host: &str, port: u16) -> io::Result<Socket> {
        let deadline = Instant::now() + LONGEST_LOGIN;
        let mut last_error = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in addresses(host, port)? {
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                break;
            }
            match TcpStream::connect_timeout(&address, remaining) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(Socket {
                        login_deadline: Some(deadline),
                        ..Socket::from_stream(Stream::Tcp(stream))
                    });
                }
                Err(error) => last_error = error,
            }
        }
        Err(last_error)
    }

    pub fn is_local(&self) -> bool {
        matches!(self.stream, Stream::Unix(_))
    }

    pub fn set_nonblocking(&self) -> io::Result<()> {
        match &self.stream {
            Stream::Unix(stream) => stream.set_nonblocking(true),
            Stream::Tcp(stream) => stream.set_nonblocking(true),
        }
    }

    pub fn try_clone(&self) -> io::Result<Socket> {
        let stream = match &self.stream {
            Stream::Unix(stream) => Stream::Unix(stream.try_clone()?),
            Stream::Tcp(stream) => Stream::Tcp(stream.try_clone()?),
        };
        let is_logged_in = self.is_logged_in.clone();
        Ok(Socket { login_deadline: self.login_deadline, is_logged_in, ..Socket::from_stream(stream) })
    }

    pub fn read_now(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match &mut self.stream {
            Stream::Unix(stream) => stream.read(buffer),
            Stream::Tcp(stream) => stream.read(buffer),
        }?;
        if self.deadline().is_some() {
            self.check_login()?;
            self.login_bytes += count;
            if self.login_bytes > MOST_LOGIN_BYTES {
                return Err(io::Error::other("it sent more than 1 MiB and let nobody in"));
            }
        }
        Ok(count)
    }

    /// Fails when the login has taken too long, even if the server keeps sending.
    pub fn check_login(&self) -> io::Result<()> {
        if self.deadline().is_some_and(|deadline| deadline <= Instant::now()) {
            let message = format!("it let nobody in within {} s", LONGEST_LOGIN.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
        Ok(())
    }

    /// Waits until there is something to read, and with `for_room` to write. A blocking read on a Unix socket of Linux also wakes when the
    /// other side has received something, only to sleep again: a process switch for each request.
    pub fn wait(&self, for_room: bool) -> io::Result<()> {
        let stream = match &self.stream {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
        };
        let events = if for_room { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let remaining = self.deadline().map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let remaining = remaining.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        let ready = poll(&mut [PollFd::from_borrowed_fd(stream, events)], remaining.as_ref())?;
        self.check_login()?;
        if ready == 0 { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }
}

/// A host's addresses. A name may take the system minutes to look up: then it has none.
fn addresses(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![(address, port).into()]);
    }
    let (sender, receiver) = channel();
    let host = host.to_owned();
    let look_up = move || sender.send((host.as_str(), port).to_socket_addrs().map(Iterator::collect));
    std::thread::Builder::new().name("look-up".into()).spawn(look_up)?;
    receiver.recv_timeout(LONGEST_LOGIN).unwrap_or_else(|_| {
        let message = format!("its address was not found within {} s", LONGEST_LOGIN.as_secs());
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    })
}

impl From<UnixStream> for Socket {
    fn from(stream: UnixStream) -> Socket {
        Socket::from_stream(Stream::Unix(stream))
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait(false)?;
        self.read_now(buffer)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.stream {
            Stream::Unix(stream) => stream.write(bytes),
            Stream::Tcp(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_server_that_sends_without_letting_anybody_in_is_given_up() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let mut socket =
            Socket { login_deadline: Instant::now().checked_add(LONGEST_LOGIN), ..Socket::from(near) };
        let sending = std::thread::spawn(move || while far.write_all(&[b'A'; 4096]).is_ok() {});
        let mut piece = [0; 4096];
        let message = loop {
            if let Err(error) = socket.read(&mut piece) {
                break error.to_string();
            }
        };
        assert_eq!(message, "it sent more than 1 MiB and let nobody in");
        assert!(socket.login_bytes <= MOST_LOGIN_BYTES + piece.len());
        socket.end_login();
        socket.read_exact(&mut vec![0; 2 * MOST_LOGIN_BYTES]).unwrap();
        // The end is bounded as the beginning is, and so is the clone that HTTP/2 reads.
        socket.limit_end(LONGEST_LOGIN);
        assert!(socket.try_clone().unwrap().read_to_end(&mut Vec::new()).is_err());
        socket.limit_end(Duration::ZERO);
        assert_eq!(socket.read(&mut piece).unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(socket);
        sending.join().unwrap();
    }

    #[test]
    fn where_a_server_has_gone_the_end_of_its_log_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let _listener = UnixListener::bind(folder.path().join("socket")).unwrap();
        let socket = Socket::connect_own(folder.path(), "socket").unwrap();
        let message = || socket.lost_error(io::ErrorKind::BrokenPipe.into()).to_string();
        assert_eq!(message(), "talking to the server: broken pipe");
        fs::write(folder.path().join(LOG), "starts\nready\n\nno memory\nends\n").unwrap();
        assert_eq!(
            message(),
            "talking to the server, whose log ends with: ready | no memory | ends: broken pipe"
        );
    }
}
