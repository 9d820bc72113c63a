"""``run --prompt-template``: what a person types and sees."""

from __future__ import annotations

from pathlib import Path

from told import Proofstone

MINE = "{{ question }}\nAnswer: X"


def test_a_run_by_a_template_says_so_wherever_it_stands(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """In the line of the run, in lists, on the leaderboard; ``show`` prints the template."""
    path = tmp_path / "mine.jinja"
    path.write_text(MINE, encoding="utf-8")
    told = proofstone(
        "run", "old-books", "-w", made, "-m", "sim/cat", "--prompt-template", path, "-q"
    )
    assert told.code == 0
    run, marked = told.out.split()[0], "own prompt: mine.jinja ("
    assert f"sim/cat direct, {marked}" in told.out
    assert marked in proofstone("list", "run", "-w", made).out
    assert marked in proofstone("leaderboard", "old-books", "-w", made).out
    shown = proofstone("show", run, "-w", made).out
    assert f"--- own prompt, mine.jinja ({shown.split('mine.jinja (')[1][:8]})\n{MINE}" in shown
    (row,) = proofstone("run", "old-books", "-w", made, "-m", "sim/cat", "--prompt-template", path,
                        "--json", "-q").json  # fmt: skip
    assert row["own_prompt"].startswith("mine.jinja (")


def test_the_config_says_which_template_is_in_force(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    path = tmp_path / "mine.jinja"
    path.write_text(MINE, encoding="utf-8")
    words = ("doctor", "--config", "-w", made, "--json", "--", "old-books", "-m", "sim/cat")
    sections = proofstone(*words, "--prompt-template", path).json
    (asking,) = (each for each in sections if each["heading"] == "asking sim/cat direct")
    (prompt,) = (each for each in asking["settings"] if each["name"] == "prompt_template")
    assert prompt["value"].startswith(f"{path} (")
    assert prompt["origin"] == "flag --prompt-template"
    (asking,) = (each for each in proofstone(*words).json if each["heading"].startswith("asking"))
    assert {"name": "prompt_template", "value": "the method's", "origin": "default"} in asking[
        "settings"
    ]


def test_a_template_that_cannot_be_used_ends_with_what_is_wrong(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    path = tmp_path / "mine.jinja"
    path.write_text("{{ question }}\n{{ gold }}", encoding="utf-8")
    told = proofstone(
        "run", "old-books", "-w", made, "-m", "sim/cat", "--prompt-template", path, "-q"
    )
    assert (told.code, told.out) == (2, "")
    assert told.err == (
        "error[PS-202]: cannot use the template mine.jinja\n"
        "  mine.jinja, line 2: unknown variable gold\n"
        "  help: it may use: asks, count, language, letters, options, prompt_method, question, "
        "sentence, "
        "sentence_number, several, statements, stem, stepwise, task, wording_number\n"
    )


def test_help_lists_every_way_and_variable(proofstone: Proofstone) -> None:
    """As the method declares them."""
    told = " ".join(proofstone("run", "--help").out.split())
    for prompt_method in ("direct (", "cot (", "verdicts (", "verdicts-cot ("):
        assert prompt_method in told.replace("- ", "-")  # wherever the line breaks
    may_use = told.partition("Variables: ")[2].partition(".")[0].split(", ")
    assert {"question", "stem", "sentence", "statements", "options", "language"} <= set(may_use)
