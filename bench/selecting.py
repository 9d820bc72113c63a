"""Time selections: 200 of 5,000 dense items, and 1,000 of 100,000 items with 50 neighbors each.
Time 1,000 bootstrap refits of calibrators: of 1,000 items, and of their 30 pairs each.

PEERS=1 adds submodlib-py (MIT) and apricot-select (MIT), each in an environment of its own.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np
from measures import Line, machine, print_lines, timed
from numpy.typing import NDArray
from scipy import sparse

from proofstone.selection.choose import select
from proofstone.selection.objective import coverage
from proofstone.stats.calibrators import Labels, fit, lower_quantiles

HERE = Path(__file__).resolve().parent
CACHE = HERE.parent / ".cache" / "peers"
N_DENSE, K_DENSE, DIMENSIONS = 5_000, 200, 32
N_SPARSE, K_SPARSE, NEIGHBORS = 100_000, 1_000, 50
N_ITEMS, PAIRS, REFITS = 1_000, 30, 1_000
PEERS = {
    "submodlib": ["submodlib-py", "numpy<2", "scipy"],
    "apricot": ["apricot-select", "numpy<2", "scipy", "scikit-learn", "numba"],
}


def dense_scores() -> NDArray[np.float64]:
    """Return cosines of random directions, with those below 0 set to 0."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((N_DENSE, DIMENSIONS))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.clip(vectors @ vectors.T, 0, 1)


def sparse_scores() -> sparse.csr_array:
    rng = np.random.default_rng(1)
    columns = rng.integers(0, N_SPARSE, N_SPARSE * NEIGHBORS)
    starts = np.arange(0, len(columns) + 1, NEIGHBORS)
    made = sparse.csr_array((rng.random(len(columns)), columns, starts), shape=(N_SPARSE, N_SPARSE))
    made.sum_duplicates()
    made.data = np.minimum(made.data, 1)
    return made


def names(count: int) -> list[str]:
    return [f"q{at:06d}" for at in range(count)]


def dense() -> bool:
    scores, ids = dense_scores(), names(N_DENSE)
    walls = []
    for _ in range(3):
        with timed() as ours:
            chosen = select(coverage(ids, ids, scores), K_DENSE, how="greedy")
        walls.append(ours.wall_s)
    lines = [Line("ours, with all checks", f"{min(walls):.2f} s, F {chosen.value:.9f}")]
    for peer, packages in PEERS.items() if os.environ.get("PEERS") else ():
        figures = ask(peer, packages, scores)
        times = figures["wall_s"] / min(walls)
        same = abs(figures["value"] - chosen.value) <= 1e-6
        lines += [
            Line(peer, f"{figures['wall_s']:.2f} s, F {figures['value']:.9f}", "same F", same),
            Line(f"times as fast as {peer}", f"{times:.1f}", "4 or more", times >= 4),
        ]
    return print_lines(f"{K_DENSE} of {N_DENSE:,} items, {N_DENSE:,} references, dense", lines)


def ask(peer: str, packages: list[str], scores: NDArray[np.float64]) -> dict[str, float]:
    """Return the seconds (best of three) and F of a peer's lazy greedy."""
    python = CACHE / peer / "bin" / "python"
    if not python.exists():
        venv.create(CACHE / peer, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores.npy"
        np.save(file, scores)
        script = HERE / "peer_scripts" / f"select_{peer}.py"
        done = subprocess.run(
            [str(python), str(script), str(file), str(K_DENSE)],
            check=True, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def many() -> bool:
    scores, ids = sparse_scores(), names(N_SPARSE)
    with timed() as ours:
        chosen = select(coverage(ids, ids, scores), K_SPARSE, how="greedy")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    lines = [
        Line("ours, with all checks", f"{ours.wall_s:.2f} s", "10 s or less", ours.wall_s <= 10),
        Line("memory of the process", f"{memory:.2f} GB", "2 GB or less", memory <= 2),
        Line("F", f"{chosen.value:.6f}"),
    ]
    title = f"{K_SPARSE:,} of {N_SPARSE:,} items, {NEIGHBORS} neighbors each"
    return print_lines(title, lines)


def refits() -> bool:
    """Items have 5 features and 180 labels, their pairs 7 features and 160 labels."""
    lines, total = [], 0.0
    for what, how, n, width, n_labels in (
        ("items, logistic", "logistic", N_ITEMS, 5, 180),
        ("items, isotonic", "isotonic", N_ITEMS, 1, 180),
        ("pairs, logistic", "logistic", N_ITEMS * PAIRS, 7, 160),
    ):
        rng = np.random.default_rng(2)
        x = rng.standard_normal((n, width))
        rows = rng.choice(n, n_labels, replace=False)
        labels = Labels(rows, rows, np.float64(x[rows, 0] + rng.standard_normal(n_labels) > 0))
        with timed() as ours:
            fitted = fit(how, x, labels, n_resamples=REFITS)
            lower_quantiles(fitted, x, np.arange(n), [0.1])
        total += ours.wall_s
        lines.append(Line(what, f"{ours.wall_s:.2f} s"))
    lines.append(Line("together", f"{total:.2f} s", "30 s or less", total <= 30))
    title = f"{REFITS:,} refits, and lower quantiles of {N_ITEMS:,} items and {PAIRS} pairs of each"
    return print_lines(title, lines)


if __name__ == "__main__":
    print(machine())
    sys.exit(0 if all([many(), dense(), refits()]) else 1)
