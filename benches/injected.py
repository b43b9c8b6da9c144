#!/usr/bin/env python3
"""Makes a case slower by a known share, and asks whether two runs of hopcost find that share.

`spin` is an engine whose round trip is so many multiplications, each waiting for the last; slowed, it has that share more of them.
The other cases are slowed by a library that is loaded before the others (LD_PRELOAD, injected.c): it puts a chain of
multiplications into every write(2) or send(2) of as many bytes as the case's messages have, and of no other size, so that the
yardsticks, whose messages have 64, stay as they are. Without the share the library is loaded too, with chains of no steps. How long
a chain takes is measured by the same code on the same CPU before and after each run; its share is of the other run's value
met, because the chain does not slow down with the host as the case does. Values are divided by what the run's yardstick took.

    benches/injected.py HOPCOST [CASE…] [--share 0.05] [--seconds 15] [--repetitions 5] [--bytes 96] [--pairs 20]

First, whether the chain does what it says: PAIRS adjacent pairs of single trials of about 40 ms, with and without. Then a row for each
repetition, two runs in random order: both values in nanoseconds, their ratio less 1 with the interval that follows
from theirs (95 %), the share injected, the difference, which is `ok` within 1.5 %, and the ratio of the values met. A case is a round trip on one CPU whose
ends send one message each: pipe, socketpair, unix-stream, tcp, udp. Both runs' values are put in relation by what their yardsticks took.
"""
import argparse, json, math, os, pathlib, random, subprocess, tempfile
from pairs import ROOT, adjacent_ratios, cpus, estimate, median, rank_interval, run, ticks_per_second

CASES = ["spin", "pipe", "unix-stream"]
# What else the spelling of a case needs for a single trial.
PARAMETERS = {"tcp": "&nodelay=on", "udp": "&timeout=200ms"}
# Chains of one round trip: each end sends one message.
SENDS = 2
PROBE_STEPS = 100
SPIN_STEPS = 4000
PAIR_NS = 40e6
OFF_MAX = 0.015


class Injector:
    """A case with and without the share."""

    def __init__(self, options, case, folder):
        self.options, self.case, self.steps = options, case, 0
        self.cpu, _, _ = cpus(options.hopcost)
        self.rate = ticks_per_second()
        self.folder = pathlib.Path(folder)

    def compiled(self, name, steps, *how):
        """The library or the program with chains of so many steps."""
        path = self.folder / f"{name}-{steps}"
        if not path.exists():
            run("gcc", "-O2", "-Wall", f"-DSTEPS={steps}", *how, "-o", path, ROOT / "benches/injected.c")
        return path

    def chain_ns(self, steps):
        program = self.compiled("chain", steps, "-DMEASURE")
        return median([float(run(program, self.cpu)) for _ in range(3)])

    def json(self, command, slowed):
        environment = dict(os.environ)
        if self.case != "spin":
            library = self.compiled("injected", self.steps if slowed else 0, "-shared", "-fPIC")
            environment |= {"LD_PRELOAD": str(library), "INJECTED_BYTES": str(self.options.bytes)}
        return json.loads(subprocess.run([self.options.hopcost, *command], capture_output=True, text=True, env=environment).stdout)

    def spelling(self, slowed):
        if self.case == "spin":
            return f"roundtrip/spin:{round(SPIN_STEPS * (1 + self.options.share * slowed))}?place=same-cpu"
        return f"{self.case}?payload={self.options.bytes}&place=same-cpu"

    def trial_ns(self, count, slowed):
        case = (f"roundtrip/{self.case}?payload={self.options.bytes}&boundary=process&place=same-cpu&wait=block"
                + PARAMETERS.get(self.case, ""))
        document = self.json(["trial", case, "--count", str(count), "--warm-up", str(count // 10)], slowed)
        return median(document["samples"]) / float(self.rate) * 1e9

    def size(self):
        """How many steps make the share, and whether single trials agree."""
        plain_ns = median([self.trial_ns(4000, False) for _ in range(5)])
        self.steps = round(self.options.share * plain_ns / SENDS / (self.chain_ns(PROBE_STEPS) / PROBE_STEPS))
        count, before_ns, pairs = int(PAIR_NS / plain_ns), self.chain_ns(self.steps), []
        ratios, _ = adjacent_ratios(self.options.pairs, lambda: self.trial_ns(count, True), lambda: self.trial_ns(count, False), pairs)
        low, high, _ = rank_interval(ratios)
        took_ns = (before_ns + self.chain_ns(self.steps)) / 2
        share = SENDS * took_ns / median([plain for _, plain in pairs])
        print(f"{SENDS} chains of {self.steps} multiplications a round trip, {took_ns:.0f} ns each; adjacent trials: "
              f"{median(ratios) - 1:+.2%} [{low - 1:+.2%}, {high - 1:+.2%}] for {share:.2%} injected")

    def measured(self, slowed):
        """The findings and the p50 of one run, and what the chains of a round trip took beside it."""
        steps = self.steps if slowed else 0
        before_ns = self.chain_ns(steps)
        document = self.json(["run", self.spelling(slowed), "--budget", f"{self.options.seconds:g}s", "--format", "json"], slowed)
        codes = sorted({f["code"] for f in document["findings"] if f["case"] is None})
        own_ns = document["speed_probes"][0]["own_ns"]
        return codes, estimate(document, "p50_ns"), own_ns, SENDS * (before_ns + self.chain_ns(steps)) / 2

    def row(self):
        arms = [False, True]
        random.shuffle(arms)
        seen = {slowed: self.measured(slowed) for slowed in arms}
        (codes, plain, plain_own_ns, _), (_, slowed, own_ns, took_ns) = seen[False], seen[True]
        met = slowed["point"] / plain["point"]
        found = met * plain_own_ns / own_ns
        half = math.inf
        if plain["low"] and slowed["low"]:
            # Each interval allows for the next run, so for two runs; the difference of these two does so by itself.
            half = math.hypot(*(math.log(e["high"] / e["low"]) / 2 for e in (plain, slowed))) / math.sqrt(2)
        injected = self.options.share if self.case == "spin" else took_ns / plain["point"]
        off = found - 1 - injected
        print(f"{plain['point']:11.1f} {slowed['point']:9.1f}  {found - 1:+7.2%} "
              f"[{found * math.exp(-half) - 1:+7.2%}, {found * math.exp(half) - 1:+7.2%}]  {injected:8.2%}  "
              f"{off:+7.2%}  {met - 1:+7.2%}  {'ok' if abs(off) <= OFF_MAX else 'OFF'}", flush=True)
        return off, codes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hopcost", type=os.path.abspath)
    parser.add_argument("cases", nargs="*", default=CASES)
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--bytes", type=int, default=96)
    parser.add_argument("--pairs", type=int, default=20)
    options = parser.parse_intermixed_args()
    if options.bytes == 64:
        parser.error("the yardsticks' messages have 64 bytes and would be slowed too")
    for case in options.cases:
        with tempfile.TemporaryDirectory(prefix="hopcost-bench-") as folder:
            injector = Injector(options, case, folder)
            print(f"{injector.spelling(False)}, two runs of {options.seconds:g} s each")
            if case != "spin":
                injector.size()
            print(f"{'without ns':>11} {'with ns':>9}  {'found':^26}  {'injected':>8}  {'off by':>7}  {'met':>7}  verdict")
            rows = [injector.row() for _ in range(options.repetitions)]
        offs, codes = [off for off, _ in rows], sorted({code for _, codes in rows for code in codes})
        within = sum(abs(off) <= OFF_MAX for off in offs)
        print(f"off by {median(offs):+.2%} (median), {max(offs, key=abs):+.2%} at most; {within} of {len(offs)} within "
              f"{OFF_MAX:.1%}; findings of the runs: {' '.join(codes)}\n")


if __name__ == "__main__":
    main()
