"""The five lines of Python that the README shows, as a script and where a loop runs already."""

from __future__ import annotations

import ast
import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

import proofstone
from proofstone.page.section import section_text
from proofstone.results.board_text import render_terminal
from scripted_server import ScriptedServer, answer
from serving import configure
from small_bank import write_bank

SCRIPT = """
import proofstone

ws = proofstone.create_workspace("work")
bank = ws.import_bank("old-books.jsonl")
forms = ws.build_form(bank, seeds=[1, 2, 3], questions=6)
ws.run(forms, models=["sim/ann?ability=1", "sim/bob?miss=1"], prompt_method=["direct", "cot"])
print(ws.leaderboard(bank))
"""


def test_a_script_goes_from_a_file_to_a_leaderboard(tmp_path: Path) -> None:
    """Two models in two ways on three forms of six: four rows of eighteen questions, and nothing
    else on stdout or stderr."""
    write_bank(tmp_path)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines() if re.match(r" *[\d-]+ +sim/", line)]
    assert [(row[1], row[3], row[4]) for row in rows] == [
        ("sim/ann?ability=1.0", "18", "100.0"),
        ("sim/ann?ability=1.0", "18", "100.0"),
        ("sim/bob?miss=1.0", "18", "0.0"),
        ("sim/bob?miss=1.0", "18", "0.0"),
    ]


async def test_the_same_lines_work_inside_a_running_loop(tmp_path: Path) -> None:
    """As in a notebook: the calls are plain ones, and a second model is a second call."""
    assert asyncio.get_running_loop().is_running()
    with proofstone.create_workspace(tmp_path / "work") as ws:
        bank = ws.import_bank(write_bank(tmp_path))
        forms = ws.build_form(bank, seeds=[1, 2, 3], questions=6)
        assert [form.seed for form in forms] == [1, 2, 3]
        ws.run(forms, models=["sim/ann?ability=1"], prompt_method=["direct", "cot"])
        ws.run(forms, models="sim/bob?miss=1")
        board = ws.leaderboard(bank)
    (standings,) = board.standings
    assert [row.estimate.value for row in standings.ranked] == [1.0, 1.0, 0.0]
    assert str(board) == render_terminal(board).rstrip("\n")


async def test_a_loop_of_ones_own_may_run_it_without_threads(tmp_path: Path) -> None:
    """``perform`` is ``run`` as a coroutine: a server on the same loop answers it."""
    from proofstone.run.plan import RunSpec  # noqa: PLC0415

    with proofstone.create_workspace(tmp_path / "work") as ws:
        (form,) = ws.build_form(ws.import_bank(write_bank(tmp_path)), questions=6)
        async with ScriptedServer(answer("Answer: A")) as server:
            configure(ws.folder, server.url)
            spec = RunSpec(item_set=form.id, model="scripted/one", prompt_method="direct")
            (result,) = await ws.perform([spec])
            assert (result.complete, server.requests) == (True, 6)


def test_an_open_workspace_is_found_again(tmp_path: Path) -> None:
    """By its folder or from below it; what was stored is there, the same call makes the same."""
    bank_file = write_bank(tmp_path)
    with proofstone.create_workspace(tmp_path / "work") as ws:
        bank = ws.import_bank(bank_file)
    (tmp_path / "work" / "deep").mkdir()
    with proofstone.open_workspace(tmp_path / "work" / "deep") as ws:
        assert ws.import_bank(bank_file, name="other") == bank
        first, second = (ws.build_form("old-books", questions=6) for _ in range(2))
        assert first == second


def test_the_package_names_its_way_in() -> None:
    """``dir`` and ``*`` show it, nothing else is promised, any other name is an AttributeError."""
    assert proofstone.__all__ == ["Workspace", "__version__", "create_workspace", "open_workspace"]
    assert set(proofstone.__all__) <= set(dir(proofstone))
    for name in proofstone.__all__:
        assert getattr(proofstone, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'open_sesame'"):
        proofstone.open_sesame  # noqa: B018


def test_the_stub_names_what_the_package_names() -> None:
    """Type checkers read ``__init__.pyi``, because the names come by ``__getattr__``."""
    assert proofstone.__file__ is not None
    stub = ast.parse(Path(proofstone.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    listed = [
        ast.literal_eval(node.value)
        for node in stub.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    assert listed == [proofstone.__all__]


def test_a_notebook_shows_what_people_read(tmp_path: Path) -> None:
    """The last line of a cell is shown by repr: no page of hashes, and tables as tables."""
    with proofstone.create_workspace(tmp_path / "work") as ws:
        bank = ws.import_bank(write_bank(tmp_path))
        (form,) = ws.build_form(bank, seeds=[3], questions=6)
        ws.run(form, models=["sim/ann?ability=1", "sim/bob?ability=0"])
        board = ws.leaderboard(bank)
        analysis = ws.analysis("position", bank)
    digits = bank.id.hex()[:8]
    assert repr(bank) == f"<bank:{digits}  old-books  encyclo_k  48 facts>"
    assert repr(form) == f"<form:{form.id.hex()[:8]}  old-books  encyclo_k  6 items  seed 3>"
    assert repr(board) == str(board) == render_terminal(board).rstrip("\n")
    assert repr(analysis) == str(analysis) == section_text(analysis).rstrip("\n")
