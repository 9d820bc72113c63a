"""What is on its way to a bank of short questions: a pair, and the text that it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct, UnsetType, structs

from proofstone.files.tables import read_checked
from proofstone.methods.chinese_simpleqa.payloads import AnswerType, Closed, ShortQuestion, TwinMade
from proofstone.methods.chinese_simpleqa.questions import read_pairs
from proofstone.methods.chinese_simpleqa.sameness import plain_answer
from proofstone.records.items import Item
from proofstone.records.knowledge import SourcedPassage, Stratum

# A name and in brackets the same name in another script.
_BOTH = re.compile(r"\A\s*([^()（）]+?)\s*[（(]\s*([^()（）]+?)\s*[)）]\s*\Z")


_HAN, _LATIN = re.compile(r"[\u3400-\u9fff]"), re.compile(r"[A-Za-z]")


class Ground(Struct, frozen=True):
    """A text that a pair rests on, and where it stands: empty where it is no passage of the
    workspace. ``book`` is its title."""

    text: str = ""
    book: str = ""
    heading: str = ""
    page: str = ""
    passage: bytes = b""
    source: bytes = b""

    @classmethod
    def of(cls, row: SourcedPassage) -> Ground:
        """The ground that a passage is."""
        passage, source = row.passage, row.source
        return cls(
            text=passage.text,
            book=source.stratum.book or source.title,
            heading=passage.heading,
            page="" if passage.page is None else str(passage.page),
            passage=passage.id,
            source=source.id,
        )


class Written(Struct, frozen=True):
    """A pair as a model writes it."""

    question: str
    answer: str
    aliases: tuple[str, ...] = ()


class Draft(Struct, frozen=True, kw_only=True):
    """A pair on its way. ``ground`` is what it was written from, ``support`` what was found to say
    it. ``by_author``: a model wrote it, or part of it. ``wrong`` members of a panel did not get it
    right (None: no panel was asked); ``like`` quotes the question that it is too near to, until it
    is worded anew.

    A twin has its ``closed`` form too, the fact that it was ``made`` from (``origin``) and how; its
    answer stays the right option, whatever becomes of its question."""

    question: str
    answer: str
    aliases: tuple[str, ...] = ()
    answer_type: AnswerType = ""
    tolerance: float = 0.0
    urls: tuple[str, ...] = ()
    valid_at: str | UnsetType = UNSET
    language: str = ""
    stratum: Stratum = Stratum()
    ground: Ground = Ground()
    support: Ground = Ground()
    wrong: int | None = None
    like: str = ""
    by_author: bool = False
    closed: Closed | None = None
    origin: bytes | None = None
    made: TwinMade = ""

    def asked(self) -> ShortQuestion:
        """The pair as one that is asked and graded."""
        return ShortQuestion(
            question=self.question,
            answer=self.answer,
            aliases=self.aliases,
            answer_type=self.answer_type,
            tolerance=self.tolerance,
            urls=self.urls,
            valid_at=self.valid_at,
        )

    def with_pair(self, written: Written) -> Draft:
        """The same with another pair, by the author; of a twin with another question alone."""
        if self.closed is not None:
            question = " ".join(written.question.split())
            return structs.replace(self, question=question, by_author=True)
        answer = " ".join(written.answer.split())
        return structs.replace(
            self,
            question=" ".join(written.question.split()),
            answer=answer,
            aliases=with_names(answer, written.aliases),
            by_author=True,
        )


def placed(own: Stratum, primary: str, secondary: str) -> Stratum:
    """``own``, where it has no discipline with the categories that are stated instead."""
    if own.discipline or not primary:
        return own
    return structs.replace(own, discipline=primary, field=secondary)


def with_names(answer: str, aliases: tuple[str, ...]) -> tuple[str, ...]:
    """The aliases, each once and none that is the answer as it stands; of a name with its original
    in brackets, in another script, either alone is one too."""
    found = _BOTH.match(answer)
    both = found.groups() if found and _of_two_scripts(found[1], found[2]) else ()
    plain = {plain_answer(answer): ""}
    for alias in (*both, *aliases):
        text = " ".join(alias.split())
        if plain_answer(text):
            plain.setdefault(plain_answer(text), text)
    return tuple(filter(None, plain.values()))


def _of_two_scripts(one: str, other: str) -> bool:
    return any(
        _HAN.search(a) and not _LATIN.search(a) and _LATIN.search(b) and not _HAN.search(b)
        for a, b in ((one, other), (other, one))
    )


# Pairs that are written already, from files: they enter behind the steps that write them.


def ready_pairs(inputs: Sequence[str], params: Mapping[str, Any]) -> Iterator[Draft]:
    """The pairs of files (question, answer, and what else a file of questions has), each with the
    ``passage`` that it rests on where its row has one. Raises BadInput with every problem of a
    file."""
    valid_at = params["valid_at"]
    primary, secondary = params["primary_category"], params["secondary_category"]
    for name in inputs:
        for item, passage in read_checked(Path(name), read_pairs):
            yield _draft(item, passage, primary, secondary, valid_at)


def _draft(item: Item, passage: str, primary: str, secondary: str, valid_at: str) -> Draft:
    asked = item.payload
    return Draft(
        question=asked.question,
        answer=asked.answer,
        aliases=with_names(asked.answer, asked.aliases),
        answer_type=asked.answer_type,
        tolerance=asked.tolerance,
        urls=asked.urls,
        valid_at=asked.valid_at or valid_at or UNSET,
        language=item.language,
        stratum=structs.replace(placed(item.stratum, primary, secondary)),
        ground=Ground(text=passage),
    )
