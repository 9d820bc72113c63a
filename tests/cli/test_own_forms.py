"""Forms of one's own: several right options, formats of answers, system message, few-shot turns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripted_server import child_server
from told import Proofstone

ROWS = [
    {"id": "float", "question": "Which of these float on water?", "A": "cork", "B": "iron",
     "C": "ice", "D": "lead", "answer": "A, C"},
    {"id": "metal", "question": "Which of these are metals?", "A": "glass", "B": "tin", "C": "zinc",
     "answer": ["B", "C"]},
    {"id": "one", "question": "Which of these is a gas?", "A": "argon", "B": "gold",
     "answer": "A"},
]  # fmt: skip


@pytest.fixture
def form(tmp_path: Path, proofstone: Proofstone) -> Path:
    """A workspace with a form of two questions with several right options and one with one."""
    file = tmp_path / "mine.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in ROWS), encoding="utf-8")
    made = tmp_path / "w"
    assert proofstone("init", made).code == 0
    told = proofstone("import", file, "--as", "form", "--method", "encyclo_k", "-w", made)
    assert told.code == 0, told.err
    return made


def settings(made: Path, url: str) -> None:
    text = f'[providers.scripted]\nbase_url = "{url}"\n'
    (made / "proofstone.toml").write_text(text, encoding="utf-8")


def scores(proofstone: Proofstone, made: Path, *words: object) -> dict[str, float | None]:
    """The value of each question by its id, of the one run that there is."""
    told = proofstone("run", "mine", "-w", made, "-q", *words)
    assert told.code == 0, told.err
    out = made / "scores.jsonl"
    told = proofstone("export", told.out.split()[0], "-o", out, "-w", made)
    assert told.code == 0, told.err
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    return {row["item_name"]: row["value"] for row in rows}


def test_a_set_is_right_as_a_whole_and_leaderboard_and_page_stand(
    form: Path, proofstone: Proofstone
) -> None:
    with child_server("--response", "Answer: C, A") as url:
        settings(form, url)
        values = scores(proofstone, form, "-m", "scripted/m")
    assert values == {"float": 1.0, "metal": 0.0, "one": None}  # of one with one: several answers
    for words in (("leaderboard", "mine"), ("report", "mine", "-o", form / "page.html")):
        told = proofstone(*words, "-w", form)
        assert told.code == 0, told.err


def test_such_questions_ask_for_all_right_options(form: Path, proofstone: Proofstone) -> None:
    told = proofstone(
        "run", "mine", "-w", form, "-m", "sim/a", "--dry-run", "--show", "3", "--json"
    )
    assert told.out.count("More than one option may be right.") == 2
    assert told.out.count("Exactly one option is right.") == 1


def test_a_simulated_model_can_be_right(form: Path, proofstone: Proofstone) -> None:
    values = scores(proofstone, form, "-m", "sim/wise?ability=1")
    assert values == {"float": 1.0, "metal": 1.0, "one": 1.0}


def test_an_exported_form_comes_back_as_it_was(
    form: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    out = tmp_path / "again.jsonl"
    assert proofstone("export", "mine", "-o", out, "-w", form).code == 0
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["answer"] for row in rows] == ["A, C", "B, C", "A"]


def test_a_template_brings_a_system_message_earlier_turns_and_its_own_format(
    form: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    template = tmp_path / "mine.jinja"
    template.write_text(
        "{# answer: regex:Final: ([A-D](?:, [A-D])*) #}\n"
        "{# system #}\nYou answer in {{ language }}.\n"
        "{# user #}\nWhich is a liquid? A) ice B) water\n"
        "{# assistant #}\nFinal: B\n"
        "{# user #}\n{{ question }}\nEnd with Final: and the letters.\n",
        encoding="utf-8",
    )
    with child_server("--response", "The answer is B. Final: A, C") as url:
        settings(form, url)
        values = scores(proofstone, form, "-m", "scripted/m", "--prompt-template", template)
    assert values == {"float": 1.0, "metal": 0.0, "one": None}
    words = ("run", "mine", "-w", form, "-m", "sim/a", "--prompt-template", template, "--dry-run")
    assert (
        "--- system\nYou answer in en.\n"
        "--- user\nWhich is a liquid? A) ice B) water\n"
        "--- assistant\nFinal: B\n"
        "--- user\nWhich of these float on water?\n\nOptions:\n"
        "A) cork\nB) iron\nC) ice\nD) lead\nEnd with Final: and the letters.\n"
    ) in proofstone(*words, "--show", "1").out
    # Scored again from the stored responses, the format still holds.
    run = proofstone("list", "run", "-w", form, "--json").json[0]["id"]
    assert proofstone("grade", f"run:{run[:12]}", "-w", form, "--again").code == 0


def test_a_row_states_the_format_of_its_answers(tmp_path: Path, proofstone: Proofstone) -> None:
    rows = [
        {**ROWS[0], "answer_format": "json:$.letters"},
        {**ROWS[2], "answer_format": "regex:=> (\\w)"},
    ]
    file = tmp_path / "mine.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    made = tmp_path / "w"
    proofstone("init", made)
    words = ("import", file, "--as", "form", "--method", "encyclo_k", "-w", made)
    assert proofstone(*words).code == 0
    with child_server("--response", 'The answer is B. {"letters": ["A", "C"]} => A') as url:
        settings(made, url)
        assert scores(proofstone, made, "-m", "scripted/m") == {"float": 1.0, "one": 1.0}


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("{# answer: regex:(a+)+ #}\n{{ question }}", "a repeat contains another one"),
        ("{# answer: regex:[A #}\n{{ question }}", "invalid regular expression"),
        ("{# user #}\n{{ question }}\n{# assistant #}\nx", "a user's turn at the end"),
        ("{# user #}\nx\n{# system #}\ny\n{# user #}\n{{ question }}", "at most one system"),
        ("x\n{# user #}\n{{ question }}", "text before its first turn"),
        ("{# system #}\n{{ question }}\n{# user #}\nWell?", "does not show the full question"),
    ],
)
def test_a_template_that_cannot_be_used_says_why(
    form: Path, tmp_path: Path, proofstone: Proofstone, lines: str, told: str
) -> None:
    template = tmp_path / "mine.jinja"
    template.write_text(lines, encoding="utf-8")
    run = proofstone("run", "mine", "-w", form, "-m", "sim/a", "--prompt-template", template, "-q")
    assert run.code == 2
    assert told in run.err


def test_a_format_that_cannot_be_used_is_told_with_its_row(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps({**ROWS[0], "answer_format": "regex:("}), encoding="utf-8")
    made = tmp_path / "w"
    proofstone("init", made)
    told = proofstone("import", file, "--as", "form", "--method", "encyclo_k", "-w", made)
    assert told.code == 2
    assert "field answer_format" in told.err
    assert "invalid regular expression" in told.err
