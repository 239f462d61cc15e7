"""Reads the CSV of a report as a plotting script would, knowing nothing of storebench but the columns' names and units,
and prints who wins each group: hardware|data type|op|size|records|stores within 5 % of the best, by name."""

import csv
import sys

NUMBERS = ["records", "measurements", "sum", "min", "max", "avg"]
OPERATIONS = {"insert", "update", "get", "remove", "memory", "space"}

groups = {}
with open(sys.argv[1], newline="", encoding="ascii") as file:
    reader = csv.DictReader(file, strict=True)
    for row in reader:
        assert None not in row and None not in row.values(), f"line {reader.line_num}: {row}"
        for name in NUMBERS:
            row[name] = int(row[name])
        assert row["op"] in OPERATIONS, row
        assert row["data type"] in {"compressible", "incompressible"}, row
        assert row["min"] <= row["avg"] <= row["max"] <= row["sum"], row
        assert abs(row["sum"] / row["measurements"] - row["avg"]) <= 0.5, row
        key = (row["hardware"], row["data type"], row["op"], row["size"], str(row["records"]))
        stores = groups.setdefault(key, {})
        assert row["store"] not in stores, f"twice: {row}"
        stores[row["store"]] = row["avg"]

for key, stores in sorted(groups.items()):
    most = key[2] == "space"
    best = max(stores.values()) if most else min(stores.values())
    winners = [name for name, avg in stores.items() if (avg >= best * 0.95 if most else avg <= best * 1.05)]
    print("|".join((*key, ",".join(sorted(winners)))))
