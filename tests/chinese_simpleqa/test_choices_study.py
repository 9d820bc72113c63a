"""The same questions over options, shuffled options and open: exact accuracies of a known model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_chooser import Chooser, twin_rows
from scripted_solver import write_rows

from proofstone.api import Workspace, create_workspace
from proofstone.errors import BadUsage
from proofstone.records.ids import Draws
from proofstone.records.items import ItemSet
from proofstone.results.sections.parts import Analysis
from scripted_server import Act, Seen, error
from serving import HurriedClock, configure, serving
from table_texts import heads, rows

N = 60
KNOWN = [n for n in range(N) if n % 3]  # two of three
OPEN = [n for n in range(N) if n % 2]
SEED = 3


def forms_of(workspace: Workspace, folder: Path, n: int = N) -> dict[str, ItemSet]:
    path = write_rows(folder, twin_rows(n), "twins.jsonl")
    bank = workspace.import_bank(path, method="chinese_simpleqa")
    return {
        posed: workspace.build_form(bank, seeds=[SEED], posed=posed)[0]
        for posed in ("original", "shuffled", "open")
    }


def studied(folder: Path, chooser: Chooser) -> tuple[Analysis, dict[int, int]]:
    """The study of the three forms, and where the right option stood shuffled, by number."""
    with create_workspace(folder / "work") as workspace, serving(chooser) as server:
        configure(workspace.folder, server.url)
        forms = forms_of(workspace, folder)
        results = workspace.run([*forms.values()], models="scripted/model", judge="scripted/judge")
        assert all(result.complete for result in results)
        analysis = workspace.analysis("choices", *forms.values())
        places = {}
        for page in workspace.store.items.pages(forms["shuffled"].id):
            for stored in page:
                (fact,) = stored.loaded.facts
                number = int(fact.payload.answer.removeprefix("Finder-"))
                order = stored.loaded.item.payload.order
                assert order == tuple(
                    Draws(SEED, int.from_bytes(fact.id[:8], "big"), "option order").shuffled(
                        range(4)
                    )
                )
                places[number] = order.index(fact.payload.closed.answer_key)
        return analysis, places


def cell(share: float) -> str:
    return f"{100 * share:.1f} ["


def test_three_accuracies_and_the_drop_of_a_known_model(tmp_path: Path) -> None:
    """What is not known is answered with A: right where the right option stands there. Open, half
    is known. No judge is asked about options."""
    chooser = Chooser(KNOWN, OPEN)
    analysis, places = studied(tmp_path, chooser)
    original = sum(n in KNOWN or n % 4 == 0 for n in range(N)) / N
    shuffled = sum(n in KNOWN or places[n] == 0 for n in range(N)) / N
    opened = len(OPEN) / N
    assert heads(analysis) == (
        "model", "n", "options", "options shuffled", "open", "by shuffling", "relative drop %",
        "no grade",
    )  # fmt: skip
    (row,) = rows(analysis)
    assert row[:2] == ("scripted/model direct", f"{N}")
    assert row[2].startswith(cell(original))
    assert row[3].startswith(cell(shuffled))
    assert row[4].startswith(cell(opened))
    assert row[5].startswith(f"{100 * (shuffled - original):+.1f} [")
    drop = (original - opened) / original
    assert row[6].startswith(cell(drop))
    assert row[7] == "0 + 0 + 0"
    by_name = {mark.column: mark for mark in analysis.data.marks}
    assert by_name["relative drop"].value == pytest.approx(drop)
    assert by_name["relative drop"].low < drop < by_name["relative drop"].high
    assert [by_name[x].value for x in ("options", "options shuffled", "open")] == pytest.approx(
        [original, shuffled, opened]
    )
    assert chooser.judged == N
    assert f"{100 * drop:.1f}% of accuracy" in analysis.finding


def test_replies_without_a_choice_are_apart_from_every_accuracy(tmp_path: Path) -> None:
    """Ten questions that get no choice over options are left out of all three forms and counted,
    in each of the two forms over options."""
    mute = range(0, N, 6)
    analysis, places = studied(tmp_path, Chooser(KNOWN, OPEN, mute))
    rest = [n for n in range(N) if n not in mute]
    (row,) = rows(analysis)
    assert row[1] == f"{len(rest)}"
    assert row[2].startswith(cell(sum(n in KNOWN or n % 4 == 0 for n in rest) / len(rest)))
    assert row[3].startswith(cell(sum(n in KNOWN or places[n] == 0 for n in rest) / len(rest)))
    assert row[4].startswith(cell(sum(n in OPEN for n in rest) / len(rest)))
    assert row[7] == f"{len(mute)} + {len(mute)} + 0"


def test_a_leaderboard_does_not_lay_a_missing_choice_on_a_judge(tmp_path: Path) -> None:
    """Ten of sixty replies choose nothing: the model's replies are to be read, no judge's."""
    chooser = Chooser(KNOWN, OPEN, range(0, N, 6))
    with create_workspace(tmp_path / "work") as workspace, serving(chooser) as server:
        configure(workspace.folder, server.url)
        form = forms_of(workspace, tmp_path)["original"]
        workspace.run(form, models="scripted/model")
        (row,) = workspace.leaderboard(form).standings[0].ranked
    (warning,) = row.warnings
    assert warning.what == "16.7% unparsed (10 of 60)"
    assert warning.try_next.startswith("read some ")


def test_it_takes_two_ways_of_the_same_questions(tmp_path: Path) -> None:
    """One way alone has nothing to compare, and forms of other questions have none in common."""
    with create_workspace(tmp_path / "work") as workspace:
        forms = forms_of(workspace, tmp_path, 8)
        workspace.run([*forms.values()], models="sim/ann?ability=1")
        with pytest.raises(BadUsage, match="here options was asked"):
            workspace.analysis("choices", forms["original"])
        analysis = workspace.analysis("choices", forms["original"], forms["shuffled"])
        assert heads(analysis) == (
            "model", "n", "options", "options shuffled", "by shuffling", "relative drop %",
            "no grade",
        )  # fmt: skip
        (row,) = rows(analysis)
        assert row[0] == "sim/ann?ability=1.0 direct (simulated)"
        assert (row[2][:5], row[4][:4], *row[5:]) == ("100.0", "+0.0", "\u2014", "0 + 0")
        others = [{**row, "closed_question": f"{row['closed_question']} ?"} for row in twin_rows(4)]
        bank = workspace.import_bank(
            write_rows(tmp_path, others, "others.jsonl"), method="chinese_simpleqa"
        )
        (other,) = workspace.build_form(bank, posed="shuffled")
        workspace.run(other, models="sim/ann?ability=1")
        with pytest.raises(BadUsage, match="no question in common"):
            workspace.analysis("choices", forms["original"], other)


class Breaking(Chooser):
    """The same, but ``scripted/frail`` brings no reply to one question over shuffled options."""

    def __call__(self, seen: Seen) -> Act:
        text = seen.json["messages"][-1]["content"]
        if seen.json["model"] == "frail" and "Number 5 " in text:
            return error(400, {"error": {"message": "not this one"}})
        act = {**seen.json, "model": "model" if seen.json["model"] == "frail" else "judge"}
        if seen.json["model"] == "frail":
            return super().__call__(replace(seen, body=json.dumps(act).encode()))
        return super().__call__(seen)


def test_a_failed_call_is_no_score_and_keeps_its_model_out(tmp_path: Path) -> None:
    """The one that answered everything is compared, the other is named."""
    with create_workspace(tmp_path / "work") as workspace, serving(Breaking(KNOWN, OPEN)) as server:
        configure(workspace.folder, server.url)
        workspace.clock = HurriedClock()
        forms = forms_of(workspace, tmp_path, 12)
        results = workspace.run(
            [*forms.values()], models=["scripted/model", "scripted/frail"], judge="scripted/judge"
        )
        assert [result.complete for result in results].count(False) == 2  # both over options
        analysis = workspace.analysis("choices", *forms.values())
    assert [row[0] for row in rows(analysis)] == ["scripted/model direct"]
    assert analysis.notes[-1] == (
        "Left out, not complete on every form here: scripted/frail direct."
    )


def test_several_shuffles_count_together(tmp_path: Path) -> None:
    """Of three seeds a question's value is the mean: right in so many of the three orders."""
    with create_workspace(tmp_path / "work") as workspace, serving(Chooser((), OPEN)) as server:
        configure(workspace.folder, server.url)
        bank = workspace.import_bank(
            write_rows(tmp_path, twin_rows(24), "twins.jsonl"), method="chinese_simpleqa"
        )
        forms = [
            *workspace.build_form(bank, posed="original"),
            *workspace.build_form(bank, posed="shuffled", seeds=[1, 2, 3]),
        ]
        workspace.run(forms, models="scripted/model")
        analysis = workspace.analysis("choices", *forms)
        firsts = [
            stored.loaded.item.payload.order[0] == stored.loaded.facts[0].payload.answer_key
            for form in forms[1:]
            for page in workspace.store.items.pages(form.id)
            for stored in page
        ]
    (row,) = rows(analysis)
    assert row[1] == "24"
    assert row[2].startswith(cell(6 / 24))  # what is never known is A: right in each fourth
    assert row[3].startswith(cell(sum(firsts) / len(firsts)))
