#!/usr/bin/env python3
"""Puts the package together: the Python files, what CMake has built, and what the engine reads (PTX, lessons, fonts).

    assemble.py BUILD FOLDER      BUILD/python -> FOLDER/lockstep, which `import lockstep` takes from PYTHONPATH
"""
import pathlib
import shutil
import sys

root = pathlib.Path(__file__).resolve().parents[3]
LEFT_OUT = {"reference", "tour.gif", "screenshot.png", "player", "__pycache__", "build_ptx"}


def copy(source: pathlib.Path, target: pathlib.Path) -> None:
    if source.name in LEFT_OUT or source.name.startswith("."):
        return
    if source.is_dir():
        for one in sorted(source.iterdir()):
            copy(one, target / one.name)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists() and target.stat().st_mtime >= source.stat().st_mtime and target.stat().st_size == source.stat().st_size:
        return
    shutil.copy2(source, target)


def main() -> None:
    build, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve() / "lockstep"
    made = build / "python"
    folder.mkdir(parents=True, exist_ok=True)
    copy(root / "app/python/lockstep", folder)
    for pattern in ("lockstep", "lockstep.exe", "liblockstep.so", "liblockstep.dll"):
        for file in (made / "bin").glob(pattern):
            copy(file, folder / "bin" / file.name)
    for file in (build / "runtime").glob("liblockstep_cudart.*"):
        if file.suffix in (".so", ".dll"):
            copy(file.resolve(), folder / "bin/runtime" / file.name)
    for name in ("kernels", "lessons", "assets"):
        copy(root / name, folder / "share/lockstep" / name)
    copy(root / "app/python/notebooks", folder / "notebooks")


if __name__ == "__main__":
    main()
