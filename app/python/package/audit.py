#!/usr/bin/env python3
"""Holds a wheel for Linux against the tag in its name by auditwheel, which reads what the libraries in it ask of a system: no
symbol newer than the tag's glibc, and no library that would have to come along.

    audit.py WHEEL
"""
from __future__ import annotations

import re
import subprocess
import sys


def wrong_with(name: str, said: str) -> str:
    """What is wrong with the wheel of that name, by what `auditwheel show` said; "" where nothing is."""
    said = " ".join(said.split())
    allowed = re.search(r"-manylinux_(\d+)_(\d+)_(\w+)\.whl$", name)
    found = re.search(r'consistent with the following platform tag: "manylinux_(\d+)_(\d+)_(\w+)"', said)
    if not allowed or not found:
        return f"{name} is for no manylinux: {said}"
    if found.group(3) != allowed.group(3):
        return f"{name} is for {found.group(3)}"
    if tuple(map(int, found.groups()[:2])) > tuple(map(int, allowed.groups()[:2])):
        return f"{name} needs glibc {found.group(1)}.{found.group(2)}: {said}"
    if "requires no external shared libraries" not in said:
        return f"{name} needs libraries that do not come along: {said}"
    return ""


def main() -> int:
    # -v: else it says nothing of libraries where the symbols alone keep the wheel from the oldest tag.
    show = subprocess.run([sys.executable, "-m", "auditwheel", "-v", "show", sys.argv[1]], capture_output=True, text=True)
    print(show.stdout.strip())
    if wrong := show.stderr if show.returncode else wrong_with(sys.argv[1], show.stdout):
        print(wrong, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
