"""Generate docs/extraction.md: the rules of extraction, and results on 903 real responses.

    python -m tools.extraction_report            # write it from responses next to the repository
    python -m tools.extraction_report --check    # fail if it is out of date

The responses (../shared/data/mcq-responses-mmlu-pro.jsonl.gz) are not part of the project. Without
them nothing is written or compared.
"""

from __future__ import annotations

import gzip
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from proofstone.choices.extraction import Extraction, extract_choice
from proofstone.choices.options import labels
from tools.generated import settle
from tools.resolved import ROOT

__all__ = ["Reading", "kind_of", "page", "readings"]

DATA = ROOT.parent / "shared" / "data" / "mcq-responses-mmlu-pro.jsonl.gz"
PAGE = ROOT / "docs" / "reference" / "extraction.md"
REFERENCES = {
    "encyclo_k": "Encyclo-K (and SuperGPQA)",
    "mmlu_pro": "MMLU-Pro",
    "lm_eval_mmlu_pro": "lm-eval, MMLU-Pro",
    "helm_gpqa": "HELM, GPQA",
    "lighteval_anchored": "lighteval, anchored",
    "lighteval_unanchored": "lighteval, unanchored",
    "lighteval_092_kina": "lighteval 0.9.2",
}
QUOTED = 90

TITLE = "## 903 real responses\n"
DATA_SECTION = f"""\
{TITLE}
12 models on MMLU-Pro questions of 1 to 10 options, and what seven extractors read
(TIGER-AI-Lab/MMLU-Pro f418b116, Apache-2.0). The responses were chosen because they are hard to
read: **no accuracy can be read from them.** "None" means that no letter was read.
`python -m tools.extraction_report` writes this section where the responses are available.
"""


class Row(msgspec.Struct, rename={"answer_key": "gold"}):
    """One response with its question's options, the answer key and the references' extractions."""

    model: str
    question_id: int
    options: list[str]
    answer_key: str
    response: str
    ref: dict[str, str | list[str] | None]


@dataclass(frozen=True)
class Reading:
    """A response with our extraction and those of the references: upper-case letters, "" for
    none."""

    row: Row
    ours: Extraction
    theirs: dict[str, str]


def readings() -> list[Reading]:
    """Return all responses with extractions; empty without the data."""
    if not DATA.exists():
        return []
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        return [_read(msgspec.json.decode(line, type=Row)) for line in lines]


def _read(row: Row) -> Reading:
    ours = extract_choice(row.response, labels(len(row.options)), row.options)
    return Reading(row, ours, {name: _letter(row.ref[name]) for name in REFERENCES})


def _letter(said: str | list[str] | None) -> str:
    first = said[0] if isinstance(said, list) and said else said
    return first.upper() if isinstance(first, str) else ""


def page(read: list[Reading]) -> str:
    """Return the page."""
    rules = PAGE.read_text(encoding="utf-8").partition(TITLE)[0].removesuffix("\n")
    return "\n".join(
        [
            rules,
            DATA_SECTION,
            _tiers(read),
            _agreement(read),
            _unanimous(read),
            _kinds(read),
            "Next: [glossary](glossary.md).\n",
        ]
    )


# ---------------------------------------------------------------- tables


def _table(head: Iterable[str], rows: Iterable[Iterable[object]], numbers: int) -> str:
    """Return a Markdown table whose last ``numbers`` columns are numbers."""
    head = list(head)
    marks = ["---"] * (len(head) - numbers) + ["---:"] * numbers
    lines = [head, marks, *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.1%})"


def _tiers(read: list[Reading]) -> str:
    found = Counter((r.ours.tier, r.ours.scope, _what(r.ours)) for r in read)
    rows = [(*(cell or "-" for cell in key), n) for key, n in found.most_common()]
    return "### Rules applied\n\n" + _table(("tier", "scope", "gives", "responses"), rows, 1)


def _what(ours: Extraction) -> str:
    if ours.is_option:
        return "an option"
    if ours.letter:
        return "a letter without an option"
    return "several letters" if ours.tier else "none"


def _agreement(read: list[Reading]) -> str:
    """Return agreement with each reference and with the answer key."""
    ours = [r.ours.letter for r in read]
    rows: list[Iterable[object]] = []
    for name, title in REFERENCES.items():
        theirs = [r.theirs[name] for r in read]
        rows.append((title, *_compared(ours, theirs), _answer_key(theirs, read), theirs.count("")))
    rows.append(("ours", "", "", "", "", _answer_key(ours, read), ours.count("")))
    head = ("reference", "same", "other letter", "only we read one", "only it reads one")
    text = _table((*head, "correct", "none"), rows, 6)
    return "### Agreement with other extractors\n\n" + text


def _compared(ours: list[str], theirs: list[str]) -> Iterator[object]:
    pairs = list(zip(ours, theirs, strict=True))
    yield _share(sum(a == b for a, b in pairs), len(pairs))
    yield sum(a != b for a, b in pairs if a and b)
    yield sum(bool(a) and not b for a, b in pairs)
    yield sum(bool(b) and not a for a, b in pairs)


def _answer_key(letters: list[str], read: list[Reading]) -> int:
    return sum(letter == r.row.answer_key for letter, r in zip(letters, read, strict=True))


def _unanimous(read: list[Reading]) -> str:
    agreed = [r for r in read if len(set(r.theirs.values())) == 1]
    alike = [r for r in agreed if r.ours.letter in r.theirs.values()]
    lines = [
        "### Agreement of all seven\n",
        f"They agree on {len(agreed)} responses; {len(alike)} of them are read the same here. "
        "The rest:\n",
    ]
    lines += [f"- {_example(r)}" for r in agreed if r not in alike]
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------- disagreements by kind

KINDS = {
    "several": "Several letters in one statement: here none, there one of them",
    "no answer": "Here none, there a letter of a formula, a list or a canceled answer",
    "article": "Here none, there the word A or I",
    "no option": "Here a letter without an option, there another or none",
    "content": "Here an option by its content, there another letter or none",
    "last": "Here the last marked answer, there an earlier one or another letter",
    "form": "Here a letter, there none, in a form unknown there",
    "other": "Other letters, by other rules",
}


def kind_of(reading: Reading, theirs: str) -> str:
    """Return the kind of a disagreement with one reference that extracted ``theirs``."""
    ours = reading.ours
    if not ours.letter:
        if ours.tier:
            return "several"
        return "article" if theirs in {"A", "I"} else "no answer"
    if not ours.is_option:
        return "no option"
    if ours.tier == "content":
        return "content"
    if not theirs:
        return "form"
    return "last" if ours.tier == "marked" else "other"


def _kinds(read: list[Reading]) -> str:
    """Return each kind with its counts and two examples."""
    pairs = [
        (kind_of(r, letter), r)
        for r in read
        for letter in r.theirs.values()
        if letter != r.ours.letter
    ]
    counts = Counter(kind for kind, _ in pairs)
    lines = ["### Disagreements by kind\n"]
    for kind, n in counts.most_common():
        responses = {id(r): r for found, r in pairs if found == kind}
        lines += [f"{KINDS[kind]}: {len(responses)} responses, {n} readings.\n"]
        most = sorted(responses.values(), key=lambda r: (-_differing(r), r.row.question_id))
        lines += [f"- {_example(r)}" for r in most[:1]]
        lines.append("")
    return "\n".join(lines)


def _differing(reading: Reading) -> int:
    """Return the number of references with another extraction than ours."""
    return sum(letter != reading.ours.letter for letter in reading.theirs.values())


def _example(reading: Reading) -> str:
    row = reading.row
    ours = f"{reading.ours.letter} ({reading.ours.tier})" if reading.ours.letter else "none"
    theirs = " ".join(letter or "-" for letter in reading.theirs.values())
    tail = " ".join(row.response.split())[-QUOTED:].replace("`", "'")
    return f"{row.model}, question {row.question_id}: `...{tail}`; here {ours}, there `{theirs}`"


def main(arguments: list[str]) -> str | None:
    """Write or compare the page; report missing data."""
    read = readings()
    if not read:
        sys.stderr.write(f"{PAGE.name} is left as it is: {DATA.name} is not beside this tree\n")
        return None
    return settle(PAGE, page(read), arguments, "python -m tools.extraction_report")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
