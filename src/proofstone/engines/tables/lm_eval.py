"""What lm-evaluation-harness writes with ``--log_samples``: one file a task, one line an answer.

Each line has ``doc_id``, ``doc`` (the question's fields), ``filter``, ``metrics`` (names) and a
field for each metric. The model's name stands in ``results_TIME.json`` beside ``samples_TASK_TIME
.jsonl``, else it is the folder's name. Seen in versions 0.4.9 to 0.4.13.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from proofstone.errors import BadInput, Problem
from proofstone.records import FileColumns, Row, coded_texts

__all__ = ["is_lm_eval", "lm_eval_columns", "model_of", "task_of"]

_NAME = re.compile(r"samples_(?P<task>.+?)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl(\.gz)?$")
_LONGEST = 80  # a field of the question that is longer is its text, and no stratum


class _Results(msgspec.Struct):
    model_name: str = ""


def is_lm_eval(first: Mapping[str, Any]) -> bool:
    """Whether this is a line of such a file."""
    return "doc_id" in first and ("filtered_resps" in first or "resps" in first)


def task_of(path: Path) -> str:
    """The task that the file's name says, else the name itself."""
    found = _NAME.search(path.name)
    return found["task"] if found else path.name.partition(".")[0]


def model_of(path: Path) -> str:
    """The model whose answers these are: of the results beside the file, else the folder's name."""
    found = _NAME.search(path.name)
    results = path.with_name(f"results_{found['time']}.json") if found else path
    if found and results.is_file():
        try:
            name = msgspec.json.decode(results.read_bytes(), type=_Results).model_name
        except msgspec.DecodeError:
            name = ""
        if name:
            return name
    return path.resolve().parent.name.replace("__", "/")


def lm_eval_columns(
    rows: Iterable[Row], *, name: str, model: str, task: str
) -> tuple[FileColumns, str]:
    """The lines as a long table, and the name of its first metric. Items are named
    ``TASK/DOC_ID``; short fields of the question are columns too.

    Raises BadInput where a line has no metric."""
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
    order = [*first, *sorted(texts.keys() - set(first))]
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
    return values | {"filter": str(line.get("filter", ""))}, metrics


def _short(value: object) -> str:
    """A text, number or truth as a text; empty for what is long or holds several."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else ""
    if isinstance(value, bool | int | float):
        return msgspec.json.encode(value).decode()
    return ""
