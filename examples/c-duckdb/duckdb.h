/* What is used of DuckDB's C interface, as the package has no header. */
#include <stdint.h>

typedef struct duckdb_database_ *duckdb_database;
typedef struct duckdb_connection_ *duckdb_connection;
typedef struct duckdb_config_ *duckdb_config;
typedef struct duckdb_statement_ *duckdb_statement;
typedef struct duckdb_chunk_ *duckdb_chunk;
typedef struct duckdb_vector_ *duckdb_vector;
typedef struct duckdb_result {
    uint64_t old_counts[3];
    void *old_columns;
    char *old_error;
    void *data;
} duckdb_result;
/* Text or bytes in a vector: in place up to 12 of them. */
typedef union duckdb_bytes {
    struct {
        uint32_t len;
        char head[4];
        const char *at;
    } far;
    struct {
        uint32_t len;
        char bytes[12];
    } near;
} duckdb_bytes;

const char *duckdb_library_version(void);
int duckdb_create_config(duckdb_config *config);
int duckdb_set_config(duckdb_config config, const char *name, const char *value);
void duckdb_destroy_config(duckdb_config *config);
int duckdb_open_ext(const char *path, duckdb_database *database, duckdb_config config, char **error);
void duckdb_close(duckdb_database *database);
int duckdb_connect(duckdb_database database, duckdb_connection *connection);
void duckdb_disconnect(duckdb_connection *connection);
int duckdb_query(duckdb_connection connection, const char *sql, duckdb_result *result);
int duckdb_prepare(duckdb_connection connection, const char *sql, duckdb_statement *statement);
const char *duckdb_prepare_error(duckdb_statement statement);
void duckdb_destroy_prepare(duckdb_statement *statement);
int duckdb_bind_blob(duckdb_statement statement, uint64_t index, const void *data, uint64_t len);
int duckdb_bind_uint64(duckdb_statement statement, uint64_t index, uint64_t value);
int duckdb_execute_prepared(duckdb_statement statement, duckdb_result *result);
void duckdb_destroy_result(duckdb_result *result);
const char *duckdb_result_error(duckdb_result *result);
duckdb_chunk duckdb_fetch_chunk(duckdb_result result);
void duckdb_destroy_data_chunk(duckdb_chunk *chunk);
uint64_t duckdb_data_chunk_get_size(duckdb_chunk chunk);
duckdb_vector duckdb_data_chunk_get_vector(duckdb_chunk chunk, uint64_t column);
void *duckdb_vector_get_data(duckdb_vector vector);
void duckdb_free(void *data);

static inline const char *bytes_of(const duckdb_bytes *bytes) { return bytes->far.len <= 12 ? bytes->near.bytes : bytes->far.at; }

static inline const duckdb_bytes *column(duckdb_chunk chunk, uint64_t column) {
    return duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, column));
}
