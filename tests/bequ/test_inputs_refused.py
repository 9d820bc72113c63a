"""Inputs of triples and lists that are named wrongly are told, not ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofstone.errors import BadInput, BadUsage
from proofstone.methods.bequ.records import VerifySettings
from proofstone.methods.bequ.verification.people import read_people
from proofstone.methods.bequ.verification.triple_files import opened_triples
from proofstone.records.tables import Row
from small_bank import write_lines

TRIPLE = {"entity": "Lima", "predicate": "country", "object": "Peru"}


def test_a_file_is_not_its_own_reference(tmp_path: Path) -> None:
    """Neither the very file nor a copy of it."""
    said = write_lines(tmp_path / "said.jsonl", [TRIPLE])
    copy = write_lines(tmp_path / "copy.jsonl", [TRIPLE])
    for reference in (said, copy):
        with (
            pytest.raises(BadUsage, match="its own reference"),
            opened_triples(said, reference, VerifySettings()),
        ):
            raise AssertionError
    other = write_lines(tmp_path / "other.jsonl", [{**TRIPLE, "object": "South America"}])
    with opened_triples(said, other, VerifySettings()) as opened:
        assert opened.n >= 1


def test_a_file_without_verdicts_of_people_is_refused() -> None:
    """As one whose columns are named otherwise."""
    with pytest.raises(BadInput, match="the file has no human labels; its columns are id, verdict"):
        read_people([Row("line 1", {"id": "a", "verdict": "entails"})])
