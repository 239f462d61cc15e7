//! A network between servers on one machine: a process that passes on data after a delay, without root or network namespaces.
//! Each server is called by a Unix socket of the relay, which calls the server's own.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::lifeline;

/// The hidden command that serves one.
pub const WORD: &str = "__relay";
const READY: &str = "ready";
const PIECE: usize = 64 << 10;
const MAX_IN_FLIGHT: usize = 64 << 20;

/// A relay at work. Dropping it ends it.
#[derive(Debug)]
pub struct Relay {
    process: Child,
}

impl Relay {
    /// Starts a relay for servers in a folder: it listens on the first name of each pair, for the second. Each piece arrives
    /// after `one_way`. Fails also when it does not come up.
    pub fn start(folder: &Path, names: &[(String, String)], one_way: Duration) -> io::Result<Relay> {
        let mut command = Command::new(lifeline::this_program()?);
        command.arg0(lifeline::NAME).arg(WORD).arg(std::process::id().to_string());
        command.arg(one_way.as_nanos().to_string()).args(names.iter().flat_map(|(near, far)| [near, far]));
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut relay = Relay { process: command.spawn()? };
        let line = relay.process.stdout.take().and_then(|out| BufReader::new(out).lines().next());
        match line.transpose()?.as_deref() {
            Some(READY) => Ok(relay),
            line => {
                let why = line.unwrap_or("it ended at once");
                Err(io::Error::other(format!("the relay between servers: {why}")))
            }
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // Nothing more can be done about a process that can't be killed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Serves in the working folder until the parent ends, and prints a line once it takes calls. The parent also receives an error.
pub fn main(parent: u32, one_way_ns: u64, names: &[String]) -> Result<(), String> {
    lifeline::die_with_parent(parent)?;
    // Without a signal, a server that has gone ends only its own calls. SAFETY: it sets no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    #[cfg(target_os = "linux")]
    // The kernel may wake it up to 50 us late, as it does others.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let sockets =
        names.chunks_exact(2).map(|pair| Ok((listener(Path::new(&pair[0]))?, PathBuf::from(&pair[1]))));
    let sockets = sockets.collect::<io::Result<Vec<_>>>().map_err(|error| error.to_string());
    let sockets = sockets.inspect_err(|why| print_line(why))?;
    print_line(READY);
    serve(&sockets, Duration::from_nanos(one_way_ns)).map_err(|error| error.to_string())
}

fn print_line(line: &str) {
    // Whoever does not read it any more has ended.
    let _ = writeln!(io::stdout(), "{line}");
}

/// Servers run as another user; the folder is closed to all others.
fn listener(path: &Path) -> io::Result<UnixListener> {
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn serve(sockets: &[(UnixListener, PathBuf)], one_way: Duration) -> io::Result<()> {
    let mut calls: Vec<Call> = Vec::new();
    loop {
        wait(sockets, &calls)?;
        for (listener, path) in sockets {
            // A server that is not there takes no calls: the caller finds the line cut.
            while let Ok((near, _)) = listener.accept() {
                calls.extend(UnixStream::connect(path).and_then(|far| Call::between(near, far)).ok());
            }
        }
        let now = Instant::now();
        calls.retain_mut(|call| call.transfer(now, one_way).unwrap_or(false));
    }
}

/// Sleeps until there is something to receive or to pass on.
fn wait(sockets: &[(UnixListener, PathBuf)], calls: &[Call]) -> io::Result<()> {
    let listening = sockets.iter().map(|(listener, _)| PollFd::new(listener, PollFlags::IN));
    let talking = calls.iter().flat_map(|call| {
        let to_poll = |stream, sending: &Direction, receiving: &Direction| {
            let mut events = PollFlags::empty();
            events.set(PollFlags::IN, sending.takes_more());
            events.set(PollFlags::OUT, receiving.is_held_up);
            (!events.is_empty()).then(|| PollFd::from_borrowed_fd(AsFd::as_fd(stream), events))
        };
        let near = to_poll(&call.near, &call.forward, &call.backward);
        [near, to_poll(&call.far, &call.backward, &call.forward)]
    });
    let mut descriptors: Vec<PollFd<'_>> = listening.chain(talking.flatten()).collect();
    let arrivals = calls.iter().flat_map(|call| [call.forward.next_arrival(), call.backward.next_arrival()]);
    let due = arrivals.flatten().min();
    let timeout = due.map(|due| Timespec::try_from(due.saturating_duration_since(Instant::now())));
    let timeout = timeout.transpose().map_err(io::Error::other)?;
    match poll(&mut descriptors, timeout.as_ref()) {
        Err(error) if error != rustix::io::Errno::INTR => Err(error.into()),
        _ => Ok(()),
    }
}

struct Call {
    near: UnixStream,
    far: UnixStream,
    forward: Direction,
    backward: Direction,
}

impl Call {
    fn between(near: UnixStream, far: UnixStream) -> io::Result<Call> {
        near.set_nonblocking(true)?;
        far.set_nonblocking(true)?;
        Ok(Call { near, far, forward: Direction::default(), backward: Direction::default() })
    }

    /// Receives, and sends what is due; gives whether the call goes on.
    fn transfer(&mut self, now: Instant, one_way: Duration) -> io::Result<bool> {
        self.forward.transfer(&self.near, &self.far, now, one_way)?;
        self.backward.transfer(&self.far, &self.near, now, one_way)?;
        Ok(!(self.forward.is_over && self.backward.is_over))
    }
}

#[derive(Default)]
struct Direction {
    /// Pieces under way, with their arrival; the end is an empty one.
    in_flight: VecDeque<(Instant, Vec<u8>)>,
    bytes: usize,
    has_ended: bool,
    is_over: bool,
    is_held_up: bool,
}

impl Direction {
    fn takes_more(&self) -> bool {
        !self.has_ended && self.bytes < MAX_IN_FLIGHT
    }

    /// When the next piece arrives; `None` while the other side takes no more.
    fn next_arrival(&self) -> Option<Instant> {
        self.in_flight.front().map(|(due, _)| *due).filter(|_| !self.is_held_up)
    }

    fn transfer(
        &mut self,
        mut source: &UnixStream,
        mut destination: &UnixStream,
        now: Instant,
        one_way: Duration,
    ) -> io::Result<()> {
        while self.takes_more() {
            let mut piece = vec![0; PIECE];
            let Some(length) = ignore_blocking(source.read(&mut piece))? else { break };
            piece.truncate(length);
            self.has_ended = length == 0;
            self.bytes += length;
            self.in_flight.push_back((now + one_way, piece));
        }
        self.is_held_up = false;
        while let Some((due, piece)) = self.in_flight.front_mut() {
            if *due > now {
                break;
            }
            if piece.is_empty() {
                self.is_over = true;
                // The other side may have gone.
                let _ = destination.shutdown(Shutdown::Write);
                self.in_flight.pop_front();
                continue;
            }
            let Some(length) = ignore_blocking(destination.write(piece))? else {
                self.is_held_up = true;
                break;
            };
            self.bytes -= length;
            piece.drain(..length);
            if piece.is_empty() {
                self.in_flight.pop_front();
            }
        }
        Ok(())
    }
}

fn ignore_blocking(result: io::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
        result => result.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A relay in this thread to a server that echoes, for calls until the test ends.
    fn echo(folder: &Path, one_way: Duration) -> PathBuf {
        let far = folder.join("far");
        let server = UnixListener::bind(&far).unwrap();
        std::thread::spawn(move || {
            for stream in server.incoming() {
                let mut stream = stream.unwrap();
                std::thread::spawn(move || {
                    let mut back = stream.try_clone().unwrap();
                    let _ = io::copy(&mut stream, &mut back);
                    let _ = back.shutdown(Shutdown::Write);
                });
            }
        });
        let near = folder.join("near");
        let sockets = vec![(listener(&near).unwrap(), far)];
        std::thread::spawn(move || serve(&sockets, one_way));
        near
    }

    #[test]
    fn what_is_sent_arrives_whole_and_not_before_its_time() {
        let folder = tempfile::tempdir().unwrap();
        let one_way = Duration::from_millis(3);
        let near = echo(folder.path(), one_way);
        let mut call = UnixStream::connect(near).unwrap();
        for word in ["one", "two"] {
            let sent = Instant::now();
            call.write_all(word.as_bytes()).unwrap();
            let mut reply = [0; 3];
            call.read_exact(&mut reply).unwrap();
            assert!(reply == word.as_bytes() && sent.elapsed() >= 2 * one_way);
        }
        // More than sockets hold, so that both sides are held up.
        let long: Vec<u8> = (0..8_u32 << 20).map(|index| (index / 3 % 251) as u8).collect();
        let (mut sender, payload) = (call.try_clone().unwrap(), long.clone());
        let sending = std::thread::spawn(move || {
            sender.write_all(&payload).unwrap();
            sender.shutdown(Shutdown::Write).unwrap();
        });
        let mut reply = Vec::new();
        call.read_to_end(&mut reply).unwrap();
        sending.join().unwrap();
        assert!(reply == long, "{} bytes", reply.len());
    }

    #[test]
    fn a_call_to_a_server_that_is_not_there_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let near = echo(folder.path(), Duration::ZERO);
        std::fs::remove_file(folder.path().join("far")).unwrap();
        let mut call = UnixStream::connect(near).unwrap();
        assert_eq!(call.read(&mut [0]).unwrap_or_default(), 0);
    }
}
