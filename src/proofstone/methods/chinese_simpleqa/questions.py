"""Short questions from the rows of a file, and the rows of them.

Names after a bar are read as well; columns that are not named here are ignored. A missing column,
null and an empty text are the same.

- ``question`` | ``problem`` | ``query`` and ``answer`` | ``reference`` | ``gold`` are required; an
  answer may be a whole number.
- ``aliases`` | ``answer_aliases``: other ways to say that very answer, as a list, the JSON text of
  one, or with commas between them.
- ``primary_category`` | ``category`` | ``topic`` and ``secondary_category`` | ``subcategory`` |
  ``subtopic``: in none of the rows, or in all.
- ``answer_type``: date, number, person, place, organisation or other.
- ``tolerance``: how far a number may lie from the answer, where the question says so.
- ``language``: a code such as en or zh, ``und`` for none; guessed for all rows without one.
- ``urls``: pages that say so, as a list.
- ``valid_at``: the date at which the document that says so is valid.
- ``id``, once in the file; ``number`` and ``corrects`` as an export has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from msgspec import UNSET, structs

from proofstone.errors import BadInput, Problem
from proofstone.files.fields import Fields, came, has_option_columns
from proofstone.methods.chinese_simpleqa.payloads import (
    ANSWER_TYPES,
    AnswerType,
    Pair,
    ShortAnswer,
    ShortQuestion,
    asked_of,
)
from proofstone.methods.chinese_simpleqa.sameness import plain_answer
from proofstone.records.items import Item, LoadedItem, item_id
from proofstone.records.knowledge import BuiltFact, Fact, Stratum, fact_id
from proofstone.records.tables import Row
from proofstone.texts.languages import UNDETERMINED, guess_language

QUESTION = ("question", "problem", "query")


ANSWER = ("answer", "reference", "gold")


PRIMARY = ("primary_category", "category", "topic")


SECONDARY = ("secondary_category", "subcategory", "subtopic")


# Columns of questions whose answer is one of several that are shown.
_CHOICES = frozenset({"options", "choices", "A", "B", "statement"})


T = TypeVar("T")


class Placed(Protocol):
    """A row of a file with its place in it, and its categories."""

    @property
    def place(self) -> str:
        """The row's place in the file."""

    @property
    def stratum(self) -> Stratum:
        """Its categories."""


@dataclass(slots=True, eq=False)
class Draft:
    """A row's question; ``language`` None: to be guessed."""

    place: str
    key: str
    asked: ShortQuestion
    stratum: Stratum
    language: str | None
    number: int
    corrects: bytes | None
    is_sound: bool


def recognises(columns: Iterable[str]) -> bool:
    """Whether a file with these columns holds short questions: a question and an answer, and
    nothing to choose from."""
    names = set(columns)
    return not names.isdisjoint(QUESTION) and not names.isdisjoint(ANSWER) and not names & _CHOICES


def read_items(rows: Iterable[Row]) -> Sequence[Item]:
    """Questions in the order of their rows. Raises BadInput with every problem of all rows."""
    return _read(rows, _item)


def read_facts(rows: Iterable[Row]) -> Sequence[BuiltFact]:
    """The same questions as facts of a bank."""
    return _read(rows, _fact)


def read_pairs(rows: Iterable[Row]) -> Sequence[tuple[Item, str]]:
    """Questions as ``read_items`` gives them, each with the text of its column ``passage``, which
    is empty where it has none. Raises as that does."""
    passages: list[str] = []

    def watched() -> Iterator[Row]:
        for row in rows:
            _check_open(row)
            passages.append(Fields(row, []).text("passage").strip())
            yield row

    items = read_items(watched())
    return list(zip(items, passages, strict=True))


def _check_open(row: Row) -> None:
    """Raises BadInput for a question with options: its answer is a letter, and no pair's."""
    if has_option_columns(row.values):
        raise BadInput(
            f"{row.place} has options; expected a question and its answer",
            hint="make open questions of them: --from-choices",
        )


def read_question(fields: Fields) -> Item:
    """The question of one row alone, its language guessed where it says none; what is wrong with
    the row is noted in ``fields``."""
    draft = read_draft(fields)
    language = guess_language([draft.asked.question]) if draft.language is None else draft.language
    return _item(draft, language)


def _read(rows: Iterable[Row], make: Callable[[Draft, str], T]) -> list[T]:
    problems: list[Problem] = []
    drafts = [read_draft(Fields(row, problems)) for row in rows]
    check_categories(drafts, problems)
    _check_repeats(drafts, problems)
    _check_aliases([draft for draft in drafts if draft.is_sound], problems)
    if problems:
        raise BadInput("The questions cannot be read.", problems)
    guessed = guess_language(d.asked.question for d in drafts if d.language is None)
    return [make(d, guessed if d.language is None else d.language) for d in drafts]


def read_draft(fields: Fields) -> Draft:
    """The question of one row; what is wrong with it is noted in ``fields``."""
    question = fields.required_text(*QUESTION)
    answer = _answer(fields)
    aliases = _aliases(fields, answer)
    asked = ShortQuestion(
        question=question,
        answer=answer,
        aliases=aliases,
        answer_type=_answer_type(fields),
        tolerance=_tolerance(fields),
        urls=tuple(url for url in fields.texts("urls") if url.strip()),
        valid_at=fields.label("valid_at").strip() or UNSET,
    )
    stratum = Stratum(
        discipline=fields.label(*PRIMARY).strip(), field=fields.label(*SECONDARY).strip()
    )
    return Draft(
        place=fields.place,
        key=fields.key("id"),
        asked=asked,
        stratum=stratum,
        language=fields.language(),
        number=fields.number("number") or 0,
        corrects=fields.identity("corrects"),
        is_sound=fields.is_sound,
    )


def _answer(fields: Fields) -> str:
    answer = fields.label(*ANSWER)
    if not answer.strip() and fields.is_sound:
        fields.wrong(fields.find(*ANSWER)[0], "is missing or empty; a question needs its answer")
    elif answer.strip() and not plain_answer(answer):
        fields.wrong(fields.find(*ANSWER)[0], f"{came(answer)} holds nothing but marks")
    return answer


def _aliases(fields: Fields, answer: str) -> tuple[str, ...]:
    """The aliases, each once, without those that say the answer as it stands."""
    found: dict[str, str] = {}
    for alias in fields.texts("aliases", "answer_aliases"):
        plain = plain_answer(alias)
        if not plain:
            fields.wrong("aliases", f"{came(alias)} is no answer")
        found.setdefault(plain, alias)
    found.pop(plain_answer(answer), None)
    return tuple(found.values())


def _answer_type(fields: Fields) -> AnswerType:
    text = fields.text("answer_type").strip().lower()
    for known in ANSWER_TYPES:
        if text == known:
            return known
    listed = ", ".join(filter(None, ANSWER_TYPES))
    fields.wrong("answer_type", f"expected one of {listed}; came {came(text)}")
    return ""


def _tolerance(fields: Fields) -> float:
    value = fields.find("tolerance")[1]
    if value is None:
        return 0.0
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        number = math.nan
    if not 0.0 <= number < math.inf or isinstance(value, bool):
        fields.wrong("tolerance", f"expected a number of 0 or more, came {came(value)}")
        return 0.0
    return number


# ---------------------------------------------------------------- rows beside each other


def check_categories(drafts: Sequence[Placed], problems: list[Problem]) -> None:
    """A category that some rows have, all have."""
    for level, name in (("discipline", PRIMARY[0]), ("field", SECONDARY[0])):
        empty = [draft for draft in drafts if not getattr(draft.stratum, level)]
        if len(empty) < len(drafts):
            what = "is empty, and other questions of the file have one"
            problems += [Problem(f"{draft.place}, field {name}", what) for draft in empty]


def _check_repeats(drafts: Sequence[Draft], problems: list[Problem]) -> None:
    keys: dict[str, str] = {}
    questions: dict[str, str] = {}
    for draft in drafts:
        first = keys.setdefault(draft.key, draft.place) if draft.key else draft.place
        if first != draft.place:
            twice = f"{came(draft.key)} is already the id of {first}"
            problems.append(Problem(f"{draft.place}, field id", twice))
        asked = plain_answer(draft.asked.question)
        first = questions.setdefault(asked, draft.place) if asked else draft.place
        if first != draft.place:
            repeats = f"repeats the question of {first}"
            problems.append(Problem(f"{draft.place}, field question", repeats))


def _check_aliases(drafts: Sequence[Draft], problems: list[Problem]) -> None:
    """Two answers are the same everywhere or nowhere: an alias that is the answer of another
    question, which does not take this one's answer, has slipped into the wrong row or makes one of
    the two too strict."""
    taken: dict[str, list[tuple[Draft, set[str]]]] = {}
    for draft in drafts:
        plain = {plain_answer(text) for text in draft.asked.answers}
        taken.setdefault(plain_answer(draft.asked.answer), []).append((draft, plain))
    for draft in drafts:
        own = plain_answer(draft.asked.answer)
        for alias in draft.asked.aliases:
            others = [o for o, plain in taken.get(plain_answer(alias), ()) if own not in plain]
            problems += [_alias_problem(draft, alias, other) for other in others[:1]]


def _alias_problem(draft: Draft, alias: str, other: Draft) -> Problem:
    return Problem(
        f"{draft.place}, field aliases",
        f"{came(alias)} is the answer of {other.place}, which does not take "
        f"{came(draft.asked.answer)}: take it away here, or add that alias there",
    )


# ---------------------------------------------------------------- made and written


def _item(draft: Draft, language: str) -> Item:
    item = Item(
        kind="chinese_simpleqa.question",
        payload=draft.asked,
        language=language,
        stratum=draft.stratum,
        number=draft.number,
        corrects=draft.corrects,
    )
    return structs.replace(item, id=item_id(item))


def _fact(draft: Draft, language: str) -> BuiltFact:
    fact = Fact(
        kind="chinese_simpleqa.pair",
        payload=Pair(**structs.asdict(draft.asked)),
        language=language,
        stratum=draft.stratum,
        corrects=draft.corrects,
    )
    return BuiltFact(structs.replace(fact, id=fact_id(fact)))


def write_item(loaded: LoadedItem) -> dict[str, Any]:
    """The row of an item, from which ``read_items`` takes one that asks the same."""
    item = loaded.item
    row = made_row(item.id, asked_of(loaded), item.language, item.stratum, item.corrects)
    return {**row, "number": item.number}


def write_fact(built: BuiltFact, _facts: Mapping[bytes, Fact]) -> dict[str, Any]:
    """The row of a fact, from which ``read_facts`` makes this very fact again."""
    fact = built.fact
    return made_row(fact.id, fact.payload, fact.language, fact.stratum, fact.corrects)


def made_row(
    identity: bytes, asked: ShortAnswer, language: str, stratum: Stratum, corrects: bytes | None
) -> dict[str, Any]:
    """The row of a question, under the names that are read."""
    optional = {
        "aliases": list(asked.aliases),
        "primary_category": stratum.discipline,
        "secondary_category": stratum.field,
        "answer_type": asked.answer_type,
        "tolerance": asked.tolerance,
        "urls": list(asked.urls),
        "valid_at": asked.validity,
        "corrects": corrects.hex() if corrects else "",
    }
    return {
        "id": identity.hex(),
        "question": asked.question,
        "answer": asked.answer,
        **{name: value for name, value in optional.items() if value},
        "language": language or UNDETERMINED,
    }
