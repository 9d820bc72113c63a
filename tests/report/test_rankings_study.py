"""``report --analysis rankings``: where the same models stand on another benchmark."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from made_up import ACCURACY, right_of, table_of

from proofstone.api import create_workspace
from proofstone.cli import main
from proofstone.errors import BadUsage
from proofstone.records.scores import Accuracies, Respondent
from proofstone.results.audit.audit import benchmark_beside
from proofstone.results.sections.catalogue import perform_analysis
from proofstone.results.sections.parts import Part, figure_rows
from table_texts import heads, rows

N = 200


def part(name: str = "ours", **rights: int) -> Part:
    """A benchmark of 200 items: how many each model has right, the first ones."""
    made = [row for place, right in enumerate(rights.values()) for row in right_of(N, right, place)]
    models = [Respondent(f"lab/{model}", "direct") for model in rights]
    table = table_of(models, made, n_units=N, n_options=0)
    return Part(name=name, kind="x", seed=0, recipe={}, table=table, measure=ACCURACY)


def scores(n: int = 0, **shares: float) -> Accuracies:
    """Scores alone, of ``n`` items where that is known."""
    return Accuracies(
        name="theirs.csv",
        models=tuple(shares),
        strata=(),
        value=np.empty((len(shares), 0)),
        overall=np.array(list(shares.values())),
        counts=np.array([n] if n else [], dtype=np.int64),
    )


def test_places_and_tau_are_counted_and_open_ranks_stand_beside() -> None:
    """a 180, b 100, c 20 of 200; there b 90%, a 50%, c 10%: of three pairs one is turned, so tau is
    (2 - 1) / 3, and a falls from 1 to 2."""
    analysis = perform_analysis(
        "rankings", [part(a=180, b=100, c=20)], beside=scores(1000, b=0.9, a=0.5, c=0.1)
    )
    assert heads(analysis) == (
        "model", "ours", "rank", "theirs.csv", "rank", "climbs", "significant",
    )  # fmt: skip
    assert [row[:5] for row in rows(analysis)] == [
        ("lab/a", "90.0", "1", "50.0", "2"),
        ("lab/b", "50.0", "2", "90.0", "1"),
        ("lab/c", "10.0", "3", "10.0", "3"),
    ]
    assert [row[5] for row in rows(analysis)] == ["-1 [-1, -1]", "+1 [+1, +1]", "+0 [+0, +0]"]
    assert analysis.finding.startswith(
        "ours and theirs.csv order 3 models at Kendall's tau-b 0.33 ["
    )
    assert "too few models for an interval over models" in analysis.finding
    assert analysis.finding.endswith(
        "lab/a moves most, from 1 to 2 (-1); at least five models are needed to test moves."
    )
    assert figure_rows(analysis.data)[0] == {
        "series": "ours", "model": "lab/a", "rank": 1.0, "n": N, "low": 1.0, "high": 1.0,
    }  # fmt: skip


def test_one_of_six_that_falls_stands_elsewhere_significantly() -> None:
    """Five have the same scores on both; f is second on the one and last on the other."""
    ours = {"a": 190, "f": 170, "b": 150, "c": 110, "d": 70, "e": 30}
    theirs = {name: right / N for name, right in ours.items()} | {"f": 0.02}
    analysis = perform_analysis("rankings", [part(**ours)], beside=scores(4000, **theirs))
    assert [row[0] for row in rows(analysis) if row[-1] == "yes"] == ["lab/f"]
    assert analysis.finding.endswith(
        "lab/f moves most, from 2 to 6 (-4); lab/f moves significantly (Holm-adjusted)."
    )


def test_ties_are_ranks_that_stay_open() -> None:
    """Two items of 200 tell nobody apart; there 1,000 items do."""
    analysis = perform_analysis(
        "rankings", [part(a=102, b=100, c=20)], beside=scores(1000, a=0.9, b=0.5, c=0.1)
    )
    assert [row[2] for row in rows(analysis)] == ["1 (1-2)", "2 (1-2)", "3"]
    assert [row[4] for row in rows(analysis)] == ["1", "2", "3"]


def test_scores_of_nobody_knows_how_many_items_are_taken_as_they_are() -> None:
    analysis = perform_analysis(
        "rankings", [part(a=180, b=100, c=20)], beside=scores(a=0.9, b=0.5, c=0.1, d=0.2)
    )
    assert [row[4] for row in rows(analysis)] == ["1", "2", "3"]
    assert any("The number of items of theirs.csv is not known" in n for n in analysis.notes)
    assert "On theirs.csv alone: d." in analysis.notes
    assert "nan" not in " ".join(
        [analysis.finding, *(cell for row in rows(analysis) for cell in row)]
    )


def test_two_benchmarks_with_items_are_drawn_apart() -> None:
    analysis = perform_analysis(
        "rankings",
        [part(a=180, b=100, c=20, d=60)],
        beside=part("other", b=150, c=10, a=140, d=60),
    )
    assert [row[0] for row in rows(analysis)] == ["lab/a", "lab/b", "lab/d", "lab/c"]
    assert not any("Only scores of" in note for note in analysis.notes)


@pytest.mark.parametrize(
    ("beside", "message"),
    [
        (None, "takes another benchmark"),
        (scores(x=0.1, y=0.2, z=0.3), "0 models in common"),
        (scores(a=0.1, b=0.2), "2 models in common"),
    ],
)
def test_what_is_no_other_benchmark_is_refused(beside: Accuracies | None, message: str) -> None:
    with pytest.raises(BadUsage, match=message):
        perform_analysis("rankings", [part(a=1, b=2, c=3)], beside=beside)


def test_one_tail_for_two_models_is_nobodys_name() -> None:
    """lab/a and its namesake: which is meant, nobody knows; whole names still count."""
    both = Accuracies(
        name="t", models=("x/a", "y/a", "lab/b", "c", "d"), strata=(), value=np.empty((5, 0)),
        overall=np.array([0.1, 0.2, 0.3, 0.4, 0.5]), counts=np.array([100]),
    )  # fmt: skip
    analysis = perform_analysis("rankings", [part(a=9, b=20, c=30, d=40)], beside=both)
    assert {row[0] for row in rows(analysis)} == {"lab/b", "lab/c", "lab/d"}


def test_files_of_scores_and_of_items_are_read_as_audit_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Simulated models on a carried form; a file with a model and a score each, then one with
    scores by item."""
    scores_file = tmp_path / "theirs.csv"
    scores_file.write_text("model,score\nann,0.5\nbob,0.7\neve,0.1\n", encoding="utf-8")
    with create_workspace(tmp_path / "work") as workspace:
        alone = benchmark_beside(workspace.store, lambda _name: None, lambda _n: None,  # type: ignore[arg-type, return-value]
                                 str(scores_file), 400)  # fmt: skip
        assert isinstance(alone, Accuracies)
        assert (alone.n_items, alone.overall.tolist()) == (400, [0.5, 0.7, 0.1])
        lines = ["item,ann,bob", *(f"{n},{n % 2},1" for n in range(20))]
        by_item = tmp_path / "items.csv"
        by_item.write_text("\n".join(lines) + "\n", encoding="utf-8")
        read = benchmark_beside(workspace.store, lambda _name: None, lambda _n: None,  # type: ignore[arg-type, return-value]
                                str(by_item))  # fmt: skip
        assert isinstance(read, Part)
        assert len(read.table.items) == 20
        with pytest.raises(BadUsage, match="has its items"):
            benchmark_beside(workspace.store, lambda _name: None, lambda _n: None,  # type: ignore[arg-type, return-value]
                             str(by_item), 20)  # fmt: skip
    with pytest.raises(SystemExit) as left:
        main(["report", "x", "--other-benchmark", str(scores_file), "-w", str(tmp_path / "work")])
    assert left.value.code == 2
    assert "--other-benchmark goes with --analysis rankings" in capsys.readouterr().err
    assert json.dumps(alone.models) == '["ann", "bob", "eve"]'
