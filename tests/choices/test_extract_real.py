"""903 real replies: where seven reference extractors and a reader agree, so do we."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import msgspec
import pytest

from proofstone.choices.extraction import extract_choice
from proofstone.choices.options import labels

DATA = Path(__file__).parents[3] / "shared" / "data" / "mcq-responses-mmlu-pro.jsonl.gz"

# (model, question) -> what we read, where all seven read nothing. A reader sides with us:
EXCEPTIONS = {
    # "... which is $\\int ... dz = \\boxed{0.25}$": the text of option B, boxed. None of the seven
    # looks for content in a box.
    ("mathstral-7B", 8428): "B",
}
# The same, where those of the seven that read a letter read another one:
OTHER_LETTERS = {
    # "The answer is $... = \\boxed{144}$": the text of option B. Two lighteval readings take the
    # first capital of the reply's opening words for an answer (F).
    ("c4ai-command-r-v01", 7762): "B",
}


class Reference(msgspec.Struct):
    """What the seven say; the three of lighteval as lists, empty where they found nothing."""

    encyclo_k: str | None
    mmlu_pro: str | None
    lm_eval_mmlu_pro: str | None
    helm_gpqa: str | None
    lighteval_anchored: list[str]
    lighteval_unanchored: list[str]
    lighteval_092_kina: list[str]

    def letters(self) -> set[str]:
        """Their letters in upper case, "" for nothing: one where all agree."""
        return {_letter(getattr(self, name)) for name in self.__struct_fields__}


class Row(msgspec.Struct, rename={"answer_key": "gold"}):
    model: str
    question_id: int
    options: list[str]
    answer_key: str
    response: str
    ref: Reference


def _letter(said: Any) -> str:
    said = said[0] if isinstance(said, list) and said else said
    return said.upper() if isinstance(said, str) else ""


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    if not DATA.exists():
        pytest.skip("the 903 real replies lie beside the repository, in ../shared, and not here")
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        return [msgspec.json.decode(line, type=Row) for line in lines]


def _read(row: Row) -> str:
    return extract_choice(row.response, labels(len(row.options)), row.options).letter


def test_where_all_references_agree_so_do_we_but_for_named_exceptions(rows: list[Row]) -> None:
    agreed = [row for row in rows if len(row.ref.letters()) == 1]
    assert len(agreed) == 281 + 48  # 48 of them: no answer
    differing = {
        (row.model, row.question_id): _read(row)
        for row in agreed
        if {_read(row)} != row.ref.letters()
    }
    assert differing == EXCEPTIONS


def test_where_all_that_read_a_letter_agree_we_read_that_letter_or_none(rows: list[Row]) -> None:
    """613 replies on which no two references read different letters."""
    agreed = [row for row in rows if len(row.ref.letters() - {""}) == 1]
    assert len(agreed) == 613
    others = {
        (row.model, row.question_id): _read(row)
        for row in agreed
        if _read(row) and {_read(row)} != row.ref.letters() - {""}
    }
    assert others == OTHER_LETTERS
