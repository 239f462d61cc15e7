//! The socket to a server: a Unix socket, or TCP, with blocking calls.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// How long a host may take to take a connection.
const LONGEST_CONNECT: Duration = Duration::from_secs(10);

/// A connected socket.
#[derive(Debug)]
pub enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    /// Connects to the Unix socket of this path.
    ///
    /// # Errors
    /// The system's.
    pub fn unix(path: &Path) -> io::Result<Socket> {
        UnixStream::connect(path).map(Socket::Unix)
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
                    return Ok(Socket::Tcp(stream));
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// How long a read may take; `None` is for ever.
    ///
    /// # Errors
    /// The system's.
    pub fn set_read_timeout(&self, longest: Option<Duration>) -> io::Result<()> {
        match self {
            Socket::Unix(stream) => stream.set_read_timeout(longest),
            Socket::Tcp(stream) => stream.set_read_timeout(longest),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(stream) => stream.read(into),
            Socket::Tcp(stream) => stream.read(into),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(stream) => stream.write(from),
            Socket::Tcp(stream) => stream.write(from),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
