#!/usr/bin/env python3
"""A worker of a made-up library: two ends, and a broker that passes each message on. All three are
processes of its own, joined by pipes. It leaves a name in /dev/shm, which hopcost is to remove."""
import array, json, os, select, signal, sys, time

MECHANISM = {
    "name": "stand-in", "family": "library", "about": "through a broker", "workloads": ["roundtrip"],
    "boundaries": ["process"], "waits": ["block"], "payload": {"min": 1, "max": 4096, "default": 64},
    "parameters": [{"name": "broker", "values": ["callee", "caller", "free"], "default": "callee"}]}
DESCRIBED = {"is": "described", "protocol": 3, "runtime": "python+stand-in", "version": "1", "spoils": True,
             "libraries": {"python": "3"}, "mechanisms": [MECHANISM]}


def child(play, *arguments):
    pid = os.fork()
    if pid == 0:
        os.close(0)
        try:
            play(*arguments)
        finally:
            os._exit(1)
    return pid


def broker(joined):  # passes on what comes
    while True:
        for incoming in select.select(list(joined), [], [])[0]:
            os.write(joined[incoming], os.read(incoming, 4096) or os._exit(1))


class End:
    def __init__(self, is_caller, size, spoil, incoming, outgoing):
        self.is_caller, self.spoil, self.incoming, self.outgoing, self.number = is_caller, spoil, incoming, outgoing, 1
        n = max(4, min(256, 2**14 >> max(size - 1, 0).bit_length()))
        words = [[(s * 0x9E3779B97F4A7C15 + i) % 2**64 for i in range((size + 7) // 8)] for s in range(n)]
        self.messages = [b"".join(w.to_bytes(8, "little") for w in all)[:size] for all in words]

    def step(self, sends):
        message = self.messages[self.number % len(self.messages)]
        if sends:
            os.write(self.outgoing, bytes([message[0] ^ 1]) + message[1:] if self.number == self.spoil else message)
        elif os.read(self.incoming, 4096) != message:
            raise ValueError(f"message {self.number} is wrong")
        self.number += 1

    def exchange(self):
        self.step(self.is_caller), self.step(not self.is_caller)

    def serve(self, commands, replies, samples_fd):
        for line in os.fdopen(commands):
            command = json.loads(line)
            count, n = command["count"], command["stamp"].get("n", 1)
            ticks = array.array("Q", bytes(8 * (count // n)) if self.is_caller and count < 1 << 22 else b"")
            try:
                self.exchange(), self.exchange()
                before = time.monotonic_ns()
                for i in range(count // n):
                    for _ in range(n):
                        self.exchange()
                    if ticks:
                        now = time.monotonic_ns()
                        ticks[i], before = now - before, now
            except (OSError, ValueError) as error:
                os.write(replies, f"-{error}\n".encode())
                return
            keeps = bool(ticks) and command["phase"] == "measure"
            if keeps:
                os.write(samples_fd, ticks)
            role = "caller" if self.is_caller else "callee"
            end = {"role": role, "count": count, "samples": len(ticks) if keeps else 0,
                   "max_ticks": max(ticks, default=0), "elapsed_ticks": sum(ticks)}
            os.write(replies, (json.dumps(end) + "\n").encode())


def attach(command):
    keys = dict(pair.split("=") for pair in command["case"].partition("?")[2].split("&"))
    if "/stand-in?" not in command["case"]:
        raise ValueError("there is no such mechanism")
    open("/dev/shm/" + command["prefix"] + "left", "w").close()
    seats, ends, joined = [], [], []
    for role in ("caller", "callee"):
        to_end, from_broker, commands, replies = os.pipe(), os.pipe(), os.pipe(), os.pipe()
        end = End(role == "caller", int(keys["payload"]), command.get("spoil"), from_broker[0], to_end[1])
        pid = child(end.serve, commands[0], replies[1], command.get("samples_fd"))
        os.close(replies[1])
        seats.append({"role": role, "tid": pid, "pid": pid})
        ends.append((commands[1], os.fdopen(replies[0])))
        joined.append((to_end[0], from_broker[1]))
    (first, to_first), (second, to_second) = joined
    ends.append(child(broker, {first: to_second, second: to_first}))
    return {"is": "attached", "pid": os.getpid(), "seats": seats}, ends


def run(line, ends):
    for commands, _ in ends[:2]:
        os.write(commands, line.encode())
    waiting, said = {end: role for role, (_, end) in enumerate(ends[:2])}, [None, None]
    while waiting:
        ready = select.select(list(waiting), [], [], 0.05)[0]
        if not ready and os.waitpid(ends[2], os.WNOHANG)[0]:
            raise OSError("the broker is gone")
        for end in ready:
            told = end.readline()
            if not told or told[0] == "-":
                raise OSError(told[1:].strip() or "an end is gone")
            said[waiting.pop(end)] = json.loads(told)
    return {"is": "ran", "ends": said}


signal.signal(signal.SIGPIPE, signal.SIG_IGN)
ends, reply = None, {"is": ""}
while reply["is"] not in ("failed", "stopped") and (line := sys.stdin.readline()):
    try:
        command = json.loads(line)
        if command["do"] == "attach":
            reply, ends = attach(command)
        elif command["do"] == "run":
            reply = run(line, ends)
        else:
            reply = {"describe": DESCRIBED, "stop": {"is": "stopped"}}[command["do"]]
    except Exception as error:
        reply = {"is": "failed", "reason": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), flush=True)
sys.exit(reply["is"] == "failed")
