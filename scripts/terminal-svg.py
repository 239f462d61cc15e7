#!/usr/bin/env python3
"""Draws what a command prints on a terminal as an SVG, for the documentation.

usage: scripts/terminal-svg.py [--columns N] [--from REGEX] [--to REGEX] OUT.svg COMMAND...

The command runs on a terminal of its own (a pty) of N columns, so that it prints as it does for people. With --from the
picture begins at the first line that matches; with --to it ends before the next line that matches. Nothing else is
left out, and no text is changed.
"""

import argparse
import fcntl
import html
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata

CHARACTER = 7.8  # width of a character, in pixels, at FONT_SIZE
LINE = 17
FONT_SIZE = 13
MARGIN = 14
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
GROUND, INK = "#1b1f24", "#d8dee4"
# The eight colours of a terminal.
BASIC = ["#484f58", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#d8dee4"]
ESCAPE = re.compile(r"\x1b\[([0-9;]*)m")


def run(command, columns):
    """What the command prints on a terminal; ends the program with the command's code if it fails."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, env=environment)
    os.close(theirs)
    output = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says so when the other end is closed
            break
        if not piece:
            break
        output += piece
    if process.wait() != 0:
        sys.exit(f"{command[0]} ended with exit code {process.returncode}")
    return output.decode().replace("\r\n", "\n")


def cut(text, first, last):
    """The lines from the first that matches `first` up to the next that matches `last`."""
    lines = text.rstrip("\n").split("\n")
    plain = [ESCAPE.sub("", line) for line in lines]
    start, end = 0, len(lines)
    if first:
        start = next((i for i, line in enumerate(plain) if re.search(first, line)), None)
        if start is None:
            sys.exit(f"no line matches {first}")
    if last:
        end = next((i for i in range(start + 1, len(lines)) if re.search(last, plain[i])), end)
    while end > start and not plain[end - 1].strip():
        end -= 1
    return lines[start:end]


def colour(number):
    """A colour of the 256-colour palette."""
    if number < 16:
        return "#000000" if number == 0 else BASIC[number % 8]
    if number < 232:
        steps = [0, 95, 135, 175, 215, 255]
        number -= 16
        return "#" + "".join(f"{steps[number // part % 6]:02x}" for part in (36, 6, 1))
    return "#" + f"{8 + 10 * (number - 232):02x}" * 3


def apply(style, codes):
    """The style after an escape sequence."""
    codes = [int(code or 0) for code in codes.split(";")]
    style = dict(style)
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = {}
        elif code == 1:
            style["bold"] = True
        elif code == 2:
            style["dim"] = True
        elif 30 <= code <= 37:
            style["ink"] = BASIC[code - 30]
        elif code in (38, 48) and codes[:1] == [5]:
            # Black on a colour stays black: the palette's black is lighter than the ground for other text.
            number = codes[1]
            style["ink" if code == 38 else "ground"] = "#000000" if number == 16 else colour(number)
            codes = codes[2:]
        else:
            sys.exit(f"this script does not know the terminal's code {code}")
    return style


def width(text):
    """Columns that a text takes."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in text)


def spans(lines):
    """Line, column, text and style of each stretch of one style."""
    style = {}
    for row, line in enumerate(lines):
        column = 0
        for position, piece in enumerate(ESCAPE.split(line)):
            if position % 2:
                style = apply(style, piece)
            elif piece:
                yield row, column, piece, style
                column += width(piece)


def draw(lines, columns):
    wide, high = columns * CHARACTER + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    grounds, texts = [], []
    for row, column, text, style in spans(lines):
        x, y = MARGIN + column * CHARACTER, MARGIN + row * LINE
        taken = width(text) * CHARACTER
        if "ground" in style:
            grounds.append(f'<rect x="{x:.1f}" y="{y}" width="{taken:.1f}" height="{LINE}" fill="{style["ground"]}"/>')
        if not text.strip():
            continue
        look = f' fill="{style["ink"]}"' if "ink" in style else ""
        look += ' font-weight="bold"' if "bold" in style else ""
        look += ' opacity="0.6"' if "dim" in style else ""
        texts.append(
            f'<text x="{x:.1f}" y="{y + 12.5:.1f}" textLength="{taken:.1f}" xml:space="preserve"{look}>'
            f"{html.escape(text)}</text>"
        )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high}" width="{wide:.0f}" height="{high}"'
            f' font-family="{FONTS}" font-size="{FONT_SIZE}" fill="{INK}">',
            f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>',
            *grounds,
            *texts,
            "</svg>\n",
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--from", dest="first", metavar="REGEX")
    parser.add_argument("--to", dest="last", metavar="REGEX")
    parser.add_argument("out")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    lines = cut(run(options.command, options.columns), options.first, options.last)
    columns = max(width(ESCAPE.sub("", line)) for line in lines)
    with open(options.out, "w", encoding="utf-8") as out:
        out.write(draw(lines, columns))


if __name__ == "__main__":
    main()
