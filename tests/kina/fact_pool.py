"""A pool of questions composed from facts of bundled tables, and people and a reader about it.

Each question is composed of statements on one property (the boiling points of elements). The truth
about a question is its property: experts call some peripheral to the discipline. The reader and the
experts err at stated rates.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from scripted_server import Act, Seen, answer

SIZE = 20
CENTRAL = {
    "Science": (
        "chemical symbol", "atomic number", "IUPAC group", "period", "block", "boiling point",
        "ground-state electron configuration", "standard atomic weight", "melting point", "density",
        "capital", "region", "land borders", "area",
    ),
    "Management": ("alpha-2 code", "alpha-3 code", "numeric code", "currency code"),
}  # fmt: skip
_SUBFIELDS = {
    "Periodic table": ("Science", "Inorganic Chemistry"),
    "Discovery of the elements": ("Science", "Inorganic Chemistry"),
    "Countries of the world": ("Science", "Human Geography"),
}
_CODES = ("Management", "Information Management Science")
_SOURCE = "https://github.com/"
_READER_ERRS, _EXPERT_ERRS = 0.1, 0.05


def statement_row(fact: dict[str, Any]) -> dict[str, Any]:
    """Return a fact of the bundled tables as a statement of KINA, in a book per property."""
    discipline, subfield = _SUBFIELDS.get(fact["book"], _CODES)
    return {
        "statement": fact["text"],
        "correct": fact["correct"],
        "source": _SOURCE + fact["source_origin"].split()[0],
        "page": fact["page"],
        "discipline": discipline,
        "subfield": subfield,
        "book": f"{fact['book']}: {property_of(fact['title'])}",
        "language": fact["language"],
        "explanation": fact.get("reason") or "The table lists it so.",
    }


def property_of(title: str) -> str:
    """Return the property that a title names: of "boiling point of iron", the boiling point."""
    if title.startswith("countries that border"):
        return "land borders"
    return title.partition(" of ")[0]


@dataclass
class FactPool:
    """The rows of an exported pool, and the truth about each."""

    rows: Sequence[dict[str, Any]]
    by_id: dict[str, dict[str, Any]] = field(init=False)
    by_statements: dict[tuple[str, ...], dict[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.by_id = {row["id"]: row for row in self.rows}
        self.by_statements = {tuple(row["statements"]): row for row in self.rows}

    def topic(self, row: dict[str, Any]) -> str:
        return str(row["book"].split(": ")[1])

    def is_central(self, row: dict[str, Any]) -> bool:
        return any(self.topic(row).endswith(name) for name in CENTRAL[row["discipline"]])

    def of(self, discipline: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["discipline"] == discipline]

    def peripheral(self, ids: Iterable[str]) -> int:
        """Return how many questions the experts would call peripheral."""
        return sum(not self.is_central(self.by_id[each]) for each in ids)

    def topics(self, ids: Iterable[str]) -> int:
        """Return how many central properties the questions are about."""
        rows = [self.by_id[each] for each in ids]
        return len({self.topic(row) for row in rows if self.is_central(row)})

    def copies(self, ids: Iterable[str]) -> int:
        """Return how many pairs share two statements or more."""
        sets = [set(self.by_id[each]["statements"]) for each in ids]
        return sum(len(one & other) > 1 for one, other in combinations(sets, 2))

    def read(self, seen: Seen) -> Act:
        """Answer the request for a signature, wrong about the property in one of ten questions."""
        prompt = seen.json["messages"][-1]["content"]
        rng = random.Random(prompt)
        row = self.by_statements[tuple(re.findall(r"^\d\. (.*)$", prompt, re.MULTILINE))]
        reply = {
            "method": "recall of a table",
            "principle": "other" if rng.random() < _READER_ERRS else self.topic(row),
            "answer_type": "combination",
            "constraints": [],
            "alignment": min(10, max(0, round(rng.gauss(7 if self.is_central(row) else 3, 1.5)))),
        }
        return answer(json.dumps(reply))

    def write_experts_files(self, folder: Path, seed: int = 5) -> None:
        """Write prototype.toml, items.csv and pairs.csv: 140 questions and 80 pairs a discipline.

        Two experts label a quarter of each.
        """
        rng = random.Random(seed)
        prototypes, items, pairs = [], [], []
        for name in CENTRAL:
            rows = self.of(name)
            prototypes.append(self._prototype(name, rows))
            items += list(
                _labels(rng, [((r["id"],), (self.is_central(r),)) for r in rng.sample(rows, 140)])
            )
            pairs += list(_labels(rng, [(p, self._truths(*p)) for p in self._pairs(rng, rows)]))
        (folder / "prototype.toml").write_text("\n".join(prototypes), encoding="utf-8")
        _write(folder / "items.csv", ("id", "expert", "aligned"), items)
        _write(folder / "pairs.csv", ("id", "other", "expert", "support", "duplicate"), pairs)

    def _prototype(self, name: str, rows: Sequence[dict[str, Any]]) -> str:
        central = [row for row in rows if self.is_central(row)]
        principles = sorted({self.topic(row) for row in central})
        anchors = [
            row["id"]
            for each in principles
            for row in [row for row in central if self.topic(row) == each][:2]
        ]
        return (
            f'[[discipline]]\nname = "{name}"\nsize = {SIZE}\nmethods = ["recall of a table"]\n'
            f"principles = {json.dumps(principles)}\nanchors = {json.dumps(anchors)}\n"
            'answer_types = ["combination"]\nconstraints = []\n'
        )

    def _pairs(self, rng: random.Random, rows: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
        """Return 80 pairs: 20 with most shared statements, half of the others on one property."""
        users, by_topic = defaultdict(list), defaultdict(list)
        for row in rows:
            by_topic[self.topic(row)].append(row["id"])
            for text in row["statements"]:
                users[text].append(row["id"])
        shared = Counter(pair for ids in users.values() for pair in combinations(sorted(ids), 2))
        found = {pair for pair, n in shared.most_common(20) if n > 1}
        while len(found) < 80:
            row = rng.choice(rows)
            other = rng.choice(
                by_topic[self.topic(row)] if rng.random() < 0.5 else [rng.choice(rows)["id"]]
            )
            if other != row["id"]:
                found.add((min(row["id"], other), max(row["id"], other)))
        return sorted(found)

    def _truths(self, one: str, other: str) -> tuple[bool, bool]:
        first, second = self.by_id[one], self.by_id[other]
        support = self.topic(first) == self.topic(second) and self.is_central(first)
        return support, len(set(first["statements"]) & set(second["statements"])) > 1


def _labels(
    rng: random.Random, truths: Iterable[tuple[Sequence[str], Sequence[bool]]]
) -> Iterable[tuple[Any, ...]]:
    for number, (ids, truth) in enumerate(truths):
        for expert in ("Ito", "Roy")[: 2 if number % 4 == 0 else 1]:
            yield (*ids, expert, *(int(each != (rng.random() < _EXPERT_ERRS)) for each in truth))


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
