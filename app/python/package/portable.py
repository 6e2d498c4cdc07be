#!/usr/bin/env python3
"""Builds the package for machines other than this one: for every Linux from glibc 2.28 on, x86-64 or aarch64, or for Windows.

    portable.py TARGET BUILD [--step libraries|configure|build] [NINJA ARGUMENTS...]
        TARGET: x86-64, aarch64 or windows. BUILD/TARGET/package is the assembled package afterwards.

The compiler is the clang of the PyPI package ziglang, which has the headers of every glibc and of mingw-w64 and its own
libc++, linked statically; the libraries are Debian's source packages (libraries/CMakeLists.txt). Nothing here runs what it
has built, so the building machine may be another one. `./dev wheel TARGET` calls it and makes the wheel.
"""
from __future__ import annotations

import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile
import urllib.request

here = pathlib.Path(__file__).resolve().parent
root = here.parents[2]
GLIBC = "2.28"
ZIG = "0.17.1"
TARGETS = {  # name: zig's target, CMake's system and processor
    "x86-64": (f"x86_64-linux-gnu.{GLIBC}", "Linux", "x86_64"),
    "aarch64": (f"aarch64-linux-gnu.{GLIBC}", "Linux", "aarch64"),
    "windows": ("x86_64-windows-gnu", "Windows", "AMD64"),
}
ARCHIVE = "https://deb.debian.org/debian/pool/main/"
SOURCES = {  # of Debian 12: file below ARCHIVE, and its SHA-256 as Debian's list of sources has it
    "z/zlib/zlib_1.2.13.dfsg.orig.tar.bz2": "71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1",
    "libz/libzstd/libzstd_1.5.4+dfsg2.orig.tar.xz": "8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953",
    "m/md4c/md4c_0.4.8.orig.tar.gz": "4a457df853425b6bb6e3457aa1d1a13bccec587a04c38c622b1013a0da41439f",
    "f/freetype/freetype_2.12.1+dfsg.orig.tar.xz": "7dedb6b9adf331559daea614a83b8de42a753e685ec8e1c4bdb4529eb880b0d1",
    "f/fmtlib/fmtlib_9.1.0+ds1.orig.tar.gz": "84ce1c2d0be3a9863935137969dcec6970125caac032f82474640bfc81463583",
    "i/imgui/imgui_1.86+ds.orig.tar.xz": "0dace0e8e57d298eb6e93af12dc19420cb96330832f6495c733b90aeeef11f64",
}
LICENSES = {  # of all that is inside of a wheel: below the sources, zig's folder, or where Debian has those of headers
    "fmt": "fmtlib-9.1.0+ds1/LICENSE.rst", "zlib": "zlib-1.2.13.dfsg/LICENSE", "zstd": "zstd-1.5.4/LICENSE",
    "md4c": "md4c-release-0.4.8/LICENSE.md", "freetype": "freetype-2.12.1/docs/FTL.TXT", "imgui": "imgui-1.86/LICENSE.txt",
    "libcxx": "lib/libcxx/LICENSE.TXT", "libcxxabi": "lib/libcxxabi/LICENSE.TXT", "libunwind": "lib/libunwind/LICENSE.TXT", "zig": "LICENSE",
    "nlohmann-json": "nlohmann-json3-dev/copyright", "cli11": "libcli11-dev/copyright",
    "tomlplusplus": "libtomlplusplus-dev/copyright", "stb": "libstb-dev/copyright",
}

# A compiler as CMake calls it. Zig precompiles what is told to be a header, and does not know clang's own words for that.
COMPILER = """#!/bin/sh
case " $* " in
*" -emit-pch "*)
    for word; do
        shift
        case "$word" in
        -c) ;;
        -emit-pch) set -- "$@" -fno-pch-timestamp ;;
        *) set -- "$@" "$word" ;;
        esac
    done
    ;;
esac
exec "{zig}" {words} "$@"
"""


def zig() -> pathlib.Path:
    try:
        import ziglang
    except ImportError:
        sys.exit(f"ziglang is missing: pip install ziglang=={ZIG}")
    return pathlib.Path(ziglang.__file__).parent / "zig"


def fetch_sources(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path, wanted in SOURCES.items():
        file = folder / path.rsplit("/", 1)[1]
        if not file.exists():
            with urllib.request.urlopen(ARCHIVE + path.replace("+", "%2b")) as answer:
                file.write_bytes(answer.read())
        if (found := hashlib.sha256(file.read_bytes()).hexdigest()) != wanted:
            file.unlink()
            sys.exit(f"{file.name} is not what it should be: its SHA-256 is {found}, not {wanted}")
        done = folder / (file.name + ".unpacked")
        if not done.exists():
            with tarfile.open(file) as archive:
                archive.extractall(folder)
            done.touch()


def write(file: pathlib.Path, text: str, executable: bool = False) -> None:
    """Leaves a file alone that holds that already: nothing is built again for it."""
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    if executable:
        file.chmod(0o755)


def toolchain(target: str, folder: pathlib.Path) -> pathlib.Path:
    """A program for each tool, and the file that tells CMake of them."""
    triple, system, processor = TARGETS[target]
    tools = folder / "tools"
    for name in ("cc", "c++"):  # -s: no debug information, which nobody would get
        write(tools / name, COMPILER.format(zig=zig(), words=f"{name} -target {triple} -fno-sanitize=all -s"), executable=True)
    for name in ("ar", "ranlib"):
        write(tools / name, f'#!/bin/sh\nexec "{zig()}" {name} "$@"\n', executable=True)
    # CMake calls it as it does windres, which ends in SOURCE OBJECT, or Microsoft's rc, which ends in /fo OBJECT SOURCE.
    write(tools / "rc", f'''#!/bin/sh
while [ $# -gt 3 ]; do shift; done
if [ "$1" = /fo ]; then object=$2 source=$3; else object=$3 source=$2; fi
exec "{zig()}" rc /:target x64 /:output-format coff /fo "$object" "$source"
''', executable=True)
    prefix = folder / "prefix"
    file = folder / "toolchain.cmake"
    write(file, f"""set(CMAKE_SYSTEM_NAME {system})
set(CMAKE_SYSTEM_PROCESSOR {processor})
set(CMAKE_C_COMPILER {tools}/cc)
set(CMAKE_CXX_COMPILER {tools}/c++)
set(CMAKE_AR {tools}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB {tools}/ranlib CACHE FILEPATH "")
set(CMAKE_RC_COMPILER {tools}/rc)
set(CCACHE OFF CACHE FILEPATH "")  # zig keeps what it has compiled
set(CMAKE_FIND_ROOT_PATH {prefix})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
""")
    return file


def gather_licenses(folder: pathlib.Path, sources: pathlib.Path) -> None:
    places = (sources, zig().parent, pathlib.Path("/usr/share/doc"))
    for name, path in LICENSES.items():
        found = next((place / path for place in places if (place / path).is_file()), None)
        if not found:
            sys.exit(f"the license of {name} is nowhere: no {path}")
        write(folder / name, found.read_text(encoding="utf-8", errors="replace"))


def run(*words: object, **more: str) -> None:
    subprocess.run([str(w) for w in words], check=True, env={**os.environ, **more})


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("target", choices=TARGETS)
    arguments.add_argument("build", type=pathlib.Path)
    arguments.add_argument("--step", choices=("libraries", "configure", "build"), default="build", help="how far: as far as that")
    arguments.add_argument("ninja", nargs="*", help="arguments of ninja, after --")
    asked = arguments.parse_args()
    folder = asked.build.resolve() / asked.target
    sources, prefix = asked.build.resolve() / "sources", folder / "prefix"
    fetch_sources(sources)
    gather_licenses(asked.build.resolve() / "licenses", sources)
    chain = toolchain(asked.target, folder)
    zigs = {"ZIG_GLOBAL_CACHE_DIR": str(asked.build.resolve() / "zig"), "ZIG_LOCAL_CACHE_DIR": str(asked.build.resolve() / "zig")}
    common = ["-G", "Ninja", f"-DCMAKE_TOOLCHAIN_FILE={chain}", "-DCMAKE_BUILD_TYPE=Release"]
    jobs = asked.ninja or ["-k", "5"]

    libraries = folder / "libraries"
    if not (libraries / "done").exists():
        run("cmake", "-S", here / "libraries", "-B", libraries, *common, f"-DSOURCES={sources}", f"-DCMAKE_INSTALL_PREFIX={prefix}", **zigs)
        run("cmake", "--build", libraries, "--target", "install", **zigs)
        (libraries / "done").touch()
    if asked.step == "libraries":
        return
    only_those = {"PKG_CONFIG_LIBDIR": str(prefix / "lib/pkgconfig"), "PKG_CONFIG_PATH": ""}
    if not (folder / "engine/build.ninja").exists():
        run("cmake", "-S", root, "-B", folder / "engine", *common, "-DLOCKSTEP_PYTHON=ON", "-DLOCKSTEP_OPENGL=OFF", "-DLOCKSTEP_ONEDNN=OFF", "-DLOCKSTEP_TESTS=OFF",
            "-DLOCKSTEP_UNITY=ON", "-DLOCKSTEP_PRECOMPILE=ON", "-DCMAKE_CXX_VISIBILITY_PRESET=hidden",
            "-DCMAKE_VISIBILITY_INLINES_HIDDEN=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON", f"-DPython_EXECUTABLE={sys.executable}", **zigs, **only_those)
    if asked.step == "configure":
        return
    run("cmake", "--build", folder / "engine", "--", *(asked.ninja or ["-k", "5", "python_package"]), **zigs, **only_those)


if __name__ == "__main__":
    main()
