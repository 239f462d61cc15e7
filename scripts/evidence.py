#!/usr/bin/env python3
"""Puts together what runs of the study crash found, store by store: the table that `storebench stores` shows.

usage: scripts/evidence.py RUN... > crates/storebench/src/evidence.csv
  RUN  a run folder, such as of storebench run crash --preset full, and of --preset torn --guarantee power
Only trials of settings that come with a guarantee count: those with a setting of their own are left out. States that could not
be mounted say nothing of a store and are left out. Exit code 2: nothing was found."""

import collections
import csv
import json
import pathlib
import sys

ALLOWED = {"none": None, "process": {"held", "lost"}, "power": {"held"}}


def rows(paths):
    found = collections.defaultdict(lambda: [set(), 0, 0])
    for path in paths:
        for line in (pathlib.Path(path) / "results.jsonl").read_text().splitlines():
            trial = json.loads(line)
            measured = trial.get("measured") or {}
            check = measured.get("cut_check") or {}
            cell = trial["cell"]
            if check.get("outcome") != "made" or any("." in axis for axis in cell):
                continue
            tier = cell["guarantee"]
            allowed = ALLOWED.get(tier)
            if allowed is None:
                continue
            states = {kind: count for kind, count in check["found"].items() if kind != "file-system"}
            disk = "torn" if check["whole_bytes"] == 512 else "whole"
            # Without the name of a system, and what follows its numbers.
            version = measured["store_version"].split()[-1].split("-")[0]
            one = found[cell["store"], version, tier, disk]
            one[0].add(cell["place"].split("@")[0].split(":")[0])
            one[1] += sum(states.values())
            one[2] += sum(count for kind, count in states.items() if kind not in allowed)
    return found


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    found = rows(sys.argv[1:])
    if not found:
        print("no cut checks in these runs", file=sys.stderr)
        sys.exit(2)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["store", "version", "guarantee", "disk", "file_systems", "states", "broken"])
    for (store, version, tier, disk), (places, states, broken) in sorted(found.items()):
        out.writerow([store, version, tier, disk, " ".join(sorted(places)), states, broken])


if __name__ == "__main__":
    main()
