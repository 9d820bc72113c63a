"""Take the README's screenshots of freshly made pages.

python -m tools.screenshots                      # docs/audit.png: audit of a published table
python -m tools.screenshots demo/questions.html  # also docs/page.png: this page of `make demo`
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tools.chromium import find_chromium, quiet_flags
from tools.resolved import ROOT

DOCS = ROOT / "docs"
WIDTH, HEIGHT = 1280, 800  # pixels of the page; the picture is 1.5 times as large


def photograph(program: str, page: Path, picture: Path) -> None:
    """Save the top of ``page`` as PNG."""
    size = f"--window-size={WIDTH},{HEIGHT}"
    flags = [*quiet_flags(), size, "--force-device-scale-factor=1.5", f"--screenshot={picture}"]
    subprocess.run([program, *flags, page.resolve().as_uri()], check=True, capture_output=True)
    print(f"wrote {picture.relative_to(ROOT)}")


def audit_page(folder: Path) -> Path:
    """Return the page of the table that the README audits."""
    page = folder / "report.html"
    table = "docs/data/kina-table-3.csv"
    command = [sys.executable, "-m", "proofstone", "audit", table, "-o", str(page)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return page


def main(pages: list[str]) -> int:
    """Take all possible screenshots; return the exit code."""
    program = find_chromium()
    if program is None:
        print("expected a Chromium on the path, or its name in CHROMIUM; found none")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        photograph(program, audit_page(Path(folder)), DOCS / "audit.png")
    for page in pages[:1]:
        photograph(program, Path(page), DOCS / "page.png")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
