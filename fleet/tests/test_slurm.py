"""A real Slurm: slurmctld and three slurmd on hosts that are network namespaces; the driver runs in a job."""

import os
import shlex
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from .cluster import Cluster, impossible
from .support import FAKE, FleetTest, processes_with

PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "srun", "scontrol")
os.environ["PATH"] += ":/usr/sbin:/sbin"
MISSING = [name for name in PROGRAMS if shutil.which(name) is None]
WHY_NOT = impossible() or (f"{', '.join(MISSING)} is missing (scripts/setup fleet)" if MISSING else "")
BINARY = Path(os.environ.get("HOPCOST_FLEET_BINARY") or FAKE)
CASES = ["roundtrip/pipe"] if BINARY != FAKE else ["call/ok"]

CONFIGURATION = """
ClusterName=hopcost
SlurmctldHost=control({control})
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={root}/munge/socket
CredType=cred/munge
StateSaveLocation={root}/control/state
SlurmctldPidFile={root}/control/slurmctld.pid
SlurmdPidFile={root}/%n/slurmd.pid
SlurmdSpoolDir={root}/%n/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
ReturnToService=2
SlurmdTimeout=15
KillWait=5
MpiDefault=none
{nodes}
PartitionName=all Nodes=ALL Default=YES State=UP
"""


@unittest.skipIf(WHY_NOT, f"NOT CHECKED: {WHY_NOT}")
class Slurm(FleetTest):
    def setUp(self) -> None:
        super().setUp()
        self.root.chmod(0o755)
        self.cluster = Cluster(self.root, 3)
        self.addCleanup(self.cluster.close)
        munge = self.root / "munge"
        munge.mkdir(mode=0o755)
        (munge / "key").write_bytes(os.urandom(128))
        (munge / "key").chmod(0o400)
        files = [f"--{name}={munge / part}" for name, part in
                 (("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))]  # fmt: skip
        self.cluster.start("control", "munged", "--foreground", "--force", *files, log="munged")
        nodes = "\n".join(f"NodeName={n} NodeAddr={self.cluster.addresses[n]} CPUs={os.cpu_count()} State=UNKNOWN" for n in self.cluster.names)
        self.conf = self.root / "slurm.conf"
        self.conf.write_text(CONFIGURATION.format(control=self.cluster.addresses["control"], root=self.root, nodes=nodes))
        (self.root / "control" / "state").mkdir()
        self.until((munge / "socket").exists, "munged did not start")
        self.cluster.start("control", "slurmctld", "-D", "-f", self.conf, log="slurmctld")
        self.slurmd = {}
        for name in self.cluster.names:
            (self.root / name / "spool").mkdir()
            self.slurmd[name] = self.cluster.start(name, "slurmd", "-D", "-N", name, "-f", self.conf, log="slurmd", SLURM_CONF=str(self.conf))
        self.until(lambda: self.ask("sinfo", "-h", "-o", "%T %D").strip() == "idle 3", "the nodes did not come", 60)

    def ask(self, *words: object, code: int | None = None) -> str:
        child = self.cluster.start("control", *words, SLURM_CONF=str(self.conf))
        out, err = child.communicate(timeout=60)
        if code is not None:
            self.assertEqual(child.returncode, code, err)
        return out

    def submit(self, *arguments: object) -> str:
        words = ["python3", "-m", "hopcost_fleet", "run", *arguments, "--slurm", "--hopcost", BINARY,
                 "--host-time", "3s", "--pair-time", "4s", "--out", self.out]  # fmt: skip
        options = ["--nodes=3", "--ntasks-per-node=1", "--exclusive", "--no-kill",
                   f"--output={self.root}/slurm-%j.out"]  # fmt: skip
        return self.ask("sbatch", "--parsable", *options, "--wrap", shlex.join(map(str, words)), code=0).strip()

    def ended(self, job: str) -> str:
        state = self.until(lambda: next((w for w in self.ask("scontrol", "show", "job", job).split() if w.startswith("JobState=")
                                         and w.split("=")[1] not in ("PENDING", "RUNNING", "CONFIGURING", "COMPLETING")), ""), f"job {job} did not end", 150)  # fmt: skip
        return state.partition("=")[2]

    def test_a_job_measures_hosts_and_pairs_and_a_node_may_die(self) -> None:
        job = self.submit(*CASES, "--pairs", "ring")
        state = self.ended(job)
        said = (self.root / f"slurm-{job}.out").read_text()
        self.assertIn("3 of 3 hosts, 6 tasks done, 0 not", said)
        self.assertEqual(self.setting("engine"), "slurm")
        self.assertEqual(state, "COMPLETED", said)
        rows = self.rows("SELECT * FROM host ORDER BY name")
        self.assertEqual([(row["name"], row["state"]) for row in rows], [(f"n{i}", "ready") for i in (1, 2, 3)])
        self.assertEqual({t["state"] for t in self.rows("SELECT * FROM task")}, {"done"})
        self.nothing_measures()

        # Another fleet, of which a node dies while its suite is measured. The first node has the driver.
        self.out = self.root / "second"
        job = self.submit("call/slow" if BINARY == FAKE else "roundtrip/pipe", "--lease", "8s")
        self.until(lambda: len(self.running()) == 3, "three hosts did not run", 60)
        time.sleep(0.5)
        driver = next(line for line in processes_with(str(self.root)) if "hopcost_fleet run" in line)
        environ = Path("/proc", driver.split()[0], "environ").read_bytes()
        dead = next(n for n in ("n3", "n2") if f"SLURMD_NODENAME={n}".encode() not in environ)
        self.slurmd[dead].kill()
        # It takes all with it: what has its home there, and of this test's what Slurm started there.
        of_slurm = set(processes_with(f"SLURMD_NODENAME={dead}")) & set(processes_with(str(self.root)))
        for line in {*processes_with(str(self.root / dead)), *of_slurm}:
            subprocess.run(["kill", "-KILL", line.split()[0]], capture_output=True)
        self.until(lambda: self.setting("status") == "complete", "the fleet did not end", 120)
        rows = {row["name"]: row["state"] for row in self.rows("SELECT * FROM host")}
        self.assertEqual(sorted(rows.values()), ["lost", "ready", "ready"])
        self.assertEqual(rows[dead], "lost")
        self.assertEqual(sorted(t["state"] for t in self.rows("SELECT * FROM task")), ["done", "done", "failed"])

    def test_a_job_that_is_cancelled_leaves_nothing(self) -> None:
        job = self.submit("call/slow" if BINARY == FAKE else "roundtrip/pipe")
        self.until(lambda: len(self.running()) == 3, "three hosts did not run", 60)
        self.ask("scancel", job, code=0)
        self.ended(job)
        self.nothing_measures()

    def nothing_measures(self) -> None:
        left = lambda: [line for line in processes_with(str(self.root)) if "/hopcost/bin/hopcost-" in line or "-m hopcost_fleet" in line]
        self.until(lambda: not left(), "processes were left", 30)


if __name__ == "__main__":
    unittest.main()
