"""Modules of the package as syntax trees, parsed once per process."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tools.resolved import ROOT

__all__ = ["SOURCES", "modules"]

SOURCES = ROOT / "src" / "proofstone"


@cache
def modules() -> tuple[tuple[Path, ast.Module], ...]:
    """Return every module with its file, in order of files."""
    files = sorted(SOURCES.rglob("*.py"))
    return tuple((path, ast.parse(path.read_text(encoding="utf-8"))) for path in files)
