//! The direct loop beside which the store is held: Turso by its own interface, with syncs at checkpoints alone, without storebench and
//! without a boundary. It reads the clock around each call, as storebench does, and prints the mean: direct 10000 1024 20000 FOLDER

use std::error::Error;
use std::num::NonZero;
use std::sync::Arc;
use std::time::{Duration, Instant};

use turso_core::{Connection, Database, PlatformIO, SqliteDialect, Statement, Value};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const KEY: usize = 32;
/// storebench loads in batches of as many, too.
const BATCH: u64 = 500;
const FIRST: NonZero<usize> = NonZero::new(1).unwrap();
const SECOND: NonZero<usize> = NonZero::new(2).unwrap();

/// Numbers by xorshift.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn fill(&mut self, value: &mut [u8]) {
        value.fill_with(|| (self.next() >> 32) as u8);
    }
}

fn key(number: u64) -> [u8; KEY] {
    let mut key = [0; KEY];
    key[..8].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
    key[8..16].copy_from_slice(&number.to_be_bytes());
    key
}

fn get(statement: &mut Statement, key: &[u8], into: &mut Vec<u8>) -> Result<()> {
    statement.reset()?;
    statement.bind_at(FIRST, Value::Blob(key.to_vec()))?;
    into.clear();
    statement.run_with_row_callback(|row| {
        if let Value::Blob(found) = row.get_value(0) {
            into.extend_from_slice(found);
        }
        Ok(())
    })?;
    if into.is_empty() { Err("the record is not there".into()) } else { Ok(()) }
}

fn put(statement: &mut Statement, key: &[u8], value: &[u8]) -> Result<()> {
    statement.reset()?;
    statement.bind_at(FIRST, Value::Blob(key.to_vec()))?;
    statement.bind_at(SECOND, Value::Blob(value.to_vec()))?;
    Ok(statement.run_ignore_rows()?)
}

fn run(connection: &Arc<Connection>, sql: &str) -> Result<()> {
    Ok(connection.prepare(sql)?.run_ignore_rows()?)
}

fn main() -> Result<()> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [records, size, operations, folder] = given.as_slice() else {
        return Err("usage: direct RECORDS BYTES OPERATIONS FOLDER".into());
    };
    let (records, size, operations): (u64, usize, u32) =
        (records.parse()?, size.parse()?, operations.parse()?);
    let path = format!("{folder}/records.db");
    let database = Database::open_file(Arc::new(PlatformIO::new()?), &path, Arc::new(SqliteDialect))?;
    let connection = database.connect()?;
    run(&connection, "PRAGMA synchronous=normal")?;
    run(&connection, "CREATE TABLE records (k BLOB PRIMARY KEY, v BLOB NOT NULL)")?;
    let mut reading = connection.prepare("SELECT v FROM records WHERE k = ?1")?;
    let sql = "INSERT INTO records VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = excluded.v";
    let mut writing = connection.prepare(sql)?;
    let (mut chance, mut value, mut into) = (Chance(1), vec![0; size], Vec::new());
    run(&connection, "BEGIN IMMEDIATE")?;
    for number in 0..records {
        chance.fill(&mut value);
        put(&mut writing, &key(number), &value)?;
        if number % BATCH == BATCH - 1 {
            run(&connection, "COMMIT")?;
            run(&connection, "BEGIN IMMEDIATE")?;
        }
    }
    run(&connection, "COMMIT")?;
    let mut timed = |name: &str, call: &mut dyn FnMut(&[u8], &[u8]) -> Result<()>| -> Result<()> {
        let mut sum = Duration::ZERO;
        for _ in 0..operations {
            let key = key(chance.next() % records);
            chance.fill(&mut value);
            let begin = Instant::now();
            call(&key, &value)?;
            sum += begin.elapsed();
        }
        println!("turso {name} {:.0} ns", sum.as_nanos() as f64 / f64::from(operations));
        Ok(())
    };
    timed("update", &mut |key, value| put(&mut writing, key, value))?;
    timed("get", &mut |key, _| get(&mut reading, key, &mut into))
}
