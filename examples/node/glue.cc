/* A store in Node by storebench_store.h. The program is in the library (SOURCE, as the target of
 * examples/Makefile names it), so that the library's SHA-256 covers it, and runs in a Node in the process of
 * the trial. It exports TABLE and open: sqlite.js is one. Its functions return what they have to say: the
 * event loop makes no turns, so promises and timers are not waited for. */
#include <dlfcn.h>
#include <node.h>
#include <node_buffer.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "storebench_store.h"

__asm__(".section .rodata\nsource_text:\n.incbin \"" SOURCE "\"\n.byte 0\n.previous\n");
extern "C" const char source_text[] __attribute__((visibility("hidden")));

namespace {

using v8::Function;
using v8::Global;
using v8::Local;
using v8::Object;
using v8::Value;

/* As Buffer.poolSize. */
constexpr size_t POOL = 8192;

/* Never freed: the end of the process finds Node as it is. */
struct Own {
    node::CommonEnvironmentSetup *setup = nullptr;
    Global<Object> program;
    Global<Function> each; /* (pairs, visit): calls visit with each of the pairs */
    Global<v8::ArrayBuffer> pool;
    char *pool_data = nullptr;
    size_t pool_used = 0;
};
Own &own = *new Own;

int32_t says(sb_error *error, const char *why) {
    snprintf(error->text, sizeof error->text, "%s", why);
    return SB_FAILED;
}

/* ---- Calls into Node: each holds the isolate's lock, as any thread may come, and gives its exception as the
 * text of an error */

struct Call {
    v8::Isolate *isolate = own.setup->isolate();
    v8::Locker lock{isolate};
    v8::Isolate::Scope inside{isolate};
    v8::HandleScope handles{isolate};
    Local<v8::Context> context = own.setup->context();
    v8::Context::Scope entered{context};
    v8::TryCatch caught{isolate};

    int32_t failed(sb_error *error) {
        v8::String::Utf8Value text(isolate, caught.Exception());
        return says(error, caught.HasCaught() && *text ? *text : "an exception without a text");
    }

    /* The end of a call whose result is not needed. */
    int32_t done(v8::MaybeLocal<Value> result, sb_error *error) {
        return result.IsEmpty() ? failed(error) : SB_OK;
    }

    Local<v8::String> text(const char *of) {
        return v8::String::NewFromUtf8(isolate, of).FromMaybe(v8::String::Empty(isolate));
    }

    /* A copy in a Buffer: a small one is a part of a larger, as Node itself makes them. */
    bool bytes(Local<Value> *out, const void *data, size_t len) {
        if (len > POOL / 2) {
            Local<Object> whole;
            const char *from = static_cast<const char *>(data);
            if (!node::Buffer::Copy(isolate, from, len).ToLocal(&whole)) return false;
            *out = whole;
            return true;
        }
        if (own.pool.IsEmpty() || len > POOL - own.pool_used) {
            Local<v8::ArrayBuffer> fresh = v8::ArrayBuffer::New(isolate, POOL);
            own.pool.Reset(isolate, fresh);
            own.pool_data = static_cast<char *>(fresh->GetBackingStore()->Data());
            own.pool_used = 0;
        }
        Local<v8::Uint8Array> part;
        Local<v8::ArrayBuffer> pool = own.pool.Get(isolate);
        if (!node::Buffer::New(isolate, pool, own.pool_used, len).ToLocal(&part)) return false;
        if (len) memcpy(own.pool_data + own.pool_used, data, len);
        own.pool_used = std::min(own.pool_used + ((len + 7) & ~size_t{7}), POOL);
        *out = part;
        return true;
    }

    v8::MaybeLocal<Value> call(Local<Object> of, const char *method, std::vector<Local<Value>> given = {}) {
        Local<Value> function;
        if (!of->Get(context, text(method)).ToLocal(&function)) return {};
        if (!function->IsFunction()) {
            const std::string why = std::string("the program has no function ") + method;
            isolate->ThrowException(v8::Exception::TypeError(text(why.c_str())));
            return {};
        }
        const int count = static_cast<int>(given.size());
        return function.As<Function>()->Call(context, of, count, given.data());
    }

    /* The first two of an array. */
    bool pair(Local<Value> of, Local<Value> *first, Local<Value> *second) {
        if (!of->IsObject()) return false;
        Local<Object> array = of.As<Object>();
        return array->Get(context, 0).ToLocal(first) && array->Get(context, 1).ToLocal(second);
    }
};

/* Where the bytes of a Buffer are, for as long as it is held. */
bool bytes_of(Local<Value> value, const void **data, size_t *len) {
    if (!node::Buffer::HasInstance(value)) return false;
    *len = node::Buffer::Length(value);
    *data = *len ? node::Buffer::Data(value) : "";
    return true;
}

/* ---- A session: its methods are looked up once */

struct Session {
    Global<Object> self;
    Global<Function> get, put, remove, batch, scan, visit;
    Global<Value> found;
    sb_visit shows = nullptr; /* the scan that runs */
    void *context = nullptr;

    template <size_t N>
    v8::MaybeLocal<Value> run(Call &call, const Global<Function> &method, std::array<Local<Value>, N> given) {
        return method.Get(call.isolate)->Call(call.context, self.Get(call.isolate), N, given.data());
    }
};

void end_session(void *of) {
    Call call;
    auto *s = static_cast<Session *>(of);
    (void)call.call(s->self.Get(call.isolate), "close");
    delete s;
}

int32_t get(void *of, const void *key, size_t key_len, const void **value, size_t *value_len,
            sb_error *error) {
    Call call;
    auto *s = static_cast<Session *>(of);
    Local<Value> name, found;
    if (!call.bytes(&name, key, key_len)) return call.failed(error);
    if (!s->run<1>(call, s->get, {name}).ToLocal(&found)) return call.failed(error);
    s->found.Reset(call.isolate, found);
    if (found->IsNullOrUndefined()) return SB_MISSING;
    if (bytes_of(found, value, value_len)) return SB_OK;
    return says(error, "get gave neither a Buffer nor undefined");
}

int32_t put(void *of, const void *key, size_t key_len, const void *value, size_t value_len, sb_error *error) {
    Call call;
    auto *s = static_cast<Session *>(of);
    Local<Value> name, given;
    if (!call.bytes(&name, key, key_len)) return call.failed(error);
    if (!call.bytes(&given, value, value_len)) return call.failed(error);
    return call.done(s->run<2>(call, s->put, {name, given}), error);
}

int32_t remove_key(void *of, const void *key, size_t key_len, sb_error *error) {
    Call call;
    auto *s = static_cast<Session *>(of);
    Local<Value> name;
    if (!call.bytes(&name, key, key_len)) return call.failed(error);
    return call.done(s->run<1>(call, s->remove, {name}), error);
}

/* An array of pairs: a key and its value, or null where it is removed. */
int32_t batch(void *of, const sb_change *changes, size_t count, sb_error *error) {
    Call call;
    auto *s = static_cast<Session *>(of);
    std::vector<Local<Value>> pairs(count);
    for (size_t i = 0; i < count; i++) {
        const sb_change &c = changes[i];
        Local<Value> pair[2] = {Local<Value>(), v8::Null(call.isolate)};
        if (!call.bytes(&pair[0], c.key, c.key_len)) return call.failed(error);
        if (c.value && !call.bytes(&pair[1], c.value, c.value_len)) return call.failed(error);
        pairs[i] = v8::Array::New(call.isolate, pair, 2);
    }
    return call.done(s->run<1>(call, s->batch, {v8::Array::New(call.isolate, pairs.data(), count)}), error);
}

void visit(const v8::FunctionCallbackInfo<Value> &info) {
    auto *s = static_cast<Session *>(info.Data().As<v8::External>()->Value());
    const void *key, *value;
    size_t key_len, value_len;
    if (s->shows && bytes_of(info[0], &key, &key_len) && bytes_of(info[1], &value, &value_len)) {
        s->shows(s->context, key, key_len, value, value_len);
        return;
    }
    auto why = v8::String::NewFromUtf8Literal(info.GetIsolate(), "scan showed what is no pair of Buffers");
    info.GetIsolate()->ThrowException(v8::Exception::TypeError(why));
}

int32_t scan(void *of, const void *from, size_t from_len, size_t limit, sb_visit shows, void *context,
             sb_error *error) {
    Call call;
    auto *s = static_cast<Session *>(of);
    Local<Value> name, pairs;
    /* The most that a number of JavaScript counts to. */
    const uint64_t most = std::min<uint64_t>(limit, (UINT64_C(1) << 53) - 1);
    Local<Value> number = v8::Number::New(call.isolate, static_cast<double>(most));
    if (!call.bytes(&name, from, from_len)) return call.failed(error);
    if (!s->run<2>(call, s->scan, {name, number}).ToLocal(&pairs)) return call.failed(error);
    s->shows = shows, s->context = context;
    int32_t code = call.done(s->run<2>(call, own.each, {pairs, s->visit.Get(call.isolate)}), error);
    s->shows = nullptr;
    return code;
}

/* ---- A store */

struct Store {
    Global<Object> self;
    std::vector<std::string> told;
    std::vector<sb_value> values;

    v8::MaybeLocal<Value> run(Call &call, const char *method) {
        return call.call(self.Get(call.isolate), method);
    }
};

int32_t close_store(void *of, sb_error *error) {
    Call call;
    auto *s = static_cast<Store *>(of);
    int32_t code = call.done(s->run(call, "close"), error);
    delete s;
    return code;
}

int32_t open_store(const sb_store *, const sb_how *how, void **out, sb_error *error) {
    Call call;
    Local<Object> settings = Object::New(call.isolate);
    for (size_t i = 0; i < how->setting_count; i++) {
        Local<Value> name = call.text(how->settings[i].name), value = call.text(how->settings[i].value);
        if (settings->Set(call.context, name, value).IsNothing()) return call.failed(error);
    }
    const bool by_default = how->cache_bytes == UINT64_MAX;
    Local<Value> cache = v8::Null(call.isolate), opened;
    if (!by_default) cache = v8::Number::New(call.isolate, static_cast<double>(how->cache_bytes));
    Local<Value> tier = v8::Integer::New(call.isolate, how->tier);
    Local<Value> sessions = v8::Number::New(call.isolate, static_cast<double>(how->sessions));
    std::vector<Local<Value>> given{call.text(how->folder), tier, cache, sessions, settings};
    if (!call.call(own.program.Get(call.isolate), "open", given).ToLocal(&opened)) {
        /* The program refuses a setting by a RangeError. */
        call.failed(error);
        return strncmp(error->text, "RangeError:", 11) ? SB_FAILED : SB_BAD_SETTING;
    }
    if (!opened->IsObject()) return says(error, "open gave no object");
    auto *s = new Store;
    s->self.Reset(call.isolate, opened.As<Object>());
    *out = s;
    return SB_OK;
}

int32_t number(void *of, const char *method, int64_t *out, sb_error *error) {
    Call call;
    Local<Value> said;
    if (!static_cast<Store *>(of)->run(call, method).ToLocal(&said)) return call.failed(error);
    return said->IntegerValue(call.context).To(out) ? SB_OK : call.failed(error);
}

int32_t tier(void *of) {
    int64_t said;
    sb_error error;
    return number(of, "tier", &said, &error) == SB_OK ? static_cast<int32_t>(said) : SB_NONE;
}

int32_t count(void *of, uint64_t *records, sb_error *error) {
    int64_t said = 0;
    int32_t code = number(of, "count", &said, error);
    *records = static_cast<uint64_t>(said);
    return code;
}

int32_t settle(void *of, sb_error *error) {
    Call call;
    return call.done(static_cast<Store *>(of)->run(call, "settle"), error);
}

/* An array of pairs of texts, kept until the next call. */
int32_t read_settings(void *of, const sb_value **values, size_t *count, sb_error *error) {
    Call call;
    auto *s = static_cast<Store *>(of);
    Local<Value> said;
    if (!s->run(call, "settings").ToLocal(&said)) return call.failed(error);
    if (!said->IsArray()) return says(error, "settings gave no array");
    s->told.clear(), s->values.clear();
    Local<v8::Array> pairs = said.As<v8::Array>();
    for (uint32_t i = 0; i < pairs->Length(); i++) {
        Local<Value> pair, name, value;
        if (!pairs->Get(call.context, i).ToLocal(&pair)) return call.failed(error);
        if (!call.pair(pair, &name, &value)) return says(error, "a setting is no pair");
        for (Local<Value> text : {name, value}) {
            v8::String::Utf8Value read(call.isolate, text);
            s->told.emplace_back(*read ? *read : "");
        }
    }
    for (size_t i = 0; i < s->told.size(); i += 2) {
        s->values.push_back({s->told[i].c_str(), s->told[i + 1].c_str(), 1});
    }
    *values = s->values.data(), *count = s->values.size();
    return SB_OK;
}

int32_t open_session(void *of, void **out, sb_error *error) {
    Call call;
    Local<Value> opened;
    if (!static_cast<Store *>(of)->run(call, "session").ToLocal(&opened)) return call.failed(error);
    if (!opened->IsObject()) return says(error, "session gave no object");
    auto *s = new Session;
    s->self.Reset(call.isolate, opened.As<Object>());
    const std::pair<const char *, Global<Function> *> methods[] = {
        {"get", &s->get}, {"put", &s->put}, {"remove", &s->remove}, {"batch", &s->batch}, {"scan", &s->scan}};
    int32_t code = SB_OK;
    Local<Object> self = opened.As<Object>();
    for (auto [name, method] : methods) {
        Local<Value> found;
        if (!self->Get(call.context, call.text(name)).ToLocal(&found)) code = call.failed(error);
        else if (!found->IsFunction()) code = says(error, "a session lacks a function");
        else method->Reset(call.isolate, found.As<Function>());
    }
    Local<Function> seen;
    if (!Function::New(call.context, visit, v8::External::New(call.isolate, s)).ToLocal(&seen)) {
        code = call.failed(error);
    }
    s->visit.Reset(call.isolate, seen);
    if (code == SB_OK) *out = s;
    else end_session(s);
    return code;
}

/* ---- The table, from the program's TABLE; its texts live as long as the process */

sb_store node_store = {};
sb_offer offers[3];
sb_setting settings[16];

/* One of the table's objects or arrays. */
struct Row {
    Call &call;
    Local<Object> of;

    Local<Value> at(const char *name) {
        return of->Get(call.context, call.text(name)).FromMaybe(Local<Value>(v8::Undefined(call.isolate)));
    }

    Local<Value> at(uint32_t i) {
        return of->Get(call.context, i).FromMaybe(Local<Value>(v8::Undefined(call.isolate)));
    }

    template <typename NAME>
    const char *text(NAME name) {
        Local<Value> value = at(name);
        v8::String::Utf8Value read(call.isolate, value);
        return value->IsNullOrUndefined() || !*read ? nullptr : strdup(*read);
    }

    template <typename NAME>
    int32_t integer(NAME name) {
        return static_cast<int32_t>(at(name)->IntegerValue(call.context).FromMaybe(0));
    }

    std::vector<Row> rows(const char *name, size_t most) {
        std::vector<Row> found;
        Local<Value> list = at(name), row;
        for (uint32_t i = 0; list->IsArray() && i < list.As<v8::Array>()->Length() && i < most; i++) {
            if (!list.As<Object>()->Get(call.context, i).ToLocal(&row) || !row->IsObject()) break;
            found.push_back({call, row.As<Object>()});
        }
        return found;
    }
};

bool read_table(Row table) {
    sb_store &s = node_store;
    s.size = sizeof s;
    s.name = table.text("name"), s.summary = table.text("summary");
    s.practice = table.text("practice"), s.version = table.text("version");
    s.flags = static_cast<uint64_t>(table.integer("flags"));
    s.sessions = table.integer("sessions"), s.shipped = table.integer("shipped");
    s.max_key_bytes = UINT32_MAX, s.max_bytes = UINT64_MAX;
    s.offers = offers, s.settings = settings;
    for (Row row : table.rows("offers", 3)) {
        sb_offer &o = offers[s.offer_count++];
        o.atomic_replace = 1;
        o.tier = row.integer(0u), o.kill_costs = row.integer(1u), o.power_cut_costs = row.integer(2u);
        o.settings = row.text(3u);
    }
    for (Row row : table.rows("settings", 16)) {
        sb_setting &t = settings[s.setting_count++];
        t.name = row.text(0u), t.values = row.text(1u), t.default_value = row.text(2u);
        t.help = row.text(3u), t.promise = row.text(4u);
    }
    s.open = open_store, s.close = close_store, s.tier = tier, s.count = count, s.settle = settle;
    s.read_settings = read_settings, s.session = open_session, s.end = end_session;
    s.get = get, s.put = put, s.remove = remove_key, s.batch = batch;
    if (s.flags & SB_ORDERED) s.scan = scan;
    return s.name && s.summary && s.version && !table.call.caught.HasCaught();
}

/* ---- Node itself */

/* The folder of this library. In node beside it is what the program requires. */
std::string own_folder() {
    Dl_info info;
    std::string file = dladdr(reinterpret_cast<void *>(own_folder), &info) ? info.dli_fname : "";
    char *whole = realpath(file.c_str(), nullptr);
    if (whole) file = whole;
    free(whole);
    return file.substr(0, file.rfind('/'));
}

/* Node begins once a process, and two libraries of stores may be in it: the first leaves its platform for the
 * other with libuv's default loop, which neither uses. */
node::MultiIsolatePlatform *begin_node() {
    uv_loop_t *board = uv_default_loop();
    if (board->data) return static_cast<node::MultiIsolatePlatform *>(board->data);
    /* The process, its signals, its limits and its standard output are storebench's. */
    using namespace node::ProcessInitializationFlags;
    auto begun = node::InitializeOncePerProcess(
        {"storebench"}, {kNoStdioInitialization, kNoDefaultSignalHandling, kNoInitOpenSSL, kNoUseLargePages,
                         kDisableNodeOptionsEnv, kDisableCLIOptions, kNoAdjustResourceLimits,
                         kNoPrintHelpOrVersionOutput});
    for (const std::string &error : begun->errors()) fprintf(stderr, "Node: %s\n", error.c_str());
    if (begun->early_return()) return nullptr;
    /* V8's threads run until the process is gone, and must not meet what its end destroys: nothing is. */
    on_exit([](int status, void *) { fflush(nullptr), _exit(status); }, nullptr);
    board->data = begun->platform();
    return begun->platform();
}

/* A store does not end the process that measures it. */
const char *const PRELUDE = R"js(((require, source, name, folder) => {
    process.exit = process.reallyExit = process.abort = () => {
        throw new Error("the program asked to end the process");
    };
    const exports = {};
    const run = require("vm").compileFunction(source, ["exports", "require"], { filename: name });
    run(exports, require("module").createRequire(folder + "/node/"));
    return [exports, (pairs, visit) => { for (const [key, value] of pairs) visit(key, value); }];
}))js";

v8::MaybeLocal<Value> load(const node::StartExecutionCallbackInfo &info) {
    v8::Isolate *isolate = v8::Isolate::GetCurrent();
    Local<v8::Context> context = isolate->GetCurrentContext();
    const std::string folder = own_folder();
    Local<v8::String> text[4];
    for (int i = 0; const char *from : {PRELUDE, source_text, SOURCE, folder.c_str()}) {
        if (!v8::String::NewFromUtf8(isolate, from).ToLocal(&text[i++])) return {};
    }
    Local<v8::Script> script;
    Local<Value> prelude;
    if (!v8::Script::Compile(context, text[0]).ToLocal(&script)) return {};
    if (!script->Run(context).ToLocal(&prelude)) return {};
    Local<Value> given[] = {info.native_require, text[1], text[2], text[3]};
    return prelude.As<Function>()->Call(context, v8::Undefined(isolate), 4, given);
}

bool begin() {
    node::MultiIsolatePlatform *platform = begin_node();
    if (!platform) return false;
    using namespace node::EnvironmentFlags;
    const auto flags = static_cast<Flags>(kNoCreateInspector | kNoGlobalSearchPaths | kNoRegisterESMLoader);
    const std::vector<std::string> arguments{"storebench"}, none;
    std::vector<std::string> errors;
    own.setup = node::CommonEnvironmentSetup::Create(platform, &errors, arguments, none, flags).release();
    for (const std::string &error : errors) fprintf(stderr, "Node: %s\n", error.c_str());
    if (!own.setup) return false;
    Call call;
    Local<Value> loaded, exports, each, table;
    if (node::LoadEnvironment(own.setup->env(), load).ToLocal(&loaded) &&
        call.pair(loaded, &exports, &each) &&
        exports.As<Object>()->Get(call.context, call.text("TABLE")).ToLocal(&table) && table->IsObject() &&
        read_table({call, table.As<Object>()})) {
        own.program.Reset(call.isolate, exports.As<Object>());
        own.each.Reset(call.isolate, each.As<Function>());
        return true;
    }
    sb_error error;
    if (call.caught.HasCaught()) call.failed(&error);
    else says(&error, "the program has no TABLE with a name, a summary and a version");
    fprintf(stderr, "%s: %s\n", SOURCE, error.text);
    return false;
}

}  // namespace

const sb_library *storebench_stores(uint32_t version) {
    static const sb_store *const stores[] = {&node_store};
    static const sb_library library = {SB_VERSION, 1, stores};
    if (version != SB_VERSION) return nullptr;
    static const bool begun = begin();
    return begun ? &library : nullptr;
}

/* Debian's Node reads some of its own modules from /usr/share/nodejs, and ends the process where they are
 * missing. Unpacked beside this library they are found by this function, which stands before libuv's. */
extern "C" __attribute__((visibility("default"))) int uv_fs_open(uv_loop_t *loop, uv_fs_t *request,
                                                                 const char *path, int flags, int mode,
                                                                 uv_fs_cb done) {
    static const auto next = reinterpret_cast<decltype(&uv_fs_open)>(dlsym(RTLD_NEXT, "uv_fs_open"));
    static const char installed[] = "/usr/share/nodejs/";
    std::string unpacked;
    if (!strncmp(path, installed, sizeof installed - 1) && access(path, R_OK)) {
        unpacked = own_folder() + "/node" + path;
        if (!access(unpacked.c_str(), R_OK)) path = unpacked.c_str();
    }
    return next(loop, request, path, flags, mode, done);
}
