"""Describe a set of questions: the paper's Tables 1 and 4, and the balance of its options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from proofstone.choices.options import labels
from proofstone.methods.elaipbench.payloads import DIFFICULTIES, PaperQuestion
from proofstone.records.calls import TokenCounter
from proofstone.records.items import LoadedItem
from proofstone.records.knowledge import Fact
from proofstone.records.tables import Cell, Column, Tabulation
from proofstone.search.bm25 import terms_of
from proofstone.wording.messages import noted, say, word

_DIFFICULTY_NAMES = {
    "easy": noted("easy"),
    "moderate": noted("moderate"),
    "hard": noted("hard"),
}


# Words of questions in general, which tell nothing on their subject; shorter ones are left out too.
_GENERAL = frozenset({
    "about", "after", "also", "because", "been", "before", "being", "between", "both", "correct",
    "does", "each", "following", "from", "have", "into", "more", "most", "only", "other", "over",
    "paper", "same", "statement", "statements", "than", "that", "their", "them", "then", "there",
    "these", "they", "this", "those", "through", "true", "under", "used", "using", "were", "what",
    "when", "where", "which", "while", "will", "with", "would", "your",
})  # fmt: skip

_LEAST_LETTERS = 4  # of a word in Latin or another alphabet; Chinese has pairs of characters

_MOST_WORDS, _BAR = 20, 30  # rows, and characters of the longest bar

_TYPE_NAMES = {"single": noted("single answer"), "multiple": noted("multiple answers")}


def item_statistics(items: Iterable[LoadedItem], tokens: TokenCounter) -> Sequence[Tabulation]:
    """Return the tables of a form's questions."""
    return fact_statistics((fact for item in items for fact in item.facts), tokens)


def fact_statistics(facts: Iterable[Fact], tokens: TokenCounter) -> Sequence[Tabulation]:
    """Return tables of questions: by type, difficulty and field; by document; of options."""
    listed = list(facts)
    return [_questions(listed, tokens), _documents(listed), _options(listed), _words(listed)]


def _payload(fact: Fact) -> PaperQuestion:
    payload: PaperQuestion = fact.payload
    return payload


def _questions(facts: Sequence[Fact], tokens: TokenCounter) -> Tabulation:
    """Table 1: questions and their mean length with options, in tokens."""
    groups: list[tuple[str, Sequence[Fact]]] = [(say("all questions"), facts)]
    for kind, name in _TYPE_NAMES.items():
        groups.append(
            (word(name), [fact for fact in facts if _payload(fact).question_type == kind])
        )
    for level in filter(None, DIFFICULTIES):
        of_level = [fact for fact in facts if _payload(fact).difficulty == level]
        groups.append((word(_DIFFICULTY_NAMES[level]), of_level))
    fields = sorted({fact.stratum.discipline for fact in facts} - {""})
    groups += [(name, [f for f in facts if f.stratum.discipline == name]) for name in fields]
    rows = []
    for name, members in groups:
        lengths = [_length(_payload(fact), tokens) for fact in members]
        mean = sum(lengths) / len(lengths) if lengths else None
        ends = (min(lengths), max(lengths)) if lengths else (None, None)
        rows.append((name, len(members), mean, *ends))
    return Tabulation(
        title=say("Questions"),
        columns=(
            Column(key="group", name=say("group")),
            Column(key="n", name="n"),
            Column(key="mean", name=say("mean tokens")),
            Column(key="shortest", name=say("min")),
            Column(key="longest", name=say("max")),
        ),
        rows=tuple(rows),
        notes=(
            say("lengths of questions with their options, counted by {name}", name=tokens.name),
        ),
    )


def _words(facts: Sequence[Fact]) -> Tabulation:
    """Figure 16: the words that most questions contain, as bars."""
    found: Counter[str] = Counter()
    for fact in facts:
        found.update({each for each in terms_of(_payload(fact).question) if _is_telling(each)})
    most = sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))[:_MOST_WORDS]
    longest = max((n for _word, n in most), default=1)
    return Tabulation(
        title=say("Most frequent words"),
        columns=(
            Column(key="word", name=say("word")),
            Column(key="n", name=say("questions")),
            Column(key="bar", name=""),
        ),
        rows=tuple((each, n, "\u2588" * max(1, round(_BAR * n / longest))) for each, n in most),
        notes=(say("questions that contain the word; words of questions in general are left out"),),
    )


def _is_telling(term: str) -> bool:
    return (
        not term.isascii() or (len(term) >= _LEAST_LETTERS and term.isalpha())
    ) and term not in _GENERAL


def _length(payload: PaperQuestion, tokens: TokenCounter) -> int:
    return tokens("\n".join([payload.question, *payload.options]))


def _documents(facts: Sequence[Fact]) -> Tabulation:
    """Table 4 and section A.4: documents by field and year, with their questions by type."""
    of_document: dict[bytes | None, list[Fact]] = {}
    for fact in facts:
        of_document.setdefault(fact.source, []).append(fact)
    groups: dict[tuple[str, int | None], list[list[Fact]]] = {}
    for members in of_document.values():
        key = (members[0].stratum.discipline, _payload(members[0]).year)
        groups.setdefault(key, []).append(members)
    rows = [
        _document_row(field or say("not stated"), year, documents)
        for (field, year), documents in sorted(
            groups.items(), key=lambda entry: (entry[0][0], entry[0][1] or 0)
        )
    ]
    if len(rows) != 1:
        rows.insert(0, _document_row(say("all"), None, list(of_document.values())))
    return Tabulation(
        title=say("Documents by field and year"),
        columns=(
            Column(key="field", name=say("field")),
            Column(key="year", name=say("year")),
            Column(key="documents", name=say("documents")),
            Column(key="single", name=say("single answer, per document")),
            Column(key="multiple", name=say("multiple answers, per document")),
            Column(key="hard", name=say("with a hard question, %"), digits=1),
        ),
        rows=tuple(rows),
    )


def _document_row(
    field: str, year: int | None, documents: Sequence[Sequence[Fact]]
) -> tuple[Cell, ...]:
    n = len(documents)

    def mean(kind: str) -> float | None:
        held = sum(
            _payload(fact).question_type == kind for members in documents for fact in members
        )
        return held / n if n else None

    hard = sum(any(_payload(fact).difficulty == "hard" for fact in each) for each in documents)
    share = 100.0 * hard / n if n else None
    return (field, year, n, mean("single"), mean("multiple"), share)


def _options(facts: Sequence[Fact]) -> Tabulation:
    """Section A.4: how often each place is correct, among all correct options."""
    places: Counter[int] = Counter(place for fact in facts for place in _payload(fact).answer_key)
    shown = max((len(_payload(fact).options) for fact in facts), default=0)
    total = places.total()
    rows: list[tuple[Cell, ...]] = [
        (letter, places[place], 100.0 * places[place] / total if total else None)
        for place, letter in enumerate(labels(shown) if shown else "")
    ]
    return Tabulation(
        title=say("Correct options by letter"),
        columns=(
            Column(key="letter", name=say("letter")),
            Column(key="n", name="n"),
            Column(key="share", name="%", digits=1),
        ),
        rows=tuple(rows),
    )
