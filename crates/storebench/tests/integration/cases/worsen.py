"""worsen.py NAME: makes the run in the folder NAME, a copy, another run, with latencies in known proportions: real ones of so few
operations differ too much to show anything. `after` has other noise, `slow` is thrice as slow, `one` has one trial only, `other` is of
another machine, `broken` has failures in place of sqlite's results."""

import json
import sys

name = sys.argv[1]
lines = []
for line in open(f"{name}/results.jsonl"):
    trial = json.loads(line)
    block = trial["block"]
    if name == "one" and block > 0:
        continue
    if name == "broken" and trial["cell"]["store"] == "sqlite":
        trial["outcome"] = {"status": "failed", "reason": "store", "message": "gone", "log": ""}
        trial["measured"] = None
    wobble = block * 3 % 5 if name == "after" else block
    times = 3000 if name == "slow" else 1000
    for operation in (trial["measured"] or {}).get("operations", []):
        operation["sum_ns"] = 5 * times * (100 + wobble)
        operation["latency"]["p99_ns"] = 2 * times * (100 + wobble)
    lines.append(json.dumps(trial) + "\n")
open(f"{name}/results.jsonl", "w").writelines(lines)

header = json.load(open(f"{name}/run.json"))
header["command"].append(name)
if name == "other":
    header["hardware"] = "server"
json.dump(header, open(f"{name}/run.json", "w"), indent=2)
