#!/usr/bin/env python3
"""Makes a case slower by a known share, and asks whether two runs of hopcost find that share.

A library that is loaded before the others (LD_PRELOAD, injected.c) puts a chain of multiplications
into every write(2) or send(2) of as many bytes as the case's messages have, and of no other size, so that
the yardsticks, whose messages have 64, stay as they are. In each repetition two runs of --seconds follow each
other, in random order: with the chain and with one of no steps, the library loaded in both. How long
the chain takes is measured by the same program on the same CPU before and after each run; its share is
of the other run's value as met, because the chain does not slow down with the host as the case does.

    benches/injected.py HOPCOST [CASE…] [--share 0.05] [--seconds 15] [--repetitions 5] [--bytes 96]

A row is one repetition: both values in nanoseconds, their ratio less 1 with the interval that follows
from theirs (95 %), the share injected, and the difference, which is `ok` within 1.5 %. A case is a round trip on one CPU whose
ends write one message each: pipe, socketpair, unix-stream and tcp do. The machine's stored reference levels are used (XDG_DATA_HOME).
"""
import argparse, json, math, os, random, subprocess, tempfile
from pairs import ROOT, cpus, median, run

CASES = ["pipe", "unix-stream"]
# Chains of one round trip: each end sends one message.
SENDS = 2
PROBE_STEPS = 100
OFF_MAX = 0.015


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hopcost")
    parser.add_argument("cases", nargs="*", default=CASES)
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--bytes", type=int, default=96)
    options = parser.parse_intermixed_args()
    if options.bytes == 64:
        parser.error("the yardsticks' messages have 64 bytes and would be slowed too")
    hopcost = os.path.abspath(options.hopcost)
    cpu, _, _ = cpus(hopcost)
    with tempfile.TemporaryDirectory(prefix="hopcost-bench-") as folder:
        library, chain = (os.path.join(folder, name) for name in ("injected.so", "chain"))
        source = ROOT / "benches/injected.c"
        run("gcc", "-O2", "-Wall", "-shared", "-fPIC", "-o", library, source)
        run("gcc", "-O2", "-Wall", "-DMEASURE", "-o", chain, source)

        def chain_ns(steps):
            return median([float(run(chain, cpu, steps)) for _ in range(3)])

        def measured(case, steps, seconds):
            """The result of one run, and what the chain took beside it."""
            environment = dict(os.environ, LD_PRELOAD=library, INJECTED_STEPS=str(steps),
                               INJECTED_BYTES=str(options.bytes))
            before = chain_ns(steps)
            command = [hopcost, "run", f"{case}?payload={options.bytes}&place=same-cpu",
                       "--duration", f"{seconds:g}s", "--format", "json"]
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            document = json.loads(done.stdout)
            return document, document["results"][0]["estimates"]["p50_ns"], (before + chain_ns(steps)) / 2

        for case in options.cases:
            _, probe, _ = measured(case, 0, 3)
            steps = round(options.share * probe["point"] / SENDS / (chain_ns(PROBE_STEPS) / PROBE_STEPS))
            print(f"{case}, {options.bytes} bytes, both ends on CPU {cpu}; {SENDS} chains of {steps} multiplications a round trip; "
                  f"two runs of {options.seconds:g} s each")
            print(f"{'without ns':>11} {'with ns':>9}  {'found':^26}  {'injected':>8}  {'off by':>7}  verdict")
            offs = []
            for _ in range(options.repetitions):
                arms = [0, steps]
                random.shuffle(arms)
                seen = {arm: measured(case, arm, options.seconds) for arm in arms}
                (document, plain, _), (_, slowed, took_ns) = seen[0], seen[steps]
                found = slowed["point"] / plain["point"]
                # Each side allows for the next run, so for two of them: their difference does so by itself.
                half = math.hypot(*(math.log(e["high"] / e["low"]) / 2 for e in (plain, slowed))) / math.sqrt(2) \
                    if plain["low"] and slowed["low"] else math.inf
                injected = SENDS * took_ns / (plain["as_met"] or plain["point"])
                offs.append(found - 1 - injected)
                print(f"{plain['point']:11.1f} {slowed['point']:9.1f}  {found - 1:+7.2%} "
                      f"[{found * math.exp(-half) - 1:+7.2%}, {found * math.exp(half) - 1:+7.2%}]  {injected:8.2%}  "
                      f"{offs[-1]:+7.2%}  {'ok' if abs(offs[-1]) <= OFF_MAX else 'OFF'}", flush=True)
            within = sum(abs(off) <= OFF_MAX for off in offs)
            codes = sorted({f["code"] for f in document["findings"] if f["case"] is None})
            print(f"off by {median(offs):+.2%} (median), {max(offs, key=abs):+.2%} at most; {within} of {len(offs)} within "
                  f"{OFF_MAX:.1%}; findings of the last run: {' '.join(codes)}\n")


if __name__ == "__main__":
    main()
