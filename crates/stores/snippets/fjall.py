# fjall {{version}} has no package for Python. The nearest store that has one
# is RocksDB: a log-structured merge tree, too, with a log, memory tables
# and sorted files. Its code is shown by
# `storebench advise --store rocksdb`.
