//! The beginning of a connection: who it is for, and the password, where the server wants one.

use bytes::{Bytes, BytesMut};
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use storebench_core::store::{Result, StoreError};

use super::{Client, PIECE, error_of, lost_error};
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
        let (out, input) = (BytesMut::with_capacity(PIECE), BytesMut::with_capacity(PIECE));
        let (piece, shown) = (vec![0; PIECE].into_boxed_slice(), Bytes::new());
        let mut client = Client { stream, out, input, piece, prepared: 0, shown };
        let parameters = [("user", login.user), ("database", login.database), ("client_encoding", "UTF8")];
        frontend::startup_message(parameters, &mut client.out).map_err(StoreError::engine)?;
        client.send()?;
        client.prove(login)?;
        client.answer(|_| ())?;
        client.stream.end_login();
        Ok(client)
    }

    fn prove(&mut self, login: &Login<'_>) -> Result<()> {
        let password = || {
            (login.password)()?.ok_or_else(|| {
                let message = "the server wants a password: set PGPASSWORD, or put it into ~/.pgpass";
                StoreError::Engine(message.into())
            })
        };
        loop {
            match self.next()? {
                Message::AuthenticationOk => return Ok(()),
                Message::ErrorResponse(told) => return Err(error_of(&told)),
                Message::AuthenticationCleartextPassword => {
                    let password = password()?;
                    self.write(|out| frontend::password_message(password.as_bytes(), out))?;
                    self.send()?;
                }
                Message::AuthenticationMd5Password(asked) => {
                    let hash = md5_hash(login.user.as_bytes(), password()?.as_bytes(), asked.salt());
                    self.write(|out| frontend::password_message(hash.as_bytes(), out))?;
                    self.send()?;
                }
                Message::AuthenticationSasl(asked) => {
                    let known =
                        asked.mechanisms().any(|name| Ok(name == SCRAM_SHA_256)).map_err(lost_error)?;
                    if !known {
                        return Err(unknown());
                    }
                    self.scram(password()?.as_bytes())?;
                }
                _ => return Err(unknown()),
            }
        }
    }

    fn scram(&mut self, password: &[u8]) -> Result<()> {
        let mut scram = ScramSha256::new(password, ChannelBinding::unsupported());
        self.write(|out| frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), out))?;
        self.send()?;
        loop {
            match self.next()? {
                Message::AuthenticationSaslContinue(told) => {
                    scram.update(told.data()).map_err(lost_error)?;
                    self.write(|out| frontend::sasl_response(scram.message(), out))?;
                    self.send()?;
                }
                Message::AuthenticationSaslFinal(told) => {
                    return scram.finish(told.data()).map_err(lost_error);
                }
                Message::ErrorResponse(told) => return Err(error_of(&told)),
                _ => return Err(unknown()),
            }
        }
    }
}

fn unknown() -> StoreError {
    StoreError::Unsupported(
        "the server wants a proof of the user that storebench does not know: it knows passwords (scram-sha-256, md5) and trust"
            .into(),
    )
}
