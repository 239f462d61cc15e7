//! The messages of etcd's protocol that are used here, by the field numbers of `rpc.proto` and `kv.proto`; the reader skips
//! fields that are not listed.

use prost::bytes::Bytes;

pub trait Call: prost::Message {
    /// Service and method.
    const PATH: &'static str;
    type Answer: prost::Message + Default;
}

macro_rules! calls {
    ($($request:ident => $answer:ident at $path:literal;)*) => {
        $(impl Call for $request {
            const PATH: &'static str = concat!("/etcdserverpb.", $path);
            type Answer = $answer;
        })*
    };
}

calls! {
    Range => RangeResponse at "KV/Range";
    Put => Done at "KV/Put";
    DeleteRange => DeleteRangeResponse at "KV/DeleteRange";
    Transaction => Done at "KV/Txn";
    Compaction => Done at "KV/Compact";
    AskStatus => Status at "Maintenance/Status";
    Defragment => Done at "Maintenance/Defragment";
    Authenticate => AuthenticateResponse at "Auth/Authenticate";
    AskMembers => Members at "Cluster/MemberList";
}

/// The end is exclusive.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Range {
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    #[prost(bytes = "bytes", tag = "2")]
    pub end: Bytes,
    #[prost(int64, tag = "3")]
    pub limit: i64,
    /// Without asking the other members.
    #[prost(bool, tag = "7")]
    pub serializable: bool,
    #[prost(bool, tag = "9")]
    pub count_only: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct RangeResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<Header>,
    #[prost(message, repeated, tag = "2")]
    pub records: Vec<Record>,
    #[prost(int64, tag = "4")]
    pub count: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Record {
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    #[prost(bytes = "bytes", tag = "5")]
    pub value: Bytes,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Header {
    #[prost(uint64, tag = "1")]
    pub cluster: u64,
    #[prost(uint64, tag = "2")]
    pub member: u64,
    /// The newest change.
    #[prost(int64, tag = "3")]
    pub revision: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Put {
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    #[prost(bytes = "bytes", tag = "2")]
    pub value: Bytes,
}

/// The end is exclusive; without it, one key.
#[derive(Clone, PartialEq, prost::Message)]
pub struct DeleteRange {
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    #[prost(bytes = "bytes", tag = "2")]
    pub end: Bytes,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct DeleteRangeResponse {
    #[prost(int64, tag = "2")]
    pub deleted: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Transaction {
    #[prost(message, repeated, tag = "2")]
    pub changes: Vec<Change>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Change {
    #[prost(oneof = "OneChange", tags = "2, 3")]
    pub change: Option<OneChange>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum OneChange {
    #[prost(message, tag = "2")]
    Put(Put),
    #[prost(message, tag = "3")]
    Delete(DeleteRange),
}

/// Drops values that were replaced before a revision.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Compaction {
    #[prost(int64, tag = "1")]
    pub revision: i64,
    /// Answers when it is done.
    #[prost(bool, tag = "2")]
    pub physical: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct AskStatus {}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Status {
    #[prost(message, optional, tag = "1")]
    pub header: Option<Header>,
    #[prost(string, tag = "2")]
    pub version: String,
    /// Bytes of its file.
    #[prost(int64, tag = "3")]
    pub size: i64,
    /// 0 without a leader.
    #[prost(uint64, tag = "4")]
    pub leader: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct AskMembers {}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Members {
    #[prost(message, repeated, tag = "2")]
    pub members: Vec<Member>,
}

/// Only counted.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Member {}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Defragment {}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Authenticate {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub password: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct AuthenticateResponse {
    #[prost(string, tag = "2")]
    pub token: String,
}

/// Without fields of interest.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Done {}
