"""Models by names that say nothing of the machine that holds them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from proofstone.records.models import shown_names
from proofstone.records.scores import Respondent
from proofstone.results.board import LeftOut, PlanMark
from proofstone.results.rankings import leaderboard
from proofstone.results.report import board_with, names_of, table_with
from report.made_up import MEASURES, right_of, table_of


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("local//opt/me/x.gguf", "local/x.gguf"),
        ("local/models/x.gguf", "local/models/x.gguf"),
        ("/opt/me/models/llama/", "llama"),
        ("pretrained=/opt/me/m", "pretrained=m"),
        ("~/models/m", "m"),
        ("hf/../secret/q", "hf/q"),
        (r"C:\models\y", "y"),
        ("openrouter/meta-llama/llama-3.1-8b", "openrouter/meta-llama/llama-3.1-8b"),
        ("sim/ann?ability=0.8", "sim/ann?ability=0.8"),
        ("GPT-4.1 (mini)", "GPT-4.1 (mini)"),
    ],
)
def test_paths_are_named_by_their_end(name: str, shown: str) -> None:
    """What begins at a root, at home or with dots; any other name stays."""
    assert shown_names([name]) == {name: shown}


def test_two_of_one_end_stay_two() -> None:
    """Numbered in their order; a model that has the plain name keeps it."""
    assert shown_names(["/a/x", "/b/x", "x"]) == {"/a/x": "x (2)", "/b/x": "x (3)", "x": "x"}


@given(st.lists(st.text("/~.\\ab:=(2) ", max_size=8), max_size=6))
def test_different_names_stay_different(names: list[str]) -> None:
    """Whatever they are, and shown ones stay as they are."""
    shown = shown_names(names)
    assert len(set(shown.values())) == len(set(names))
    again = shown_names(shown.values())
    assert len(set(again.values())) == len(set(names))


def test_a_leaderboard_names_no_folder_beside_its_rows() -> None:
    """Nor do its notes, its plan, whom a filter left out, and who served."""
    path = "local//opt/me/x.gguf"
    table = table_of(
        [Respondent(path, "", reported=((path, 9), ("other", 1))), Respondent("b", "")],
        right_of(9, 4, 0) + right_of(9, 5, 1),
        n_units=9,
    )
    names = names_of(table, ["/data/out.gguf"])
    assert names["/data/out.gguf"] == "out.gguf"
    board = leaderboard(table_with(table, names), MEASURES, "accuracy", notes=(f"{path} is old",))
    mark = PlanMark(
        id="1", made_at="", measure="accuracy", population="", level="", confidence=0.95,
        comparisons=((path, "b"),), exclusions=(), n_items=9, samples=1, stopping="",
        resolves=None, n_runs=1,
    )  # fmt: skip
    left_out = (LeftOut(name="/data/out.gguf", why="open"),)
    shown = board_with(structs.replace(board, plans=(mark,), left_out=left_out), names)
    assert "/opt" not in repr(shown)
    assert "/data" not in str(shown)
    assert shown.plans[0].comparisons == (("local/x.gguf", "b"),)
    assert "local/x.gguf 9, other 1" in str(shown)
