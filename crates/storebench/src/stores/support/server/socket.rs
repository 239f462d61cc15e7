//! The socket to a server: a Unix socket, or TCP, with blocking calls.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long a host may take to take a connection.
const LONGEST_CONNECT: Duration = Duration::from_secs(10);

/// A connected socket.
#[derive(Debug)]
pub struct Socket {
    stream: Stream,
    /// How long a read may take.
    longest_read: Option<Timespec>,
}

#[derive(Debug)]
enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    fn over(stream: Stream) -> Socket {
        Socket { stream, longest_read: None }
    }

    /// Connects to the Unix socket of this path.
    ///
    /// # Errors
    /// The system's.
    pub fn unix(path: &Path) -> io::Result<Socket> {
        UnixStream::connect(path).map(Socket::from)
    }

    /// Connects to a port of a host. What is written goes out at once.
    ///
    /// # Errors
    /// The last of those that its addresses gave.
    pub fn tcp(host: &str, port: u16) -> io::Result<Socket> {
        let mut failed = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in (host, port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, LONGEST_CONNECT) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(Socket::over(Stream::Tcp(stream)));
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Whether it reaches this machine alone.
    pub fn is_local(&self) -> bool {
        matches!(self.stream, Stream::Unix(_))
    }

    /// How long a read may take; `None` is for ever.
    ///
    /// # Errors
    /// Where it is longer than a system can wait.
    pub fn set_read_timeout(&mut self, longest: Option<Duration>) -> io::Result<()> {
        self.longest_read = longest.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        Ok(())
    }

    /// Waits until there is something to read. A read that waits by itself is woken twice on a Unix socket of Linux: also when the
    /// other side has taken what was sent to it, only to sleep again. That costs a switch of processes for each request.
    fn wait(&self) -> io::Result<()> {
        let stream = match &self.stream {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
        };
        match poll(&mut [PollFd::from_borrowed_fd(stream, PollFlags::IN)], self.longest_read.as_ref())? {
            0 => Err(io::ErrorKind::TimedOut.into()),
            _ => Ok(()),
        }
    }
}

impl From<UnixStream> for Socket {
    fn from(stream: UnixStream) -> Socket {
        Socket::over(Stream::Unix(stream))
    }
}

impl Read for Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.wait()?;
        match &mut self.stream {
            Stream::Unix(stream) => stream.read(into),
            Stream::Tcp(stream) => stream.read(into),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match &mut self.stream {
            Stream::Unix(stream) => stream.write(from),
            Stream::Tcp(stream) => stream.write(from),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
