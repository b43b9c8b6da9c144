"""What of the interpreter and of its libraries shapes the numbers."""

import gc
import platform
import shlex
import sys
import sysconfig
from importlib import metadata

from .stamps import clock


def libraries() -> dict[str, str]:
    """Versions, the language first."""
    found = {"python": platform.python_version()}
    if platform.python_implementation() != "CPython":
        found["implementation"] = platform.python_implementation()
    if free_threaded_build():
        found["python"] += " free-threaded"
    for name in ("websockets", "uvloop"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def free_threaded_build() -> bool:
    """Whether the interpreter can run without the GIL."""
    return bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def gil_is_on() -> bool:
    """Whether it does not."""
    return getattr(sys, "_is_gil_enabled", lambda: True)()


def build() -> str:
    """How the interpreter was compiled, as far as its record of that says."""
    asked = sysconfig.get_config_var("CONFIG_ARGS")
    if not isinstance(asked, str):
        return "how the interpreter was compiled is not known"
    options = shlex.split(asked)
    with_lto = [o for o in options if o.startswith("--with-lto") and o != "--with-lto=no"]
    parts = [
        f"{'with' if '--enable-optimizations' in options else 'without'} profile-guided optimization "
        "(--enable-optimizations)",
        f"{'with' if with_lto else 'without'} link-time optimization (--with-lto)",
    ]
    if sysconfig.get_config_var("Py_DEBUG"):
        parts.append("for debugging (Py_DEBUG)")
    return f"the interpreter was compiled {', '.join(parts)}"


def remarks() -> list[str]:
    """A line each."""
    interval_ms = sys.getswitchinterval() * 1000
    switch = (
        "one thread at a time runs Python code, and one that wants to asks for it after a switch "
        f"interval of {interval_ms:g} ms"
    )
    if not free_threaded_build():
        gil = f"the GIL is on: {switch}"
    elif gil_is_on():
        gil = f"a free-threaded build with the GIL on: {switch}"
    else:
        gil = (
            "a free-threaded build with the GIL off; a library that does not allow for it switches "
            "the GIL on when a mechanism imports it"
        )
    collector = "on" if gc.isenabled() else "off"
    return [
        gil,
        build(),
        f"the garbage collector is {collector} and as it is by default (thresholds "
        f"{', '.join(map(str, gc.get_threshold()))}): a collection can fall into a sample",
        f"a stamp is one call of time.{clock.__name__}()",
        "the loops call bound methods of the standard library and of C types directly; where a "
        "mechanism needs a function of the worker, its limits say so",
    ]
