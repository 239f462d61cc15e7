// A store in C++ by storebench_store.h: records in a log, and in memory the keys in order with the places of their values, as Bitcask's
// keydir. A batch is one entry with one checksum, so it is all there or not at all. Build it: make -C examples cpp-keydir
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storebench_store.h"

namespace {

constexpr uint64_t kRemoved = UINT64_MAX;

[[noreturn]] void Fail(const char *doing) { throw std::system_error(errno, std::generic_category(), doing); }

// What is thrown by `work` is told in the codes of the header: nothing passes the boundary.
template <typename Work>
int32_t Told(sb_error *error, Work work) {
    std::string why;
    try {
        return work();
    } catch (const std::exception &failed) {
        why = failed.what();
    } catch (...) {
        why = "something was thrown";
    }
    std::strncpy(error->text, why.c_str(), sizeof error->text - 1);
    error->text[sizeof error->text - 1] = 0;
    return SB_FAILED;
}

uint64_t Checksum(std::string_view bytes) {  // FNV-1a
    uint64_t sum = 0xcbf29ce484222325;
    for (unsigned char byte : bytes) sum = (sum ^ byte) * 0x100000001b3;
    return sum;
}

class File {
  public:
    explicit File(int fd) : fd_(fd) {}
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    File(const File &) = delete;
    int fd() const { return fd_; }
    void Close() {
        if (::close(std::exchange(fd_, -1))) Fail("closing the log");
    }
    void Read(char *to, size_t length, uint64_t at) const {
        while (length > 0) {
            ssize_t got = ::pread(fd_, to, length, at);
            if (got == 0) throw std::runtime_error("the log is shorter than it was");
            if (got < 0) Fail("reading the log");
            to += got, length -= got, at += got;
        }
    }
    void Write(std::string_view bytes, uint64_t at) const {
        while (!bytes.empty()) {
            ssize_t wrote = ::pwrite(fd_, bytes.data(), bytes.size(), at);
            if (wrote < 0) Fail("writing to the log");
            bytes.remove_prefix(wrote), at += wrote;
        }
    }

  private:
    int fd_;
};

// Where a value lies in the log.
struct Place {
    uint64_t at, length;
};

class Store {
  public:
    Store(const char *folder, bool synced) : synced_(synced), folder_(::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
                                             log_(::openat(folder_.fd(), "keydir.log", O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
        if (log_.fd() < 0) Fail("opening the log");
        Replay();
        // A crash may have cut the last entry off; nothing must be appended behind such a part.
        if (::ftruncate(log_.fd(), end_)) Fail("cutting the log");
        // What an earlier process did not sync counts as durable from here on, and so does the file's name.
        if (synced && (::fsync(log_.fd()) || ::fsync(folder_.fd()))) Fail("syncing the log");
    }

    // Appends the changes as one entry: a checksum, the length of the rest, and of each the lengths, the key and the value.
    void Write(std::string &entry, const sb_change *changes, size_t count) {
        entry.assign(16, 0);
        for (const sb_change *c = changes; c < changes + count; c++) {
            uint64_t lengths[2] = {c->key_len, c->value ? c->value_len : kRemoved};
            entry.append(reinterpret_cast<char *>(lengths), 16);
            entry.append(static_cast<const char *>(c->key), c->key_len);
            if (c->value) entry.append(static_cast<const char *>(c->value), c->value_len);
        }
        uint64_t length = entry.size() - 16;
        std::memcpy(entry.data() + 8, &length, 8);
        uint64_t sum = Checksum(std::string_view(entry).substr(8));
        std::memcpy(entry.data(), &sum, 8);
        std::unique_lock lock(mutex_);
        try {
            log_.Write(entry, end_);
            if (synced_ && ::fdatasync(log_.fd())) Fail("syncing the log");
        } catch (...) {
            // Should cutting a part off fail too, the first error says more.
            if (::ftruncate(log_.fd(), end_)) errno = 0;
            throw;
        }
        Take(std::string_view(entry).substr(16), end_ + 16);
        end_ += entry.size();
    }

    bool Get(std::string_view key, std::vector<char> &value) const {
        std::shared_lock lock(mutex_);
        auto found = keys_.find(key);
        if (found == keys_.end()) return false;
        ReadTo(value, found->second);
        return true;
    }

    void Scan(std::string_view from, size_t limit, std::vector<char> &value, sb_visit visit, void *context) const {
        std::shared_lock lock(mutex_);
        for (auto at = keys_.lower_bound(from); at != keys_.end() && limit > 0; ++at, --limit) {
            ReadTo(value, at->second);
            visit(context, at->first.data(), at->first.size(), value.data(), value.size());
        }
    }

    uint64_t Count() const {
        std::shared_lock lock(mutex_);
        return keys_.size();
    }

    void Settle() const {
        if (::fsync(log_.fd())) Fail("syncing the log");
    }

    void Close() { log_.Close(); }
    bool synced() const { return synced_; }
    const sb_value *told() const { return &told_; }

  private:
    void ReadTo(std::vector<char> &value, Place place) const {
        value.resize(place.length);
        log_.Read(value.data(), place.length, place.at);
    }

    // Takes the changes of an entry that lies at `at` in the log.
    void Take(std::string_view changes, uint64_t at) {
        for (size_t done = 0; done < changes.size();) {
            uint64_t lengths[2];
            std::memcpy(lengths, changes.data() + done, 16);
            std::string_view key = changes.substr(done + 16, lengths[0]);
            done += 16 + lengths[0];
            auto found = keys_.find(key);
            if (lengths[1] == kRemoved) {
                if (found != keys_.end()) keys_.erase(found);
                continue;
            }
            Place place = {at + done, lengths[1]};
            if (found != keys_.end()) found->second = place;
            else keys_.emplace(key, place);
            done += lengths[1];
        }
    }

    void Replay() {
        struct stat about;
        if (::fstat(log_.fd(), &about)) Fail("opening the log");
        std::string entry;
        for (uint64_t size = about.st_size; size - end_ >= 16;) {
            uint64_t head[2];
            log_.Read(reinterpret_cast<char *>(head), 16, end_);
            if (head[1] > size - end_ - 16) break;
            entry.resize(8 + head[1]);
            log_.Read(entry.data(), entry.size(), end_ + 8);
            if (Checksum(entry) != head[0]) break;
            Take(std::string_view(entry).substr(8), end_ + 16);
            end_ += 16 + head[1];
        }
    }

    const bool synced_;
    File folder_, log_;
    uint64_t end_ = 0;  // of whole entries in the log
    mutable std::shared_mutex mutex_;
    std::map<std::string, Place, std::less<>> keys_;
    const sb_value told_ = {"fdatasync", synced_ ? "true" : "false", 0};
};

struct Session {
    Store *store;
    std::string entry;        // kept, so that a write takes no memory
    std::vector<char> value;  // that was read last
};

std::string_view Bytes(const void *bytes, size_t length) { return {static_cast<const char *>(bytes), length}; }

Store *AsStore(void *store) { return static_cast<Store *>(store); }
Session *AsSession(void *session) { return static_cast<Session *>(session); }

int32_t Batch(void *session, const sb_change *changes, size_t count, sb_error *error) {
    return Told(error, [&] {
        AsSession(session)->store->Write(AsSession(session)->entry, changes, count);
        return SB_OK;
    });
}

const sb_offer kOffers[] = {
    {SB_PROCESS, 1, SB_NOTHING, SB_NEWEST, "write", nullptr},
    {SB_POWER, 1, SB_NOTHING, SB_NOTHING, "write, fdatasync", nullptr},
};

sb_store Table() {
    sb_store store = {};
    store.size = sizeof store;
    store.name = "cpp-keydir";
    store.summary = "a log of records, and the keys in order in memory, in C++";
    store.practice = "one file; one process at a time";
    store.version = "1.0";
    store.flags = SB_ORDERED | SB_ATOMIC_BATCH | SB_REPLACES_WHOLE | SB_COPIES;
    store.max_key_bytes = UINT32_MAX;
    store.max_bytes = UINT64_MAX;
    store.sessions = SB_ONE_WRITER;
    store.shipped = SB_PROCESS;
    store.offers = kOffers;
    store.offer_count = 2;
    store.open = [](const sb_store *, const sb_how *how, void **out, sb_error *error) -> int32_t {
        return Told(error, [&] {
            *out = new Store(how->folder, how->tier == SB_POWER);
            return SB_OK;
        });
    };
    store.close = [](void *of, sb_error *error) -> int32_t {
        std::unique_ptr<Store> own(AsStore(of));
        return Told(error, [&] {
            own->Close();
            return SB_OK;
        });
    };
    store.tier = [](void *of) -> int32_t { return AsStore(of)->synced() ? SB_POWER : SB_PROCESS; };
    store.count = [](void *of, uint64_t *records, sb_error *) -> int32_t {
        *records = AsStore(of)->Count();
        return SB_OK;
    };
    store.settle = [](void *of, sb_error *error) -> int32_t {
        return Told(error, [&] {
            AsStore(of)->Settle();
            return SB_OK;
        });
    };
    store.read_settings = [](void *of, const sb_value **values, size_t *count, sb_error *) -> int32_t {
        *values = AsStore(of)->told(), *count = 1;
        return SB_OK;
    };
    store.session = [](void *of, void **out, sb_error *error) -> int32_t {
        return Told(error, [&] {
            *out = new Session{AsStore(of), {}, {}};
            return SB_OK;
        });
    };
    store.end = [](void *session) { delete AsSession(session); };
    store.get = [](void *of, const void *key, size_t key_len, const void **value, size_t *value_len, sb_error *error) -> int32_t {
        return Told(error, [&] {
            Session *session = AsSession(of);
            if (!session->store->Get(Bytes(key, key_len), session->value)) return SB_MISSING;
            *value = session->value.data(), *value_len = session->value.size();
            return SB_OK;
        });
    };
    store.put = [](void *of, const void *key, size_t key_len, const void *value, size_t value_len, sb_error *error) -> int32_t {
        const sb_change change = {key, key_len, value, value_len};
        return Batch(of, &change, 1, error);
    };
    store.remove = [](void *of, const void *key, size_t key_len, sb_error *error) -> int32_t {
        const sb_change change = {key, key_len, nullptr, 0};
        return Batch(of, &change, 1, error);
    };
    store.batch = Batch;
    store.scan = [](void *of, const void *from, size_t from_len, size_t limit, sb_visit visit, void *context,
                    sb_error *error) -> int32_t {
        return Told(error, [&] {
            Session *session = AsSession(of);
            session->store->Scan(Bytes(from, from_len), limit, session->value, visit, context);
            return SB_OK;
        });
    };
    return store;
}

}  // namespace

const sb_library *storebench_stores(uint32_t version) {
    static const sb_store store = Table();
    static const sb_store *const stores[] = {&store};
    static const sb_library library = {SB_VERSION, 1, stores};
    return version == SB_VERSION ? &library : nullptr;
}
