"""hopcost's worker for Python (workers/PROTOCOL.md)."""

VERSION = "0.1.0"
