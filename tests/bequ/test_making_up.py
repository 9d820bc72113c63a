"""``build entities made-up:KIND``: names of things that do not exist, by a model, then checked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.dump_files import dump, page
from proofstone.api import Workspace, create_workspace
from proofstone.build.build import BuildResult
from proofstone.cli import main
from proofstone.errors import BadUsage
from proofstone.methods.bequ.entities import DOMAINS
from proofstone.methods.bequ.entity_lists import made_up_prompt, to_make_up
from scripted_server import Act, Seen, answer
from serving import HurriedClock, configure, serving

SNAPSHOTS = Path(__file__).parent / "snapshots"
_ASKED = re.compile(r"Make up (\d+) names? of the kind: (.*)\.")


class Author:
    """Makes up "Plausible event 1" and so on, one more than asked for; says of plants nothing that
    can be read, of animals the name of a plant's list too, and Copper among the artifacts."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def __call__(self, seen: Seen) -> Act:
        prompt = seen.json["messages"][-1]["content"]
        self.prompts.append(prompt)
        found = _ASKED.search(prompt)
        assert found is not None
        kind = "Plausible" if "They are plausible" in prompt else "Absurd"
        if found[2] == "plant":
            return answer("I would rather not.")
        names = [f"{kind} {found[2]} {number}" for number in range(int(found[1]) + 1)]
        if found[2] == "animal":
            names[0] = f"{kind.upper()}  event 0"
        if found[2] == "artifact":
            names[0] = "Copper"
        return answer(json.dumps({"names": ["", " \u0007", *names]}))


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        yield opened


def made(workspace: Workspace, *inputs: str, **params: Any) -> BuildResult:
    return workspace.build_in_steps(
        "entities", inputs, name="made up", models={"author": "scripted/author"},
        least_rating=0, **params,
    )  # fmt: skip


def dropped(result: BuildResult) -> dict[str, int]:
    return {reason: n for step in result.funnel.steps for reason, n in step.dropped.items() if n}


def test_names_are_made_up_and_then_held_against_a_wiki(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Twenty of either kind, two a domain; nothing for plants, and the name that comes again counts
    once. Exported, the list says of each what kind it is, and Copper, which exists, is left out."""
    author = Author()
    with serving(author) as server:
        configure(workspace.folder, server.url)
        result = made(workspace, "made-up:plausible", "made-up:absurd", per_input=20)
    assert dropped(result) == {"unparsed response": 2, "named before": 2 + 1}
    assert result.notes[0].startswith(
        "generated names were not checked for existence: export the bank, then run build entities "
        "FILE --corpus zim:FILE --search ENGINE to keep names that neither source mentions"
    )
    assert result.bank is not None
    assert [str(role.role) for role in workspace.store.knowledge.built_facts(
        workspace.store.knowledge.bank(result.bank.id).facts())[0].roles] == ["wrote"]  # fmt: skip
    file = tmp_path / "made_up.jsonl"
    workspace.export(f"bank:{result.bank.id.hex()}", file)
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    # Of nine domains two names of each kind; three came again.
    assert len(rows) == 2 * 9 * 2 - 3
    assert {(row["nonexistent"], row["domain"]) for row in rows} == {
        (kind, domain) for kind in ("plausible", "absurd") for domain in DOMAINS
        if domain != "plant"
    }  # fmt: skip
    wiki = dump(tmp_path / "wiki.xml", page("Copper", "A metal.", number=1))
    left = workspace.build_in_steps(
        "entities", [str(file)], name="checked", corpus=f"dump:{wiki}", least_rating=0
    )
    assert dropped(left) == {"no fiction": 1}
    assert left.bank is not None
    assert len(left.bank.facts) == len(rows) - 1


def test_another_seed_asks_otherwise(workspace: Workspace) -> None:
    """The same seed asks the same, which is not asked again."""
    author = Author()
    with serving(author) as server:
        configure(workspace.folder, server.url)
        for seed in (1, 1, 2):
            made(workspace, "made-up:absurd", per_input=3, seed=seed)
    assert len(author.prompts) == 3 + 3
    assert author.prompts[:3] != author.prompts[3:]


def test_so_many_are_spread_over_the_domains() -> None:
    rows = list(to_make_up("made-up:absurd", 13))
    assert [row.to_make_up for row in rows] == [2, 2, 2, 1, 1, 1, 1, 1, 1, 1]
    assert [row.domain for row in rows] == list(DOMAINS)
    assert [row.to_make_up for row in to_make_up("made-up:plausible:zh", 2)] == [1, 1]
    assert sum(row.to_make_up for row in to_make_up("made-up:plausible", None)) == 20


@pytest.mark.parametrize("name", ["made-up", "made-up:", "made-up:odd", "made-up:absurd:xx"])
def test_what_cannot_be_made_up_is_refused(name: str) -> None:
    with pytest.raises(BadUsage, match="unknown kind of non-existent entities"):
        list(to_make_up(name, 1))


def test_a_model_is_named_and_the_check_comes_after(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(BadUsage, match="no model is set that generates names"):
        workspace.build_in_steps("entities", ["made-up:absurd"], name="x", least_rating=0)
    with pytest.raises(
        BadUsage, match="generate names first, then check them against a corpus and the web"
    ):
        made(workspace, "made-up:absurd", search="brave")


def test_a_list_of_fictional_ones_needs_no_judge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wiki = dump(tmp_path / "wiki.xml", page("Copper", "A metal.", number=1))
    listed = tmp_path / "made_up.csv"
    listed.write_text("name,nonexistent\nValdora,plausible\nCopper,absurd\n", encoding="utf-8")
    folder = tmp_path / "work"
    with create_workspace(folder):
        pass
    with pytest.raises(SystemExit) as left:
        main(["build", "entities", str(listed), "--corpus", f"dump:{wiki}", "--least-rating", "0",
              "-w", str(folder)])  # fmt: skip
    assert left.value.code == 0, capsys.readouterr().err


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ["plausible", "absurd"])
def test_the_model_is_asked_as_it_was_read(kind: str, language: str) -> None:
    row = next(to_make_up(f"made-up:{kind}:{language}", 30))
    snapshot = SNAPSHOTS / f"made_up.{kind}.{language}.txt"
    assert made_up_prompt(row, "K") + "\n" == snapshot.read_text(encoding="utf-8")
