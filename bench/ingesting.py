"""Time reading a PDF of 796 pages, and check that memory does not grow."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measures import Line, print_lines, timed

from proofstone.ingest.ingest import ingest_paths
from proofstone.method import find_payload
from proofstone.store.store import Store

PACKAGE, BOOK, N_PAGES = "derivations", "usr/share/doc/derivations/derivations.pdf", 796
SHORT, BOUND_S, GROWTH_MB = 120, 10.0, 64.0
CACHE = Path(tempfile.gettempdir()) / "proofstone-bench"


class Seconds:
    """A constant clock; nothing here depends on time."""

    def now(self) -> float:
        return 0.0


def fetched() -> Path | str:
    """Return the cached book, or the reason why it is missing."""
    book = CACHE / BOOK
    if book.exists():
        return book
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        return "no apt-get here"
    CACHE.mkdir(exist_ok=True)
    got = subprocess.run(
        ["apt-get", "download", PACKAGE], cwd=CACHE, capture_output=True, text=True, check=False
    )
    packages = sorted(CACHE.glob(f"{PACKAGE}_*.deb"))
    if got.returncode or not packages:
        return f"the Debian package {PACKAGE} cannot be downloaded"
    subprocess.run(["dpkg-deb", "-x", packages[-1].name, "."], cwd=CACHE, check=True)
    return book if book.exists() else f"the Debian package {PACKAGE} holds no such book"


def children_s() -> float:
    """Return processor seconds of terminated child processes."""
    times = os.times()
    return times.children_user + times.children_system


def peak_mb(book: Path, last: int) -> float:
    """Return the peak memory of a process that reads the pages up to ``last``."""
    code = (
        "import resource, sys; from pathlib import Path;"
        "from proofstone.documents.pdf import PdfFile;"
        "from proofstone.documents.passages import lay_out;"
        "pdf = PdfFile(Path(sys.argv[1]), 'book');"
        "n = sum(len(lay_out(page.blocks).text) > 0 for page in pdf.pages(1, int(sys.argv[2])));"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    command = [sys.executable, "-c", code, str(book), str(last)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> bool:
    """Read the book into a workspace, and again in one process to measure memory."""
    book = fetched()
    if isinstance(book, str):
        print(f"\ningesting is not measured: {book}")
        return True
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{Path(folder) / 'bench.sqlite'}", find_payload)
        before = children_s()
        with timed() as reading:
            report = ingest_paths(store, [book], clock=Seconds())
        spent = reading.cpu_s + children_s() - before
        with timed() as again:
            known = ingest_paths(store, [book], clock=Seconds())
        store.close()
    (taken,) = report.taken
    assert taken.n_pages == N_PAGES
    assert not known.taken[0].is_new
    small, large = peak_mb(book, SHORT), peak_mb(book, N_PAGES)
    speed = f"{reading.wall_s:.1f} s, {N_PAGES / reading.wall_s:,.0f} pages/s"
    grown = large - small
    return print_lines(
        f"{N_PAGES} pages of {PACKAGE} to {taken.n_passages:,} passages in a workspace",
        [
            Line("read and stored", speed, f"under {BOUND_S:.0f} s on 2 cores",
                 reading.wall_s < BOUND_S),
            Line("processor time, all processes", f"{spent:.1f} s"),
            Line("the same again", f"{again.wall_s:.1f} s"),
            Line(f"most memory at {SHORT} pages", f"{small:,.0f} MB"),
            Line(f"most memory at {N_PAGES} pages", f"{large:,.0f} MB",
                 f"at most {GROWTH_MB:.0f} MB more", grown <= GROWTH_MB),
        ],
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
