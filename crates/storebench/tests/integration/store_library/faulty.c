/* The store of examples/c-log with a fault: -DFAULT=FAULT_NAME. */
#define storebench_stores honest_stores
#include "../../../../../examples/c-log/store.c"
#undef storebench_stores

/* Numbers that the preprocessor knows, too. */
#define FAULT_NONE 0
/* What can be told before a run. */
#define FAULT_NO_SYMBOL 1
#define FAULT_NULL 2
#define FAULT_OTHER_VERSION 3
#define FAULT_NO_STORES 4
#define FAULT_SMALL 5
#define FAULT_NO_PUT 6
#define FAULT_NO_SCAN 7
#define FAULT_BAD_NAME 8
#define FAULT_TAKEN_NAME 9
#define FAULT_NO_OFFERS 10
#define FAULT_NO_VERSION 11
#define FAULT_UNBOUND 12
#define FAULT_CRASH_LOAD 13
#define FAULT_CRASH_ASK 14
#define FAULT_HANG_ASK 15
#define FAULT_EXIT_ASK 16
/* What a trial tells. */
#define FAULT_CRASH_OPEN 17
#define FAULT_FAIL_OPEN 18
#define FAULT_MUTE_OPEN 19
#define FAULT_CRASH_PUT 20
#define FAULT_HANG_PUT 21
#define FAULT_EXIT_PUT 22
#define FAULT_BAD_CODE 23
#define FAULT_BAD_VALUE 24
#define FAULT_OTHER_TIER 25
#define FAULT_DROPS_PUTS 26
#define FAULT_NEVER_SYNCS 27
#define FAULT_MISCOUNTS 28
#define FAULT_FORGETS 29
#define FAULT_PRINTS 30
/* What can be told before a run, too. */
#define FAULT_HANG_LOAD 31
#define FAULT_FORK_LOAD 32
#define FAULT_ANSWERS_ASK 33
/* No fault: a handle is whatever the library likes. */
#define FAULT_NULL_HANDLE 34
/* What a check of power cuts tells: it says that its calls can't be counted, and never syncs. */
#define FAULT_UNSEEN 35
#define HAS(fault) (FAULT == FAULT_##fault)

/* A real one: a signal that is raised is forgiven by Rust's handler, which waits for the fault to come again. */
static void crash(void) { *(volatile int *)(uintptr_t)8 = 0; }

#if HAS(CRASH_LOAD)
__attribute__((constructor)) static void at_load(void) { crash(); }
#endif

#if HAS(HANG_LOAD)
/* It closes what it could answer on, too. */
__attribute__((constructor)) static void at_load(void) {
    for (int file = 0; file < 1024; file++) close(file);
    for (;;) pause();
}
#endif

#if HAS(FORK_LOAD)

__attribute__((constructor)) static void at_load(void) {
    if (fork() == 0)
        for (;;) pause();
}
#endif

#if HAS(UNBOUND)
int32_t there_is_no_such_function(void);
#endif

/* What the file says, or that there is no store. */
static inline void answer(void) {
    char text[4096] = "{\"Ok\":[]}";
    int file = open("answer.json", O_RDONLY);
    ssize_t length = file < 0 ? (ssize_t)strlen(text) : read(file, text, sizeof text);
    _exit(length < 0 || write(0, text, (size_t)length) != length);
}

#if HAS(NULL_HANDLE)
static void *handle;
static int32_t null_open(const sb_store *self, const sb_how *how, void **out, sb_error *error) {
    puts("opened");
    *out = NULL;
    return open_store(self, how, &handle, error);
}
static int32_t null_close(void *of, sb_error *error) {
    puts("closed");
    return of == NULL ? close_store(handle, error) : SB_FAILED;
}
static int32_t null_tier(void *of) { return tier(of ? of : handle); }
static int32_t null_count(void *of, uint64_t *records, sb_error *error) { return count(of ? of : handle, records, error); }
static int32_t null_settle(void *of, sb_error *error) { return settle(of ? of : handle, error); }
static int32_t null_settings(void *of, const sb_value **values, size_t *n, sb_error *error) {
    return read_settings(of ? of : handle, values, n, error);
}
static int32_t null_session(void *of, void **out, sb_error *error) { return open_session(of ? of : handle, out, error); }
#endif

static int32_t faulty_open(const sb_store *self, const sb_how *how, void **out, sb_error *error) {
    if (HAS(CRASH_OPEN)) crash();
    if (HAS(MUTE_OPEN)) return SB_FAILED;
    if (HAS(FAIL_OPEN)) {
        memset(error->text, 'x', sizeof error->text); /* No zero at its end. */
        return SB_FAILED;
    }
    sb_how changed = *how;
    if (HAS(NEVER_SYNCS) || HAS(UNSEEN)) changed.tier = SB_PROCESS;
    return open_store(self, &changed, out, error);
}

static int32_t faulty_tier(void *of) {
    if (HAS(NEVER_SYNCS) || HAS(UNSEEN)) return SB_POWER;
    if (HAS(OTHER_TIER)) return SB_NONE;
    return tier(of);
}

static int32_t faulty_count(void *of, uint64_t *records, sb_error *error) {
    int32_t code = count(of, records, error);
    *records += HAS(MISCOUNTS);
    return code;
}

static int32_t faulty_put(void *of, const void *key, size_t key_len, const void *value, size_t value_len, sb_error *error) {
    if (HAS(CRASH_PUT)) crash();
    if (HAS(EXIT_PUT)) _exit(0);
    if (HAS(HANG_PUT)) pause();
    if (HAS(BAD_CODE)) return 77;
    if (HAS(DROPS_PUTS)) return SB_OK;
    if (HAS(PRINTS)) printf("{\"Ok\":null}\n");
#if HAS(UNBOUND)
    return there_is_no_such_function();
#endif
    int32_t code = put(of, key, key_len, value, value_len, error);
    /* What is only in memory until it is closed: here all but the length of the file. */
    if (HAS(FORGETS) && ftruncate(((session *)of)->of->file, 0)) return SB_FAILED;
    return code;
}

static int32_t faulty_get(void *of, const void *key, size_t key_len, const void **value, size_t *value_len, sb_error *error) {
    if (!HAS(BAD_VALUE)) return get(of, key, key_len, value, value_len, error);
    *value = NULL, *value_len = 5;
    return SB_OK;
}

#if !HAS(NO_SYMBOL)
__attribute__((visibility("default"))) const sb_library *storebench_stores(uint32_t version) {
    static sb_store store;
    static const sb_store *stores[] = {&store};
    static sb_library library = {SB_VERSION, 1, stores};
    printf("A library may print as it is asked.\n");
    if (HAS(NULL)) return NULL;
    if (HAS(CRASH_ASK)) crash();
    if (HAS(EXIT_ASK)) _exit(3);
    if (HAS(HANG_ASK)) pause();
    if (HAS(ANSWERS_ASK)) answer();
    store = *honest_stores(version)->stores[0];
    store.open = faulty_open, store.tier = faulty_tier, store.count = faulty_count, store.put = faulty_put, store.get = faulty_get;
#if HAS(NULL_HANDLE)
    store.open = null_open, store.close = null_close, store.tier = null_tier, store.count = null_count;
    store.settle = null_settle, store.read_settings = null_settings, store.session = null_session;
    setvbuf(stdout, NULL, _IOLBF, 0);
#endif
    store.name = HAS(TAKEN_NAME) ? "sqlite" : HAS(BAD_NAME) ? "C log!" : "faulty";
    if (HAS(OTHER_VERSION)) library.version = 7;
    if (HAS(NO_STORES)) library.count = 0;
    if (HAS(SMALL)) store.size = 100;
    if (HAS(NO_PUT)) store.put = NULL, store.batch = NULL;
    if (HAS(UNSEEN)) store.flags |= SB_OWN_CALLS;
    if (HAS(NO_SCAN)) store.flags |= SB_ORDERED;
    if (HAS(NO_OFFERS)) store.offer_count = 0;
    if (HAS(NO_VERSION)) store.version = NULL;
    return &library;
}
#endif
