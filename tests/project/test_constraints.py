"""The pinned set can be installed on every Python that the project claims."""

from __future__ import annotations

import tomllib

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from tools.resolved import ROOT, closure, read_project

# The first Python 3.11 that a current distribution carries: Debian 12's.
OLDEST = Version("3.11.2")


def test_every_pinned_package_takes_the_oldest_python() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert OLDEST in SpecifierSet(table["requires-python"])
    refusing = {
        name: found.metadata["Requires-Python"]
        for name, found in closure(read_project().everything()).items()
        if OLDEST not in SpecifierSet(found.metadata["Requires-Python"] or "")
    }
    assert refusing == {}
