"""465 real replies that the published parser could not read, against what people read in 50."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from proofstone.methods.bequ.records import ReadTriples
from proofstone.methods.bequ.response_json import read_triples
from proofstone.records.ids import Draws

ROOT = Path(__file__).resolve().parents[2]
RESPONSES = ROOT.parent / "shared" / "data" / "bequ" / "unparseable_responses.jsonl.gz"
TRUTH = Path(__file__).with_name("unreadable_truth.txt")
pytestmark = pytest.mark.skipif(
    not RESPONSES.exists(), reason="needs ../shared/data/bequ/unparseable_responses.jsonl.gz"
)


def responses() -> list[dict[str, str]]:
    with gzip.open(RESPONSES, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def truth() -> dict[int, list[tuple[str, str, str]]]:
    """By line of the file the triples that stand in its reply."""
    found: dict[int, list[tuple[str, str, str]]] = {}
    line, subject = 0, ""
    for row in TRUTH.read_text(encoding="utf-8").splitlines():
        head = re.fullmatch(r"\[(\d+)\] (.*)", row)
        if head:
            line, subject = int(head[1]), head[2]
            found[line] = []
        elif row and not row.startswith("#"):
            predicate, _bar, said = row.partition(" | ")
            found[line].append((subject, predicate, said))
    return found


def read(response: dict[str, str]) -> ReadTriples:
    return read_triples(response["response"], names=[response["entity"]])


def test_the_fifty_were_drawn_by_their_seed() -> None:
    drawn = Draws(42, 0, "bequ unreadable replies").shuffled(range(465))[:50]
    assert list(truth()) == sorted(place + 1 for place in drawn)


def test_every_triple_of_the_fifty_is_read_and_no_other() -> None:
    """289 of 289 recovered, none that is not there: recall and precision are both 1."""
    rows = responses()
    for line, triples in truth().items():
        found = [(t.subject, t.predicate, t.object) for t in read(rows[line - 1]).triples]
        assert Counter(found) == Counter(triples), line
    assert sum(map(len, truth().values())) == 289


def test_what_is_read_of_all_of_them() -> None:
    """2,964 triples, every one marked as recovered; of 22 replies nothing, since 9 are no text at
    all and 13 are cut off before their first triple. Two records lack the key of their object."""
    found = [read(response) for response in responses()]
    triples = [triple for each in found for triple in each.triples]
    assert len(triples) == 2964
    assert all(triple.is_recovered for triple in triples)
    assert sum(not each.triples for each in found) == 9 + 13
    assert not any(each.says_nothing for each in found)
    left = Counter(part.why for each in found for part in each.unread)
    assert left == {"truncated": 293, "no triple": 22, "end not clear": 2}
