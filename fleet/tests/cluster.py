"""Hosts that are network namespaces of this machine, joined by a bridge in one of their own. Needs root; nothing is left."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from .support import FLEET, environment, hear_signals

NEEDED = ("ip", "nsenter", "unshare")


def impossible() -> str:
    """Why there can be no namespaces here; nothing where there can."""
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} is missing (scripts/setup test)"
    if os.geteuid() != 0:
        return "network namespaces need root"
    if subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode:
        return "this kernel or container refuses network namespaces"
    return ""


class Cluster:
    """A control host at .1 and others from .11 on, each in a namespace. Names are this process's own."""

    def __init__(self, root: Path, count: int) -> None:
        self.root = root
        self.prefix = f"hcf{os.getpid()}"
        self.net = f"10.{200 + os.getpid() % 40}.{os.getpid() // 40 % 250}"
        self.names = [f"n{i}" for i in range(1, count + 1)]
        self.addresses = {"control": f"{self.net}.1"} | {name: f"{self.net}.{10 + i}" for i, name in enumerate(self.names, 1)}
        self.started: list[subprocess.Popen] = []
        try:
            self._make()
        except BaseException:
            self.close()
            raise

    def _make(self) -> None:
        switch = self.space("switch")
        self._ip("netns", "add", switch)
        self._ip("-n", switch, "link", "add", "br0", "type", "bridge")
        self._ip("-n", switch, "link", "set", "br0", "up")
        for i, (name, address) in enumerate(self.addresses.items()):
            space = self.space(name)
            self._ip("netns", "add", space)
            self._ip("-n", switch, "link", "add", f"v{i}", "type", "veth", "peer", "name", "eth0", "netns", space)
            self._ip("-n", switch, "link", "set", f"v{i}", "master", "br0", "up")
            self._ip("-n", space, "address", "add", f"{address}/24", "dev", "eth0")
            self._ip("-n", space, "link", "set", "eth0", "up")
            self._ip("-n", space, "link", "set", "lo", "up")
            (self.root / name).mkdir(exist_ok=True)

    def space(self, name: str) -> str:
        return f"{self.prefix}{name}"

    def cut_off(self, name: str) -> None:
        """The host's end of the cable is pulled."""
        self._ip("-n", self.space(name), "link", "set", "eth0", "down")

    def join_again(self, name: str) -> None:
        self._ip("-n", self.space(name), "link", "set", "eth0", "up")

    def inside(self, name: str, *words: object, before: tuple = ()) -> list[str]:
        """A command on a host, which has its own name too. `ip netns exec` would hide /sys/fs/cgroup."""
        named = f"hostname {name} && exec \"$@\""
        return ["nsenter", f"--net=/run/netns/{self.space(name)}", "unshare", "--uts", *before,
                "sh", "-c", named, "sh", *map(str, words)]  # fmt: skip

    def start(self, name: str, *words: object, log: str = "", before: tuple = (), **variables: str) -> subprocess.Popen:
        """Starts it, its output in ROOT/NAME/LOG. The process is the command itself."""
        home = self.root / name
        if log:
            with open(home / log, "ab") as output:
                child = subprocess.Popen(self.inside(name, *words, before=before), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                         cwd=home, env=self.environment(name, **variables), preexec_fn=hear_signals)  # fmt: skip
        else:
            child = subprocess.Popen(self.inside(name, *words, before=before), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True, cwd=home, env=self.environment(name, **variables), preexec_fn=hear_signals)  # fmt: skip
        self.started.append(child)
        return child

    def environment(self, name: str, **variables: str) -> dict[str, str]:
        home = str(self.root / name)
        return environment(HOME=home, XDG_CACHE_HOME=f"{home}/cache", XDG_DATA_HOME=f"{home}/data", **variables)

    def peer_command(self) -> str:
        """Stands in for ssh between two hosts: gets an address and a command."""
        lines = [
            f'{self.addresses[name]}) exec nsenter --net=/run/netns/{self.space(name)} '
            f'env HOME={self.root / name} XDG_CACHE_HOME={self.root / name}/cache sh -c "$2" ;;'
            for name in self.names
        ]
        path = self.root / "peer"
        path.write_text("case $1 in\n" + "\n".join(lines) + "\nesac\n")
        return f"sh {path}"

    def close(self) -> None:
        for child in self.started:
            if child.poll() is None:
                child.send_signal(signal.SIGCONT)
                child.terminate()
        end = time.monotonic() + 5
        for child in self.started:
            try:
                child.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait(5)
            for stream in (child.stdout, child.stderr):
                if stream:
                    stream.close()
        for name in ("switch", *self.addresses):
            subprocess.run(["ip", "netns", "delete", self.space(name)], capture_output=True)

    @staticmethod
    def _ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True)


def dask_python() -> str:
    """A Python that has `distributed`: the one of target/fleet/venv, made where it is missing; nothing where that fails."""
    target = Path(os.environ.get("CARGO_TARGET_DIR") or FLEET.parent / "target")
    python = target / "fleet" / "venv" / "bin" / "python"
    ready = [str(python), "-c", "import distributed, yaml"]
    if not python.exists() or subprocess.run(ready, capture_output=True).returncode:
        made = subprocess.run([sys.executable, "-m", "venv", str(python.parent.parent)], capture_output=True)
        if made.returncode == 0:
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", "distributed", "pyyaml"], capture_output=True, timeout=600)
    return str(python) if python.exists() and not subprocess.run(ready, capture_output=True).returncode else ""
