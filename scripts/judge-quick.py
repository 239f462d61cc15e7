#!/usr/bin/env python3
"""Judges the stores that a quick run names alone, by a second quick run and by a longer run on the same machine.

usage: scripts/judge-quick.py PROGRAM [FOLDER]
    the program, and where the three runs go (default: a new folder in TMPDIR)
Runs `PROGRAM run crud --quick` twice and once with 24 trials, on a machine that has nothing else to do. With six minutes before the second
and the third, in which ext4 forgets the files that the run before deleted (docs/lab-notes/judging.md), that takes three quarters of an hour.
Of each store that stands alone at the top of a cell in a quick run it says whether it is the best, or too close to call with it, in
the longer run, and whether it stands alone in the other quick run, or is a candidate there.
Exit code 0: at least 95 % are among the best of the longer run, and at least 90 % stand alone in both; 1: fewer; 2: usage.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

Tops = dict[tuple[str, ...], set[str]]


def tops(program: str, run: pathlib.Path) -> Tops:
    """The stores at the top of each cell of a run's matrices."""
    command = [program, "report", str(run), "--json"]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    top = {}
    for matrix in json.loads(told)["matrices"]:
        for row in matrix["rows"]:
            for column, contest in zip(matrix["columns"], row["contests"]):
                key = (matrix["title"], row["name"], row.get("record_size", ""), json.dumps(column))
                top[key] = {contender["store"] for contender in contest["contenders"] if contender["wins"]}
    return top


def measured(program: str, folder: pathlib.Path, *options: str) -> Tops:
    """Runs the quick study, six minutes after the one before."""
    if any(folder.parent.glob("*/crud-*")):
        time.sleep(360)
    command = [program, "run", "crud", "--quick", "--out", str(folder), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return tops(program, next(folder.glob("crud-*")))


def judge(pair: tuple[Tops, Tops], often: Tops) -> bool:
    """Says how often what is named alone holds; whether it does often enough."""
    named = confirmed = agreed = candidates = 0
    for quick, other in (pair, pair[::-1]):
        for cell, stores in quick.items():
            if len(stores) != 1:
                continue
            named += 1
            confirmed += stores <= often[cell]
            agreed += other[cell] == stores
            candidates += stores <= other[cell]
            if not stores <= often[cell] or other[cell] != stores:
                print(f"{' '.join(cell)}: {stores} alone; other quick run {other[cell]}; longer run {often[cell]}")
    all_candidates = [len(stores) for side in pair for stores in side.values()]
    print(f"{len(often)} cells, {sum(all_candidates) / max(len(all_candidates), 1):.1f} candidates in the mean; stores named alone in a quick run: {named / 2:.1f}")
    if named == 0:
        return False
    print(f"among the best of the longer run: {confirmed / named:.1%}")
    print(f"alone in the other quick run too: {agreed / named:.1%}; a candidate there: {candidates / named:.1%}")
    return confirmed >= 0.95 * named and agreed >= 0.9 * named


def main() -> int:
    """Runs and judges."""
    match sys.argv[1:]:
        case [program, *rest] if len(rest) < 2 and not program.startswith("-"):
            folder = pathlib.Path(rest[0] if rest else tempfile.mkdtemp())
            pair = (measured(program, folder / "first"), measured(program, folder / "second"))
            return 0 if judge(pair, measured(program, folder / "often", "--trials", "24")) else 1
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
