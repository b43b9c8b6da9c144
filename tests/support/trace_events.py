#!/usr/bin/env python3
"""Reads a trace as the Trace Event Format of Chrome says (JSON object format: phases X, i, M), by
nothing of hopcost's: what ui.perfetto.dev would show. Ends with 1 where it would be refused or drawn
wrongly; prints each track with its slices by name.

    trace_events.py TRACE.json
"""
import json, re, sys
from collections import Counter, defaultdict

with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
slices, names, instants = defaultdict(list), {}, 0
for event in document["traceEvents"]:
    track = event["pid"], event["tid"]
    assert all(type(number) is int for number in track), event
    if event["ph"] == "M":
        assert event["name"] in ("process_name", "thread_name"), event
        key = event["pid"] if event["name"] == "process_name" else track
        assert key not in names, f"{key} is named twice: {event}"
        names[key] = event["args"]["name"]
        continue
    assert event["ts"] >= 0 and isinstance(event["name"], str) and event["name"], event
    if event["ph"] == "X":
        assert event["dur"] >= 0, event
        # In microseconds with a fraction, of which nanoseconds are whole numbers.
        begin = round(event["ts"] * 1000)
        slices[track].append((begin, -round(event["dur"] * 1000), event["name"]))
    else:
        assert event["ph"] == "i" and event["s"] == "t", event
        instants += 1
    used = names.get(event["pid"]), names.get(track)
    assert all(used), f"the process or the track has no name: {event}"
assert instants and slices
for track, all_of_it in sorted(slices.items()):
    open_until, by_name = [], Counter()
    for begin, negative, name in sorted(all_of_it):
        while open_until and open_until[-1] <= begin:
            open_until.pop()
        end = begin - negative
        assert not open_until or end <= open_until[-1], f"{names[track]}: {name} at {begin} ns ends outside what it began in"
        open_until.append(end)
        word = re.sub(r" \(?\d+\)?$", "", name)
        by_name[word] += 1
    print(names[track[0]], names[track], dict(by_name), sep="\t")
