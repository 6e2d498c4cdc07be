"""What wheels are made of: the library's border, the pinned sources, and the archive itself. No wheel is built here."""
import base64
import csv
import hashlib
import importlib.util
import io
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

here = pathlib.Path(__file__).resolve().parents[1]
if not (here / "binding").exists():
    pytest.skip("the sources are elsewhere", allow_module_level=True)


def text(name):
    return (here / name).read_text(encoding="utf-8")


def test_the_library_shows_what_python_calls_and_nothing_else():
    declared = set(re.findall(r"^LOCKSTEP_SHOWN .*?(lockstep_\w+)\(", text("binding/library.h"), re.M))
    assert len(declared) == 7
    assert set(re.findall(r"lockstep_\w+", text("binding/library.map"))) == declared
    called = {f"lockstep_{name}" for name in re.findall(r'^    \("(\w+)", ', text("lockstep/_core.py"), re.M)}
    assert called | {"lockstep_start"} == declared


def test_python_calls_each_function_of_the_library():
    rows = set(re.findall(r'^    \{"(\w+)", \w+\},$', text("binding/functions.cpp"), re.M))
    called = set(re.findall(r'_call\("(\w+)"', text("lockstep/_core.py")))
    assert rows and rows == called


def script(name):
    spec = importlib.util.spec_from_file_location(name, here / f"package/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_source_is_pinned_and_used():
    portable = script("portable")
    libraries = text("package/libraries/CMakeLists.txt")
    for path, digest in portable.SOURCES.items():
        assert re.fullmatch(r"[0-9a-f]{64}", digest)
        version = re.search(r"_(\d+(\.\d+)+)", path).group(1)
        assert f"-{version}" in libraries, path
    assert f"ziglang=={portable.ZIG}" in text("package/requirements.txt")


@pytest.mark.parametrize("tag, libraries, words", [
    ("manylinux_2_17_x86_64", "The wheel requires no external shared libraries! :)", ""),
    ("manylinux_2_28_x86_64", "The wheel requires\nno external shared libraries! :)", ""),
    ("manylinux_2_35_x86_64", "The wheel requires no external shared libraries! :)", "needs glibc 2.35"),
    ("manylinux_2_17_aarch64", "The wheel requires no external shared libraries! :)", "is for aarch64"),
    ("manylinux_2_17_x86_64", "The following external shared libraries are required: libz.so.1", "do not come along"),
    ("linux_x86_64", "", "is for no manylinux"),
])
def test_a_wheel_that_asks_for_more_than_its_tag_is_found(tag, libraries, words):
    said = f'w.whl is\nconsistent with the following platform tag:\n"{tag}".\n{libraries}'
    wrong = script("audit").wrong_with("lockstep-1-py3-none-manylinux_2_28_x86_64.whl", said)
    assert words in wrong and bool(wrong) == bool(words)


@pytest.mark.parametrize("platform", ["linux_aarch64", "win_amd64"])
def test_a_wheel_is_for_every_python_of_its_platform(tmp_path, platform):
    package = tmp_path / "package/lockstep"
    (package / "bin").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "bin/lockstep").write_bytes(b"program")
    subprocess.run([sys.executable, here / "package/make_wheel.py", package.parent, tmp_path / "out", platform], check=True, capture_output=True)
    wheel, = (tmp_path / "out").iterdir()
    assert wheel.name.endswith(f"-py3-none-{platform}.whl")
    with zipfile.ZipFile(wheel) as archive:
        info = wheel.name.split("-py3")[0] + ".dist-info"
        recorded = {row[0]: row[1] for row in csv.reader(io.StringIO(archive.read(f"{info}/RECORD").decode()))}
        assert set(recorded) == set(archive.namelist())
        for name, digest in recorded.items():
            if digest:
                found = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).rstrip(b"=").decode()
                assert digest == f"sha256={found}", name
        assert archive.getinfo("lockstep/bin/lockstep").external_attr >> 16 & 0o111  # the program can be started
        assert f"Tag: py3-none-{platform}" in archive.read(f"{info}/WHEEL").decode()
        assert "Requires-Python: >=3.9" in archive.read(f"{info}/METADATA").decode()
