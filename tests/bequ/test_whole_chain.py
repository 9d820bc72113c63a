"""The whole chain offline: a wiki made of free text, a list of its entities, what it says of them,
what models of known behaviour say, and a judge of known errors.

The exact figures of that judge come out; people's labels of a part of them bring the truth back.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from told_towns import FACTS, MODELS, NAMES, Country, Errs, Said, made_dump, made_zim, said_by

from proofstone.records.ids import digest
from serving import configure, serving
from told import Proofstone

ERRS = Errs(misses=0.3, believes=0.08, overlooks=0.05, imagines=0.3)
WIKIS: dict[str, Callable[[Path], Path]] = {"dump": made_dump, "zim": made_zim}


class Expected(NamedTuple):
    """The figures of a model: how often the judge says yes, and of how many."""

    right: int
    given: int
    covered: int
    known: int

    @property
    def precision(self) -> float:
        return self.right / self.given

    @property
    def recall(self) -> float:
        return self.covered / self.known

    @property
    def f1(self) -> float:
        return 2 * self.precision * self.recall / (self.precision + self.recall)


def expected(model: str, errs: Errs) -> Expected:
    """Counted from what is so and what the judge makes of it; where the very same words stand, or
    nothing was said, no judge is asked."""
    said = [each for name in NAMES for each in said_by(model, name)]
    labels = [errs.label(each.truth, each.words) for each in said]
    covered = sum(known_label(model, errs, *fact) == "covered" for fact in FACTS.items())
    return Expected(labels.count("entailment"), len(said), covered, len(FACTS))


def known_label(model: str, errs: Errs, fact: tuple[str, str], value: str) -> str:
    """What comes of a reference triple that is looked for in what a model said."""
    name, predicate = fact
    said = said_by(model, name)
    if any((each.predicate, each.object) == (predicate, value) for each in said):
        return "covered"
    if not said:
        return "not covered"
    truth = known_truth(said, value)
    return errs.label(truth, f"{name}|{predicate}|{value}")


def known_truth(said: Iterable[Said], value: str) -> str:
    """Values differ, so that one that was said was said of its own kind."""
    return "covered" if any(each.object == value for each in said) else "not covered"


def made_files(done: Proofstone, kind: str) -> None:
    """From a wiki to ``elicited.csv`` and ``reference.jsonl``."""
    wiki = f"{kind}:{WIKIS[kind](Path.cwd())}"
    built = done(
        "build", "entities", wiki, "--judge", "scripted/rater", "--name", "towns", "--seed", 42
    )
    towns = built.out.split("towns-")[1].split()[0]
    done("export", f"towns-{towns}", "-o", "entities.jsonl")
    built = done(
        "build", "reference", "entities.jsonl", "--corpus", wiki, "-m", "scripted/author",
        "--name", "known",
    )  # fmt: skip
    known = built.out.split("known-")[1].split()[0]
    done("export", f"known-{known}", "-o", "reference.jsonl")
    models = [f"scripted/{model}" for model in MODELS]
    done("run", "entities.jsonl", "-m", ",".join(models), "--range", "10-20")
    files = []
    for run in done("list", "run", "--json").json:
        files.append(f"{run['id']}.csv")
        done("export", f"run:{run['id']}", "--what", "triples", "-o", files[-1])
    rows = [row for file in files for row in read_csv(file)]
    write_csv("elicited.csv", rows)


def read_csv(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_csv(path: str, rows: list[dict[str, Any]]) -> None:
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize("kind", ["dump", pytest.param("zim", marks=pytest.mark.slow)])
def test_the_exact_figures_of_a_judge_come_out_and_people_bring_back_the_truth(
    done: Proofstone, kind: str
) -> None:
    """From free text to precision, recall and F1, from a dump as from an archive; of files, and of
    the runs that are stored, for which the judge need say nothing again."""
    country = Country(ERRS)
    verify = [
        "grade", "elicited.csv", "--reference", "reference.jsonl", "--recall", "single",
        "--judge", "scripted/judge", "--sample", 0, "--json",
    ]  # fmt: skip
    with serving(country) as server:
        configure(Path.cwd(), server.url)
        made_files(done, kind)
        told = done(*verify, "-o", "verdicts.csv")
        asked = country.asked["judge"]
        verdicts = read_csv("verdicts.csv")
        write_csv("people.csv", [labelled(row) for row in verdicts])
        again = done(*verify, "--human-labels", "people.csv")
        runs = [f"run:{run['id']}" for run in done("list", "run", "--json").json]
        done(
            "grade", *runs, "--judge", "scripted/judge", "--reference", "reference.jsonl",
            "--recall", "single", "--sample", 0,
        )  # fmt: skip
    board = done("leaderboard", *runs, "--json")
    assert country.asked["rater"] == len(NAMES)
    assert country.asked["judge"] == asked
    check_reference()
    check_figures(told.json["measured"])
    check_figures([row["measured"] for row in board.json["rows"]])
    assert [row["group"]["model"] for row in board.json["rows"]] == [
        "scripted/scholar", "scripted/babbler",
    ]  # fmt: skip
    check_evidence(verdicts)
    check_corrected(again.json["corrected"])


def check_reference() -> None:
    """Every fact that an article tells, and no other, with the passage that tells it."""
    text = Path("reference.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    known = [row for row in rows if "predicate" in row]
    assert {(row["entity"], row["predicate"]): row["object"] for row in known} == FACTS
    assert len(known) == len(FACTS)
    assert all(row["object"] in row["passage"] for row in known)


def check_figures(measured: list[dict[str, Any]]) -> None:
    """Each as it is counted by hand."""
    made = {each["group"]["model"].partition("/")[2]: each["estimates"] for each in measured}
    for model in MODELS:
        wanted, got = expected(model, ERRS), made[model]
        assert got["precision"]["value"] == pytest.approx(wanted.precision)
        assert got["recall"]["value"] == pytest.approx(wanted.recall)
        assert got["f1"]["value"] == pytest.approx(wanted.f1)
        assert (got["precision"]["n"], got["recall"]["n"]) == (wanted.given, wanted.known)
        assert got["precision"]["resampled"] == "entities"


def check_evidence(verdicts: list[dict[str, str]]) -> None:
    """What settles a triple stands in the passage that its verdict names."""
    settled = [row for row in verdicts if row["reason"] in ("it is entailment", "it is covered")]
    assert len(settled) > 100
    assert all(row["object"] in row["passage"] for row in settled)


def check_corrected(corrected: list[dict[str, Any]]) -> None:
    """The truth lies in each corrected interval, and nearer to its middle than what the judge says:
    it misses three in ten of what is entailed, and imagines three in ten covers."""
    made = {each["group"]["model"].partition("/")[2]: each for each in corrected}
    for model, (right, wrong, _of_four) in MODELS.items():
        truth = expected(model, Errs())
        for name, value in (("precision", truth.precision), ("recall", truth.recall)):
            found = made[model][name]
            assert found["corrected"]["low"] < value < found["corrected"]["high"]
            assert abs(found["corrected"]["value"] - value) < abs(found["judge_only"] - value)
        assert made[model]["f1"]["low"] < truth.f1 < made[model]["f1"]["high"]
        # One triple of each town is true and in no article.
        corpus = made[model]["corpus"]
        assert corpus["low"] < right / (right + 1) < corpus["high"]
        true_share = made[model]["true_share"]
        assert true_share["low"] < (right + 1) / (right + wrong + 1) < true_share["high"]


def labelled(row: dict[str, str]) -> dict[str, str]:
    """A verdict with what people say, who see two in five of them, whichever they are."""
    model = row["model"].partition("/")[2]
    known = {name: row[name] for name in ("direction", "subject_name", "predicate", "object")}
    if not is_seen(model, *known.values()):
        return row
    said = said_by(model, row["subject_name"])
    if row["direction"] == "recall":
        return {**row, "people": known_truth(said, row["object"])}
    (told,) = [each for each in said if each.object == row["object"]]
    return {**row, "people": told.truth, "is_true": str(told.truth != "contradiction").lower()}


def is_seen(*words: str) -> bool:
    """Whether people see a triple."""
    return digest("|".join(("seen 5", *words)).encode())[0] < 256 * 0.4
