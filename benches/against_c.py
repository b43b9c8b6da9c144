#!/usr/bin/env python3
"""hopcost beside a plain C program: one trial of each in turn, on the same CPUs.

A mechanism's name with `-thread` is between two threads with process-private primitives, otherwise
between processes. `spin` and `ring` with `-bare` spin without PAUSE (pause=0). `ring` exchanges number and
message over the same cache lines as hopcost's, but never asks whether a place is free. `-untouched` writes
and compares the first 8 bytes alone (touch=none), in C too; in `-passed` the C program passes the buffer and
looks at none of it.

For every mechanism: PAIRS adjacent pairs of about 40 ms each (--ms), the order within
a pair and of the pairs at random; the ratio of the two medians of each pair;
the median ratio with its sign interval (exact, from the order statistics), and
the C program against itself under the same procedure, as the yardstick.

    benches/against_c.py [--pairs 20] [--places same-cpu,cross] [--mechanisms pipe,...]

Spinning rows are timed 32 at once: a stamp has steps of 10 ns on some CPUs. The compiled shape of a spinning
loop changes its round trip by up to a tenth, so each trial in C runs the -O2 or the -O3 build, at random.

Verdicts: `ok` where the interval contains 1 and lies within 0.95-1.05; `within
0.95-1.05` where it excludes 1 but stays in that band; `OFF` where it lies wholly
outside the band; `inconclusive` where it is too wide to say.
"""
import argparse, json, random, tempfile, typing
from pairs import (HOPCOST, adjacent_ratios, compile_c, cpus as two_cpus, median, rank_interval,
                   run, ticks_per_second, verdict)

class Row(typing.NamedTuple):
    """A mechanism of pingpong.c and the case of hopcost's that does the same."""
    c: str
    mechanism: str
    payload: int
    wait: str = "block"
    boundary: str = "process"
    parameters: str = ""
    # Whether the C program only passes the buffer, where hopcost's touch=none still numbers it.
    passes: bool = False

    def case(self, place):
        return (f"roundtrip/{self.mechanism}?payload={self.payload}&boundary={self.boundary}&place={place}"
                f"&wait={self.wait}{self.parameters}")

    def batch(self):
        """Exchanges between two stamps."""
        return 32 if self.wait == "spin" else 1

    def c_message(self):
        """Batch, payload and touch, where a message is written and compared."""
        touch = "nothing" if self.passes else "none" if "touch=none" in self.parameters else "verify"
        return (self.batch(), self.payload, touch) if self.payload else (self.batch(),)


MECHANISMS = {
    "spin": Row("spin", "flag", 0, "spin"), "futex": Row("futex", "futex", 0),
    "semaphore": Row("semaphore", "semaphore", 0), "condvar": Row("condvar", "condvar", 0),
    "futex-thread": Row("futex", "futex", 0, boundary="thread"),
    "semaphore-thread": Row("semaphore", "semaphore", 0, boundary="thread"),
    "condvar-thread": Row("condvar", "condvar", 0, boundary="thread"),
    "spin-bare": Row("spin-bare", "flag", 0, "spin", parameters="&pause=0"),
    **{f"ring-{size}": Row("ring", "shm-ring", size, "spin") for size in (8, 56, 64, 256, 4096)},
    **{f"ring-{size}-bare": Row("ring-bare", "shm-ring", size, "spin", parameters="&pause=0")
       for size in (8, 56, 64, 256, 4096)},
    "eventfd": Row("eventfd", "eventfd", 0), "signal": Row("signal", "signal", 0),
    "pipe": Row("pipe", "pipe", 64), "socketpair": Row("socketpair", "socketpair", 64),
    "udp": Row("udp", "udp", 64), "tcp": Row("tcp", "tcp", 64, parameters="&nodelay=on"),
}
# Sizes at which copying, writing and comparing are most of a round trip.
for name, parameters in {"pipe": "", "socketpair": "", "unix-stream": "", "tcp": "&nodelay=on"}.items():
    for kib in (4, 64):
        row = Row(name, name, kib << 10, parameters=parameters)
        MECHANISMS[f"{name}-{kib}k"] = row
        untouched = row._replace(parameters=f"{parameters}&touch=none")
        MECHANISMS[f"{name}-{kib}k-untouched"] = untouched
        if kib == 64:
            MECHANISMS[f"{name}-64k-passed"] = untouched._replace(passes=True)
untouched = Row("ring", "shm-ring", 64 << 10, "spin", parameters="&touch=none")
MECHANISMS |= {"ring-64k-untouched": untouched, "ring-64k-passed": untouched._replace(passes=True)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=24)
    parser.add_argument("--places", default="same-cpu,cross")
    parser.add_argument("--mechanisms", default=",".join(MECHANISMS))
    parser.add_argument("--ms", type=float, default=40, help="how long a trial takes")
    parser.add_argument("--hopcost", default=str(HOPCOST))
    options = parser.parse_args()
    work = tempfile.TemporaryDirectory(prefix="hopcost-bench-")
    c_programs = [compile_c("pingpong.c", work.name, "-lpthread", optimise=how) for how in ("-O2", "-O3")]
    first, second, relation = two_cpus(options.hopcost)
    calibrated = ticks_per_second()
    rows = []
    for place in options.places.split(","):
        for name in options.mechanisms.split(","):
            row = MECHANISMS[name]
            if place == "same-cpu" and row.wait == "spin":
                continue
            if place == "cross" and second is None:
                continue
            callee = first if place == "same-cpu" else second
            case = row.case("same-cpu" if place == "same-cpu" else relation)
            rows.append((place, name, case, first, callee))

    def c_median(name, cpus, warm, count):
        row = MECHANISMS[name]
        c_program = random.choice(c_programs) if row.wait == "spin" else c_programs[0]
        return float(run(c_program, row.c, row.boundary, *cpus, warm, count, *row.c_message()))

    def hopcost_median(name, case, warm, count):
        batch = MECHANISMS[name].batch()
        out = run(options.hopcost, "trial", case, "--count", count * batch, "--warm-up", warm, "--batch", batch)
        return median(json.loads(out)["samples"]) / batch

    print(f"{options.pairs} pairs a row; ratio = hopcost / C, [sign interval]; CPUs {first} and {second} ({relation})")
    print(f"{'place':9} {'mechanism':25} {'C ns/op':>9}  {'hopcost / C':^24}  {'C / C':^24}  verdict")
    for place, name, case, caller, callee in rows:
        cpus = (caller, callee)
        probe = c_median(name, cpus, 200, 2000 if place == "same-cpu" or MECHANISMS[name].wait == "spin" else 200)
        count = max(100, int(options.ms / 1e3 * float(calibrated) / probe / MECHANISMS[name].batch()))
        warm = count // 10
        ratios, yardstick = adjacent_ratios(options.pairs,
                                            lambda: hopcost_median(name, case, warm, count),
                                            lambda: c_median(name, cpus, warm, count))
        low, high, level = rank_interval(ratios)
        c_low, c_high, _ = rank_interval(yardstick)
        ns = probe / float(calibrated) * 1e9
        print(f"{place:9} {name:25} {ns:9.0f}  {median(ratios):.3f} [{low:.3f}, {high:.3f}]      "
              f"{median(yardstick):.3f} [{c_low:.3f}, {c_high:.3f}]      {verdict(low, high, 0.95, 1.05)}", flush=True)
    print(f"exact level of the intervals: {level:.4f}")


if __name__ == "__main__":
    main()
