#!/usr/bin/env python3
"""A complete worker (workers/PROTOCOL.md) to copy, with one mechanism: `pipe`, by descriptors.
Put your library into attach, send and receive, its facts into MECHANISM and its name into
RUNTIME, and try it with `hopcost worker check PATH`."""
import array, json, os, sys, threading, time

RUNTIME = "python-skeleton"
MECHANISM = {
    "name": "pipe", "family": "pipe", "about": "os.read and os.write on two pipes",
    "workloads": ["roundtrip"], "boundaries": ["process"], "waits": ["block"],
    "payload": {"min": 1, "max": 4096, "default": 64},  # up to PIPE_BUF: never in parts
    "link": "descriptors",  # hopcost opens the pipes, and each end inherits its half
    "peers": "any"}  # these are the bytes of hopcost's pipe: any runtime may be the other end

def contents(size):  # after how many numbers messages of this size come again
    return max(4, min(256, 2**14 >> max(size - 1, 0).bit_length()))

def message(number, size):
    """Message `number`: words that count up from a multiple of a constant."""
    words = ((number % contents(size) * 0x9E3779B97F4A7C15 + i) % 2**64 for i in range((size + 7) // 8))
    return b"".join(word.to_bytes(8, "little") for word in words)[:size]

class End:
    """One end of a link."""

    def attach(self, command):  # makes all that the phases need, before anything is timed
        (seat,) = command["seats"]
        keys = dict(pair.split("=") for pair in command["case"].partition("?")[2].split("&"))
        self.size, self.role = int(keys["payload"]), seat["role"]
        self.samples_fd = command.get("samples_fd")
        self.incoming, self.outgoing = seat["link"]["fds"]
        self.messages = [message(number, self.size) for number in range(contents(self.size))]
        self.number = 1  # of the next message; it runs on through all phases
        seat = {"role": self.role, "tid": threading.get_native_id()}
        return {"is": "attached", "pid": os.getpid(), "seats": [seat]}

    def send(self):
        os.write(self.outgoing, self.messages[self.number % len(self.messages)])
        self.number += 1

    def receive(self):
        got = os.read(self.incoming, self.size)
        if got != self.messages[self.number % len(self.messages)]:  # looks at every byte
            raise ValueError(f"message {self.number} is wrong" if got else "the other end is gone")
        self.number += 1

    def run(self, command):
        count, n = command["count"], command["stamp"].get("n", 1)  # n operations between two stamps
        steps = (self.send, self.receive) if self.role == "caller" else (self.receive, self.send)
        ticks = array.array("Q", bytes(8 * (count // n)))
        for step in steps * 2:  # the lead-in: neither stamped nor counted
            step()
        before = time.monotonic_ns()
        for i in range(count // n):
            for _ in range(n):
                steps[0](), steps[1]()
            now = time.monotonic_ns()
            ticks[i], before = now - before, now
        keeps = command["phase"] == "measure" and self.role == "caller"  # only the caller stamps
        if keeps:  # samples first, then the reply
            with open(self.samples_fd, "wb", closefd=False) as samples:
                samples.write(ticks)
        seen = {"role": self.role, "count": count, "samples": len(ticks) if keeps else 0,
                "max_ticks": max(ticks, default=0), "elapsed_ticks": sum(ticks)}
        return {"is": "ran", "ends": [seen]}

def describe(command):
    return {"is": "described", "protocol": 3, "runtime": RUNTIME, "version": "1", "mechanisms": [MECHANISM]}

end, reply = End(), {"is": ""}
obey = {"describe": describe, "attach": end.attach, "run": end.run, "stop": lambda command: {"is": "stopped"}}
while reply["is"] not in ("failed", "stopped") and (line := sys.stdin.readline()):
    try:
        command = json.loads(line)
        reply = obey[command["do"]](command)
    except Exception as error:  # whatever it is, an unknown command too: one line, and out
        reply = {"is": "failed", "reason": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), flush=True)
sys.exit(reply["is"] == "failed")
