"""Fails unless an expression is so of the newest run here, or of the one in the folder `RUN`.

It may use `trials` and `header`, whose objects have their fields as attributes: one that is not there is None. `of(store="lmdb")` are the
measurements of the trials with this in their cells, of which none may have failed; `one` is the only of them; `op`, `counts` and
`setting` look into one. `told` is the text of a file, and `rows` are what SQL finds in one. `outcomes` are pairs of a store and `ok`, `unsupported` or the kind of failure, in order.
"""
import ast
import json
import os
import pathlib
import re
import sqlite3
import sys


class Thing(dict):
    __getattr__ = dict.get


def read(text):
    return json.loads(text, object_hook=Thing)


def chosen(axes):
    found = [t for t in trials if all(t.cell.get(axis) == value for axis, value in axes.items())]
    assert found, f"no trial of {axes}"
    return found


def of(**axes):
    for t in chosen(axes):
        assert t.outcome.status == "ok", t.outcome
    return [t.measured for t in chosen(axes)]


def one(**axes):
    [measured] = of(**axes)
    return measured


def op(measured, name):
    return next((o for o in measured.operations if o.operation == name), None)


def counts(measured):
    return {o.operation: o.count for o in measured.operations}


def setting(measured, name):
    return next((s["value"] for s in measured.settings if s.name == name), None)


def told(name):
    return pathlib.Path(name).read_text()


def rows(database, sql, *values):
    return sqlite3.connect(f"file:{database}?mode=ro", uri=True).execute(sql, values).fetchall()


stores, residents = (os.environ.get(name, "").split(",") for name in ("STORES", "RESIDENTS"))
runs = sorted(pathlib.Path("storebench-runs").glob("*/run.json"))
folder = pathlib.Path(os.environ["RUN"]) if "RUN" in os.environ else runs[-1].parent if runs else None
if folder:
    header = read((folder / "run.json").read_text())
    trials = [read(line) for line in (folder / "results.jsonl").read_text().splitlines() if line]
    outcomes = sorted((t.cell.store, t.outcome.reason or t.outcome.status) for t in trials)
    failed = [t.outcome for t in trials if t.outcome.status != "ok"]


class Names(dict):
    """What expressions may use; what the cases' lines `let NAME EXPRESSION` set, too."""

    def __missing__(self, name):
        self[name] = eval(os.environ[name], self)
        return self[name]


names = Names(globals())
if not eval(sys.argv[1], names):
    body = ast.parse(sys.argv[1], mode="eval").body
    parts = [body.left, *body.comparators] if isinstance(body, ast.Compare) else getattr(body, "values", [])
    sys.exit("\n".join(f"{ast.unparse(part)}: {eval(ast.unparse(part), names)!r:.2000}" for part in parts) or "it is not so")
