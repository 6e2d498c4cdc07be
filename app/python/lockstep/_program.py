"""The command line from Python: whole programs with main(), and everything that has JSON. Kernels do not come this way."""
from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
from typing import Any, Iterable, Union

from ._errors import Error, ProgramError


def _run(words: list[str], stdin: str = "", echo: bool = False, hidden: str = "") -> tuple[int, str, str]:
    """Runs the command line; `echo` hands on what it says while it runs, to stdout, for a report is no error. Ctrl-C ends it.
    `hidden`: a folder that no message needs to name."""
    from . import program

    process = subprocess.Popen([program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, encoding="utf-8", errors="replace")
    said: dict[str, list[str]] = {"out": [], "err": []}

    def read(pipe, name):
        for line in iter(pipe.readline, ""):
            if hidden:
                line = line.replace(hidden, "")
            said[name].append(line)
            if echo and not re.match(r"compiling .*: running for \d+ s$", line.strip()):
                sys.stdout.write(line)
                sys.stdout.flush()

    readers = [threading.Thread(target=read, args=(process.stdout, "out"), daemon=True),
               threading.Thread(target=read, args=(process.stderr, "err"), daemon=True)]
    for reader in readers:
        reader.start()
    try:
        try:
            process.stdin.write(stdin)
            process.stdin.close()
        except BrokenPipeError:
            pass
        process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    for reader in readers:
        reader.join()
    return process.returncode, "".join(said["out"]), "".join(said["err"])


def _refusal(status: int, out: str, err: str) -> ProgramError:
    text = (err or out).strip() or f"the command line ended with status {status}"
    if text.startswith("error: "):
        text = text[len("error: "):]
    error = ProgramError(text)
    error.status, error.output = status, out
    return error


def command(*words: Any, stdin: str = "", json_answer: bool = False) -> Any:
    """`lockstep.command("gpus", "v100")`: what the command line answers, as text; with json_answer=True as its JSON.

    Raises ProgramError where it ends with another status than 0 and 1 (1: the kernel faulted or a check failed).
    """
    all_words = [str(word) for word in words]
    if json_answer:
        all_words += ["--json", "-"]
    status, out, err = _run(all_words, stdin)
    if status not in (0, 1) or (status == 1 and json_answer and not out.strip()):
        raise _refusal(status, out, err)
    return json.loads(out) if json_answer else out


class Program:
    """A whole program that has run: ``output`` is what it printed, ``report`` all that it launched, copied and got wrong."""

    def __init__(self, status: int, output: str, errors: str, report: dict):
        self.status, self.output, self.errors, self.report = status, output, errors, report

    @property
    def launches(self) -> list[dict]:
        """A row a launch, in order: kernel, grid, block, cycles, time_us, findings ..."""
        return self.report.get("launches", [])

    @property
    def time_us(self) -> float:
        """Of all launches together, simulated."""
        return sum(float(one.get("time_us") or 0) for one in self.launches)

    def to_pandas(self):
        from ._result import _pandas

        return _pandas().DataFrame(self.launches)

    def _repr_html_(self) -> str:
        import html

        rows = "".join(f"<tr><td style='text-align:left'>{html.escape(str(one.get('kernel')))}</td><td>{one.get('grid')}</td><td>{one.get('block')}</td>"
                       f"<td>{float(one.get('time_us') or 0):,.3f}</td></tr>" for one in self.launches[:20])
        more = f"<div>{len(self.launches) - 20} more in .launches</div>" if len(self.launches) > 20 else ""
        return (f"<div>{html.escape(repr(self)[1:-1])}<table><tr><th>kernel</th><th>grid</th><th>block</th><th>µs (simulated)</th></tr>{rows}</table>{more}</div>")

    def __repr__(self) -> str:
        kinds = len({one.get("kernel") for one in self.launches})
        return f"<lockstep program: status {self.status}, {kinds} kernel{'s' if kinds != 1 else ''}, {self.time_us:.2f} µs on the GPU (simulated)>"


def run_program(source: Union[str, os.PathLike], *arguments: Any, gpu: str = "v100", check: str = "", compiler: str = "", options: Iterable[str] = (),
                stdin: str = "", echo: bool = True) -> Program:
    """Run a whole CUDA program, main() and all, on a modelled GPU.

    source: its text, or the path of a .cu file. arguments: what main() gets. options: words of `lockstep run`.
    echo: what it prints is shown while it runs.
    """
    text = source if isinstance(source, str) and "\n" in source else None
    with tempfile.TemporaryDirectory(prefix="lockstep-") as folder:
        if text is not None:
            path = pathlib.Path(folder) / "program.cu"
            path.write_text(text, encoding="utf-8")
        else:
            path = pathlib.Path(source)
            if not path.exists():
                raise Error(f"there is no file '{path}'")
        report = pathlib.Path(folder) / "report.json"
        words = ["run", str(path), "--gpu", gpu, "--json", str(report)]
        words += ["--check", check] if check else []
        words += ["--compiler", compiler] if compiler else []
        words += list(options) + ["--"] + [str(a) for a in arguments]
        hidden = folder + os.sep if text is not None else ""
        status, out, err = _run(words, stdin, echo, hidden)
        found = json.loads(report.read_text(encoding="utf-8").replace(hidden, "")) if report.exists() else {}
        if not found and status in (2, 3):
            raise _refusal(status, out, err)
        return Program(status, out, err, found)
