"""What a build's row holds is told as people read it, with ids that ``show`` takes."""

from __future__ import annotations

from base64 import b64encode

from proofstone.build.funnel import row_values
from proofstone.records.ids import canonical_json

PASSAGE, SOURCE, FILE = (bytes([n]) * 32 for n in (1, 2, 3))


def test_ids_are_told_as_show_takes_them_and_digests_of_files_whole() -> None:
    row = {
        "text": "Copper conducts.",
        "ground": {"passage": PASSAGE, "source": {"id": SOURCE, "content": FILE}},
        "origin": PASSAGE,
    }
    assert row_values(canonical_json(row)) == {
        "text": "Copper conducts.",
        "ground": {
            "passage": "passage:01010101",
            "source": {"id": "source:02020202", "content": "03" * 32},
        },
        "origin": "fact:01010101",
    }


def test_words_that_could_be_an_id_stay_words_where_no_id_stands() -> None:
    word = b64encode(PASSAGE).decode()
    assert row_values(canonical_json({"text": word, "source": "Herbal"})) == {
        "text": word,
        "source": "Herbal",
    }


def test_of_a_purged_row_nothing_is_told() -> None:
    assert row_values(b"") is None
