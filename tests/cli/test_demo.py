"""``demo``: an audit of the bundled table, questions from bundled facts, and the command again."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path

import pytest

from proofstone.api import open_workspace
from told import Proofstone

ROOT = Path(__file__).parents[2]


@pytest.fixture
def facts() -> None:
    for package in ("mendeleev", "countryinfo", "pycountry"):
        pytest.importorskip(package)


def test_the_audit_is_of_the_published_table_and_needs_no_workspace(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    """42 models, as the file in docs has them; the page names the source and stands alone."""
    bundled = resources.files("proofstone.start") / "kina-table-3.csv"
    assert bundled.read_bytes() == (ROOT / "docs" / "data" / "kina-table-3.csv").read_bytes()
    said = proofstone("demo", tmp_path / "d", "--only", "audit")
    assert said.code == 0, said.err
    first, *others = said.out.splitlines()
    source = next(line for line in others if "source" in line)
    assert "42 models on 899 questions. Gemini-3.1-Pro-Preview has the highest score" in first
    assert "Knowledge Index of Noah's Ark (KINA), Table 3" in source
    assert [path.name for path in (tmp_path / "d").iterdir()] == ["audit.html"]
    page = (tmp_path / "d" / "audit.html").read_text(encoding="utf-8")
    assert "Knowledge Index of Noah" in page
    assert re.search(r"(src|href)=.?https?:", page) is None
    assert len(re.findall(r"^  proofstone \S", said.out, re.MULTILINE)) == 3
    assert f"  proofstone demo {tmp_path / 'd'} --only run\n" in said.out


@pytest.mark.usefixtures("facts")
def test_the_default_folder_is_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proofstone: Proofstone
) -> None:
    """``demo`` prints ``demo --only run``, not ``demo demo --only run``."""
    monkeypatch.chdir(tmp_path)
    said = proofstone("demo", "--only", "audit")
    assert "\n  proofstone demo --only run\n" in said.out


@pytest.mark.usefixtures("facts")
def test_the_runs_make_two_pages_with_a_ranking_and_go_on_where_they_stopped(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    """Any model in place of the bundled one, beside three simulated ones that are marked. Options
    that are scored are ranked separately. Again, nothing is asked, and the same is printed."""
    work = tmp_path / "my demo"
    command = ("demo", work, "-m", "sim/ann?ability=1", "--questions", 6, "--only", "run")
    said = proofstone(*command)
    assert said.code == 0, said.err
    out = said.out
    assert "form    6 four-option questions, option likelihood" in out
    assert "form    6 composed questions, asked directly" in out
    assert out.count("SIMULATED") == 2
    assert out.count("Option likelihood, ranked separately") == 1
    ranked = re.findall(r"^.*(option-likelihood|direct) +6 +([\d.]+)", out, re.MULTILINE)
    methods = [method for method, _score in ranked]
    assert methods == ["option-likelihood"] * 4 + ["direct"] * 4
    assert ranked[0][1] == ranked[4][1] == "100.0"
    for name in ("questions", "composed"):
        page = (work / f"{name}.html").read_text(encoding="utf-8")
        assert "proofstone demo" in page
        assert re.search(r"(src|href)=.?https?:", page) is None
    asked = [
        json.loads(line) for line in (work / "questions.jsonl").read_text("utf-8").splitlines()
    ]
    assert [question["question"].split()[1] for question in asked] == [
        "capital", "chemical", "ISO", "capital", "chemical", "ISO",
    ]  # fmt: skip
    assert all(len(set(question["options"])) == 4 for question in asked)
    with open_workspace(work) as workspace:
        before = workspace.store.lookup.count("run"), workspace.store.lookup.count("form")
    assert before == (8, 2)
    again = proofstone(*command)
    assert (again.code, again.out) == (0, said.out)
    with open_workspace(work) as workspace:
        assert (workspace.store.lookup.count("run"), workspace.store.lookup.count("form")) == before
    for line in out.splitlines()[-3:-1]:
        assert line.startswith("  proofstone ")
    shown = proofstone("show", "four-options", "--outcome", "wrong", "-n", 1, "-w", work)
    assert shown.code == 0, shown.err


@pytest.mark.usefixtures("facts")
def test_the_whole_as_json_has_three_leaderboards(tmp_path: Path, proofstone: Proofstone) -> None:
    said = proofstone(
        "demo", tmp_path / "d", "-m", "sim/ann", "--questions", 3, "--json", "--quiet"
    )
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert set(found) == {"audit", "questions", "composed"}
    assert len(found["audit"]["standings"][0]["ranked"]) == 42
    assert [group["scale"]["name"] for group in found["questions"]["standings"]] == [
        "Option likelihood"
    ]
