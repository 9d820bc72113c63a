"""Compute inter-annotator agreement of reviewers, and agreement of a build's judges with people.

Judges and people must have seen the same text. A judged statement that was edited since counts only
with reviews of the judged wording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec import Struct

from proofstone.build.funnel import verdicts_of
from proofstone.method import ComparedQuestion, JudgedText, Reviewing
from proofstone.records.builds import Build
from proofstone.records.ids import short
from proofstone.records.knowledge import Fact, source_of
from proofstone.records.reviews import (
    CheckedJudge,
    CheckedQuestion,
    Review,
    ReviewDecision,
    ReviewOutcome,
    ReviewTask,
    ReviewText,
    latest,
)
from proofstone.records.runs import Estimate, Population
from proofstone.records.scores import Judged
from proofstone.records.verdicts import PanelVerdict
from proofstone.results.sections.agreement import judged_coefficients, judged_confusion
from proofstone.review.state import ReviewState, reviewer_name
from proofstone.review.workbook import TASKS
from proofstone.session.session import Session, Target
from proofstone.stats.agreement import agreement, cohen_kappa, krippendorff_alpha
from proofstone.store.store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Differing(Struct, frozen=True, kw_only=True):
    """Hold a statement with differing verdicts of reviewers."""

    target: str
    text: str
    said: tuple[tuple[str, str, str], ...]
    """Reviewer, verdict, and the new wording or reason."""


class EditedStatement(Struct, frozen=True, kw_only=True):
    """Hold a statement for which a reviewer proposed a new wording.

    It has the original text, the intended truth (``key``), the new wording and its author. Verdicts
    on the new wording's truth are by reviewer name; ``outcome`` is the resulting decision.
    """

    target: str
    text: str
    key: str
    new: str
    reviewer: str
    said: Mapping[str, str]
    outcome: ReviewOutcome
    why: str = ""


class Agreed(Struct, frozen=True, kw_only=True):
    """Hold inter-annotator agreement on statements with several reviews, for one task."""

    task: ReviewTask
    n_shared: int
    n_differ: int
    reviewers: tuple[str, ...]
    measures: Mapping[str, Estimate]
    differing: tuple[Differing, ...]


class Ratings(Struct, frozen=True, kw_only=True):
    """Hold codes of verdicts (units, raters), -1 where a reviewer did not review a unit.

    ``reviewers`` are actor ids or names of judges; ``labels`` are the verdicts in the order of
    their codes.
    """

    targets: tuple[bytes, ...]
    reviewers: tuple[bytes | str, ...]
    labels: tuple[str, ...]
    codes: NDArray[np.int64]


def rate(reviews: Iterable[Review], task: ReviewTask) -> Ratings:
    """Return the newest verdicts for one task; units and reviewers in order of appearance."""
    kept = [one for one in latest(reviews) if one.task == task]
    labels = tuple(TASKS[task].verdicts)
    targets = list(dict.fromkeys(one.target for one in kept))
    reviewers = list(dict.fromkeys(one.who for one in kept))
    row = {target: place for place, target in enumerate(targets)}
    column = {who: place for place, who in enumerate(reviewers)}
    codes = np.full((len(targets), len(reviewers)), -1, dtype=np.int64)
    for one in kept:
        codes[row[one.target], column[one.who]] = labels.index(one.verdict)
    return Ratings(targets=tuple(targets), reviewers=tuple(reviewers), labels=labels, codes=codes)


def shared_targets(ratings: Ratings) -> tuple[Sequence[int], Sequence[int]]:
    """Return the places of units with two reviews or more, and of those with differing verdicts."""
    n = (ratings.codes >= 0).sum(axis=1)
    shared = [int(place) for place in (n > 1).nonzero()[0]]
    differ = [
        place
        for place in shared
        if len({code for code in ratings.codes[place].tolist() if code >= 0}) > 1
    ]
    return shared, differ


def review_agreement(session: Session, target: Target) -> Sequence[Agreed]:
    """Return inter-annotator agreement by task; empty without units that several people
    reviewed."""
    return agreed(ReviewState.of(session.store, target))


def agreed(state: ReviewState) -> tuple[Agreed, ...]:
    """Return inter-annotator agreement of a review's state."""
    tasks: tuple[ReviewTask, ...] = ("format", "truth", "reason", "answer")
    rated = [(task, rate(state.carried_over, task)) for task in tasks]
    return tuple(
        _agreed(state, task, ratings) for task, ratings in rated if len(shared_targets(ratings)[0])
    )


def _agreed(state: ReviewState, task: ReviewTask, ratings: Ratings) -> Agreed:
    store, texts = state.store, state.texts()
    shared, differ = shared_targets(ratings)
    of = {ratings.targets[place] for place in differ}
    said: dict[bytes, list[tuple[str, str, str]]] = {}
    for one in latest(state.carried_over):
        if one.task == task and one.target in of:
            why = "; ".join([*map(str, one.changes.values()), one.reason]).strip("; ")
            entry = (reviewer_name(store, one.who), one.verdict, why)
            said.setdefault(one.target, []).append(entry)
    return Agreed(
        task=task, n_shared=len(shared), n_differ=len(differ),
        reviewers=tuple(reviewer_name(store, who) for who in ratings.reviewers),
        measures=_measures(ratings, shared, {fact.id: source_of(fact) for fact in state.facts}),
        differing=tuple(
            Differing(
                target=f"fact:{short(target)}",
                text=texts[target].text if target in texts else "", said=tuple(rows),
            )
            for target, rows in said.items()
        ),
    )  # fmt: skip


def _measures(
    ratings: Ratings, shared: Sequence[int], source: Mapping[bytes, str]
) -> dict[str, Estimate]:
    """Return chance-corrected agreement on units with several reviews, clustered by source."""
    codes = ratings.codes[list(shared)]
    codes = codes[:, (codes >= 0).any(axis=0)]
    n_labels = len(ratings.labels)
    names: dict[str, int] = {}
    where = [source.get(ratings.targets[place], "") for place in shared]
    clusters = np.array([names.setdefault(one, len(names)) for one in where], dtype=np.int64)
    by = clusters if 1 < len(names) < len(where) else None
    found: dict[str, Estimate] = {
        "observed agreement": agreement(
            codes, "observed agreement", n_categories=n_labels, clusters=by
        )
    }
    if codes.shape[1] == 2:
        found["Cohen kappa"] = cohen_kappa(
            codes[:, 0], codes[:, 1], n_categories=n_labels, clusters=by
        )
    else:
        found["Fleiss kappa"] = agreement(codes, "Fleiss kappa", n_categories=n_labels, clusters=by)
    found["Gwet AC1"] = agreement(codes, "Gwet AC1", n_categories=n_labels, clusters=by)
    found["Krippendorff alpha"] = krippendorff_alpha(codes, clusters=by)
    return found


def edited_statements(session: Session, target: Target) -> tuple[EditedStatement, ...]:
    """Return each new wording proposed by a reviewer of a bank or form, one per reviewer.

    Includes statements edited since. Each has the original text, and reviewers' verdicts on its
    truth.
    """
    state = ReviewState.of(session.store, target)
    decided = {one.target: one for one in state.decided(state.policy)}
    newest = latest(state.carried_over)
    asked = [one for one in newest if one.task == "format" and one.verdict == "fix"]
    targets = state.store.knowledge.facts_by_id({one.target for one in asked}, readable=True)
    texts = state.texts(targets.values())
    checks = [one for one in newest if one.task == "wording"]
    return tuple(
        _edited(state.store, one, texts[one.target], decided[one.target], checks)
        for one in asked
        if one.target in texts and texts[one.target].field in one.changes
    )


def _edited(
    store: Store,
    asked: Review,
    shown: ReviewText,
    decided: ReviewDecision,
    checks: Sequence[Review],
) -> EditedStatement:
    new = str(asked.changes[shown.field])
    own = {reviewer_name(store, asked.who): str(asked.rubric.get("claim", "") or "not said")}
    others = {
        reviewer_name(store, one.who): one.verdict
        for one in checks
        if one.target == asked.target and one.answer == new and one.who != asked.who
    }
    return EditedStatement(
        target=f"fact:{short(asked.target)}", text=shown.text, key=shown.claim, new=new,
        reviewer=reviewer_name(store, asked.who), said=own | others, outcome=decided.outcome,
        why=decided.why,
    )  # fmt: skip


# A build's judges compared with people.


AGREEMENT = "agreement"


COEFFICIENTS = ("Cohen's kappa", "Gwet's AC1")


_ALL = ""  # the panel's decision


_CONFIDENCE = 0.95


# People's verdicts on a text, by task: number of people per verdict.
_Said = dict[tuple[ReviewTask, JudgedText], Counter[str]]


@dataclass(slots=True)
class _Compared:
    """Collect the verdicts on one question of one build."""

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
        """Add a statement with labels by people; judges without a label have an empty one."""
        place = len(self.people)
        self.people.append(people)
        self.sources.append(source)
        said = {_ALL: verdict.label} | {one.judge: one.label for one in verdict.judge_votes}
        for judge, label in said.items():
            column = self.labels.setdefault(judge, [""] * place)
            column.append(label)
        for column in self.labels.values():
            column.extend([""] * (place + 1 - len(column)))


def judges_checked(session: Session, target: Target) -> Sequence[CheckedQuestion]:
    """Compute agreement of the judges of its builds with people on the same statements."""
    return check_judges(session.store, target)


def check_judges(store: Store, target: Target) -> tuple[CheckedQuestion, ...]:
    """Compare the judges of the builds of a bank, or of a form's bank, with people.

    One entry per question that people also answer. Empty without stored verdicts, or if the method
    has no such questions.
    """
    state = ReviewState.of(store, target)
    builds = [] if state.bank is None else store.builds.of_bank(state.bank)
    method = state.method.reviewing if builds else None
    if method is None or not method.compared:
        return ()
    texts, said = _reviewed(state)
    return tuple(
        _checked(compared)
        for key, build in builds
        for compared in _read(store, key, build, method.compared, texts, said)
    )


def _reviewed(state: ReviewState) -> tuple[dict[JudgedText, str], _Said]:
    """Return the texts of facts and of the versions that they correct, each with its source.

    Also returns the verdicts of people (not models) on them.
    """
    people = [one for one in latest(state.reviews) if one.reviewer]
    versions = state.store.knowledge.facts_by_id(state.now, readable=True)
    texts = {identity: _text_of(state.reviewing, fact) for identity, fact in versions.items()}
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
    """Return the compared questions of one build, in order."""
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
    compared.n_judges = max(compared.n_judges, len(verdict.judge_votes))
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
    """Return the majority label of people with an opinion, empty without one."""
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
    """Compare a judge with people, clustered by source."""
    judged = _labels(compared, name)
    # One source gives no variance between sources: the result is for this bank only.
    population: Population = "domain" if len(set(compared.sources)) > 1 else "bank"
    table = judged_confusion(judged, population, _CONFIDENCE)
    silent = int((judged.judge < 0).sum())
    measures: dict[str, Estimate] = {}
    if silent < len(judged.judge):
        found = dict(judged_coefficients(judged, population, 0, _CONFIDENCE))
        measures = {AGREEMENT: table.accuracy} | {name: found[name] for name in COEFFICIENTS}
    return CheckedJudge(judge=name, counts=table.counts, silent=silent, measures=measures)


def _labels(compared: _Compared, name: str) -> Judged:
    """Return the labels of people and of one judge on each statement, as codes."""
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
