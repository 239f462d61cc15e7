//! The part of RocksDB's C interface (`rocksdb/c.h`, of versions 7.8 to 11.8) that the store uses.

use std::ffi::{c_char, c_int, c_uchar, c_void};

use super::super::opaque::opaque;
use super::functions::functions;

opaque! {
    Db: "rocksdb_t",
    Options: "rocksdb_options_t",
    ReadOptions: "rocksdb_readoptions_t",
    WriteOptions: "rocksdb_writeoptions_t",
    FlushOptions: "rocksdb_flushoptions_t",
    EnvOptions: "rocksdb_envoptions_t",
    IngestOptions: "rocksdb_ingestexternalfileoptions_t",
    TableOptions: "rocksdb_block_based_table_options_t",
    Cache: "rocksdb_cache_t",
    FilterPolicy: "rocksdb_filterpolicy_t",
    Iterator: "rocksdb_iterator_t",
    PinnableSlice: "rocksdb_pinnableslice_t",
    SstFileWriter: "rocksdb_sstfilewriter_t",
    WriteBatch: "rocksdb_writebatch_t",
    OptimisticDb: "rocksdb_optimistictransactiondb_t",
    OptimisticOptions: "rocksdb_optimistictransaction_options_t",
    Transaction: "rocksdb_transaction_t",
    Checkpoint: "rocksdb_checkpoint_t",
}

pub const ROCKSDB_NO_COMPRESSION: c_int = 0;
pub const ROCKSDB_SNAPPY_COMPRESSION: c_int = 1;
pub const ROCKSDB_LZ4_COMPRESSION: c_int = 4;
pub const ROCKSDB_ZSTD_COMPRESSION: c_int = 7;
pub const ROCKSDB_LEVEL_COMPACTION: c_int = 0;
pub const ROCKSDB_UNIVERSAL_COMPACTION: c_int = 1;

functions! {
    pub fn rocksdb_close(db: *mut Db);
    pub fn rocksdb_create_iterator(db: *mut Db, options: *const ReadOptions) -> *mut Iterator;
    pub fn rocksdb_delete(
        db: *mut Db,
        options: *const WriteOptions,
        key: *const c_char,
        key_len: usize,
        error: *mut *mut c_char,
    );
    pub fn rocksdb_compact_range(
        db: *mut Db,
        start: *const c_char,
        start_len: usize,
        limit: *const c_char,
        limit_len: usize,
    );
    pub fn rocksdb_flush(db: *mut Db, options: *const FlushOptions, error: *mut *mut c_char);
    pub fn rocksdb_free(pointer: *mut c_void);
    pub fn rocksdb_get_pinned(
        db: *mut Db,
        options: *const ReadOptions,
        key: *const c_char,
        key_len: usize,
        error: *mut *mut c_char,
    ) -> *mut PinnableSlice;
    pub fn rocksdb_ingest_external_file(
        db: *mut Db,
        files: *const *const c_char,
        count: usize,
        options: *const IngestOptions,
        error: *mut *mut c_char,
    );
    pub fn rocksdb_open(options: *const Options, name: *const c_char, error: *mut *mut c_char) -> *mut Db;
    pub fn rocksdb_checkpoint_create(
        checkpoint: *mut Checkpoint,
        folder: *const c_char,
        log_size_for_flush: u64,
        error: *mut *mut c_char,
    );
    pub fn rocksdb_checkpoint_object_create(db: *mut Db, error: *mut *mut c_char) -> *mut Checkpoint;
    pub fn rocksdb_checkpoint_object_destroy(checkpoint: *mut Checkpoint);
    pub fn rocksdb_property_value(db: *mut Db, name: *const c_char) -> *mut c_char;
    pub fn rocksdb_property_int(db: *mut Db, name: *const c_char, value: *mut u64) -> c_int;
    pub fn rocksdb_put(
        db: *mut Db,
        options: *const WriteOptions,
        key: *const c_char,
        key_len: usize,
        value: *const c_char,
        value_len: usize,
        error: *mut *mut c_char,
    );
    pub fn rocksdb_write(
        db: *mut Db,
        options: *const WriteOptions,
        batch: *mut WriteBatch,
        error: *mut *mut c_char,
    );

    pub fn rocksdb_pinnableslice_destroy(slice: *mut PinnableSlice);
    pub fn rocksdb_pinnableslice_value(slice: *const PinnableSlice, value_len: *mut usize) -> *const c_char;

    pub fn rocksdb_iter_destroy(iterator: *mut Iterator);
    pub fn rocksdb_iter_get_error(iterator: *const Iterator, error: *mut *mut c_char);
    pub fn rocksdb_iter_key(iterator: *const Iterator, key_len: *mut usize) -> *const c_char;
    pub fn rocksdb_iter_next(iterator: *mut Iterator);
    pub fn rocksdb_iter_seek(iterator: *mut Iterator, key: *const c_char, key_len: usize);
    pub fn rocksdb_iter_seek_to_first(iterator: *mut Iterator);
    pub fn rocksdb_iter_valid(iterator: *const Iterator) -> c_uchar;
    pub fn rocksdb_iter_value(iterator: *const Iterator, value_len: *mut usize) -> *const c_char;

    pub fn rocksdb_writebatch_clear(batch: *mut WriteBatch);
    pub fn rocksdb_writebatch_create() -> *mut WriteBatch;
    pub fn rocksdb_writebatch_delete(batch: *mut WriteBatch, key: *const c_char, key_len: usize);
    pub fn rocksdb_writebatch_destroy(batch: *mut WriteBatch);
    pub fn rocksdb_writebatch_put(
        batch: *mut WriteBatch,
        key: *const c_char,
        key_len: usize,
        value: *const c_char,
        value_len: usize,
    );

    pub fn rocksdb_sstfilewriter_create(
        environment: *const EnvOptions,
        options: *const Options,
    ) -> *mut SstFileWriter;
    pub fn rocksdb_sstfilewriter_destroy(writer: *mut SstFileWriter);
    pub fn rocksdb_sstfilewriter_file_size(writer: *mut SstFileWriter, bytes: *mut u64);
    pub fn rocksdb_sstfilewriter_finish(writer: *mut SstFileWriter, error: *mut *mut c_char);
    pub fn rocksdb_sstfilewriter_open(
        writer: *mut SstFileWriter,
        name: *const c_char,
        error: *mut *mut c_char,
    );
    pub fn rocksdb_sstfilewriter_put(
        writer: *mut SstFileWriter,
        key: *const c_char,
        key_len: usize,
        value: *const c_char,
        value_len: usize,
        error: *mut *mut c_char,
    );

    pub fn rocksdb_optimistictransaction_begin(
        db: *mut OptimisticDb,
        write: *const WriteOptions,
        options: *const OptimisticOptions,
        old: *mut Transaction,
    ) -> *mut Transaction;
    pub fn rocksdb_optimistictransaction_options_create() -> *mut OptimisticOptions;
    pub fn rocksdb_optimistictransaction_options_destroy(options: *mut OptimisticOptions);
    pub fn rocksdb_optimistictransactiondb_close(db: *mut OptimisticDb);
    pub fn rocksdb_optimistictransactiondb_close_base_db(db: *mut Db);
    pub fn rocksdb_optimistictransactiondb_get_base_db(db: *mut OptimisticDb) -> *mut Db;
    pub fn rocksdb_optimistictransactiondb_open(
        options: *const Options,
        name: *const c_char,
        error: *mut *mut c_char,
    ) -> *mut OptimisticDb;
    pub fn rocksdb_transaction_commit(transaction: *mut Transaction, error: *mut *mut c_char);
    pub fn rocksdb_transaction_destroy(transaction: *mut Transaction);
    pub fn rocksdb_transaction_get_pinned(
        transaction: *mut Transaction,
        options: *const ReadOptions,
        key: *const c_char,
        key_len: usize,
        error: *mut *mut c_char,
    ) -> *mut PinnableSlice;
    pub fn rocksdb_transaction_get_pinned_for_update(
        transaction: *mut Transaction,
        options: *const ReadOptions,
        key: *const c_char,
        key_len: usize,
        exclusive: c_uchar,
        error: *mut *mut c_char,
    ) -> *mut PinnableSlice;
    pub fn rocksdb_transaction_put(
        transaction: *mut Transaction,
        key: *const c_char,
        key_len: usize,
        value: *const c_char,
        value_len: usize,
        error: *mut *mut c_char,
    );
    pub fn rocksdb_transaction_rollback(transaction: *mut Transaction, error: *mut *mut c_char);

    pub fn rocksdb_options_create() -> *mut Options;
    pub fn rocksdb_options_destroy(options: *mut Options);
    pub fn rocksdb_options_set_block_based_table_factory(options: *mut Options, table: *mut TableOptions);
    pub fn rocksdb_options_set_compaction_style(options: *mut Options, number: c_int);
    pub fn rocksdb_options_set_compression(options: *mut Options, number: c_int);
    pub fn rocksdb_options_set_create_if_missing(options: *mut Options, on: c_uchar);
    pub fn rocksdb_options_set_max_background_jobs(options: *mut Options, number: c_int);
    pub fn rocksdb_options_set_max_open_files(options: *mut Options, number: c_int);
    pub fn rocksdb_options_set_write_buffer_size(options: *mut Options, bytes: usize);

    pub fn rocksdb_block_based_options_create() -> *mut TableOptions;
    pub fn rocksdb_block_based_options_destroy(options: *mut TableOptions);
    pub fn rocksdb_block_based_options_set_block_cache(options: *mut TableOptions, cache: *mut Cache);
    pub fn rocksdb_block_based_options_set_block_size(options: *mut TableOptions, bytes: usize);
    pub fn rocksdb_block_based_options_set_filter_policy(
        options: *mut TableOptions,
        policy: *mut FilterPolicy,
    );
    pub fn rocksdb_cache_create_lru(capacity: usize) -> *mut Cache;
    pub fn rocksdb_cache_destroy(cache: *mut Cache);
    pub fn rocksdb_filterpolicy_create_bloom(bits: f64) -> *mut FilterPolicy;

    pub fn rocksdb_envoptions_create() -> *mut EnvOptions;
    pub fn rocksdb_envoptions_destroy(options: *mut EnvOptions);
    pub fn rocksdb_flushoptions_create() -> *mut FlushOptions;
    pub fn rocksdb_flushoptions_destroy(options: *mut FlushOptions);
    pub fn rocksdb_flushoptions_set_wait(options: *mut FlushOptions, on: c_uchar);
    pub fn rocksdb_ingestexternalfileoptions_create() -> *mut IngestOptions;
    pub fn rocksdb_ingestexternalfileoptions_destroy(options: *mut IngestOptions);
    pub fn rocksdb_ingestexternalfileoptions_set_move_files(options: *mut IngestOptions, on: c_uchar);
    pub fn rocksdb_readoptions_create() -> *mut ReadOptions;
    pub fn rocksdb_readoptions_destroy(options: *mut ReadOptions);
    pub fn rocksdb_readoptions_set_fill_cache(options: *mut ReadOptions, on: c_uchar);
    pub fn rocksdb_writeoptions_create() -> *mut WriteOptions;
    pub fn rocksdb_writeoptions_destroy(options: *mut WriteOptions);
    pub fn rocksdb_writeoptions_disable_WAL(options: *mut WriteOptions, on: c_int);
    pub fn rocksdb_writeoptions_set_sync(options: *mut WriteOptions, on: c_uchar);
}
