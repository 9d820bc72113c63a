"""``compare`` as a person calls it: runs, forms and files side by side."""

from __future__ import annotations

import csv
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from proofstone.api import open_workspace
from proofstone.records.ids import short
from proofstone.records.runs import Score
from proofstone.store.scores import ScoreRow, UnitRow
from told import Proofstone


@pytest.fixture
def runs(made: Path) -> dict[str, str]:
    """The names of the runs of the workspace by model and way."""
    with open_workspace(made) as workspace:
        return {
            f"{run.respondent.partition('?')[0]} {run.prompt_method}": f"run:{short(run.id)}"
            for _key, run in workspace.store.runs.every()
        }


def score_by_an_older_version(made: Path, run: str) -> None:
    """A newer scoring of the run by version 0, in which every question is wrong."""
    with open_workspace(made) as workspace:
        store = workspace.store
        key, record = store.runs.run(workspace.find(run).id)
        places = [place for _position, place in store.items.places(record.item_set, -1, 100)]
        old = store.scores.begin(key, record, 0, "", workspace.clock.now())
        units = [UnitRow(place, "item", b"", 1, b"", "A", 4, ()) for place in places]
        measure = workspace.method_of(run).measures[0].of
        rows = [
            ScoreRow(unit, 0, Score(unit=0, measure=measure, outcome="answered", value=0.0))
            for unit in units
        ]
        store.scores.add(old, rows)
        store.scores.complete(old, workspace.clock.now())


def test_two_runs(made: Path, runs: dict[str, str], proofstone: Proofstone, tmp_path: Path) -> None:
    """What differs, the difference, the items; all of these in a file."""
    ann, bob = runs["sim/ann direct"], runs["sim/bob direct"]
    file = tmp_path / "moved.csv"
    told = proofstone("compare", ann, bob, "-w", made, "-o", file, "-n", 1)
    assert told.code == 0
    assert "so        A and B differ only in the model." in told.out
    assert "SIMULATED" in told.out
    pair = proofstone("compare", ann, bob, "-w", made, "--json").json["pairs"][0]
    moved = [*pair["won"], *pair["lost"]]
    assert len(moved) == pair["difference"]["rises"] + pair["difference"]["falls"] > 0
    assert all("Leaf" in item["text"] for item in moved)
    with file.open(encoding="utf-8", newline="") as read:
        assert [row["item"] for row in csv.DictReader(read)] == [item["item"] for item in moved]


def test_what_is_compared_with_itself_is_refused(
    made: Path, runs: dict[str, str], proofstone: Proofstone, tmp_path: Path
) -> None:
    """A run, a form, a file: an interval around 0 would leave a difference open."""
    with open_workspace(made) as workspace:
        (form,) = workspace.store.lookup.every("form")
    table = tmp_path / "one.csv"
    table.write_text("item,model-x\na,1\nb,0\n", encoding="utf-8")
    run = runs["sim/ann direct"]
    for one, other in ((run, run), (f"form:{short(form.id)}", "old-books"), (table, table)):
        told = proofstone("compare", one, other, "-w", made)
        assert (told.code, told.out) == (2, "")
        assert "A and B are the same" in told.err


def test_an_edited_item_is_another_question(made: Path, proofstone: Proofstone) -> None:
    """Form and corrected form: seven of eight questions are in both, one is a new version."""
    with open_workspace(made) as workspace:
        (form,) = workspace.store.lookup.every("form")
        item = workspace.store.items.page(form.id, -1, 1)[0].loaded.item
        edited = workspace.edit(
            f"item:{item.id.hex()}", {"discipline": "Other lore"}, reason="wrong"
        )
        (newer,) = workspace.store.corrections.newer("form", form.key)
        workspace.run(f"form:{newer.hex()}", models=["sim/ann?ability=0.8"])
        assert edited
    told = proofstone(
        "compare", f"form:{form.id.hex()}", f"form:{newer.hex()}", "-w", made, "--json"
    )
    (pair,) = told.json["pairs"]
    assert (pair["n_common"], pair["only_before"], pair["only_after"]) == (7, 1, 1)
    assert pair["renewed"] == 1


def test_a_retired_item_is_left_out_of_both(
    made: Path, runs: dict[str, str], proofstone: Proofstone
) -> None:
    """Seven of eight are compared; as scored, all."""
    with open_workspace(made) as workspace:
        (form,) = workspace.store.lookup.every("form")
        item = workspace.store.items.page(form.id, -1, 1)[0].loaded.item
        workspace.exclude(f"item:{item.id.hex()}", reason="unclear")
    both = runs["sim/ann direct"], runs["sim/bob direct"]
    told = proofstone("compare", *both, "-w", made)
    assert "on 7 common items" in told.out
    assert "1 excluded" in told.out
    told = proofstone("compare", *both, "-w", made, "--ignore-corrections")
    assert "on 8 common items" in told.out


def test_old_replies_are_scored_again(
    made: Path, runs: dict[str, str], proofstone: Proofstone
) -> None:
    """Where an older scorer scored one side, that is said and --rescore offered, which asks
    nobody; then the scorer no longer differs."""
    ann, bob = runs["sim/ann direct"], runs["sim/bob direct"]
    score_by_an_older_version(made, ann)
    told = proofstone("compare", ann, bob, "-w", made)
    assert "scorer: version 0 -> version 2" in told.out
    assert "rescore   A was scored by another scorer version: --rescore" in told.out
    assert "A 0.0" in told.out
    told = proofstone("compare", ann, bob, "-w", made, "--rescore")
    assert "1 run was scored again from stored responses; no API calls were made" in told.out
    assert "differs   scorer" not in told.out
    assert "rescore   " not in told.out
    assert "A 0.0" not in told.out


def test_files_need_no_workspace(tmp_path: Path, proofstone: Proofstone) -> None:
    """Two tables of anybody's results; of them item c is lost."""
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("item,model-x\na,1\nb,1\nc,1\nd,0\n", encoding="utf-8")
    two.write_text("item,model-x\na,1\nb,1\nc,0\nz,0\n", encoding="utf-8")
    told = proofstone("compare", one, two)
    assert told.code == 0
    assert "lost      c  A 1  B 0" in told.out
    assert "on 3 common items" in told.out


def test_a_run_against_a_file_of_its_scores(
    made: Path, runs: dict[str, str], proofstone: Proofstone, tmp_path: Path
) -> None:
    """Items are known by their ids, so an exported table pairs with its run."""
    table = tmp_path / "scores.csv"
    run = runs["sim/ann direct"]
    assert proofstone("export", run, "--what", "scores", "-o", table, "-w", made).code == 0
    told = proofstone("compare", table, run, "-w", made)
    assert told.code == 0
    assert "won 0 (B scores higher), lost 0, equal 8" in told.out


@pytest.mark.parametrize("named", ["run:0000", "nothing.csv"])
def test_what_is_not_there_is_not_found(made: Path, proofstone: Proofstone, named: str) -> None:
    told = proofstone("compare", named, named, "-w", made)
    assert (told.code, told.out) == (2, "")
    assert "PS-203" in told.err


def test_accuracies_alone_have_no_items(tmp_path: Path, proofstone: Proofstone) -> None:
    """One row a model: nothing could be paired."""
    table = tmp_path / "board.csv"
    rows = "m1,0.55,0.5,0.6\nm2,0.55,0.4,0.7\n"
    table.write_text(f"model,all,history,physics\n{rows}", encoding="utf-8")
    told = proofstone("compare", table, table)
    assert told.code == 2
    assert "no items to pair" in told.err


def test_a_run_at_two_dates(made: Path, runs: dict[str, str], proofstone: Proofstone) -> None:
    """What was scored anew, ruled and retired since is not there yet at the earlier time; before
    the run there is nothing."""
    ann = runs["sim/ann direct"]
    with open_workspace(made) as workspace:
        (form,) = workspace.store.lookup.every("form")
        first, second = (s.loaded.item.id.hex() for s in workspace.store.items.page(form.id, -1, 2))
        then = datetime.fromtimestamp(workspace.clock.now(), UTC).isoformat()
        time.sleep(0.01)
        workspace.override(f"{ann.removeprefix('run:')}/{first}/0", "incorrect", reason="a guess")
        workspace.exclude(f"item:{second}", reason="unclear")
    told = proofstone("compare", f"{ann}@{then}", ann, "-w", made, "--json").json
    assert (told["before"]["n_excluded"], told["after"]["n_excluded"]) == (0, 1)
    (pair,) = told["pairs"]
    (change,) = [c for c in pair["changes"] if c["factor"] == "corrections"]
    assert change["after"] == "1 response overridden"
    assert pair["n_common"] == 7
    told = proofstone("compare", f"{ann}@2001-01-01", ann, "-w", made)
    assert told.code == 2
    assert "nothing was scored there by 2001-01-02 00:00 UTC" in told.err
