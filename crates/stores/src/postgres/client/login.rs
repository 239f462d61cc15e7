//! The beginning of a connection: who it is for, and the password, where the server wants one.

use bytes::{Bytes, BytesMut};
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use storebench_core::store::{Result, StoreError};

use super::{BUFFER_BYTES, Client, error_from_response, lost_error};
use crate::support::server::socket::Socket;

pub struct Login<'a> {
    pub user: &'a str,
    pub database: &'a str,
    /// Called if the server wants a password.
    pub password: &'a dyn Fn() -> Result<Option<String>>,
}

impl Client {
    /// Begins a session on a new socket. Fails also without a wanted password, and for an unknown kind of proof.
    pub fn begin(stream: Socket, login: &Login<'_>) -> Result<Client> {
        let (output, input) = (BytesMut::with_capacity(BUFFER_BYTES), BytesMut::with_capacity(BUFFER_BYTES));
        let (read_buffer, shown_bytes) = (vec![0; BUFFER_BYTES].into_boxed_slice(), Bytes::new());
        let mut client = Client { stream, output, input, read_buffer, statement_count: 0, shown_bytes };
        let parameters = [("user", login.user), ("database", login.database), ("client_encoding", "UTF8")];
        frontend::startup_message(parameters, &mut client.output).map_err(StoreError::engine)?;
        client.send()?;
        client.authenticate(login)?;
        client.answer(|_| ())?;
        client.stream.end_login();
        Ok(client)
    }

    fn authenticate(&mut self, login: &Login<'_>) -> Result<()> {
        let password = || {
            (login.password)()?.ok_or_else(|| {
                let message = "the server wants a password: set PGPASSWORD, or put it into ~/.pgpass";
                StoreError::Engine(message.into())
            })
        };
        loop {
            match self.next()? {
                Message::AuthenticationOk => return Ok(()),
                Message::ErrorResponse(response) => return Err(error_from_response(&response)),
                Message::AuthenticationCleartextPassword => {
                    let password = password()?;
                    self.write(|output| frontend::password_message(password.as_bytes(), output))?;
                    self.send()?;
                }
                Message::AuthenticationMd5Password(request) => {
                    let hash = md5_hash(login.user.as_bytes(), password()?.as_bytes(), request.salt());
                    self.write(|output| frontend::password_message(hash.as_bytes(), output))?;
                    self.send()?;
                }
                Message::AuthenticationSasl(request) => {
                    let is_known =
                        request.mechanisms().any(|name| Ok(name == SCRAM_SHA_256)).map_err(lost_error)?;
                    if !is_known {
                        return Err(unknown_proof_error());
                    }
                    self.scram(password()?.as_bytes())?;
                }
                _ => return Err(unknown_proof_error()),
            }
        }
    }

    fn scram(&mut self, password: &[u8]) -> Result<()> {
        let mut scram = ScramSha256::new(password, ChannelBinding::unsupported());
        self.write(|output| frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), output))?;
        self.send()?;
        loop {
            match self.next()? {
                Message::AuthenticationSaslContinue(message) => {
                    scram.update(message.data()).map_err(lost_error)?;
                    self.write(|output| frontend::sasl_response(scram.message(), output))?;
                    self.send()?;
                }
                Message::AuthenticationSaslFinal(message) => {
                    return scram.finish(message.data()).map_err(lost_error);
                }
                Message::ErrorResponse(response) => return Err(error_from_response(&response)),
                _ => return Err(unknown_proof_error()),
            }
        }
    }
}

fn unknown_proof_error() -> StoreError {
    StoreError::Unsupported(
        "the server wants a proof of the user that storebench does not know: it knows passwords (scram-sha-256, md5) and trust"
            .into(),
    )
}
