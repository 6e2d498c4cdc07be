"""What came of a launch: cycles, metrics, findings, reports, the trace, and pictures of it."""
from __future__ import annotations

import ctypes
import html
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterator, Sequence

from . import _core
from ._arrays import again
from ._errors import Error

if TYPE_CHECKING:
    import numpy
    import pandas

    from ._html import Interactive
    from ._picture import Picture

MOST_PICKLED = 16 << 20
"""Bytes of arrays that a pickled result carries, so that it can be shown where it is opened."""


def _number(value: Any) -> float:
    return float(value) if value is not None else math.nan


class Metrics(Mapping):
    """Counters and ratios of a launch by Nsight Compute's names; short names ("sectors_per_request") are taken as well.

    A mapping from name to float. ``unit(name)`` says what it is in; ``to_pandas()`` is a table of all.
    """

    def __init__(self, values: dict[str, Any], units: dict[str, str], short: dict[str, str]):
        self._values = {name: _number(value) for name, value in values.items()}
        self._units, self._short = units, short

    def _full(self, name: str) -> str:
        if name in self._values:
            return name
        if name in self._short:
            return self._short[name]
        import difflib

        near = difflib.get_close_matches(name, list(self._short) + list(self._values), 1, 0.5)
        raise KeyError(f"there is no metric '{name}'" + (f", did you mean '{near[0]}'?" if near else ""))

    def __getitem__(self, name: str) -> float:
        return self._values[self._full(name)]

    def __contains__(self, name: object) -> bool:
        return name in self._values or name in self._short

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def unit(self, name: str) -> str:
        return self._units[self._full(name)]

    @property
    def short_names(self) -> dict[str, str]:
        """From the short names to Nsight's."""
        return dict(self._short)

    def to_pandas(self) -> "pandas.DataFrame":
        """A row a metric: name, value, unit, short."""
        pandas = _pandas()
        back = {full: short for short, full in self._short.items()}
        rows = [(name, value, self._units[name], back.get(name, "")) for name, value in self._values.items()]
        return pandas.DataFrame(rows, columns=["name", "value", "unit", "short"]).set_index("name")

    def __repr__(self) -> str:
        return f"<lockstep.Metrics of {len(self)} counters: {', '.join(list(self._short)[:4])} ...>"

    def _repr_html_(self) -> str:
        back = {full: short for short, full in self._short.items()}
        rows = "".join(f"<tr><td style='text-align:left'>{html.escape(back.get(n, n))}</td><td>{v:,.6g}</td>"
                       f"<td style='text-align:left'>{html.escape(self._units[n])}</td></tr>" for n, v in self._values.items())
        return f"<div style='max-height:24em;overflow:auto'><table><tr><th>metric</th><th>value</th><th>unit</th></tr>{rows}</table></div>"


def _pandas():
    try:
        import pandas
    except ImportError:
        raise Error("to_pandas() needs the package pandas: pip install pandas") from None
    return pandas


@dataclass(frozen=True)
class Finding:
    """What limits a launch: what is so, the evidence, what to change, and what that would gain."""

    rule: str
    sentence: str
    evidence: str
    change: str
    file: str = ""
    line: int = 0
    more_lines: tuple = ()
    gain: float | None = None
    """Share of the launch's cycles that the change saves, 0 to 1; None: not known."""
    gain_is: str = "derived"
    """"simulated" (the launch again with that one thing idealised) or "derived" (a formula over counters)."""
    what_if: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else ""
        gain = f"\n   saves about {100 * self.gain:.0f} % ({self.gain_is}); {self.evidence}" if self.gain is not None else ""
        return f"{place}{self.sentence}{gain}\n   {self.change}"


@dataclass(frozen=True)
class Report:
    """What a checker found: a race, an unset value, an access out of bounds."""

    kind: str
    message: str
    advice: str = ""
    file: str = ""
    line: int = 0
    block: tuple = (0, 0, 0)
    thread: tuple = (0, 0, 0)
    address: str = ""
    warning: bool = False
    text: str = field(default="", repr=False)

    def __str__(self) -> str:
        return self.text or f"{self.file}:{self.line}: {self.kind}: {self.message}"


class _List(list):
    """A list that is said in whole sentences."""

    def __str__(self) -> str:
        return "\n".join(f"{k + 1}. {one}" for k, one in enumerate(self)) or "nothing"

    def _repr_html_(self) -> str:
        return "<ol>" + "".join(f"<li style='white-space:pre-wrap'>{html.escape(str(one))}</li>" for one in self) + "</ol>" if self else "nothing"


class Columns(Mapping):
    """Columns of a trace: a mapping from name to a numpy array; ``to_pandas()`` is a table."""

    def __init__(self, columns: dict[str, "numpy.ndarray"]):
        self._columns = columns

    def __getitem__(self, name: str) -> "numpy.ndarray":
        return self._columns[name]

    def __getattr__(self, name: str) -> "numpy.ndarray":
        try:
            return self.__dict__["_columns"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def to_pandas(self) -> "pandas.DataFrame":
        return _pandas().DataFrame(self._columns)

    def __repr__(self) -> str:
        first = next(iter(self._columns.values()), ())
        return f"<{len(first)} rows of {', '.join(self._columns)}>"


class Trace:
    """Every issue and every wait of one SM, and where and when each block ran. Times are cycles of the launch.

    ``warps``: block, warp_in_block, slot, scheduler, begin, end. ``issues``: cycle, ready, warp (row of ``warps``), pc, line,
    active (bits of lanes), level (``levels``), sectors, passes. ``stalls``: warp, begin, end, reason (``reasons``), pc, cause
    (row of ``issues``, -1: none). ``blocks``: block, sm, slot, begin, end, of all SMs. ``instructions``: by pc, of the whole
    launch: line, issues, lanes, requests, sectors, shared_passes, stalled; ``texts`` are their words.
    """

    levels = ("none", "constant", "shared", "l1", "l2", "dram")

    def __init__(self, native):
        self._native = native
        all_ = native.trace()
        self.warps, self.issues = Columns(all_["warps"]), Columns(all_["issues"])
        self.stalls, self.blocks = Columns(all_["stalls"]), Columns(all_["blocks"])
        self.cycles: int = all_["cycles"]
        self.sm: int = all_["sm"]
        self.schedulers: int = all_["schedulers"]
        self.truncated: bool = all_["truncated"]
        self.kept: tuple[int, int] = tuple(all_["kept"])
        instructions = native.instructions()
        self.texts: list[str] = instructions.pop("text")
        self.instructions = Columns(instructions)
        self.reasons = tuple(name for name, *_ in _core.stall_reasons())

    def save(self, file: str | os.PathLike) -> None:
        """F.json (Perfetto), F.csv or F.txt."""
        self._native.save_trace(os.fspath(file))

    def __repr__(self) -> str:
        return f"<lockstep.Trace of SM {self.sm}: {len(self.warps.block)} warps, {len(self.issues.cycle)} issues in {self.cycles} cycles>"


class Result:
    """One launch that has run. Pickles: a copy knows all numbers, and is simulated again where it is shown.

    Attributes: ``cycles`` (None of functional launches), ``time_us`` (microseconds at the boost clock), ``metrics``,
    ``findings``, ``reports``, ``trace``, ``gpu``, ``kernel``, ``grid``, ``block``; ``report`` is all of it as
    `lockstep run --json` has it.
    """

    def __init__(self, report: dict, again: dict):
        self.report = report
        self._again = again
        self._native = None
        self._trace: Trace | None = None

    @classmethod
    def _of(cls, native, configured, how: dict, scalars: list) -> "Result":
        again = dict(kernel=configured.kernel, grid=configured.grid, block=configured.block, how=how, scalars=scalars, arrays=None)
        result = cls(native.report(), again)
        result._native = native
        return result

    # ---- What it took.

    @property
    def cycles(self) -> int | None:
        """Cycles from the first to the last, simulated."""
        return self.report["cycles"]

    @property
    def time_us(self) -> float | None:
        """Microseconds: cycles at the GPU's boost clock."""
        return self.report["time_us"]

    @property
    def gpu(self) -> str:
        return self.report["gpu"]

    @property
    def kernel(self) -> str:
        return self.report["kernel"]

    @property
    def grid(self) -> tuple:
        return tuple(self.report["grid"])

    @property
    def block(self) -> tuple:
        return tuple(self.report["block"])

    @property
    def registers(self) -> int:
        """A thread."""
        return self.report["registers"]

    @property
    def occupancy(self) -> float:
        """Resident warps an SM, as a share of those it has room for."""
        return _number(self.report.get("occupancy", {}).get("fraction"))

    @property
    def metrics(self) -> Metrics:
        return Metrics(self.report["metrics"], self.report["units"], self.report["names"])

    @property
    def limit(self) -> str:
        """What the launch spends its time with, in a sentence."""
        return self.report.get("verdict", {}).get("limit", "")

    @property
    def findings(self) -> list[Finding]:
        """What limits it, the largest gain first."""
        return _List(Finding(**{**one, "more_lines": tuple(one["more_lines"])}) for one in self.report.get("verdict", {}).get("findings", []))

    @property
    def reports(self) -> list[Report]:
        """What the checkers found; a fault stands last. Warnings are in ``warnings``."""
        return _List(self._report(one, False) for one in self.report["diagnostics"])

    @property
    def warnings(self) -> list[Report]:
        return _List(self._report(one, True) for one in self.report["warnings"])

    @property
    def notes(self) -> list[str]:
        """What a real GPU of that generation would refuse, and what the checkers could not look at."""
        return self.report["notes"]

    @staticmethod
    def _report(one: dict, warning: bool) -> Report:
        return Report(one["kind"], one["message"], one["advice"], one["file"], one["line"], tuple(one["block"]), tuple(one["thread"]),
                      one["address"], warning, one["text"])

    @property
    def source(self) -> str:
        """The text that lines are counted in."""
        return self._again["kernel"].source

    # ---- The run itself: here, or simulated again.

    def _arrays(self):
        """What the arrays held before, merged where they overlap: (address, bytes) and, by argument, where each lies."""
        native = self._native
        spans = sorted((address, bytes_, k) for k, (_, address, bytes_, _, _) in enumerate(native.arguments) if address)
        if sum(size for _, size, _ in spans) > MOST_PICKLED:
            return None
        places: list[Any] = [None] * len(native.arguments)
        pieces: list[list] = []
        for address, size, k in spans:
            held = native.before(k) or b""
            if size and len(held) != size:
                return None
            if pieces and address < pieces[-1][0] + len(pieces[-1][1]):
                piece = pieces[-1]
                end = address + size - piece[0] - len(piece[1])
                if end > 0:
                    piece[1] += held[-end:]
            else:
                pieces.append([address, bytearray(held)])
            _, _, _, dtype, shape = native.arguments[k]
            places[k] = (len(pieces) - 1, address - pieces[-1][0], size, dtype, list(shape))
        return [bytes(piece[1]) for piece in pieces], places

    def _run(self):
        if self._native is not None:
            return self._native
        if self._again["arrays"] is None:
            raise Error(f"this is a copy without the run's arrays, which were larger than {MOST_PICKLED >> 20} MiB: "
                        "its numbers are here, its pictures where it ran")
        contents, places = self._again["arrays"]
        buffers = [ctypes.create_string_buffer(one, max(1, len(one))) for one in contents]
        prepared = []
        for place, scalar in zip(places, self._again["scalars"]):
            if place is None:
                prepared.append(scalar)
            else:
                piece, at, size, dtype, shape = place
                prepared.append(("array", ctypes.addressof(buffers[piece]) + at, size, dtype, shape, True))
        how = self._again["how"]
        symbols = {}
        for name, value in how["symbols"].items():
            symbols[name], buffer = again(value)
            buffers.append(buffer)
        self._native = _core.launch(self._again["kernel"]._native, self._again["grid"], self._again["block"], prepared, how["shared"],
                                    how["gpu"], how["check"], how["functional"], True, how["sm"], how["order"], how["seed"],
                                    how["max_instructions"], "none", how["cluster"], symbols)
        return self._native

    def __getstate__(self):
        arrays = self._arrays() if self._native is not None else self._again["arrays"]
        return {"report": self.report, "again": {**self._again, "arrays": arrays}}

    def __setstate__(self, state):
        self.__init__(state["report"], state["again"])

    @property
    def trace(self) -> Trace:
        """Every issue and wait of one SM."""
        if self._trace is None:
            if self.cycles is None:
                raise Error("a functional launch has no trace: leave functional=True out")
            self._trace = Trace(self._run())
            if not len(self._trace.warps["block"]):
                raise Error("nothing was traced: the launch was made with trace=False, or this SM had no block")
        return self._trace

    # ---- Pictures.

    def show(self, view: str = "warps", *, theme: str = "auto", width: int = 1160, height: int = 760, scale: float = 1.0,
             cycle: int | None = None, warp: int | None = None, interactive: bool = False) -> "Picture | Interactive":
        """A picture of the run, which a notebook shows inline.

        view: ``lockstep.views()`` has the names: warps, sm, memory, machine, roofline, code, banks, coalesce ...
        theme: "light", "dark", "high-contrast", "print"; "auto": as the notebook is.
        width, height: pixels, 320x240 to 8192x8192. scale: of text, 0.75 to 2.5.
        cycle, warp: where the clock stands, and which warp is looked at (a row of ``trace.warps``).
        interactive: the warps as a page with hover, zoom and a clock, which needs no server.
        """
        if interactive:
            from ._html import Interactive

            return Interactive(self, theme=theme)
        if self.cycles is None:
            raise Error("a functional launch has no pictures: leave functional=True out")
        from ._picture import Picture

        return Picture(self, view, theme=theme, width=width, height=height, scale=scale, cycle=-1 if cycle is None else int(cycle),
                       warp=-1 if warp is None else int(warp))

    def html(self, theme: str = "auto") -> "Interactive":
        """``show(interactive=True)``: hover, zoom and scrub; ``.save("run.html")`` makes a file of its own."""
        return self.show(interactive=True, theme=theme)

    def compare(self, other: "Result") -> "Comparison":
        """This launch before, the other after: cycles, counters that changed, findings that are gone or new."""
        return Comparison(self, other)

    # ---- In words.

    def _title(self) -> str:
        r = self.report
        if self.cycles is None:
            return f"{r['kernel']}: {r['instructions']['warp']:,} warp instructions (executed)"
        return f"{r['kernel']} on {r['gpu_title']}: {self.cycles:,} cycles, {self.time_us:.2f} µs (simulated)"

    def __repr__(self) -> str:
        lines = [self._title()]
        lines += [f"  {one}" for one in list(self.reports)[:3] + list(self.warnings)[:2]]
        if self.limit:
            lines.append(f"  What limits it: {self.limit}")
        for k, finding in enumerate(self.findings[:3]):
            lines.append(f"  {k + 1}. " + str(finding).replace("\n", "\n  "))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        e = html.escape
        parts = [f"<div style='font-family:sans-serif;line-height:1.45;max-width:62em'><b>{e(self._title())}</b>"]
        if self.report.get("trust"):
            parts.append(f"<div style='opacity:.75'>{e(self.report['trust'])}</div>")
        for one in list(self.reports)[:5]:
            parts.append(f"<pre style='margin:.4em 0;white-space:pre-wrap;border-left:4px solid #d55e00;padding:.2em .6em'>{e(str(one))}</pre>")
        for one in list(self.warnings)[:3]:
            parts.append(f"<pre style='margin:.4em 0;white-space:pre-wrap;border-left:4px solid #e69f00;padding:.2em .6em'>{e(str(one))}</pre>")
        if self.limit:
            parts.append(f"<div style='margin:.4em 0'>What limits it: {e(self.limit)}</div><ol style='margin:0'>")
            for f in self.findings[:3]:
                place = f"<code>{e(os.path.basename(f.file))}:{f.line}</code> " if f.line else ""
                gain = f" <span style='opacity:.75'>Saves about {100 * f.gain:.0f} % ({e(f.gain_is)}).</span>" if f.gain is not None else ""
                parts.append(f"<li>{place}{e(f.sentence)}{gain} {e(f.change)}</li>")
            parts.append("</ol>")
        return "".join(parts) + "</div>"


class Comparison:
    """Two launches side by side: the first is before, the second after."""

    def __init__(self, before: Result, after: Result):
        self.before, self.after = before, after

    @property
    def speedup(self) -> float:
        """How many times as fast the second one is."""
        if not self.before.cycles or not self.after.cycles:
            return math.nan
        return self.before.time_us / self.after.time_us

    @property
    def gone(self) -> list[Finding]:
        """Findings of the first that the second no longer has."""
        rules = {f.rule for f in self.after.findings}
        return _List(f for f in self.before.findings if f.rule not in rules)

    @property
    def new(self) -> list[Finding]:
        rules = {f.rule for f in self.before.findings}
        return _List(f for f in self.after.findings if f.rule not in rules)

    def rows(self, least: float = 0.05) -> list[tuple[str, float, float, str]]:
        """(metric, before, after, unit) of what changed by at least that share, the largest change first."""
        before, after = self.before.metrics, self.after.metrics
        back = {full: short for short, full in before.short_names.items()}
        rows = []
        for name, value in before.items():
            other = after[name] if name in after else math.nan
            size = max(abs(value), abs(other))
            if size > 0 and abs(other - value) / size >= least:
                rows.append((abs(other - value) / size, back.get(name, name), value, other, before.unit(name)))
        return [row[1:] for row in sorted(rows, key=lambda row: (-row[0], row[1]))]

    def to_pandas(self, least: float = 0.0) -> "pandas.DataFrame":
        return _pandas().DataFrame(self.rows(least), columns=["metric", "before", "after", "unit"]).set_index("metric")

    def _title(self) -> str:
        a, b = self.before, self.after
        if a.cycles is None or b.cycles is None:
            return f"{a.kernel} and {b.kernel}: functional launches have no times"
        faster = self.speedup
        words = f"{faster:.2f} times as fast" if faster >= 1 else f"{1 / faster:.2f} times as slow"
        return f"{b.kernel} on {b.gpu}: {b.cycles:,} cycles after {a.cycles:,} of {a.kernel} on {a.gpu}, {words} (simulated)"

    def __repr__(self) -> str:
        lines = [self._title()]
        lines += [f"  {name}: {x:,.4g} -> {y:,.4g} {unit}" for name, x, y, unit in self.rows()[:12]]
        lines += [f"  gone: {f.sentence}" for f in self.gone] + [f"  new: {f.sentence}" for f in self.new]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        e = html.escape
        rows = "".join(f"<tr><td style='text-align:left'>{e(n)}</td><td>{x:,.4g}</td><td>{y:,.4g}</td><td style='text-align:left'>{e(u)}</td></tr>"
                       for n, x, y, u in self.rows()[:16])
        words = "".join(f"<li>gone: {e(f.sentence)}</li>" for f in self.gone) + "".join(f"<li>new: {e(f.sentence)}</li>" for f in self.new)
        return (f"<div style='font-family:sans-serif'><b>{e(self._title())}</b><table><tr><th>metric</th><th>before</th><th>after</th>"
                f"<th>unit</th></tr>{rows}</table><ul>{words}</ul></div>")
