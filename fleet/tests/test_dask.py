"""A real cluster: a Dask scheduler and workers on hosts that are network namespaces, and what can happen to them."""

import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

from .cluster import Cluster, dask_python, impossible
from .support import FAKE, FleetTest, processes_with

WORKER = ["--no-nanny", "--no-dashboard", "--death-timeout", "60", "--nthreads", "2"]
PYTHON = dask_python()
WHY_NOT = impossible() or ("" if PYTHON else "there is no `distributed`, and pip could not get it")
# The real binary where a test says which (tests/fleet.rs does), else one that speaks its command line.
BINARY = Path(os.environ.get("HOPCOST_FLEET_BINARY") or FAKE)
CASES = ["roundtrip/pipe"] if BINARY != FAKE else ["call/ok"]


@unittest.skipIf(WHY_NOT, f"NOT CHECKED: {WHY_NOT}")
class Dask(FleetTest):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = Cluster(self.root, 3)
        self.addCleanup(self.cluster.close)
        self.port = 8786
        self.scheduler = f"tcp://{self.cluster.addresses['control']}:{self.port}"
        self.cluster.start("control", PYTHON, "-m", "distributed.cli.dask_scheduler", "--host", self.cluster.addresses["control"],
                           "--port", self.port, "--no-dashboard", log="scheduler", DASK_DISTRIBUTED__SCHEDULER__NO_WORKERS_TIMEOUT="5s")  # fmt: skip
        self.workers = {name: self.worker(name) for name in self.cluster.names}
        self.registered(3)

    def worker(self, name: str, **variables: str) -> subprocess.Popen:
        return self.cluster.start(name, PYTHON, "-m", "distributed.cli.dask_worker", self.scheduler, *WORKER, "--name", name,
                                  "--host", self.cluster.addresses[name], log="worker", **variables)  # fmt: skip

    def registered(self, count: int) -> None:
        log = self.root / "control" / "scheduler"
        self.until(lambda: log.read_text().count("Register worker") >= count, "the workers did not come", 60)

    def drive_here(self, *arguments: object) -> subprocess.Popen:
        return self.cluster.start("control", PYTHON, "-m", "hopcost_fleet", "run", *arguments, "--hopcost", BINARY,
                                  "--peer-command", self.cluster.peer_command(),
                                  *(() if "--resume" in arguments else ("--out", self.out)))  # fmt: skip

    def end(self, driver: subprocess.Popen, code: int, most_s: float = 150) -> str:
        _, err = driver.communicate(timeout=most_s)
        self.assertEqual(driver.returncode, code, err)
        return err

    def measuring(self) -> list[str]:
        """Processes that measure on the hosts: those of the binary that was shipped."""
        return [line for line in processes_with(str(self.root)) if "/hopcost/bin/hopcost-" in line]

    def states(self) -> dict[str, str]:
        return {row["name"]: row["state"] for row in self.rows("SELECT * FROM host")}

    def test_all_is_well(self) -> None:
        self.end(self.drive_here(*CASES, "--dask", self.scheduler, "--pairs", "all", "--host-time", "2s", "--pair-time", "3s"), 0)
        tasks = self.rows("SELECT * FROM task")
        self.assertEqual([t["state"] for t in tasks], ["done"] * 6, [t["reason"] for t in tasks])
        for row in self.rows("SELECT * FROM host"):
            self.assertEqual((row["state"], row["reason"]), ("ready", None))
        self.assertEqual(self.measuring(), [])

    def test_a_worker_dies_and_a_host_is_cut_off_in_the_middle_of_a_pair(self) -> None:
        driver = self.drive_here("--pair-cases", "roundtrip/slow" if BINARY == FAKE else "roundtrip/tcp", "--dask", self.scheduler, "--pairs", "all",
                                 "--pair-time", "6s", "--lease", "30s")  # fmt: skip
        [row] = self.until(self.running, "no task ran", 60)
        time.sleep(0.5)
        self.workers[row["a"]].kill()
        self.end(driver, 1)
        tasks = {(t["a"], t["b"]): t for t in self.rows("SELECT * FROM task")}
        states = [t["state"] for t in tasks.values()]
        self.assertEqual(sorted(states), ["done", "failed", "skipped"], [t["reason"] for t in tasks.values()])
        self.assertEqual(self.states()[row["a"]], "lost")
        self.assertIn(row["a"], tasks[row["a"], row["b"]]["reason"])
        # The child of the dead worker did not outlive it.
        self.until(lambda: not self.measuring(), "hosts went on measuring", 15)

        # It comes back, and now another is cut off from the network.
        self.workers[row["a"]].wait(20)
        self.workers[row["a"]] = self.worker(row["a"])
        self.registered(4)
        driver = self.drive_here("--resume", self.out, "--dask", self.scheduler)
        [row] = self.until(self.running, "no task ran", 60)
        self.cluster.cut_off(row["a"])
        self.end(driver, 1)
        states = [t["state"] for t in self.rows("SELECT * FROM task ORDER BY id")]
        self.assertEqual(states.count("done"), 1 if len(states) == 5 else 2, states)
        self.assertEqual(self.states()[row["a"]], "lost")
        self.until(lambda: not self.measuring(), "hosts went on measuring", 30)
        self.cluster.join_again(row["a"])

    def test_a_disk_that_is_full_and_two_workers_of_one_host(self) -> None:
        full = self.root / "n1" / "cache"
        full.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", full], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", full], check=True)
        words = (PYTHON, "-m", "distributed.cli.dask_worker", self.scheduler, *WORKER, "--name", "z")
        self.cluster.start("n2", *words, "--host", self.cluster.addresses["n2"], log="other")
        self.registered(4)
        self.end(self.drive_here(*CASES, "--dask", self.scheduler, "--host-time", "2s"), 1)
        rows = {row["name"]: row for row in self.rows("SELECT * FROM host")}
        one, other = sorted(("n2", "z"), key=lambda name: rows[name]["state"])
        states = {name: row["state"] for name, row in rows.items()}
        self.assertEqual(states, {"n1": "refused", one: "ready", other: "refused", "n3": "ready"})
        self.assertIn("No space left on device", rows["n1"]["reason"])
        self.assertIn("one host, one worker", rows[other]["reason"])

    def test_an_abort_leaves_no_process_that_measures(self) -> None:
        cases = ["call/slow"] if BINARY == FAKE else ["roundtrip/pipe"]
        for number, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
            for kind in ("host", "pair"):
                with self.subTest(f"{number.name} in a {kind}"):
                    self.out = self.root / f"{number.name}-{kind}"
                    what = cases if kind == "host" else ["--pairs", "all", "--pair-cases", "roundtrip/slow" if BINARY == FAKE else "roundtrip/tcp"]
                    driver = self.drive_here(*what, "--dask", self.scheduler, "--host-time", "9s", "--pair-time", "9s", "--lease", "12s")
                    self.until(lambda: self.running() and self.measuring(), "no task ran", 60)
                    time.sleep(0.3)
                    # The process that `nsenter` became is the driver.
                    driver.send_signal(number)
                    self.end(driver, code)
                    self.until(lambda: not self.measuring(), "hosts went on measuring", 12)


if __name__ == "__main__":
    unittest.main()
