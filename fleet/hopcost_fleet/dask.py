"""The Dask engine: every host runs a worker of `distributed`, and each job is a task that only this worker may do, once."""

import queue
import shlex
import time
from collections.abc import Iterator

from . import agent
from .engine import STOP, Engine, Job, Reply, lost
from .hosts import Host, Usage, is_name, name_of, printable
from .remote import SSH

# What the worker of a host is started with (`hopcost-fleet agent`); measured in docs/fleet.md.
QUIET = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "30s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__GIL__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "5s",
    "DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL": "30s",
    "DASK_DISTRIBUTED__WORKER__MEMORY__TARGET": "False",
    "DASK_DISTRIBUTED__WORKER__MEMORY__SPILL": "False",
    "DASK_DISTRIBUTED__WORKER__MEMORY__PAUSE": "False",
    "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "False",
}
WORKER = ["--no-nanny", "--no-dashboard", "--death-timeout", "60", "--nthreads", "2", "--resources", "host=1"]
# Of the agent only what is named travels.
perform = agent.perform
# How often the driver asks who is still there.
LOOK_S = 2.0


def _perform(job: Job) -> Reply:
    """On the worker, in a thread of it. A task that the scheduler has taken back is no longer `executing`."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    class Watch:
        fds = ()
        poll_s = 1.0

        def gone(self) -> bool:
            task = worker.state.tasks.get(key)
            return task is None or task.state != "executing"

    return perform(job, Watch())


class Dask(Engine):
    """A client of a scheduler that somebody else runs."""

    name = "dask"

    def __init__(self, scheduler: str) -> None:
        try:
            import cloudpickle
            import distributed
        except ImportError as error:
            raise Usage(f"--dask needs `distributed` ({error}): pip install 'hopcost[fleet]'") from None
        # So that workers need Dask alone, and always get this driver's agent.
        from . import dask as this

        cloudpickle.register_pickle_by_value(agent)
        cloudpickle.register_pickle_by_value(this)
        self._distributed = distributed
        try:
            self._client = distributed.Client(scheduler, timeout="15s", set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise Usage(f"{scheduler}: no Dask scheduler answers: {printable(error, 120)}") from None
        self._workers: dict[str, str] = {}
        self._running: dict[object, str] = {}

    def hosts(self) -> list[Host]:
        found = self._client.scheduler_info(n_workers=-1)["workers"]
        hosts: list[Host] = []
        per_ip: dict[str, int] = {}
        for address, worker in sorted(found.items()):
            ip = worker["host"]
            per_ip[ip] = per_ip.get(ip, 0) + 1
            called = str(worker.get("name") or "")
            # The name of a worker that nobody named is its address.
            name = called if is_name(called) else name_of(ip)
            if any(name.lower() == host.name.lower() for host in hosts):
                name = name_of(f"{name}-{address.rpartition(':')[2]}")
            host = Host(name, address, ip)
            if per_ip[ip] > 1:
                host.refused = f"a second Dask worker at {ip}: one host, one worker"
            elif worker.get("resources", {}).get("host") != 1:
                host.refused = "its worker was not started with --resources host=1"
            hosts.append(host)
        if not hosts:
            raise Usage(f"{self._client.scheduler.address}: the scheduler has no workers")
        self._workers = {host.name: host.address for host in hosts}
        return hosts

    def words(self, host: Host) -> list[str]:
        return [*shlex.split(SSH), host.data_address]

    def run(self, jobs: dict[str, Job], deadline_s: float) -> Iterator[tuple[str, Reply]]:
        until = time.monotonic() + deadline_s
        waiting = {}
        ended: queue.SimpleQueue = queue.SimpleQueue()
        for host, job in jobs.items():
            future = self._client.submit(
                _perform, job, workers=[self._workers[host]], allow_other_workers=False,
                pure=False, retries=0, resources={"host": 1},
            )  # fmt: skip
            self._running[future] = waiting[future] = host
            future.add_done_callback(ended.put)
        while waiting:
            try:
                future = STOP.get(ended, max(0.01, min(LOOK_S, until - time.monotonic())))
            except queue.Empty:
                yield from self._missing(waiting, until)
                continue
            if future in waiting:
                yield waiting.pop(future), self._result(future)

    def _missing(self, waiting: dict, until: float) -> Iterator[tuple[str, Reply]]:
        """Those of which nothing is to be expected any more."""
        alive = self._alive()
        late = time.monotonic() >= until
        for future, host in list(waiting.items()):
            if late or self._workers[host] not in alive:
                del waiting[future]
                self._forget(future)
                yield host, lost("no answer in time" if late else "its Dask worker is gone")

    def _result(self, future) -> Reply:
        try:
            # What is lost between the end of a task and here is not made again: that would be another trial.
            if future.status != "finished":
                raise future.exception(timeout=10) or RuntimeError(future.status)
            return future.result(timeout=60)
        except Exception as error:  # of the engine, or what it says of a worker's death
            return lost(f"Dask: {type(error).__name__}: {printable(error, 160)}")
        finally:
            self._forget(future)

    def _forget(self, future) -> None:
        self._running.pop(future, None)
        try:
            future.cancel(force=True)
            future.release()
        except Exception:  # the scheduler may be gone
            pass

    def _alive(self) -> set[str]:
        try:
            return set(self._client.scheduler_info(n_workers=-1)["workers"])
        except Exception:
            return set()

    def abort(self) -> None:
        # Each worker sees within a second, or when it is thawed, that its task was taken back.
        for future in list(self._running):
            self._forget(future)

    def close(self) -> None:
        try:
            self._client.close(timeout=1)
        except Exception:
            pass
