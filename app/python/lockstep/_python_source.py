"""Where a Python function stands: the whole text of its file or cell, so that lines in reports are those of the text."""
from __future__ import annotations

import linecache
import os
import re


def text_of(function) -> tuple[str, str]:
    """The text, and what it is called: the file's name, or "cell.py" of a notebook."""
    file = function.__code__.co_filename
    text = "".join(linecache.getlines(file))
    if not text and os.path.exists(file):
        with open(file, encoding="utf-8", errors="replace") as source:
            text = source.read()
    in_cell = "ipykernel" in file or file.startswith("<")
    return text, "cell.py" if in_cell else os.path.basename(file)


def with_file(ptx: str, function, name: str) -> str:
    """PTX whose .file line of the function's own file calls it so."""
    path = re.escape(function.__code__.co_filename)
    return re.sub(rf'(\.file\s+\d+\s+)"{path}"', rf'\1"{name}"', ptx)
