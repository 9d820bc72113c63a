"""Forms of one bank under two recipes do not add up, however they are named."""

from __future__ import annotations

from pathlib import Path

import pytest

import proofstone
from proofstone.errors import BadUsage
from small_bank import write_bank


def test_forms_of_two_recipes_stand_on_no_leaderboard_together(tmp_path: Path) -> None:
    """Named one by one, or by the runs on them, as when their bank is named; seeds add up."""
    with proofstone.create_workspace(tmp_path / "work") as ws:
        bank = ws.import_bank(write_bank(tmp_path))
        six = ws.build_form(bank, seeds=[1, 2], questions=6)
        four = ws.build_form(bank, seeds=[1], questions=4)
        ws.run([*six, *four], models=["sim/ann?ability=1"])
        assert ws.leaderboard(*six).n_items == 2 * 6
        for targets in ([six[0], *four], [bank]):
            with pytest.raises(BadUsage, match="2 recipes, whose scores cannot be combined"):
                ws.leaderboard(*targets)
