#!/usr/bin/env python3
"""Plays fleets through the rule for outliers, and prints the table of METHODOLOGY.md, "A fleet".

    benches/fleet_rule.py [FLEETS [SEED]]

Hosts spread by 2 % and know their value to a quarter of that. Fails if normal fleets have more
false outliers than stated, by three standard errors.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "fleet"))
from hopcost_fleet import rule  # noqa: E402
from tests.test_report import played  # noqa: E402

SIZES = [(8, 1), (20, 5), (100, 1), (100, 5), (100, 50), (1000, 5), (10_000, 5)]


def main() -> None:
    """A row per size."""
    fleets = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    broken = 0
    print("| hosts | cases | scales | normal | Student's t of 5, no margin | the same, spread 0.5 %,"
          " margin 3 % | slow hosts found |\n|---|---|---|---|---|---|---|")  # fmt: skip
    for hosts, cases in SIZES:
        n, rng = max(fleets * 100 // max(hosts, 100), 50), np.random.default_rng(seed)
        normal, _ = played(rng, n, hosts, cases, 0.02, 0.25)
        heavy, _ = played(rng, n, hosts, cases, 0.02, 0.25, tail=5)
        close, _ = played(rng, n, hosts, cases, 0.005, 0.25, 0.03, tail=5)
        _, found = played(rng, n, hosts, cases, 0.02, 0.25, 0.03, slow=(4, 1.2))
        shares = " | ".join(f"{100 * share:.2g} %" for share in (normal, heavy, close, found))
        print(f"| {hosts:,} | {cases} | {rule.threshold(hosts, cases):.2f} | {shares} |", flush=True)
        broken += normal > 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)
    sys.exit(f"{broken} rows have more false outliers than stated" if broken else 0)


if __name__ == "__main__":
    main()
