"""Runs a command on a terminal of its own: on_a_terminal.py COLUMNS COMMAND... Its output goes to standard output, and
its exit code is this program's."""

import fcntl
import os
import struct
import subprocess
import sys
import termios

ours, its = os.openpty()
fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(sys.argv[1]), 0, 0))
process = subprocess.Popen(sys.argv[2:], stdin=its, stdout=its, stderr=its, close_fds=True)
os.close(its)
while True:
    try:
        piece = os.read(ours, 65536)
    except OSError:  # the last one who had it open has gone
        break
    if not piece:
        break
    sys.stdout.buffer.write(piece.replace(b"\r\n", b"\n"))
sys.stdout.buffer.flush()
sys.exit(process.wait())
