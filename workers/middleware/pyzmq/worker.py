#!/usr/bin/env python3
"""ZeroMQ by pyzmq. An end is this program with one seat. It meets the other end, in pyzmq or in C, by a Unix
socket that the callee binds in `scratch`. For two seats the program starts itself twice."""
import array, json, os, select, subprocess, sys, threading, time

import zmq

MECHANISM = {
    "name": "pyzmq", "carrier": "zeromq", "peers": "any", "family": "library",
    "about": "Socket.send and Socket.recv with one I/O thread an end",
    "workloads": ["roundtrip"], "boundaries": ["process"], "waits": ["block"],
    "payload": {"min": 1, "max": 16777216, "default": 64}, "limits": "1,000 messages queue (high-water mark)",
    "wakes": "the I/O thread of each end wakes the thread that waits, by an eventfd",
    "parameters": [{"name": "transport", "values": ["ipc"], "default": "ipc", "about": "over a Unix socket"},
                   {"name": "pattern", "values": ["pair", "req-rep"], "default": "pair", "about": "sockets PAIR, or REQ and REP"}]}
DESCRIBED = {"is": "described", "protocol": 3, "runtime": "python+pyzmq", "version": "1", "spoils": True,
             "libraries": {"pyzmq": zmq.__version__, "libzmq": zmq.zmq_version()}, "mechanisms": [MECHANISM]}


def message(number, size):
    words = ((number * 0x9E3779B97F4A7C15 + i) % 2**64 for i in range((size + 7) // 8))
    return b"".join(word.to_bytes(8, "little") for word in words)[:size]


class End:
    def __init__(self, command):
        (seat,), size = command["seats"], command["payload"]
        self.role, self.samples_fd, self.spoil = seat["role"], command.get("samples_fd"), command.get("spoil")
        contents = max(4, min(256, 2**14 >> max(size - 1, 0).bit_length()))
        self.messages, self.number = [message(number, size) for number in range(contents)], 1
        of_pattern = {"pair": (zmq.PAIR, zmq.PAIR), "req-rep": (zmq.REQ, zmq.REP)}[command["parameters"]["pattern"]]
        socket = zmq.Context.instance().socket(of_pattern[self.role == "callee"])
        # A message waits until the other end is there.
        (socket.connect if self.role == "caller" else socket.bind)(f"ipc://{command['scratch']}/zmq")
        self.send, self.recv = socket.send, socket.recv
        self.seats = [{"role": self.role, "tid": threading.get_native_id()}]

    def step(self, sends):
        wanted = self.messages[self.number % len(self.messages)]
        if sends:
            self.send(bytes([wanted[0] ^ 1]) + wanted[1:] if self.number == self.spoil else wanted)
        elif self.recv() != wanted:
            raise ValueError(f"message {self.number} did not arrive as it was sent")
        self.number += 1

    def run(self, command):
        count, n, calls = command["count"], command["stamp"].get("n", 1), self.role == "caller"
        # A callee stamps nothing.
        ticks = array.array("Q", bytes(8 * (count // n if calls else 0)))
        for sends in (calls, not calls) * 2:  # the lead-in
            self.step(sends)
        if not calls:
            for _ in range(count):
                self.step(False), self.step(True)
        before = time.monotonic_ns()
        for i in range(len(ticks)):
            for _ in range(n):
                self.step(True), self.step(False)
            now = time.monotonic_ns()
            ticks[i], before = now - before, now
        keeps = command["phase"] == "measure" and calls
        if keeps:
            os.write(self.samples_fd, ticks)
        return [{"role": self.role, "count": count, "samples": len(ticks) if keeps else 0,
                 "max_ticks": max(ticks, default=0), "elapsed_ticks": sum(ticks)}]


class Both:
    """Two more of this program, an end each, in the order of the seats; the callee is asked first."""

    def __init__(self, command):
        fds = [fd for fd in [command.get("samples_fd")] if fd is not None]
        program = [sys.executable, "-I", __file__]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "pass_fds": fds}
        self.ends = [subprocess.Popen(program, **pipes) for _ in command["seats"]]
        self.seats = []
        for end, seat in reversed(list(zip(self.ends, command["seats"]))):
            (said,) = self.ask([end], command | {"seats": [seat]})
            self.seats.insert(0, said["seats"][0] | {"pid": end.pid})

    def ask(self, ends, command):
        for end in ends:
            end.stdin.write(json.dumps(command).encode() + b"\n")
            end.stdin.flush()
        said = {}
        while len(said) < len(ends):
            for end in select.select([end.stdout for end in ends if end.stdout not in said], [], [])[0]:
                said[end] = json.loads(end.readline() or '{"is":"failed","reason":"the process of an end is gone"}')
                if said[end]["is"] == "failed":
                    raise OSError(said[end]["reason"])
        return [said[end.stdout] for end in ends]

    def run(self, command):
        return [end for said in self.ask(self.ends, command) for end in said["ends"]]


trial, reply = None, {"is": ""}
while reply["is"] not in ("failed", "stopped") and (line := sys.stdin.readline()):
    try:
        command = json.loads(line)
        if command["do"] == "attach":
            if command["mechanism"] != MECHANISM["name"]:
                raise ValueError("there is no such mechanism")
            trial = (Both if len(command["seats"]) == 2 else End)(command)
            reply = {"is": "attached", "pid": os.getpid(), "seats": trial.seats}
        elif command["do"] == "run":
            reply = {"is": "ran", "ends": trial.run(command)}
        else:
            reply = {"describe": DESCRIBED, "stop": {"is": "stopped"}}[command["do"]]
    except Exception as error:
        reply = {"is": "failed", "reason": " ".join(f"{type(error).__name__}: {error}".split())}
    print(json.dumps(reply), flush=True)
# Not by way of the library's end, which waits until all is sent.
os._exit(reply["is"] == "failed")
