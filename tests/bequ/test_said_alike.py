"""Triples in other words: folded where object and numbers are the same and predicates near."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.methods.bequ.views import check_bar, fold_alike


class ByFirstWord:
    """Texts that begin with the same letter are 0.9 near each other, with the same word 1."""

    name = "first words"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        vectors = []
        for text in texts:
            word = text.partition(" ")[0]
            own = np.zeros(64)
            own[ord(word[0]) % 8] = np.sqrt(0.9)
            own[8 + sum(map(ord, word)) % 56] = np.sqrt(0.1)
            vectors.append(own)
        return np.array(vectors)


def row(predicate: str, text: str, *, times: int = 1) -> dict[str, Any]:
    return {"subject": "A", "predicate": predicate, "object": text, "said": times}


ROWS = [
    row("founded", "1997"),
    row("foundation", "1997", times=2),
    row("foundation", "1998"),
    row("established", "1997"),
    row("formed", "1997"),
    row("gold 50m", "B"),
    row("gold 100m", "B"),
]


def test_the_first_stands_for_those_that_come_after_it() -> None:
    folded = fold_alike(ROWS, ByFirstWord(), 0.85)
    assert [(each["predicate"], each["said"], each["also_said"]) for each in folded] == [
        ("founded", 1 + 2 + 1, "foundation, formed"),
        ("foundation", 1, ""),
        ("established", 1, ""),
        ("gold 50m", 1, ""),
        ("gold 100m", 1, ""),
    ]
    assert len(fold_alike(ROWS, ByFirstWord(), 0.95)) == len(ROWS)
    assert fold_alike([], ByFirstWord(), 0.9) == []


@pytest.mark.parametrize("least", [0.0, 0.49, 1.01])
def test_a_bar_below_which_anything_is_near_is_refused(least: float) -> None:
    with pytest.raises(BadUsage, match="the similarity threshold must be"):
        check_bar(least)
