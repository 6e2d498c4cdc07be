"""JSON documents of results: written one row a line, compared number by number."""
import json
import math


def text_of(document):
    """One line a key, and one a row where the value is a list of objects."""
    lines = []
    for key, value in document.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines.append(f'"{key}": [\n' + ",\n".join(json.dumps(row, allow_nan=False) for row in value) + "\n]")
        else:
            lines.append(f'"{key}": ' + json.dumps(value, allow_nan=False))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def difference(now, then):
    """The largest difference, relative to max(1, |value|); infinite where the documents do not match. `made_by` does not count."""
    if isinstance(now, dict) and isinstance(then, dict):
        if (now.keys() | {"made_by"}) != (then.keys() | {"made_by"}):
            return math.inf
        return max((difference(now[k], then[k]) for k in now if k != "made_by"), default=0.0)
    if isinstance(now, (list, tuple)) and isinstance(then, list):
        if len(now) != len(then):
            return math.inf
        return max((difference(a, b) for a, b in zip(now, then)), default=0.0)
    if isinstance(now, (int, float)) and isinstance(then, (int, float)):
        return 0.0 if now == then else abs(now - then) / max(1, abs(then))
    return 0.0 if now == then else math.inf
