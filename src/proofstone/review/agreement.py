"""What judges of a build said of statements, against what people said of the same statements.

Both must have had the same words before them: a statement that was edited since it was judged
counts with the reviews of the wording that was judged, and with no others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from proofstone.build.verdicts import verdicts_of
from proofstone.method import ComparedQuestion, JudgedText, Reviewing, find_method
from proofstone.records.builds import Build
from proofstone.records.knowledge import Fact
from proofstone.records.reviews import CheckedJudge, CheckedQuestion, ReviewTask
from proofstone.records.runs import Estimate
from proofstone.records.verdicts import PanelVerdict
from proofstone.review.decide import latest
from proofstone.review.section import AGREEMENT, COEFFICIENTS
from proofstone.review.state import facts_held, reviews_of, source_of
from proofstone.store.lookup import Found
from proofstone.store.store import Store

if TYPE_CHECKING:
    from proofstone.records.scores import Judged
    from proofstone.stats.flags import Estimand


_ALL = ""  # what all judges together decided


_CONFIDENCE = 0.95


# What people said of a text, task by task: verdicts with how many of them gave each.
_Said = dict[tuple[ReviewTask, JudgedText], Counter[str]]


@dataclass(slots=True)
class _Compared:
    """One question of one build while its verdicts are read."""

    build: bytes
    step: str
    name: str
    question: ComparedQuestion
    judged: int = 0
    read: int = 0
    unsure: int = 0
    against: int = 0
    n_judges: int = 0
    people: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    labels: dict[str, list[str]] = field(default_factory=dict)

    def add(self, verdict: PanelVerdict, people: str, source: str) -> None:
        """Takes in a statement that people labelled; silent judges have an empty label."""
        place = len(self.people)
        self.people.append(people)
        self.sources.append(source)
        said = {_ALL: verdict.label} | {one.judge: one.label for one in verdict.ballots}
        for judge, label in said.items():
            column = self.labels.setdefault(judge, [""] * place)
            column.append(label)
        for column in self.labels.values():
            column.extend([""] * (place + 1 - len(column)))


def check_judges(store: Store, found: Found) -> tuple[CheckedQuestion, ...]:
    """The judges of the builds that a bank, or a form's bank, came of: an entry a question that
    people answer too. None where no verdict is kept, or its method puts no such question."""
    bank = found.id if found.kind == "bank" else store.items.item_set(found.id).bank
    builds = [] if bank is None else store.builds.of_bank(bank)
    if bank is None or not builds:
        return ()
    method = find_method(store.knowledge.bank(bank).method).reviewing
    if method is None or not method.compared:
        return ()
    facts = facts_held(store, found).facts
    texts, said = _reviewed(store, method, facts)
    return tuple(
        _checked(compared)
        for key, build in builds
        for compared in _read(store, key, build, method.compared, texts, said)
    )


def _reviewed(
    store: Store, method: Reviewing, facts: Sequence[Fact]
) -> tuple[dict[JudgedText, str], _Said]:
    """The texts of facts and of the versions that they correct, each with its source; and what
    people, not models, said of them."""
    reviews, now = reviews_of(store, facts)
    people = [one for one in latest(reviews) if one.reviewer]
    versions = store.knowledge.facts_by_id(now, readable=True)
    texts = {identity: _text_of(method, fact) for identity, fact in versions.items()}
    said: _Said = {}
    for one in people:
        if one.target in texts:
            said.setdefault((one.task, texts[one.target]), Counter())[one.verdict] += 1
    return {texts[k]: source_of(fact) for k, fact in versions.items()}, said


def _text_of(method: Reviewing, fact: Fact) -> JudgedText:
    return JudgedText(method.review_text(fact), fact.passage or b"", fact.source or b"")


def _read(
    store: Store,
    key: int,
    build: Build,
    questions: Mapping[str, ComparedQuestion],
    texts: Mapping[JudgedText, str],
    said: _Said,
) -> Iterator[_Compared]:
    """The compared questions of one build, in the order in which they were asked."""
    found: dict[tuple[str, str], _Compared] = {}
    for step, row, each in verdicts_of(store, key, build):
        question = questions.get(each.question)
        if question is None or not row.payload:
            continue
        place = step, each.question
        if place not in found:
            found[place] = _Compared(build.id, step, each.question, question)
        text = question.judged(msgspec.json.decode(row.payload, type=question.takes))
        if text is not None:
            _take(found[place], each.verdict, text, texts, said)
    yield from found.values()


def _take(
    compared: _Compared,
    verdict: PanelVerdict,
    text: JudgedText,
    texts: Mapping[JudgedText, str],
    said: _Said,
) -> None:
    question = compared.question
    compared.n_judges = max(compared.n_judges, len(verdict.ballots))
    if text not in texts:
        compared.against += bool(verdict.label) and verdict.label != question.labels[0]
        return
    compared.judged += 1
    verdicts = said.get((question.task, text))
    if verdicts is None:
        return
    compared.read += 1
    label = _of_people(verdicts, question)
    if label:
        compared.add(verdict, label, texts[text])
    else:
        compared.unsure += 1


def _of_people(verdicts: Counter[str], question: ComparedQuestion) -> str:
    """The label of more than half of those who could tell, empty without one."""
    votes: Counter[str] = Counter()
    for verdict, n in verdicts.items():
        if verdict in question.people:
            votes[question.people[verdict]] += n
    ((label, most),) = votes.most_common(1) or [("", 0)]
    return label if 2 * most > votes.total() else ""


def _checked(compared: _Compared) -> CheckedQuestion:
    names = [name for name in compared.labels if name != _ALL or compared.n_judges > 1]
    return CheckedQuestion(
        build=compared.build,
        step=compared.step,
        question=compared.name,
        task=compared.question.task,
        labels=compared.question.labels,
        judged=compared.judged,
        read=compared.read,
        unsure=compared.unsure,
        against=compared.against,
        judges=tuple(_judge(compared, name) for name in names),
    )


def _judge(compared: _Compared, name: str) -> CheckedJudge:
    """A judge against people, statements of one source taken together."""
    from proofstone.results.sections.judges import (  # noqa: PLC0415 - only here is computed
        judged_coefficients,
        judged_confusion,
    )

    judged = _labels(compared, name)
    # With one source nothing says how sources vary: then of this bank alone.
    estimand: Estimand = "knowledge" if len(set(compared.sources)) > 1 else "bank"
    table = judged_confusion(judged, estimand, _CONFIDENCE)
    silent = int((judged.judge < 0).sum())
    measures: dict[str, Estimate] = {}
    if silent < len(judged.judge):
        found = dict(judged_coefficients(judged, estimand, 0, _CONFIDENCE))
        measures = {AGREEMENT: table.accuracy} | {name: found[name] for name in COEFFICIENTS}
    return CheckedJudge(judge=name, counts=table.counts, silent=silent, measures=measures)


def _labels(compared: _Compared, name: str) -> Judged:
    """What people and one judge said of each statement, as codes."""
    import numpy as np  # noqa: PLC0415

    from proofstone.records.scores import Judged  # noqa: PLC0415

    code = {label: place for place, label in enumerate(compared.question.labels)}
    source = {name: place for place, name in enumerate(dict.fromkeys(compared.sources))}
    n = len(compared.people)
    return Judged(
        labels=compared.question.labels,
        people=np.array([code[label] for label in compared.people], dtype=np.int64),
        judge=np.array([code.get(label, -1) for label in compared.labels[name]], dtype=np.int64),
        item=np.arange(n, dtype=np.int64),
        model=np.full(n, -1, dtype=np.int64),
        models=(),
        values=None,
        cluster_item=np.arange(n, dtype=np.int64),
        cluster_key=np.array([source[one] for one in compared.sources], dtype=np.int64),
    )
