# Plain files, in Python
import os
[write!=open, write, close] import threading

def path_of(folder, key):
[layout=one directory]     return os.path.join(folder, key)
[layout!=one directory]     return os.path.join(folder, key[:2], key[2:4], key[4:])

[write=open, write, close] def put(folder, key, value):
[write=open, write, close]     path = path_of(folder, key)
[write=open, write, close] [layout!=one directory]     os.makedirs(os.path.dirname(path), exist_ok=True)
[write=open, write, close]     with open(path, "wb") as file:
[write=open, write, close]         file.write(value)
[write!=open, write, close] def sync_directory(path):
[write!=open, write, close]     directory = os.open(path, os.O_RDONLY)
[write!=open, write, close]     os.fsync(directory)
[write!=open, write, close]     os.close(directory)
[write!=open, write, close] 
[write!=open, write, close] def put(folder, key, value):
[write!=open, write, close]     path = path_of(folder, key)
[write!=open, write, close]     directory = os.path.dirname(path)
[write!=open, write, close] [layout!=one directory]     if not os.path.isdir(directory):
[write!=open, write, close] [layout!=one directory]         os.makedirs(directory, exist_ok=True)
[write!=open, write, close] [layout!=one directory]         sync_directory(os.path.dirname(directory))
[write!=open, write, close] [layout!=one directory]         sync_directory(folder)
[write!=open, write, close]     # Of this thread alone. Remove those that a crash has left.
[write!=open, write, close]     name = f".tmp-{os.getpid()}-{threading.get_ident()}"
[write!=open, write, close]     temporary = os.path.join(directory, name)
[write!=open, write, close]     with open(temporary, "wb") as file:
[write!=open, write, close]         file.write(value)
[write!=open, write, close]         file.flush()
[write!=open, write, close]         os.fsync(file.fileno())
[write!=open, write, close]     os.rename(temporary, path)
[write!=open, write, close]     sync_directory(directory)
