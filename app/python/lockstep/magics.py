"""Cell magics: %%lockstep for a kernel or a whole program, %%cu as other notebook plug-ins spell whole programs.

    %%lockstep                                     a kernel: compiled, and bound to its own name and to _kernel
    %%lockstep --grid 4 --block 256 --arg x --arg y --arg 2.0 --arg 1000 --gpu a100 --check all --show warps
    %%lockstep -- 1000 input.txt                   a program with main(): built and run; its report is _program
    %%cu                                           the same

An --arg is a Python name or expression, evaluated in the notebook; what `lockstep run` takes for --arg (in:f32[1024]) works too.
"""
from __future__ import annotations

import argparse
import re
import shlex
from typing import Any

from ._errors import Error
from ._kernel import compile
from ._program import _run, run_program


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Error(f"%%lockstep: {message}")


def _parser() -> _Parser:
    parser = _Parser(prog="%%lockstep", add_help=False)
    parser.add_argument("--grid", default="")
    parser.add_argument("--block", default="")
    parser.add_argument("--shared", type=int, default=0)
    parser.add_argument("--arg", action="append", default=[])
    parser.add_argument("--kernel", default="")
    parser.add_argument("--gpu", default="v100")
    parser.add_argument("--check", default="")
    parser.add_argument("--compiler", default="")
    parser.add_argument("--arch", default="")
    parser.add_argument("-I", "--include", action="append", default=[])
    parser.add_argument("-D", "--define", action="append", default=[])
    parser.add_argument("--functional", action="store_true")
    parser.add_argument("--what-if", default="")
    parser.add_argument("--show", default="")
    parser.add_argument("--name", default="")
    return parser


def has_main(source: str) -> bool:
    plain = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', " ", source, flags=re.S)
    return re.search(r"\b(int|auto|void|signed)\s+main\s*\(", plain) is not None


def _extents(text: str, namespace: dict) -> Any:
    value = eval(text, namespace)  # noqa: S307: the notebook's own words
    return value if isinstance(value, int) else tuple(value)


def run_cell(line: str, cell: str, namespace: dict) -> Any:
    """What a cell does: the Result of a launch, the Kernel where none was asked for, or a Program."""
    words = shlex.split(line)
    behind = words.index("--") if "--" in words else len(words)
    arguments = words[behind + 1:]
    if has_main(cell):
        options, rest = words[:behind], []
        gpu = "v100"
        k = 0
        while k < len(options):
            if options[k] == "--gpu" and k + 1 < len(options):
                gpu, k = options[k + 1], k + 2
            else:
                rest.append(options[k])
                k += 1
        program = run_program(cell + "\n", *arguments, gpu=gpu, options=rest)
        namespace["_program"] = program
        return program
    asked = _parser().parse_args(words[:behind])
    kernel = compile(cell, kernel=asked.kernel, gpu=asked.gpu, compiler=asked.compiler, arch=asked.arch, include=asked.include,
                     define=asked.define, file="cell.cu")
    namespace["_kernel"] = kernel
    namespace[asked.name or kernel.name] = kernel
    if not asked.grid and not asked.block:
        return kernel
    if not asked.grid or not asked.block:
        raise Error("%%lockstep: a launch needs --grid and --block")
    if any(re.match(r"(in|out|inout):", one) for one in asked.arg):
        return _by_command_line(cell, asked)
    values = [eval(one, namespace) for one in asked.arg]  # noqa: S307
    launch = kernel[_extents(asked.grid, namespace), _extents(asked.block, namespace), asked.shared]
    options = dict(gpu=asked.gpu, functional=asked.functional, what_if=asked.what_if)
    if asked.check:
        options["check"] = asked.check
    result = launch(*values, **options)
    namespace["_result"] = result
    if asked.show:
        _display(result)
        return result.show(asked.show)
    return result


def _by_command_line(cell: str, asked) -> None:
    """Arguments as the command line has them: it runs the cell, and says what it says there."""
    import pathlib
    import tempfile

    with tempfile.TemporaryDirectory(prefix="lockstep-") as folder:
        path = pathlib.Path(folder) / "cell.cu"
        path.write_text(cell, encoding="utf-8")
        words = ["run", str(path), "--grid", asked.grid.strip("()"), "--block", asked.block.strip("()"), "--gpu", asked.gpu]
        words += ["--check", asked.check] if asked.check else []
        words += ["--kernel", asked.kernel] if asked.kernel else []
        words += ["--shared", str(asked.shared)] if asked.shared else []
        words += ["--functional"] if asked.functional else []
        for one in asked.arg:
            words += ["--arg", one]
        _run(words, echo=True, hidden=folder + "/")


def _display(value: Any) -> None:
    try:
        from IPython.display import display
    except ImportError:
        print(value)
    else:
        display(value)


def register(ipython) -> None:
    """Gives a notebook the magics; `%load_ext lockstep` does."""

    def magic(line: str, cell: str):
        try:
            return run_cell(line, cell, ipython.user_ns)
        except Error as error:  # the sentence and the caret, without the frames that lead here
            from ._errors import KernelFault

            import sys

            print(error, file=sys.stderr)
            if isinstance(error, KernelFault):
                ipython.user_ns["_result"] = error.result
            raise _Told(str(error).splitlines()[0]) from None

    class _Told(Error):
        """Ends the cell; what was wrong stands above."""

        def _render_traceback_(self):
            return []

    ipython.register_magic_function(magic, "cell", "lockstep")
    ipython.register_magic_function(magic, "cell", "cu")
