# redb {{version}} has no package for Python. The nearest store that has one
# is LMDB: a B+tree in one file, too, whose pages are copied when they
# change, with one writer at a time. Its code is shown by
# `storebench advise --store lmdb`.
