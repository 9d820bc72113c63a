"""``build representative-set``: from questions, experts' files and a reader to a certified set."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kina.kina_rows import standard, write_rows
from scripted_server import Act, ScriptedServer, Seen, answer
from serving import configure, serving
from told import Proofstone, Told

TOPICS = ("beam", "arch", "truss", "slab")
VERBS = ("bend", "settle", "shear", "buckle", "creep", "crack", "sway", "sink")
ANCHORS = 1  # a topic
SIZE = 6


def rows() -> list[dict[str, Any]]:
    """Eight questions a topic; four on plants, which are no matter of the discipline."""
    made = []
    for number, topic in enumerate((*TOPICS, "plant")):
        for place, verb in enumerate(VERBS[:4] if topic == "plant" else VERBS):
            stem = f"How long does the {topic} of type {place} in yard {number} take to {verb}?"
            made.append(standard(8 * number + place, stem=stem))
    made.append(
        standard(90, stem="How old is the vase?", discipline="History", field="", subfield="")
    )
    return made


@dataclass
class Reader:
    """A model that names the topic it sees; odd types are rated lower, and it answers questions."""

    asked: list[str] = field(default_factory=list)
    spoilt: str = ""

    def __call__(self, seen: Seen) -> Act:
        prompt = seen.json["messages"][-1]["content"]
        self.asked.append(prompt)
        if "alignment" not in prompt:
            return answer("ANSWER: A")
        found = re.search(r"the (\w+) of type (\d)", prompt)
        topic, place = (found[1], int(found[2])) if found else ("vase", 0)
        if self.spoilt and f"{topic} of type {place}" == self.spoilt:
            return answer("I would say it is about buildings.")
        known = topic in TOPICS
        reply = {
            "method": "statics" if known else "none of these",
            "principle": topic.upper() if known else "other",  # in another case
            "answer_type": "time",
            "constraints": ["at rest", "unheard of"],
            "alignment": (9 - place % 2) if known else 2,
        }
        return answer(f"Here it is:\n{json.dumps(reply)}")


@dataclass
class Bench:
    proofstone: Proofstone
    folder: Path
    server: ScriptedServer
    reader: Reader
    ids: dict[str, str]

    def __call__(self, *words: Any, rc: int = 0) -> Told:
        told = self.proofstone(*words, "-w", self.folder / "w")
        assert told.code == rc, told.err
        return told

    def build(self, *words: Any, rc: int = 0) -> Told:
        return self(
            "build", "representative-set", "pool", "--prototype", self.folder / "prototype.toml",
            "--item-labels", self.folder / "items.csv", "--pair-labels", self.folder / "pairs.csv",
            "-m", "reader=scripted/reader", "--resamples", 40, "--yes", *words, rc=rc,
        )  # fmt: skip

    def write(self, name: str, rows: list[dict[str, Any]]) -> None:
        with (self.folder / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)

    def id_of(self, topic: str, place: int) -> str:
        return self.ids[f"{topic} {place}"]


@pytest.fixture
def bench(tmp_path: Path, proofstone: Proofstone) -> Iterator[Bench]:
    reader = Reader()
    with serving(reader) as server:
        work = tmp_path / "w"
        assert proofstone("init", work).code == 0
        configure(work, server.url)
        write_rows(tmp_path / "pool.jsonl", rows())
        assert proofstone("import", tmp_path / "pool.jsonl", "--as", "bank", "-w", work).code == 0
        told = proofstone("export", "pool", "-o", tmp_path / "out.jsonl", "-w", work)
        assert told.code == 0, told.err
        ids = {}
        for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found = re.search(r"the (\w+) of type (\d)", row["stem"])
            if found:
                ids[f"{found[1]} {found[2]}"] = row["id"]
        held = Bench(proofstone, tmp_path, server, reader, ids)
        _write_labels(held)
        yield held


def _write_labels(bench: Bench) -> None:
    known = [(topic, place) for topic in TOPICS for place in range(1, 8)]
    aligned = [(topic, place, 1) for topic, place in known[::2]]
    aligned += [("plant", place, 0) for place in range(4)]
    bench.write(
        "items.csv",
        [
            {"id": bench.id_of(topic, place)[:10], "expert": expert, "aligned": yes}
            for topic, place, yes in aligned
            for expert in ("Ito", "Roy")[: 2 if place < 3 else 1]
        ],
    )
    pairs = []
    for topic in TOPICS:
        pairs += [((topic, place), (topic, place + 1), 1, place == 6) for place in (1, 3, 6)]
        pairs.append(((topic, 2), ("plant", 1), 0, 0))
    for one, other in pairwise(TOPICS):
        pairs.append(((one, 2), (other, 5), 0, 0))
    bench.write(
        "pairs.csv",
        [
            {
                "id": bench.id_of(*one), "other": bench.id_of(*other), "expert": "Ito",
                "support": support, "duplicate": int(duplicate),
            }
            for one, other, support, duplicate in pairs
        ],
    )  # fmt: skip
    anchors = json.dumps([bench.id_of(topic, 0) for topic in TOPICS])
    (bench.folder / "prototype.toml").write_text(
        f"""
[[discipline]]
name = "engineering"
size = {SIZE}
methods = ["statics", "dynamics"]
answer_types = ["time"]
anchors = {anchors}
[discipline.experts.Ito]
principles = {json.dumps(list(TOPICS))}
constraints = ["at rest"]
[discipline.experts.Roy]
principles = {json.dumps(list(TOPICS[:3]))}
constraints = ["at rest"]
""",
        encoding="utf-8",
    )


def statistics(bench: Bench, target: str) -> dict[str, list[dict[str, Any]]]:
    found = json.loads(bench("show", target, "--statistics", "--json").out)
    return {table["title"]: table["rows"] for table in found}


def test_a_set_is_built_and_certified(bench: Bench) -> None:
    result = json.loads(bench.build("--json").out)
    tables = statistics(bench, "pool-representative")
    (proof,) = tables["Certificate by discipline"]
    assert (proof["pool"], proof["chosen"]) == (36, SIZE)
    assert proof["value"] <= proof["upper_bound"] <= 1.0001
    assert proof["how"] == "exact"
    assert len(tables["Marginal gains"]) == SIZE
    concepts = {
        row["concept"]: row["chosen"] for row in tables["Coverage of the experts' concepts"]
    }
    assert all(concepts[f"principle: {topic}"] >= 1 for topic in TOPICS)
    assert concepts["method: dynamics"] == 0
    agreed = {row["what"]: row["observed"] for row in tables["Agreement of the experts"]}
    assert agreed["prototype: principles"] == 75
    assert agreed["prototype: constraints"] == 100
    assert "support" in agreed
    dropped = bench("show", result["build"], "--dropped", "-n", 100).out
    assert "discipline without a prototype" in dropped
    assert "weak alignment" in dropped
    assert "anchor" in dropped
    shown = bench("show", "pool-representative", "--statistics").out
    assert "No choice of as many questions has an F above the bound." in " ".join(shown.split())


def test_changed_thresholds_ask_no_model_again(bench: Bench) -> None:
    bench.build("--rho", 0.25)
    n = len(bench.reader.asked)
    assert n == 36 + 9
    other = json.loads(
        bench.build("--rho", 0.25, "--tau-dup", 0.9, "--sensitivity", "no", "--json").out
    )
    assert len(bench.reader.asked) == n
    assert "Sensitivity to the settings" not in statistics(bench, other["build"])


def test_a_panel_gives_the_difficulty(bench: Bench) -> None:
    """Members that always answer A are wrong, since the answer is D."""
    bench.build("--panel", "scripted/one,scripted/two", "--least-wrong", 1)
    assert sum("alignment" not in prompt for prompt in bench.reader.asked) == 2 * 36
    easy = bench.build("--panel", "scripted/one", "--most-wrong", 0.5, "--least-wrong", 0, rc=2)
    assert "0 candidates" in easy.err


def test_a_reply_that_cannot_be_read_drops_its_question(bench: Bench) -> None:
    bench.reader.spoilt = "slab of type 5"
    result = json.loads(bench.build("--json").out)
    dropped = bench("show", result["build"], "--dropped", "--step", "signature").out
    assert "unparsed response" in dropped
    assert "I would say it is about buildings." in dropped


def test_the_certificate_is_on_the_page_of_a_form(bench: Bench) -> None:
    bench.build("--sensitivity", "no")
    bench("build", "form", "pool-representative", "--seed", 1, "--name", "chosen")
    bench("run", "chosen", "-m", "scripted/one", "--yes")
    page = bench.folder / "page.html"
    bench("report", "chosen", "-o", page)
    text = page.read_text(encoding="utf-8")
    assert "Certificate by discipline" in text
    assert "At least, % of the best" in text


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("prototype.toml", 'answer_types = ["time"]', "answer_types = []", "no answer_types"),
        (
            "prototype.toml",
            "anchors = [",
            'anchors = ["0123456789ab", ',
            "not a question of the pool",
        ),
        ("prototype.toml", "size = 6", "sise = 6", "sise"),
        ("items.csv", "Ito,1", "Ito,maybe", "'maybe', expected 1 or 0"),
        ("items.csv", "expert", "who", "expert is empty"),
        ("pairs.csv", ",0,0", ",0,", "duplicate is empty"),
    ],
)
def test_faults_in_the_experts_files_are_told_before_anything_is_asked(
    bench: Bench, name: str, old: str, new: str, told: str
) -> None:
    path = bench.folder / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert told in bench.build(rc=2).err
    assert bench.reader.asked == []


def test_labels_of_unknown_repeated_and_equal_questions_are_told_together(bench: Bench) -> None:
    one, label = bench.id_of("beam", 1), {"expert": "Ito", "support": 1, "duplicate": 0}
    bench.write(
        "pairs.csv",
        [
            {"id": one, "other": one, **label},
            {"id": one, "other": "ffffffffff", **label},
            {"id": one, "other": bench.id_of("arch", 1), **label},
            {"id": bench.id_of("arch", 1), "other": one, **label},
        ],
    )
    told = " ".join(bench.build(rc=2).err.split())
    assert "id and other are the same question" in told
    assert "'ffffffffff' is not a question of the pool" in told
    assert "more than once" in told


def test_missing_files_are_named(bench: Bench) -> None:
    told = bench("build", "representative-set", "pool", "-m", "reader=scripted/reader", rc=2).err
    assert "--prototype, --item-labels, --pair-labels" in told
    (bench.folder / "items.csv").unlink()
    assert "no such file" in bench.build(rc=2).err


def test_a_discipline_without_anchors_is_left_to_people(bench: Bench) -> None:
    path = bench.folder / "prototype.toml"
    more = """
[[discipline]]
name = "History"
methods = ["dating"]
principles = ["vases"]
answer_types = ["time"]
constraints = []
anchors = []
"""
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
    bench.build()
    (row,) = statistics(bench, "pool-representative")["Disciplines left to people"]
    assert row == {"discipline": "History", "n": 1, "why": "no anchors"}
    assert len(statistics(bench, "pool-representative")["Certificate by discipline"]) == 1
