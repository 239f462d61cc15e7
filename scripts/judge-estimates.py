#!/usr/bin/env python3
"""Holds estimates of disks (--disk-estimate) to what simulated disks that make their users wait take, by one run of both.

usage: scripts/judge-estimates.py RUN [RECORDER]
  RUN       a run folder of a study on the disks of which it estimates the times, and on RECORDER, such as
            storebench run crud --store sqlite,lmdb,leveldb,rocksdb,berkeleydb,flat-folder --guarantee power
              --records 1000 --record-size 1KiB --operations 200 --disk recorder,hdd-7200,sd-a1 --disk-estimate hdd-7200,sd-a1
  RECORDER  the disk whose estimates are judged [recorder]
Prints for each store, disk and operation the time there, the estimate, and the estimate over the time. Exit code 0: all shown
estimates are within 20 %; 1: some are not; 2: something is missing."""

import collections
import json
import math
import pathlib
import sys


# Between two ticks of the kernel's clock: see data/estimates.rs of crates/figures.
TICK_NS = 4e6


def phases(trial):
    """The clocks of each timed operation of a trial, and how often it was done."""
    for operation in (trial.get("measured") or {}).get("operations", []):
        counters = (operation.get("counters") or {}).get("disk")
        asked = counters or operation.get("phase_disk") or {}
        times = asked.get("operations", operation["count"] + operation.get("warm_up", 0))
        # Where the disk takes less than half of the time, the machine decides, and no estimate is shown.
        clocks = asked.get("clocks")
        if clocks and times:
            yield operation["operation"], clocks, times, asked["modelled_ns"] >= clocks["here_ns"] / 2


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    recorder = sys.argv[2] if len(sys.argv) > 2 else "recorder"
    waited, estimated, recorded, check = (collections.defaultdict(list) for _ in range(4))
    for line in pathlib.Path(sys.argv[1], "results.jsonl").read_text().splitlines():
        trial = json.loads(line)
        disk = (trial.get("disk") or {}).get("name")
        for operation, clocks, times, is_of_disk in phases(trial):
            cell = trial["cell"]
            key = (cell["store"], operation)
            if disk != recorder:
                waited[(*key, disk)].append(clocks["here_ns"] / times)
                continue
            if not is_of_disk:
                continue
            recorded[key].append(clocks["here_ns"] / times)
            check[key].append(clocks["on_ns"][recorder] / clocks["here_ns"])
            for other, on_ns in clocks["on_ns"].items():
                estimated[(*key, other)].append(on_ns / times)
    both = [key for key in waited if key in estimated]
    if not both:
        print("judge-estimates: the run has no disk that was both waited for and estimated", file=sys.stderr)
        return 2
    mean = lambda values: math.exp(sum(map(math.log, values)) / len(values))
    wrong = 0
    print(f"{'store':16} {'disk':18} {'operation':10} {'waited ms':>10} {'estimate ms':>11} {'ratio':>6} {'check':>6}")
    for key in sorted(both, key=lambda key: (key[2], key[0], key[1])):
        ratio, sound = mean(estimated[key]) / mean(waited[key]), mean(check[key[:2]])
        calls = 2 if key[1] == "remove" else 1
        ticks = [ns / calls >= TICK_NS for ns in (mean(estimated[key]), mean(recorded[key[:2]]))]
        known = abs(sound - 1) <= 0.2 and (ticks[0] or not ticks[1])
        off = known and abs(ratio - 1) > 0.2
        wrong += off
        store, operation, disk = key
        print(f"{store:16} {disk:18} {operation:10} {mean(waited[key]) / 1e6:10.3f} {mean(estimated[key]) / 1e6:11.3f}"
              f" {ratio:6.2f} {sound:6.2f}{'  off' if off else '' if known else '  not shown'}")
    print(f"{wrong} of {len(both)} off by more than 20 %")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
