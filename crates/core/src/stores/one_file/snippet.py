# One JSON file, in Python
import json, os

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
[sync_folder=true]     directory = os.open(os.path.dirname(path), os.O_RDONLY)
[sync_folder=true]     os.fsync(directory)
[sync_folder=true]     os.close(directory)

# Keys and values are str: of bytes, key.decode("latin-1").
def put(path, records, key, value):
    records[key] = value
    save(path, records)

def get(records, key):
    return records.get(key)

def remove(path, records, key):
    if records.pop(key, None) is not None:
        save(path, records)

if __name__ == "__main__":
    path, records = open_records(".")
    put(path, records, "colour", "blue")
    put(path, records, "size", "12")
    print(get(records, "colour"))
    remove(path, records, "size")
