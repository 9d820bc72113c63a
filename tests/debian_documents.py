"""Documents that others wrote, from Debian packages: where they are installed or unpacked, if so.

None of them is in the repository. A test that reads one is skipped where it is absent. They are
looked for below ``PROOFSTONE_DOCUMENTS`` (``apt-get download NAME; dpkg-deb -x NAME_*.deb
FOLDER/NAME``), where the benches keep theirs, and on this machine.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

__all__ = [
    "DERIVATIONS", "FOLDOC", "HANDBOOK", "MAINTAINERS", "SANDWICH", "VIGNETTES", "debian_documents",
]  # fmt: skip

DERIVATIONS = "derivations", "usr/share/doc/derivations/derivations.pdf"
FOLDOC = "dict-foldoc", "usr/share/dictd"
HANDBOOK = "debian-handbook", "usr/share/doc/debian-handbook/html/{0}"
MAINTAINERS = (
    "maint-guide-zh-cn", "usr/share/doc/maint-guide-zh-cn/maint-guide.zh-cn.pdf"
)  # fmt: skip
SANDWICH = "r-cran-sandwich", "usr/lib/R/site-library/sandwich/doc"
VIGNETTES = "r-cran-lme4", "usr/lib/R/site-library/lme4/doc"
# Read before any test begins: tests see none of these variables.
_NAMED = os.environ.get("PROOFSTONE_DOCUMENTS")


def debian_documents(document: tuple[str, str], *parts: str) -> Path:
    """The file or folder of a package; skips the test where it is nowhere."""
    package, place = document
    for root in _roots():
        path = root / place.format(*parts)
        if path.exists():
            return path
    pytest.skip(f"the Debian package {package} is not here: see tests/debian_documents.py")


def _roots() -> list[Path]:
    folder = Path(_NAMED) if _NAMED else None
    inner = sorted(each for each in folder.iterdir() if each.is_dir()) if folder else []
    here = [folder, *inner] if folder else []
    return [*here, Path(tempfile.gettempdir()) / "proofstone-bench", Path("/")]
