// The part of RocksDB's C interface (rocksdb/c.h) that the store uses, over its C++ interface. RocksDB's own c.cc has 1,700
// functions more, and what they call is a third of its sources, which nothing here needs. The store declares the same functions
// either way, so that it can also be linked with a library that has them all.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <rocksdb/c.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/write_batch.h>

using namespace rocksdb;

// What this file makes is RocksDB's own type under the name that c.h has for it.
struct rocksdb_options_t : Options {};
struct rocksdb_readoptions_t : ReadOptions {};
struct rocksdb_writeoptions_t : WriteOptions {};
struct rocksdb_flushoptions_t : FlushOptions {};
struct rocksdb_envoptions_t : EnvOptions {};
struct rocksdb_ingestexternalfileoptions_t : IngestExternalFileOptions {};
struct rocksdb_optimistictransaction_options_t : OptimisticTransactionOptions {};
struct rocksdb_block_based_table_options_t : BlockBasedTableOptions {};
struct rocksdb_cache_t : std::shared_ptr<Cache> {};
struct rocksdb_pinnableslice_t : PinnableSlice {};
struct rocksdb_writebatch_t : WriteBatch {};
struct rocksdb_sstfilewriter_t : SstFileWriter {
    using SstFileWriter::SstFileWriter;
};

namespace {

// What RocksDB makes is handed out as it is: c.h's types for it stay undefined.
DB *in(rocksdb_t *db) {
    return reinterpret_cast<DB *>(db);
}

OptimisticTransactionDB *in(rocksdb_optimistictransactiondb_t *db) {
    return reinterpret_cast<OptimisticTransactionDB *>(db);
}

Transaction *in(rocksdb_transaction_t *transaction) {
    return reinterpret_cast<Transaction *>(transaction);
}

Checkpoint *in(rocksdb_checkpoint_t *checkpoint) {
    return reinterpret_cast<Checkpoint *>(checkpoint);
}

Iterator *in(rocksdb_iterator_t *iterator) {
    return reinterpret_cast<Iterator *>(iterator);
}

const Iterator *in(const rocksdb_iterator_t *iterator) {
    return reinterpret_cast<const Iterator *>(iterator);
}

// c.h says it of every function: an error before is replaced, and no error leaves it alone.
bool fails(const Status &status, char **error) {
    if (status.ok())
        return false;
    free(*error);
    *error = strdup(status.ToString().c_str());
    return true;
}

// The value if there is one; null where it is absent, and where reading failed.
template <typename Read> rocksdb_pinnableslice_t *pinned(char **error, Read read) {
    std::unique_ptr<rocksdb_pinnableslice_t> value(new rocksdb_pinnableslice_t);
    const Status status = read(value.get());
    if (status.ok())
        return value.release();
    if (!status.IsNotFound())
        fails(status, error);
    return nullptr;
}

const char *bytes_of(const Slice &slice, size_t *length) {
    *length = slice.size();
    return slice.data();
}

} // namespace

extern "C" {

rocksdb_t *rocksdb_open(const rocksdb_options_t *options, const char *name, char **error) {
    std::unique_ptr<DB> db;
    fails(DB::Open(*options, name, &db), error);
    return reinterpret_cast<rocksdb_t *>(db.release());
}

void rocksdb_close(rocksdb_t *db) {
    delete in(db);
}

void rocksdb_put(rocksdb_t *db, const rocksdb_writeoptions_t *options, const char *key, size_t key_length, const char *value,
                 size_t value_length, char **error) {
    fails(in(db)->Put(*options, Slice(key, key_length), Slice(value, value_length)), error);
}

void rocksdb_delete(rocksdb_t *db, const rocksdb_writeoptions_t *options, const char *key, size_t key_length, char **error) {
    fails(in(db)->Delete(*options, Slice(key, key_length)), error);
}

void rocksdb_write(rocksdb_t *db, const rocksdb_writeoptions_t *options, rocksdb_writebatch_t *batch, char **error) {
    fails(in(db)->Write(*options, batch), error);
}

// The store reads by the next one. This is for the code in C that `advise` shows.
char *rocksdb_get(rocksdb_t *db, const rocksdb_readoptions_t *options, const char *key, size_t key_length, size_t *value_length,
                  char **error) {
    std::unique_ptr<rocksdb_pinnableslice_t> found(rocksdb_get_pinned(db, options, key, key_length, error));
    *value_length = found ? found->size() : 0;
    if (!found)
        return nullptr;
    // No byte is still a value, and not null.
    char *value = static_cast<char *>(malloc(found->size() + 1));
    return static_cast<char *>(memcpy(value, found->data(), found->size()));
}

rocksdb_pinnableslice_t *rocksdb_get_pinned(rocksdb_t *db, const rocksdb_readoptions_t *options, const char *key,
                                            size_t key_length, char **error) {
    return pinned(error, [&](PinnableSlice *value) {
        return in(db)->Get(*options, in(db)->DefaultColumnFamily(), Slice(key, key_length), value);
    });
}

void rocksdb_pinnableslice_destroy(rocksdb_pinnableslice_t *slice) {
    delete slice;
}

const char *rocksdb_pinnableslice_value(const rocksdb_pinnableslice_t *slice, size_t *length) {
    if (slice)
        return bytes_of(*slice, length);
    *length = 0;
    return nullptr;
}

void rocksdb_compact_range(rocksdb_t *db, const char *start, size_t start_length, const char *limit, size_t limit_length) {
    const Slice from(start, start_length), to(limit, limit_length);
    in(db)->CompactRange(CompactRangeOptions(), start ? &from : nullptr, limit ? &to : nullptr).PermitUncheckedError();
}

void rocksdb_flush(rocksdb_t *db, const rocksdb_flushoptions_t *options, char **error) {
    fails(in(db)->Flush(*options), error);
}

char *rocksdb_property_value(rocksdb_t *db, const char *name) {
    std::string value;
    return in(db)->GetProperty(name, &value) ? strdup(value.c_str()) : nullptr;
}

int rocksdb_property_int(rocksdb_t *db, const char *name, uint64_t *value) {
    return in(db)->GetIntProperty(name, value) ? 0 : -1;
}

void rocksdb_ingest_external_file(rocksdb_t *db, const char *const *files, const size_t count,
                                  const rocksdb_ingestexternalfileoptions_t *options, char **error) {
    fails(in(db)->IngestExternalFile(std::vector<std::string>(files, files + count), *options), error);
}

void rocksdb_free(void *pointer) {
    free(pointer);
}

// ---- Iterators

rocksdb_iterator_t *rocksdb_create_iterator(rocksdb_t *db, const rocksdb_readoptions_t *options) {
    return reinterpret_cast<rocksdb_iterator_t *>(in(db)->NewIterator(*options));
}

void rocksdb_iter_destroy(rocksdb_iterator_t *iterator) {
    delete in(iterator);
}

void rocksdb_iter_seek_to_first(rocksdb_iterator_t *iterator) {
    in(iterator)->SeekToFirst();
}

void rocksdb_iter_seek(rocksdb_iterator_t *iterator, const char *key, size_t length) {
    in(iterator)->Seek(Slice(key, length));
}

void rocksdb_iter_next(rocksdb_iterator_t *iterator) {
    in(iterator)->Next();
}

unsigned char rocksdb_iter_valid(const rocksdb_iterator_t *iterator) {
    return in(iterator)->Valid();
}

const char *rocksdb_iter_key(const rocksdb_iterator_t *iterator, size_t *length) {
    return bytes_of(in(iterator)->key(), length);
}

const char *rocksdb_iter_value(const rocksdb_iterator_t *iterator, size_t *length) {
    return bytes_of(in(iterator)->value(), length);
}

void rocksdb_iter_get_error(const rocksdb_iterator_t *iterator, char **error) {
    fails(in(iterator)->status(), error);
}

// ---- Batches

rocksdb_writebatch_t *rocksdb_writebatch_create() {
    return new rocksdb_writebatch_t;
}

void rocksdb_writebatch_destroy(rocksdb_writebatch_t *batch) {
    delete batch;
}

void rocksdb_writebatch_clear(rocksdb_writebatch_t *batch) {
    batch->Clear();
}

void rocksdb_writebatch_put(rocksdb_writebatch_t *batch, const char *key, size_t key_length, const char *value,
                            size_t value_length) {
    batch->Put(Slice(key, key_length), Slice(value, value_length)).PermitUncheckedError();
}

void rocksdb_writebatch_delete(rocksdb_writebatch_t *batch, const char *key, size_t key_length) {
    batch->Delete(Slice(key, key_length)).PermitUncheckedError();
}

// ---- Table files

rocksdb_sstfilewriter_t *rocksdb_sstfilewriter_create(const rocksdb_envoptions_t *environment, const rocksdb_options_t *options) {
    return new rocksdb_sstfilewriter_t(*environment, *options);
}

void rocksdb_sstfilewriter_destroy(rocksdb_sstfilewriter_t *writer) {
    delete writer;
}

void rocksdb_sstfilewriter_open(rocksdb_sstfilewriter_t *writer, const char *name, char **error) {
    fails(writer->Open(name), error);
}

void rocksdb_sstfilewriter_put(rocksdb_sstfilewriter_t *writer, const char *key, size_t key_length, const char *value,
                               size_t value_length, char **error) {
    fails(writer->Put(Slice(key, key_length), Slice(value, value_length)), error);
}

void rocksdb_sstfilewriter_finish(rocksdb_sstfilewriter_t *writer, char **error) {
    fails(writer->Finish(), error);
}

void rocksdb_sstfilewriter_file_size(rocksdb_sstfilewriter_t *writer, uint64_t *bytes) {
    *bytes = writer->FileSize();
}

// ---- Checkpoints

rocksdb_checkpoint_t *rocksdb_checkpoint_object_create(rocksdb_t *db, char **error) {
    Checkpoint *checkpoint = nullptr;
    fails(Checkpoint::Create(in(db), &checkpoint), error);
    return reinterpret_cast<rocksdb_checkpoint_t *>(checkpoint);
}

void rocksdb_checkpoint_create(rocksdb_checkpoint_t *checkpoint, const char *folder, uint64_t log_size_for_flush, char **error) {
    fails(in(checkpoint)->CreateCheckpoint(folder, log_size_for_flush), error);
}

void rocksdb_checkpoint_object_destroy(rocksdb_checkpoint_t *checkpoint) {
    delete in(checkpoint);
}

// ---- Transactions

rocksdb_optimistictransactiondb_t *rocksdb_optimistictransactiondb_open(const rocksdb_options_t *options, const char *name,
                                                                        char **error) {
    OptimisticTransactionDB *db = nullptr;
    fails(OptimisticTransactionDB::Open(*options, name, &db), error);
    return reinterpret_cast<rocksdb_optimistictransactiondb_t *>(db);
}

void rocksdb_optimistictransactiondb_close(rocksdb_optimistictransactiondb_t *db) {
    delete in(db);
}

rocksdb_t *rocksdb_optimistictransactiondb_get_base_db(rocksdb_optimistictransactiondb_t *db) {
    return reinterpret_cast<rocksdb_t *>(in(db)->GetBaseDB());
}

// It goes with the whole, and nothing was made for it.
void rocksdb_optimistictransactiondb_close_base_db(rocksdb_t *) {
}

rocksdb_transaction_t *rocksdb_optimistictransaction_begin(rocksdb_optimistictransactiondb_t *db,
                                                           const rocksdb_writeoptions_t *write,
                                                           const rocksdb_optimistictransaction_options_t *options,
                                                           rocksdb_transaction_t *old) {
    return reinterpret_cast<rocksdb_transaction_t *>(in(db)->BeginTransaction(*write, *options, in(old)));
}

void rocksdb_transaction_destroy(rocksdb_transaction_t *transaction) {
    delete in(transaction);
}

void rocksdb_transaction_commit(rocksdb_transaction_t *transaction, char **error) {
    fails(in(transaction)->Commit(), error);
}

void rocksdb_transaction_rollback(rocksdb_transaction_t *transaction, char **error) {
    fails(in(transaction)->Rollback(), error);
}

void rocksdb_transaction_put(rocksdb_transaction_t *transaction, const char *key, size_t key_length, const char *value,
                             size_t value_length, char **error) {
    fails(in(transaction)->Put(Slice(key, key_length), Slice(value, value_length)), error);
}

rocksdb_pinnableslice_t *rocksdb_transaction_get_pinned(rocksdb_transaction_t *transaction, const rocksdb_readoptions_t *options,
                                                        const char *key, size_t key_length, char **error) {
    return pinned(error, [&](PinnableSlice *value) { return in(transaction)->Get(*options, Slice(key, key_length), value); });
}

rocksdb_pinnableslice_t *rocksdb_transaction_get_pinned_for_update(rocksdb_transaction_t *transaction,
                                                                   const rocksdb_readoptions_t *options, const char *key,
                                                                   size_t key_length, unsigned char exclusive, char **error) {
    return pinned(error, [&](PinnableSlice *value) {
        const Status status = in(transaction)->GetForUpdate(*options, Slice(key, key_length), value->GetSelf(), exclusive);
        value->PinSelf();
        return status;
    });
}

// ---- Options

rocksdb_options_t *rocksdb_options_create() {
    return new rocksdb_options_t;
}

void rocksdb_options_destroy(rocksdb_options_t *options) {
    delete options;
}

void rocksdb_options_set_create_if_missing(rocksdb_options_t *options, unsigned char on) {
    options->create_if_missing = on;
}

void rocksdb_options_set_compression(rocksdb_options_t *options, int number) {
    options->compression = static_cast<CompressionType>(number);
}

void rocksdb_options_set_compaction_style(rocksdb_options_t *options, int number) {
    options->compaction_style = static_cast<CompactionStyle>(number);
}

void rocksdb_options_set_max_background_jobs(rocksdb_options_t *options, int number) {
    options->max_background_jobs = number;
}

void rocksdb_options_set_max_open_files(rocksdb_options_t *options, int number) {
    options->max_open_files = number;
}

void rocksdb_options_set_write_buffer_size(rocksdb_options_t *options, size_t bytes) {
    options->write_buffer_size = bytes;
}

void rocksdb_options_set_block_based_table_factory(rocksdb_options_t *options, rocksdb_block_based_table_options_t *table) {
    if (table)
        options->table_factory.reset(NewBlockBasedTableFactory(*table));
}

rocksdb_block_based_table_options_t *rocksdb_block_based_options_create() {
    return new rocksdb_block_based_table_options_t;
}

void rocksdb_block_based_options_destroy(rocksdb_block_based_table_options_t *table) {
    delete table;
}

void rocksdb_block_based_options_set_block_size(rocksdb_block_based_table_options_t *table, size_t bytes) {
    table->block_size = bytes;
}

void rocksdb_block_based_options_set_block_cache(rocksdb_block_based_table_options_t *table, rocksdb_cache_t *cache) {
    if (cache)
        table->block_cache = *cache;
}

// The filter is the table's from then on.
void rocksdb_block_based_options_set_filter_policy(rocksdb_block_based_table_options_t *table, rocksdb_filterpolicy_t *filter) {
    table->filter_policy.reset(reinterpret_cast<const FilterPolicy *>(filter));
}

rocksdb_filterpolicy_t *rocksdb_filterpolicy_create_bloom(double bits) {
    return reinterpret_cast<rocksdb_filterpolicy_t *>(const_cast<FilterPolicy *>(NewBloomFilterPolicy(bits)));
}

rocksdb_cache_t *rocksdb_cache_create_lru(size_t capacity) {
    return new rocksdb_cache_t{NewLRUCache(capacity)};
}

void rocksdb_cache_destroy(rocksdb_cache_t *cache) {
    delete cache;
}

rocksdb_readoptions_t *rocksdb_readoptions_create() {
    return new rocksdb_readoptions_t;
}

void rocksdb_readoptions_destroy(rocksdb_readoptions_t *options) {
    delete options;
}

void rocksdb_readoptions_set_fill_cache(rocksdb_readoptions_t *options, unsigned char on) {
    options->fill_cache = on;
}

rocksdb_writeoptions_t *rocksdb_writeoptions_create() {
    return new rocksdb_writeoptions_t;
}

void rocksdb_writeoptions_destroy(rocksdb_writeoptions_t *options) {
    delete options;
}

void rocksdb_writeoptions_set_sync(rocksdb_writeoptions_t *options, unsigned char on) {
    options->sync = on;
}

void rocksdb_writeoptions_disable_WAL(rocksdb_writeoptions_t *options, int on) {
    options->disableWAL = on;
}

rocksdb_flushoptions_t *rocksdb_flushoptions_create() {
    return new rocksdb_flushoptions_t;
}

void rocksdb_flushoptions_destroy(rocksdb_flushoptions_t *options) {
    delete options;
}

void rocksdb_flushoptions_set_wait(rocksdb_flushoptions_t *options, unsigned char on) {
    options->wait = on;
}

rocksdb_envoptions_t *rocksdb_envoptions_create() {
    return new rocksdb_envoptions_t;
}

void rocksdb_envoptions_destroy(rocksdb_envoptions_t *options) {
    delete options;
}

rocksdb_ingestexternalfileoptions_t *rocksdb_ingestexternalfileoptions_create() {
    return new rocksdb_ingestexternalfileoptions_t;
}

void rocksdb_ingestexternalfileoptions_destroy(rocksdb_ingestexternalfileoptions_t *options) {
    delete options;
}

void rocksdb_ingestexternalfileoptions_set_move_files(rocksdb_ingestexternalfileoptions_t *options, unsigned char on) {
    options->move_files = on;
}

rocksdb_optimistictransaction_options_t *rocksdb_optimistictransaction_options_create() {
    return new rocksdb_optimistictransaction_options_t;
}

void rocksdb_optimistictransaction_options_destroy(rocksdb_optimistictransaction_options_t *options) {
    delete options;
}

} // extern "C"
