"""The real files of the method's paper import as they stand, and their whole sample is posed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from proofstone.methods.bequ.records import VerifySettings
from proofstone.methods.bequ.verification.triple_files import opened_triples

REAL = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "bequ"


@pytest.mark.slow
@pytest.mark.skipif(not REAL.exists(), reason="needs ../shared/data/bequ")
def test_the_real_files_are_read_as_they_stand() -> None:
    """5 of 18,082 reference entries are empty, in both places; 554 triples are about another
    subject; seven entities that do not exist have no reference, and all their triples are neutral
    without asking."""
    with opened_triples(
        REAL / "elicited_triples_sample.csv.gz",
        REAL / "reference_triples_random200.jsonl.gz",
        VerifySettings(sample=50),
    ) as opened:
        found = opened.to_ask(show=1)
    told = found.told
    assert (told.elicited, told.entities, told.groups) == (25_178, 207, 10)
    assert (told.reference_triples, told.reference_entities) == (2_877 + 15_205 - 5, 200)
    assert len(told.without_reference) == 7
    assert told.of_others <= 554
    assert found.precision == 9 * 50 + 32
    assert found.recall == 8 * 50
    assert Counter(found.by_rule)["no reference"] == 50 + 32
    assert found.examples[0].direction == "precision"
