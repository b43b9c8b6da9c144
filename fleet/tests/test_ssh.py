"""Real ssh: an sshd with a configuration of its own on each of three hosts that are network namespaces."""

import os
import shlex
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from .cluster import Cluster, impossible
from .support import FAKE, FleetTest, processes_with

SSHD = shutil.which("sshd") or shutil.which("/usr/sbin/sshd")
WHY_NOT = impossible() or ("" if SSHD and shutil.which("ssh") else "sshd or ssh is missing (scripts/setup fleet)")
BINARY = Path(os.environ.get("HOPCOST_FLEET_BINARY") or FAKE)
SERVER = """
Port 2222
ListenAddress {address}
HostKey {key}
AuthorizedKeysFile {key}.pub
PasswordAuthentication no
StrictModes no
UsePAM no
PidFile none
SetEnv XDG_CACHE_HOME={home}/cache
"""
CLIENT = """
Host *
Port 2222
IdentityFile {key}
BatchMode yes
ConnectTimeout 10
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel ERROR
"""


@unittest.skipIf(WHY_NOT, f"NOT CHECKED: {WHY_NOT}")
class Ssh(FleetTest):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = Cluster(self.root, 3)
        self.addCleanup(self.cluster.close)
        key = self.root / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        (self.root / "client").write_text(CLIENT.format(key=key))
        # Where sshd drops its privileges; Debian makes it when the service starts.
        Path("/run/sshd").mkdir(exist_ok=True)
        for name in self.cluster.names:
            config = self.root / name / "sshd"
            config.write_text(SERVER.format(address=self.cluster.addresses[name], key=key, home=self.root / name))
            self.cluster.start(name, SSHD, "-D", "-e", "-f", config, log="log")
        for name in self.cluster.names:
            log = self.root / name / "log"
            self.until(lambda: "Server listening" in log.read_text(), f"sshd of {name} did not listen", 20)
        self.list = self.root / "list"
        self.list.write_text("".join(f"root@{self.cluster.addresses[name]} name={name}\n" for name in self.cluster.names))

    def drive_there(self, *arguments: object) -> subprocess.Popen:
        """The driver on the control host; pairs reach each other by the same ssh."""
        ssh = shlex.join(["ssh", "-F", str(self.root / "client")])
        return self.cluster.start("control", sys.executable, "-m", "hopcost_fleet", "run", *arguments, "--ssh", self.list, "--ssh-command", ssh,
                                  "--peer-command", ssh, "--hopcost", BINARY, "--out", self.out)  # fmt: skip

    def ended(self, driver: subprocess.Popen, code: int) -> None:
        _, err = driver.communicate(timeout=150)
        self.assertEqual(driver.returncode, code, err)

    def test_hosts_and_pairs_and_a_session_that_dies_in_a_pair(self) -> None:
        case = "call/ok" if BINARY == FAKE else "roundtrip/pipe"
        self.ended(self.drive_there(case, "--pairs", "all", "--host-time", "2s", "--pair-time", "3s"), 0)
        self.assertEqual([(t["state"], t["reason"]) for t in self.rows("SELECT * FROM task")], [("done", None)] * 6)

        self.out = self.root / "second"
        slow = "roundtrip/slow" if BINARY == FAKE else "roundtrip/tcp"
        driver = self.drive_there("--pair-cases", slow, "--pairs", "all", "--pair-time", "6s", "--lease", "30s")
        [row] = self.until(self.running, "no pair was measured", 60)
        cache = str(self.root / row["a"] / "cache")
        for line in self.until(lambda: [line for line in processes_with(f"XDG_CACHE_HOME={cache}") if "b64decode" in line], "no agent there", 20):
            subprocess.run(["kill", "-KILL", line.split()[0]], capture_output=True)
        self.ended(driver, 1)
        states = [t["state"] for t in self.rows("SELECT * FROM task")]
        self.assertEqual(sorted(states), ["done", "failed", "skipped"], [t["reason"] for t in self.rows("SELECT * FROM task")])
        left = lambda: [line for line in processes_with(str(self.root)) if "/hopcost/bin/hopcost-" in line]
        self.until(lambda: not left(), "hosts went on measuring", 20)


if __name__ == "__main__":
    unittest.main()
