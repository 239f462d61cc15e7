"""The ids of the cells that a dry run lists on standard input, one a line. Each has an estimate of time and disk in the last two columns; a long
id has them on a line of its own."""
import sys

begun, count = "", 0
for line in sys.stdin.read().splitlines()[1:]:
    if not line:
        break
    part, figures = (line[:56], line[56:]) if line.endswith("B") and line[56:].startswith(" ") else (line, "")
    begun += part.strip()
    if figures:
        assert len(figures.split()) % 2 == 0, f"no estimate: {line}"
        print(begun)
        begun, count = "", count + 1
assert count and not begun, begun
