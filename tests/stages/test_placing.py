"""Sources placed in a taxonomy by models: closed choices level by level, rows that name the former
one, and facts that follow."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.build.build import BuildResult
from proofstone.build.funnel import JudgedRow, list_verdicts, read_accounts
from proofstone.errors import BadInput, BadUsage
from proofstone.ingest.ingest import ingest_paths
from proofstone.records.ids import short
from proofstone.records.knowledge import Stratum
from proofstone.store.copies import merge
from scripted_server import Act, Seen, answer, error
from serving import HurriedClock, configure, serving

OWN = """discipline,field,subfield
Crafts,Smithing,Forging
Crafts,Smithing,Casting
Crafts,Weaving,
Lore,Tales,
"""
TEXTS = {
    "Hammers": "About Crafts and Smithing and Forging: the smith heats the iron and hammers it.",
    "Looms": "About Crafts and Weaving: the loom holds the warp under tension for the weaver.",
    "Clouds": "Nothing of this is listed: clouds form where moist air rises and cools down.",
    "Riddles": "About Lore and unsayable things: what walks on four legs in the morning.",
}


class Chooser:
    """Chooses the first label that the document names after "About", else none; of an unsayable
    document nothing that can be read. Of fields a judge who is ``contrary`` chooses none, and one
    who is ``dead`` cannot answer."""

    def __init__(self, *, contrary: str = "", dead: str = "") -> None:
        self.asked: Counter[str] = Counter()
        self.contrary, self.dead = contrary, dead

    def __call__(self, seen: Seen) -> Act:
        prompt = seen.json["messages"][-1]["content"]
        labels = re.findall(r"^- ([^:\n]+):", prompt, re.MULTILINE)
        self.asked[seen.json["model"]] += 1
        text = prompt.split("Title:")[1]
        if "Weaving" in labels and seen.json["model"] == self.dead:
            return error(400, {"error": {"message": "this model's maximum context length is 3"}})
        if "Weaving" in labels and seen.json["model"] == self.contrary:
            return answer(json.dumps({"reason": "unlike", "label": "none of these"}))
        if "Tales" in labels and "unsayable" in text:
            return answer("I would rather not say.")
        chosen = next((name for name in labels if name in text), "none of these")
        return answer(json.dumps({"reason": "seen", "label": chosen}))


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "own.csv").write_text(OWN, encoding="utf-8")
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        for name, text in TEXTS.items():
            (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
            ingest_paths(opened.store, [tmp_path / f"{name}.txt"], clock=opened.clock)
        yield opened


def placed(
    workspace: Workspace, *names: str, judge: str | list[str] = "scripted/a", **params: object
) -> BuildResult:
    return workspace.build_in_steps(
        "strata", names or tuple(TEXTS), name="places", judge=judge,
        taxonomy=str(workspace.folder.parent / "own.csv"), **params,
    )  # type: ignore[arg-type]  # fmt: skip


def stands(workspace: Workspace, name: str) -> Stratum | None:
    source = workspace.find(name, "source").id
    found = workspace.store.taxonomy_labels.in_force([source]).get(source)
    return None if found is None else found.stratum


def test_each_level_is_a_choice_among_its_nodes(workspace: Workspace) -> None:
    """A document that no node fits is told and not placed; where a deeper level cannot be read it
    stays at the one above."""
    with serving(chooser := Chooser()) as server:
        configure(workspace.folder, server.url)
        result = placed(workspace)
    assert result.complete
    assert stands(workspace, "Hammers") == Stratum("Crafts", "Smithing", "Forging")
    assert stands(workspace, "Looms") == Stratum("Crafts", "Weaving")
    assert stands(workspace, "Riddles") == Stratum("Lore")
    assert stands(workspace, "Clouds") is None
    (discipline,) = [step for step in result.funnel.steps if step.name == "discipline"]
    assert discipline.dropped == {"none fits": 1, "not judged": 0}
    # Disciplines of four, fields of three (of one asked three times), the subfield of one.
    assert chooser.asked == {"a": 4 + 2 + 3 + 1}


def test_the_same_command_asks_and_stores_nothing_again(workspace: Workspace) -> None:
    with serving(chooser := Chooser()) as server:
        configure(workspace.folder, server.url)
        first = placed(workspace)
        asked = chooser.asked.total()
        again = placed(workspace)
    assert chooser.asked.total() == asked
    assert again.placed == first.placed
    source = workspace.find("Hammers", "source").id
    assert len(workspace.store.taxonomy_labels.of_source(source)) == 1


def seen_of(workspace: Workspace, result: BuildResult, step: str) -> list[JudgedRow]:
    found = workspace.find(f"build:{short(result.build.id)}")
    return list_verdicts(workspace.store, found, step=step)


def test_a_panel_decides_by_more_than_half_and_each_verdict_is_kept(workspace: Workspace) -> None:
    with serving(chooser := Chooser(contrary="c")) as server:
        configure(workspace.folder, server.url)
        result = placed(workspace, "Looms", judge=["scripted/c", "scripted/a", "scripted/b"])
    assert chooser.asked == {"a": 2, "b": 2, "c": 2}  # discipline and field
    assert result.placed is not None
    assert result.placed[0].models == ("scripted/a", "scripted/b", "scripted/c")
    assert stands(workspace, "Looms") == Stratum("Crafts", "Weaving")
    (judged,) = seen_of(workspace, result, "field")
    assert [(b.judge, b.label, b.reason) for b in judged.verdict.judge_votes] == [
        ("scripted/a", "Weaving", "seen"),
        ("scripted/b", "Weaving", "seen"),
        ("scripted/c", "none of these", "unlike"),
    ]
    key, build = workspace.store.builds.build(result.build.id)
    accounts = {each.question: each for each in read_accounts(workspace.store, key, build)}
    assert list(accounts) == ["discipline", "field"]  # there is no subfield below Weaving
    assert [(j.judge, j.against_panel) for j in accounts["field"].judges] == [
        ("scripted/a", 0), ("scripted/b", 0), ("scripted/c", 1),
    ]  # fmt: skip


def test_the_verdicts_of_one_judge_are_kept_too(workspace: Workspace) -> None:
    with serving(Chooser()) as server:
        configure(workspace.folder, server.url)
        result = placed(workspace)
    labels = [each.verdict.label for each in seen_of(workspace, result, "discipline")]
    assert sorted(labels) == ["Crafts", "Crafts", "Lore", "none of these"]


def test_a_tie_leaves_a_source_at_the_level_above_or_drops_it(workspace: Workspace) -> None:
    two = ["scripted/a", "scripted/b"]
    with serving(Chooser(contrary="b")) as server:
        configure(workspace.folder, server.url)
        dropped = placed(workspace, "Looms", judge=two, tie="drop")
        assert dropped.placed == ()
        assert stands(workspace, "Looms") is None
        field = next(step for step in dropped.funnel.steps if step.name == "field")
        assert field.dropped == {"judges tied": 1}
        placed(workspace, "Looms", judge=two)
    assert stands(workspace, "Looms") == Stratum("Crafts")
    with pytest.raises(BadUsage, match="a quorum of 3 is not possible with 2 judges"):
        placed(workspace, "Looms", judge=two, quorum=3)


def test_a_source_waits_for_a_judge_whose_call_failed_unless_a_quorum_decides_without_it(
    workspace: Workspace,
) -> None:
    three = ["scripted/a", "scripted/b", "scripted/c"]
    with serving(Chooser(dead="c")) as server:
        configure(workspace.folder, server.url)
        waits = placed(workspace, "Looms", judge=three)
        assert (waits.complete, waits.funnel.pending) == (False, 1)
        placed(workspace, "Looms", judge=three, quorum=2)
    assert stands(workspace, "Looms") == Stratum("Crafts", "Weaving")


def test_what_was_stated_is_kept_and_only_the_rest_is_asked(
    workspace: Workspace, tmp_path: Path
) -> None:
    from proofstone.documents.sources import Stated  # noqa: PLC0415

    file = tmp_path / "Anvils.txt"
    file.write_text("About Weaving, some would say, and Casting.", encoding="utf-8")
    stated = Stated(stratum=Stratum("crafts", "Smithing", book="The anvil"))
    ingest_paths(workspace.store, [file], clock=workspace.clock, stated=stated)
    with serving(chooser := Chooser()) as server:
        configure(workspace.folder, server.url)
        placed(workspace, "Anvils")
        assert chooser.asked.total() == 1
        assert stands(workspace, "Anvils") == Stratum("Crafts", "Smithing", "Casting", "The anvil")
        placed(workspace, "Anvils", anew=True)
    assert chooser.asked.total() == 1 + 1  # the discipline, which it does not name
    newest = workspace.store.taxonomy_labels.of_source(workspace.find("Anvils", "source").id)
    assert len(newest) == 1  # nothing fits from the top: not placed anew


def test_a_person_s_placement_names_the_one_before_it(workspace: Workspace) -> None:
    with serving(Chooser()) as server:
        configure(workspace.folder, server.url)
        placed(workspace, "Looms")
    by_hand = workspace.place("Looms", {"subfield": "Warps"}, reason="it is about warps", by="Ada")
    assert by_hand.stratum == Stratum("Crafts", "Weaving", "Warps")
    first, second = workspace.store.taxonomy_labels.of_source(workspace.find("Looms", "source").id)
    assert second.follows == first.id
    assert workspace.fields_of("Looms")["subfield"] == "Warps"
    with serving(Chooser()) as server:
        configure(workspace.folder, server.url)
        placed(workspace, "Looms")
    assert stands(workspace, "Looms") == by_hand.stratum
    with pytest.raises(BadUsage, match="the source has this label already"):
        workspace.place("Looms", {"subfield": "Warps"}, reason="again", by="Ada")
    with pytest.raises(BadInput, match="s label is invalid"):
        workspace.place("Looms", {"discipline": None}, reason="gap", by="Ada")
    with pytest.raises(BadInput, match="nothing was stored"):
        workspace.place("Looms", {"title": "Other"}, reason="no level", by="Ada")


def test_placements_travel_and_passages_enter_builds_at_them(
    workspace: Workspace, tmp_path: Path
) -> None:
    from proofstone.build.inputs import placed_source  # noqa: PLC0415

    workspace.place("Looms", {"discipline": "Crafts"}, reason="seen", by="Ada")
    source = workspace.find("Looms", "source").id
    assert placed_source(workspace.store, source).stratum == Stratum("Crafts")
    with create_workspace(tmp_path / "other") as other:
        for _twice in range(2):
            merge(workspace.store.database, other.store.database)
        assert placed_source(other.store, source).stratum == Stratum("Crafts")
        assert len(other.store.taxonomy_labels.of_source(source)) == 1


def test_a_build_of_strata_needs_a_taxonomy(workspace: Workspace) -> None:
    with pytest.raises(BadUsage, match="--taxonomy names where"):
        workspace.build_in_steps("strata", ["Looms"], name="x", judge="sim/a", taxonomy="")
