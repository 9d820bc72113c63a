"""docs/extraction.md: the rules of extraction, and how they read 903 real replies.

python -m tools.extraction_report            writes it from the replies beside the repository
python -m tools.extraction_report --check    fails where it is out of date

The replies (../shared/data/mcq-responses-mmlu-pro.jsonl.gz) are not part of the project; without
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
PAGE = ROOT / "docs" / "extraction.md"
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

HEADER = """\
# Extraction: which option a reply chose

`extract_choice` reads a reply in this order and stops at the first that answers:

1. on the last line: an answer **marked** in words, by `\\boxed{}` or by `[[ ]]` ("The answer is
   (B)", "答案：B", "My verdict is [[B]], since ..."), a **bracketed** letter, a **bare** letter;
2. the same in the whole text;
3. an option's **content** behind an anchor word ("The answer is carbon"), or alone on the last
   line; lists of Roman numerals are compared as sets;
4. nothing: `unparsed`.

## Languages

Answers are read in English, Chinese, Spanish, French, German, Portuguese, Russian, Japanese,
Korean and Arabic: "La respuesta correcta es la B", "La bonne réponse est B", "Die Antwort lautet
B", "A alternativa B é a correta", "Правильный ответ — B", "答えはB", "정답은 B입니다",
"الإجابة الصحيحة هي B". The words are in `answer_words.py`, one row for each language family.
Letters are Latin (A to Z). A Cyrillic Ve is not read: it may mean B or the third option.

680 responses in these languages were written for the tests and labeled by hand
(`tests/choices/labelled/`); 295 of them choose nothing. All are read as labeled now. What new
wordings come to is told by responses that were written after the rules, each set read once before
the rules were corrected:

- Before the other eight languages were added, 220 of 330 were read as labeled (66.7%).
- Of the next 163, 157 (96.3%).
- Of 98 more, over all forms and languages, 84 (85.7%). The 14 others choose in words that were not
  thought of ("me quedo con la opción C", "選択肢Eを選びます") and were `unparsed`: no letter was
  read that was not chosen. All nine refusals, of nine languages, were `refused`.
- Of 29 more after that, in rarer words, 21 (72.4%); the 8 others were `unparsed`.

## A format of your own

A run states the format of its answers; nothing has to be programmed:

```sh
proofstone run elements -m openai/gpt-5.1 --answer-format 'regex:Final: ([A-D])'
proofstone run elements -m openai/gpt-5.1 --answer-format 'json:$.result.answer'
```

Of a regular expression the last match counts: its group `answer`, else its first group. A JSON
path has names and places from 0. What is found is read in place of the response; a response
without it is `unparsed`. Invalid patterns, and patterns that can take long, are refused before
anything is sent.

- The format is a setting of the run (`answer_format` in run files, `unset` leaves it out for one
  model or prompting method). It is kept: `resume` and `score --again` read by it; `show`, pages,
  `compare`, and leaderboards whose rows differ in it name it.
- The same command with another format is another run. Its responses come from the cache, so
  reading stored responses by another format asks nothing again.
- A template (`{# answer: ... #}`) and a form (column `answer_format`) can state a format too, see
  [prompts](prompts.md). The format of a run or template is read in place of the form's; a run and
  its template must not both state one.
- Entities (BeQu) take no format, since every triple of a response is read; nor does the prompting
  method `confidence` of short questions, since the answer and the confidence are read. Both are
  refused with the reason.

## Details

- Of several marked answers the last counts: a reply that corrects itself, or goes on to questions
  nobody asked, ends with what it stands by.
- One statement that names several letters ("the answer is (A, B)") chooses none, and nothing
  weaker is read instead: `unparsed`, flag `several answers`.
- "The answer is not listed" takes back what was marked before, unless the reply goes on to choose.
- A last line that only holds a bracketed or bare letter somewhere does not overrule an answer
  marked above it; a last line that is nothing but a letter does.
- A letter that labels no option is kept, and the reply is `unparsed`, flag `no option`.
- Not letters: the words "A" and "I", variables (`$x$`, `C = 5`), labels in a list of options,
  options that are excluded ("not (B)"), Roman numerals in lists ("I, III").
- "A dog" is the option "A dog" where there is one, not letter A.
- Lower case counts where the letter ends its clause, full width everywhere.

A reply cut off by the token limit is `answered` (flag `truncated`) only where an option was marked,
else `truncated`. An unclosed thinking block is `truncated` and never read. A content filter is
`refused`, flag `by endpoint`; so is a reply with the endpoint's refusal field, and one that opens
with a refusal in the first person and chooses nothing ("I cannot help with that", "Lo siento, no
puedo ayudar con eso", "お答えできません"), in all ten languages. Doubt is no refusal ("I cannot
tell which", "Ich kann das nicht eindeutig beantworten"). In languages other than English
and Chinese only replies of at most 600 characters count.

Bounds, so that no reply can cost much: the last 250 anchor words, the last 4,096 characters of a
line, letters without an anchor in the last 16,384 characters. A reply of a million characters of
anything takes at most 50 ms, usually far less (tests/choices/test_extract_adversarial.py).
"""

DATA_SECTION = """\
## 903 real replies

12 models on MMLU-Pro questions of 1 to 10 options, and what seven extractors read (from
TIGER-AI-Lab/MMLU-Pro f418b116, Apache-2.0). The replies were chosen because they are hard to read:
**no accuracy can be read from them.** "None" is no letter. This part is generated by
`python -m tools.extraction_report` where the replies lie beside the repository.
"""


class Row(msgspec.Struct, rename={"answer_key": "gold"}):
    """One reply with its question's options, the gold letter and the references' readings."""

    model: str
    question_id: int
    options: list[str]
    answer_key: str
    response: str
    ref: dict[str, str | list[str] | None]


@dataclass(frozen=True)
class Reading:
    """A reply as we read it and as the references do: letters in upper case, "" for none."""

    row: Row
    ours: Extraction
    theirs: dict[str, str]


def readings() -> list[Reading]:
    """All replies, read; empty where the data are absent."""
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
    """The whole page."""
    return "\n".join(
        [HEADER, DATA_SECTION, _tiers(read), _agreement(read), _unanimous(read), _kinds(read)]
    )


# ---------------------------------------------------------------- tables


def _table(head: Iterable[str], rows: Iterable[Iterable[object]], numbers: int) -> str:
    """A Markdown table whose last ``numbers`` columns are numbers."""
    head = list(head)
    marks = ["---"] * (len(head) - numbers) + ["---:"] * numbers
    lines = [head, marks, *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.1%})"


def _tiers(read: list[Reading]) -> str:
    found = Counter((r.ours.tier, r.ours.scope, _what(r.ours)) for r in read)
    rows = [(*(cell or "-" for cell in key), n) for key, n in found.most_common()]
    return "### How they were read\n\n" + _table(("tier", "scope", "gives", "responses"), rows, 1)


def _what(ours: Extraction) -> str:
    if ours.is_option:
        return "an option"
    if ours.letter:
        return "a letter that is no option"
    return "several letters" if ours.tier else "none"


def _agreement(read: list[Reading]) -> str:
    """Agreement with each reference and with gold."""
    ours = [r.ours.letter for r in read]
    rows: list[Iterable[object]] = []
    for name, title in REFERENCES.items():
        theirs = [r.theirs[name] for r in read]
        rows.append((title, *_compared(ours, theirs), _answer_key(theirs, read), theirs.count("")))
    rows.append(("ours", "", "", "", "", _answer_key(ours, read), ours.count("")))
    head = ("reference", "same", "other letter", "only we read one", "only it reads one")
    text = _table((*head, "answer_key", "none"), rows, 6)
    return "### Agreement with each reference, and with gold\n\n" + text


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
        "### Where all seven agree\n",
        f"They agree on {len(agreed)} replies, and we read {len(alike)} of them the same. Else:\n",
    ]
    lines += [f"- {_example(r)}" for r in agreed if r not in alike]
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------- disagreements by kind

KINDS = {
    "several": "The statement names several letters, and we read none; they take one of them",
    "no answer": "We read none; they take a letter of a formula, a list or what was taken back",
    "article": "We read none; they take the word A or I for a letter",
    "no option": "We keep a letter that is no option; they read another or none",
    "content": "We read an option by its content; they read another letter or none",
    "last": "We take the last marked answer; they take an earlier one, or another letter",
    "form": "They do not know the form in which the letter stands, and read none",
    "other": "Other letters, by other rules",
}


def kind_of(reading: Reading, theirs: str) -> str:
    """The kind of a disagreement with one reference that read ``theirs``."""
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
    """Each kind with its counts and two examples."""
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
        lines += [f"{KINDS[kind]}: {len(responses)} replies, {n} readings.\n"]
        most = sorted(responses.values(), key=lambda r: (-_differing(r), r.row.question_id))
        lines += [f"- {_example(r)}" for r in most[:3]]
        lines.append("")
    return "\n".join(lines)


def _differing(reading: Reading) -> int:
    """How many references read something else than we do."""
    return sum(letter != reading.ours.letter for letter in reading.theirs.values())


def _example(reading: Reading) -> str:
    row = reading.row
    ours = f"{reading.ours.letter} ({reading.ours.tier})" if reading.ours.letter else "none"
    theirs = " ".join(letter or "-" for letter in reading.theirs.values())
    tail = " ".join(row.response.split())[-QUOTED:].replace("`", "'")
    return f"{row.model}, question {row.question_id}: `...{tail}` we read {ours}, they `{theirs}`"


def main(arguments: list[str]) -> str | None:
    """Writes or compares the page; says so where the data are absent."""
    read = readings()
    if not read:
        sys.stderr.write(f"{PAGE.name} is left as it is: {DATA.name} is not beside this tree\n")
        return None
    return settle(PAGE, page(read), arguments, "python -m tools.extraction_report")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
