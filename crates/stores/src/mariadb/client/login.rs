//! The beginning of a connection: who it is for, and the password, where the server wants one.

use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin, Context};
use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse};
use mysql_common::proto::MySerialize;
use storebench_core::store::{Result, StoreError};

use super::{BUFFER_BYTES, Client, error_from_packet, lost_error};
use crate::support::server::socket::Socket;

/// The longest packet from the server, in bytes.
const MAX_PACKET_BYTES: u32 = 1 << 30;

pub struct Login<'a> {
    pub user: &'a str,
    pub password: &'a str,
    pub database: Option<&'a str>,
}

struct Proof<'a> {
    password: &'a str,
    scramble: &'a [u8],
    is_local: bool,
}

impl Context for &Proof<'_> {
    fn pass(&self) -> &[u8] {
        self.password.as_bytes()
    }

    fn is_ipc_transport(&self) -> bool {
        self.is_local
    }

    fn is_tls_transport(&self) -> bool {
        false
    }

    fn scramble(&self) -> &[u8] {
        self.scramble
    }

    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

impl Client {
    /// Begins a session on a new socket. Fails also for an unknown kind of proof.
    pub fn begin(stream: Socket, login: &Login<'_>) -> Result<Client> {
        let is_local = stream.is_local();
        let mut client = Client {
            stream,
            output: Vec::with_capacity(BUFFER_BYTES),
            input: Vec::with_capacity(BUFFER_BYTES),
            consumed: 0,
            read_buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            sequence: 0,
            version: String::new(),
            shown_range: 0..0,
        };
        let packet = client.packet()?;
        let packet = client.input[packet].to_vec();
        if packet.first() == Some(&0xff) {
            return Err(error_from_packet(&packet));
        }
        let greeting: HandshakePacket<'_> = ParseBuf(&packet).parse(()).map_err(lost_error)?;
        client.version = greeting.server_version_str().into_owned();
        client.answer_greeting(&greeting, login, is_local)?;
        client.stream.end_login();
        Ok(client)
    }

    fn answer_greeting(
        &mut self,
        greeting: &HandshakePacket<'_>,
        login: &Login<'_>,
        is_local: bool,
    ) -> Result<()> {
        let mut scramble = greeting.nonce();
        let mut kind = greeting.auth_plugin().unwrap_or(AuthPlugin::MysqlNativePassword).into_owned();
        // A method that is not known here is replaced: the server may know another.
        if kind.init().is_err() {
            kind = AuthPlugin::MysqlNativePassword;
        }
        let mut plugin = kind.init().map_err(unknown_proof_error)?;
        let proof = Proof { password: login.password, scramble: &scramble, is_local };
        let first_proof = plugin.run(&proof, &scramble).map_err(unknown_proof_error)?;
        let response = HandshakeResponse::new(
            first_proof.data(),
            (8, 0, 0),
            Some(login.user.as_bytes()),
            login.database.map(str::as_bytes),
            Some(kind),
            WANTED_CAPABILITIES & greeting.capabilities(),
            None,
            MAX_PACKET_BYTES,
        );
        self.frame(|output| response.serialize(output));
        self.send()?;
        loop {
            let packet = self.packet()?;
            let packet = self.input[packet].to_vec();
            match packet.first() {
                Some(0) => return Ok(()),
                Some(0xff) => return Err(error_from_packet(&packet)),
                // Another kind of proof.
                Some(0xfe) => {
                    let request: AuthSwitchRequest<'_> = ParseBuf(&packet).parse(()).map_err(lost_error)?;
                    scramble = request.plugin_data().to_vec();
                    plugin = request.auth_plugin().init().map_err(unknown_proof_error)?;
                    self.send_proof(&mut plugin, login, &scramble, is_local, &scramble)?;
                }
                Some(1) => self.send_proof(&mut plugin, login, &scramble, is_local, &packet[1..])?,
                _ => return Err(StoreError::Engine("the server's greeting can't be understood".into())),
            }
        }
    }

    fn send_proof(
        &mut self,
        plugin: &mut AuthProc,
        login: &Login<'_>,
        scramble: &[u8],
        is_local: bool,
        challenge: &[u8],
    ) -> Result<()> {
        let proof = Proof { password: login.password, scramble, is_local };
        let step = plugin.run(&proof, challenge).map_err(unknown_proof_error)?;
        let Some(packet) = step.data() else { return Ok(()) };
        self.frame(|output| output.extend_from_slice(packet));
        self.send()
    }
}

/// Capabilities to use if the server has them.
const WANTED_CAPABILITIES: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41
    .union(CapabilityFlags::CLIENT_LONG_PASSWORD)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_MULTI_STATEMENTS)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    // Rows are loaded as a file that this client makes; it reads none.
    .union(CapabilityFlags::CLIENT_LOCAL_FILES)
    // An update that changes nothing has found its row all the same.
    .union(CapabilityFlags::CLIENT_FOUND_ROWS);

fn unknown_proof_error(error: impl std::fmt::Display) -> StoreError {
    StoreError::Unsupported(format!(
        "the server wants a proof of the user that storebench does not know, or has no password for ({error})"
    ))
}
