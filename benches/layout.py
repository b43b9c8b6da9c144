#!/usr/bin/env python3
"""What the code layout of a build alone does: the same source linked with its functions in other orders.

Builds hopcost as it is and LAYOUTS times with the functions shuffled by the linker (lld's --shuffle-sections), and copies
the first build. Then ROUNDS times one trial of about 40 ms of each, in random order. Printed for every binary is the median over
rounds of its p50 over the geometric mean of all binaries in that round, with its sign interval; then how far the layouts lie apart and
how far the two copies of one build do, which differ by nothing but where their file lies in memory.

    benches/layout.py [--layouts 3] [--rounds 40] [--places same-cpu] [--mechanisms pipe,futex,call/mutex-uncontended,call/ring-inline] [BINARY…]

Binaries that are given are taken in place of builds, the first one twice. A build takes about 20 s where the tree was built
before; target/release holds the unshuffled one in the end.
"""
import argparse, json, math, os, pathlib, random, shutil, statistics, subprocess, tempfile
from against_c import MECHANISMS
from pairs import HOPCOST, ROOT, cpus, median, rank_interval, run, ticks_per_second

BUILD = ["cargo", "rustc", "--release", "--quiet", "-p", "hopcost", "--bin", "hopcost", "--"]
CALLS_A_BATCH = 2048


def build(folder, seed):
    """The tree as a binary whose functions lie in an order drawn from a seed; as usual for 0."""
    shuffled = ["-C", f"link-arg=-Wl,--shuffle-sections=.text.*={seed}"] if seed else []
    subprocess.run([*BUILD, *shuffled], cwd=ROOT, check=True)
    return shutil.copy(HOPCOST, pathlib.Path(folder) / f"layout-{seed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", nargs="*")
    parser.add_argument("--layouts", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--places", default="same-cpu")
    parser.add_argument("--mechanisms", default="pipe,futex,call/mutex-uncontended,call/ring-inline")
    options = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory(prefix="hopcost-layout-") as folder:
        built = options.binaries or [build(folder, seed) for seed in (*range(1, options.layouts + 1), 0)][::-1]
        copy = shutil.copy(built[0], pathlib.Path(folder) / "copy")
        binaries = {"as built": os.path.abspath(built[0]), "a copy": str(copy)}
        binaries |= {f"layout {number}": os.path.abspath(path) for number, path in enumerate(built[1:], 1)}
        compare(binaries, options)


def compare(binaries, options):
    first, second, relation = cpus(binaries["as built"])
    rate = ticks_per_second()

    def p50(binary, case, warm, count):
        # A batch of calls is long beside its stamps.
        batch = ["--batch", CALLS_A_BATCH] if case.startswith("call/") else []
        out = run(binary, "trial", case, "--count", count, "--warm-up", warm, *batch)
        return median(json.loads(out)["samples"]) / (CALLS_A_BATCH if batch else 1)

    print(f"{options.rounds} rounds; each binary's p50 over the mean of all in the round, [sign interval]; CPUs {first} and {second}")
    for place in options.places.split(","):
        for name in options.mechanisms.split(","):
            case = name if "/" in name else MECHANISMS[name].case("same-cpu" if place == "same-cpu" else relation)
            probe = p50(binaries["as built"], case, CALLS_A_BATCH, 4 * CALLS_A_BATCH)
            count = max(4 * CALLS_A_BATCH, int(0.04 * float(rate) / probe))
            logs = {label: [] for label in binaries}
            for _ in range(options.rounds):
                order = random.sample(list(binaries), len(binaries))
                seen = {label: math.log(p50(binaries[label], case, count // 10, count)) for label in order}
                mean = statistics.fmean(seen.values())
                for label, value in seen.items():
                    logs[label].append(value - mean)
            print(f"\n{case}, {probe / float(rate) * 1e9:.0f} ns")
            for label, values in logs.items():
                low, high, _ = rank_interval(values)
                print(f"  {label:10} {math.exp(median(values)):.4f} [{math.exp(low):.4f}, {math.exp(high):.4f}]")
            levels = {label: median(values) for label, values in logs.items()}
            copies = [levels.pop("as built"), levels.pop("a copy")]
            layouts = [statistics.fmean(copies), *levels.values()]
            print(f"  layouts: greatest over least {math.exp(max(layouts) - min(layouts)):.4f}, SD "
                  f"{statistics.stdev(layouts):.2%} of {len(layouts)}; two copies of one: {math.exp(abs(copies[0] - copies[1])):.4f}",
                  flush=True)


if __name__ == "__main__":
    main()
