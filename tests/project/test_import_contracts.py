"""The architecture in pyproject.toml is held, and each of its contracts can fail."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = {
    contract["id"]: contract["name"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "importlinter"
    ]["contracts"]
}
# For each contract, a module that must not stand in the package, and what it imports.
BREAKS = {
    "layers": ("records/culprit.py", "import proofstone.run.loop"),
    "methods": ("methods/culprit/__init__.py", "import proofstone.methods.bequ.method"),
    "methods-on-top": ("start/culprit.py", "import proofstone.methods.bequ.method"),
    "client-library": ("results/culprit.py", "import aiohttp"),
    "database-library": ("run/other.py", "def later():\n    import sqlalchemy"),
    "no-heavy-library": ("store/culprit.py", "import pandas"),
}


def lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    """What the contract check says of the package in ``tree``."""
    script = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", script, "--no-logo", "--no-cache"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONUTF8": "1", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def verdicts(told: str) -> dict[str, str]:
    """KEPT or BROKEN by the contract's name."""
    found = re.findall(r"^(.*) (KEPT|BROKEN)(?: \(\d+ ignored imports\))?$", told, re.MULTILINE)
    return {name.strip(): verdict for name, verdict in found}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package and its contracts, to be broken."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(
        ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.jinja")
    )
    return tmp_path


def test_the_tree_keeps_every_contract() -> None:
    """Each contract is checked, and KEPT, on the tree as it is."""
    result = lint_imports(ROOT)
    assert verdicts(result.stdout) == dict.fromkeys(CONTRACTS.values(), "KEPT"), result.stdout


def test_each_contract_is_broken_by_the_import_it_forbids(copy: Path) -> None:
    """One culprit a contract, all put in at once: every contract is BROKEN, and the check fails."""
    assert BREAKS.keys() == CONTRACTS.keys()
    for place, text in BREAKS.values():
        culprit = copy / "src" / "proofstone" / place
        culprit.parent.mkdir(exist_ok=True)
        culprit.write_text(f"{text}\n", encoding="utf-8")
    result = lint_imports(copy)
    assert result.returncode == 1
    assert verdicts(result.stdout) == dict.fromkeys(CONTRACTS.values(), "BROKEN"), result.stdout


def test_a_module_outside_the_layers_is_refused(copy: Path) -> None:
    """The layers are exhaustive: a new top-level module must be given its place."""
    (copy / "src" / "proofstone" / "stray.py").write_text("", encoding="utf-8")
    result = lint_imports(copy)
    assert verdicts(result.stdout)[CONTRACTS["layers"]] == "BROKEN"
    assert "proofstone.stray" in result.stdout
