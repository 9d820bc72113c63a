"""Read the output of lm-evaluation-harness and logs of Inspect.

lm-evaluation-harness writes ``results_TIME.json`` with the totals of a run, and with
``--log-samples`` one file per task with one line per answer. Each line has ``doc_id``, ``doc`` (the
question's fields), ``filter``, ``metrics`` (names) and a field for each metric. Only the results
file records the model's name. The harness also names the folder after it, with two underscores for
each slash. Checked with versions 0.4.9 to 0.4.13.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from proofstone.errors import BadInput, ExtraMissing, Problem
from proofstone.records.scores import FileColumns, coded_texts
from proofstone.records.tables import Row

# Logs of Inspect (``.eval``), read through its own API, which is the extra ``[inspect]``.

_LONGEST = 80


# Reasons for no credit that concern the format of the response and not its content.
_UNPARSED = frozenset({"invalid_response_format", "no_response"})


_UNGRADED = frozenset({"grader_failed", "scoring_failed"})  # a failure of the grader gives no score


_NO_MATCH = (
    "Scoring pattern not matched"  # beginning of the explanation in versions without reasons
)


def inspect_columns(path: Path, score: str = "") -> tuple[FileColumns, str]:
    """Return a log's samples as a long table, and the name of the scorer: ``score``, or the first.

    One row per sample and epoch; one column per scorer (``scorer/key`` with several values), with
    Inspect's C, P and I as 1, 0.5 and 0. A sample that ended in an error, or that its grader could
    not grade, has no score; it is missing and never wrong. Short metadata values become columns.
    ``outcome`` marks refusals and responses in which the scorer found no answer. Raises
    ExtraMissing without Inspect, BadInput for an unreadable file or one without scores.
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
    """Return ``inspect_ai.log`` and ``inspect_ai.scorer``."""
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
    """Return the fields of a sample, and its scores by scorer."""
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
    """Return the outcome of a sample's response under a scorer; empty without a score."""
    scores: Mapping[str, Any] = {} if sample.error else sample.scores or {}
    score = scores.get(chosen) or scores.get(chosen.rpartition("/")[0])
    reason = getattr(score, "reason", None)
    if score is None or reason in _UNGRADED:
        return ""
    if reason == "refusal":
        return "refused"
    is_unparsed = reason in _UNPARSED or score.value == "N"
    # Older versions give no reason: the choice scorer then returns "", the pattern scorer None.
    is_unparsed |= reason is None and chosen == "choice" and score.answer == ""
    is_unparsed |= (score.explanation or "").startswith(_NO_MATCH)
    return "unparsed" if is_unparsed else "answered"


def _short(value: object) -> str:
    """Return a text, number or boolean as text; empty for long or composite values."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else ""
    if isinstance(value, bool | int | float):
        return msgspec.json.encode(value).decode()
    return ""


_TIME = r"(?P<time>\d{4}-\d\d-\d\dT[\d.-]*\d)"


_NAME = re.compile(rf"samples_(?P<task>.+?)_{_TIME}\.jsonl(\.gz)?$")


_TIMED = re.compile(rf"_{_TIME}\.jsonl?(\.gz)?$")


# Metrics that are shares of correct answers, in order of priority for the score.
_METRICS = ("acc", "exact_match", "acc_norm", "mc2", "mc1", "pass@1", "f1", "em")


_INVALID = "[invalid]"  # result of lm-eval's filters if their pattern does not match


class LmEvalResults(msgspec.Struct, rename={"n_samples": "n-samples", "n_shot": "n-shot"}):
    """Totals of a run: by task, each metric under ``METRIC,FILTER``."""

    results: dict[str, dict[str, Any]]
    model_name: str = ""
    lm_eval_version: str = ""
    versions: dict[str, Any] | None = None
    n_shot: dict[str, Any] | None = None
    n_samples: dict[str, dict[str, Any]] = {}
    group_subtasks: dict[str, list[str]] = {}


def is_lm_eval(first: Mapping[str, Any]) -> bool:
    """Return True if this is a line of such a file."""
    return "doc_id" in first and ("filtered_resps" in first or "resps" in first)


def task_of(path: Path) -> str:
    """Return the task in the file's name, otherwise the name itself."""
    found = _NAME.search(path.name)
    return found["task"] if found else path.name.partition(".")[0]


def time_of(path: Path) -> str:
    """Return the start time of the run in the file's name, equal for all files of a run."""
    found = _TIMED.search(path.name)
    return found["time"] if found else ""


def model_of(path: Path, models: Mapping[str, str] | None = None) -> tuple[str, bool]:
    """Return the model of a file, and whether it is recorded.

    The name comes from the results file in the same folder, otherwise from ``models`` (by time of
    the run), otherwise from a folder named by the harness (``org__name``). Other folder names are
    arbitrary, so the model is then named after its run.
    """
    time = time_of(path)
    beside = path.with_name(f"results_{time}.json")
    if time and beside.is_file() and (found := lm_eval_results(beside)) and found.model_name:
        return found.model_name, True
    if time and (name := (models or {}).get(time)):
        return name, True
    folder = path.resolve().parent.name
    if "__" in folder:
        return folder.replace("__", "/"), True
    return f"unnamed model of {time or path.name}", False


def lm_eval_results(path: Path) -> LmEvalResults | None:
    """Return the totals in a results file; None for any other JSON."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=LmEvalResults)
    except (msgspec.DecodeError, OSError):
        return None
    is_ours = found.lm_eval_version or found.versions is not None or found.n_shot is not None
    return found if is_ours else None


def lm_eval_accuracies(
    found: LmEvalResults, *, name: str, metric: str = "", filtered: str = ""
) -> FileColumns:
    """Return the totals of a run as a table: model, task, metric, filter, score, stderr, n.

    One row per task. Groups of tasks are omitted, since their tasks are included. The score is
    ``metric`` under the filter ``filtered``, if named, otherwise the first known metric that is a
    share. Raises BadInput if no task has one.
    """
    groups = {task for task, parts in found.group_subtasks.items() if parts}
    rows: list[tuple[str, ...]] = []
    for task, totals in found.results.items():
        told = _total(totals, metric, filtered)
        if task in groups or told is None:
            continue
        which, rule = told
        n = found.n_samples.get(task, {}).get("effective", totals.get("sample_len", ""))
        error = totals.get(f"{which}_stderr,{rule}" if rule else f"{which}_stderr", "")
        score = totals[f"{which},{rule}" if rule else which]
        error = error if isinstance(error, int | float) else ""
        model = found.model_name or "model"
        rows.append((model, task, which, rule, str(score), str(error), str(n)))
    if not rows:
        what = f"{metric or 'a share of correct answers'}{f' under {filtered}' if filtered else ''}"
        raise BadInput(f"{name}: no task has {what}", hint="name a metric: --score-col acc_norm")
    names = ("model", "task", "metric", "filter", "score", "stderr", "n")
    columns = {
        column: coded_texts(list(cells))
        for column, cells in zip(names, zip(*rows, strict=True), strict=True)
    }
    return FileColumns(name, columns, np.arange(1, len(rows) + 1, dtype=np.int64), unit="task")


def _total(totals: Mapping[str, Any], metric: str, filtered: str) -> tuple[str, str] | None:
    """Return the metric and filter of a task's score; None without one in [0, 1]."""
    pairs = [
        (name, rule)
        for name, _, rule in (key.partition(",") for key in totals)
        if "stderr" not in name and (not filtered or rule == filtered)
    ]
    for wanted in (metric,) if metric else _METRICS:
        for name, rule in pairs:
            value = totals[f"{name},{rule}" if rule else name]
            if name == wanted and isinstance(value, int | float) and 0 <= value <= 1:
                return name, rule
    return None


def lm_eval_columns(
    rows: Iterable[Row], *, name: str, model: str, task: str
) -> tuple[FileColumns, str]:
    """Return the lines as a long table, and the name of its first metric.

    Items are named ``TASK/DOC_ID``. Short fields of the question become columns. ``outcome`` marks
    responses from which the filter extracted no answer. Raises BadInput if a line has no metric.
    """
    texts: dict[str, list[str]] = {}
    places: list[int] = []
    metrics: dict[str, None] = {}
    problems: list[Problem] = []
    for number, row in enumerate(rows):
        values, named = _of_line(row, model, task)
        if not named:
            problems.append(Problem(row.place, "has no metric: expected a list under metrics"))
        metrics |= dict.fromkeys(named)
        places.append(int(row.place.split()[-1]))
        for column in values.keys() - texts.keys():
            texts[column] = [""] * number
        for column, column_texts in texts.items():
            column_texts.append(values.get(column, ""))
    if problems:
        raise BadInput(f"{name}: {len(problems)} lines are no answers of lm-eval", problems)
    if not places:
        raise BadInput(f"{name} holds no line")
    first = ["item", "model", "task", "filter", *metrics]
    order = [*first, "outcome", *sorted(texts.keys() - {*first, "outcome"})]
    columns = {column: coded_texts(texts[column]) for column in order if column in texts}
    return FileColumns(name, columns, np.array(places, dtype=np.int64)), next(iter(metrics))


def _of_line(row: Row, model: str, task: str) -> tuple[dict[str, str], list[str]]:
    line = row.values
    told = line.get("metrics")
    metrics = [metric for metric in told if metric in line] if isinstance(told, list) else []
    metrics = metrics or [name for name in ("exact_match", "acc", "acc_norm", "f1") if name in line]
    doc = line.get("doc")
    fields = doc.items() if isinstance(doc, dict) else ()
    values = {name: text for name, value in fields if (text := _short(value))}
    values |= {name: _short(line[name]) for name in metrics}
    doc_id = line["doc_id"]
    values |= {"item": f"{task}/{doc_id}", "model": model, "task": task}
    name = str(line.get("filter", ""))
    return values | {
        "filter": name,
        "outcome": _lm_eval_outcome(line.get("filtered_resps"), name),
    }, metrics


def _lm_eval_outcome(found: object, name: str) -> str:
    """Return ``unparsed`` if the filter ``name`` extracted no answer.

    An empty response counts as unparsed only under a filter that extracts. Option likelihoods
    always give an answer.
    """
    texts = found if isinstance(found, list) and found else [found]
    nothing = {_INVALID} if name in ("", "none") else {_INVALID, ""}
    is_nothing = all(isinstance(text, str) and text.strip() in nothing for text in texts)
    return "unparsed" if is_nothing else "answered"
