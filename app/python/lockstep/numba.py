"""Numba's CUDA kernels on the modelled GPU: no GPU and no driver are needed, but Numba's own compiler, libNVVM, which
`pip install "numba-cuda[cu12]"` (or lockstep[numba]) brings.

    from numba import cuda
    import lockstep.numba

    @cuda.jit
    def axpy(a, x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] += a * x[i]

    r = lockstep.numba.kernel(axpy)[4, 256](2.0, x, y, gpu="a100", check="all")

Every report shows the lines of the Python source.
"""
from __future__ import annotations

from typing import Any

from ._arrays import argument
from ._errors import CompileError, Error, MissingError
from ._kernel import Configured, Extents, Kernel, _extents
from ._python_source import text_of, with_file
from ._result import Result


BRINGS = 'pip install "numba-cuda[cu12]" brings it'


def _numba():
    try:
        import numba
        import numba.cuda
    except ImportError:
        raise MissingError(f"lockstep.numba needs Numba and its compiler: {BRINGS}") from None
    except Exception as problem:  # of numba-cuda, where a library of CUDA is nowhere
        raise MissingError(f"Numba misses a library: {BRINGS} ({str(problem).splitlines()[0]})") from None
    return numba


class NumbaKernel:
    """A function of Numba, compiled for each kind of arguments and each generation of GPU when they come."""

    def __init__(self, function: Any):
        self.function = getattr(function, "py_func", function)
        if not callable(self.function) or not hasattr(self.function, "__code__"):
            raise Error(f"a function, or one with @cuda.jit, is needed, not a {type(function).__name__}")
        self._options = dict(getattr(function, "targetoptions", {}))
        self._compiled: dict = {}

    @property
    def name(self) -> str:
        return self.function.__name__

    def __getitem__(self, launch) -> "NumbaLaunch":
        if not isinstance(launch, tuple) or len(launch) < 2:
            raise Error(f"{self.name}[grid, block] or [grid, block, stream, shared_bytes], as in {self.name}[4, 256]")
        grid, block, *rest = launch
        return NumbaLaunch(self, _extents(grid, "grid"), _extents(block, "block"), int(rest[1]) if len(rest) > 1 else 0)

    def compiled(self, types: tuple, generation: str, names: list[str]) -> Kernel:
        """The kernel for arguments of these types of Numba and a generation such as "8.0"."""
        key = (types, generation)
        if key not in self._compiled:
            numba = _numba()
            # NVVM of CUDA 13 begins at 7.5; what is made for it runs on the modelled GPUs before it too.
            major, minor = max(tuple(int(part) for part in generation.split(".")[:2]), (7, 5))
            try:
                ptx, _ = numba.cuda.compile_ptx(self.function, types, cc=(major, minor), lineinfo=True,
                                                fastmath=bool(self._options.get("fastmath", False)))
            except Exception as problem:  # of many kinds; what it says is what helps
                if "NVVM" in str(problem) or "libnvvm" in str(problem).lower() or "libdevice" in str(problem).lower():
                    raise MissingError(f"Numba finds no libNVVM to compile with: {BRINGS}; a CUDA toolkit has it too, CUDA_HOME says where "
                                       f"that is ({str(problem).splitlines()[0]})") from None
                raise CompileError(f"Numba refuses {self.name}: {problem}", message=str(problem)) from None
            text, file = text_of(self.function)
            self._compiled[key] = Kernel(with_file(ptx, self.function, file), file=file + ".ptx", source_text=text, names=names)
        return self._compiled[key]

    def __call__(self, *_arguments, **_options):
        raise Error(f"a launch needs a grid and a block: {self.name}[grid, block](...)")

    def __repr__(self) -> str:
        return f"<lockstep.numba kernel {self.name}>"


class NumbaLaunch:
    def __init__(self, kernel: NumbaKernel, grid: list[int], block: list[int], shared: int):
        self.kernel, self.grid, self.block, self.shared = kernel, grid, block, shared

    def __call__(self, *arguments: Any, gpu: str = "v100", **options: Any) -> Result:
        """Run it; arrays are numpy's and are written in place. Options: those of lockstep.Kernel's launches."""
        numba = _numba()
        from . import _core

        generation = next((compute for name, _, _, compute in _core.gpus() if name == gpu.split(":")[0]), "8.0")
        wanted = self.kernel.function.__code__.co_varnames[:self.kernel.function.__code__.co_argcount]
        if len(arguments) != len(wanted):
            raise Error(f"{self.kernel.name} takes {len(wanted)} arguments ({', '.join(wanted)}), and there are {len(arguments)}")
        types, given, names = [], [], []
        for name, value in zip(wanted, arguments):
            if hasattr(value, "__array_interface__") and getattr(value, "ndim", 0) > 0:
                kind = numba.typeof(value)
                types.append(kind)
                given += _parts(value)
                names += [f"{name}.meminfo", f"{name}.parent", f"{name}.size", f"{name}.itemsize", name]
                names += [f"{name}.shape[{k}]" for k in range(value.ndim)] + [f"{name}.strides[{k}]" for k in range(value.ndim)]
            else:
                types.append(numba.typeof(value))
                given.append(value)
                names.append(name)
        kernel = self.kernel.compiled(tuple(types), generation, names)
        return Configured(kernel, self.grid, self.block, self.shared)(*given, gpu=gpu, **options)


def _parts(array) -> list:
    """What Numba passes for an array: 5 + 2 ndim parameters."""
    argument(array, "an array")  # refused here if it is not contiguous
    return [None, None, array.size, array.itemsize, array, *array.shape, *array.strides]


def kernel(function: Any) -> NumbaKernel:
    """A function, decorated with @cuda.jit or not, as a kernel: ``kernel(axpy)[grid, block](2.0, x, y)``."""
    return NumbaKernel(function)


def launch(function: Any, grid: Extents, block: Extents, *arguments: Any, **options: Any) -> Result:
    """``kernel(function)[grid, block](*arguments, **options)``."""
    return kernel(function)[grid, block](*arguments, **options)
