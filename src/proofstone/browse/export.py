"""Import and export: files into rows and rows into files, checked whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import isnan
from pathlib import Path
from typing import Any

from msgspec import structs

from proofstone.files.write import write_rows
from proofstone.method import Method
from proofstone.models.replies import read_reply
from proofstone.records.calls import CallRecord
from proofstone.records.ids import short
from proofstone.records.items import context_of, own_prompt_of, shown_name
from proofstone.records.runs import OUTCOMES, Run, Score
from proofstone.records.scores import ScoreTable
from proofstone.results.table import headline
from proofstone.store.items import StoredItem
from proofstone.store.store import Store

# Runs, scores and leaderboards as rows for a file.

_PAGE = 256


def response_rows(store: Store, method: Method, key: int, run: Run) -> Iterator[dict[str, Any]]:
    """One row a response of a run, in the order of the questions: what was asked, what came, what
    it was worth in the current scoring, and what it cost.

    An outcome stands where the response is the last of its item and has one score (on the headline
    measure, where there are several); the scores of many units are in ``score_rows``. Raises
    TextPurged.
    """
    current = store.scores.current(key)
    measure = headline(method).of
    judge = "" if current is None or current.settings else current.judge
    form = shown_name(store.items.item_set(run.item_set))
    for page in store.items.pages(run.item_set, _PAGE):
        keys = [stored.key for stored in page]
        found = {} if current is None else store.scores.of_items(current.key, keys)
        scores = _by_reply(found)
        for stored in page:
            question = method.show(stored.loaded)
            metadata = stored.loaded.label.metadata
            for sample, step, call in store.runs.calls_of_item(key, stored.key):
                mine = scores.get((stored.key, sample), [])
                told = [score for score in mine if score.measure == measure] or mine
                row = {
                    "response": f"response:{short(run.id)}/{short(stored.loaded.item.id)}/{sample}",
                    "model": run.respondent,
                    "way": run.way,
                    "own_prompt": own_prompt_of(run.settings),
                    "context": context_of(run.settings),
                    "form": form,
                    **_item(stored),
                    "sample": sample,
                    "step": step,
                    "question": question,
                    **_reply(call),
                    **(_score(told[0]) if step == run.last_step and len(told) == 1 else {}),
                    **({"judge": judge} if judge else {}),
                    **_graded(method, stored, mine if step == run.last_step else ()),
                    **_call(call),
                }
                yield row | {k: v for k, v in metadata.items() if k not in row}


def score_rows(table: ScoreTable) -> Iterator[dict[str, Any]]:
    """One row a score of a table: respondent, unit, sample, outcome, value and what was read."""
    strata = {name: table.stratum_names[name] for name in table.strata}
    is_judged = any(who.judge for who in table.respondents)
    for place, unit in enumerate(table.unit.tolist()):
        who = table.respondents[int(table.respondent[place])]
        value = float(table.value[place])
        yield {
            "model": who.name,
            "way": who.way,
            "settings": who.settings,
            "simulated": who.simulated,
            **({"judge": who.judge} if is_judged else {}),
            "form": table.forms[int(table.form[unit])],
            "item": table.items[unit].hex(),
            **({"item_name": table.called.get(table.items[unit], "")} if table.called else {}),
            **{name: names[int(table.strata[name][unit])] for name, names in strata.items()},
            "sample": int(table.sample[place]),
            "outcome": OUTCOMES[int(table.outcome[place])],
            "value": None if isnan(value) else value,
            "answer": table.answers[int(table.answer[place])],
            "gold": table.golds[int(table.gold[unit])],
            "n_options": int(table.n_options[unit]),
        }


def _item(stored: StoredItem) -> dict[str, Any]:
    item, label = stored.loaded.item, stored.loaded.label
    return {
        "item": item.id.hex(),
        **({"item_name": label.name} if label.name else {}),
        "number": item.number,
        "language": item.language,
        **structs.asdict(item.stratum),
    }


def _reply(call: CallRecord) -> dict[str, Any]:
    reply = read_reply(call.wire, call.raw)
    return {"reply": reply.text, "reasoning": reply.reasoning, "finish": reply.finish}


def _by_reply(
    scores: Mapping[tuple[int, int, str], Sequence[Score]],
) -> dict[tuple[int, int], list[Score]]:
    """Scores by (item, sample), of whatever kinds of units."""
    found: dict[tuple[int, int], list[Score]] = {}
    for (item, sample, _kind), group in scores.items():
        found.setdefault((item, sample), []).extend(group)
    return found


def _score(score: Score) -> dict[str, Any]:
    return {
        "outcome": score.outcome,
        "value": score.value,
        "answer": score.answer,
        "basis": score.basis,
        "flags": ", ".join(score.flags),
    }


def _graded(method: Method, stored: StoredItem, scores: Sequence[Score]) -> dict[str, Any]:
    """What the rows of a method that grades files have besides: ``metrics`` reads it."""
    grades = method.grading_files
    if grades is None:
        return {}
    return grades.graded_row(grades.item_columns(stored.loaded), scores)


def _call(call: CallRecord) -> dict[str, Any]:
    started = datetime.fromtimestamp(call.started_at, UTC)
    return {
        "prompt_tokens": call.usage.prompt,
        "completion_tokens": call.usage.completion,
        "reasoning_tokens": call.usage.reasoning,
        "cost_usd": call.cost_usd,
        "latency_s": call.latency_s,
        "served_model": call.served_model,
        "simulated": call.simulated,
        "started_at": started.isoformat(timespec="seconds"),
        "request": call.request_hash.hex(),
    }


def export_responses(store: Store, method: Method, run: bytes, path: Path) -> int:
    """Writes the responses of a run to a file, see ``response_rows``; returns how many."""
    key, record = store.runs.run(run)
    return write_rows(path, response_rows(store, method, key, record))
