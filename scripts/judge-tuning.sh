#!/bin/sh
# Tunes SQLite and RocksDB for two unlike workloads each, then compares the settings that were told with the defaults on fresh
# trials with other seeds, three times each, and says whether they are ahead by the interval that was told. Takes about 20 minutes;
# for an idle machine.
#
#     scripts/judge-tuning.sh PROGRAM [FOLDER]
set -eu

program=$(realpath "$1")
folder=${2:-$(mktemp -d)}
budget=${BUDGET:-3m}
trials=${TRIALS:-32}
cd "$folder"
wrong=0

# The plan of the proof, and the told interval: "LOW HIGH", or nothing where the default is kept.
told() {
    python3 - "$1" <<'PYTHON'
import glob, json, re, sys
name = sys.argv[1]
answer = open(f"{name}.answer").read()
proofs = glob.glob(f"{name}/tune-*/*-proof/run.json")
if answer.lstrip().startswith("Asked") and "Change these settings" in answer and proofs:
    open(f"{name}.toml", "w").write(json.load(open(proofs[0]))["plan"])
    gain = answer.split("What that gains")[1]
    found = re.search(r"([\d.]+)x faster \(([\d.]+) to ([\d.]+)\)", gain)
    print(found.group(2), found.group(3))
PYTHON
}

# The gain in the newest run of a folder, with its paired 95 % interval left to the reader: "GAIN LEAST MOST" over the blocks.
fresh() {
    python3 - "$1" "$2" <<'PYTHON'
import glob, json, math, sys
shares = {name: float(weight) for name, weight in (part.split("=") for part in sys.argv[2].split(","))}
whole = sum(shares.values())
blocks = {}
for path in glob.glob(f"{sys.argv[1]}/*/results.jsonl"):
    for line in open(path):
        trial = json.loads(line)
        if not trial["measured"]:
            sys.exit(f"a trial failed: {trial['outcome']}")
        operations = {one["operation"]: one["latency"]["mean_ns"] for one in trial["measured"]["operations"]}
        time = sum(share / whole * operations[name] for name, share in shares.items())
        tuned = any("." in axis for axis in trial["cell"])
        blocks.setdefault(trial["block"], {})[tuned] = time
gains = [math.log(block[False] / block[True]) for block in blocks.values() if len(block) == 2]
mean = math.exp(sum(gains) / len(gains))
print(f"{mean:.3f} {math.exp(min(gains)):.3f} {math.exp(max(gains)):.3f}")
PYTHON
}

# judge NAME STORE RECORDS SIZE MIX GUARANTEE
judge() {
    name=$1 store=$2 records=$3 size=$4 mix=$5 guarantee=$6
    "$program" tune "$store" --records "$records" --size "$size" --mix "$mix" --guarantee "$guarantee" \
        --budget "$budget" --out "$name" >"$name.answer" 2>"$name.log"
    interval=$(told "$name")
    if [ -z "$interval" ]; then
        echo "kept: $name: the default"
        return
    fi
    low=${interval% *}
    for seed in 1001 2002 3003; do
        "$program" run "$name.toml" --seed "$seed" --trials "$trials" --out "$name.fresh-$seed" >>"$name.log" 2>&1
        gain=$(fresh "$name.fresh-$seed" "$mix")
        if awk "BEGIN { exit !(${gain%% *} >= $low) }"; then
            echo "right: $name: told $interval, fresh $gain"
        else
            echo "wrong: $name: told $interval, fresh $gain"
            wrong=$((wrong + 1))
        fi
    done
}

judge sqlite-app sqlite 5000 200B get=80,update=15,insert=5 process
judge sqlite-writes sqlite 20k 2KiB insert=50,update=50 power
judge rocksdb-reads rocksdb 100k 1KiB get=1 process
judge rocksdb-writes rocksdb 50k 100B insert=50,update=50 process

echo "answers and figures: $folder"
[ "$wrong" -eq 0 ]
