"""``run run.toml`` and ``run --save``: the same runs from a file as from a command."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from told import Proofstone

PLAN = """\
target = "old-books"
workspace = ".."
samples = 2
temperature = 0

[prompt_method.direct]
[prompt_method.cot]
max_tokens = 999

[models."sim/ann?ability=0.8"]
[models."sim/bob?miss=0.5"]
prompt_method = "direct"
temperature = 0.5
set = { odd = [1, 2] }
"""


@pytest.fixture
def plan(made: Path) -> Path:
    (made / "plans").mkdir()
    path = made / "plans" / "run.toml"
    path.write_text(PLAN, encoding="utf-8")
    return path


def runs(told: object) -> dict[str, tuple[str, str]]:
    return {run["run"]: (run["model"], run["prompt_method"]) for run in told.json}  # type: ignore[attr-defined]


def test_a_run_file_runs_what_it_says(plan: Path, proofstone: Proofstone) -> None:
    """The workspace is the one that it names, meant from its own folder."""
    said = proofstone("run", plan, "--json", "-q")
    assert said.code == 0
    assert list(runs(said).values()) == [
        ("sim/ann?ability=0.8", "direct"),
        ("sim/ann?ability=0.8", "cot"),
        ("sim/bob?miss=0.5", "direct"),
    ]
    assert [run["total"] for run in said.json] == [16, 16, 16]


def test_a_saved_file_gives_the_same_runs(
    plan: Path, made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """With flags over the file, from another folder, and once more saved from the saved one."""
    saved = tmp_path / "saved.toml"
    first = proofstone("run", plan, "--save", saved, "--shots", "1", "--json", "-q")
    again = tmp_path / "again.toml"
    second = proofstone("run", saved, "-w", made, "--save", again, "--json", "-q")
    assert runs(second) == runs(first)
    assert again.read_text(encoding="utf-8") == saved.read_text(encoding="utf-8")
    text = saved.read_text(encoding="utf-8").partition("\n")[2]
    form = first.json[0]["form"]
    assert text == (
        "targets = [\n"
        f'    "form:{form}",  # old-books-{form[:4]}\n'
        "]\n\n"
        '[prompt_method.direct]\nshots = 1\nsamples = 2\nreplicate = ""\nmax_tokens = 1024\n'
        "temperature = 0.0\n\n"
        '[prompt_method.cot]\nshots = 1\nsamples = 2\nreplicate = ""\nmax_tokens = 999\n'
        "temperature = 0.0\n\n"
        '[models."sim/ann?ability=0.8"]\n\n'
        '[models."sim/bob?miss=0.5"]\nprompt_method = ["direct"]\ntemperature = 0.5\n'
        "set = { odd = [1, 2] }\n"
    )


def test_a_saved_command_is_a_run_file(made: Path, tmp_path: Path, proofstone: Proofstone) -> None:
    saved = tmp_path / "saved.toml"
    command = ("run", "old-books", "-m", "sim/ann,sim/eve", "--prompt-method", "cot", "--set",
    "top_p=1",
               "--stop", "END", "--set", "max_tokens=null", "-w", made, "--json", "-q")  # fmt: skip
    first = proofstone(*command, "--save", saved)
    assert runs(proofstone("run", saved, "-w", made, "--json", "-q")) == runs(first)
    text = saved.read_text(encoding="utf-8")
    assert 'max_tokens = "unset"' in text
    assert 'stop = ["END"]' in text


def test_the_commands_options_come_over_the_file(plan: Path, proofstone: Proofstone) -> None:
    said = proofstone("run", plan, "-m", "sim/bob?miss=0.5", "--samples", "1", "--json", "-q")
    assert [(run["model"], run["prompt_method"], run["total"]) for run in said.json] == [
        ("sim/bob?miss=0.5", "direct", 8)
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["a.toml", "b.toml"], "one run file at a time, not a.toml and b.toml"),
        (["absent.toml"], "run file absent.toml not found"),
        (["-m", "sim/a"], "name a target: a form or a bank"),
        (["old-books"], "name a model: -m openai/gpt-5.1"),
    ],
)
def test_what_is_missing_is_said(arguments: list[str], says: str, proofstone: Proofstone) -> None:
    said = proofstone("run", *arguments)
    assert said.code == 2
    assert says in said.err


def test_a_run_file_without_a_target_takes_the_commands(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    plan = tmp_path / "models.toml"
    plan.write_text('models = ["sim/ann"]\n', encoding="utf-8")
    assert proofstone("run", plan, "-w", made).code == 2
    assert proofstone("run", plan, "old-books", "-w", made, "-q").code == 0


def test_a_typo_is_named_with_its_line_and_nothing_is_run(
    plan: Path, made: Path, proofstone: Proofstone
) -> None:
    before = proofstone("list", "run", "-w", made).out
    plan.write_text(PLAN.replace("samples", "sampels"), encoding="utf-8")
    said = proofstone("run", plan)
    assert said.code == 2
    assert f"{plan}, line 3: unknown key 'sampels'; did you mean 'samples'?" in said.err
    assert proofstone("list", "run", "-w", made).out == before


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_cannot_be_saved_stops_before_anything_is_asked(
    plan: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    assert proofstone("run", plan, "--save", folder / "x.toml").code == 3


def test_a_place_that_is_none_cannot_be_saved_to(
    plan: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    said = proofstone("run", plan, "--save", tmp_path / "absent" / "x.toml")
    assert said.code == 3
    assert "choose another file with --save" in said.err


def test_a_preset_lies_below_what_the_file_says(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """Named by the file or by the command; saved, nothing of it is left open."""
    plan = tmp_path / "run.toml"
    text = 'target = "old-books"\npreset = "as-published"\nmodels = ["sim/ann"]\nmax_tokens = 77\n'
    plan.write_text(text, encoding="utf-8")
    saved = tmp_path / "saved.toml"
    first = proofstone("run", plan, "-w", made, "--save", saved, "--json", "-q")
    assert runs(proofstone("run", saved, "-w", made, "--json", "-q")) == runs(first)
    plan.write_text(text.replace('preset = "as-published"\n', ""), encoding="utf-8")
    named = proofstone("run", plan, "--preset", "as-published", "-w", made, "--json", "-q")
    assert runs(named) == runs(first)
    shown = proofstone(
        "doctor", "--config", "-w", made, "--", plan, "--preset", "as-published"
    ).out.splitlines()
    assert any(line.split()[:2] == ["max_tokens", "77"] for line in shown)
    assert any(line.endswith("preset as-published") for line in shown)
    assert any(line.split() == ["preset", "as-published", "flag", "--preset"] for line in shown)
