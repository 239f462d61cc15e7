//! Cassandra's protocol, version 4, over a blocking socket: requests and answers are those of the crate `scylla-cql`, which has no sockets.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Read, Write};

use bytes::{Buf, Bytes, BytesMut};
use scylla_cql::frame::protocol_features::ProtocolFeatures;
use scylla_cql::frame::request::{AuthResponse, Prepare, SerializableRequest, Startup};
use scylla_cql::frame::response::{Response, ResponseOpcode, result};
use scylla_cql::frame::{SerializedRequest, parse_response_body_extensions};
use storebench_core::store::{Result, StoreError};

use crate::stores::support::server::socket::Socket;

/// The bytes of the beginning of a frame, and where the length of the rest is among them.
const HEAD: usize = 9;
/// The bytes that are read at once, where there are no more.
const ROOM: usize = 16 << 10;

/// A connection.
pub struct Wire {
    socket: Socket,
    input: BytesMut,
    features: ProtocolFeatures,
}

impl Wire {
    /// Begins to speak over a socket that is connected, as a user with a password where there is one.
    ///
    /// # Errors
    /// The server's; when it is none of Cassandra.
    pub fn over(socket: Socket, user: Option<(&str, &str)>) -> Result<Wire> {
        let mut wire = Wire { socket, input: BytesMut::new(), features: ProtocolFeatures::default() };
        let version =
            [("CQL_VERSION", "3.0.0")].map(|(name, value)| (Cow::Borrowed(name), Cow::Borrowed(value)));
        wire.send(&Startup { options: HashMap::from(version) }, 0)?;
        match (wire.response()?, user) {
            (Response::Ready, _) => {}
            (Response::Authenticate(_), Some((name, password))) => {
                let response = Some(format!("\0{name}\0{password}").into_bytes());
                wire.send(&AuthResponse { response }, 0)?;
                let Response::AuthSuccess(_) = wire.response()? else { return Err(odd()) };
            }
            (Response::Authenticate(_), None) => {
                return Err(StoreError::Engine("the server wants a password: set CASSANDRA_PASSWORD".into()));
            }
            _ => return Err(odd()),
        }
        wire.socket.let_in();
        Ok(wire)
    }

    /// Sends a request, under a number by which it is answered.
    ///
    /// # Errors
    /// The connection's.
    pub fn send(&mut self, request: &impl SerializableRequest, number: i16) -> Result<()> {
        let made = SerializedRequest::make(request, None, false);
        let mut made = made.map_err(|error| StoreError::Unsupported(error.to_string()))?;
        made.set_stream(number);
        self.socket.write_all(made.get_data()).map_err(|error| self.socket.lost(error))
    }

    /// The next result, of any request that has had none.
    ///
    /// # Errors
    /// The server's, the connection's.
    pub fn result(&mut self) -> Result<result::Result> {
        match self.response()? {
            Response::Result(result) => Ok(result),
            _ => Err(odd()),
        }
    }

    /// Prepares a statement, and says by which name it is carried out.
    ///
    /// # Errors
    /// The server's.
    pub fn prepare(&mut self, query: &str) -> Result<Bytes> {
        self.send(&Prepare { query }, 0)?;
        match self.result()? {
            result::Result::Prepared(prepared) => Ok(prepared.id),
            _ => Err(odd()),
        }
    }

    fn response(&mut self) -> Result<Response> {
        let head = self.received(HEAD)?;
        let opcode = ResponseOpcode::try_from(head[4]).map_err(|_| odd())?;
        // Any version but this one is told in an answer of the server's own.
        if head[0] & 0x80 == 0 {
            return Err(odd());
        }
        let body = self.received((&head[5..]).get_u32() as usize)?;
        let body = parse_response_body_extensions(head[1], None, body).map_err(|_| odd())?.body;
        match Response::deserialize(&self.features, opcode, body, None) {
            Ok(Response::Error(error)) => Err(StoreError::Engine(error.reason)),
            Ok(response) => Ok(response),
            Err(_) => Err(odd()),
        }
    }

    /// The next bytes.
    fn received(&mut self, length: usize) -> Result<Bytes> {
        while self.input.len() < length {
            let there = self.input.len();
            self.input.resize(there + ROOM.max(length - there), 0);
            let read = self.socket.read(&mut self.input[there..]);
            self.input.truncate(there + read.as_ref().copied().unwrap_or(0));
            match read {
                Ok(0) => return Err(self.socket.lost(std::io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                Err(error) => return Err(self.socket.lost(error)),
            }
        }
        Ok(self.input.split_to(length).freeze())
    }
}

/// The error where an answer makes no sense.
pub fn odd() -> StoreError {
    StoreError::Engine("the server does not speak as Cassandra does".into())
}
