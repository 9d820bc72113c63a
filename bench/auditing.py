"""Time ``proofstone audit`` with its page in a separate process.

Tables: 12,000 items of 28 models (wide), over a million scores (long), 5,000 items of 50 models,
50 items of 300 and of 1,000 models, and 20,000 nonsense columns.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from measures import Line, print_lines

N_ITEMS, N_MODELS, N_SAMPLES = 12_000, 28, 3


def write_wide(path: Path) -> None:
    """Write one row per item, with twelve disciplines and sixty books."""
    rng = np.random.default_rng(1)
    right = rng.random((N_ITEMS, N_MODELS)) < 0.3 + 0.01 * np.arange(N_MODELS)
    with path.open("w", encoding="utf-8") as file:
        print("qid", "discipline", "book", *(f"m{m}" for m in range(N_MODELS)), sep=",", file=file)
        for item, row in enumerate(right.astype(int).tolist()):
            print(item, f"d{item % 12}", f"b{item % 60}", *row, sep=",", file=file)


def write_long(path: Path) -> None:
    """Write one row per score, 1,008,000 in total."""
    rng = np.random.default_rng(2)
    with path.open("w", encoding="utf-8") as file:
        file.write("qid,model,sample,score,discipline\n")
        for item in range(N_ITEMS):
            right = rng.random((N_MODELS, N_SAMPLES)) < 0.3 + 0.01 * np.arange(N_MODELS)[:, None]
            file.writelines(
                f"question-{item},m{m},{sample},{score:d},d{item % 12}\n"
                for m, row in enumerate(right.tolist())
                for sample, score in enumerate(row)
            )


def write_many(path: Path, n_models: int, n_items: int = 50) -> None:
    """Write one row per item of many models."""
    rng = np.random.default_rng(1)
    right = rng.random((n_items, n_models)) < rng.uniform(0.3, 0.8, n_models)
    with path.open("w", encoding="utf-8") as file:
        print("qid", *(f"m{m}" for m in range(n_models)), sep=",", file=file)
        for item, row in enumerate(right.astype(int).tolist()):
            print(item, *row, sep=",", file=file)


def write_nonsense(path: Path) -> None:
    """Write twenty rows of 20,000 columns: numbers, words and gaps."""
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        print(*(f"c{column}" for column in range(20_000)), sep=",", file=file)
        for row in rng.choice(["x", "7", "foo", "12.5", ""], (20, 20_000)).tolist():
            print(*row, sep=",", file=file)


def audit(table: Path, page: Path, *, refused: bool = False) -> tuple[float, float, float]:
    """Return wall and processor seconds and peak memory (MB) of one audit."""
    command = [sys.executable, "-m", "proofstone", "audit", str(table), "-o", str(page)]
    # Compiled modules are kept, as where it is installed.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    quiet = os.open(os.devnull, os.O_WRONLY)
    actions = [(os.POSIX_SPAWN_DUP2, quiet, 1)]
    actions += [(os.POSIX_SPAWN_DUP2, quiet, 2)] if refused else []
    child = os.posix_spawn(sys.executable, command, environment, file_actions=actions)
    _, status, used = os.wait4(child, 0)
    os.close(quiet)
    if bool(status) != refused:
        raise RuntimeError(f"audit of {table.name} ended with {os.waitstatus_to_exitcode(status)}")
    kilobytes = 1e6 if sys.platform == "darwin" else 1e3
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / kilobytes


def main() -> bool:
    """Print each against its bound of time, memory and size of the page."""
    with tempfile.TemporaryDirectory() as folder:
        wide, long, page = (Path(folder) / name for name in ("w.csv", "l.csv", "p.html"))
        write_wide(wide)
        write_long(long)
        warm = Path(folder) / "warm.csv"
        warm.write_text(
            "".join(wide.read_text(encoding="utf-8").splitlines(True)[:100]), encoding="utf-8"
        )
        audit(warm, page)
        wide_s, wide_cpu, wide_mb = audit(wide, page)
        long_s, long_cpu, long_mb = audit(long, page)
        many, nonsense = Path(folder) / "m.csv", Path(folder) / "n.csv"
        write_many(many, 1_000)
        write_nonsense(nonsense)
        many_s, many_cpu, many_mb = audit(many, page)
        page_mb = page.stat().st_size / 1e6
        write_many(many, 50, 5_000)
        usual_s, usual_cpu, _ = audit(many, page)
        usual_mb = page.stat().st_size / 1e6
        write_many(many, 300)
        board_s, board_cpu, _ = audit(many, page)
        board_mb = page.stat().st_size / 1e6
        nonsense_s, nonsense_cpu, _ = audit(nonsense, page, refused=True)
    lines = [
        Line("12,000 items x 28 models, wide", f"{wide_s:.1f} s", "under 5 s", wide_s < 5.0),
        Line("  processor time, memory", f"{wide_cpu:.1f} s, {wide_mb:,.0f} MB"),
        Line("1,008,000 scores, long", f"{long_s:.1f} s", "under 20 s", long_s < 20.0),
        Line("  processor time", f"{long_cpu:.1f} s"),
        Line("  memory", f"{long_mb:,.0f} MB", "under 1,000 MB", long_mb < 1000.0),
        Line("50 items x 1,000 models, wide", f"{many_s:.1f} s", "under 20 s", many_s < 20.0),
        Line("  processor time, memory", f"{many_cpu:.1f} s, {many_mb:,.0f} MB"),
        Line("  page", f"{page_mb:.1f} MB", "under 5 MB", page_mb < 5.0),
        Line("5,000 items x 50 models, wide", f"{usual_s:.1f} s", "under 5 s", usual_s < 5.0),
        Line("  processor time", f"{usual_cpu:.1f} s"),
        Line("  page", f"{usual_mb:.1f} MB", "under 3 MB", usual_mb < 3.0),
        Line("50 items x 300 models, wide", f"{board_s:.1f} s"),
        Line("  processor time", f"{board_cpu:.1f} s"),
        Line("  page", f"{board_mb:.1f} MB", "under 5 MB", board_mb < 5.0),
        Line("20,000 columns, refused", f"{nonsense_s:.1f} s", "under 10 s", nonsense_s < 10.0),
        Line("  processor time", f"{nonsense_cpu:.1f} s"),
    ]
    return print_lines("audit with its page, from file to file", lines)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
