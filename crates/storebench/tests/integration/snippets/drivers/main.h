/*
 * Runs the code of a snippet by another main than its own: opens the store in the folder argv[1], lets argv[2] threads write
 * argv[3] records each, over one another, closes the store, opens it again and looks for them. Prints what the engine reads
 * back, as lines name=value. A driver includes this, and defines the functions below.
 */
#define main shown_main
#include "snippet.h"
#undef main

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 100, VALUE_BYTES = 1000 };

/* They give 0, or say what is wrong. A value that is not there is NULL. */
static int start(const char *folder);
static int write_record(const char *key, const char *value);
static int read_record(const char *key, char **value, size_t *bytes);
static void tell(void);
static int stop(void);

static int writes;

static void must(const char *what, int failed) {
    if (failed == 0)
        return;
    fprintf(stderr, "%s: %d\n", what, failed);
    exit(1);
}

static void *work(void *nothing) {
    char key[32], value[VALUE_BYTES];
    int number;
    memset(value, 'v', sizeof value);
    for (number = 0; number < writes; ++number) {
        snprintf(key, sizeof key, "key-%05d", number % KEYS);
        must("write", write_record(key, value));
    }
    return nothing;
}

int main(int count, char **words) {
    pthread_t threads[8];
    char key[32], *value, expected[VALUE_BYTES];
    size_t bytes = 0;
    int number, many;
    if (count != 4 || (many = atoi(words[2])) > 8)
        return 2;
    writes = atoi(words[3]);
    memset(expected, 'v', sizeof expected);
    must("open", start(words[1]));
    for (number = 0; number < many; ++number)
        must("thread", pthread_create(&threads[number], NULL, work, NULL));
    for (number = 0; number < many; ++number)
        must("join", pthread_join(threads[number], NULL));
    tell();
    must("close", stop());
    must("open again", start(words[1]));
    for (number = 0; number < KEYS && number < writes; ++number) {
        snprintf(key, sizeof key, "key-%05d", number);
        must("read", read_record(key, &value, &bytes));
        must("compare", value == NULL || bytes != VALUE_BYTES || memcmp(value, expected, VALUE_BYTES) != 0);
    }
    must("read what is not there", read_record("nobody's", &value, &bytes));
    must("compare with nothing", value != NULL);
    must("close again", stop());
    return 0;
}
