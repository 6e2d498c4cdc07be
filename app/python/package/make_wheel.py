#!/usr/bin/env python3
"""A wheel of the assembled package. Nothing in it knows CPython's interface (lockstep/_core.py calls the library by ctypes), so
one wheel is for every Python from 3.9 on. Whether it is for the systems of that platform, audit.py says.

    make_wheel.py FOLDER OUT PLATFORM [LICENSES]      FOLDER/lockstep -> OUT/lockstep-*-py3-none-PLATFORM.whl

LICENSES is a folder with those of the libraries that are inside.
"""
import base64
import hashlib
import pathlib
import re
import sys
import zipfile

root = pathlib.Path(__file__).resolve().parents[3]
version = re.search(r"project\(lockstep VERSION (\S+)", (root / "CMakeLists.txt").read_text()).group(1)

METADATA = f"""Metadata-Version: 2.1
Name: lockstep
Version: {version}
Summary: Run CUDA C++, Numba and Triton kernels without a GPU, and look inside
Requires-Python: >=3.9
Requires-Dist: numpy>=1.22
Provides-Extra: compiler
Requires-Dist: ziglang>=0.16; extra == "compiler"
Provides-Extra: notebook
Requires-Dist: jupyterlab; extra == "notebook"
Requires-Dist: pandas; extra == "notebook"
Provides-Extra: numba
Requires-Dist: numba-cuda[cu12]; extra == "numba"
Provides-Extra: triton
Requires-Dist: triton; extra == "triton"
Classifier: Programming Language :: Python :: 3
Classifier: Intended Audience :: Education
Description-Content-Type: text/markdown

"""


def main() -> None:
    folder, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    tag = f"py3-none-{sys.argv[3]}"
    info = f"lockstep-{version}.dist-info"
    texts = {
        f"{info}/METADATA": METADATA + (root / "app/python/README.md").read_text(encoding="utf-8"),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: lockstep\nRoot-Is-Purelib: false\nTag: {tag}\n",
        f"{info}/entry_points.txt": "[console_scripts]\nlockstep = lockstep.__main__:main\n",
        f"{info}/LICENSE": (root / "LICENSE").read_text(encoding="utf-8"),
    }
    for file in sorted(pathlib.Path(sys.argv[4]).iterdir()) if len(sys.argv) > 4 else ():
        texts[f"{info}/licenses/{file.name}"] = file.read_text(encoding="utf-8")
    name = out / f"lockstep-{version}-{tag}.whl"
    record = []

    def add(wheel: zipfile.ZipFile, path: str, data: bytes, executable: bool) -> None:
        entry = zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0))
        entry.external_attr = (0o755 if executable else 0o644) << 16 | 0o100000 << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        wheel.writestr(entry, data, compresslevel=9)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(data)}")

    with zipfile.ZipFile(name, "w") as wheel:
        for file in sorted((folder / "lockstep").rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                path = file.relative_to(folder).as_posix()
                add(wheel, path, file.read_bytes(), path.startswith("lockstep/bin/") or ".so" in file.name)
        for path, text in texts.items():
            add(wheel, path, text.encode(), False)
        record.append(f"{info}/RECORD,,")
        wheel.writestr(f"{info}/RECORD", "\n".join(record) + "\n")
    print(name)


if __name__ == "__main__":
    main()
