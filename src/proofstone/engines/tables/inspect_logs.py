"""Logs of Inspect (``.eval``), read through its own API, which is the extra ``[inspect]``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from proofstone.errors import BadInput, ExtraMissing
from proofstone.records import FileColumns, coded_texts

__all__ = ["inspect_columns"]

_LONGEST = 80


# Why a scorer gave no credit, where the reason is the form of the response and not its content.
_UNPARSED = frozenset({"invalid_response_format", "no_response"})
_UNGRADED = frozenset({"grader_failed", "scoring_failed"})  # the grader's failure is no score
_NO_MATCH = "Scoring pattern not matched"  # how versions without reasons begin to explain it


def inspect_columns(path: Path, score: str = "") -> tuple[FileColumns, str]:
    """A log's samples as a long table, and the name of the scorer that counts: ``score``, or
    the first.

    One row a sample and epoch; a column for each scorer (``scorer/key`` where it gives several),
    with Inspect's C, P and I as 1, 0.5 and 0. A sample that ended in an error, or that its grader
    could not grade, has no score: it is missing, never wrong. Short values of its metadata are
    columns too. ``outcome`` tells the responses in which the scorer that counts found no answer,
    and refusals.

    Raises ExtraMissing without Inspect, BadInput for a file that it cannot read or without scores.
    """
    log, scorer = _load()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Inspect's own dependencies
            header = log.read_eval_log(str(path), header_only=True)
            samples = log.read_eval_log_sample_summaries(str(path))
    except Exception as cause:
        said = str(cause).partition("\n")[0]
        raise BadInput(f"{path} is no readable Inspect log: {said}") from cause
    to_number = scorer.value_to_float()
    rows = [_of_sample(sample, header.eval, to_number) for sample in samples]
    scorers = list(dict.fromkeys(name for _, scores in rows for name in scores))
    if not scorers:
        raise BadInput(f"{path} holds no scored sample; its status is {header.status}")
    chosen = score if score in scorers else scorers[0]
    merged = [
        values | scores | {"outcome": _outcome(sample, chosen)}
        for sample, (values, scores) in zip(samples, rows, strict=True)
    ]
    names = list(dict.fromkeys(name for row in merged for name in row))
    columns = {name: coded_texts([row.get(name, "") for row in merged]) for name in names}
    lines = np.arange(1, len(rows) + 1, dtype=np.int64)
    return FileColumns(path.name, columns, lines, unit="sample"), chosen


def _load() -> tuple[Any, Any]:
    """``inspect_ai.log`` and ``inspect_ai.scorer``."""
    try:
        import inspect_ai.log  # noqa: PLC0415
        import inspect_ai.scorer  # noqa: PLC0415
    except ImportError as cause:
        raise ExtraMissing(
            "Inspect logs are read by Inspect, which is not installed.",
            hint="pip install 'proofstone[inspect]'; or write the scores as CSV: one row a sample "
            "with item, model, epoch and score",
        ) from cause
    return inspect_ai.log, inspect_ai.scorer


def _of_sample(sample: Any, spec: Any, to_number: Any) -> tuple[dict[str, str], dict[str, str]]:
    """What a sample is, and its scores by scorer."""
    fields: Mapping[str, Any] = sample.metadata or {}
    values = {name: text for name, value in fields.items() if (text := _short(value))}
    values |= {
        "item": str(sample.id),
        "model": str(spec.model),
        "task": str(spec.task),
        "epoch": str(sample.epoch),
    }
    if sample.error:
        return values, {}
    return values, dict(_scores(sample.scores or {}, to_number))


def _scores(scores: Mapping[str, Any], to_number: Any) -> Iterator[tuple[str, str]]:
    for name, score in scores.items():
        if getattr(score, "reason", None) in _UNGRADED:
            continue
        if isinstance(score.value, Mapping):
            for key, value in score.value.items():
                yield f"{name}/{key}", f"{to_number(value):g}"
        elif not isinstance(score.value, list | tuple):
            yield name, f"{to_number(score.value):.17g}"


def _outcome(sample: Any, chosen: str) -> str:
    """How a sample's response ended under a scorer; empty where it has no score."""
    scores: Mapping[str, Any] = {} if sample.error else sample.scores or {}
    score = scores.get(chosen) or scores.get(chosen.rpartition("/")[0])
    reason = getattr(score, "reason", None)
    if score is None or reason in _UNGRADED:
        return ""
    if reason == "refusal":
        return "refused"
    is_unparsed = reason in _UNPARSED or score.value == "N"
    # Older versions give no reason: the choice scorer then answers "", the pattern scorer None.
    is_unparsed |= reason is None and chosen == "choice" and score.answer == ""
    is_unparsed |= (score.explanation or "").startswith(_NO_MATCH)
    return "unparsed" if is_unparsed else "answered"


def _short(value: object) -> str:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else ""
    if isinstance(value, bool | int | float):
        return msgspec.json.encode(value).decode()
    return ""
