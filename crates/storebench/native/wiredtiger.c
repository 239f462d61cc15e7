/*
 * WiredTiger as plain functions. Its handles are structures of function pointers whose layout only wiredtiger.h knows, so the C
 * compiler, and not a copy of that layout, says what is called.
 *
 * Every function that can fail returns one of the codes below; sb_wt_message() then tells the engine's words.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <wiredtiger.h>

enum { SB_OK = 0, SB_NOT_FOUND = 1, SB_CONFLICT = 2, SB_FAILED = 3 };

/* Not "table:records", which is made in several steps: a power cut between them leaves a table that can't be opened. */
#define TABLE "file:records.wt"

/* A session and its cursor, for one thread. */
struct sb_wt_session {
    WT_SESSION *session;
    WT_CURSOR *cursor;
};

/* What the engine says of itself. */
struct sb_wt_account {
    int log;               /* not 0: there is a log */
    int prealloc;          /* not 0: files of the log are made before they are needed */
    uint64_t log_file_max; /* bytes */
    char log_sync[32];     /* what a commit does with the log */
};

static __thread char message[512];

/* Where the calling thread wants messages that are no errors. */
static __thread struct sb_wt_account *account;

static int on_error(WT_EVENT_HANDLER *handler, WT_SESSION *session, int code, const char *text) {
    (void)handler;
    (void)session;
    (void)code;
    snprintf(message, sizeof message, "%s", text);
    return 0;
}

static int on_message(WT_EVENT_HANDLER *handler, WT_SESSION *session, const char *text) {
    static const char maximum[] = "Logging maximum file size: ", sync[] = "Log sync setting: ";
    (void)handler;
    (void)session;
    if (account == NULL)
        return 0;
    if (strcmp(text, "Logging subsystem: Enabled: yes") == 0)
        account->log = 1;
    else if (strcmp(text, "Pre-allocate files: yes") == 0)
        account->prealloc = 1;
    else if (strncmp(text, maximum, sizeof maximum - 1) == 0)
        account->log_file_max = strtoull(text + sizeof maximum - 1, NULL, 10);
    else if (strncmp(text, sync, sizeof sync - 1) == 0)
        snprintf(account->log_sync, sizeof account->log_sync, "%s", text + sizeof sync - 1);
    return 0;
}

static WT_EVENT_HANDLER handler = {.handle_error = on_error, .handle_message = on_message};

const char *sb_wt_message(void) {
    return message;
}

const char *sb_wt_version(void) {
    return wiredtiger_version(NULL, NULL, NULL);
}

/* Where the engine's code lies. */
const void *sb_wt_code(void) {
    return (const void *)wiredtiger_open;
}

static int outcome(int ret) {
    switch (ret) {
    case 0:
        return SB_OK;
    case WT_NOTFOUND:
        return SB_NOT_FOUND;
    case WT_ROLLBACK:
        snprintf(message, sizeof message, "%s", wiredtiger_strerror(ret));
        return SB_CONFLICT;
    default:
        if (message[0] == '\0')
            snprintf(message, sizeof message, "%s", wiredtiger_strerror(ret));
        return SB_FAILED;
    }
}

/* ---- opening and closing ---- */

int sb_wt_open(const char *home, const char *config, WT_CONNECTION **connection) {
    message[0] = '\0';
    return outcome(wiredtiger_open(home, &handler, config, connection));
}

int sb_wt_close(WT_CONNECTION *connection) {
    message[0] = '\0';
    return outcome(connection->close(connection, NULL));
}

/* Makes the table, unless it is there. */
int sb_wt_create(WT_CONNECTION *connection, const char *config) {
    WT_SESSION *session;
    int ret, closed;
    message[0] = '\0';
    if ((ret = connection->open_session(connection, NULL, NULL, &session)) != 0)
        return outcome(ret);
    ret = session->create(session, TABLE, config);
    closed = session->close(session, NULL);
    return outcome(ret != 0 ? ret : closed);
}

int sb_wt_session_open(WT_CONNECTION *connection, struct sb_wt_session **out) {
    struct sb_wt_session *own = malloc(sizeof *own);
    int ret;
    message[0] = '\0';
    if (own == NULL)
        return outcome(WT_ERROR);
    if ((ret = connection->open_session(connection, NULL, NULL, &own->session)) == 0 &&
        (ret = own->session->open_cursor(own->session, TABLE, NULL, NULL, &own->cursor)) != 0)
        own->session->close(own->session, NULL);
    if (ret != 0) {
        free(own);
        return outcome(ret);
    }
    *out = own;
    return SB_OK;
}

/* Its cursor goes with it. */
int sb_wt_session_close(struct sb_wt_session *own) {
    int ret = own->session->close(own->session, NULL);
    free(own);
    return outcome(ret);
}

/* ---- records ---- */

static void set_key(WT_CURSOR *cursor, const void *key, size_t size) {
    WT_ITEM item;
    memset(&item, 0, sizeof item);
    item.data = key;
    item.size = size;
    cursor->set_key(cursor, &item);
}

/* Writes a record, whether it is there or not; the cursor is at none afterwards. */
int sb_wt_put(struct sb_wt_session *own, const void *key, size_t key_size, const void *value, size_t value_size) {
    WT_ITEM item;
    memset(&item, 0, sizeof item);
    item.data = value;
    item.size = value_size;
    message[0] = '\0';
    set_key(own->cursor, key, key_size);
    own->cursor->set_value(own->cursor, &item);
    return outcome(own->cursor->insert(own->cursor));
}

/* Shows the value where the engine has it, until the cursor is reset. */
int sb_wt_get(struct sb_wt_session *own, const void *key, size_t key_size, const void **value, size_t *value_size) {
    WT_ITEM item;
    int ret;
    message[0] = '\0';
    set_key(own->cursor, key, key_size);
    if ((ret = own->cursor->search(own->cursor)) != 0 || (ret = own->cursor->get_value(own->cursor, &item)) != 0)
        return outcome(ret);
    *value = item.data;
    *value_size = item.size;
    return SB_OK;
}

int sb_wt_remove(struct sb_wt_session *own, const void *key, size_t key_size) {
    message[0] = '\0';
    set_key(own->cursor, key, key_size);
    return outcome(own->cursor->remove(own->cursor));
}

/* Lets go of the record that the cursor is at, and of the state that it is read in. */
int sb_wt_reset(struct sb_wt_session *own) {
    return outcome(own->cursor->reset(own->cursor));
}

/* Goes to the first record from a key on, or to the first of all where that is empty. */
int sb_wt_seek(struct sb_wt_session *own, const void *key, size_t key_size) {
    int ret, exact;
    message[0] = '\0';
    if (key_size == 0)
        return outcome(own->cursor->next(own->cursor));
    set_key(own->cursor, key, key_size);
    if ((ret = own->cursor->search_near(own->cursor, &exact)) == 0 && exact < 0)
        ret = own->cursor->next(own->cursor);
    return outcome(ret);
}

int sb_wt_next(struct sb_wt_session *own) {
    return outcome(own->cursor->next(own->cursor));
}

/* Shows the record that the cursor is at, where the engine has it, until the cursor moves. */
int sb_wt_record(struct sb_wt_session *own, const void **key, size_t *key_size, const void **value, size_t *value_size) {
    WT_ITEM k, v;
    int ret;
    if ((ret = own->cursor->get_key(own->cursor, &k)) != 0 || (ret = own->cursor->get_value(own->cursor, &v)) != 0)
        return outcome(ret);
    *key = k.data;
    *key_size = k.size;
    *value = v.data;
    *value_size = v.size;
    return SB_OK;
}

int sb_wt_begin(struct sb_wt_session *own) {
    message[0] = '\0';
    return outcome(own->session->begin_transaction(own->session, NULL));
}

/* Where it fails, the transaction was rolled back. */
int sb_wt_commit(struct sb_wt_session *own) {
    message[0] = '\0';
    return outcome(own->session->commit_transaction(own->session, NULL));
}

/* Leaves the words of the error before. */
int sb_wt_roll_back(struct sb_wt_session *own) {
    return outcome(own->session->rollback_transaction(own->session, NULL));
}

/* ---- the whole ---- */

int sb_wt_count(struct sb_wt_session *own, uint64_t *count) {
    int ret;
    message[0] = '\0';
    *count = 0;
    while ((ret = own->cursor->next(own->cursor)) == 0)
        ++*count;
    own->cursor->reset(own->cursor);
    return outcome(ret == WT_NOTFOUND ? 0 : ret);
}

int sb_wt_checkpoint(struct sb_wt_session *own) {
    message[0] = '\0';
    return outcome(own->session->checkpoint(own->session, NULL));
}

/* Of a table that nobody has open. */
int sb_wt_verify(WT_CONNECTION *connection) {
    const struct timespec pause = {0, 10 * 1000 * 1000};
    WT_SESSION *session;
    int ret, tries = 0;
    message[0] = '\0';
    if ((ret = connection->open_session(connection, NULL, NULL, &session)) != 0)
        return outcome(ret);
    /* It is busy until a checkpoint finds nothing to write, and while the engine's own threads look at it. */
    do {
        if ((ret = session->checkpoint(session, NULL)) == 0)
            ret = session->verify(session, TABLE, NULL);
        if (ret == EBUSY)
            nanosleep(&pause, NULL);
    } while (ret == EBUSY && ++tries < 500);
    session->close(session, NULL);
    return outcome(ret);
}

int sb_wt_compact(struct sb_wt_session *own) {
    int ret;
    message[0] = '\0';
    /* By itself it leaves less than 20 MB alone. */
    if ((ret = own->session->compact(own->session, TABLE, "free_space_target=1MB")) == 0)
        ret = own->session->checkpoint(own->session, NULL);
    return outcome(ret);
}

/* Shows the names of all files that a backup needs, while the engine leaves them there for it to copy. */
int sb_wt_backup(WT_CONNECTION *connection, int (*copy)(void *context, const char *name), void *context) {
    const char *name;
    WT_CURSOR *files;
    WT_SESSION *session;
    int ret, closed;
    message[0] = '\0';
    if ((ret = connection->open_session(connection, NULL, NULL, &session)) != 0)
        return outcome(ret);
    /* A backup has what the last checkpoint has, and the log since then, where there is one. */
    if ((ret = session->checkpoint(session, NULL)) == 0 &&
        (ret = session->open_cursor(session, "backup:", NULL, NULL, &files)) == 0) {
        while ((ret = files->next(files)) == 0)
            if ((ret = files->get_key(files, &name)) != 0 || (ret = copy(context, name)) != 0)
                break;
        if (ret == WT_NOTFOUND)
            ret = 0;
    }
    closed = session->close(session, NULL);
    return outcome(ret != 0 ? ret : closed);
}

/* ---- what it tells ---- */

int sb_wt_account(WT_CONNECTION *connection, struct sb_wt_account *out) {
    int ret;
    message[0] = '\0';
    memset(out, 0, sizeof *out);
    account = out;
    ret = connection->debug_info(connection, "log=true");
    account = NULL;
    return outcome(ret);
}

/* The table's own settings, as the engine keeps them; a string to be freed by sb_wt_free(). */
int sb_wt_table(struct sb_wt_session *own, char **out) {
    WT_CURSOR *cursor;
    const char *text;
    int ret;
    message[0] = '\0';
    if ((ret = own->session->open_cursor(own->session, "metadata:", NULL, NULL, &cursor)) != 0)
        return outcome(ret);
    cursor->set_key(cursor, TABLE);
    if ((ret = cursor->search(cursor)) == 0 && (ret = cursor->get_value(cursor, &text)) == 0 && (*out = strdup(text)) == NULL)
        ret = WT_ERROR;
    cursor->close(cursor);
    return outcome(ret);
}

void sb_wt_free(char *text) {
    free(text);
}

/* The cache's size is among the statistics, which are off as shipped: they are on for this alone. */
int sb_wt_cache(WT_CONNECTION *connection, struct sb_wt_session *own, uint64_t *bytes) {
    WT_CURSOR *cursor;
    const char *described, *shown;
    int64_t value = 0;
    int ret, off;
    message[0] = '\0';
    if ((ret = connection->reconfigure(connection, "statistics=(fast)")) != 0)
        return outcome(ret);
    if ((ret = own->session->open_cursor(own->session, "statistics:", NULL, NULL, &cursor)) == 0) {
        cursor->set_key(cursor, WT_STAT_CONN_CACHE_BYTES_MAX);
        if ((ret = cursor->search(cursor)) == 0)
            ret = cursor->get_value(cursor, &described, &shown, &value);
        cursor->close(cursor);
    }
    off = connection->reconfigure(connection, "statistics=(none)");
    *bytes = (uint64_t)value;
    return outcome(ret != 0 ? ret : off);
}
