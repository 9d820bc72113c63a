"""A corrected form is asked as the former one was, and its board says what is left to ask."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from scripted_server import answer
from serving import configure, serving
from told import Proofstone

QUESTIONS = 8
TEMPLATE = "{{ question }}\nEnd with: Answer: X"
SETTINGS = ("--temperature", 0.7, "--max-tokens", 300, "--set", "top_p=0.9", "--samples", 2)


def edited(proofstone: Proofstone, folder: Path) -> list[str]:
    """Corrects the last item of the form; the commands that ``edit`` names next."""
    items = proofstone("show", "old-books", "-m", "scripted/one", "-n", 99, "-w", folder).out
    item = next(line for line in reversed(items.splitlines()) if line.startswith("response:"))
    said = proofstone(
        "correct",
        "edit",
        f"item:{item.split('/')[1]}",
        "--set",
        "template=1",
        "--reason",
        "x",
        "-w",
        folder,
    )
    lines = said.err.splitlines()
    return [line[6:].partition("  #")[0] for line in lines if line.startswith("Next: ")]


def test_untouched_items_come_from_the_cache(
    made: Path, proofstone: Proofstone, tmp_path: Path
) -> None:
    """By a template, a temperature, another length, samples and a setting without an option of its
    own: only the corrected item is asked."""
    prompt = tmp_path / "mine.jinja"
    prompt.write_text(TEMPLATE, encoding="utf-8")
    with serving(answer("Answer: A")) as server:
        configure(made, server.url)
        proofstone(
            "run", "old-books", "-m", "scripted/one", *SETTINGS, "--prompt-template", prompt, "-q",
            "--yes",
            "-w", made,
        )  # fmt: skip
        assert server.requests == 2 * QUESTIONS
        (command,) = [each for each in edited(proofstone, made) if "scripted/one" in each]
        assert command.endswith(
            f"--samples 2 --prompt-template {shlex.quote(str(prompt.resolve()))} --max-tokens 300 "
            "--temperature 0.7 --set top_p=0.9"
        )
        done = proofstone(*shlex.split(command)[1:], "-q", "--yes", "-w", made)
        assert done.code == 0, done.err
        assert server.requests == 2 * QUESTIONS + 2


def test_the_prompt_file_is_named_as_seen_from_the_current_folder(
    made: Path, proofstone: Proofstone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it was named otherwise when it was asked; the command works as it is printed."""
    prompt = tmp_path / "my prompts" / "mine.jinja"
    prompt.parent.mkdir()
    prompt.write_text(TEMPLATE, encoding="utf-8")
    with serving(answer("Answer: A")) as server:
        configure(made, server.url)
        asked = ("run", "old-books", "-m", "scripted/one", "-q", "--yes", "-w", made)
        proofstone(*asked, "--prompt-template", prompt)
        monkeypatch.chdir(tmp_path)
        (command,) = [each for each in edited(proofstone, made) if "scripted/one" in each]
        assert command.endswith(" --prompt-template 'my prompts/mine.jinja'")
        done = proofstone(*shlex.split(command)[1:], "-q", "--yes", "-w", made)
        assert done.code == 0, done.err
        assert server.requests == QUESTIONS + 1


def test_a_limit_holds_for_the_corrected_form(made: Path, proofstone: Proofstone) -> None:
    with serving(answer("Answer: A")) as server:
        configure(made, server.url)
        asked = ("run", "old-books", "-m", "scripted/one", "--limit", 3, "-q", "--yes", "-w", made)
        proofstone(*asked)
        (command,) = [each for each in edited(proofstone, made) if "scripted/one" in each]
        assert command.endswith("-m scripted/one --limit 3")
        assert proofstone(*shlex.split(command)[1:], "-q", "--yes", "-w", made).code == 0
        assert server.requests in (3, 4)


def test_until_it_is_asked_the_board_says_of_which_version_the_runs_are(
    made: Path, proofstone: Proofstone
) -> None:
    """Of the corrected form by name an error with the commands; the board of the bank, which is
    that of the former version, says so below."""
    shown = proofstone("show", "old-books", "-m", "sim/bob?miss=0.5", "-n", 1, "-w", made).out
    item = shown.partition("response:")[2].split("/")[1]
    said = proofstone(
        "correct",
        "edit",
        f"item:{item}",
        "--set",
        "template=1",
        "--reason",
        "x",
        "-w",
        made,
        "--json",
    ).json
    (form,) = said["forms"]
    commands = [
        f"proofstone run {form['form']} -m 'sim/ann?ability=0.8,sim/bob?miss=0.5'{prompt_method}"
        for prompt_method in (" --prompt-method cot", "")
    ]
    for command in ("leaderboard", "report"):
        told = proofstone(command, form["form"], "-w", made)
        assert told.code == 2
        assert told.err == (
            f"error[PS-203]: nothing was run on {form['form']} yet; its 4 runs are of the former "
            f"version {form['former']}, and 1 of 8 items is left to ask\n"
            f"  help: {commands[0]}\n  {commands[1]}\n"
        )
    board = proofstone("leaderboard", form["former"], "-w", made)
    assert board.code == 0
    assert f"nothing was run on {form['form']} yet; 1 of 8 items is left to ask: " in board.out
    assert "; ".join(commands) in board.out
    proofstone(*shlex.split(commands[0])[1:], "-q", "-w", made)
    after = proofstone("leaderboard", form["former"], "-w", made).out
    assert "left to ask" not in after
