# Plain files, in Python. Keys are file names: no slash, no zero byte.
import os
[write=rename] import threading

def path_of(folder, key):
[levels=0]     return os.path.join(folder, key)
    size = {{level_bytes}}  # Bytes of the key that name a directory
[level_bytes!=]     end = {{levels}} * size
[level_bytes!=]     levels = [key[at:at + size] for at in range(0, end, size)]
[level_bytes!=]     return os.path.join(folder, *levels, key[end:])

[sync_folder=true] def sync_directory(path):
[sync_folder=true]     directory = os.open(path, os.O_RDONLY)
[sync_folder=true]     os.fsync(directory)
[sync_folder=true]     os.close(directory)
[sync_folder=true] 
def put(folder, key, value):
    path = path_of(folder, key)
[sync_folder=false] [level_bytes!=]     os.makedirs(os.path.dirname(path), exist_ok=True)
[sync_folder=true] [level_bytes!=]     above = os.path.dirname(path)
[sync_folder=true] [level_bytes!=]     if not os.path.isdir(above):
[sync_folder=true] [level_bytes!=]         os.makedirs(above, exist_ok=True)
[sync_folder=true] [level_bytes!=]         for _ in range({{levels}}):
[sync_folder=true] [level_bytes!=]             above = os.path.dirname(above)
[sync_folder=true] [level_bytes!=]             sync_directory(above)
[write=rename]     # Of this thread alone. Remove those that a crash has left.
[write=rename]     name = f".tmp-{os.getpid()}-{threading.get_ident()}"
[write=rename]     temporary = os.path.join(os.path.dirname(path), name)
[write=rename]     with open(temporary, "wb") as file:
[write=overwrite]     with open(path, "wb") as file:
        file.write(value)
[sync_file=true]         file.flush()
[sync_file=true]         os.fsync(file.fileno())
[write=rename]     os.rename(temporary, path)
[sync_folder=true]     sync_directory(os.path.dirname(path))

# None where there is no such key.
def get(folder, key):
    try:
        with open(path_of(folder, key), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None

def remove(folder, key):
    path = path_of(folder, key)
    try:
        os.remove(path)
    except FileNotFoundError:
        return
[sync_folder=true]     sync_directory(os.path.dirname(path))

if __name__ == "__main__":
    os.makedirs("records", exist_ok=True)
[sync_folder=true]     sync_directory(".")
    put("records", "apple", b"red")
    put("records", "apple", b"green")  # Replaces it.
    put("records", "cherry", b"red")
    remove("records", "cherry")
    remove("records", "cherry")  # No error.
    print("apple:", get("records", "apple").decode())
    print("cherry:", get("records", "cherry"))
