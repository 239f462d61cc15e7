//! The messages of etcd's protocol that are used here, by the numbers of their fields in its `rpc.proto` and `kv.proto`; fields that are
//! left out here are left out by the reader, too.

use prost::bytes::Bytes;

/// A call: its path, what is asked, what is answered.
pub trait Call: prost::Message {
    /// The service and the call.
    const PATH: &'static str;
    /// The answer.
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
    Range => Ranged at "KV/Range";
    Put => Done at "KV/Put";
    DeleteRange => Deleted at "KV/DeleteRange";
    Transaction => Done at "KV/Txn";
    Compaction => Done at "KV/Compact";
    AskStatus => Status at "Maintenance/Status";
    Defragment => Done at "Maintenance/Defragment";
    Authenticate => Authenticated at "Auth/Authenticate";
    AskMembers => Members at "Cluster/MemberList";
}

/// Asks for the records from one key up to another, which is not among them.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Range {
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    #[prost(bytes = "bytes", tag = "2")]
    pub end: Bytes,
    #[prost(int64, tag = "3")]
    pub limit: i64,
    /// As the member knows them, without asking the others.
    #[prost(bool, tag = "7")]
    pub serializable: bool,
    #[prost(bool, tag = "9")]
    pub count_only: bool,
}

/// Records.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Ranged {
    #[prost(message, optional, tag = "1")]
    pub header: Option<Header>,
    #[prost(message, repeated, tag = "2")]
    pub records: Vec<Record>,
    #[prost(int64, tag = "4")]
    pub count: i64,
}

/// A record.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Record {
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    #[prost(bytes = "bytes", tag = "5")]
    pub value: Bytes,
}

/// The head of an answer.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Header {
    /// The cluster of that member.
    #[prost(uint64, tag = "1")]
    pub cluster: u64,
    /// The member that answers.
    #[prost(uint64, tag = "2")]
    pub member: u64,
    /// The number of the newest change.
    #[prost(int64, tag = "3")]
    pub revision: i64,
}

/// Sets the value of a key.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Put {
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    #[prost(bytes = "bytes", tag = "2")]
    pub value: Bytes,
}

/// Removes the records from one key up to another, or that of one key.
#[derive(Clone, PartialEq, prost::Message)]
pub struct DeleteRange {
    #[prost(bytes = "bytes", tag = "1")]
    pub key: Bytes,
    #[prost(bytes = "bytes", tag = "2")]
    pub end: Bytes,
}

/// The number of records that were removed.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Deleted {
    #[prost(int64, tag = "2")]
    pub deleted: i64,
}

/// Changes that are made all or none.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Transaction {
    #[prost(message, repeated, tag = "2")]
    pub changes: Vec<Change>,
}

/// A change.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Change {
    #[prost(oneof = "OneChange", tags = "2, 3")]
    pub change: Option<OneChange>,
}

/// The kinds of change.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum OneChange {
    #[prost(message, tag = "2")]
    Put(Put),
    #[prost(message, tag = "3")]
    Delete(DeleteRange),
}

/// Forgets the values that were former ones at a revision.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Compaction {
    #[prost(int64, tag = "1")]
    pub revision: i64,
    /// Answers when it is done.
    #[prost(bool, tag = "2")]
    pub physical: bool,
}

/// Asks a member how it is.
#[derive(Clone, PartialEq, prost::Message)]
pub struct AskStatus {}

/// The state of a member.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Status {
    #[prost(message, optional, tag = "1")]
    pub header: Option<Header>,
    #[prost(string, tag = "2")]
    pub version: String,
    /// The bytes of its file of records.
    #[prost(int64, tag = "3")]
    pub size: i64,
    /// The member that leads; 0 while there is none.
    #[prost(uint64, tag = "4")]
    pub leader: u64,
}

/// Asks for the members of the cluster.
#[derive(Clone, PartialEq, prost::Message)]
pub struct AskMembers {}

/// The members of the cluster.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Members {
    #[prost(message, repeated, tag = "2")]
    pub members: Vec<Member>,
}

/// A member, of which nothing is of interest but that it is one.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Member {}

/// Writes the file of records anew, without free pages.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Defragment {}

/// Shows who one is.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Authenticate {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub password: String,
}

/// The proof for the calls that follow.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Authenticated {
    #[prost(string, tag = "2")]
    pub token: String,
}

/// An answer of which nothing is of interest.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Done {}
