#!/usr/bin/env python3
"""Puts together what runs of the study crash found, store by store: what `storebench stores` and `advise` tell, and the table in
docs/guarantees.md.

usage: scripts/evidence.py RUN... > crates/storebench/src/evidence.rs
       scripts/evidence.py --table RUN...
  RUN  a run folder, such as of storebench run crash --preset full, and of --preset torn --guarantee power
Only trials of settings that come with a guarantee count: those with a setting of their own are left out. States that could not
be mounted say nothing of a store and are left out. Exit code 2: nothing was found."""

import collections
import json
import pathlib
import sys
import tomllib

ALLOWED = {"none": None, "process": {"held", "lost"}, "power": {"held"}}
HEAD = """\
//! The findings of power cuts that come with the program: what its authors' own runs of the study `crash` found, by version. Made by
//! `scripts/evidence.py` from these runs.

use storebench_core::store::{Evidence, Guarantee};
"""


def rows(paths):
    found = collections.defaultdict(lambda: [set(), 0, 0])
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
            tier = cell["guarantee"]
            allowed = ALLOWED.get(tier)
            if allowed is None:
                continue
            states = {kind: count for kind, count in check["found"].items() if kind != "file-system"}
            torn = check["whole_bytes"] == 512
            # Without the name of a system, and what follows its numbers.
            version = measured["store_version"].split()[-1].split("-")[0]
            one = found[cell["store"], tier, torn, version]
            one[0].add(cell["place"].split("@")[0].split(":")[0])
            one[1] += sum(states.values())
            one[2] += sum(count for kind, count in states.items() if kind not in allowed)
    return found


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
    as_table = sys.argv[1:2] == ["--table"]
    paths = sys.argv[2:] if as_table else sys.argv[1:]
    if not paths:
        sys.exit(__doc__)
    found = rows(paths)
    if not found:
        print("no cut checks in these runs", file=sys.stderr)
        sys.exit(2)
    (table if as_table else rust)(found)


if __name__ == "__main__":
    main()
