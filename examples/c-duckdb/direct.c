/* The direct loop beside which the store is held: DuckDB by its C interface, without storebench and without a boundary. It reads the clock
 * around each call, as storebench does, and prints the mean: c-duckdb-direct 10000 1024 20000 FOLDER */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "duckdb.h"

/* storebench loads in batches of 500, too. */
enum { KEY = 32, BATCH = 500 };

static duckdb_statement read_one, write_one;
static unsigned char key[KEY], *value, *into;
static size_t size;

static void check(int failed, const char *doing) {
    if (!failed) return;
    fprintf(stderr, "%s failed\n", doing);
    exit(1);
}

static uint64_t chance(void) {
    static uint64_t state = 1;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

static void choose(uint64_t number) {
    uint64_t mixed = number * 0x9E3779B97F4A7C15;
    for (int i = 0; i < 8; i++) key[i] = (unsigned char)(mixed >> (56 - 8 * i)), key[8 + i] = (unsigned char)(number >> (56 - 8 * i));
    for (size_t i = 0; i < size; i++) value[i] = (unsigned char)(chance() >> 32);
}

static void get(void) {
    duckdb_result result;
    check(duckdb_bind_blob(read_one, 1, key, KEY), "binding");
    check(duckdb_execute_prepared(read_one, &result), "reading");
    duckdb_chunk chunk = duckdb_fetch_chunk(result);
    check(!chunk || !duckdb_data_chunk_get_size(chunk), "finding the record");
    const duckdb_bytes *found = column(chunk, 0);
    memcpy(into, bytes_of(found), found->far.len);
    duckdb_destroy_data_chunk(&chunk);
    duckdb_destroy_result(&result);
}

static void put(void) {
    duckdb_result result;
    check(duckdb_bind_blob(write_one, 1, key, KEY) || duckdb_bind_blob(write_one, 2, value, size), "binding");
    check(duckdb_execute_prepared(write_one, &result), "writing");
    duckdb_destroy_result(&result);
}

static void query(duckdb_connection connection, const char *sql) {
    duckdb_result result;
    check(duckdb_query(connection, sql, &result), sql);
    duckdb_destroy_result(&result);
}

static void timed(const char *name, void (*call)(void), uint64_t records, long operations) {
    double sum = 0;
    for (long i = 0; i < operations; i++) {
        struct timespec begin, end;
        choose(chance() % records);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        call();
        clock_gettime(CLOCK_MONOTONIC, &end);
        sum += (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
    }
    printf("c-duckdb %s %.0f ns\n", name, sum / (double)operations);
}

int main(int count, char **given) {
    if (count != 5) return fputs("usage: c-duckdb-direct RECORDS BYTES OPERATIONS FOLDER\n", stderr), 2;
    uint64_t records = strtoull(given[1], NULL, 10);
    size = strtoul(given[2], NULL, 10), value = malloc(size), into = malloc(size);
    char path[4096];
    snprintf(path, sizeof path, "%s/records.duckdb", given[4]);
    duckdb_database database;
    duckdb_connection connection;
    duckdb_config config;
    check(duckdb_create_config(&config), "opening");
    duckdb_set_config(config, "autoinstall_known_extensions", "false");
    duckdb_set_config(config, "autoload_known_extensions", "false");
    check(duckdb_open_ext(path, &database, config, NULL), "opening");
    duckdb_destroy_config(&config);
    check(duckdb_connect(database, &connection), "connecting");
    query(connection, "CREATE TABLE records (k BLOB PRIMARY KEY, v BLOB NOT NULL)");
    check(duckdb_prepare(connection, "SELECT v FROM records WHERE k = ?", &read_one), "preparing");
    check(duckdb_prepare(connection, "INSERT INTO records VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v", &write_one), "preparing");
    query(connection, "BEGIN");
    for (uint64_t number = 0; number < records; number++) {
        choose(number), put();
        if (number % BATCH == BATCH - 1) query(connection, "COMMIT"), query(connection, "BEGIN");
    }
    query(connection, "COMMIT");
    timed("update", put, records, strtol(given[3], NULL, 10));
    timed("get", get, records, strtol(given[3], NULL, 10));
    duckdb_destroy_prepare(&read_one), duckdb_destroy_prepare(&write_one);
    duckdb_disconnect(&connection), duckdb_close(&database);
    return 0;
}
