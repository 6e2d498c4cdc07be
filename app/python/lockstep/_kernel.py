"""Sources to kernels, kernels to results."""
from __future__ import annotations

import os
import pathlib
from typing import Any, Iterable, Sequence, Union

from . import _core
from ._arrays import argument, kept
from ._errors import Error, KernelFault
from ._result import Result

Extents = Union[int, Sequence[int]]


def _extents(value: Extents, what: str) -> list[int]:
    values = [value] if isinstance(value, int) or not hasattr(value, "__iter__") else list(value)
    try:
        return [int(v) for v in values]
    except (TypeError, ValueError):
        raise Error(f"the {what} is a whole number or up to three of them, not {value!r}") from None


class Kernel:
    """One kernel, compiled. ``kernel[grid, block](*arguments)`` runs it on a modelled GPU.

    Pickles as its source: another process compiles it again, or takes the PTX from the cache.
    """

    def __init__(self, text: str, *, file: str = "kernel.cu", kernel: str = "", gpu: str = "v100", compiler: str = "",
                 arch: str = "", include: Iterable[str] = (), define: Iterable[str] = (), source_text: str = "",
                 names: Sequence[str] = ()):
        self._how = dict(text=text, file=file, kernel=kernel, gpu=gpu, compiler=compiler, arch=arch, include=[str(i) for i in include],
                         define=list(define), source_text=source_text, names=list(names))
        how = self._how
        self._native = _core.compile(how["text"], how["file"], how["kernel"], how["gpu"], how["compiler"], how["arch"],
                                     how["include"], how["define"], how["source_text"], how["names"])

    @property
    def name(self) -> str:
        """As the source calls it."""
        return self._native.name

    @property
    def source(self) -> str:
        """The text that lines are counted in: CUDA C++, or what the PTX was made of."""
        return self._native.text

    @property
    def ptx(self) -> str:
        return self._native.ptx

    @property
    def compiler(self) -> str:
        """Which compiler made the PTX: "NVRTC 13.0", "clang 14.0.6"; "" of PTX that was given."""
        return self._native.compiler

    @property
    def registers(self) -> int:
        """32-bit registers a thread."""
        return self._native.registers

    @property
    def shared(self) -> int:
        """Static shared memory, bytes a block."""
        return self._native.static_shared

    @property
    def warnings(self) -> list[str]:
        """What the compiler warned of, each with its place."""
        return self._native.warnings

    @property
    def parameters(self) -> list[str]:
        """As they are declared: ``["const float* x", "float* y", "float a", "int n"]``."""
        return [declaration or name for name, declaration, *_ in self._native.parameters]

    def __getitem__(self, launch) -> "Configured":
        if not isinstance(launch, tuple) or len(launch) not in (2, 3, 4):
            raise Error(f"{self.name}[grid, block] or {self.name}[grid, block, shared_bytes], as in {self.name}[4, 256]")
        grid, block, *rest = launch
        if len(rest) == 2 and rest[0] and not isinstance(rest[1], int):
            rest = rest[:1]  # a stream stands last in Numba's and CUDA's order; there is one
        shared = int(rest[0]) if rest else 0
        return Configured(self, _extents(grid, "grid"), _extents(block, "block"), shared)

    def __call__(self, *_arguments, **_options):
        raise Error(f"a launch needs a grid and a block: {self.name}[grid, block](...), as in {self.name}[4, 256](...)")

    def __repr__(self) -> str:
        return f"<lockstep.Kernel {self.name}({', '.join(self.parameters)}), {self.registers} registers a thread>"

    def __reduce__(self):
        return _again, (self._how,)

    def __dask_tokenize__(self):
        return ("lockstep.Kernel", tuple(sorted((k, str(v)) for k, v in self._how.items())))


def _again(how: dict) -> Kernel:
    how = dict(how)
    return Kernel(how.pop("text"), **how)


class Configured:
    """A kernel with its grid and block, ready to be called."""

    def __init__(self, kernel: Kernel, grid: list[int], block: list[int], shared: int):
        self.kernel, self.grid, self.block, self.shared = kernel, grid, block, shared

    def __call__(self, *arguments: Any, gpu: str = "v100", check: str = "memcheck,synccheck", functional: bool = False,
                 trace: bool = True, sm: int = 0, cluster: Extents = (), symbols: dict | None = None, what_if: str = "",
                 order: str = "round_robin", seed: int = 1, max_instructions: int = 1_000_000_000) -> Result:
        """Run the kernel; arrays are read and written in place.

        arguments: arrays (numpy, torch on the CPU, DLPack, ``__array_interface__``), numbers, None for a null pointer, and
            for structs bytes, ctypes structures or numpy records.
        gpu: ``lockstep.gpus()`` has the names; or a file of your own, "mine.toml".
        check: "all", "none", or names between commas: memcheck, racecheck, initcheck, synccheck, leakcheck.
        functional: values and checks alone, without time: many times as fast on large launches.
        trace: keep what pictures are drawn of; False saves memory in sweeps, and changes no cycle.
        sm: which SM is traced.
        cluster: blocks a cluster, by axis.
        symbols: values of the module's variables, ``{"taps": numpy.float32([1, 2, 1])}``.
        what_if: which changes are simulated for ``result.findings``: "all", "none" or names; "": those that take a moment.
        order, seed: in which order warps and blocks take turns in a functional launch; "random" with a seed.
        max_instructions: warp instructions after which the launch counts as a run-away.

        Returns the Result. Raises KernelFault where the kernel is stopped, Error where the launch is not possible.
        """
        prepared, alive = [], []
        names = [name for name, *_ in self.kernel._native.parameters]
        for i, value in enumerate(arguments):
            who = f"argument {i + 1}" + (f" ('{names[i]}')" if i < len(names) and not names[i].startswith("argument") else "")
            given, owner = argument(value, who)
            prepared.append(given)
            alive.append(owner)
        values = {}
        for name, value in (symbols or {}).items():
            values[name], owner = argument(value, f"the variable '{name}'")
            alive.append(owner)
        how = dict(shared=self.shared, gpu=gpu, check=check, functional=functional, trace=trace, sm=sm, order=order, seed=seed,
                   max_instructions=max_instructions, what_if=what_if, cluster=_extents(cluster, "cluster") if cluster else [],
                   symbols={name: kept(value) for name, value in values.items()})
        native = _core.launch(self.kernel._native, self.grid, self.block, prepared, self.shared, gpu, check, functional, trace, sm,
                              order, seed, max_instructions, what_if, how["cluster"], values)
        del alive
        scalars = [value if not isinstance(value, tuple) else None for value in prepared]
        result = Result._of(native, self, how, scalars)
        if native.faulted:
            fault = KernelFault(native.fault_text, result.reports[-1].message, result.reports[-1].file, result.reports[-1].line)
            fault.result = result
            raise fault
        return result

    def __repr__(self) -> str:
        return f"<lockstep launch of {self.kernel.name}, grid {self.grid}, block {self.block}>"


def compile(source: str, *, kernel: str = "", gpu: str = "v100", compiler: str = "", arch: str = "",
            include: Iterable[Union[str, os.PathLike]] = (), define: Iterable[str] = (), file: str = "kernel.cu") -> Kernel:
    """Compile CUDA C++ (or PTX, which begins with .version) to a kernel.

    source: the text, not a file's name (``lockstep.load`` takes that).
    kernel: its name, where the source has several.
    gpu: whose generation it is compiled for first; a launch on another one compiles again by itself.
    compiler: "nvrtc", "nvcc", "clang" or "ziglang"; "": the first that is here.
    arch: "sm_80", instead of what the GPU says.
    include, define: folders of headers; macros such as "N=16".
    file: what messages call the source; headers beside it are found.

    Raises CompileError with line, column and caret.
    """
    if not isinstance(source, str):
        raise Error(f"the source is text, not a {type(source).__name__}")
    if "\n" not in source and source.strip().endswith((".cu", ".ptx")) and pathlib.Path(source.strip()).exists():
        raise Error(f"'{source.strip()}' is a file's name: lockstep.load('{source.strip()}') reads it")
    if source.lstrip().startswith((".version", "//")) and ".entry" in source and not file.endswith(".ptx"):
        file = "kernel.ptx"
    return Kernel(source, file=file, kernel=kernel, gpu=gpu, compiler=compiler, arch=arch, include=[str(i) for i in include],
                  define=define)


def load(file: Union[str, os.PathLike], *, kernel: str = "", gpu: str = "v100", compiler: str = "", arch: str = "",
         include: Iterable[Union[str, os.PathLike]] = (), define: Iterable[str] = ()) -> Kernel:
    """The same of a file, F.cu or F.ptx."""
    path = pathlib.Path(file)
    if path.suffix not in (".cu", ".cuh", ".ptx"):
        raise Error(f"a kernel's file ends in .cu or .ptx, not '{path.name}'")
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as problem:
        raise Error(f"'{path}' cannot be read: {problem.strerror}") from None
    return Kernel(text, file=str(path), kernel=kernel, gpu=gpu, compiler=compiler, arch=arch, include=[str(i) for i in include],
                  define=define)


def kernels_in(source: str) -> list[str]:
    """Names of the kernels in a source."""
    return _core.kernels_in(source, "kernel.ptx" if source.lstrip().startswith(".version") else "kernel.cu")
