"""True statements that contradict each other: paired when near, judged in both orders, listed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from proofstone.api import create_workspace
from proofstone.files.tables import read_rows
from scripted_server import Act, Seen, answer
from serving import HurriedClock, configure, serving
from small_bank import write_lines

_BLOCK = re.compile(r"\[[^|\]]+ \| begin [0-9a-f]{8}\]\n(.*?)\n\[", re.DOTALL)
STATEMENTS = {
    "Gold melts at 1064 degrees.": True,
    "Gold melts at 961 degrees.": True,
    "Silver melts at 961 degrees.": True,
    "Gold melts at 20 degrees.": False,
    "The heron eats fish.": True,
}


class ByWords:
    """An embedder: texts are as near as they share words."""

    name = "words"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        known = sorted({word for text in texts for word in text.split()})
        made = np.array([[float(word in text.split()) for word in known] for text in texts])
        return made / np.linalg.norm(made, axis=1, keepdims=True)


def judged(seen: Seen) -> Act:
    """Two statements contradict where they begin with the same word."""
    one, two = _BLOCK.findall(seen.json["messages"][-1]["content"])
    label = "contradict" if one.split()[0] == two.split()[0] else "apart"
    return answer(json.dumps({"reason": f"{one.split()[0]} melts once", "label": label}))


def test_what_contradicts_is_a_work_list_that_retire_carries_out(tmp_path: Path) -> None:
    """Falsified statements are left out, far ones never asked about; each pair is asked twice, in
    both orders, and once more nobody is asked."""
    rows = [
        {"text": text, "correct": correct, "book": "Metals"} for text, correct in STATEMENTS.items()
    ]
    with create_workspace(tmp_path / "work") as workspace:
        workspace.clock = HurriedClock()
        bank = workspace.import_bank(write_lines(tmp_path / "metals.jsonl", rows))
        with serving(judged) as server:
            configure(workspace.folder, server.url)
            n, pairs = workspace.near_statements(bank, embedding_model=ByWords())
            assert (n, len(pairs), server.requests) == (4, 2, 0)
            found = workspace.contradictions(bank, judges=["scripted/a"], embedding_model=ByWords())
            assert server.requests == 2 * 2
            again = workspace.contradictions(bank, judges=["scripted/a"], embedding_model=ByWords())
            assert server.requests == 2 * 2
        assert again == found
        (pair,) = found.found
        assert {pair.pair.text, pair.pair.other_text} == {
            "Gold melts at 1064 degrees.", "Gold melts at 961 degrees.",
        }  # fmt: skip
        file = tmp_path / "list.jsonl"
        assert workspace.write_contradictions(found, file) == 2
        listed = [dict(row.values) for row in read_rows(file)]
        assert all(row["why"].endswith(": Gold melts once") for row in listed)
        wrong = next(row for row in listed if "961" in row["text"])
        write_lines(file, [{**wrong, "decision": "exclude"}])
        assert len(workspace.apply_flagged_items(file, by="Ada").excluded) == 1
        assert workspace.near_statements(bank, embedding_model=ByWords())[0] == 3
