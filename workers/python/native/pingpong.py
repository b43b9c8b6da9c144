"""pingpong.py CPU ROUND-TRIPS: the p50 in ns of round trips of 64 bytes over pipes, two processes."""
import os, sys, time

os.sched_setaffinity(0, {int(sys.argv[1])})
messages = [(os.urandom(64), os.urandom(64)) for _ in range(128)] * (int(sys.argv[2]) // 128 + 1)
asked, ask = os.pipe()
answered, answer = os.pipe()
child = os.fork()
samples, before = [], time.perf_counter_ns()
for request, reply in messages:
    if child:
        os.write(ask, request)
        assert os.read(answered, 64) == reply
        now = time.perf_counter_ns()
        samples.append(now - before)
        before = now
    else:
        assert os.read(asked, 64) == request
        os.write(answer, reply)
if child:
    print(sorted(samples)[len(samples) // 2])
