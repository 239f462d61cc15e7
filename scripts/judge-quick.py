#!/usr/bin/env python3
"""Judges the stores that a quick run names alone, by a second quick run and by a longer run on the same machine.

usage: scripts/judge-quick.py PROGRAM [FOLDER]
       scripts/judge-quick.py PROGRAM --recorded RUN BLOCKS
    the program, and where the three runs go (default: a new folder in TMPDIR)
    --recorded: measures nothing; draws pairs of quick runs of so many blocks each from a recorded run that has at least twice as
    many, 16 times, and judges them by the whole run
Runs `PROGRAM run crud --quick` twice and once with twice as many trials, about ten minutes together, on a machine that has nothing
else to do. Of each store that stands alone at the top of a cell in a quick run it says whether it is the best, or too close to call
with it, in the longer run, and whether it stands alone in the other quick run, or is a candidate there.
Exit code 0: at least 95 % are among the best of the longer run, and at least 90 % stand alone in both; 1: fewer; 2: usage.
"""

import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

Tops = dict[tuple[str, ...], set[str]]

# Pairs of quick runs that are drawn from a recorded run.
DRAWN = 16


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
    """Runs the quick study."""
    command = [program, "run", "crud", "--quick", "--out", str(folder), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return tops(program, next(folder.glob("crud-*")))


def part(run: pathlib.Path, trials: list[dict], blocks: list[int], folder: pathlib.Path) -> pathlib.Path:
    """A run of some blocks of another."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(run / "run.json", folder)
    kept = [{**trial, "block": blocks.index(trial["block"])} for trial in trials if trial["block"] in blocks]
    lines = (json.dumps(trial) + "\n" for trial in kept)
    (folder / "results.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


def drawn(program: str, run: pathlib.Path, count: int, folder: pathlib.Path) -> list[tuple[Tops, Tops]]:
    """Pairs of runs of so many blocks each, which share none."""
    text = (run / "results.jsonl").read_text(encoding="utf-8")
    trials = [trial for trial in map(json.loads, text.splitlines()) if "block" in trial]
    blocks = sorted({trial["block"] for trial in trials})
    if len(blocks) < 2 * count:
        sys.exit(f"{run} has {len(blocks)} blocks: too few for two of {count} each")
    pairs = []
    for number in range(DRAWN):
        random.Random(number).shuffle(blocks)
        sides = (sorted(blocks[:count]), sorted(blocks[count : 2 * count]))
        pairs.append(tuple(tops(program, part(run, trials, side, folder / "drawn")) for side in sides))
    return pairs


def judge(pairs: list[tuple[Tops, Tops]], often: Tops, each: bool) -> bool:
    """Says how often what is named alone holds; whether it does often enough."""
    named = confirmed = agreed = candidates = 0
    for quick, other in [pair for one, two in pairs for pair in ((one, two), (two, one))]:
        for cell, stores in quick.items():
            if len(stores) != 1:
                continue
            named += 1
            confirmed += stores <= often[cell]
            agreed += other[cell] == stores
            candidates += stores <= other[cell]
            if each and (not stores <= often[cell] or other[cell] != stores):
                print(f"{' '.join(cell)}: {stores} alone; other quick run {other[cell]}; longer run {often[cell]}")
    all_candidates = [len(stores) for pair in pairs for side in pair for stores in side.values()]
    print(f"{len(often)} cells, {sum(all_candidates) / max(len(all_candidates), 1):.1f} candidates in the mean; stores named alone in a quick run: {named / (2 * len(pairs)):.1f}")
    if named == 0:
        return False
    print(f"among the best of all trials: {confirmed / named:.1%}")
    print(f"alone in the other quick run too: {agreed / named:.1%}; a candidate there: {candidates / named:.1%}")
    return confirmed >= 0.95 * named and agreed >= 0.9 * named


def main() -> int:
    """Runs, or draws, and judges."""
    match sys.argv[1:]:
        case [program, "--recorded", run, count] if count.isdigit():
            with tempfile.TemporaryDirectory() as folder:
                pairs = drawn(program, pathlib.Path(run), int(count), pathlib.Path(folder))
            return 0 if judge(pairs, tops(program, pathlib.Path(run)), False) else 1
        case [program, *rest] if len(rest) < 2 and not program.startswith("-"):
            folder = pathlib.Path(rest[0] if rest else tempfile.mkdtemp())
            pair = (measured(program, folder / "first"), measured(program, folder / "second"))
            return 0 if judge([pair], measured(program, folder / "often", "--trials", "24"), True) else 1
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
