"""Option likelihood: every admissible set of options is scored, in every context."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from elaipbench.whole_documents import TITLE, document, row, sentence, several, write_rows
from proofstone.api import Workspace, create_workspace
from proofstone.choices.likelihood import OPTION
from proofstone.documents.sources import Stated
from proofstone.errors import BadUsage
from proofstone.ingest.ingest import ingest_paths
from proofstone.records.items import ContextName
from scripted_acts import echoing
from serving import HurriedClock, configure, serving
from stages.test_likelihood_runs import BASE, kept_scores

OPTIONS = ("copper", "lead", "gold", "mercury", "platinum")
SETS = ["; ".join(each) for size in (2, 3) for each in combinations(OPTIONS, size)]
RIGHT = "copper; lead"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "first.txt").write_text(document(), encoding="utf-8")
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        ingest_paths(
            opened.store, [tmp_path / "first.txt"], stated=Stated(title=TITLE), clock=opened.clock
        )
        rows = [row(0), several(0)]
        opened.import_bank(write_rows(tmp_path / "questions.jsonl", rows), method="elaipbench")
        opened.build_form("questions")
        yield opened


def probable(before: str, token: str) -> float:
    """The tokens of the right set, and of the right single option, are the most probable."""
    said = before[before.rfind("Answer:") + len("Answer:") :] + token
    return -0.4 if any(f" {each}".startswith(said) for each in (RIGHT, "load 0")) else -1.5


@pytest.mark.parametrize("context", ["none", "evidence", "document"])
def test_each_admissible_set_is_scored_behind_the_question(
    workspace: Workspace, context: ContextName
) -> None:
    with serving(echoing(probable)) as server:
        configure(workspace.folder, server.url, *BASE)
        (result,) = workspace.run(
            "questions", models="scripted/base", prompt_method=OPTION, context=context
        )
        prompts = [seen.json["prompt"] for seen in server.seen]
    assert (result.complete, result.failed) == (True, 0)
    ends = [prompt.rsplit("Answer: ", 1)[1] for prompt in prompts]
    assert sorted(set(ends)) == sorted([*SETS, *(f"load {n}" for n in range(4))])
    assert len(ends) == len(set(ends)) == len(SETS) + 4 == 24
    shown = {"none": "", "evidence": sentence("copper", 0), "document": sentence("tin", 11)}[
        context
    ]
    assert all(prompt.index("Question:") >= prompt.find(shown) for prompt in prompts)
    assert all(shown in prompt for prompt in prompts)
    assert kept_scores(workspace, "accuracy") == [("A", 1.0), ("A, B", 1.0)]


def test_chance_is_one_of_the_admissible_sets_and_it_is_ranked_apart(workspace: Workspace) -> None:
    with serving(echoing(probable)) as server:
        configure(workspace.folder, server.url, *BASE)
        workspace.run("questions", models="scripted/base", prompt_method=OPTION)
    workspace.run("questions", models="sim/one?ability=0.5")
    board = workspace.leaderboard("questions")
    names = [[row.prompt_method for row in group.rows] for group in board.standings]
    assert [OPTION] in names
    chance = (1 / 4 + 1 / 20) / 2
    assert f"Chance is {100 * chance:.1f}%" in str(board)


def test_an_endpoint_that_scores_no_texts_is_refused_before_the_run(workspace: Workspace) -> None:
    with serving(echoing(probable)) as server:
        configure(workspace.folder, server.url)
        with pytest.raises(BadUsage, match="scores whole texts"):
            workspace.run("questions", models="scripted/chat", prompt_method=OPTION)
        assert server.requests == 0
