"""Where no label of a judge could be read, and nothing else settled a reply, there is nothing to
rank: leaderboard, report and audit say so."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted_solver import Desk, made_rows, write_rows

from proofstone.api import create_workspace
from proofstone.run.forms import method_of_file
from serving import HurriedClock, configure, serving
from told import Proofstone

ROWS = [row for at, row in enumerate(made_rows(10)) if at % 5]  # those that no rule settles


def asked(folder: Path) -> Path:
    """A workspace in which the judge says of no reply what it is."""
    with create_workspace(folder / "work") as workspace, serving(Desk(lambda _: "Hm.")) as server:
        workspace.clock = HurriedClock()
        configure(workspace.folder, server.url)
        path = write_rows(folder, ROWS)
        form = workspace.import_form(path, method=method_of_file(path), name="found")
        workspace.run(form, models="scripted/solver", judge="scripted/judge")
    return folder / "work"


@pytest.mark.parametrize(
    "command",
    [
        ("leaderboard", "found"),
        ("report", "found", "-o", "page.html"),
        ("audit", "found"),
    ],
    ids=["leaderboard", "report", "audit"],
)
def test_nobody_is_ranked_and_the_judge_is_named_as_the_reason(
    tmp_path: Path,
    proofstone: Proofstone,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    told = proofstone(*command, "-w", asked(tmp_path))
    assert told.code == 0, told.err
    text = (tmp_path / "page.html").read_text(encoding="utf-8") if "-o" in command else told.out
    assert "100.0% unparsed (8 of 8)" in text
    assert "the judge&#39;s responses had no label" in text.replace("judge's", "judge&#39;s")
