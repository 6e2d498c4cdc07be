"""`lockstep.train` and `lockstep.plan`: training runs whose loss really goes down, and steps of many GPUs that are planned."""
from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from ._errors import Error
from ._program import _refusal, _run, command

if TYPE_CHECKING:
    import pandas


def _words(options: dict[str, Any]) -> list[str]:
    """zero=1, sequence_parallel=True -> --zero 1 --sequence-parallel."""
    words = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + name.rstrip("_").replace("_", "-"))
        if value is not True:
            words += [str(one) for one in value] if isinstance(value, (list, tuple)) else [str(value)]
    return words


class Training:
    """A training run. ``steps`` is a list of dicts, one a step: step, loss, train_accuracy, seconds ...; ``loss`` the losses."""

    def __init__(self, model: str, steps: list[dict], said: str = ""):
        self.model, self.steps, self.said = model, steps, said

    @property
    def loss(self) -> list[float]:
        """By step, executed."""
        return [float(one["loss"]) for one in self.steps if one.get("loss") is not None]

    @property
    def test_accuracy(self) -> float:
        """Share of the test set that is right at the end, 0 to 1; NaN: the model has none."""
        found = [one["test_accuracy"] for one in self.steps if one.get("test_accuracy") is not None]
        return float(found[-1]) if found else math.nan

    def to_pandas(self) -> "pandas.DataFrame":
        from ._result import _pandas

        return _pandas().DataFrame(self.steps).set_index("step")

    def show(self, step: int = 0, *, theme: str = "auto", width: int = 1160, height: int = 760):
        """The Training workspace at a step of this model: its autograd graph, kernels and curves. 0: after ten steps."""
        from ._lessons import app_picture

        words = ["--model", self.model] + (["--step", str(step)] if step else [])
        return app_picture(words, f"{self.model}: a training step", theme, width, height)

    def __repr__(self) -> str:
        if not self.loss:
            return f"<lockstep training of {self.model}: {len(self.steps)} rows>"
        accuracy = f", test accuracy {100 * self.test_accuracy:.1f} %" if not math.isnan(self.test_accuracy) else ""
        return f"<lockstep training of {self.model}: {len(self.steps)} step{'s' if len(self.steps) != 1 else ''}, loss {self.loss[0]:.4f} to {self.loss[-1]:.4f}{accuracy} (executed)>"

    def _repr_html_(self) -> str:
        import html

        loss = self.loss
        if len(loss) < 2:
            return html.escape(repr(self))
        w, h, low, high = 560, 150, min(loss), max(loss)
        span = (high - low) or 1.0
        points = " ".join(f"{50 + k * (w - 60) / (len(loss) - 1):.1f},{10 + (high - v) / span * (h - 40):.1f}" for k, v in enumerate(loss))
        return (f"<div style='font-family:sans-serif'><div>{html.escape(repr(self)[1:-1])}</div>"
                f"<svg role='img' aria-label='{html.escape(repr(self)[1:-1])}' width='{w}' height='{h}' style='max-width:100%'>"
                f"<g fill='none' stroke='currentColor' opacity='.4'><path d='M50 10V{h - 30}H{w - 10}'/></g>"
                f"<polyline fill='none' stroke='#0072b2' stroke-width='2' points='{points}'/><g fill='currentColor' font-size='12'>"
                f"<text x='46' y='16' text-anchor='end'>{high:.3g}</text><text x='46' y='{h - 30}' text-anchor='end'>{low:.3g}</text>"
                f"<text x='50' y='{h - 10}'>step 0</text><text x='{w - 10}' y='{h - 10}' text-anchor='end'>step {len(loss) - 1}</text>"
                f"<text x='{w // 2}' y='{h - 10}' text-anchor='middle'>loss, executed</text></g></svg></div>")


def train(model: str = "mlp", *, steps: int | None = None, device: str = "host", batch: int | None = None, lr: float | None = None,
          **options: Any) -> Training:
    """Train a model of Lockstep's engine: mlp, lenet5, resnet8, rnn, lstm, gpt, llama, gan, gcn, policy, kmeans ...

    device: "host", or a modelled GPU, "sim:v100": each kernel of the step runs from its PTX and is timed.
    options: those of `lockstep train`, underscores for dashes: ``optimizer="adam"``, ``mode="fused"``, ``dp=2, zero=1``,
        ``functional=True``, ``dtype="bf16"``.
    """
    words = ["train", "--model", model, "--device", device, *_words(dict(steps=steps, batch=batch, lr=lr, **options)), "--json", "-"]
    status, out, err = _run(words)
    if status != 0:
        raise _refusal(status, out, err)
    rows = []
    for line in out.splitlines():
        if line.startswith("{"):
            try:
                rows.append(json.loads(line))
            except ValueError:
                break
    if not rows:
        try:
            rows = [json.loads(out)]
        except ValueError:
            raise Error(f"`lockstep train` answered what is no JSON: {out[:200]}") from None
    return Training(model, rows, err)


class Plan(dict):
    """A planned step: a dict as `lockstep plan --json` has it; ``step_seconds``, ``mfu``, ``tokens_per_second``, ``fits``."""

    @property
    def step_seconds(self) -> float:
        return self["step_us"] / 1e6

    @property
    def mfu(self) -> float:
        """Share of the GPUs' peak that the model's own operations take, 0 to 1."""
        return self["mfu"]

    @property
    def tokens_per_second(self) -> float:
        return self["tokens_per_second"]

    @property
    def fits(self) -> bool:
        """Whether it fits into the GPUs' memory."""
        return self["fits"]

    @property
    def memory_gb(self) -> float:
        """Of the fullest GPU, GB."""
        return self["memory_bytes"]["total"] / 1e9

    def __repr__(self) -> str:
        if "step_us" not in self:
            return f"<lockstep plan: {', '.join(self)}>"
        return (f"<lockstep plan of {self['model']} on {self['gpus']} {self['gpu']}: {self.step_seconds:.3g} s a step, "
                f"{self.tokens_per_second:,.0f} tokens/s, MFU {100 * self.mfu:.1f} %, {self.memory_gb:.1f} GB a GPU"
                f"{'' if self.fits else ', which does not fit'} (derived)>")


def plan(model: str = "llama3-8b", *, gpu: str = "h100", batch: int = 64, **options: Any) -> Plan:
    """Plan a training step of many GPUs: how long it takes, what it holds, what crosses the network; derived, in a moment.

    options: those of `lockstep plan`: ``tp=8, pp=16, dp=64, schedule="interleaved", chunks=8, zero=2, seq=8192``,
        ``search=True, gpus=1024``.
    """
    return Plan(command("plan", "--model", model, "--gpu", gpu, "--batch", batch, *_words(options), json_answer=True))
