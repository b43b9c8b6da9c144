"""pingpong.py CPU ROUND-TRIPS PAYLOAD: the p50 in ns of round trips over pipes, two processes."""
import os, sys, time
from functools import partial
from itertools import cycle, islice

cpu, count, payload = map(int, sys.argv[1:])
os.sched_setaffinity(0, {cpu})
# As many different messages as in PROTOCOL.md; a process each compares with copies of its own.
different = 256
while different > 4 and different * payload > 1 << 14:
    different //= 2
messages = [(os.urandom(payload), os.urandom(payload)) for _ in range(different // 2)]
asked, ask = os.pipe()
answered, answer = os.pipe()
child = os.fork()
incoming, outgoing = (answered, ask) if child else (asked, answer)
buffer = bytearray(payload)
view = memoryview(buffer)


def read_parts():
    done = 0
    while done < payload:
        more = os.readv(incoming, (view[done:],))
        assert more
        done += more
    return buffer


def write_parts(message):
    rest = memoryview(message)
    while rest:
        rest = rest[os.write(outgoing, rest):]


# Up to 4096 bytes (PIPE_BUF) a message never comes in parts.
read = partial(os.read, incoming, payload) if payload <= 4096 else read_parts
write = partial(os.write, outgoing) if payload <= 4096 else write_parts
samples, before = [], time.perf_counter_ns()
for request, reply in islice(cycle(messages), count):
    if child:
        write(request)
        assert read() == reply
        now = time.perf_counter_ns()
        samples.append(now - before)
        before = now
    else:
        assert read() == request
        write(reply)
if child:
    print(sorted(samples)[len(samples) // 2])
