# WiredTiger {{version}} has no built package for Python. The nearest store
# that has one is Berkeley DB: a B-tree, too, with a log and a cache of its
# own. `storebench advise --store berkeleydb` shows its code.
