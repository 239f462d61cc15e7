/* A store in Python by storebench_store.h. The program is in the library (SOURCE, as the target of examples/Makefile names it), so that
 * the library's SHA-256 covers it, and runs in an interpreter in the process of the trial. It defines TABLE and open: sqlite.py is one. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlfcn.h>
#include <string.h>

#include "storebench_store.h"

__asm__(".section .rodata\nsource_text:\n.incbin \"" SOURCE "\"\n.byte 0\n.previous\n");
extern const char source_text[] __attribute__((visibility("hidden")));

/* ---- Calls into Python: each holds the interpreter's lock, and gives its exception as the text of an error */

static int32_t failed(sb_error *error) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *why = text ? PyUnicode_AsUTF8(text) : NULL;
    snprintf(error->text, sizeof error->text, "%s: %s", type ? ((PyTypeObject *)type)->tp_name : "Python",
             why ? why : "an exception without a text");
    Py_XDECREF(text), Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(trace);
    PyErr_Clear();
    return SB_FAILED;
}

/* The end of a call whose result is not needed. */
static int32_t done(PyObject *result, sb_error *error) {
    if (!result) return failed(error);
    Py_DECREF(result);
    return SB_OK;
}

static PyObject *bytes_of(const void *data, size_t len) { return PyBytes_FromStringAndSize(len ? data : "", (Py_ssize_t)len); }

/* ---- A session: its methods are looked up once */

typedef struct session {
    PyObject *own, *get, *put, *remove, *batch, *scan, *found;
} session;

static void end_session(void *of) {
    session *s = of;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *closed = s->own ? PyObject_CallMethod(s->own, "close", NULL) : NULL;
    if (!closed) PyErr_Clear();
    Py_XDECREF(closed), Py_XDECREF(s->own);
    Py_XDECREF(s->get), Py_XDECREF(s->put), Py_XDECREF(s->remove), Py_XDECREF(s->batch), Py_XDECREF(s->scan), Py_XDECREF(s->found);
    PyGILState_Release(state);
    free(s);
}

static int32_t get(void *of, const void *key, size_t key_len, const void **value, size_t *value_len, sb_error *error) {
    session *s = of;
    int32_t code = SB_OK;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *name = bytes_of(key, key_len);
    PyObject *found = name ? PyObject_CallOneArg(s->get, name) : NULL;
    Py_XDECREF(name);
    Py_XSETREF(s->found, found);
    if (!found) code = failed(error);
    else if (found == Py_None) code = SB_MISSING;
    else if (PyBytes_Check(found)) *value = PyBytes_AS_STRING(found), *value_len = (size_t)PyBytes_GET_SIZE(found);
    else snprintf(error->text, sizeof error->text, "get gave neither bytes nor None"), code = SB_FAILED;
    PyGILState_Release(state);
    return code;
}

static int32_t put(void *of, const void *key, size_t key_len, const void *value, size_t value_len, sb_error *error) {
    session *s = of;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *name = bytes_of(key, key_len), *given = bytes_of(value, value_len);
    int32_t code = done(name && given ? PyObject_CallFunctionObjArgs(s->put, name, given, NULL) : NULL, error);
    Py_XDECREF(name), Py_XDECREF(given);
    PyGILState_Release(state);
    return code;
}

static int32_t remove_key(void *of, const void *key, size_t key_len, sb_error *error) {
    session *s = of;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *name = bytes_of(key, key_len);
    int32_t code = done(name ? PyObject_CallOneArg(s->remove, name) : NULL, error);
    Py_XDECREF(name);
    PyGILState_Release(state);
    return code;
}

/* A list of pairs: a key and its value, or None where it is removed. */
static PyObject *list_of(const sb_change *changes, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        const sb_change *c = &changes[i];
        PyObject *pair = c->value ? Py_BuildValue("(y#y#)", c->key, (Py_ssize_t)c->key_len, c->value_len ? c->value : "", (Py_ssize_t)c->value_len)
                                  : Py_BuildValue("(y#O)", c->key, (Py_ssize_t)c->key_len, Py_None);
        if (pair) PyList_SET_ITEM(list, (Py_ssize_t)i, pair);
        else Py_CLEAR(list);
    }
    return list;
}

static int32_t batch(void *of, const sb_change *changes, size_t count, sb_error *error) {
    session *s = of;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *list = list_of(changes, count);
    int32_t code = done(list ? PyObject_CallOneArg(s->batch, list) : NULL, error);
    Py_XDECREF(list);
    PyGILState_Release(state);
    return code;
}

static int32_t scan(void *of, const void *from, size_t from_len, size_t limit, sb_visit visit, void *context, sb_error *error) {
    session *s = of;
    PyGILState_STATE state = PyGILState_Ensure();
    Py_ssize_t most = limit > PY_SSIZE_T_MAX ? PY_SSIZE_T_MAX : (Py_ssize_t)limit;
    PyObject *shown = PyObject_CallFunction(s->scan, "y#n", from_len ? from : "", (Py_ssize_t)from_len, most);
    PyObject *pairs = shown ? PyObject_GetIter(shown) : NULL;
    for (PyObject *pair; pairs && (pair = PyIter_Next(pairs)); Py_DECREF(pair)) {
        const char *key, *value;
        Py_ssize_t key_len, value_len;
        if (!PyArg_ParseTuple(pair, "y#y#", &key, &key_len, &value, &value_len)) break;
        visit(context, key, (size_t)key_len, value, (size_t)value_len);
    }
    int32_t code = PyErr_Occurred() ? failed(error) : SB_OK;
    Py_XDECREF(pairs), Py_XDECREF(shown);
    PyGILState_Release(state);
    return code;
}

/* ---- A store */

typedef struct store {
    PyObject *self, *told;
    sb_value values[16];
} store;

static int32_t call_store(void *of, const char *method, sb_error *error) {
    PyGILState_STATE state = PyGILState_Ensure();
    int32_t code = done(PyObject_CallMethod(((store *)of)->self, method, NULL), error);
    PyGILState_Release(state);
    return code;
}

static int32_t close_store(void *of, sb_error *error) {
    store *s = of;
    int32_t code = call_store(s, "close", error);
    PyGILState_STATE state = PyGILState_Ensure();
    Py_XDECREF(s->self), Py_XDECREF(s->told);
    PyGILState_Release(state);
    free(s);
    return code;
}

static PyObject *module;

static int32_t open_store(const sb_store *self, const sb_how *how, void **out, sb_error *error) {
    (void)self;
    PyGILState_STATE state = PyGILState_Ensure();
    store *s = calloc(1, sizeof *s);
    PyObject *settings = PyDict_New(), *folder = PyUnicode_DecodeFSDefault(how->folder);
    for (size_t i = 0; settings && i < how->setting_count; i++) {
        PyObject *value = PyUnicode_FromString(how->settings[i].value);
        if (!value || PyDict_SetItemString(settings, how->settings[i].name, value)) Py_CLEAR(settings);
        Py_XDECREF(value);
    }
    PyObject *cache = how->cache_bytes == UINT64_MAX ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(how->cache_bytes);
    if (s && settings && folder && cache)
        s->self = PyObject_CallMethod(module, "open", "OiOKO", folder, how->tier, cache, how->sessions, settings);
    /* The program refuses a setting by a ValueError. */
    int is_bad = PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_ValueError);
    int32_t code = s && s->self ? SB_OK : failed(error);
    Py_XDECREF(settings), Py_XDECREF(folder), Py_XDECREF(cache);
    PyGILState_Release(state);
    if (code == SB_OK) *out = s;
    else free(s);
    return is_bad ? SB_BAD_SETTING : code;
}

static long long number(void *of, const char *method, sb_error *error, int32_t *code) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *said = PyObject_CallMethod(((store *)of)->self, method, NULL);
    long long n = said ? PyLong_AsLongLong(said) : -1;
    *code = PyErr_Occurred() ? failed(error) : SB_OK;
    Py_XDECREF(said);
    PyGILState_Release(state);
    return n;
}

static int32_t tier(void *of) {
    int32_t code;
    sb_error error;
    long long said = number(of, "tier", &error, &code);
    return code == SB_OK ? (int32_t)said : SB_NONE;
}

static int32_t count(void *of, uint64_t *records, sb_error *error) {
    int32_t code;
    *records = (uint64_t)number(of, "count", error, &code);
    return code;
}

static int32_t settle(void *of, sb_error *error) { return call_store(of, "settle", error); }

/* A list of pairs of texts, kept until the next call. */
static int32_t read_settings(void *of, const sb_value **values, size_t *count, sb_error *error) {
    store *s = of;
    PyGILState_STATE state = PyGILState_Ensure();
    Py_XSETREF(s->told, PyObject_CallMethod(s->self, "settings", NULL));
    Py_ssize_t told = s->told ? PySequence_Size(s->told) : 0;
    *values = s->values, *count = 0;
    for (Py_ssize_t i = 0; i < told && *count < sizeof s->values / sizeof *s->values; i++) {
        PyObject *pair = PySequence_GetItem(s->told, i); /* the list keeps it */
        sb_value value = {NULL, NULL, 1};
        if (pair && PyArg_ParseTuple(pair, "ss", &value.name, &value.value)) s->values[(*count)++] = value;
        Py_XDECREF(pair);
    }
    int32_t code = PyErr_Occurred() ? failed(error) : SB_OK;
    PyGILState_Release(state);
    return code;
}

static int32_t open_session(void *of, void **out, sb_error *error) {
    PyGILState_STATE state = PyGILState_Ensure();
    session *s = calloc(1, sizeof *s);
    PyObject *own = s ? PyObject_CallMethod(((store *)of)->self, "session", NULL) : NULL;
    if (own) {
        s->own = own;
        s->get = PyObject_GetAttrString(own, "get"), s->put = PyObject_GetAttrString(own, "put");
        s->remove = PyObject_GetAttrString(own, "remove"), s->batch = PyObject_GetAttrString(own, "batch");
        s->scan = PyObject_GetAttrString(own, "scan");
    }
    int32_t code = own && !PyErr_Occurred() ? SB_OK : failed(error);
    PyGILState_Release(state);
    if (code == SB_OK) *out = s;
    else if (s) end_session(s);
    return code;
}

/* ---- The table, from the program's TABLE */

static sb_store python_store = {
    .size = sizeof(sb_store),
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
    .scan = scan,
};
static sb_offer offers[3];
static sb_setting settings[16];

static const char *text(PyObject *of, const char *name) {
    PyObject *value = PyDict_GetItemString(of, name); /* the table keeps it */
    return value ? PyUnicode_AsUTF8(value) : NULL;
}

static long long integer(PyObject *of, const char *name) {
    PyObject *value = PyDict_GetItemString(of, name);
    return value ? PyLong_AsLongLong(value) : 0;
}

static int read_table(PyObject *table) {
    sb_store *s = &python_store;
    s->name = text(table, "name"), s->summary = text(table, "summary");
    s->practice = text(table, "practice"), s->version = text(table, "version");
    s->flags = (uint64_t)integer(table, "flags"), s->sessions = (int32_t)integer(table, "sessions");
    s->shipped = (int32_t)integer(table, "shipped");
    s->max_key_bytes = UINT32_MAX, s->max_bytes = UINT64_MAX;
    s->offers = offers, s->settings = settings;
    if (!(s->flags & SB_ORDERED)) s->scan = NULL;
    PyObject *given = PyDict_GetItemString(table, "offers");
    for (; given && s->offer_count < (size_t)PyList_Size(given) && s->offer_count < 3; s->offer_count++) {
        sb_offer *o = &offers[s->offer_count];
        o->atomic_replace = 1;
        if (!PyArg_ParseTuple(PyList_GetItem(given, (Py_ssize_t)s->offer_count), "iiis", &o->tier, &o->kill_costs, &o->power_cut_costs, &o->settings)) return 0;
    }
    given = PyDict_GetItemString(table, "settings");
    for (; given && s->setting_count < (size_t)PyList_Size(given) && s->setting_count < 16; s->setting_count++) {
        sb_setting *t = &settings[s->setting_count];
        if (!PyArg_ParseTuple(PyList_GetItem(given, (Py_ssize_t)s->setting_count), "sssss", &t->name, &t->values, &t->default_value, &t->help, &t->promise)) return 0;
    }
    return s->name && s->summary && s->version && !PyErr_Occurred();
}

/* Modules in C that the program imports need the interpreter's functions, which are in this library's scope alone otherwise. */
static int begin(void) {
    Dl_info info;
    if (!dladdr((void *)Py_InitializeFromConfig, &info) || !dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD)) return 0;
    PyConfig config;
    PyConfig_InitIsolatedConfig(&config);
    PyConfig_SetBytesString(&config, &config.program_name, PYTHON);
    int begun = !PyStatus_Exception(Py_InitializeFromConfig(&config));
    PyConfig_Clear(&config);
    if (!begun) return 0;
    PyObject *code = Py_CompileString(source_text, SOURCE, Py_file_input);
    module = code ? PyImport_ExecCodeModule("storebench_store", code) : NULL;
    PyObject *table = module ? PyObject_GetAttrString(module, "TABLE") : NULL;
    int read = table && read_table(table);
    if (PyErr_Occurred()) PyErr_Print();
    PyEval_SaveThread();
    return read;
}

const sb_library *storebench_stores(uint32_t version) {
    static const sb_store *const stores[] = {&python_store};
    static const sb_library library = {SB_VERSION, 1, stores};
    static int begun;
    if (version != SB_VERSION || (!begun && !begin())) return NULL;
    begun = 1;
    return &library;
}
