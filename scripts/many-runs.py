#!/usr/bin/env python3
"""Makes many runs of a few: copies whose machine, start and versions of stores are made up, to measure `storebench site`.

usage: scripts/many-runs.py NUMBER OUT RUN...
    NUMBER  of runs to make, of all RUNs in turn
    OUT     a new folder
"""

import json
import pathlib
import sys

MACHINES_OF_EACH = 4


def renamed(text: str, number: int, versions: dict[str, str]) -> str:
    """A line of a run with another start, and with other versions of its stores."""
    line = json.loads(text)
    line["started"] = f"20{26 + number // 8000:02}-{number // 650 % 12 + 1:02}-{number // 24 % 27 + 1:02}T{number % 24:02}:00:{line['started'][17:]}"
    measured = line.get("measured")
    if measured:
        measured["store_version"] = versions.get(measured["store_version"], measured["store_version"])
    return json.dumps(line)


def copy(run: pathlib.Path, to: pathlib.Path, number: int) -> None:
    header = json.loads((run / "run.json").read_text())
    versions = {store["version"]: f"{store['version']}.{number % MACHINES_OF_EACH}" for store in header["stores"]}
    for store in header["stores"]:
        store["version"] = versions[store["version"]]
    header["hardware"] = f"machine-{number // MACHINES_OF_EACH:03}"
    to.mkdir(parents=True)
    (to / "run.json").write_text(renamed(json.dumps(header), number, versions))
    lines = (run / "results.jsonl").read_text().splitlines()
    (to / "results.jsonl").write_text("".join(renamed(line, number, versions) + "\n" for line in lines))


def main() -> None:
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    number, out, runs = int(sys.argv[1]), pathlib.Path(sys.argv[2]), [pathlib.Path(run) for run in sys.argv[3:]]
    for one in range(number):
        copy(runs[one % len(runs)], out / f"run-{one:04}", one)


if __name__ == "__main__":
    main()
