#!/usr/bin/env python3
"""Puts together what runs of the study crash found, store by store: what `storebench stores` and `advise` say, and the table in
docs/guarantees.md.

Only trials of settings that come with a guarantee count: those with a setting of their own are left out. States that could not
be mounted say nothing of a store and are left out. So are those on ext2, which has no journal: what is missing there after a cut may
be the file system's. Results that do not say which states were cut before anything was acknowledged are left out, too. Exit code 2:
nothing was found."""

import argparse
import collections
import csv
import json
import pathlib
import sys
import tomllib

# The harm of each finding, as `StateFinding::harm` has it; what is not here needs a hand.
KINDS = {"lost": "lost", "wrong": "lost", "resurrected": "lost", "torn": "torn_value", "hole": "hole"}
ALLOWED = {"process": {"held", "lost"}, "power": {"held"}}
WITHOUT_JOURNAL = {"ext2"}
HARMS = ["lost", "by_hand", "created", "torn_value", "hole"]


def known(path):
    """What a file that this has written says."""
    found = collections.defaultdict(lambda: (set(), collections.Counter()))
    if path:
        for row in csv.DictReader(path.read_text().splitlines()):
            places, counts = found[row["store"], row["guarantee"], row["torn"] == "true", row["version"]]
            places.update(row["file_systems"].split())
            counts.update({name: int(row[name]) for name in ["states", *HARMS] if row[name]})
            # Of older states of servers it is not known whether they were cut while the server was created.
            counts["is_unknown"] |= not row["created"]
    return found


def add_rows(found, paths):
    """Adds what runs found."""
    for path in paths:
        plan = tomllib.loads(json.loads((pathlib.Path(path) / "run.json").read_text())["plan"])
        trials = [json.loads(line) for line in (pathlib.Path(path) / "results.jsonl").read_text().splitlines()]
        if not any("unacknowledged" in ((trial.get("measured") or {}).get("cut_check") or {}) for trial in trials):
            continue
        for trial in trials:
            measured = trial.get("measured") or {}
            check = measured.get("cut_check") or {}
            cell = trial["cell"]
            has_own = cell["store"] in plan.get("settings", {}) or any("." in axis for axis in cell)
            place = cell["place"].split("@")[0].split(":")[0]
            allowed = ALLOWED.get(cell["guarantee"])
            if check.get("outcome") != "made" or has_own or place in WITHOUT_JOURNAL or allowed is None:
                continue
            # Without the name of a system, and what follows its numbers.
            version = measured["store_version"].split()[-1].split("-")[0]
            torn = check["whole_bytes"] == 512
            places, counts = found[cell["store"], cell["guarantee"], torn, version]
            places.add(place)
            for finding, states in check["found"].items():
                if finding == "file-system":
                    continue
                counts["states"] += states
                if finding in allowed:
                    continue
                before = check.get("unacknowledged", {}).get(finding, 0) if finding not in KINDS else 0
                counts["created"] += before
                counts[KINDS.get(finding, "by_hand")] += states - before


def rows_of(found):
    for (store, tier, torn, version), (places, counts) in sorted(found.items(), key=lambda one: one[0]):
        harms = {name: counts[name] for name in HARMS}
        harms["created"] = "" if counts["is_unknown"] else counts["created"]
        yield store, tier, torn, version, " ".join(sorted(places)), counts["states"], harms


def table(found):
    for store, tier, torn, version, places, states, harms in rows_of(found):
        disk = "tears pages" if torn else "whole blocks"
        told = " | ".join(str(count) if count != "" else "unknown" for count in harms.values())
        print(f"| {store} {version} | {tier} | {disk} | {places} | {states} | {told} |")


def write(found):
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(["store", "guarantee", "torn", "version", "file_systems", "states", *HARMS])
    for store, tier, torn, version, places, states, harms in rows_of(found):
        rows.writerow([store, tier, str(torn).lower(), version, places, states, *harms.values()])


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--table", action="store_true", help="the table in place of crates/stores/src/evidence.csv")
    known_already = "what this has written before: states are added to those of the same version"
    reader.add_argument("--add", metavar="FILE", type=pathlib.Path, help=known_already)
    run = "a run folder, such as of storebench run crash --preset evidence, and of the same with --torn"
    reader.add_argument("runs", metavar="RUN", nargs="+", help=run)
    asked = reader.parse_args()
    found = known(asked.add)
    before = sum(counts["states"] for _, counts in found.values())
    add_rows(found, asked.runs)
    if sum(counts["states"] for _, counts in found.values()) == before:
        print("no cut checks in these runs", file=sys.stderr)
        sys.exit(2)
    (table if asked.table else write)(found)


if __name__ == "__main__":
    main()
