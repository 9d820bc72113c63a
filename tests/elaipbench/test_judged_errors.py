"""Wrong responses labeled by a judge: the draw, the labels offered, people's sheets, and cost."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from elaipbench.whole_documents import TITLE, document, row, write_rows
from proofstone.api import create_workspace
from proofstone.documents.sources import Stated
from proofstone.ingest.ingest import ingest_paths
from proofstone.results.wrong_responses import MOST_READ, cut_middle
from scripted_server import Act, ScriptedServer, Seen, answer
from serving import HurriedClock, configure, serving
from told import Proofstone

N = 12
# It holds the correct answer first and leaves it.
LEFT = (
    "Let me look at the trial. The load is stated in the sentence on this metal, so the answer is "
    "A. Wait, I should check this again, since loads are listed in another order elsewhere in the "
    "text, and the numbers look alike. On reflection, the answer is {last}."
)
LABEL = {
    "left": "harmful verification", "short": "over-confidence", "odd": "no such label at all",
}  # fmt: skip


def script(seen: Seen) -> Act:
    """``left`` reasons and leaves its answer, ``short`` only answers, ``judge`` labels."""
    asked = seen.json
    if asked["model"] == "judge":
        text = asked["messages"][-1]["content"]
        text = text if isinstance(text, str) else json.dumps(text)
        offered = set(re.findall(r"^- ([\w -]+):", text, re.MULTILINE)) | set(
            re.findall(r'"enum": \[([^\]]*)\]', json.dumps(asked))
        )
        label = LABEL["left" if "Wait, I should check" in text else "short"]
        if "trial 3" in text:
            label = LABEL["odd"]
        assert offered
        said = json.dumps({"reason": "It says so.", "label": label})
        return answer(said if "JSON" in text else f"It says so.\nLabel: {label}")
    if asked["model"] == "left":
        return answer(LEFT.format(last="B") + "\n\nAnswer: B")
    return answer("Answer: C")


class Bench:
    """A workspace with two wrong models, and the requests that their judge received."""

    def __init__(self, folder: Path, server: ScriptedServer, proofstone: Proofstone) -> None:
        self.folder, self.server, self.proofstone = folder, server, proofstone

    @property
    def judged(self) -> int:
        return sum(each.json["model"] == "judge" for each in self.server.seen if each.body)

    def report(self, *options: object) -> Any:
        words = ("report", "questions", "--analysis", "errors", "-w", self.folder, "--yes")
        return self.proofstone(*words, *options)

    def table(self, *options: object) -> dict[str, Any]:
        told = self.report("--judge", "scripted/judge", "--json", *options)
        assert told.code == 0, told.err
        found: dict[str, Any] = json.loads(told.out)
        return found


@pytest.fixture
def bench(tmp_path: Path, proofstone: Proofstone) -> Iterator[Bench]:
    (tmp_path / "first.txt").write_text(document(), encoding="utf-8")
    folder = tmp_path / "work"
    with serving(script) as server, create_workspace(folder) as opened:
        opened.clock = HurriedClock()
        configure(folder, server.url)
        ingest_paths(
            opened.store, [tmp_path / "first.txt"], stated=Stated(title=TITLE), clock=opened.clock
        )
        rows = [row(number) for number in range(N)]
        opened.import_bank(write_rows(tmp_path / "questions.jsonl", rows), method="elaipbench")
        opened.build_form("questions")
        opened.ask_egress = lambda _leaving: "yes"
        opened.run("questions", models=["scripted/left", "scripted/short"], context="evidence")
        yield Bench(folder, server, proofstone)


def rows_of(table: dict[str, Any]) -> list[dict[str, Any]]:
    names = [column["key"] for column in table["columns"]]
    return [dict(zip(names, cells, strict=True)) for cells in table["rows"]]


def test_labels_are_counted_by_model_with_intervals(bench: Bench) -> None:
    found = bench.table()
    rows = {each["model"]: each for each in rows_of(found["tables"][0])}
    left = next(each for model, each in rows.items() if "left" in model)
    short = next(each for model, each in rows.items() if "short" in model)
    assert (left["wrong"], left["drawn"], left["labeled"], left["unparsed"]) == (N, N, N - 1, 1)
    assert (left["hidden"], short["hidden"]) == (0, N)
    share = left["harmful_verification"]
    assert (share["value"], share["n"]) == (1.0, N - 1)
    low = stats.binomtest(N - 1, N - 1).proportion_ci(method="exact").low
    assert share["low"] == pytest.approx(low, abs=0.03)
    assert short["over_confidence"]["value"] == 1.0
    assert short["harmful_verification"] is None  # not offered: there is no reasoning to read
    assert left["retrieval_misled"] is None  # not offered: nothing was searched
    assert "scripted/judge labeled 22 wrong responses" in found["finding"]
    assert f"reasoning of {N - 1} of {N - 1} responses" in " ".join(found["notes"])


def test_nothing_is_asked_twice(bench: Bench) -> None:
    first = bench.table("--wrong", 4)
    asked = bench.judged
    assert bench.table("--wrong", 4) == first
    assert bench.judged == asked
    bench.table("--wrong", 5)
    assert bench.judged > asked


def test_the_draw_is_by_seed_and_the_same_for_each_model(bench: Bench, tmp_path: Path) -> None:
    drawn = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        path = tmp_path / f"{name}.csv"
        assert bench.report("--wrong", 5, "--draw-seed", seed, "-o", path).code == 0
        drawn.append(read(path))
    items = [Counter(each["item"] for each in rows) for rows in drawn]
    assert items[0] == items[1] != items[2]
    assert set(items[0].values()) == {2}  # both models got the same five items wrong
    assert all(each["label"] == "" and each["question"] for rows in drawn for each in rows)


def test_people_label_the_same_responses(bench: Bench, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    assert bench.report("--wrong", 6, "-o", sheet).code == 0
    rows = read(sheet)
    for number, each in enumerate(rows):
        each["label"] = "analytical error" if number % 3 == 0 else _of(each)
    write(sheet, rows)
    found = bench.table("--wrong", 6, "--human-labels", sheet)
    told = {each["measure"]: each for each in rows_of(found["tables"][-2])}
    people, judge = _pairs(rows)
    alike = sum(a == b for a, b in zip(people, judge, strict=True)) / len(people)
    assert told["observed agreement"]["value"]["value"] == pytest.approx(alike)
    names = sorted({*people, *judge})
    chance = sum(
        people.count(name) / len(people) * judge.count(name) / len(judge) for name in names
    )
    kappa = told["Cohen's kappa"]["value"]
    assert kappa["value"] == pytest.approx((alike - chance) / (1 - chance))
    assert kappa["low"] <= kappa["value"] <= kappa["high"]
    counts = {(each["people"], each["judge"]): each["n"] for each in rows_of(found["tables"][-1])}
    assert counts == Counter(zip(people, judge, strict=True))


def _of(each: dict[str, str]) -> str:
    return LABEL["left" if "Wait" in each["response"] + each["reasoning"] else "short"]


def _pairs(rows: list[dict[str, str]]) -> tuple[list[str], list[str]]:
    kept = [each for each in rows if "trial 3" not in each["question"]]
    return [each["label"] for each in kept], [_of(each) for each in kept]


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_all_problems_of_a_sheet_are_told(bench: Bench, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    bench.report("--wrong", 3, "-o", sheet)
    rows = read(sheet)
    rows[0]["label"] = "bad luck"
    rows[1] |= {"item": "0000", "label": "extraction"}
    rows.append({**rows[2], "label": "extraction"})
    rows[2]["label"] = "analytical error"
    write(sheet, rows)
    told = bench.report("--wrong", 3, "--judge", "scripted/judge", "--human-labels", sheet)
    assert told.code == 2
    for part in ("'bad luck'", "was not drawn", "another row labels"):
        assert part in told.err
    assert bench.judged == 0


def test_cost_is_told_before_and_a_budget_stops(bench: Bench) -> None:
    told = bench.report("--judge", "scripted/judge", "--dry-run", "--json")
    assert json.loads(told.out)["responses"]["high"] == 2 * N
    assert bench.judged == 0
    stopped = bench.report("--judge", "scripted/judge", "--budget", "1tok")
    assert stopped.code == 4
    assert bench.judged == 0


def test_options_stay_with_their_analysis(bench: Bench) -> None:
    words = ("-w", bench.folder)
    told = bench.proofstone("report", "questions", "--judge", "scripted/judge", *words)
    assert "go with --analysis errors" in told.err
    assert "--judge PROVIDER/NAME, or -o sheet.xlsx" in bench.report().err
    assert "simulated models read no text" in bench.report("--judge", "sim/one").err


def test_the_analysis_is_in_chinese_too(bench: Bench) -> None:
    told = bench.report("--judge", "scripted/judge", "--ui-language", "zh").out
    assert "裁判标注的错误原因" in told
    assert "有害验证" in told


def test_a_long_text_loses_its_middle() -> None:
    text = "a" * MOST_READ + "b" * 1000
    cut = cut_middle(text)
    assert cut.startswith("a" * 100)
    assert cut.endswith("b" * 1000)
    assert "1000 characters left out" in cut
    assert cut_middle("short") == "short"
