/* A store in C by storebench_store.h: every write is appended to one file, and a hash table in memory, rebuilt when the file is
 * opened, holds the values. Build and run it: make -C examples c-log, then storebench --store-library examples/build/libc-log.so ... */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storebench_store.h"

/* An entry of the log: a checksum of the rest, the lengths of key and value, key, value. */
#define HEAD 24
#define REMOVED UINT64_MAX

/* A record in memory, key and value in one piece. */
typedef struct record {
    struct record *next;
    uint64_t key_len, value_len;
    char bytes[];
} record;

typedef struct store {
    int file;
    int synced;         /* each write waits for the disk */
    uint64_t end;       /* bytes of whole entries in the file */
    pthread_rwlock_t lock;
    record **buckets;   /* a power of two of them */
    size_t bucket_count, records;
    sb_value told[1];
} store;

/* A buffer that grows and is kept. */
typedef struct buffer {
    char *bytes;
    size_t len, room;
} buffer;

typedef struct session {
    store *of;
    buffer entries, value;
} session;

static int32_t fail(sb_error *error, const char *doing) {
    snprintf(error->text, sizeof error->text, "%s: %s", doing, strerror(errno));
    return SB_FAILED;
}

static uint64_t hash(uint64_t from, const void *data, size_t len) { /* FNV-1a */
    const unsigned char *bytes = data;
    for (size_t i = 0; i < len; i++) from = (from ^ bytes[i]) * 0x100000001b3;
    return from;
}
#define SEED 0xcbf29ce484222325

static int reserve(buffer *buffer, size_t more) {
    if (buffer->room - buffer->len >= more) return 1;
    size_t room = (buffer->len + more) * 2;
    char *bytes = realloc(buffer->bytes, room);
    if (!bytes) return 0;
    buffer->bytes = bytes, buffer->room = room;
    return 1;
}

/* ---- The table in memory */

static record **place(store *s, const void *key, size_t len) {
    uint64_t mixed = hash(SEED, key, len);
    record **at = &s->buckets[(mixed ^ mixed >> 32) & (s->bucket_count - 1)];
    while (*at && ((*at)->key_len != len || memcmp((*at)->bytes, key, len))) at = &(*at)->next;
    return at;
}

static int grow(store *s) {
    size_t old_count = s->bucket_count;
    record **old = s->buckets, **new = calloc(old_count ? old_count * 2 : 1024, sizeof *new);
    if (!new) return 0;
    s->buckets = new, s->bucket_count = old_count ? old_count * 2 : 1024;
    for (size_t i = 0; i < old_count; i++)
        for (record *r = old[i], *next; r; r = next) {
            next = r->next, r->next = NULL;
            *place(s, r->bytes, r->key_len) = r;
        }
    free(old);
    return 1;
}

static void drop(store *s, record **at) {
    record *gone = *at;
    if (!gone) return;
    *at = gone->next;
    free(gone);
    s->records--;
}

/* Takes a change; its memory may be missing. */
static int take(store *s, const void *key, size_t key_len, const void *value, uint64_t value_len) {
    record **at = place(s, key, key_len);
    if (value_len == REMOVED) return drop(s, at), 1;
    record *new = malloc(sizeof *new + key_len + value_len);
    if (!new || (s->records >= s->bucket_count && !grow(s))) return free(new), 0;
    drop(s, at = place(s, key, key_len));
    new->next = *at, new->key_len = key_len, new->value_len = value_len;
    memcpy(new->bytes, key, key_len);
    memcpy(new->bytes + key_len, value, value_len);
    *at = new;
    s->records++;
    return 1;
}

/* ---- The log */

static int add_entry(buffer *out, const void *key, size_t key_len, const void *value, size_t value_len) {
    uint64_t head[3] = {0, key_len, value ? value_len : REMOVED};
    if (!reserve(out, HEAD + key_len + value_len)) return 0;
    char *at = out->bytes + out->len;
    memcpy(at + HEAD, key, key_len);
    if (value_len) memcpy(at + HEAD + key_len, value, value_len);
    memcpy(at, head, HEAD);
    head[0] = hash(SEED, at + 8, HEAD - 8 + key_len + value_len);
    memcpy(at, head, 8);
    out->len += HEAD + key_len + value_len;
    return 1;
}

/* Takes the whole entries of the log; `end` is where they end. */
static int replay(store *s, const char *log, uint64_t size) {
    while (size - s->end >= HEAD) {
        const char *at = log + s->end;
        uint64_t head[3], left = size - s->end - HEAD;
        memcpy(head, at, HEAD);
        uint64_t value_len = head[2] == REMOVED ? 0 : head[2];
        if (head[1] > left || value_len > left - head[1]) break;
        if (hash(SEED, at + 8, HEAD - 8 + head[1] + value_len) != head[0]) break;
        if (!take(s, at + HEAD, head[1], at + HEAD + head[1], head[2])) return 0;
        s->end += HEAD + head[1] + value_len;
    }
    return 1;
}

static int load(store *s) {
    struct stat stat;
    if (fstat(s->file, &stat)) return 0;
    char *log = malloc(stat.st_size + 1);
    uint64_t size = 0;
    for (ssize_t got = 1; log && got > 0; size += got) {
        got = pread(s->file, log + size, stat.st_size - size, size);
        if (got < 0) return free(log), 0;
    }
    int done = log && replay(s, log, size);
    free(log);
    /* A crash may have cut the last entry off; nothing must be appended behind such a part. */
    return done && !ftruncate(s->file, s->end);
}

/* Appends entries in one write, and syncs them if that was promised. */
static int append(store *s, const buffer *entries) {
    for (size_t done = 0; done < entries->len;) {
        ssize_t wrote = pwrite(s->file, entries->bytes + done, entries->len - done, s->end + done);
        if (wrote < 0) return 0;
        done += wrote;
    }
    if (s->synced && fdatasync(s->file)) return 0;
    s->end += entries->len;
    return 1;
}

static int32_t batch(void *of, const sb_change *changes, size_t count, sb_error *error) {
    session *own = of;
    store *s = own->of;
    own->entries.len = 0;
    for (const sb_change *c = changes; c < changes + count; c++)
        if (!add_entry(&own->entries, c->key, c->key_len, c->value, c->value_len)) return fail(error, "making entries");
    pthread_rwlock_wrlock(&s->lock);
    int done = append(s, &own->entries);
    if (!done) {
        fail(error, "writing to the log");
        /* Should cutting a part off fail too, the first error says more. */
        if (ftruncate(s->file, s->end)) errno = 0;
    }
    for (const sb_change *c = changes; done && c < changes + count; c++)
        if (!(done = take(s, c->key, c->key_len, c->value, c->value ? c->value_len : REMOVED))) fail(error, "keeping a record");
    pthread_rwlock_unlock(&s->lock);
    return done ? SB_OK : SB_FAILED;
}

static int32_t put(void *of, const void *key, size_t key_len, const void *value, size_t value_len, sb_error *error) {
    return batch(of, &(sb_change){key, key_len, value, value_len}, 1, error);
}

static int32_t remove_key(void *of, const void *key, size_t key_len, sb_error *error) {
    return batch(of, &(sb_change){key, key_len, NULL, 0}, 1, error);
}

static int32_t get(void *of, const void *key, size_t key_len, const void **value, size_t *value_len, sb_error *error) {
    session *own = of;
    pthread_rwlock_rdlock(&own->of->lock);
    const record *found = *place(own->of, key, key_len);
    int32_t code = found ? SB_OK : SB_MISSING;
    own->value.len = 0;
    /* Another session may replace it when the lock is gone, so the value is copied. */
    if (found && !reserve(&own->value, found->value_len + 1)) code = fail(error, "copying a value");
    if (code == SB_OK) {
        memcpy(own->value.bytes, found->bytes + found->key_len, found->value_len);
        *value = own->value.bytes, *value_len = found->value_len;
    }
    pthread_rwlock_unlock(&own->of->lock);
    return code;
}

/* ---- The store */

static int32_t close_store(void *of, sb_error *error) {
    store *s = of;
    int32_t code = s->file >= 0 && close(s->file) ? fail(error, "closing the log") : SB_OK;
    for (size_t i = 0; i < s->bucket_count; i++)
        while (s->buckets[i]) drop(s, &s->buckets[i]);
    free(s->buckets);
    pthread_rwlock_destroy(&s->lock);
    free(s);
    return code;
}

static int32_t open_store(const sb_store *self, const sb_how *how, void **out, sb_error *error) {
    (void)self;
    int synced = how->tier == SB_POWER;
    for (size_t i = 0; i < how->setting_count; i++) {
        const char *value = how->settings[i].value;
        if (strcmp(value, "none") && strcmp(value, "fdatasync")) {
            snprintf(error->text, sizeof error->text, "the setting sync=%.100s is none of none, fdatasync", value);
            return SB_BAD_SETTING;
        }
        synced = !strcmp(value, "fdatasync");
    }
    store *s = calloc(1, sizeof *s);
    if (!s) return fail(error, "opening");
    pthread_rwlock_init(&s->lock, NULL);
    s->synced = synced;
    s->told[0] = (sb_value){"sync", synced ? "fdatasync" : "none", 0};
    int folder = open(how->folder, O_RDONLY | O_DIRECTORY);
    s->file = folder < 0 ? -1 : openat(folder, "records.log", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    int opened = s->file >= 0 && grow(s) && load(s);
    /* What an earlier process did not sync counts as durable from here on, and so does the file's name. */
    if (opened && synced) opened = !fsync(s->file) && !fsync(folder);
    int32_t code = opened ? SB_OK : fail(error, "opening the log");
    if (folder >= 0) close(folder);
    if (opened) *out = s;
    else close_store(s, &(sb_error){{0}});
    return code;
}

static int32_t tier(void *of) { return ((store *)of)->synced ? SB_POWER : SB_PROCESS; }

static int32_t count(void *of, uint64_t *records, sb_error *error) {
    (void)error;
    *records = ((store *)of)->records;
    return SB_OK;
}

static int32_t settle(void *of, sb_error *error) { return fsync(((store *)of)->file) ? fail(error, "syncing the log") : SB_OK; }

static int32_t read_settings(void *of, const sb_value **values, size_t *count, sb_error *error) {
    (void)error;
    *values = ((store *)of)->told, *count = 1;
    return SB_OK;
}

static int32_t open_session(void *of, void **out, sb_error *error) {
    session *own = calloc(1, sizeof *own);
    if (!own) return fail(error, "opening a session");
    own->of = of;
    *out = own;
    return SB_OK;
}

static void end_session(void *of) {
    session *own = of;
    free(own->entries.bytes);
    free(own->value.bytes);
    free(own);
}

/* ---- What it is, what it can do, what it promises. Not `none`: what was written always survives the process. */

static const sb_offer OFFERS[] = {
    {SB_PROCESS, 1, SB_NOTHING, SB_NEWEST, "write", NULL},
    {SB_POWER, 1, SB_NOTHING, SB_NOTHING, "write, fdatasync", NULL},
};

static const sb_setting SETTINGS[] = {
    {"sync", "none, fdatasync", "none", "whether each write waits for the disk", "fdatasync: power; none: process", NULL, 0},
};

static const sb_store C_LOG = {
    .size = sizeof(sb_store),
    .name = "c-log",
    .summary = "one file that is only appended to, and a hash table in memory, in C",
    .practice = "one file; one process at a time",
    .version = "1.0",
    .flags = SB_REPLACES_WHOLE | SB_COPIES,
    .max_key_bytes = UINT32_MAX,
    .max_bytes = UINT64_MAX,
    .sessions = SB_ONE_WRITER,
    .shipped = SB_PROCESS,
    .offers = OFFERS,
    .offer_count = 2,
    .settings = SETTINGS,
    .setting_count = 1,
    .open = open_store,
    .close = close_store,
    .tier = tier,
    .count = count,
    .settle = settle,
    .read_settings = read_settings,
    .session = open_session,
    .end = end_session,
    .get = get,
    .put = put,
    .remove = remove_key,
    .batch = batch,
};

const sb_library *storebench_stores(uint32_t version) {
    static const sb_store *const stores[] = {&C_LOG};
    static const sb_library library = {SB_VERSION, 1, stores};
    return version == SB_VERSION ? &library : NULL;
}
