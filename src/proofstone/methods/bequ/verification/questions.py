"""What a judge is asked of a triple: what its passages say of it, and what covers it."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import UNSET, Struct

from proofstone.methods.bequ.records import GivenTriple, ReferenceTriple, has_han
from proofstone.records.verdicts import Citing, Exhibit, JudgeQuestion, Label, Passage

# Raised with every change of words that can move a verdict; results name it.
QUESTIONS_VERSION = 1


MOST_STATEMENTS = 400  # elicited triples that one question about a reference triple shows


_LONGEST = 2_000  # characters of a subject, predicate or object that a judge is shown


class _Words(Struct, frozen=True, forbid_unknown_fields=True):
    task: str
    labels: dict[str, str]
    entity: str
    triple: str
    subject: str
    predicate: str
    object: str
    passage: str
    statement: str = ""


def precision_question(
    name: str, triple: GivenTriple, passages: Sequence[Passage]
) -> JudgeQuestion:
    """What the passages of an entity make of a triple: entailment and contradiction must rest on
    one of them."""
    language = _language(name, triple.predicate, triple.object)
    words = _words("precision", language)
    shown = tuple(
        Exhibit(f"{words.passage} {place}", passage.text)
        for place, passage in enumerate(passages, start=1)
    )
    said = _said(words, triple.subject, triple.predicate, triple.object)
    return _question(
        words,
        (Exhibit(words.entity, name), Exhibit(words.triple, said)),
        shown,
        needed_for=("entailment", "contradiction"),
        language=language,
    )


def recall_question(
    name: str, known: ReferenceTriple, statements: Sequence[GivenTriple]
) -> JudgeQuestion:
    """What the elicited triples of an entity, taken together, make of a reference triple: they
    entail it, contradict it, or leave it open."""
    language = _language(name, known.predicate, known.object)
    words = _words("recall_together", language)
    lines = [
        " | ".join(_shortened(part) for part in (each.subject, each.predicate, each.object))
        for each in statements
    ]
    shown = (Exhibit(words.statement, "\n".join(lines)),)
    return _question(words, _known(words, name, known), shown, language=language)


def covered_question(
    name: str, known: ReferenceTriple, candidates: Sequence[GivenTriple]
) -> JudgeQuestion:
    """Whether one elicited triple alone covers a reference triple; the label that one does must
    name it."""
    language = _language(name, known.predicate, known.object)
    words = _words("recall_single", language)
    shown = tuple(
        Exhibit(
            f"{words.statement} {place}", _said(words, each.subject, each.predicate, each.object)
        )
        for place, each in enumerate(candidates, start=1)
    )
    about = _known(words, name, known)
    return _question(words, about, shown, needed_for=("covered",), language=language)


def cited_place(cited: str) -> int | None:
    """The place (from 0) of the exhibit that a verdict rests on, by its name; None for none."""
    number = cited.rpartition(" ")[2]
    return int(number) - 1 if number.isdecimal() else None


def _known(words: _Words, name: str, known: ReferenceTriple) -> tuple[Exhibit, ...]:
    """The entity, and the reference triple with its passage, if there is one."""
    about = [
        Exhibit(words.entity, name),
        Exhibit(words.triple, _said(words, name, known.predicate, known.object)),
    ]
    if known.passage.text:
        about.append(Exhibit(words.passage, known.passage.text))
    return tuple(about)


def _question(
    words: _Words,
    about: tuple[Exhibit, ...],
    shown: tuple[Exhibit, ...],
    *,
    needed_for: tuple[str, ...] = (),
    language: str,
) -> JudgeQuestion:
    return JudgeQuestion(
        task=words.task.strip(),
        labels=tuple(Label(name, meaning) for name, meaning in words.labels.items()),
        exhibits=about + shown,
        compared=tuple(range(len(about), len(about) + len(shown))),
        language=language,
        citing=Citing(tuple(each.name for each in shown), needed_for) if needed_for else UNSET,
    )


def _said(words: _Words, subject: str, predicate: str, value: str) -> str:
    said = {words.subject: subject, words.predicate: predicate, words.object: value}
    return "\n".join(f"{name}: {_shortened(text)}" for name, text in said.items())


def _shortened(text: str) -> str:
    """A text as it stands, unless it is none of a triple: of a whole document its beginning."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} [...]"


def _language(*texts: str) -> str:
    """Judges are asked in Chinese of what is written in Chinese, else in English."""
    return "zh" if any(map(has_han, texts[1:])) else "en"


@cache
def _words(name: str, language: str) -> _Words:
    file = files(__package__).joinpath(f"prompts/{name}.{language}.toml")
    return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), _Words)
