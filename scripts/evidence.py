#!/usr/bin/env python3
"""Puts together what runs of the study crash found, store by store: what `storebench stores` and `advise` tell, and the table in
docs/guarantees.md.

Only trials of settings that come with a guarantee count: those with a setting of their own are left out. States that could not
be mounted say nothing of a store and are left out. So are those on ext2, which has no journal: what is missing there after a cut may
be the file system's. Exit code 2: nothing was found."""

import argparse
import collections
import csv
import json
import pathlib
import sys
import tomllib

ALLOWED = {"none": None, "process": {"held", "lost"}, "power": {"held"}}
WITHOUT_JOURNAL = {"ext2"}
COLUMNS = ["store", "guarantee", "torn", "version", "file_systems", "states", "broken"]


def known(path):
    """What a file that this has written says."""
    found = collections.defaultdict(lambda: [set(), 0, 0])
    if path:
        for row in csv.DictReader(path.read_text().splitlines()):
            one = found[row["store"], row["guarantee"], row["torn"] == "true", row["version"]]
            one[0].update(row["file_systems"].split())
            one[1] += int(row["states"])
            one[2] += int(row["broken"])
    return found


def add_rows(found, paths):
    """Adds what runs found."""
    for path in paths:
        plan = tomllib.loads(json.loads((pathlib.Path(path) / "run.json").read_text())["plan"])
        for line in (pathlib.Path(path) / "results.jsonl").read_text().splitlines():
            trial = json.loads(line)
            measured = trial.get("measured") or {}
            check = measured.get("cut_check") or {}
            cell = trial["cell"]
            has_own = cell["store"] in plan.get("settings", {}) or any("." in axis for axis in cell)
            if check.get("outcome") != "made" or has_own:
                continue
            place = cell["place"].split("@")[0].split(":")[0]
            if place in WITHOUT_JOURNAL:
                continue
            tier = cell["guarantee"]
            allowed = ALLOWED.get(tier)
            if allowed is None:
                continue
            states = {kind: count for kind, count in check["found"].items() if kind != "file-system"}
            torn = check["whole_bytes"] == 512
            # Without the name of a system, and what follows its numbers.
            version = measured["store_version"].split()[-1].split("-")[0]
            one = found[cell["store"], tier, torn, version]
            one[0].add(place)
            one[1] += sum(states.values())
            one[2] += sum(count for kind, count in states.items() if kind not in allowed)


def table(found):
    for (store, tier, torn, version), (places, states, broken) in sorted(found.items()):
        disk = "tears pages" if torn else "whole blocks"
        print(f"| {store} {version} | {tier} | {disk} | {' '.join(sorted(places))} | {states} | {broken} |")


def write(found):
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(COLUMNS)
    for (store, tier, torn, version), (places, states, broken) in sorted(found.items()):
        rows.writerow([store, tier, str(torn).lower(), version, " ".join(sorted(places)), states, broken])


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--table", action="store_true", help="the table in place of crates/stores/src/evidence.csv")
    known_already = "what this has written before: states are added to those of the same version"
    reader.add_argument("--add", metavar="FILE", type=pathlib.Path, help=known_already)
    run = "a run folder, such as of storebench run crash --preset full, and of --preset torn --guarantee power"
    reader.add_argument("runs", metavar="RUN", nargs="+", help=run)
    asked = reader.parse_args()
    found = known(asked.add)
    before = sum(states for _, states, _ in found.values())
    add_rows(found, asked.runs)
    if sum(states for _, states, _ in found.values()) == before:
        print("no cut checks in these runs", file=sys.stderr)
        sys.exit(2)
    (table if asked.table else write)(found)


if __name__ == "__main__":
    main()
