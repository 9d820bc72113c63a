"""The answers held along 50 reasoning traces, against labels made by hand before they were read.

The traces were written for this test: ten topics with five each, one of them in Chinese. ``held``
are the sets in turn, without repetitions. ``left``: the correct set was held, and is not held at
the end.
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

from proofstone.choices.held import answers_held
from proofstone.choices.options import labels

TRACES = [
    json.loads(line)
    for line in (Path(__file__).parent / "labelled" / "reasoning_traces.jsonl")
    .read_text("utf-8")
    .splitlines()
]


def read(options: list[str], reasoning: str, *, several: bool) -> list[str]:
    """The sets of letters held in turn, without repetitions."""
    letters = labels(len(options))
    found = answers_held(reasoning, options, several=several)
    return [key for key, _ in groupby("".join(letters[at] for at in h.letters) for h in found)]


def test_the_extraction_agrees_with_the_labels_as_often_as_measured() -> None:
    """The figures in docs/reference/extraction.md: all sets in turn, and the right one left."""
    same = left = 0
    for trace in TRACES:
        held = read(trace["options"], trace["reasoning"], several=trace["several"])
        same += held == trace["held"]
        gold = trace["gold"]
        left += (gold in held and held[-1] != gold) == trace["left"]
    assert len(TRACES) == 50
    assert same >= 40
    assert left >= 49
