"""Lockstep: run CUDA C++, Numba and Triton kernels on a modelled GPU, without a GPU, and look inside.

    import lockstep, numpy as np
    k = lockstep.compile(source)                       # CUDA C++ or PTX
    r = k[4, 256](x, y, 2.0, 1000, gpu="a100", check="all")   # arrays in place, as CUDA does
    r.cycles, r.metrics["sectors_per_request"], r.findings, r.reports
    r.show("warps")                                    # a picture, inline in a notebook; r.html() with hover and zoom

In a notebook `%load_ext lockstep` brings the cell magics %%lockstep and %%cu.
"""
from __future__ import annotations

import os as _os
import pathlib as _pathlib

_here = _pathlib.Path(__file__).resolve().parent
program = str(_here / "bin" / ("lockstep.exe" if _os.name == "nt" else "lockstep"))
"""The command line that came along: what tasks run in, and what `python -m lockstep` is."""

from . import _core  # noqa: E402
from ._errors import CompileError, Error, KernelFault, MissingError, ProgramError  # noqa: E402

_core.stand_in(program)

from ._kernel import Configured, Kernel, compile, kernels_in, load  # noqa: E402
from ._result import Columns, Comparison, Finding, Metrics, Report, Result, Trace  # noqa: E402
from .compiler import _offer as _offer_compiler  # noqa: E402

_offer_compiler()

__version__ = "0.2.0"
__all__ = ["compile", "load", "kernels_in", "Kernel", "Configured", "Result", "Metrics", "Finding", "Report", "Trace", "Columns",
           "Comparison", "Error", "CompileError", "KernelFault", "MissingError", "ProgramError", "gpus", "views", "metrics",
           "compilers", "train", "plan", "lesson", "lessons", "run_program", "command"]


def gpus() -> dict[str, str]:
    """The modelled GPUs: from the name that ``gpu=`` takes to a title, "Tesla V100 SXM2, 80 SMs, compute 7.0"."""
    return {name: f"{title}, {sms} SMs, compute {compute}" for name, title, sms, compute in _core.gpus()}


def views() -> dict[str, str]:
    """What ``Result.show`` draws: from name to title."""
    return dict(_core.views())


def metrics() -> dict[str, str]:
    """The counters of a launch: from the short name to what it says, with Nsight's name and unit."""
    return {short: f"{summary} [{unit}] ({nsight})" for short, nsight, unit, summary in _core.metrics()}


def compilers() -> dict[str, str]:
    """Compilers of CUDA C++: from name to version, or what to install."""
    return {name: description for name, description, _ in _core.compilers()}


def __getattr__(name: str):
    if name in ("train", "plan", "Training", "Plan"):
        from . import training

        return getattr(training, name)
    if name in ("lesson", "lessons", "Lesson"):
        from . import _lessons

        return getattr(_lessons, name)
    if name in ("command", "run_program", "Program"):
        from . import _program

        return getattr(_program, name)
    raise AttributeError(f"module 'lockstep' has no attribute '{name}'")


def load_ipython_extension(ipython) -> None:
    """`%load_ext lockstep`: the cell magics."""
    from .magics import register

    register(ipython)
