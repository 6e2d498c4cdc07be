"""The engine: liblockstep, called by ctypes. binding/library.h says how a call goes, binding/functions.cpp what there is to call.

A call is a task on a thread of the library's. This thread waits for it without the GIL, hands on what kernels print, and ends
it at Ctrl-C.
"""
from __future__ import annotations

import ctypes
import json
import os
import pathlib
import struct
import sys
from typing import Any

from ._errors import make

_folder = pathlib.Path(__file__).resolve().parent / "bin"
_library = ctypes.CDLL(str(_folder / ("liblockstep.dll" if os.name == "nt" else "liblockstep.so")))
_pointer, _size = ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)
for _name, _result, *_arguments in (
    ("begin", _pointer, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, _pointer),
    ("wait", ctypes.c_int, _pointer, ctypes.c_int),
    ("stop", None, _pointer),
    ("printed", _pointer, _pointer, _size),
    ("answer", _pointer, _pointer, _size, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(_pointer)),
    ("free", None, _pointer, _pointer),
):
    _function = getattr(_library, f"lockstep_{_name}")
    _function.restype, _function.argtypes = _result, _arguments
_free = _library.lockstep_free


class _Object:
    """What the library has made and keeps until nobody has this any more."""

    _address: int | None = None

    def __init__(self, address: int):
        self._address = address

    def __del__(self):
        if self._address is not None:
            _free(None, self._address)

    def _call(self, function: str, **given: Any) -> Any:
        return _call(function, self, **given)


def _column(entry: dict) -> Any:
    """Bytes of a task, copied: as bytes, or as a numpy array."""
    if entry.keys() != {"blob", "type", "count"}:
        return entry
    if entry["type"] == "bytes":
        return ctypes.string_at(entry["blob"], entry["count"])
    import numpy

    copy = numpy.empty(entry["count"], entry["type"])
    ctypes.memmove(copy.ctypes.data, entry["blob"], copy.nbytes)
    return copy


def _plain(value: Any) -> Any:
    """A number of numpy's, say, as JSON has it."""
    return value.__index__() if hasattr(value, "__index__") else float(value)


def _hand_on(task: int, size: Any) -> None:
    text = _library.lockstep_printed(task, ctypes.byref(size))
    if size.value:
        sys.stdout.write(ctypes.string_at(text, size.value).decode(errors="replace"))


def _call(function: str, of: _Object | None = None, _made: type | None = None, **given: Any) -> Any:
    """The function's answer, or the _Object that it has made; what went wrong is raised."""
    words = json.dumps(given, ensure_ascii=False, default=_plain).encode()
    task = _library.lockstep_begin(function.encode(), words, len(words), of._address if of else None)
    if not task:
        raise MemoryError(f"there is no memory or no thread for {function}")
    size, status, made = ctypes.c_size_t(), ctypes.c_int(), _pointer()
    try:
        while not _library.lockstep_wait(task, 50):
            _hand_on(task, size)
        _hand_on(task, size)
        text = _library.lockstep_answer(task, ctypes.byref(size), ctypes.byref(status), ctypes.byref(made))
        thing = _made(made.value) if _made and made.value else None
        if status.value == 3:
            raise MemoryError(f"there is not enough memory for {function}")
        answer = json.loads(ctypes.string_at(text, size.value), object_hook=_column)
    finally:  # an interrupt too: the library has the arrays until the task has ended
        _library.lockstep_stop(task)
        _library.lockstep_wait(task, -1)
        _free(task, None)
    if status.value == 1:
        raise make(*answer)
    if status.value == 2:
        raise RuntimeError(answer)
    return thing if _made else answer


class Kernel(_Object):
    """A kernel, compiled."""

    name = property(lambda self: self._call("kernel")["name"])
    entry = property(lambda self: self._call("kernel")["entry"])
    file = property(lambda self: self._call("kernel")["file"])
    text = property(lambda self: self._call("kernel")["text"])
    ptx = property(lambda self: self._call("kernel")["ptx"])
    compiler = property(lambda self: self._call("kernel")["compiler"])
    registers = property(lambda self: self._call("kernel")["registers"])
    static_shared = property(lambda self: self._call("kernel")["static_shared"])
    warnings = property(lambda self: self._call("kernel")["warnings"])
    parameters = property(lambda self: self._call("kernel")["parameters"])


class Launched(_Object):
    """A launch that has run."""

    faulted = property(lambda self: self._call("launched")["faulted"])
    fault_text = property(lambda self: self._call("launched")["fault_text"])
    source = property(lambda self: self._call("launched")["source"])
    arguments = property(lambda self: self._call("launched")["arguments"])

    def report(self) -> dict:
        return self._call("report")

    def before(self, argument: int) -> bytes | None:
        return self._call("before", argument=argument)

    def trace(self) -> dict:
        return self._call("trace")

    def instructions(self) -> dict:
        return self._call("instructions")

    def save_trace(self, file: str) -> None:
        self._call("save_trace", file=file)

    def png(self, view: str, width: int, height: int, scale: float, theme: str, cycle: int, warp: int) -> bytes:
        return self._call("png", view=view, width=width, height=height, scale=scale, theme=theme, cycle=cycle, warp=warp)

    def words(self, view: str, cycle: int, warp: int) -> str:
        return self._call("words", view=view, width=1160, height=760, scale=1, theme="dark", cycle=cycle, warp=warp)


def compile(text, file, kernel, gpu, compiler, arch, include, define, source_text, names) -> Kernel:
    return _call("compile", _made=Kernel, text=text, file=file, kernel=kernel, gpu=gpu, compiler=compiler, arch=arch, include=include,
                 define=define, source_text=source_text, names=list(names))


def kernels_in(text: str, file: str) -> list[str]:
    return _call("kernels_in", text=text, file=file)


def _argument(value: Any) -> list:
    """As functions.cpp takes it; ``value`` is what _arrays.argument made."""
    if value is None:
        return ["null"]
    if isinstance(value, int):
        if not -2**63 <= value < 2**64:
            raise make("a number does not fit into 64 bits", "", "", 0, 0, "", False)
        return ["whole", int(value)]
    if isinstance(value, float):
        return ["real", *struct.unpack("=Q", struct.pack("=d", value))]
    if isinstance(value, bytes):
        return ["bytes", list(value)]
    return list(value)


def launch(kernel: Kernel, grid, block, arguments, shared, gpu, check, functional, trace, sm, order, seed, max_instructions, what_if,
           cluster, symbols) -> Launched:
    return _call("launch", kernel, _made=Launched, grid=grid, block=block, arguments=[_argument(a) for a in arguments], shared=shared,
                 gpu=gpu, check=check, functional=bool(functional), trace=bool(trace), sm=sm, order=order, seed=seed,
                 max_instructions=max_instructions, what_if=what_if, cluster=cluster,
                 symbols={name: _argument(value) for name, value in symbols.items()})


def stand_in(program: str) -> None:
    _call("stand_in", program=program)


def resource_root() -> str:
    return _call("resource_root")


def views() -> list:
    return _call("views")


def stall_reasons() -> list:
    return _call("stall_reasons")


def gpus() -> list:
    return _call("gpus")


def metrics() -> list:
    return _call("metrics")


def compilers() -> list:
    return _call("compilers")
