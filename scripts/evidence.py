#!/usr/bin/env python3
"""Puts together what runs of the study crash found, store by store: what `storebench stores` and `advise` tell, and the table in
docs/guarantees.md.

Only trials of settings that come with a guarantee count: those with a setting of their own are left out. States that could not
be mounted say nothing of a store and are left out. So are those on ext2, which has no journal: what is missing there after a cut may
be the file system's. Exit code 2: nothing was found."""

import argparse
import collections
import json
import pathlib
import re
import sys
import tomllib

ALLOWED = {"none": None, "process": {"held", "lost"}, "power": {"held"}}
WITHOUT_JOURNAL = {"ext2"}
HEAD = """\
//! The findings of power cuts that come with the program: what its authors' own runs of the study `crash` found, by version. Made by
//! `scripts/evidence.py` from these runs.

use storebench_core::store::{Evidence, Guarantee};
"""


# An entry of the file that this writes.
ENTRY = re.compile(
    r'version: "(?P<version>.*?)",\s+guarantee: Guarantee::(?P<tier>\w+),\s+torn: (?P<torn>\w+),\s+'
    r"file_systems: &\[(?P<places>.*?)\],\s+states: (?P<states>[\d_]+),\s+broken: (?P<broken>[\d_]+),"
)


def known(text):
    """What a file that this has written says."""
    found = collections.defaultdict(lambda: [set(), 0, 0])
    for block in text.split("pub const ")[1:]:
        store = block.split(":")[0].lower().replace("_", "-")
        for entry in ENTRY.finditer(block):
            one = found[store, entry["tier"].lower(), entry["torn"] == "true", entry["version"]]
            one[0].update(re.findall(r'"(.*?)"', entry["places"]))
            one[1] += int(entry["states"])
            one[2] += int(entry["broken"])
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


def rust(found):
    print(HEAD)
    by_store = collections.defaultdict(list)
    for (store, *key), (places, states, broken) in sorted(found.items()):
        by_store[store].append((*key, sorted(places), states, broken))
    for store, all in by_store.items():
        print(f"pub const {store.upper().replace('-', '_')}: &[Evidence] = &[")
        for tier, torn, version, places, states, broken in all:
            names = ", ".join(f'"{place}"' for place in places)
            print("    Evidence {")
            print(f'        version: "{version}",')
            print(f"        guarantee: Guarantee::{tier.capitalize()},")
            print(f"        torn: {str(torn).lower()},")
            print(f"        file_systems: &[{names}],")
            print(f"        states: {states:_},")
            print(f"        broken: {broken:_},")
            print("    },")
        print("];")


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--table", action="store_true", help="the table in place of crates/storebench/src/evidence.rs")
    known_already = "what this has written before: states are added to those of the same version"
    reader.add_argument("--add", metavar="FILE", type=pathlib.Path, help=known_already)
    run = "a run folder, such as of storebench run crash --preset full, and of --preset torn --guarantee power"
    reader.add_argument("runs", metavar="RUN", nargs="+", help=run)
    asked = reader.parse_args()
    found = known(asked.add.read_text() if asked.add else "")
    before = sum(states for _, states, _ in found.values())
    add_rows(found, asked.runs)
    if sum(states for _, states, _ in found.values()) == before:
        print("no cut checks in these runs", file=sys.stderr)
        sys.exit(2)
    (table if asked.table else rust)(found)


if __name__ == "__main__":
    main()
