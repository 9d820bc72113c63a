"""A method stands on top: nothing outside its folder names it, the registry apart."""

from __future__ import annotations

import re

from tools.resolved import ROOT

from proofstone.method import bundled_names

PACKAGE = ROOT / "src" / "proofstone"
REGISTRY = PACKAGE / "method.py"

# A paper's taxonomy and tables are data, and have the paper's name; so has a method.
DATA = re.compile(r"--taxonomy \w+|^\[\w+\]$|\w+-table-\d+\.csv")


def test_no_module_outside_names_a_method() -> None:
    """Neither in an import nor in a string, a comment or a message; papers may be cited."""
    named = re.compile("|".join(rf"\b{name}\b" for name in bundled_names()))
    found = [
        f"{path.relative_to(PACKAGE).as_posix()}:{number}"
        for path in sorted(PACKAGE.rglob("*"))
        if path.suffix in {".py", ".toml", ".jinja", ".js", ".css"}
        and path != REGISTRY
        and PACKAGE / "methods" not in path.parents
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if named.search(DATA.sub("", line))
    ]
    assert found == []
