"""The Python worker of hopcost: speaks workers/PROTOCOL.md on stdin and stdout."""

import sys
from pathlib import Path

# `python -I` does not look for modules beside the script.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from hopcost_worker.protocol import main

if __name__ == "__main__":
    main()
