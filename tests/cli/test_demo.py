"""``demo``: from the carried facts to a page, and the same command again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proofstone.api import open_workspace
from told import Proofstone


def test_the_demo_goes_from_facts_to_a_page_and_goes_on_where_it_stopped(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    """Any model in place of the carried one: three forms by three seeds in two ways, a leaderboard,
    one page that stands alone, and the line that looks closer. Again, nothing is asked."""
    for package in ("mendeleev", "countryinfo", "pycountry"):
        pytest.importorskip(package)
    work = tmp_path / "my demo"
    command = ("demo", work, "-m", "sim/ann?ability=1", "--questions", 2)
    said = proofstone(*command)
    assert said.code == 0, said.err
    heads = [line.split() for line in said.out.splitlines()]
    assert heads[0] == ["form", "facts", "6", "questions,", "seeds", "40", "41", "42"]
    ranked = [line for line in heads if line[1:2] == ["sim/ann?ability=1.0"]]
    assert [line[2:5] for line in ranked] == [["cot", "6", "100.0"], ["direct", "6", "100.0"]]
    look = f"look    proofstone show run:\\w{{8}} --outcome wrong -n 5 -w '{re.escape(str(work))}'"
    assert re.search(look, said.out)
    page = (work / "report.html").read_text(encoding="utf-8")
    assert "proofstone demo" in page
    assert re.search(r"(src|href)=.?https?:", page) is None
    with open_workspace(work) as workspace:
        before = workspace.store.lookup.count("run"), workspace.store.lookup.count("form")
    assert before == (6, 3)
    again = proofstone(*command)
    assert (again.code, again.out) == (0, said.out)
    with open_workspace(work) as workspace:
        assert (workspace.store.lookup.count("run"), workspace.store.lookup.count("form")) == before
