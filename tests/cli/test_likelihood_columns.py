"""Columns of option likelihood appear only with rows that have them."""

from __future__ import annotations

from pathlib import Path

from told import Proofstone

MEASURE = "by sum"


def test_rows_of_generated_answers_have_no_column_of_likelihood(
    made: Path, proofstone: Proofstone
) -> None:
    """Also where both are on one leaderboard; each is ranked under its own header."""
    asked = ("run", "old-books", "-m", "sim/ann", "--prompt-method", "option-likelihood")
    told = proofstone(*asked, "-w", made)
    assert told.code == 0, told.err
    board = proofstone("leaderboard", "old-books", "-w", made).out
    heads = [line for line in board.splitlines() if "  accuracy" in line]
    assert [MEASURE in head for head in heads] == [False, True]
