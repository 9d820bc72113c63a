"""Take the pictures of pages in docs/, of pages that are made now.

python -m tools.screenshots                      docs/audit.png: the audit of a published table
python -m tools.screenshots demo/questions.html  docs/page.png too: this page, by `make demo`;
                                                 and docs/pictures/: wide, phone, dark, paper
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tools.chromium import find_chromium
from tools.resolved import ROOT

sys.path.insert(0, str(ROOT / "tests"))

if TYPE_CHECKING:
    from browser.tab import Tab

DOCS = ROOT / "docs"
PICTURES = DOCS / "pictures"
WIDE, PHONE = (1280, 800), (390, 844)  # CSS pixels
PAPER_SCALE = 0.9  # pixels of a picture per point of paper


def audit_page(folder: Path) -> Path:
    """Return the page of the table that the README audits."""
    page = folder / "report.html"
    table = "docs/data/kina-table-3.csv"
    command = [sys.executable, "-m", "proofstone", "audit", table, "-o", str(page)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return page


def photograph(tab: Tab, page: Path, size: tuple[int, int], palette: str = "light") -> bytes:
    """Return the first screen of ``page`` as PNG, at ``size`` (width, height) in CSS pixels."""
    features = [{"name": "prefers-color-scheme", "value": palette}]
    tab.call("Emulation.setEmulatedMedia", features=features)
    tab.resize(*size)
    tab.open(page.resolve())
    return tab.picture()


def first_sheet(tab: Tab) -> bytes:
    """Return the first sheet of paper of the open page as PNG."""
    import pypdfium2  # noqa: PLC0415 - of the extra [pdf]

    document = pypdfium2.PdfDocument(tab.pdf())
    image = document[0].render(scale=PAPER_SCALE).to_pil()
    written = io.BytesIO()
    image.save(written, "png")
    return written.getvalue()


def taken(tab: Tab, name: str, page: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield the pictures of a page for docs/pictures/: wide, dark, phone, paper."""
    yield PICTURES / f"{name}-1280.png", photograph(tab, page, WIDE)
    yield PICTURES / f"{name}-dark.png", photograph(tab, page, WIDE, "dark")
    yield PICTURES / f"{name}-390.png", photograph(tab, page, PHONE)
    photograph(tab, page, WIDE)
    yield PICTURES / f"{name}-paper.png", first_sheet(tab)


def write(path: Path, picture: bytes) -> None:
    """Write a picture with a palette of 128 colors, which is a third of its bytes."""
    from PIL import Image  # noqa: PLC0415 - of the extra [ocr]

    path.parent.mkdir(exist_ok=True)
    image = Image.open(io.BytesIO(picture)).convert("RGB").quantize(128)
    image.save(path, "png", optimize=True)
    print(f"wrote {path.relative_to(ROOT)} ({path.stat().st_size // 1000} kB)")


def main(pages: list[str]) -> int:
    """Take all pictures that can be taken; return the exit code."""
    from browser.devtools import started  # noqa: PLC0415 - of tests/
    from browser.tab import opened  # noqa: PLC0415

    program = find_chromium()
    if program is None:
        print("expected a Chromium on the path, or its name in CHROMIUM; found none")
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "profile").mkdir()
        with started(program, folder / "profile") as tools, opened(tools) as tab:
            audit = audit_page(folder)
            write(DOCS / "audit.png", photograph(tab, audit, WIDE))
            for page in map(Path, pages[:1]):
                write(DOCS / "page.png", photograph(tab, page, WIDE))
                for path, picture in [*taken(tab, "audit", audit), *taken(tab, "demo", page)]:
                    write(path, picture)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
