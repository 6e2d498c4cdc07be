#!/usr/bin/env python3
"""What a wheel weighs, and how long its import takes in a fresh venv: the table of app/python/README.md.

    measure.py WHEEL
"""
import pathlib
import statistics
import subprocess
import sys
import tempfile

MOST_MEGABYTES, MOST_SECONDS = 30, 0.3


def main() -> int:
    wheel = pathlib.Path(sys.argv[1]).resolve()
    megabytes = wheel.stat().st_size / 1e6
    with tempfile.TemporaryDirectory() as folder:
        venv = pathlib.Path(folder) / "venv"
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        python = venv / "bin/python"
        subprocess.run([python, "-m", "pip", "install", "-q", wheel], check=True)
        say = ("import time, sys; t = time.perf_counter(); import lockstep; own = time.perf_counter() - t; "
               "t = time.perf_counter(); import numpy; print(own, time.perf_counter() - t)")
        times = [[float(n) for n in subprocess.run([python, "-c", say], check=True, capture_output=True, text=True).stdout.split()]
                 for _ in range(9)]
        own = statistics.median(t[0] for t in times[1:])
        run = ("import lockstep, numpy as np; root = lockstep._core.resource_root(); "
               "k = lockstep.load(root + '/kernels/ptx/relu.ptx', kernel='relu_f32'); print(k)")
        print(subprocess.run([python, "-c", run], check=True, capture_output=True, text=True).stdout.strip())
    print(f"| wheel | {wheel.name} |\n| size | {megabytes:.1f} MB (at most {MOST_MEGABYTES}) |\n| import lockstep | {own:.3f} s (at most {MOST_SECONDS}) |")
    return 0 if megabytes < MOST_MEGABYTES and own < MOST_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
