"""Writes a file of zstd: a beginning, and 16,384 blocks of 128 KiB of one letter, which is 2 GiB."""
import sys

name, beginning, letter = sys.argv[1], *(text.replace("\\n", "\n").encode() for text in sys.argv[2:])
BLOCKS = 16 << 10


def head(last, kind, size):
    return (int(last) | kind << 1 | size << 3).to_bytes(3, "little")


with open(name, "wb") as file:
    # A window of 128 KiB; no lengths, no checksum.
    file.write(0xFD2FB528.to_bytes(4, "little") + bytes([0, 7 << 3]))
    file.write(head(False, 0, len(beginning)) + beginning)
    for number in range(1, BLOCKS + 1):
        file.write(head(number == BLOCKS, 1, 128 << 10) + letter)
