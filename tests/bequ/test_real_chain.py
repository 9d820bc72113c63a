"""The whole chain on what was published: real entities, real triples of two models, and the real
reference; the judge is made up, and its errors are known."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from asked_entities import asked_entity
from told_towns import Errs

from proofstone.records.ids import digest
from scripted_server import Act, Seen, answer
from serving import configure, serving
from told import Proofstone

REAL = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "bequ"
N = 6
MODELS = ("google_gemma-3-4b-it", "anthropic_claude-opus-4.6")
ERRS = Errs(misses=0.25, believes=0.05, overlooks=0.3, imagines=0.05)
_TRIPLE = re.compile(r"(?:subject|主语): (.*)\n(?:predicate|谓语): (.*)\n(?:object|宾语): (.*)")
_FIRST = re.compile(r"\[((?:passage|statement|段落|陈述) ?1) \|")  # what a verdict may rest on
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not REAL.exists(), reason="needs ../shared/data/bequ"),
]


def so(direction: str, words: str) -> str:
    """What is so of a triple, made up: a label by its words alone."""
    share = int.from_bytes(digest(f"{direction} {words}".encode())[:2], "big") / 65_536
    if direction == "recall":
        return "covered" if share < 0.4 else "not covered"
    return "entailment" if share < 0.6 else "contradiction" if share < 0.7 else "neutral"


class RealWorld:
    """The models say what they said; the judge errs on what is made up to be so."""

    def __init__(self, said: dict[str, dict[str, list[dict[str, str]]]]) -> None:
        self._said = said

    def __call__(self, seen: Seen) -> Act:
        prompt = seen.json["messages"][-1]["content"]
        if seen.json["model"] != "judge":
            return answer(json.dumps(self._said[seen.json["model"]][asked_entity(seen)]))
        triple = _TRIPLE.search(prompt)
        assert triple is not None
        first = _FIRST.search(prompt)
        assert first is not None
        direction = "recall" if first[1][:-1].strip() in ("statement", "陈述") else "precision"
        words = "|".join(triple.groups())
        label = ERRS.label(so(direction, words), words)
        return answer(json.dumps({"reason": "r", "rests_on": first[1], "label": label}))


def read_said(names: set[str]) -> dict[str, dict[str, list[dict[str, str]]]]:
    """What the models said of these entities, by model and entity."""
    found: dict[str, dict[str, list[dict[str, str]]]] = {
        model: defaultdict(list) for model in MODELS
    }
    with gzip.open(REAL / "elicited_triples_sample.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["model"] in found and row["subject_name"] in names:
                told = {name: row[name] for name in ("subject", "predicate", "object")}
                found[row["model"]][row["subject_name"]].append(told)
    return found


def test_real_rows_give_the_exact_figures_and_people_bring_back_what_is_so(
    done: Proofstone,
) -> None:
    rows = json.loads((REAL / "entities" / "random_200.json").read_text(encoding="utf-8"))[:N]
    Path("some.json").write_text(json.dumps(rows), encoding="utf-8")
    said = read_said({row["title"] for row in rows})
    known = done(
        "import", REAL / "reference_triples_random200.jsonl.gz", "--as", "reference"
    ).out.split()[1]
    with serving(RealWorld(said)) as server:
        configure(Path.cwd(), server.url)
        done("run", "some.json", "-m", ",".join(f"scripted/{model}" for model in MODELS))
        runs = [f"run:{run['id']}" for run in done("list", "run", "--json").json]
        done(
            "grade", *runs, "--judge", "scripted/judge", "--reference", known, "--sample", 0,
            "--recall", "single",
        )  # fmt: skip
    verdicts = [row for run in runs for row in exported(done, run)]
    board = done("leaderboard", *runs, "--json").json
    assert {row["group"]["model"] for row in board["rows"]} == {f"scripted/{m}" for m in MODELS}
    with Path("people.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(verdicts[0]))
        writer.writeheader()
        writer.writerows(map(labelled, verdicts))
    again = done("leaderboard", *runs, "--human-labels", "people.csv", "--json").json
    for row in board["rows"]:
        model = row["group"]["model"].partition("/")[2]
        mine = [each for each in verdicts if each["model"] == row["group"]["model"]]
        given = [each for each in mine if each["direction"] == "precision"]
        assert len(given) == sum(map(len, said[model].values()))
        assert all(each["verdict"] == expected(each) for each in mine)
        check(row["measured"]["estimates"], mine, "verdict")
        (looked,) = [each["people"] for each in again["rows"] if each["group"] == row["group"]]
        truth = figures([{**each, "so": truth_of(each)} for each in mine], "so")
        for name, value in truth.items():
            assert looked["estimates"][name]["low"] < value < looked["estimates"][name]["high"], (
                name, looked["estimates"][name], value,
            )  # fmt: skip


def exported(done: Proofstone, run: str) -> list[dict[str, str]]:
    done("export", run, "--what", "verdicts", "-o", "verdicts.csv")
    with Path("verdicts.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def words_of(row: dict[str, str]) -> str:
    return "|".join(row[name] for name in ("subject", "predicate", "object"))


def truth_of(row: dict[str, str]) -> str:
    """What is so of a triple of the sample: a rule's word where it needs no judge."""
    return so(row["direction"], words_of(row)) if row["basis"] == "judge" else row["verdict"]


def expected(row: dict[str, str]) -> str:
    """What the judge makes of it."""
    return ERRS.label(truth_of(row), words_of(row)) if row["basis"] == "judge" else row["verdict"]


def labelled(row: dict[str, str]) -> dict[str, str]:
    """What people say, who see two in five of them: by what was said and by whom, since ids hang
    on the port of the endpoint."""
    of = f"{row['direction']} {row['model']} {row['subject_name']} {words_of(row)}"
    is_seen = digest(f"seen {of}".encode())[0] < 256 * 0.4
    return {**row, "people": truth_of(row)} if is_seen else row


def figures(rows: list[dict[str, str]], column: str) -> dict[str, float]:
    """Precision, recall and F1 by a column of labels."""
    sides = {
        side: [row[column] == right for row in rows if row["direction"] == side]
        for side, right in (("precision", "entailment"), ("recall", "covered"))
    }
    p, r = (sum(each) / len(each) for each in sides.values())
    return {"precision": p, "recall": r, "f1": 2 * p * r / (p + r)}


def check(estimates: dict[str, Any], rows: list[dict[str, str]], column: str) -> None:
    """The figures are those counted by hand."""
    for name, value in figures(rows, column).items():
        assert estimates[name]["value"] == pytest.approx(value)
