"""KINA's questions are imported, written back, composed and run; bad rows are told at once."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from kina.kina_rows import combination, standard, statement, write_rows
from proofstone.errors import BadInput
from proofstone.method import find_method
from proofstone.methods.kina.payloads import Question, Statement
from proofstone.methods.kina.questions import read_facts, write_fact
from proofstone.records.knowledge import BuiltFact, Stratum
from proofstone.records.tables import Row
from proofstone.testing import check_method
from told import Proofstone


def read(*rows: dict[str, Any]) -> list[BuiltFact]:
    return list(read_facts(Row(f"line {n}", row) for n, row in enumerate(rows, 1)))


def question(**changed: Any) -> Question:
    (built,) = read(combination(**changed))
    payload: Question = built.fact.payload
    return payload


def statements(n: int) -> list[dict[str, Any]]:
    return [statement(k, correct=k % 3 == 0) for k in range(n)]


def test_it_keeps_the_contract_of_methods() -> None:
    method = find_method("kina")
    check_method(method, facts=[combination(0), standard(1), combination(2, language="zh")])
    check_method(method, facts=statements(30))


def test_a_combination_is_sets_of_statements_and_a_standard_question_is_texts() -> None:
    asked = question()
    assert (asked.kind, asked.sets[0], asked.sets[asked.answer_key]) == (
        "combination", (0, 1), (1, 3),
    )  # fmt: skip
    assert asked.options[asked.answer_key] == "2, 4"
    (built,) = read(standard())
    assert built.fact.payload.kind == "standard"
    assert built.fact.payload.options[3] == "16 seconds"


@pytest.mark.parametrize("option", ["[2,4]", "2 and 4", "2、4", "{4, 2}", "(2;4)"])
def test_combinations_are_read_as_people_write_them(option: str) -> None:
    options = list(combination()["options"])
    options[6] = option
    assert question(options=options, answer="G").sets[6] == (1, 3)


def test_numbered_lines_that_end_the_stem_are_its_statements() -> None:
    row = combination()
    lines = "\n".join(f"{n}. {text}" for n, text in enumerate(row["statements"], 1))
    numbered = combination(stem=f"{row['stem']}\n{lines}", statements="")
    (one,), (other,) = read(row), read(numbered)
    assert one.fact.id == other.fact.id


def test_data_in_numbered_lines_of_a_standard_question_stay_in_its_stem() -> None:
    (built,) = read(standard(stem="Given\n1. a load\n2. a beam\nhow long?"))
    assert built.fact.payload.statements == ()


@pytest.mark.parametrize(
    "row",
    [
        combination(),
        combination(made_by="model", preprint="cited 900 times", corrects="ab" * 32),
        standard(),
        statement(1, correct=False),
        statement(2, correct=True, group="basalt"),
    ],
    ids=["combination", "marked", "standard", "false", "grouped"],
)
def test_what_is_written_is_read_back_unchanged(row: dict[str, Any]) -> None:
    (built,) = read(row)
    (again,) = read(write_fact(built, {}))
    assert again.fact == built.fact


def test_names_of_the_taxonomy_are_completed_in_its_spelling() -> None:
    (built,) = read(combination(discipline="", field="", subfield="geoCHEMISTRY"))
    assert built.fact.stratum == Stratum("Science", "Geology", "Geochemistry")


def test_a_statement_and_its_falsification_are_one_group() -> None:
    true, false = read(
        statement(1, correct=True, id="s1"), statement(2, correct=False, id="s2", origin="s1")
    )
    assert isinstance(true.fact.payload, Statement)
    assert true.fact.payload.group == false.fact.payload.group == "s1"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"options": ["1, 9", *combination()["options"][1:]]}, '"1, 9" is not among 6 statements'),
        ({"options": ["1, 1", *combination()["options"][1:]]}, "names a statement twice"),
        ({"options": ["2, 1", "1, 2", *combination()["options"][2:]]}, "the same set"),
        ({"options": ["iron", *combination()["options"][1:]]}, "numbers of statements"),
        ({"answer": "K"}, "expected a letter"),
        ({"explanations": ["one"]}, "expected 10 texts"),
        ({"sources": {"L": "x"}}, "L: not among the 10 options"),
        ({"made_by": "nobody"}, "people, statement bank, model"),
        ({"stem": " "}, "white space"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_field(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(BadInput) as refused:
        read(combination(**changed))
    assert any(told in problem.what for problem in refused.value.problems)


def test_all_problems_of_a_file_are_told_at_once() -> None:
    with pytest.raises(BadInput) as refused:
        read(
            combination(0, made_by="x"),
            combination(1, answer="K"),
            statement(1, correct=True, correct_="") | {"correct": ""},
            combination(2),
            combination(2),
        )
    places = {problem.where.partition(",")[0] for problem in refused.value.problems}
    assert places == {"line 1", "line 2", "line 3", "line 5"}


# By commands.


@pytest.fixture
def folder(tmp_path: Path, proofstone: Proofstone) -> Path:
    assert proofstone("init", tmp_path / "w").code == 0
    return tmp_path


def test_a_bank_is_imported_run_and_ranked_by_discipline(
    folder: Path, proofstone: Proofstone
) -> None:
    rows = [combination(n) for n in range(4)] + [standard(n) for n in range(4)]
    path, work = write_rows(folder / "asked.jsonl", rows), folder / "w"
    told = proofstone("import", path, "--as", "bank", "-w", work)
    assert told.code == 0, told.err
    told = proofstone(
        "run", "asked", "-m", "sim/knows?ability=1", "-m", "sim/guesses?ability=0",
        "--preset", "as-published", "-w", work,
    )  # fmt: skip
    assert told.code == 0, told.err
    assert "avg@4 sd" in told.out
    told = proofstone("leaderboard", "asked", "--by", "discipline", "-w", work, "--json")
    assert told.code == 0, told.err
    assert {"Engineering", "Science"} <= set(_texts(json.loads(told.out)))
    shown = proofstone("show", "asked", "--statistics", "-w", work)
    assert shown.code == 0, shown.err
    assert "899" in shown.out
    assert "Questions by discipline" in shown.out


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for part in value.items() for each in part for text in _texts(each)]
    if isinstance(value, list):
        return [text for part in value for text in _texts(part)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("way", ["option-likelihood", "letter-likelihood", "direct", "cot"])
def test_every_prompting_method_is_scored(folder: Path, proofstone: Proofstone, way: str) -> None:
    path = write_rows(folder / "asked.jsonl", [combination(n) for n in range(3)])
    told = proofstone("import", path, "--as", "bank", "-w", folder / "w")
    assert told.code == 0, told.err
    told = proofstone(
        "run", "asked", "-m", "sim/knows?ability=1", "--prompt-method", way, "-w", folder / "w"
    )
    assert told.code == 0, told.err
    assert "100.0" in told.out


def test_a_bank_goes_through_csv_unchanged(folder: Path, proofstone: Proofstone) -> None:
    rows = [combination(0), standard(1)]
    work, sheet = folder / "w", folder / "again.csv"
    path = write_rows(folder / "asked.jsonl", rows)
    told = proofstone("import", path, "--as", "bank", "-w", work, "--json")
    assert told.code == 0, told.err
    assert proofstone("export", "asked", "-o", sheet, "-w", work).code == 0
    with sheet.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 2
    back = proofstone("import", sheet, "--as", "bank", "--name", "again", "-w", work, "--json")
    assert back.code == 0, back.err
    assert json.loads(told.out)["bank"] == json.loads(back.out)["bank"]


def test_a_bank_of_statements_gives_a_form(folder: Path, proofstone: Proofstone) -> None:
    path = write_rows(folder / "ores.jsonl", statements(60))
    told = proofstone("import", path, "--as", "bank", "--method", "kina", "-w", folder / "w")
    assert told.code == 0, told.err
    told = proofstone("build", "form", "ores", "--statements", "6", "-w", folder / "w")
    assert told.code == 0, told.err
    told = proofstone("show", "ores", "-w", folder / "w")
    assert told.code == 0, told.err
