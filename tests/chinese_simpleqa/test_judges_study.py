"""``report --analysis judges``: the same replies under several judges, with exact figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from scripted_solver import Desk, judge_of_sayings, made_rows, write_rows

from proofstone.api import create_workspace
from proofstone.errors import BadUsage
from proofstone.page.section import section_text
from proofstone.results.sections.parts import Analysis, figure_rows
from scripted_server import Act, Seen, answer
from serving import HurriedClock, configure, serving
from table_texts import heads, rows

N = 20
TO_JUDGE = 16  # a rule settles four


class Bench(Desk):
    """Judges that differ by name, and a second model that never knows."""

    def __init__(self, labels: dict[str, Callable[[str], str]]) -> None:
        super().__init__()
        self.labels = labels

    def __call__(self, seen: Seen) -> Act:
        model = seen.json["model"]
        if model == "shy":
            return answer("I do not know.")
        self.label = self.labels.get(model, judge_of_sayings)
        return super().__call__(seen)


def harsh(response: str) -> str:
    """Holds what is hedged against it."""
    return "INCORRECT" if "believe" in response else judge_of_sayings(response)


def mute(response: str) -> str:
    """Has no label for what is not attempted."""
    return "well" if "do not know" in response else judge_of_sayings(response)


def studied(
    folder: Path, *judges: str, models: tuple[str, ...] = ("scripted/solver", "scripted/shy")
) -> Analysis:
    labels = {"harsh": harsh, "mute": mute}
    with create_workspace(folder / "work") as workspace, serving(Bench(labels)) as server:
        workspace.clock = HurriedClock()
        configure(workspace.folder, server.url)
        form = workspace.import_form(write_rows(folder, made_rows(N)), method="chinese_simpleqa")
        for model in models:
            (result,) = workspace.run(form, models=model)
            for judge in judges:
                workspace.score(f"run:{result.planned.run.id.hex()}", judge=f"scripted/{judge}")
        return workspace.analysis("judges", form)


def value(cell: str) -> float:
    return float(cell.split(maxsplit=1)[0])


def test_each_judge_has_the_measures_of_its_own_labels(tmp_path: Path) -> None:
    """The harsh judge holds four hedged replies of twenty against the solver."""
    analysis = studied(tmp_path, "fair", "harsh")
    assert heads(analysis) == ("model", "judge", "n", "correct", "NA", "IN", "CGA", "F", "unparsed")
    fair, strict, shy, also_shy = rows(analysis)
    assert fair[:3] == ("scripted/solver direct", "scripted/fair", "20")
    assert [value(cell) for cell in fair[3:7]] == [40.0, 20.0, 40.0, 50.0]
    assert [value(cell) for cell in strict[3:7]] == [20.0, 20.0, 60.0, 25.0]
    assert [value(cell) for cell in shy[3:6]] == [0.0, 100.0, 0.0]
    assert (shy[6], also_shy[6]) == ("\u2014", "\u2014")  # nothing was attempted
    assert fair[-1] == "0.0% (0 of 20)"


def test_agreement_is_of_what_a_judge_was_asked(tmp_path: Path) -> None:
    """16 replies of the solver and 20 of the shy one; 4 labels differ. CORRECT, INCORRECT, NOT
    ATTEMPTED by one: 4, 8, 24; by the other: 0, 12, 24."""
    analysis = studied(tmp_path, "fair", "harsh")
    (row,) = rows(analysis, 1)
    cells = dict(zip(heads(analysis, 1), row, strict=True))
    asked = TO_JUDGE + N
    chance = (8 * 12 + 24 * 24) / asked**2
    kappa = ((asked - 4) / asked - chance) / (1 - chance)
    assert cells["judges"] == "scripted/fair / scripted/harsh"
    assert (cells["responses"], cells["no label"]) == (str(asked), "0")
    assert value(cells["agree"]) == round(100 * (asked - 4) / asked, 1)
    assert value(cells["kappa"]) == round(kappa, 2)
    assert cells["order"] == "the same"
    assert value(cells["tau-b, over items"]) == 1.0
    moved = dict(zip(heads(analysis, 2), rows(analysis, 2)[0], strict=True))
    assert moved["model"] == "scripted/solver direct"
    assert value(moved["correct"]) == -100 * 4 / N
    assert value(moved["IN"]) == +100 * 4 / N
    assert value(moved["F"]) == pytest.approx(
        100 * (8 / (16 + 16 + 4) - 16 / (16 + 16 + 4)), abs=0.1
    )
    assert analysis.finding == (
        f"scripted/fair and scripted/harsh agree on {cells['agree'].split()[0]}% "
        f"{cells['agree'].partition(' ')[2]} of 36 responses that a judge decided, kappa "
        f"{cells['kappa']}. All judges put the models in the same order."
    )


def test_replies_without_a_label_are_in_no_agreement_and_told(tmp_path: Path) -> None:
    analysis = studied(tmp_path, "fair", "mute", models=("scripted/solver",))
    (row,) = rows(analysis, 1)
    cells = dict(zip(heads(analysis, 1), row, strict=True))
    assert (cells["responses"], cells["no label"], value(cells["agree"])) == ("12", "4", 100.0)
    assert [row[-1] for row in rows(analysis)] == ["0.0% (0 of 20)", "20.0% (4 of 20)"]
    assert cells["order"] == "\u2014"
    assert "No pair of models changes order between judges." in analysis.finding


def test_three_judges_are_three_pairs_and_all_marks_are_in_the_figure(tmp_path: Path) -> None:
    analysis = studied(tmp_path, "fair", "harsh", "mute", models=("scripted/solver",))
    assert len(rows(analysis, 1)) == 3
    assert analysis.finding.startswith(
        "scripted/harsh and scripted/mute agree least among 3 pairs of judges: on"
    )
    marks = figure_rows(analysis.data)
    assert [(row["series"], row["judge"], row["correct"]) for row in marks] == [
        ("scripted/solver direct", "scripted/fair", pytest.approx(8 / 20)),
        ("scripted/solver direct", "scripted/harsh", pytest.approx(4 / 20)),
        ("scripted/solver direct", "scripted/mute", pytest.approx(8 / 16)),
    ]
    text = section_text(analysis)
    assert "Agreement of judges, on responses that a judge was asked about" in text


def test_one_judge_is_not_enough(tmp_path: Path) -> None:
    with pytest.raises(
        BadUsage, match="graded by scripted/fair, and an analysis of judges needs two"
    ):
        studied(tmp_path, "fair", models=("scripted/solver",))


def test_no_judge_at_all(tmp_path: Path) -> None:
    with pytest.raises(BadUsage, match="no judge graded these responses"):
        studied(tmp_path, models=("scripted/solver",))
