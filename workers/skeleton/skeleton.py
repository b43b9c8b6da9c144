#!/usr/bin/env python3
"""A complete worker (workers/PROTOCOL.md) to copy, with one mechanism: `pipe`, by descriptors.
Put your library into End, its name and facts into MECHANISM, and run `hopcost worker check PATH`."""
import array, json, os, sys, time

# A message up to PIPE_BUF bytes never comes in parts. The other facts are those of hopcost's pipe.
MECHANISM = {"name": "pipe", "boundaries": ["process"], "payload": {"min": 1, "max": 4096, "default": 64}}
DESCRIBED = {"is": "described", "protocol": 3, "runtime": "python-skeleton", "mechanisms": [MECHANISM]}

def message(number, size):  # words that count up from a multiple of a constant
    words = ((number * 0x9E3779B97F4A7C15 + i) % 2**64 for i in range((size + 7) // 8))
    return b"".join(word.to_bytes(8, "little") for word in words)[:size]

class End:  # one end of a link
    def __init__(self, command):  # makes all that the phases need, before anything is timed
        assert command["mechanism"] == MECHANISM["name"], "there is no such mechanism"
        (seat,), self.size, self.samples_fd = command["seats"], command["payload"], command.get("samples_fd")
        self.incoming, self.outgoing = seat["link"]["fds"]
        contents = max(4, min(256, 2**14 >> max(self.size - 1, 0).bit_length()))  # then they come again
        self.messages = [message(number, self.size) for number in range(contents)]
        self.number, self.role = 1, seat["role"]  # the number of the next message, through all phases

    def step(self, sends):
        wanted = self.messages[self.number % len(self.messages)]
        if sends:
            os.write(self.outgoing, wanted)
        elif (got := os.read(self.incoming, self.size)) != wanted:  # looks at every byte
            raise ValueError(f"message {self.number} is wrong" if got else "the other end is gone")
        self.number += 1

    def run(self, phase, count, stamp):
        calls, n = self.role == "caller", stamp.get("n", 1)  # n operations between two stamps
        ticks, before = array.array("Q", bytes(8 * (count // n + 2))), 0
        for i in range(len(ticks)):  # two exchanges lead in, neither stamped nor counted
            for _ in range(n if i > 1 else 1):
                self.step(calls), self.step(not calls)
            now = time.monotonic_ns()
            ticks[i], before = now - before, now
        ticks = ticks[2:]
        keeps = phase == "measure" and calls  # only the caller stamps
        if keeps:  # samples first, then the reply
            os.write(self.samples_fd, ticks)
        return {"role": self.role, "count": count, "samples": len(ticks) if keeps else 0,
                "max_ticks": max(ticks, default=0), "elapsed_ticks": sum(ticks)}

end, reply = None, {"is": ""}
while reply["is"] not in ("failed", "stopped") and (line := sys.stdin.readline()):
    try:
        command = json.loads(line)
        if command["do"] == "attach":
            end = End(command)
            reply = {"is": "attached", "pid": os.getpid(), "seats": [{"role": end.role, "tid": os.getpid()}]}
        elif command["do"] == "run":
            reply = {"is": "ran", "ends": [end.run(command["phase"], command["count"], command["stamp"])]}
        else:
            reply = {"describe": DESCRIBED, "stop": {"is": "stopped"}}[command["do"]]
    except Exception as error:  # an unknown command too: one line, and out
        reply = {"is": "failed", "reason": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), flush=True)
sys.exit(reply["is"] == "failed")
