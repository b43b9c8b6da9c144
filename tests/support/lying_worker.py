#!/usr/bin/env python3
"""The real worker, one number of whose replies is another one.

HOPCOST_REAL is the binary; HOPCOST_LIE is REPLY:FIELD=VALUE, where FIELD is a field
of the reply (`ran`, `gate`) or of its first end (`end.bytes`), or `spinning` alone:
to say that it spins and leave.
"""
import json, os, subprocess, sys

reply, _, rest = os.environ["HOPCOST_LIE"].partition(":")
field, _, value = rest.partition("=")


def alter(line):
    said = json.loads(line)
    if said.get("is") != reply:
        return line
    where = said["reading"] if reply == "gate" else said["ends"][0] if field.startswith("end.") else said
    if where is not None:
        where[field.removeprefix("end.")] = int(value)
    return json.dumps(said) + "\n"


# Every descriptor that was inherited is the real worker's.
inherited = [int(fd) for fd in os.listdir("/proc/self/fd") if int(fd) > 2]
inherited = [fd for fd in inherited if os.path.exists(f"/proc/self/fd/{fd}")]
real = subprocess.Popen([os.environ["HOPCOST_REAL"], "worker"], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE, text=True, bufsize=1, pass_fds=inherited)
for line in sys.stdin:
    command = json.loads(line)
    if command["do"] in ("idle-spin", "background") and reply == "spinning":
        print('{"is":"spinning"}', flush=True)
        real.kill()
        sys.exit(0)
    # Its parent is this process, not the one that speaks.
    command.pop("parent", None)
    real.stdin.write(json.dumps(command) + "\n")
    answer = real.stdout.readline()
    if not answer:
        break
    sys.stdout.write(alter(answer))
    sys.stdout.flush()
real.stdin.close()
real.wait()
