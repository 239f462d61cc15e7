//! Requests to JetStream, and its answers: its interface is messages in JSON.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use storebench_core::store::{Result, StoreError};

use super::wire::{NOBODY, Wire, odd};

/// The beginning of the subjects of requests.
pub const API: &str = "$JS.API";
/// The longest time that an answer may take: a cluster that has no leader sends none.
const LONGEST_ANSWER: Duration = Duration::from_secs(20);
/// The longest time before it is asked again how a bucket is.
const LONGEST_LOOK: Duration = Duration::from_secs(1);
/// The longest time that making a list may take, with those that are begun again.
const LONGEST_LIST: Duration = Duration::from_secs(120);
/// The numbers of the errors that pass once servers have found each other: no suitable peers, no leader, not enough of them.
const PASSING: [u32; 3] = [10005, 10008, 10023];
/// The longest time in which nothing of a list may come, before it is asked for again.
const LONGEST_SILENCE: Duration = Duration::from_secs(5);
/// The number of the error that says that there is no such stream.
const NO_STREAM: u32 = 10059;
/// The header that says what a message stands for that is no record, and that of a removed one.
pub const OPERATION: &str = "KV-Operation";
pub const REMOVED: &str = "KV-Operation: DEL\r\n";

/// An error that JetStream tells.
#[derive(Debug, Deserialize)]
pub struct Refusal {
    err_code: u32,
    description: String,
}

impl Refusal {
    fn told(self) -> StoreError {
        StoreError::Engine(format!("{} ({})", self.description, self.err_code))
    }
}

/// The answer to a message that is to be kept.
#[derive(Deserialize)]
pub struct Kept {
    error: Option<Refusal>,
}

/// A stream.
#[derive(Debug, Default, Deserialize)]
pub struct Stream {
    error: Option<Refusal>,
    /// Its size.
    #[serde(default)]
    pub state: State,
    #[serde(default)]
    cluster: Cluster,
    #[serde(default)]
    config: Config,
}

#[derive(Debug, Default, Deserialize)]
struct Config {
    #[serde(default)]
    num_replicas: usize,
    #[serde(default)]
    allow_atomic: bool,
}

/// The size of a stream.
#[derive(Debug, Default, Deserialize)]
pub struct State {
    /// Messages, those for removed records among them.
    #[cfg(test)]
    pub messages: u64,
    /// Bytes of them.
    pub bytes: u64,
}

#[derive(Debug, Default, Deserialize)]
struct Cluster {
    #[serde(default)]
    leader: String,
}

impl Stream {
    /// The servers that have it.
    pub fn copies(&self) -> usize {
        self.config.num_replicas
    }

    /// Whether a batch is all or nothing there: an older server does not know the word.
    pub fn has_batches(&self) -> bool {
        self.config.allow_atomic
    }

    /// The name of the server that leads it.
    pub fn leader(&self) -> Option<&str> {
        Some(self.cluster.leader.as_str()).filter(|name| !name.is_empty())
    }
}

/// A record as the leader tells it.
#[derive(Deserialize)]
pub struct Told {
    error: Option<Refusal>,
    /// The message.
    pub message: Option<Record>,
}

/// A message in an answer, in base64.
#[derive(Deserialize)]
pub struct Record {
    /// The value.
    #[serde(default)]
    pub data: String,
    /// The headers.
    #[serde(default)]
    pub hdrs: String,
}

/// Somebody to whom a stream is sent.
#[derive(Deserialize)]
struct Consumer {
    error: Option<Refusal>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    num_pending: u64,
    #[serde(default)]
    delivered: Delivered,
}

#[derive(Default, Deserialize)]
struct Delivered {
    #[serde(default)]
    consumer_seq: u64,
}

/// Whether an answer did not come in time.
fn is_late(error: &StoreError) -> bool {
    matches!(error, StoreError::Io { source, .. } if source.kind() == ErrorKind::TimedOut)
}

/// Whether an error passes by itself, as servers of a cluster find each other and choose who leads.
pub fn passes(error: &StoreError) -> bool {
    match error {
        StoreError::Engine(told) => {
            told == NOBODY || PASSING.iter().any(|number| told.ends_with(&format!("({number})")))
        }
        error => is_late(error),
    }
}

/// Holds the answer to a message to its being kept.
///
/// # Errors
/// JetStream's.
pub fn is_kept(answer: &[u8]) -> Result<()> {
    let kept: Kept = serde_json::from_slice(answer).map_err(|_| odd())?;
    kept.error.map_or(Ok(()), |refusal| Err(refusal.told()))
}

fn call(wire: &mut Wire, name: &str, asked: &Value) -> Result<Vec<u8>> {
    call_within(wire, LONGEST_ANSWER, name, asked)
}

fn call_within(wire: &mut Wire, longest: Duration, name: &str, asked: &Value) -> Result<Vec<u8>> {
    let asked = if asked.is_null() { Vec::new() } else { asked.to_string().into_bytes() };
    wire.wait_at_most(Some(longest))?;
    let answer = wire.ask(&[API.as_bytes(), b".", name.as_bytes()], b"", &asked);
    wire.wait_at_most(None)?;
    Ok(wire.bytes(answer?.body).to_vec())
}

/// Makes a bucket as JetStream's clients make one, of so many copies.
///
/// # Errors
/// JetStream's.
pub fn create(wire: &mut Wire, bucket: &str, copies: usize) -> Result<()> {
    let stream = json!({
        "name": stream(bucket), "subjects": [format!("$KV.{bucket}.>")], "retention": "limits", "storage": "file",
        "max_msgs_per_subject": 1, "max_msgs": -1, "max_bytes": -1, "max_msg_size": -1, "max_consumers": -1,
        "discard": "new", "num_replicas": copies, "duplicate_window": 120_000_000_000_u64,
        "compression": "none",
        "allow_direct": true, "allow_rollup_hdrs": true, "deny_delete": true, "allow_atomic": true,
    });
    let answer = call(wire, &format!("STREAM.CREATE.{}", self::stream(bucket)), &stream)?;
    is_kept(&answer)
}

/// The bucket's stream; `None` where there is none.
///
/// # Errors
/// JetStream's.
pub fn look(wire: &mut Wire, bucket: &str) -> Result<Option<Stream>> {
    let start = Instant::now();
    loop {
        match look_now(wire, bucket) {
            // A server of a cluster drops what it is asked while nobody leads.
            Err(error) if is_late(&error) && start.elapsed() < LONGEST_ANSWER => {}
            looked => return looked,
        }
    }
}

/// The same, asked once.
///
/// # Errors
/// JetStream's; where no answer comes soon.
pub fn look_now(wire: &mut Wire, bucket: &str) -> Result<Option<Stream>> {
    let answer = call_within(wire, LONGEST_LOOK, &format!("STREAM.INFO.{}", stream(bucket)), &Value::Null)?;
    let mut stream: Stream = serde_json::from_slice(&answer).map_err(|_| odd())?;
    match stream.error.take() {
        Some(refusal) if refusal.err_code == NO_STREAM => Ok(None),
        Some(refusal) => Err(refusal.told()),
        None => Ok(Some(stream)),
    }
}

/// Deletes a bucket, which may be gone.
///
/// # Errors
/// JetStream's.
pub fn delete(wire: &mut Wire, bucket: &str) -> Result<()> {
    let answer = call(wire, &format!("STREAM.DELETE.{}", stream(bucket)), &Value::Null)?;
    let kept: Kept = serde_json::from_slice(&answer).map_err(|_| odd())?;
    match kept.error {
        Some(refusal) if refusal.err_code != NO_STREAM => Err(refusal.told()),
        _ => Ok(()),
    }
}

/// Forgets a removed record for good.
///
/// # Errors
/// JetStream's.
pub fn forget(wire: &mut Wire, bucket: &str, subject: &str) -> Result<()> {
    let answer = call(wire, &format!("STREAM.PURGE.{}", stream(bucket)), &json!({ "filter": subject }))?;
    is_kept(&answer)
}

/// The last message of a subject as the leader has it; `None` where there is none.
///
/// # Errors
/// JetStream's.
pub fn read(wire: &mut Wire, bucket: &str, subject: &str) -> Result<Option<Record>> {
    /// The number of the error that says that there is no such message.
    const NO_MESSAGE: u32 = 10037;
    let asked = json!({ "last_by_subj": subject }).to_string();
    let name = format!("{API}.STREAM.MSG.GET.{}", stream(bucket));
    let answer = wire.ask(&[name.as_bytes()], b"", asked.as_bytes())?;
    let told: Told = serde_json::from_slice(wire.bytes(answer.body)).map_err(|_| odd())?;
    match told.error {
        Some(refusal) if refusal.err_code == NO_MESSAGE => Ok(None),
        Some(refusal) => Err(refusal.told()),
        None => Ok(told.message),
    }
}

/// The messages of a bucket.
#[derive(Default)]
pub struct Listed {
    /// Those that are records.
    pub records: u64,
    /// The subjects of those that stand for removed ones.
    pub removed: Vec<String>,
}

/// Lists all messages of a bucket. Their values are not sent.
///
/// # Errors
/// JetStream's.
pub fn list(wire: &mut Wire, bucket: &str) -> Result<Listed> {
    let start = Instant::now();
    loop {
        // As many servers keep the place that it has come to: one alone may be chosen that was lost.
        let copies = look(wire, bucket)?.map_or(1, |stream| stream.copies());
        let (to, number) = wire.listen()?;
        wire.wait_at_most(Some(LONGEST_SILENCE))?;
        let listed = list_to(wire, bucket, (&to, number), copies);
        wire.wait_at_most(None)?;
        wire.end_listening(number)?;
        match listed {
            // In a cluster nobody sends where the one that was to has gone, or does not know yet to whom.
            Err(error) if is_late(&error) && start.elapsed() < LONGEST_LIST => {}
            listed => return listed,
        }
    }
}

fn list_to(wire: &mut Wire, bucket: &str, (to, number): (&str, u64), copies: usize) -> Result<Listed> {
    let asked = json!({ "stream_name": stream(bucket), "config": {
        "deliver_subject": to, "deliver_policy": "all", "ack_policy": "none", "headers_only": true, "mem_storage": true,
        "num_replicas": copies, "inactive_threshold": 5_000_000_000_u64,
    }});
    let name = format!("{API}.CONSUMER.CREATE.{}", stream(bucket));
    let answer = wire.own_subject();
    wire.send_for(&[name.as_bytes()], &answer, asked.to_string().as_bytes())?;
    let (mut listed, mut seen, mut made) = (Listed::default(), 0, None);
    // Messages may come before the answer.
    while made.as_ref().is_none_or(|made: &Consumer| seen < made.num_pending + made.delivered.consumer_seq) {
        let message = wire.message()?;
        if wire.subject(&message) == answer.as_bytes() {
            let mut told: Consumer = serde_json::from_slice(wire.bytes(message.body)).map_err(|_| odd())?;
            if let Some(refusal) = told.error.take() {
                return Err(refusal.told());
            }
            made = Some(told);
        } else if message.number == number {
            seen += 1;
            if wire.header(&message, OPERATION).is_none() {
                listed.records += 1;
            } else {
                listed.removed.push(String::from_utf8_lossy(wire.subject(&message)).into_owned());
            }
        }
    }
    let name = made.map(|made| made.name).unwrap_or_default();
    is_kept(&call(wire, &format!("CONSUMER.DELETE.{}.{name}", stream(bucket)), &Value::Null)?)?;
    Ok(listed)
}

fn stream(bucket: &str) -> String {
    format!("KV_{bucket}")
}
