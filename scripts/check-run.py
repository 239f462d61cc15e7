#!/usr/bin/env python3
"""Checks that a run is whole: every trial that was planned has succeeded, with every record read back and found right.

usage: scripts/check-run.py RUN STORE,... [PLACE,...]
    the run's folder, the stores that it must have measured, and the places that it must have measured each of them on
Exit code 0: it is; 1: a line says what is not.
"""

import json
import pathlib
import sys


def check(folder: pathlib.Path, stores: set[str], places: set[str]) -> str:
    """Says what is wrong with a run; nothing where all is well."""
    header = json.loads((folder / "run.json").read_text())
    results = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    if {result["cell"]["store"] for result in results} != stores:
        return f"the stores measured are {sorted({result['cell']['store'] for result in results})}"
    for place in places:
        there = {result["cell"]["store"] for result in results if result["cell"]["place"] == place}
        if there != stores:
            return f"{place}: the stores measured are {sorted(there)}"
    cells = {json.dumps(result["cell"], sort_keys=True) for result in results}
    if len(cells) != len(results) or any(left["cell"] in [result["cell"] for result in results] for left in header["left_out"]):
        return "a cell was measured twice, or though it was left out"
    for result in results:
        name = "/".join(result["cell"].values())
        if result["outcome"]["status"] != "ok":
            return f"{name}: {result['outcome']}"
        measured = result["measured"]
        counts = {operation["operation"]: operation["count"] for operation in measured["operations"]}
        if not counts or min(counts.values()) == 0 or any(operation["errors"] for operation in measured["operations"]):
            return f"{name}: operations {counts}"
        audit = measured["audit"]
        if audit["reopened"] != 2 or audit["read_back"] != audit["records"] or audit["records"] == 0:
            return f"{name}: audit {audit}"
    return ""


wrong = check(pathlib.Path(sys.argv[1]), set(sys.argv[2].split(",")), set(",".join(sys.argv[3:]).split(",")) - {""})
if wrong:
    sys.exit(f"check-run: {wrong}")
