"""A store in Python that does nothing: it shows what the boundary costs. Build it: make -C examples python-null"""

import platform

NONE, WHOLE, MANY = 0, 0, 2
REPLACES_WHOLE, KEEPS_NOTHING = 1 << 2, 1 << 7

TABLE = {
    "name": "python-null",
    "summary": "does nothing, in Python",
    "version": platform.python_version(),
    "flags": REPLACES_WHOLE | KEEPS_NOTHING,
    "sessions": MANY,
    "shipped": NONE,
    "offers": [(NONE, WHOLE, WHOLE, "keeps nothing")],
    "settings": [],
}


def open(folder, tier, cache_bytes, sessions, settings):
    return Null()


class Null:
    def tier(self):
        return NONE

    def count(self):
        return 0

    def settle(self):
        pass

    def settings(self):
        return []

    def session(self):
        return self

    def close(self):
        pass

    def get(self, key):
        return b""

    def put(self, key, value):
        pass

    def remove(self, key):
        pass

    def batch(self, changes):
        pass

    def scan(self, key, limit):
        return []
