
# Runs the code of shown.py, as main.h does for that in C: opens the store in the folder argv[1], lets argv[2] threads write
# argv[3] records each, over one another, closes the store, opens it again and looks for them. A driver says what the
# engine reads back.
import sys
import threading

KEYS = 100
VALUE = b"v" * 1000
folder, threads, writes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
done = []


def work(store):
    for number in range(writes):
        put(store, b"key-%05d" % (number % KEYS), VALUE)
    done.append(True)


store = open_records(folder)
all_threads = [threading.Thread(target=work, args=(store,)) for _ in range(threads)]
for thread in all_threads:
    thread.start()
for thread in all_threads:
    thread.join()
assert len(done) == threads, "a thread failed"
for name, value in tell(store).items():
    print(f"{name}={str(value).lower() if isinstance(value, bool) else value}")
close_records(store)
store = open_records(folder)
for number in range(min(KEYS, writes)):
    assert get(store, b"key-%05d" % number) == VALUE, number
assert get(store, b"nobody's") is None
close_records(store)
