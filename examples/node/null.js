// A store in Node that does nothing: it shows what the boundary costs. Build it: make -C examples node-null
"use strict";

const [NONE, WHOLE, MANY] = [0, 0, 2];
const [REPLACES_WHOLE, KEEPS_NOTHING] = [1 << 2, 1 << 7];
const EMPTY = Buffer.alloc(0);

exports.TABLE = {
  name: "node-null",
  summary: "does nothing, in Node",
  version: process.versions.node,
  flags: REPLACES_WHOLE | KEEPS_NOTHING,
  sessions: MANY,
  shipped: NONE,
  offers: [[NONE, WHOLE, WHOLE, "keeps nothing"]],
  settings: [],
};

exports.open = () => new Null();

class Null {
  tier() {
    return NONE;
  }

  count() {
    return 0;
  }

  settle() {}

  settings() {
    return [];
  }

  session() {
    return this;
  }

  close() {}

  get(key) {
    return EMPTY;
  }

  put(key, value) {}

  remove(key) {}

  batch(changes) {}

  scan(key, limit) {
    return [];
  }
}
