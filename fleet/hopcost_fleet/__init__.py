"""The fleet driver of hopcost: many hosts, each measured by the native binary, driven by an engine that people already run."""

VERSION = "0.1.0"
