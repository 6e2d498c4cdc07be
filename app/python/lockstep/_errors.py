"""What goes wrong, as exceptions. str(error) has the place and the caret, as the command line prints them."""
from __future__ import annotations


class Error(Exception):
    """Something that was given is wrong: one sentence, with the place where there is one.

    Attributes: ``message`` (the sentence), ``file``, ``line``, ``column`` (from 1; 0 where there is no place) and
    ``source_line`` (the line that the caret stands below).
    """

    message: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    source_line: str = ""

    def __init__(self, text: str = "", message: str = "", file: str = "", line: int = 0, column: int = 0, source_line: str = ""):
        super().__init__(text)
        self.message = message or text
        self.file, self.line, self.column, self.source_line = file, line, column, source_line

    def __reduce__(self):
        return type(self), (str(self), self.message, self.file, self.line, self.column, self.source_line)


class CompileError(Error):
    """The source does not compile: ``line``, ``column`` and the caret are of your own text."""


class MissingError(Error):
    """This machine lacks something, such as a compiler: the sentence says what to install."""


class KernelFault(Error):
    """The kernel did what stops a real one too: an access out of bounds, a dead-lock, a trap.

    ``result`` is the launch up to there, with ``result.reports``; it is None on a copy that was pickled without it.
    """

    result = None

    def __reduce__(self):
        return _fault, (super().__reduce__()[1], self.result)


def _fault(arguments, result):
    fault = KernelFault(*arguments)
    fault.result = result
    return fault


class ProgramError(Error):
    """The command line ended with another status than 0; ``status`` is that status and ``output`` what it said."""

    status: int = 1
    output: str = ""


def make(text, message, file, line, column, source_line, missing):
    """Called by the binding: the exception of a Failure."""
    if missing:
        kind = MissingError
    else:
        kind = CompileError if line > 0 else Error
    if text.startswith("error: "):
        text = text[len("error: "):]
    return kind(text, message, file, line, column, source_line)
