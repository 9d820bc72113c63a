"""Measure the installed size of the core and its start-up time.

    python -m bench.size [--json]

Size: bytes of every file that the core and its requirements (no extra) install, by each
distribution's record. Time: best of five fresh interpreters, each a whole process, also as a
multiple of an empty interpreter. Byte code is cached.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from tools.resolved import ROOT, closure, read_project

ROUNDS = 5
STARTS = {
    "python -c pass": ["-c", "pass"],
    "import proofstone": ["-c", "import proofstone"],
    "proofstone --help": ["-m", "proofstone", "--help"],
}


@dataclass(frozen=True)
class Start:
    """The best time of one command in seconds, and as a multiple of an empty interpreter's."""

    command: str
    best_s: float
    ratio: float


@dataclass(frozen=True)
class Report:
    """Sizes in bytes, largest packages first, and start-up times."""

    core_bytes: int
    core_packages: int
    own_bytes: int
    largest: dict[str, int]
    starts: tuple[Start, ...]


def installed_bytes(distribution: metadata.Distribution) -> int:
    """Return the size of the existing files in its record; 0 without a record."""
    places = (Path(str(file.locate())) for file in distribution.files or [])
    return sum(place.stat().st_size for place in places if place.is_file())


def own_bytes() -> int:
    """Return the size of the package's files, which an editable install does not record."""
    package = ROOT / "src" / "proofstone"
    files = (file for file in package.rglob("*") if file.is_file())
    return sum(file.stat().st_size for file in files if not _is_cache(file.relative_to(package)))


def _is_cache(file: Path) -> bool:
    return any(part.startswith((".", "__pycache__")) for part in file.parts)


def best_start_s(arguments: list[str]) -> float:
    """Return the shortest time of ROUNDS whole processes. Raises CalledProcessError if one
    fails."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - began)
    return min(times)


def measure() -> Report:
    """Measure everything, in about ten seconds."""
    core = closure(read_project().core)
    sizes = {name: installed_bytes(found) for name, found in core.items()}
    best = {command: best_start_s(arguments) for command, arguments in STARTS.items()}
    bare = best["python -c pass"]
    return Report(
        core_bytes=sum(sizes.values()) + own_bytes(),
        core_packages=len(sizes) + 1,
        own_bytes=own_bytes(),
        largest=dict(sorted(sizes.items(), key=lambda pair: -pair[1])[:6]),
        starts=tuple(Start(command, took, took / bare) for command, took in best.items()),
    )


def table(report: Report) -> str:
    """Return the report as a Markdown table."""
    rows = [("what", "size or best time", "of `python -c pass`"), ("---", "---", "---")]
    rows.append((f"core, {report.core_packages} packages", megabytes(report.core_bytes), ""))
    rows.append(("of it proofstone", megabytes(report.own_bytes), ""))
    rows += [(f"of it {name}", megabytes(size), "") for name, size in report.largest.items()]
    rows += [
        (f"`{start.command}`", f"{1000 * start.best_s:.0f} ms", f"{start.ratio:.1f}")
        for start in report.starts
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def megabytes(size: int) -> str:
    """Return a size in units of 10**6 bytes with one decimal."""
    return f"{size / 1e6:.1f} MB"


if __name__ == "__main__":
    found = measure()
    print(json.dumps(asdict(found)) if "--json" in sys.argv[1:] else table(found))
