"""The launcher for Dask: a worker of `distributed` on each host does each job once, as a task."""

import asyncio
import io
import json
import shlex
from contextlib import suppress

from . import agent
from .hosts import Host, Usage, distinct, is_name, name_of, printable
from .launch import SSH, Lost, checked

# Of the agent only what is named travels.
perform = agent.perform


def _perform(job: dict, sent: bytes | None) -> tuple[str, bytes | None]:
    """Does a job on the worker, in a thread of it: the reply, and the file behind it."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    class Leash:
        fds = ()
        poll_s = 1.0

        def gone(self) -> bool:
            """Whether the scheduler has taken the task back."""
            task = worker.state.tasks.get(key)
            return task is None or task.state != "executing"

    reply, path = perform(job, io.BytesIO(sent or b""), Leash())
    return json.dumps(reply), path.read_bytes() if path else None


class Dask:
    """A client of a scheduler that somebody else runs."""

    name = "dask"

    def __init__(self, scheduler: str) -> None:
        try:
            import cloudpickle
            import distributed
        except ImportError as error:
            why = f"--dask needs `distributed` ({error})"
            raise Usage(f"{why}: pip install 'hopcost[fleet]'") from None
        # So that workers need Dask alone, and always get this driver's agent.
        from . import dask as this

        cloudpickle.register_pickle_by_value(agent)
        cloudpickle.register_pickle_by_value(this)
        self._scheduler = scheduler
        self._connect = distributed.Client
        self._client = None

    async def hosts(self) -> list[Host]:
        try:
            self._client = await self._connect(
                self._scheduler, asynchronous=True, timeout=15, set_as_default=False
            )
            workers = (await self._client.scheduler.identity())["workers"]
        except (OSError, TimeoutError, ValueError) as error:
            why = printable(error, 120)
            raise Usage(f"{self._scheduler}: no Dask scheduler answers: {why}") from None
        hosts, seen = [], set()
        for address, worker in sorted(workers.items()):
            called, ip = str(worker.get("name") or ""), worker["host"]
            # The name of a worker that nobody named is its address.
            name = called if is_name(called) else name_of(address.rpartition("/")[2])
            refused = f"a second Dask worker at {ip}: one host, one worker" if ip in seen else ""
            hosts.append(Host(name, address, ip, refused=refused))
            seen.add(ip)
        return distinct(hosts, self._scheduler)

    def words(self, host: Host) -> list[str]:
        return [*shlex.split(SSH), host.data_address]

    async def ask(self, host, job, most_s, send=None, receive=None) -> dict:
        # What a worker has lost when it ended is not made again: that would be another trial.
        future = self._client.submit(
            _perform, job, send.read_bytes() if send else None, workers=[host.address],
            allow_other_workers=False, pure=False, retries=0,
        )  # fmt: skip
        result = asyncio.ensure_future(future.result())
        try:
            await asyncio.wait([result], timeout=most_s)
            if not result.done():
                raise Lost("no answer in time")
            if result.cancelled() or result.exception():
                why = "the task was cancelled" if result.cancelled() else result.exception()
                raise Lost(f"Dask: {printable(why, 160)}")
            text, data = result.result()
        finally:
            result.cancel()
            with suppress(Exception):  # the scheduler may be gone
                # The worker sees it within a second, or when it runs again.
                await self._client.cancel([future], force=True)
        if receive and data is not None:
            receive.write_bytes(data)
        return checked(text)

    async def close(self) -> None:
        if self._client:
            with suppress(Exception):
                await asyncio.wait_for(self._client.close(), 1.0)
