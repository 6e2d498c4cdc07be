"""The interactive view: one page with its data inside, hover, zoom and a clock, which needs no server and no network."""
from __future__ import annotations

import base64
import html
import json
import os
import pathlib
import uuid
from typing import TYPE_CHECKING

from . import _core
from ._errors import Error

if TYPE_CHECKING:
    from ._result import Result

MOST_SPANS = 300_000
"""Issues and waits that a page holds; of a longer trace it holds its first part, and says so."""


def _base64(values, kind: str) -> str:
    import numpy

    return base64.b64encode(numpy.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def page(result: "Result", theme: str = "auto") -> str:
    """The whole page as text."""
    import numpy

    trace = result.trace
    begin, end = (int(k) for k in trace.kept)
    issues, stalls = trace.issues, trace.stalls
    spans = len(issues.cycle) + len(stalls.begin)
    until = end
    if spans > MOST_SPANS:  # the first cycles that hold so many
        starts = numpy.sort(numpy.concatenate([issues.cycle, stalls.begin]))
        until = int(starts[MOST_SPANS])
    kept_issues = (issues.cycle >= begin) & (issues.cycle < until)
    kept_stalls = (stalls.begin < until) & (stalls.end > begin)
    source = result.source.split("\n")
    lines = trace.instructions.line
    data = {
        "title": result._title(),
        "kernel": result.kernel,
        "gpu": result.report["gpu_title"],
        "cycles": trace.cycles,
        "sm": trace.sm,
        "from": begin,
        "until": until,
        "schedulers": trace.schedulers,
        "reasons": [list(row) for row in _core.stall_reasons()],
        "levels": list(trace.levels),
        "warps": [[int(b), int(w), int(s), int(c), int(f), int(t)] for b, w, s, c, f, t in
                  zip(trace.warps.block, trace.warps.warp_in_block, trace.warps.slot, trace.warps.scheduler, trace.warps.begin, trace.warps.end)],
        "texts": trace.texts,
        "lines": [int(n) for n in lines],
        "stalled": [int(n) for n in trace.instructions.stalled],
        "issued": [int(n) for n in trace.instructions.issues],
        "sectors": [int(n) for n in trace.instructions.sectors],
        "requests": [int(n) for n in trace.instructions.requests],
        "source": source if len(source) < 4000 else [],
        "file": os.path.basename(result.report["file"]),
        "limit": result.limit,
        "findings": [[f.sentence, f.change, f.line] for f in result.findings[:3]],
        "i": {"n": int(kept_issues.sum()), "cycle": _base64(issues.cycle[kept_issues] - begin, "<i4"), "warp": _base64(issues.warp[kept_issues], "<u2"),
              "pc": _base64(issues.pc[kept_issues], "<u2"), "active": _base64(issues.active[kept_issues], "<u4"),
              "level": _base64(issues.level[kept_issues], "u1"), "sectors": _base64(issues.sectors[kept_issues], "u1"),
              "passes": _base64(issues.passes[kept_issues], "u1")},
        "s": {"n": int(kept_stalls.sum()), "begin": _base64(numpy.maximum(stalls.begin[kept_stalls], begin) - begin, "<i4"),
              "end": _base64(numpy.minimum(stalls.end[kept_stalls], until) - begin, "<i4"), "warp": _base64(stalls.warp[kept_stalls], "<u2"),
              "reason": _base64(stalls.reason[kept_stalls], "u1"), "pc": _base64(stalls.pc[kept_stalls], "<u2")},
    }
    template = (pathlib.Path(_core.resource_root()) / "assets" / "page" / "run.html").read_text(encoding="utf-8")
    return template.replace("__THEME__", theme).replace("__TITLE__", html.escape(data["title"])).replace(
        "__DATA__", json.dumps(data).replace("</", "<\\/"))


class Interactive:
    """The warps of one SM with hover, zoom and a clock. A notebook shows it inline; ``save("run.html")`` makes a file."""

    def __init__(self, result: "Result", theme: str = "auto", height: int = 720):
        if theme not in ("auto", "light", "dark"):
            raise Error(f"the theme of a page is auto, light or dark, not '{theme}'")
        self.result, self.theme, self.height = result, theme, height
        self._page = page(result, theme)

    @property
    def page(self) -> str:
        return self._page

    def save(self, file: str | os.PathLike) -> None:
        name = os.fspath(file)
        if not name.endswith((".html", ".htm")):
            raise Error(f"a page is saved as F.html, not '{name}'")
        with open(name, "w", encoding="utf-8") as out:
            out.write(self._page)

    def _repr_html_(self) -> str:
        mark = "ls" + uuid.uuid4().hex[:8]
        return (f"<style>.{mark}{{display:none}}</style><div class=\"{mark}\">The interactive view is shown in a notebook that is trusted: run "
                "this cell, or File, Trust Notebook.</div>"
                f"<iframe srcdoc=\"{html.escape(self._page, quote=True)}\" title=\"{html.escape(self.result._title())}\" "
                f"style=\"width:100%;height:{self.height}px;border:0\"></iframe>")

    def __repr__(self) -> str:
        return f"<interactive view of {self.result._title()}; .save('run.html') makes a file of it>"
