"""Pictures that a notebook shows inline: PNG, light or dark as the notebook is."""
from __future__ import annotations

import base64
import html
import os
import uuid
from typing import TYPE_CHECKING, Callable

from . import _core
from ._errors import Error

if TYPE_CHECKING:
    from ._result import Result


def both_schemes(light: bytes, dark: bytes, alt: str, width: int) -> str:
    """Two pictures of which a page shows the one for its scheme: Jupyter's, VS Code's, Colab's, else the browser's."""
    mark = "ls" + uuid.uuid4().hex[:8]
    # A page that takes styles away, as of a notebook that is not trusted, shows the light one.
    dark_pages = ['body[data-jp-theme-light="false"]', "body.vscode-dark", "html[theme=dark]"]
    plain = "body:not([data-jp-theme-light]):not([class*=vscode])"
    swap = lambda where: f"{where} .{mark} .l{{display:none!important}}{where} .{mark} .d{{display:block!important}}"
    picture = '<img class="{}" alt="{}" style="display:{};max-width:100%;width:{}px" src="data:image/png;base64,{}">'

    def tag(name: str, shown: str, data: bytes) -> str:
        return picture.format(name, html.escape(alt, quote=True), shown, width, base64.b64encode(data).decode())

    return (f'<style>{"".join(swap(where) for where in dark_pages)}@media(prefers-color-scheme:dark){{{swap(plain)}}}</style>'
            f'<div class="{mark}">{tag("l", "block", light)}{tag("d", "none", dark)}</div>')


class Still:
    """A picture: ``png()`` is its bytes, ``save("F.png")`` writes them, ``words`` says the same as text."""

    def __init__(self, draw: Callable[[str], bytes], alt: str, theme: str, width: int):
        self._draw, self._alt, self.theme, self.width = draw, alt, theme, width
        self._drawn: dict[str, bytes] = {}

    def png(self, theme: str = "") -> bytes:
        theme = theme or ("light" if self.theme == "auto" else self.theme)
        if theme not in self._drawn:
            self._drawn[theme] = self._draw(theme)
        return self._drawn[theme]

    def save(self, file: str | os.PathLike) -> None:
        name = os.fspath(file)
        if not name.endswith(".png"):
            raise Error(f"a picture is saved as F.png, not '{name}'")
        with open(name, "wb") as out:
            out.write(self.png())

    def _repr_png_(self) -> bytes:
        return self.png()

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {"image/png": base64.b64encode(self.png()).decode(), "text/plain": repr(self)}
        if self.theme == "auto":
            bundle["text/html"] = both_schemes(self.png("light"), self.png("dark"), self._alt, self.width)
        return bundle, {"image/png": {"width": self.width}}


class Picture(Still):
    """A view of a result."""

    def __init__(self, result: "Result", view: str, *, theme: str, width: int, height: int, scale: float, cycle: int, warp: int):
        self.result, self.view = result, view
        self._place = (cycle, warp)
        native = result._run()
        known = dict(_core.views())
        if view not in known:  # refused here, not when the notebook draws it
            native.png(view, width, height, scale, "light", cycle, warp)
        super().__init__(lambda named: native.png(view, width, height, scale, named, cycle, warp),
                         f"{known.get(view, view)}: {result._title()}", theme, width)
        if theme != "auto":
            self.png()

    @property
    def words(self) -> str:
        """What the picture says, as text."""
        return self.result._run().words(self.view, *self._place)

    def __repr__(self) -> str:
        return f"<{self._alt}>"
