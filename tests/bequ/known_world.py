"""Entities of which everything is known, a model that says some of it, and a judge whose errors are
known."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import UNSET

from proofstone.methods.bequ.records import GivenTriple, ReferenceRow
from proofstone.methods.bequ.verification.plan import Gathered, Spool
from proofstone.records.ids import digest
from proofstone.records.tables import Row
from proofstone.records.verdicts import JudgeQuestion, JudgeVote, PanelVerdict

__all__ = [
    "KnownJudge", "elicited_rows", "gathered", "is_covered", "reference_rows", "rows_of",
    "true_label",
]  # fmt: skip

N_KNOWN, N_SAID = 12, 10
_SAID = re.compile(r"subject: (.*)\npredicate: (.*)\nobject: (.*)")
_ENTITY, _FACT = re.compile(r"Town (\d+)"), re.compile(r"fact(\d+)\Z")


def reference_rows(n: int) -> list[dict[str, Any]]:
    """Of each of ``n`` towns twelve facts with their passages, half of them from the web."""
    return [
        {
            "entity": f"Town {town}",
            "predicate": f"fact{place}",
            "object": f"value {town}-{place}",
            "passage": f"Town {town} is known for fact{place}, which is value {town}-{place}.",
            "source": "wiki" if place % 2 else "web",
            "domain": "AB"[town % 2],
        }
        for town in range(n)
        for place in range(N_KNOWN)
    ]


def elicited_rows(n: int) -> list[dict[str, Any]]:
    """Ten triples of each town: by turns right, wrong, and about what nobody wrote of."""
    return [
        {
            "model": "m",
            "subject": f"Town {town}",
            "predicate": f"rumour{place}" if (town + place) % 5 == 4 else f"fact{place}",
            "object": f"value {town}-{place + 100 * ((town + place) % 5 == 3)}",
            "subject_name": f"Town {town}",
        }
        for town in range(n)
        for place in range(N_SAID)
    ]


def true_label(subject: str, predicate: str, value: str) -> str:
    """What is so of an elicited triple."""
    fact, town = _FACT.search(predicate), _ENTITY.search(subject)
    if fact is None or town is None:
        return "neutral"
    return "entailment" if value == f"value {town[1]}-{fact[1]}" else "contradiction"


def is_covered(subject: str, predicate: str) -> bool:
    """Whether the model says a fact, and rightly."""
    fact, town = _FACT.search(predicate), _ENTITY.search(subject)
    assert fact is not None
    assert town is not None
    place = int(fact[1])
    return place < N_SAID and (int(town[1]) + place) % 5 < 3


class KnownJudge:
    """A judge that is wrong on ``rate`` of the triples, by their text; ``asked`` counts. ``cites``
    says what a label rests on, by the question."""

    def __init__(
        self, rate: float = 0.0, cites: Callable[[JudgeQuestion], str] | None = None
    ) -> None:
        self.rate = rate
        self.asked = 0
        self._cites = cites or _citing

    async def __call__(self, question: JudgeQuestion) -> PanelVerdict:
        self.asked += 1
        label = self.label(question)
        judge_vote = JudgeVote(
            judge="j", state="voted", label=label, reason="so", cited=self._cites(question)
        )
        return PanelVerdict(state="decided", label=label, judge_votes=(judge_vote,))

    def label(self, question: JudgeQuestion) -> str:
        """What it says of a question."""
        said = _SAID.search(question.exhibits[1].text)
        assert said is not None
        if "covered" in question.names:
            truth = "covered" if is_covered(said[1], said[2]) else "not covered"
        elif question.citing is UNSET:
            truth = "entailment" if is_covered(said[1], said[2]) else "neutral"
        else:
            truth = true_label(said[1], said[2], said[3])
        if not self.errs(said[0]):
            return truth
        return next(name for name in question.names if name != truth)

    def errs(self, text: str) -> bool:
        """Whether it is wrong on a triple."""
        return digest(text.encode())[0] < 256 * self.rate


def _citing(question: JudgeQuestion) -> str:
    return question.citing.names[0] if question.citing else ""


def rows_of(values: Sequence[dict[str, Any]]) -> list[Row]:
    """Rows of a file that starts with them."""
    return [Row(f"line {line}", each) for line, each in enumerate(values, start=1)]


@contextmanager
def gathered(
    elicited: Sequence[dict[str, Any]], reference: Sequence[dict[str, Any]]
) -> Iterator[Gathered]:
    """Both, read."""
    with (
        Spool[tuple[int, int], GivenTriple](GivenTriple) as given,
        Spool[int, ReferenceRow](ReferenceRow) as known,
    ):
        made = Gathered(given, known)
        made.take_reference(rows_of(reference))
        made.take_elicited(rows_of(elicited), model="file")
        yield made
