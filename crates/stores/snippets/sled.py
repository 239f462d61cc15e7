# sled {{version}} has no package for Python. The nearest store that has one
# is RocksDB: it keeps its records in the order of their keys, too, writes
# them to a log, and is written to by many threads at once. Its code is
# shown by `storebench advise --store rocksdb`.
