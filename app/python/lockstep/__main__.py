"""`python -m lockstep` is the command line: `python -m lockstep run saxpy.cu --grid 4 --block 256 --arg ...`."""
from __future__ import annotations

import os
import subprocess
import sys


def main() -> None:
    import lockstep

    words = [lockstep.program, *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.call(words))
    os.execv(lockstep.program, words)


if __name__ == "__main__":
    main()
