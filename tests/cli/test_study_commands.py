"""``report --analysis`` as a person calls it: a table on stdout, the figure's data in a file."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from proofstone.api import Workspace, open_workspace
from proofstone.records.items import ItemSet
from proofstone.results.cli import analysis_names
from scripted_server import answer
from serving import configure, serving
from told import Proofstone


@pytest.fixture
def studied(made: Path) -> Path:
    """The workspace with a second form of another seed and a sweep, asked as the first was."""
    with open_workspace(made) as workspace:
        second = workspace.build_form("old-books", questions=8, seeds=[1])
        sweep = [
            form
            for options in ("4", "5")
            for form in workspace.build_form("old-books", questions=8, options=options)
        ]
        models = ["sim/ann?ability=0.8", "sim/bob?miss=0.5"]
        workspace.run([*second, *sweep], models=models, prompt_method=["direct", "cot"])
        for word in ("on", "off"):
            workspace.run(second, models=models, thinking=word)
        statements = workspace.build_form("old-books", setting="statements", sample=6)
        workspace.run(statements, models=models)
    return made


def _second(workspace: Workspace) -> ItemSet:
    """The form of seed 1."""
    found = [workspace.store.items.item_set(f.id) for f in workspace.store.lookup.every("form")]
    return next(form for form in found if form.seed == 1)


# They stand on other questions, several judges, pairs of models, another benchmark, triples.
_ELSEWHERE = (
    "choices", "judges", "alignment", "rankings", "retrieval", "random", "effort", "domains",
    "prompts", "ranges", "popularity", "contexts", "evidence",
    "reasoning", "errors", "drift", "panel", "tools", "cost",
)  # fmt: skip


def test_every_study_of_a_bank(studied: Path, proofstone: Proofstone, tmp_path: Path) -> None:
    """Seeds and options find their forms in the bank; the others stand on one form. The figure's
    data has a row a mark, under the axes' names."""
    with open_workspace(studied) as workspace:
        second = f"form:{_second(workspace).id.hex()}"
    for name in analysis_names():
        if name in _ELSEWHERE:
            continue
        target = "old-books" if name in ("seeds", "options", "settings") else second
        told = proofstone("report", target, "--analysis", name, "-w", studied, "--json")
        assert (told.code, told.err) == (0, "")
        assert told.json["name"] == name
        path = tmp_path / f"{name}.csv"
        told = proofstone("report", target, "--analysis", name, "-w", studied, "-o", path)
        assert told.code == 0
        assert "sim/ann?ability=0.8" in told.out
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(proofstone(
            "report", target, "--analysis", name, "-w", studied, "--json"
        ).json["data"]["marks"])  # fmt: skip
        value = {"difficulty": "share of questions", "sets": "items"}.get(name, "accuracy")
        assert {"series", value, "n", "low", "high"} <= set(rows[0])


def test_a_study_in_chinese(studied: Path, proofstone: Proofstone) -> None:
    """Its sentence, heads and notes; names stay as they are."""
    told = proofstone(
        "report", "old-books", "--analysis", "settings", "--ui-language", "zh", "-w", studied
    )
    assert told.code == 0
    assert told.out.startswith("各设置下的准确率\n没有模型在每种设置下都完整。\n\n模型  ")
    assert "\nsim/ann?ability=0.8" in told.out
    assert "任一设置（思考、少样本示例" in told.out


def test_costs_of_questions_are_those_of_their_calls(made: Path, proofstone: Proofstone) -> None:
    """300 and 20 tokens at 2 and 10 USD per million, of each of 8 questions."""
    price = 'price = { input = 2.0, output = 10.0, date = "2025-11-01", source = "https://e.x" }'
    with serving(answer(prompt_tokens=300, completion_tokens=20)) as server:
        configure(made, server.url, price)
        asked = proofstone("run", "old-books", "-m", "scripted/one", "-w", made, "--json")
    assert asked.code == 0
    told = proofstone("report", "old-books", "--analysis", "cost", "-w", made, "--json")
    (row,) = (row for row in told.json["tables"][0]["rows"] if "scripted/one" in row[0])
    each = (300 * 2 + 20 * 10) / 1e6
    assert row[1:5] == [8, each, each, each]
    assert row[5] == pytest.approx(8 * each)


def test_a_study_of_nothing_says_what_to_run(made: Path, proofstone: Proofstone) -> None:
    """A form that was never asked, and one form where seeds need two."""
    with open_workspace(made) as workspace:
        (fresh,) = workspace.build_form("old-books", questions=8, seeds=[7])
    told = proofstone("report", f"form:{fresh.id.hex()}", "--analysis", "seeds", "-w", made)
    assert (told.code, told.out) == (2, "")
    assert "nothing was run" in told.err
    told = proofstone("report", "old-books", "--analysis", "seeds", "-w", made)
    assert told.code == 2
    assert "--seeds 5" in told.err
