"""Reviews as rows of a JSONL file, and decisions as rows again.

A row: ``target`` (``fact:...``, or any name where no workspace is asked), ``verdict``, ``reviewer``
(a name, or an actor's 64 digits) or ``judge`` (a model); and, where there is something to say,
``task``, ``reason``, ``changes``, ``rubric``, ``seconds``, ``round``, ``at``, ``id``, ``corrects``;
of people who answer questions ``answer`` and ``urls``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, get_args

import msgspec
from msgspec import Struct, structs

from proofstone.engines.review.addresses import NoAddress, read_address
from proofstone.engines.review.tasks import TASKS, Task
from proofstone.engines.review.unseen import unseen_sign
from proofstone.errors import BadInput, Problem
from proofstone.records import Review, ReviewDecision, ReviewTask, Row, review_id

__all__ = ["StatedReview", "read_reviews", "write_decision", "write_review"]

_TASKS: tuple[ReviewTask, ...] = get_args(ReviewTask)


class StatedReview(Struct, frozen=True, kw_only=True):
    """A review as a file states it: ``target`` and ``reviewer`` in its words. In ``review`` hashes
    of these stand for both where they are no ids themselves, which is enough to decide."""

    where: str
    target: str
    reviewer: str
    review: Review


class _Line(Struct, frozen=True, kw_only=True):
    """A row of the file."""

    target: str
    verdict: str
    task: str = "format"
    reviewer: str = ""
    judge: str = ""
    reason: str = ""
    changes: dict[str, Any] = {}
    rubric: dict[str, str | int | float] = {}
    seconds: float | None = None
    round: int = 1
    at: float = 0.0
    id: str = ""
    corrects: str = ""
    answer: str = ""
    urls: tuple[str, ...] = ()


def read_reviews(rows: Iterable[Row]) -> list[StatedReview]:
    """The reviews of a file, in its order. Raises BadInput with every problem of all rows."""
    problems: list[Problem] = []
    stated: list[StatedReview] = []
    for row in rows:
        try:
            line = msgspec.convert({k: v for k, v in row.values.items() if v is not None}, _Line)
        except msgspec.ValidationError as cause:
            problems.append(Problem(row.place, str(cause)))
            continue
        found = [Problem(row.place, what) for what in _wrong(line)]
        problems += found
        if not found:
            stated.append(_stated(row.place, line))
    if problems:
        raise BadInput("The reviews cannot be read.", problems)
    return stated


def _wrong(line: _Line) -> Iterable[str]:
    if line.task not in _TASKS:
        yield f"task: expected one of {', '.join(_TASKS)}; came {line.task!r}"
        return
    task = next(TASKS[name] for name in _TASKS if name == line.task)
    if line.verdict not in task.verdicts:
        yield f"verdict: expected one of {', '.join(task.verdicts)}; came {line.verdict!r}"
    if not line.target:
        yield "target: is empty; expected an item or a fact, as fact:51b0c2aa"
    if bool(line.reviewer) == bool(line.judge):
        yield "expected either a reviewer (a person) or a judge (a model)"
    if line.verdict in task.needs_text and not line.changes:
        yield f'changes: {line.verdict} needs the new text, as {{"text": "..."}}'
    if line.verdict in task.needs_reason and not line.reason.strip():
        yield f"reason: {line.verdict} needs one"
    yield from _unseen(line)
    yield from _answered(line, task)
    for name, digits in (("id", line.id), ("corrects", line.corrects)):
        if digits and _identity(digits) is None:
            yield f"{name}: expected 64 hexadecimal digits; came {digits!r}"


def _answered(line: _Line, task: Task) -> Iterable[str]:
    if line.verdict in task.needs_answer and not line.answer.strip():
        yield f"answer: {line.verdict} needs one"
    for url in line.urls:
        try:
            read_address(url)
        except NoAddress as cause:
            yield f"urls: {cause}"


def _unseen(line: _Line) -> Iterable[str]:
    texts = (*line.changes.items(), ("reason", line.reason), ("answer", line.answer))
    for name, text in texts:
        if isinstance(text, str) and (sign := unseen_sign(text)):
            yield f"{name}: holds a control character, {sign}: take it out"


def _stated(where: str, line: _Line) -> StatedReview:
    task = next(name for name in _TASKS if name == line.task)
    kind, _, digits = line.target.rpartition(":")
    review = Review(
        kind="item" if kind == "item" else "fact",
        target=_identity(digits) or sha256(line.target.encode()).digest(),
        task=task,
        verdict=line.verdict,
        reviewer=_identity(line.reviewer) or sha256(line.reviewer.encode()).digest()
        if line.reviewer
        else b"",
        judge=line.judge,
        reason=line.reason.strip(),
        changes=line.changes,
        rubric=line.rubric,
        seconds=line.seconds,
        round=line.round,
        at=line.at,
        corrects=_identity(line.corrects) if line.corrects else None,
        answer=line.answer.strip(),
        urls=line.urls,
    )
    own = _identity(line.id) if line.id else None
    review = structs.replace(review, id=own or review_id(review))
    return StatedReview(where=where, target=line.target, reviewer=line.reviewer, review=review)


def _identity(digits: str) -> bytes | None:
    try:
        found = bytes.fromhex(digits)
    except ValueError:
        return None
    return found if len(found) == 32 else None


def write_review(review: Review) -> dict[str, Any]:
    """The row from which ``read_reviews`` makes this review again; who sheets belong to stays."""
    row: dict[str, Any] = {
        "id": review.id.hex(),
        "target": f"{review.kind}:{review.target.hex()}",
        "task": review.task,
        "verdict": review.verdict,
        "reviewer": review.reviewer.hex(),
        "judge": review.judge,
        "reason": review.reason,
        "changes": dict(review.changes),
        "rubric": dict(review.rubric),
        "seconds": review.seconds,
        "round": review.round,
        "at": review.at,
        "corrects": review.corrects.hex() if review.corrects else "",
        "answer": review.answer,
        "urls": list(review.urls),
    }
    return {name: value for name, value in row.items() if value not in ("", None, {}, [])}


def write_decision(decision: ReviewDecision, target: str = "") -> dict[str, Any]:
    """A decision as a row; ``target`` in the words of the file that it was made from."""
    row: dict[str, Any] = {
        "target": target or f"{decision.kind}:{decision.target.hex()}",
        "task": decision.task,
        "outcome": decision.outcome,
        "votes": dict(decision.votes),
        "why": decision.why,
    }
    changes: Mapping[str, Any] = decision.changes
    return row | ({"changes": dict(changes)} if changes else {})
