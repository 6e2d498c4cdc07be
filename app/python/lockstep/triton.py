"""Triton's kernels on the modelled GPU: Triton compiles them, no GPU and no driver are needed.

    import triton, triton.language as tl
    import lockstep.triton

    @triton.jit
    def add(x, y, out, n, BLOCK: tl.constexpr): ...

    r = lockstep.triton.kernel(add)[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256, num_warps=4, gpu="a100")

Arrays are numpy's, torch's on the CPU, or DLPack's. Every report shows the lines of the Python source.
"""
from __future__ import annotations

from typing import Any

from ._arrays import argument
from ._errors import CompileError, Error, MissingError
from ._kernel import Configured, Kernel, _extents
from ._python_source import text_of, with_file
from ._result import Result

_options = ("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion")
_names = {"f32": "fp32", "f64": "fp64", "f16": "fp16", "bf16": "bf16", "u8": "u8", "i8": "i8", "u16": "u16", "i16": "i16",
          "u32": "u32", "i32": "i32", "u64": "u64", "i64": "i64"}


def _triton():
    try:
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
        from triton.compiler import compile as compile_
    except ImportError:
        raise MissingError("lockstep.triton needs the package triton: pip install triton") from None
    return triton, GPUTarget, ASTSource, compile_


class TritonKernel:
    """A function of Triton, compiled for each kind of arguments and each generation of GPU when they come."""

    def __init__(self, function: Any):
        while hasattr(function, "fn") and not hasattr(function, "arg_names"):
            function = function.fn  # autotune, heuristics
        while hasattr(function, "fn") and hasattr(function.fn, "fn"):
            function = function.fn
        if not hasattr(function, "arg_names"):
            raise Error(f"a function with @triton.jit is needed, not a {type(function).__name__}")
        self.function = function
        self._compiled: dict = {}

    @property
    def name(self) -> str:
        return self.function.fn.__name__

    def __getitem__(self, grid) -> "TritonLaunch":
        return TritonLaunch(self, grid)

    def compiled(self, signature: dict, constants: dict, aligned: tuple, generation: int, options: dict):
        """(Kernel, metadata) for arguments of these types."""
        key = (tuple(signature.items()), tuple(sorted((k, repr(v)) for k, v in constants.items())), aligned, generation,
               tuple(sorted(options.items())))
        if key not in self._compiled:
            _, GPUTarget, ASTSource, compile_ = _triton()
            names = list(self.function.arg_names)
            attributes = {(names.index(name),): [["tt.divisibility", 16]] for name in aligned}
            try:
                try:
                    source = ASTSource(fn=self.function, signature=signature, constexprs=constants, attrs=attributes)
                except TypeError:  # of another version of Triton
                    source = ASTSource(fn=self.function, signature=signature, constexprs=constants)
                made = compile_(source, target=GPUTarget("cuda", generation, 32), options=options)
            except Exception as problem:
                raise CompileError(f"Triton refuses {self.name}: {problem}", message=str(problem)) from None
            text, file = text_of(self.function.fn)
            passed = [name for name in names if signature.get(name) != "constexpr"]
            ptx = with_file(made.asm["ptx"], self.function.fn, file)
            count = ptx[:ptx.index(")", ptx.index(".entry"))].count(".param")
            passed += ["global scratch", "profile scratch"][:max(0, count - len(passed))]
            self._compiled[key] = (Kernel(ptx, file=file + ".ptx", source_text=text, names=passed), made.metadata, count)
        return self._compiled[key]

    def __repr__(self) -> str:
        return f"<lockstep.triton kernel {self.name}>"


class TritonLaunch:
    def __init__(self, kernel: TritonKernel, grid: Any):
        self.kernel, self.grid = kernel, grid

    def __call__(self, *arguments: Any, gpu: str = "a100", **options: Any) -> Result:
        """Run it. Keywords are the function's own (constexpr), Triton's (num_warps, num_stages), then those of launches."""
        import numpy

        from . import _core

        names = list(self.kernel.function.arg_names)
        constexpr = {p.name for p in self.kernel.function.params if p.is_constexpr}
        values = dict(zip(names, arguments))
        values.update({name: options.pop(name) for name in list(options) if name in names})
        for parameter in self.kernel.function.params:
            if parameter.name not in values and parameter.has_default:
                values[parameter.name] = parameter.default
        missing = [name for name in names if name not in values]
        if missing or len(arguments) > len(names):
            raise Error(f"{self.kernel.name} takes {', '.join(names)}" + (f", and {missing[0]} is missing" if missing else ""))
        how = {name: options.pop(name) for name in list(options) if name in _options}
        signature, constants, aligned, given = {}, {}, [], []
        for name in names:
            value = values[name]
            if name in constexpr or value is None:
                signature[name], constants[name] = "constexpr", value
                continue
            prepared, _ = argument(value, f"'{name}'")
            if isinstance(prepared, tuple):
                signature[name] = "*" + _names[prepared[3]]
                if prepared[1] % 16 == 0:
                    aligned.append(name)
            elif isinstance(prepared, bool):
                signature[name] = "i1"
            elif isinstance(prepared, int):
                signature[name] = "i32" if -(2**31) <= prepared < 2**31 else "i64"
                if prepared % 16 == 0:
                    aligned.append(name)
            else:
                signature[name] = "fp32"
            given.append(value)
        compute = next((compute for row, _, _, compute in _core.gpus() if row == gpu.split(":")[0]), "8.0")
        generation = int(float(compute) * 10 + 0.5)
        kernel, metadata, count = self.kernel.compiled(signature, constants, tuple(aligned), generation, how)
        grid = self.grid(values) if callable(self.grid) else self.grid
        extents = (_extents(grid, "grid") + [1, 1])[:3]
        scratch = int(getattr(metadata, "global_scratch_size", 0) or 0) * extents[0] * extents[1] * extents[2]
        extra = [numpy.zeros(scratch, numpy.uint8) if scratch else None, None]
        given += extra[:max(0, count - len(given))]
        block = [int(metadata.num_warps) * 32, 1, 1]
        return Configured(kernel, extents, block, int(metadata.shared))(*given, gpu=gpu, **options)


def kernel(function: Any) -> TritonKernel:
    """A function with @triton.jit as a kernel: ``kernel(add)[grid](x, y, out, n, BLOCK=256)``."""
    return TritonKernel(function)


def launch(function: Any, grid: Any, *arguments: Any, **options: Any) -> Result:
    """``kernel(function)[grid](*arguments, **options)``."""
    return kernel(function)[grid](*arguments, **options)
