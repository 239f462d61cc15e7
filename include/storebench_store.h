/* storebench_store.h, version 1: a store of records in any language, measured by storebench beside its own.
 *
 * A shared library exports one function, storebench_stores, and is given by `storebench --store-library ./libmine.so`. docs/store-library.md
 * tells how to write one, and examples/c-log is one. The suite, the audit, kills and power cuts hold it as they hold every other store.
 *
 * Memory. What is passed to a function is the caller's, and good until it returns. What a function gives is the library's:
 *   - tables and texts of sb_store and sb_library: for as long as the process lives;
 *   - the value of get: until the next call of the same session;
 *   - settings and statistics: until the next call of the same function, or close.
 * Texts are UTF-8 and end with a zero. Keys and values are bytes with a length; an empty value has an address, which need not be valid.
 *
 * Errors. A function gives an SB_ code. Where that is not SB_OK, it may write why to `error`, in the engine's own words. Nothing
 * may abort, exit, print to standard output, or unwind (an exception, a panic) out of a function.
 *
 * Threads. Functions of a store may be called by any thread, several at once. A session is used by the thread that opened it.
 * storebench ends sessions before it closes their store. */
#ifndef STOREBENCH_STORE_H
#define STOREBENCH_STORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SB_VERSION 1

/* The end of a call. */
enum {
    SB_OK = 0,
    SB_MISSING = 1,     /* get: the key is not there. remove may say so, or SB_OK */
    SB_UNSUPPORTED = 2, /* this can't be done here; what was left out of the table says so, too */
    SB_BAD_SETTING = 3, /* open: a value that a setting can't take */
    SB_FAILED = 4       /* the engine or the system said no */
};

/* Room for the text of an error; cut it where it is longer. */
typedef struct sb_error {
    char text[1024];
} sb_error;

/* What an acknowledged write survives (docs/guarantees.md). */
enum {
    SB_AS_SHIPPED = -1, /* open: whatever the engine gives by itself */
    SB_NONE = 0,
    SB_PROCESS = 1,     /* the process being killed */
    SB_POWER = 2        /* a power cut */
};

/* What an accident can cost, the worst first. */
enum {
    SB_WHOLE = 0,        /* the store may be damaged, or refuse to open */
    SB_RARELY_WHOLE = 1, /* the same, where the file system orders writes badly */
    SB_TORN = 2,         /* the newest writes, and a value may be left empty, cut short or mixed */
    SB_NEWEST = 3,       /* the newest writes, which may be many; the store is whole without them */
    SB_LAST = 4,         /* the last write; the store is whole without it */
    SB_UNFINISHED = 5,   /* the value that is being written, which may be left cut short or mixed */
    SB_NOTHING = 6       /* no acknowledged write */
};

/* A guarantee that the store offers. */
typedef struct sb_offer {
    int32_t tier;           /* SB_NONE, SB_PROCESS, SB_POWER */
    int32_t atomic_replace; /* 1: an accident of this tier's kind leaves a replaced value old or new, never a mixture */
    int32_t kill_costs;     /* SB_WHOLE and so on */
    int32_t power_cut_costs;
    const char *settings;   /* the engine's settings that give it, in its own words */
    const char *why;        /* the reason for what is lost, in half a sentence; may be NULL */
} sb_offer;

/* A setting that a user may give: --set mine.page_size=8192. */
typedef struct sb_setting {
    const char *name;
    const char *values;        /* those that it takes, for people: "512 to 65536" */
    const char *default_value;
    const char *help;          /* what it does */
    const char *promise;       /* its effect on the guarantee; NULL where it has none */
    const char *tune;          /* values worth a trial of `storebench tune`, separated by commas; may be NULL */
    int32_t in_bytes;          /* 1: people may write 4KiB; the library is given 4096 */
} sb_setting;

/* A name and its value: a setting as it is given or read back, a statistic. */
typedef struct sb_value {
    const char *name;
    const char *value;
    int32_t read_back; /* 1: the engine was asked, or its files were read; 0: what it was given */
} sb_value;

/* A record that is put; one whose value is NULL is removed. */
typedef struct sb_change {
    const void *key;
    size_t key_len;
    const void *value;
    size_t value_len;
} sb_change;

/* How a store is to be opened. */
typedef struct sb_how {
    size_t size;                /* of this, which may grow: read nothing beyond it */
    const char *folder;         /* it exists, is the store's alone, and may hold what the store left there. Any bytes but zero */
    int32_t tier;               /* what writes are to survive. The library may give another, where settings ask for it: tier tells */
    int32_t compress;           /* 1: compress values, with the store's codec */
    uint64_t cache_bytes;       /* all caches and buffers together, as far as they can be set; UINT64_MAX: the engine's default */
    uint64_t sessions;          /* that will be open at once */
    const sb_value *settings;   /* those of the table that the user gave */
    size_t setting_count;
} sb_how;

/* Shown a record by scan; it does not keep the addresses. */
typedef void (*sb_visit)(void *context, const void *key, size_t key_len, const void *value, size_t value_len);

/* What is true of a store. */
enum {
    SB_ORDERED = 1 << 0,         /* scan is there, in the order of the keys' bytes */
    SB_ATOMIC_BATCH = 1 << 1,    /* a batch is all or nothing, even through a crash */
    SB_REPLACES_WHOLE = 1 << 2,  /* who reads while a value is replaced gets the old one or the new one, whole */
    SB_COPIES = 1 << 3,          /* get shows a copy in the session's memory, so the application makes none */
    SB_OWN_CALLS = 1 << 4,       /* it makes system calls past the C library (as Go does): storebench can't count its syncs */
    SB_NO_EMPTY_VALUES = 1 << 5, /* values have at least a byte */
    SB_IN_MEMORY = 1 << 6,       /* nothing is there after close */
    SB_KEEPS_NOTHING = 1 << 7    /* a store that does nothing, to measure the boundary with */
};

/* Sessions at once. */
enum { SB_ONE = 0, SB_ONE_WRITER = 1, SB_MANY = 2 };

typedef struct sb_store sb_store;
struct sb_store {
    size_t size;              /* of this, which may grow: sizeof(sb_store) */
    const char *name;         /* in plans, on the command line, in results: lower case and digits, with hyphens */
    const char *summary;      /* half a line */
    const char *practice;     /* what no benchmark sees: its files, backups, processes that share it; may be NULL */
    const char *version;      /* the engine's; tables show the last word */
    const char *codec;        /* that compresses values where `compress` asks for it; NULL: none */
    uint64_t flags;           /* SB_ORDERED and so on */
    uint64_t max_key_bytes;   /* at least 32 */
    uint64_t max_bytes;       /* of all of its files; UINT64_MAX: no limit */
    int32_t sessions;         /* SB_ONE, SB_ONE_WRITER, SB_MANY */
    int32_t shipped;          /* the tier that it gives as shipped, one of the offers */
    const sb_offer *offers;   /* weakest first */
    size_t offer_count;
    const sb_setting *settings;
    size_t setting_count;

    /* Opens the store; `store` is whatever the library likes. */
    int32_t (*open)(const sb_store *self, const sb_how *how, void **store, sb_error *error);
    /* Closes the store and frees it, also where that fails. */
    int32_t (*close)(void *store, sb_error *error);
    /* The tier that it gives now. */
    int32_t (*tier)(void *store);
    int32_t (*count)(void *store, uint64_t *records, sb_error *error);
    /* Writes and syncs what is buffered, and does what the engine owes: files are then as after a while of rest. */
    int32_t (*settle)(void *store, sb_error *error);
    /* The settings that matter, as the engine reads them back. */
    int32_t (*read_settings)(void *store, const sb_value **values, size_t *count, sb_error *error);
    int32_t (*session)(void *store, void **session, sb_error *error);
    void (*end)(void *session);

    int32_t (*get)(void *session, const void *key, size_t key_len, const void **value, size_t *value_len, sb_error *error);
    /* Whether the key is there or not. When it returns, the write has the tier; so have remove and batch. */
    int32_t (*put)(void *session, const void *key, size_t key_len, const void *value, size_t value_len, sb_error *error);
    int32_t (*remove)(void *session, const void *key, size_t key_len, sb_error *error);
    int32_t (*batch)(void *session, const sb_change *changes, size_t count, sb_error *error);

    /* May be NULL. Shows up to `limit` records from `from` on, inclusive. */
    int32_t (*scan)(void *session, const void *from, size_t from_len, size_t limit, sb_visit visit, void *context, sb_error *error);
    /* May be NULL. */
    int32_t (*statistics)(void *store, const sb_value **values, size_t *count, sb_error *error);
    /* May be NULL. With SB_OWN_CALLS: the syncs since open, as the engine counts them. */
    int32_t (*syncs)(void *store, uint64_t *syncs, sb_error *error);
    /* May be NULL. Has the engine check its own files; SB_FAILED with the fault that it finds. */
    int32_t (*verify)(void *store, sb_error *error);
};

typedef struct sb_library {
    uint32_t version; /* SB_VERSION */
    uint32_t count;
    const sb_store *const *stores;
} sb_library;

/* What the library exports: the same table each time. `version` is that of storebench; NULL: the library can't serve it. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const sb_library *storebench_stores(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
