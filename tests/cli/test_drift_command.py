"""Two versions of own questions: cached responses are no measurement, a replicate is one."""

from __future__ import annotations

import json
from pathlib import Path

from told import Proofstone


def test_drift_of_two_files_of_questions(tmp_path: Path, proofstone: Proofstone) -> None:
    """30 questions, and 30 of which 20 are the same; the replicate stands for its model."""
    for name, numbers in (("first", range(30)), ("second", range(10, 40))):
        rows = (
            {"question": f"What is {i} + 1?", "options": [str(i + d) for d in (1, 3, 6, 9)],
             "answer": "A"}
            for i in numbers
        )  # fmt: skip
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    bench = tmp_path / "bench"
    assert proofstone("init", bench).code == 0
    at = ("-w", bench)
    models = ("-m", "sim/ann?ability=0.8,sim/bob?ability=0.2")
    for name in ("first", "second"):
        assert proofstone("run", tmp_path / f"{name}.jsonl", *models, *at).code == 0
    told = proofstone("report", "first", "second", "--analysis", "drift", *at)
    assert "2 models score the same on each of the 20 items of both versions." in told.out
    assert "--replicate" in told.out
    again = proofstone("run", tmp_path / "second.jsonl", *models, "--replicate", "later", *at)
    assert again.code == 0
    told = proofstone("report", "first", "second", "--analysis", "drift", *at)
    assert "On the 20 items of both versions, 2 models change by" in told.out
    assert "Left out" not in told.out


def test_a_threshold_goes_with_its_analyses(made: Path, proofstone: Proofstone) -> None:
    told = proofstone("report", "old-books", "--threshold", "35", "-w", made)
    assert (told.code, "--threshold goes with --analysis sets and refresh" in told.err) == (2, True)
