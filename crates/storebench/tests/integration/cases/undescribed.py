"""undescribed.py PAGE... <JSON: the names of all fields in the documents, one a line, that no page has in backquotes."""

import json
import pathlib
import sys

docs = pathlib.Path(__file__).parents[5] / "docs"
pages = "".join((docs / page).read_text() for page in sys.argv[1:])


def names(value):
    if isinstance(value, dict):
        yield from value
        value = value.values()
    elif not isinstance(value, list):
        return
    for one in value:
        yield from names(one)


fields = {name for line in sys.stdin for name in names(json.loads(line))}
assert len(fields) > 40, fields
missing = sorted(name for name in fields if f"`{name}`" not in pages)
if missing:
    sys.exit(f"{sys.argv[1]} does not describe {missing}")
