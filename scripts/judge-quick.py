#!/usr/bin/env python3
"""Judges the stores that a quick run names alone, by a second quick run and by a run of seven trials on the same machine.

usage: scripts/judge-quick.py PROGRAM [FOLDER]
    the program, and where the three runs go (default: a new folder in TMPDIR)
Runs `PROGRAM run crud --quick` twice and once with seven trials, about ten minutes together, on a machine that has nothing else to
do. Of each store that stands alone at the top of a cell in a quick run it says whether it is the best, or too close to call with
it, in the run of seven trials, and whether it is a candidate in the other quick run, and alone there. The last is told and not judged: a
lead that is just beyond the scatter in one run is just within it in the next, however strict the rule.
Exit code 0: at least 95 % are among the best of seven trials, and at least 90 % candidates in both; 1: fewer; 2: usage.
"""

import json
import pathlib
import subprocess
import sys
import tempfile


def winners(program: str, folder: pathlib.Path, *options: str) -> dict[tuple[str, ...], set[str]]:
    """Runs the quick study; the stores at the top of each cell of its matrices."""
    command = [program, "run", "crud", "--quick", "--out", str(folder), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    command = [program, "report", str(next(folder.glob("crud-*"))), "--json"]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    top = {}
    for matrix in report["matrices"]:
        for row in matrix["rows"]:
            for column, contest in zip(matrix["columns"], row["contests"]):
                key = (matrix["title"], row["name"], row.get("record_size", ""), json.dumps(column))
                top[key] = {contender["store"] for contender in contest["contenders"] if contender["wins"]}
    return top


def main() -> int:
    """Runs and judges."""
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else tempfile.mkdtemp())
    first = winners(sys.argv[1], folder / "first")
    second = winners(sys.argv[1], folder / "second")
    often = winners(sys.argv[1], folder / "often", "--trials", "7")
    named = confirmed = agreed = alone = 0
    for quick, other in ((first, second), (second, first)):
        for cell, stores in quick.items():
            if len(stores) != 1:
                continue
            named += 1
            confirmed += stores <= often[cell]
            agreed += stores <= other[cell]
            alone += stores == other[cell]
            if not stores <= often[cell] or other[cell] != stores:
                print(f"{' '.join(cell)}: {stores} alone; other quick run {other[cell]}; seven trials {often[cell]}")
    candidates = sum(len(stores) for stores in first.values()) / max(len(first), 1)
    print(f"{len(first)} cells, {candidates:.1f} candidates in the mean; stores named alone in two quick runs: {named}")
    if named == 0:
        return 1
    print(f"among the best of seven trials: {confirmed / named:.1%}")
    print(f"in the other quick run a candidate: {agreed / named:.1%}, alone: {alone / named:.1%}")
    return 0 if confirmed >= 0.95 * named and agreed >= 0.9 * named else 1


if __name__ == "__main__":
    sys.exit(main())
