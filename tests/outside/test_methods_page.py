"""The method of docs/tutorials/write-a-method.md, installed from outside as it stands on the page,
and the contract check that its page names."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from tools.doc_pages import blocks
from tools.resolved import ROOT

from proofstone.errors import BadInput
from proofstone.method import Method, find_method, method_names
from proofstone.records.items import Item
from proofstone.records.knowledge import BuiltFact
from proofstone.records.runs import Score
from proofstone.records.tables import Row
from proofstone.testing import check_method
from small_bank import rows, write_lines

ROWS = [
    {"country": "Peru", "capital": "Lima", "region": "Americas"},
    {"country": "Chad", "capital": "N'Djamena", "region": "Africa"},
    {"country": "Iran", "capital": "Tehran", "region": "Asia"},
    {"country": "Fiji", "capital": "Suva", "region": "Oceania"},
]


@pytest.fixture(scope="module")
def page() -> str:
    """The method that the page writes, unchanged; what checks it stands behind."""
    place = ROOT / "docs" / "tutorials" / "write-a-method.md"
    text = place.read_text(encoding="utf-8").partition("### Checking it")[0]
    return "\n".join(block.text for block in blocks(text) if block.language == "python")


@pytest.fixture
def outside(page: str, tmp_path: Path) -> dict[str, str]:
    """An environment in which the page's code is an installed package."""
    package = tmp_path / "site"
    (package / "my_package").mkdir(parents=True)
    (package / "my_package" / "__init__.py").write_text("", encoding="utf-8")
    (package / "my_package" / "capitals.py").write_text(page, encoding="utf-8")
    info = package / "my_package-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text(
        "[proofstone.methods]\ncapitals = my_package.capitals:METHOD\n"
    )
    return {**os.environ, "PYTHONPATH": str(package)}


def told(environment: dict[str, str], *arguments: object) -> str:
    """What a command printed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "proofstone", *map(str, arguments)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_pages_method_asks_a_question_a_row(outside: dict[str, str], tmp_path: Path) -> None:
    """Four rows of a file are four facts, four questions and four answers; an exported form comes
    back."""
    folder = tmp_path / "work"
    file = write_lines(tmp_path / "capitals.jsonl", ROWS)
    told(outside, "init", folder)
    bank = told(outside, "import", file, "--as", "bank", "--method", "capitals", "-w", folder)
    assert "   4 " in bank
    assert "   4 " in told(outside, "build", "form", "capitals", "-w", folder)
    told(outside, "run", "capitals", "-m", "sim/a?ability=1", "-w", folder)
    board = json.loads(told(outside, "leaderboard", "capitals", "-w", folder, "--json"))
    assert board["standings"][0]["ranked"][0]["estimate"]["n"] == len(ROWS)
    form = "form:" + json.loads(told(outside, "list", "form", "-w", folder, "--json"))[0]["id"]
    told(outside, "export", form, "-o", tmp_path / "form.jsonl", "-w", folder)
    back = told(
        outside, "import", tmp_path / "form.jsonl", "--as", "form", "--method", "capitals",
        "-w", folder, "--json",
    )  # fmt: skip
    assert json.loads(back)["form"] == form.removeprefix("form:")


def capitals(page: str) -> Method:
    """The method that the page writes."""
    module = ModuleType("capitals_of_the_page")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    exec(compile(page, "docs/tutorials/write-a-method.md", "exec"), module.__dict__)  # noqa: S102 - our own page
    method: Method = module.METHOD
    return method


def test_the_pages_method_keeps_the_contract(page: str) -> None:
    check_method(capitals(page), facts=ROWS)


def test_the_methods_of_the_package_keep_it() -> None:
    """Each with rows of its own."""
    short = [
        {"question": f"Which year came {n} after 1900?", "answer": f"{1900 + n}"} for n in (1, 2)
    ]
    entities = [{"name": "Anna Example"}, {"name": "Port Nowhere"}]
    choices = [{"question": "Which?", "options": ["this", "that"], "answer": "A", "language": "en"}]
    check_method(find_method("encyclo_k"), facts=rows(), items=choices, questions=6)
    check_method(find_method("chinese_simpleqa"), facts=short, items=short)
    check_method(find_method("bequ"), items=entities)
    assert {"encyclo_k", "chinese_simpleqa", "bequ"} <= set(method_names())


def test_each_breach_is_named(page: str) -> None:
    """One id for all facts; items that come out differently; an error that counts as an answer; a
    column that is not written; a part that is missing."""
    base = capitals(page)
    seeds = itertools.count()

    def read_facts(rows: Any) -> list[BuiltFact]:
        return [
            BuiltFact(msgspec.structs.replace(built.fact, id=bytes(32)))
            for built in base.read_facts(rows)
        ]

    def compose(bank: Any, recipe: Any, _seed: int) -> Iterator[Item]:
        yield from base.compose(bank, recipe, next(seeds))

    async def score(units: Any, judge: Any) -> list[Score]:
        scores = await base.score(units, judge)
        return [msgspec.structs.replace(s, outcome="answered", value=1.0) for s in scores]

    def write_fact(built: BuiltFact, facts: Any) -> dict[str, Any]:
        return {"country": built.fact.payload.country, "capital": "somewhere"}

    def settings(prompt_method: str) -> dict[str, Any]:
        return {}

    broken: dict[str, dict[str, Any]] = {
        "has an id that does not match its content": {"read_facts": read_facts},
        "the same bank, recipe and seed give different items the second time": {"compose": compose},
        "an empty response counts as an answer worth 1": {"score": score},
        "read_facts returns different facts for the rows that write_fact wrote": {
            "write_fact": write_fact
        },
        "settings has no max_tokens": {"settings": settings},
        "has no function show": {"show": None},
        "answer_key takes (); expected 1 values": {"answer_key": lambda: ("", 0)},
        "the headline 'fame' is none of the measures": {"headline": "fame"},
    }
    for said, body in broken.items():
        with pytest.raises(BadInput) as raised:
            check_method(replace(base, **body), facts=ROWS)
        assert any(said in problem.what for problem in raised.value.problems), said


def test_ids_that_a_method_leaves_empty_are_computed(page: str) -> None:
    """Facts and items of one are told apart by their content."""
    method = capitals(page)
    read = method.read_facts([Row(f"row {n}", dict(row)) for n, row in enumerate(ROWS)])
    assert {built.fact.id for built in read} == {b""}
    check_method(method, facts=ROWS)
