#!/usr/bin/env python3
"""Builds and runs CUDA programs of other people with `lockstep run`, and counts how they end.

    tests/programs/try.py [--seconds 60] [--compiler nvcc] [--include DIR] [--arguments FILE] PATH...

A PATH is a source file, or a folder whose sources are one program; it is built where it lies and runs in its folder. A
Makefile there with a line "source = ..." says which sources, with what -D, and whether device code is linked (-dc).
FILE has a line for each program that needs arguments, "name: words". A program that takes longer than --seconds is ended.
Nothing is written but the table on stdout: how a program ended, its name, the seconds, and what it said last.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

GOOD = re.compile(r"\b(pass(ed)?|success(ful(ly)?)?|correct|verified|match(es)?|ok)\b", re.I)
BAD = re.compile(r"\b(fail(ed|ure)?|mismatch|incorrect|wrong|not ?equal|error:)\b", re.I)
ENDS = ["passes", "ends well", "a kernel faults", "fails its check", "waives", "needs more than the runtime has", "does not build", "crashes",
        "takes too long"]


def makefile_of(path):
    makefile = path / "Makefile"
    return makefile.read_text(errors="replace").replace("\\\n", " ") if makefile.is_file() else ""


def sources_of(path):
    if path.is_file():
        return [path]
    named = re.search(r"^source\s*[:+]?=(.*)$", makefile_of(path), re.M)
    found = [path / word for word in named.group(1).split()] if named else []
    if found and all(p.is_file() for p in found):
        return found
    return sorted(p for p in path.iterdir() if p.suffix in (".cu", ".cpp", ".cc", ".c"))


def build_options(path):
    text = makefile_of(path)
    always = "\n".join(line for line in text.splitlines() if not line.startswith(" "))  # what is indented has a condition
    options = re.findall(r"(?<=\s)-D[\w=.]+", always)
    return options + (["--rdc"] if re.search(r"(?<=\s)(-dc|-rdc=true|--relocatable-device-code=true)\b", text) else [])


def verdict(status, out, err, faults=()):
    if status is None:
        return "takes too long"
    text = out + err
    if re.search(r"cudaErrorNotSupported|operation not supported", text):
        return "needs more than the runtime has"
    if status == 2 and re.search(r"\b(waiv|skipp)", text, re.I):
        return "waives"
    if status in (2, 3) and not out and re.search(r"(error|refused|no compiler|no such file)", err):
        return "does not build"
    if status >= 128:
        return "crashes"
    if status != 0 or (BAD.search(out) and not GOOD.search(out)):
        return "fails its check"
    if faults:
        return "a kernel faults"  # and the program did not look
    return "passes" if GOOD.search(out) else "ends well"


def run(command, folder, seconds):
    begin = time.monotonic()
    child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             start_new_session=True)
    try:
        out, err = child.communicate(timeout=seconds)
        status = child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        status = None
    return status, out.decode(errors="replace"), err.decode(errors="replace"), time.monotonic() - begin


def faults_of(report):
    try:
        return [f"{fault['file']}:{fault['line']}: {fault['message']}"
                for fault in json.loads(report.read_text())["diagnostics"]]
    except (OSError, ValueError, KeyError):
        return []


def last_line(out, err):
    lines = [line for line in (err or out).splitlines() if line.strip()] or [line for line in out.splitlines() if line.strip()]
    return lines[-1].strip()[:110] if lines else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--lockstep", default=str(here / "build" / "release" / "lockstep"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--compiler", default="")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--arguments")
    parser.add_argument("--options", default="--time first:1", help="of lockstep run")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    asked = parser.parse_args()
    words = {}
    if asked.arguments:
        for line in pathlib.Path(asked.arguments).read_text().splitlines():
            name, colon, rest = line.partition(":")
            if colon:
                words[name.strip()] = rest.split()
    counts = collections.Counter()
    for path in asked.paths:
        path = path.resolve()
        sources = sources_of(path)
        name = path.stem if path.is_file() else path.name
        if not any(s.suffix == ".cu" for s in sources):
            continue
        folder = path.parent if path.is_file() else path
        command = [asked.lockstep, "run", *map(str, sources), "-I", str(folder)]
        for include in asked.include:
            command += ["-I", str(pathlib.Path(include).resolve())]
        command += build_options(path)
        if asked.compiler:
            command += ["--compiler", asked.compiler]
        with tempfile.TemporaryDirectory() as reports:
            report = pathlib.Path(reports) / "report.json"
            command += [*asked.options.split(), "--report", "none", "--json", str(report), "--", *words.get(name, [])]
            status, out, err, seconds = run(command, folder, asked.seconds)
            faults = faults_of(report)
        end = verdict(status, out, err, faults)
        counts[end] += 1
        print(f"{end:<32} {name:<32} {seconds:6.1f} s  {'' if end in ENDS[:2] else (faults or [last_line(out, err)])[0]}", flush=True)
    total = sum(counts.values())
    print(f"\n{total} programs: " + ", ".join(f"{counts[end]} {end}" for end in ENDS if counts[end]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
