"""The compiler that `pip install lockstep[compiler]` brings: the clang of the package ziglang, with Lockstep's own headers."""
from __future__ import annotations

import importlib.util
import os
import pathlib


def zig() -> str:
    """The program of the package ziglang; "": it is not installed."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        return ""
    program = pathlib.Path(list(spec.submodule_search_locations)[0]) / ("zig.exe" if os.name == "nt" else "zig")
    return str(program) if program.exists() else ""


def _offer() -> None:
    """Tells the engine, and the processes that it starts, where it is."""
    if "LOCKSTEP_ZIG" not in os.environ and (found := zig()):
        os.environ["LOCKSTEP_ZIG"] = found
