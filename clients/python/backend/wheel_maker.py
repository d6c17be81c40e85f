"""Makes a wheel of the package with nothing but Python (PEP 517 and 660), so that
``pip install ./clients/python`` needs no network and no build tools.

A pure package is copied, not built: a wheel is a zip of it with three files of metadata. What they
say comes from ``pyproject.toml``.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

ROOT = Path(__file__).resolve().parent.parent
#: The contents of a source distribution.
SOURCES = ("pyproject.toml", "README.md", "backend", "src", "tests", "examples")
#: Zip files have no earlier time; all files get it, so that equal sources give equal wheels.
EPOCH = (1980, 1, 1, 0, 0, 0)

Settings = Optional[Dict[str, Any]]
Files = List[Tuple[str, bytes]]


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: Optional[str] = None
) -> str:
    """The package as a wheel; gives the file's name."""
    found = sorted((ROOT / "src").rglob("*"))
    files = [path for path in found if path.name == "py.typed" or path.suffix == ".py"]
    return _write(
        wheel_directory,
        [(path.relative_to(ROOT / "src").as_posix(), path.read_bytes()) for path in files],
    )


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: Optional[str] = None
) -> str:
    """A wheel that points to the sources, for ``pip install -e``."""
    return _write(wheel_directory, [("agon_client.pth", f"{ROOT / 'src'}\n".encode())])


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """The sources as an archive; gives the file's name."""
    stem = _stem(_project())
    with tarfile.open(Path(sdist_directory) / f"{stem}.tar.gz", "w:gz") as archive:
        for name in SOURCES:
            if (ROOT / name).exists():
                archive.add(ROOT / name, f"{stem}/{name}", filter=_without_caches)
    return f"{stem}.tar.gz"


def _without_caches(entry: tarfile.TarInfo) -> Optional[tarfile.TarInfo]:
    return None if "__pycache__" in entry.name else entry


def _project() -> Dict[str, Any]:
    """The ``[project]`` table. Its strings and lists of strings are literals of Python as well."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    table = text.partition("\n[project]\n")[2].partition("\n[")[0]
    entries = re.findall(r'^([a-z-]+) = (".*"|\[[^\]]*\])$', table, re.MULTILINE)
    return {key: ast.literal_eval(value) for key, value in entries}


def _stem(project: Dict[str, Any]) -> str:
    name = str(project["name"]).replace("-", "_")
    return f"{name}-{project['version']}"


def _metadata(project: Dict[str, Any]) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}"]
    lines += [f"Summary: {project['description']}"]
    lines += [f"Requires-Python: {project['requires-python']}"]
    lines += [f"Classifier: {classifier}" for classifier in project["classifiers"]]
    lines += ["Description-Content-Type: text/markdown", ""]
    readme = Path(ROOT, project["readme"]).read_text(encoding="utf-8")
    return "\n".join(lines) + "\n" + readme


def _write(directory: str, files: Files) -> str:
    project = _project()
    stem = _stem(project)
    info = f"{stem}.dist-info"
    wheel = "Wheel-Version: 1.0\nGenerator: wheel_maker\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = files + [
        (f"{info}/METADATA", _metadata(project).encode()),
        (f"{info}/WHEEL", wheel.encode()),
    ]
    record = "".join(f"{name},{_digest(data)},{len(data)}\n" for name, data in files)
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode()))
    name = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(Path(directory) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files:
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return name


def _digest(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
    return f"sha256={digest.decode()}"
