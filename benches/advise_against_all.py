#!/usr/bin/env python3
"""Advice against brute force: every candidate is measured equally often; then requests are drawn,
`hopcost advise` measures each of them anew; then every candidate is measured again. The best is the
best of the first run, and what is recommended is compared with it in the second: the least of many
figures of one run is too small in that run, because it was chosen for being small.

    benches/advise_against_all.py [HOPCOST] [REQUESTS] [BUDGET]

A line a request: how much worse the recommended case's objective is than that of the best that
meets the request.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

WAITS = "block,spin,spin-then-block"
PAYLOADS = {"64": 64, "4KiB": 4096}
MAY_LOSE = {"udp"}


def hopcost(binary, *arguments):
    done = subprocess.run([binary, *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"hopcost {' '.join(arguments)}: {done.stderr}")
    return json.loads(done.stdout)


def exhaustive(binary, file):
    """The objectives of every case by its id, where they are valid."""
    axes = ["--payload", ",".join(PAYLOADS), "--boundary", "process,thread"]
    how = ["--place", "cross", "--wait", WAITS, "--rounds", "9", "--measure", "30ms"]
    found = hopcost(binary, "run", "roundtrip/*", *axes, *how, "--out", file, "--format", "json")
    cases = {}
    valid = {case["case"] for case in found["cases"] if case["validity"] in ("valid", "suspect")}
    names = {"cost_ns": "p50", "p50_ns": "p50", "p99_ns": "p99"}
    for row in found["estimates"]:
        if row["case"] in valid and row["statistic"] in names:
            cases.setdefault(row["case"], {"p99": None})[names[row["statistic"]]] = row["point"]
    return cases


def meets(case, request):
    mechanism = case.split("/")[1].split("?")[0]
    keys = dict(pair.split("=") for pair in case.split("?")[1].split("&"))
    spins = keys["wait"] != "block"
    return (
        mechanism not in MAY_LOSE
        and int(keys["payload"]) == PAYLOADS[request["payload"]]
        and keys["boundary"] == request["boundary"]
        and not (request["no-spin"] and spins)
    )


def main():
    binary = sys.argv[1] if len(sys.argv) > 1 else "hopcost"
    requests = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    budget = sys.argv[3] if len(sys.argv) > 3 else "60s"
    draw = random.Random(20)
    with tempfile.TemporaryDirectory() as folder:
        first = exhaustive(binary, str(Path(folder) / "first.hopcost"))
        advised = []
        for number in range(requests):
            request = {
                "payload": draw.choice(list(PAYLOADS)),
                "boundary": draw.choice(["process", "thread"]),
                "no-spin": draw.random() < 0.5,
                "sort": draw.choice(["p50", "p99"]),
            }
            words = [f"--{key}={value}" for key, value in request.items() if key != "no-spin"]
            words += ["--no-spin"] if request["no-spin"] else []
            out = str(Path(folder) / f"{number}.hopcost")
            advice = hopcost(binary, "advise", *words, "--budget", budget, "--out", out, "--format", "json")
            advised.append((request, words, advice))
        second = exhaustive(binary, str(Path(folder) / "second.hopcost"))
    within, known_of = 0, 0
    for number, (request, words, advice) in enumerate(advised):
        of = request["sort"]
        known = [case for case in first if meets(case, request) and first[case][of] and second.get(case, {}).get(of)]
        best = min(known, key=lambda case: first[case][of])
        chosen = advice["candidates"][0]["case"] if advice["advice"][0]["answer"] == "recommended" else None
        value = second.get(chosen, {}).get(of)
        worse = value / second[best][of] - 1 if value else None
        known_of += worse is not None
        within += worse is not None and worse <= 0.1
        print(f"{number:2} {'unknown' if worse is None else f'{worse:+7.1%}'}  {' '.join(words)}: {advice['says'][0]}")
    print(f"{within} of {known_of} are within 10 % of the best of {len(second)} cases; of "
          f"{requests - known_of} the second run does not know the objective")


main()
