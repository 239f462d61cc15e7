//! A connection to etcd: gRPC calls, one at a time, over HTTP/2 by `h2`. There is no other thread: while an answer is awaited,
//! this one sleeps on the socket.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use h2::client::{Builder, Connection as Driver, SendRequest};
use http::{HeaderMap, Request, StatusCode};
use prost::Message;
use prost::bytes::{BufMut, Bytes, BytesMut};
use storebench_model::store::{Result, StoreError};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::messages::Call;
use crate::support::server::{MAX_ANSWER_BYTES, error_text, socket::Socket, unreadable};

/// Unread bytes of an answer that may be under way.
const WINDOW: u32 = 64 << 20;
/// Before a message: whether it is compressed, and its length.
const HEAD: usize = 5;

pub struct Connection {
    sender: SendRequest<Bytes>,
    engine: Engine,
    /// The login's proof, if the server wants one.
    pub token: Option<String>,
}

impl Connection {
    pub fn from_socket(socket: Socket) -> Result<Connection> {
        let cloned = socket.set_nonblocking().and_then(|()| socket.try_clone());
        let clone = cloned.map_err(|error| socket.lost_error(error))?;
        let state = Arc::new(State::default());
        let mut builder = Builder::new();
        builder.initial_window_size(WINDOW).initial_connection_window_size(WINDOW);
        let mut waiter = ResponseWaiter { socket, state: state.clone() };
        let handshake = builder.handshake::<_, Bytes>(Stream { socket: clone, state });
        let mut handshake = std::pin::pin!(handshake);
        let (sender, driver) =
            waiter.poll_until(|context| handshake.as_mut().poll(context).map_err(ConnectionError::from))?;
        Ok(Connection { sender, engine: Engine { driver, waiter }, token: None })
    }

    pub fn end_login(&mut self) {
        self.engine.waiter.socket.end_login();
    }

    pub fn call<C: Call>(&mut self, message: &C) -> Result<C::Answer> {
        let (engine, sender) = (&mut self.engine, &mut self.sender);
        engine.drive_until(|context| sender.poll_ready(context))?;
        let request = Request::post(format!("http://localhost{}", C::PATH))
            .header("te", "trailers")
            .header("content-type", "application/grpc");
        let request = self.token.iter().fold(request, |request, token| request.header("token", token));
        let request = request.body(()).map_err(StoreError::engine)?;
        let (mut answer, mut body) = sender.send_request(request, false).map_err(StoreError::engine)?;
        body.send_data(frame_message(message)?, true).map_err(StoreError::engine)?;
        let answer = engine.drive_until(|context| Pin::new(&mut answer).poll(context))?;
        if answer.status() != StatusCode::OK {
            return Err(StoreError::Engine(format!("the server answered with {}", answer.status())));
        }
        // An answer without a message has all in its head.
        check_status(answer.headers())?;
        let mut stream = answer.into_body();
        let mut received = Bytes::new();
        while let Some(piece) =
            engine.drive_until(|context| stream.poll_data(context).map(Option::transpose))?
        {
            stream.flow_control().release_capacity(piece.len()).map_err(StoreError::engine)?;
            received = join_pieces(received, piece);
            if received.len() > MAX_ANSWER_BYTES {
                return Err(unreadable());
            }
        }
        let trailers = engine.drive_until(|context| stream.poll_trailers(context))?;
        check_status(&trailers.unwrap_or_default())?;
        if received.len() < HEAD || received[0] != 0 {
            return Err(unreadable());
        }
        C::Answer::decode(received.slice(HEAD..)).map_err(StoreError::engine)
    }
}

fn frame_message(message: &impl Message) -> Result<Bytes> {
    let length = message.encoded_len();
    let mut bytes = BytesMut::with_capacity(HEAD + length);
    bytes.put_u8(0);
    bytes.put_u32(u32::try_from(length).map_err(StoreError::engine)?);
    message.encode(&mut bytes).map_err(StoreError::engine)?;
    Ok(bytes.freeze())
}

/// An answer is mostly one piece, which is not copied.
fn join_pieces(received: Bytes, piece: Bytes) -> Bytes {
    if received.is_empty() {
        return piece;
    }
    let mut joined = received.try_into_mut().unwrap_or_else(|received| BytesMut::from(&received[..]));
    joined.extend_from_slice(&piece);
    joined.freeze()
}

fn check_status(headers: &HeaderMap) -> Result<()> {
    let text = |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    match text("grpc-status") {
        Some(status) if status != "0" => {
            let message = text("grpc-message").filter(|message| !message.is_empty());
            let message = message.map(|message| error_text(&message));
            Err(StoreError::Engine(
                message.unwrap_or_else(|| format!("the server refused it: gRPC status {status}")),
            ))
        }
        _ => Ok(()),
    }
}

/// Does the connection's work while somebody waits for an answer.
struct Engine {
    driver: Driver<Stream, Bytes>,
    waiter: ResponseWaiter,
}

impl Engine {
    fn drive_until<T>(
        &mut self,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<std::result::Result<T, h2::Error>>,
    ) -> Result<T> {
        let driver = &mut self.driver;
        self.waiter.poll_until(|context| {
            if let Poll::Ready(result) = poll(context) {
                return Poll::Ready(result.map_err(ConnectionError::from));
            }
            // If that reads the answer, it wakes this thread before it sleeps.
            let ended = std::task::ready!(Pin::new(&mut *driver).poll(context));
            let lost = || {
                ConnectionError::Lost(io::Error::new(ErrorKind::UnexpectedEof, "it has ended the connection"))
            };
            Poll::Ready(Err(ended.map_or_else(ConnectionError::from, |()| lost())))
        })
    }
}

struct ResponseWaiter {
    socket: Socket,
    state: Arc<State>,
}

impl ResponseWaiter {
    /// Polls until it is done, and sleeps on the socket in between.
    fn poll_until<T>(
        &mut self,
        mut poll: impl FnMut(&mut Context<'_>) -> Poll<std::result::Result<T, ConnectionError>>,
    ) -> Result<T> {
        let waker = Waker::from(self.state.clone());
        let mut context = Context::from_waker(&waker);
        loop {
            self.socket.check_login().map_err(|error| self.socket.lost_error(error))?;
            match poll(&mut context) {
                Poll::Ready(result) => return result.map_err(|failure| self.connection_error(failure)),
                Poll::Pending if self.state.woken.swap(false, Ordering::Relaxed) => {}
                Poll::Pending => self.sleep().map_err(|error| self.socket.lost_error(error))?,
            }
        }
    }

    fn sleep(&self) -> io::Result<()> {
        match self.socket.wait(self.state.is_full.swap(false, Ordering::Relaxed)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            result => result,
        }
    }

    /// The failure, with the end of the server's log if the connection is lost.
    fn connection_error(&self, failure: ConnectionError) -> StoreError {
        match failure {
            ConnectionError::Lost(error) => self.socket.lost_error(error),
            ConnectionError::Refused(error) if error.is_io() => {
                self.socket.lost_error(error.into_io().unwrap_or_else(|| ErrorKind::Other.into()))
            }
            ConnectionError::Refused(error) => StoreError::engine(error),
        }
    }
}

enum ConnectionError {
    Lost(io::Error),
    Refused(h2::Error),
}

impl From<h2::Error> for ConnectionError {
    fn from(error: h2::Error) -> ConnectionError {
        ConnectionError::Refused(error)
    }
}

#[derive(Default)]
struct State {
    /// There is more to do before sleeping.
    woken: AtomicBool,
    /// The socket did not take all bytes.
    is_full: AtomicBool,
}

impl Wake for State {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Relaxed);
    }
}

struct Stream {
    socket: Socket,
    state: Arc<State>,
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.socket.read_now(buffer.initialize_unfilled()) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Poll::Pending
            }
            read => Poll::Ready(read.map(|count| buffer.advance(count))),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match io::Write::write(&mut self.socket, bytes) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                self.state.is_full.store(true, Ordering::Relaxed);
                Poll::Pending
            }
            written => Poll::Ready(written),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
