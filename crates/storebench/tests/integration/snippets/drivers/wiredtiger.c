#include "main.h"

#include <unistd.h>

static WT_CONNECTION *db;
/* Cursors of a connection that was closed are no more. */
static int opened;
static __thread WT_CURSOR *own;
static __thread int own_of;

static int start(const char *folder) {
    ++opened;
    return open_records(folder, &db);
}

static WT_CURSOR *cursor(void) {
    if (own_of != opened) {
        must("cursor", open_cursor(db, &own));
        own_of = opened;
    }
    return own;
}

static int write_record(const char *key, const char *value) {
    int failed;
    /* One thread gives way to another that writes the same record. */
    while ((failed = put(cursor(), key, strlen(key), value, VALUE_BYTES)) == WT_ROLLBACK)
        ;
    return failed;
}

static int read_record(const char *key, char **value, size_t *bytes) {
    return get(cursor(), key, strlen(key), value, bytes);
}

/* The value of a setting of the table: its number, or its word. */
static void tell_table(const char *name, const char *table) {
    char wanted[64], unit;
    const char *at;
    unsigned long long number;
    snprintf(wanted, sizeof wanted, ",%s=", name);
    must("setting", (at = strstr(table, wanted)) == NULL);
    at += strlen(wanted);
    if (sscanf(at, "%llu%c", &number, &unit) == 2)
        printf("%s=%llu\n", name, unit == 'K' ? number << 10 : number);
    else if (*at == ',')
        printf("%s=none\n", name);
    else
        printf("%s=%.*s\n", name, (int)strcspn(at, ","), at);
}

/* The engine prints what it says of its log: to a file, for a moment. */
static void tell_log(void) {
    char line[512];
    long long number;
    int standard = dup(STDOUT_FILENO), log = 0;
    FILE *said = tmpfile();
    must("a file", said == NULL);
    fflush(stdout);
    dup2(fileno(said), STDOUT_FILENO);
    must("debug_info", db->debug_info(db, "log=true"));
    fflush(stdout);
    dup2(standard, STDOUT_FILENO);
    rewind(said);
    while (fgets(line, sizeof line, said) != NULL) {
        if (strstr(line, "Enabled: yes") != NULL)
            log = 1;
        else if (strncmp(line, "Pre-allocate", 12) == 0)
            printf("log_prealloc=%s\n", strstr(line, "yes") != NULL ? "true" : "false");
        else if (sscanf(line, "Logging maximum file size: %lld", &number) == 1)
            printf("log_file_max=%lld\n", number);
        else if (strncmp(line, "Log sync setting: ", 18) == 0)
            printf("transaction_sync=%s\n", strstr(line, "fsync") != NULL   ? "fsync"
                                            : strstr(line, "write") != NULL ? "none"
                                                                            : "off");
    }
    printf("log=%s\n", log ? "true" : "false");
    fclose(said);
    close(standard);
}

static void tell(void) {
    WT_SESSION *session = cursor()->session;
    WT_CURSOR *other;
    const char *text, *shown;
    int64_t number;
    must("metadata", session->open_cursor(session, "metadata:", NULL, NULL, &other));
    other->set_key(other, "file:records.wt");
    must("metadata", other->search(other));
    must("metadata", other->get_value(other, &text));
    tell_table("leaf_page_max", text);
    tell_table("block_compressor", text);
    other->close(other);
    must("statistics", db->reconfigure(db, "statistics=(fast)"));
    must("statistics", session->open_cursor(session, "statistics:", NULL, NULL, &other));
    other->set_key(other, WT_STAT_CONN_CACHE_BYTES_MAX);
    must("statistics", other->search(other));
    must("statistics", other->get_value(other, &text, &shown, &number));
    printf("cache_size=%lld\n", (long long)number);
    other->close(other);
    tell_log();
}

static int stop(void) {
    return close_records(db);
}
