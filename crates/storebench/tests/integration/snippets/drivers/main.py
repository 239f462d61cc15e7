
# Runs the code that stands above, as main.h does for that in C: opens the store in the folder argv[1], lets argv[2]
# threads write argv[3] records each, over one another, closes the store, opens it again and looks for them.
import sys
import threading

KEYS = 100
VALUE = b"v" * 1000
folder, threads, writes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
done = []


def work(store):
    for number in range(writes):
        write_record(store, b"key-%05d" % (number % KEYS))
    done.append(True)


store = start(folder)
all_threads = [threading.Thread(target=work, args=(store,)) for _ in range(threads)]
for thread in all_threads:
    thread.start()
for thread in all_threads:
    thread.join()
assert len(done) == threads, "a thread failed"
for name, value in tell(store).items():
    print(f"{name}={str(value).lower() if isinstance(value, bool) else value}")
stop(store)
store = start(folder)
for number in range(min(KEYS, writes)):
    assert read_record(store, b"key-%05d" % number) == VALUE, number
assert read_record(store, b"nobody's") is None
stop(store)
