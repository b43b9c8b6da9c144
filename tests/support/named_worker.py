#!/usr/bin/env python3
"""The skeleton (SKELETON in the environment) with a link of its own that two workers share: pipes with names in
`scratch`, which the callee makes. Its runtime is the name of its file."""
import os, sys

source = open(os.environ["SKELETON"]).read()
for old, new in [
        ('{"name": "pipe",', '{"name": "named", "link": "own", "peers": "any",'),
        ('seat["link"]["fds"]', 'meet(command["scratch"], seat["role"] == "callee")'),
        ("python-skeleton", os.path.basename(sys.argv[0]))]:
    assert old in source, old
    source = source.replace(old, new)


def meet(scratch, is_callee):
    names = [f"{scratch}/{number}" for number in (int(is_callee), int(not is_callee))]
    for name in names if is_callee else []:
        os.mkfifo(name)
    return [os.open(name, os.O_RDWR) for name in names]


exec(compile(source, "skeleton.py", "exec"))
