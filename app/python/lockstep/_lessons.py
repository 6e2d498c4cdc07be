"""`lockstep.lesson("A08")`: a lesson of the course in a notebook: its words, its pictures, and the figures that it asks for."""
from __future__ import annotations

import html
import os
import pathlib
import re
import tempfile
from typing import Any

from . import _core
from ._errors import Error
from ._picture import Still
from ._program import _refusal, _run, command


def app_picture(words: list[str], alt: str, theme: str, width: int, height: int) -> Still:
    """A picture of the app as `lockstep app --screenshot` draws it, without OpenGL."""

    def draw(named: str) -> bytes:
        with tempfile.TemporaryDirectory(prefix="lockstep-") as folder:
            file = pathlib.Path(folder) / "picture.png"
            status, out, err = _run(["app", *words, "--renderer", "cpu", "--theme", named, "--size", f"{width}x{height}", "--screenshot", str(file)])
            if status != 0:
                raise _refusal(status, out, err)
            return file.read_bytes()

    return Still(draw, alt, theme, width)


def lessons() -> dict[str, str]:
    """The lessons: from id to title."""
    found = {}
    for line in command("lesson", "list").splitlines():
        match = re.match(r"(\S+)\s+(.*?)\s{2,}part ", line)
        if match:
            found[match.group(1)] = match.group(2)
    return found


def _folder(id: str) -> pathlib.Path:
    root = pathlib.Path(_core.resource_root()) / "lessons"
    for folder in sorted(root.iterdir()):
        if folder.name.upper() == id.upper() or folder.name.upper().startswith(id.upper() + "_"):
            if (folder / "lesson.md").exists():
                return folder
    import difflib

    known = [f.name.split("_")[0] for f in root.iterdir() if (f / "lesson.md").exists()]
    near = difflib.get_close_matches(id.upper(), known, 1, 0.4)
    raise Error(f"there is no lesson '{id}'" + (f", did you mean '{near[0]}'?" if near else "; lockstep.lessons() lists them"))


class Lesson:
    """One lesson. In a notebook it shows its title and steps; ``show(step)`` is the picture, ``text(step)`` the words,
    ``kernels`` the sources, ``figures(step)`` what the engine computed, ``grade(source)`` judges a solution."""

    def __init__(self, id: str):
        self._path = _folder(id)
        self.id = self._path.name.split("_")[0]
        self._text = (self._path / "lesson.md").read_text(encoding="utf-8")
        self.title = self._front("title")
        self.question = self._front("question")
        self.gpu = self._front("gpu")
        self.steps = [m.group(1).strip() for m in re.finditer(r"^## ([^|\n]+)", self._text, re.M)]
        self._ran: dict | None = None

    def _front(self, name: str) -> str:
        match = re.search(rf'^{name}\s*=\s*"(.*)"\s*$', self._text, re.M)
        return match.group(1) if match else ""

    @property
    def kernels(self) -> dict[str, str]:
        """Sources of the lesson's kernels by the file's name: ``lockstep.compile`` takes them."""
        return {file.name: file.read_text(encoding="utf-8") for file in sorted(self._path.glob("*.cu"))}

    def text(self, step: int) -> str:
        """The words of a step, from 1, without its directives."""
        parts = re.split(r"^## [^\n]*\n", self._text, flags=re.M)
        if not 1 <= step < len(parts):
            raise Error(f"lesson {self.id} has the steps 1 to {len(parts) - 1}, not {step}")
        kept, inside = [], False
        for line in parts[step].splitlines():
            if line.startswith(":::"):
                inside = bool(re.match(r"::: (note|hint|predict|exercise)", line)) or (inside and line.strip() != ":::")
                continue
            if not inside:
                kept.append(line)
        return "\n".join(kept).strip()

    def show(self, step: int = 1, *, theme: str = "auto", width: int = 1160, height: int = 760) -> Still:
        """The step's picture as the app has it; step from 1."""
        if not 1 <= step <= len(self.steps):
            raise Error(f"lesson {self.id} has the steps 1 to {len(self.steps)}, not {step}")
        return app_picture(["--lesson", self.id, "--step", str(step)], f"{self.id} {self.title}, step {step}: {self.steps[step - 1]}",
                           theme, width, height)

    def figures(self, step: int = 1) -> dict[str, float]:
        """Figures of the step's run by their names: cycles, sectors_per_request ..."""
        if self._ran is None:
            self._ran = command("lesson", "run", self.id, json_answer=True)
        if not 1 <= step <= len(self._ran["steps"]):
            raise Error(f"lesson {self.id} has the steps 1 to {len(self._ran['steps'])}, not {step}")
        return dict(self._ran["steps"][step - 1].get("figures", {}))

    def grade(self, source: str, file: str = "") -> dict[str, Any]:
        """Judges a solution of the lesson's exercise: its outputs and its counters. A dict as `lockstep grade --format json`."""
        import json

        name = file or next((m.group(1) for m in re.finditer(r'::: exercise .*?file="([^"]+)"', self._text)), "kernel.cu")
        with tempfile.TemporaryDirectory(prefix="lockstep-") as folder:
            path = pathlib.Path(folder) / os.path.basename(name)
            path.write_text(source, encoding="utf-8")
            status, out, err = _run(["grade", "--lesson", self.id, "--submission", str(path), "--format", "json"])
            if status not in (0, 1) or not out.strip():
                raise _refusal(status, out, err)
            return json.loads(out)

    def __repr__(self) -> str:
        return f"<lockstep lesson {self.id}: {self.title}, {len(self.steps)} steps on {self.gpu}>"

    def _repr_html_(self) -> str:
        e = html.escape
        rows = "".join(f"<li>{e(step)}</li>" for step in self.steps)
        return (f"<div style='font-family:sans-serif;max-width:62em'><b>{e(self.id)} {e(self.title)}</b><div>{e(self.question)}</div><ol>{rows}</ol>"
                f"<div style='opacity:.75'><code>.show(step)</code> is a step's picture, <code>.text(step)</code> its words, "
                f"<code>.kernels</code> its sources.</div></div>")


def lesson(id: str) -> Lesson:
    """A lesson of the course by its id; ``lockstep.lessons()`` lists them."""
    return Lesson(id)
