# One JSON file, in Python
import json, os

[sync_folder=true] def sync_directory(path):
[sync_folder=true]     directory = os.open(path, os.O_RDONLY)
[sync_folder=true]     os.fsync(directory)
[sync_folder=true]     os.close(directory)
[sync_folder=true] 
# Bytes are texts in it, each the character of its number (Latin-1).
def open_records(folder):
    path = os.path.join(folder, "records.json")
    records = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            records = json.load(file)
    return path, records

def save(path, records):
    temporary = os.path.join(os.path.dirname(path), ".records.json.tmp")
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(records, file)
[sync_file=true]         file.flush()
[sync_file=true]         os.fsync(file.fileno())
    os.replace(temporary, path)
[sync_folder=true]     sync_directory(os.path.dirname(path))

def put(store, key, value):
    path, records = store
    records[key.decode("latin-1")] = value.decode("latin-1")
    save(path, records)

# None where there is no such key.
def get(store, key):
    value = store[1].get(key.decode("latin-1"))
    return value and value.encode("latin-1")

def remove(store, key):
    path, records = store
    if records.pop(key.decode("latin-1"), None) is not None:
        save(path, records)

if __name__ == "__main__":
    os.makedirs("records", exist_ok=True)
[sync_folder=true]     sync_directory(".")
    store = open_records("records")
    put(store, b"apple", b"red")
    put(store, b"apple", b"green")  # Replaces it.
    put(store, b"cherry", b"red")
    remove(store, b"cherry")
    remove(store, b"cherry")  # No error.
    print("apple:", get(store, b"apple").decode())
    print("cherry:", get(store, b"cherry"))
