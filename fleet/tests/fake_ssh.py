#!/usr/bin/env python3
"""Stands in for ssh: ADDRESS COMMAND runs the command here, with a cache and variables of its own for each address.

$FAKE_HOSTS/ADDRESS/env has variables, a file `down` there is a host that cannot be reached, `pid` becomes the agent's id.
"""

import os
import sys
from pathlib import Path

address, command = sys.argv[1:]
home = Path(os.environ["FAKE_HOSTS"]) / address
print("Welcome to", address)  # a banner
if (home / "down").exists():
    sys.exit(f"ssh: connect to host {address} port 22: No route to host")
home.mkdir(exist_ok=True)
variables = {"PATH": os.environ["PATH"], "FAKE_HOSTS": os.environ["FAKE_HOSTS"], "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "SSH_CONNECTION": "127.0.0.1 1 127.0.0.1 22"}
if (home / "env").exists():
    variables |= dict(line.split("=", 1) for line in (home / "env").read_text().split())
if not command.endswith(" worker"):  # of a pair
    (home / "pid").write_text(str(os.getpid()))
os.execve("/bin/sh", ["sh", "-c", command], variables)
