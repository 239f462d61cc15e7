//! The table: messages, as an application on a phone keeps them. Every row follows from the seed, its id and its number of updates.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use storebench_model::store::sql::{SqlType, SqlValue};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::workload::transactions::{random_letters, random_number};

pub const TABLE: &str = "messages";

pub const COLUMNS: [(&str, SqlType); 8] = [
    ("id", SqlType::Integer),
    ("conversation", SqlType::Integer),
    ("sender", SqlType::Text),
    ("sent_at", SqlType::Integer),
    ("unread", SqlType::Integer),
    ("score", SqlType::Real),
    ("body", SqlType::Text),
    ("picture", SqlType::Blob),
];

/// Changes a row's `sent_at`, and so the index, too.
pub const UPDATE: &str = "UPDATE messages SET sent_at = ?, unread = ?, score = ?, body = ? WHERE id = ?";

pub const DELETE: &str = "DELETE FROM messages WHERE id = ?";

/// Conversations, to which messages belong.
const CONVERSATIONS: u64 = 50;
/// Lower and upper bound, included.
const PICTURE_BYTES: (u64, u64) = (8, 40);
/// Lower and upper bound, included.
const NAME_BYTES: (u64, u64) = (4, 16);
pub const DELETED: u8 = u8::MAX;

pub fn next_version(version: u8) -> u8 {
    (version + 1) % DELETED
}

/// The statements for table and index, with a dialect's type names.
pub fn schema(type_name: impl Fn(SqlType) -> &'static str) -> String {
    let column = |(index, (name, sql_type)): (usize, &(&str, SqlType))| {
        let key = if index == 0 { " PRIMARY KEY" } else { " NOT NULL" };
        format!("{name} {}{key}", type_name(*sql_type))
    };
    let columns: Vec<String> = COLUMNS.iter().enumerate().map(column).collect();
    format!(
        "CREATE TABLE {TABLE} ({}); CREATE INDEX messages_by_time ON {TABLE} (conversation, sent_at)",
        columns.join(", ")
    )
}

pub fn insert() -> String {
    let names = COLUMNS.map(|(name, _)| name).join(", ");
    format!("INSERT INTO {TABLE} ({names}) VALUES ({})", ["?"; COLUMNS.len()].join(", "))
}

pub fn select() -> String {
    let names = COLUMNS.map(|(name, _)| name).join(", ");
    format!("SELECT {names} FROM {TABLE} WHERE id = ?")
}

#[derive(Debug, Clone, Copy)]
pub struct RowSource {
    pub seed: u64,
    pub body_bytes: u64,
}

/// A row, whose memory is taken once and kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    id: i64,
    conversation: i64,
    sender: String,
    sent_at: i64,
    unread: i64,
    score: f64,
    body: String,
    picture: Vec<u8>,
}

impl RowSource {
    pub fn empty_row(&self) -> Row {
        Row {
            sender: String::with_capacity(NAME_BYTES.1 as usize),
            body: String::with_capacity(self.body_bytes as usize * 2),
            picture: Vec::with_capacity(PICTURE_BYTES.1 as usize),
            ..Row::default()
        }
    }

    /// Makes it the row of an id and version.
    pub fn fill(&self, row: &mut Row, id: u64, version: u8) {
        // The columns that do not change.
        let mut random = self.random(id, DELETED);
        row.id = id as i64;
        row.conversation = (random.next_u64() % CONVERSATIONS) as i64;
        row.sender.clear();
        row.sender.extend(random_letters(&mut random, NAME_BYTES.0, NAME_BYTES.1).map(char::from));
        row.picture.clear();
        let length = random_number(&mut random, PICTURE_BYTES.0, PICTURE_BYTES.1);
        row.picture.extend((0..length).map(|_| random.next_u64() as u8));
        // The columns that change.
        let mut random = self.random(id, version);
        row.sent_at = (random.next_u64() >> 20) as i64;
        row.unread = (random.next_u64() & 1) as i64;
        // A number that every format keeps as it is.
        row.score = (random.next_u64() % 4096) as f64 / 16.0;
        row.body.clear();
        let most = self.body_bytes + self.body_bytes / 2;
        row.body.extend(random_letters(&mut random, self.body_bytes / 2, most).map(char::from));
    }

    fn random(&self, id: u64, version: u8) -> Xoshiro256PlusPlus {
        let mut hashed = [0; 9];
        hashed[..8].copy_from_slice(&id.to_le_bytes());
        hashed[8] = version;
        Xoshiro256PlusPlus::seed_from_u64(xxh3_64_with_seed(&hashed, self.seed))
    }
}

impl Row {
    pub fn values(&self) -> [SqlValue<'_>; COLUMNS.len()] {
        [
            SqlValue::Integer(self.id),
            SqlValue::Integer(self.conversation),
            SqlValue::Text(&self.sender),
            SqlValue::Integer(self.sent_at),
            SqlValue::Integer(self.unread),
            SqlValue::Real(self.score),
            SqlValue::Text(&self.body),
            SqlValue::Blob(&self.picture),
        ]
    }

    pub fn update_values(&self) -> [SqlValue<'_>; 5] {
        [
            SqlValue::Integer(self.sent_at),
            SqlValue::Integer(self.unread),
            SqlValue::Real(self.score),
            SqlValue::Text(&self.body),
            SqlValue::Integer(self.id),
        ]
    }

    pub fn key(&self) -> [SqlValue<'_>; 1] {
        [SqlValue::Integer(self.id)]
    }

    pub fn id(&self) -> u64 {
        self.id as u64
    }

    /// The index's columns, and the id.
    pub fn index_entry(&self) -> [SqlValue<'_>; 3] {
        [SqlValue::Integer(self.conversation), SqlValue::Integer(self.sent_at), SqlValue::Integer(self.id)]
    }

    /// Bytes of its values, at eight for each number but its key.
    pub fn value_bytes(&self) -> u64 {
        (4 * 8 + self.sender.len() + self.body.len() + self.picture.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_from_seed_id_and_version() {
        let source = RowSource { seed: 1, body_bytes: 100 };
        let make_row = |source: RowSource, id, version| {
            let mut row = source.empty_row();
            source.fill(&mut row, id, version);
            row
        };
        let row = make_row(source, 7, 0);
        assert_eq!(row, make_row(source, 7, 0));
        let updated = make_row(source, 7, 1);
        assert_eq!(
            (row.conversation, &row.sender, &row.picture),
            (updated.conversation, &updated.sender, &updated.picture)
        );
        assert!(row.sent_at != updated.sent_at && row.body != updated.body);
        assert_ne!(row, make_row(source, 8, 0));
        assert_ne!(row, make_row(RowSource { seed: 2, ..source }, 7, 0));
    }

    #[test]
    fn bodies_have_the_mean_that_was_asked_for() {
        let source = RowSource { seed: 1, body_bytes: 100 };
        let mut row = source.empty_row();
        let capacity = row.body.capacity();
        let total: usize = (0..1000)
            .map(|id| {
                source.fill(&mut row, id, 0);
                assert!((50..=150).contains(&row.body.len()));
                row.body.len()
            })
            .sum();
        assert!((95_000..105_000).contains(&total), "{total}");
        assert_eq!(row.body.capacity(), capacity, "no memory is taken while the clock may run");
    }

    #[test]
    fn versions_never_come_to_stand_for_what_is_gone() {
        let versions: Vec<u8> =
            std::iter::successors(Some(0), |version| Some(next_version(*version))).take(600).collect();
        assert!(!versions.contains(&DELETED));
        assert_eq!((versions[254], versions[255]), (254, 0));
    }
}
