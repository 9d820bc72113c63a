"""Export: what of a workspace goes into a file, by the kind of row that is named."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any, Literal

from msgspec import structs

from proofstone.build.funnel import ended_fields, verdict_fields
from proofstone.errors import BadUsage
from proofstone.files.write import write_rows
from proofstone.ingest.bank_files import export_bank, export_items
from proofstone.method import Method, find_method
from proofstone.models.responses import read_response
from proofstone.records.calls import CallRecord
from proofstone.records.ids import short
from proofstone.records.items import context_of, own_prompt_of, shown_name
from proofstone.records.runs import OUTCOMES, Run, Score
from proofstone.records.scores import ScoreTable
from proofstone.results.board import board_rows
from proofstone.results.report import leaderboard, selection_of
from proofstone.results.table import headline, read_scores
from proofstone.run.run_facts import plan_row
from proofstone.session.models import family_of_model
from proofstone.session.session import Session, Target, find_target, method_of
from proofstone.store.items import StoredItem
from proofstone.store.lookup import Found
from proofstone.store.store import Store

What = Literal["facts", "items", "responses", "scores", "leaderboard", "verdicts", "triples"]


_USUAL: dict[str, What] = {"bank": "facts", "form": "items", "run": "responses"}


def write_export(
    session: Session, /, target: Target, path: Path | str, what: What | None = None, **options: Any
) -> int:
    """Write rows to a file by its suffix (JSONL, CSV, TSV, Parquet, Excel), and return their
    number.

    The rows of a bank are its facts, those of a form its items, of a run its responses, of a plan
    the plan. The rows of a build are the dropped and pending ones with their reasons. ``what``
    selects others:

    - "verdicts" of a build: every vote of its judges - "scores" or "leaderboard" of a bank, form or
    run, with the ``options`` of ``leaderboard`` - "triples" of a run that elicits them; with
    ``fold_near``, a cosine, similar ones are merged - "verdicts" of verified runs: a row per
    triple, with evidence and columns for human labels

    Facts and items can be imported again. Raises BadUsage if the row has no such contents.
    """
    found = find_target(session.store, target, ("bank", "form", "run", "plan", "build"))
    n_rows = _export(session, found, Path(path), what, options)
    if what not in ("scores", "leaderboard") and found.kind != "plan":
        session.store.written.add(Path(path), found.kind, [found.id], session.clock.now())
    return n_rows


def _export(
    session: Session, found: Found, path: Path, what: What | None, options: dict[str, Any]
) -> int:
    store = session.store
    rows: Iterable[dict[str, Any]] | None = None
    if found.kind == "build":
        if what not in (None, "verdicts"):
            raise BadUsage(f"a build has no {what}", hint="it has: its dropped rows, verdicts")
        rows = (ended_fields if what is None else verdict_fields)(store, found)
    elif found.kind == "plan":
        rows = [plan_row(store.plans.one(found.key))]
    elif what == "leaderboard":
        rows = board_rows(leaderboard(session, found, **options))
    elif what == "scores":
        rows = score_rows(score_table(session, found, **options))
    elif what == "verdicts" or (what == "triples" and found.kind == "run"):
        rows = _verifiable_rows(session, found, what, options)
    elif what not in (None, usual := _USUAL[found.kind]):
        hint = f"it has: {usual}, scores, leaderboard"
        raise BadUsage(f"a {found.kind} has no {what}", hint=hint)
    if rows is not None:
        return write_rows(path, rows)
    method = method_of(session, found)
    if found.kind == "run":
        return write_rows(path, response_rows(store, method, *store.runs.run(found.id)))
    return (export_bank if found.kind == "bank" else export_items)(store, method, found.id, path)


def score_table(session: Session, /, *targets: Target, **options: Any) -> ScoreTable:
    """The scores of runs, forms or a bank as columns; ``to_arrow()``, ``to_pandas()`` and
    ``to_polars()`` of it are tables of these libraries. ``view`` as in ``leaderboard``."""
    selection = selection_of(session, targets)
    method = find_method(selection.method)
    return read_scores(
        session.store, method, selection, family=partial(family_of_model, session), **options
    )


def _verifiable_rows(
    session: Session, found: Found, what: What, options: dict[str, Any]
) -> Iterable[dict[str, Any]]:
    """Return the rows that a method exports of elicited or verified triples."""
    if what == "triples":
        method, lacks = method_of(session, found), "responses of {} contain no triples"
    else:
        method = find_method(selection_of(session, [found]).method)
        lacks = "runs of {} contain no triples to verify"
    if method.verifying is None:
        raise BadUsage(lacks.format(method.name))
    rows = method.verifying.said_rows if what == "triples" else method.verifying.verdict_rows
    return rows(session, found, options)


# Runs, scores and leaderboards as rows for a file.

_PAGE = 256


def response_rows(store: Store, method: Method, key: int, run: Run) -> Iterator[dict[str, Any]]:
    """Yield one row per response of a run, in item order: question, response, score and cost.

    A row has an outcome if its response is the last of its item and has one score, on the headline
    measure if there are several. ``score_rows`` has the scores of items with several units. Raises
    TextPurged.
    """
    current = store.scores.current(key)
    measure = headline(method).of
    judge = "" if current is None or current.settings else current.judge
    form = shown_name(store.items.item_set(run.item_set))
    for page in store.items.pages(run.item_set, _PAGE):
        keys = [stored.key for stored in page]
        found = {} if current is None else store.scores.of_items(current.key, keys)
        scores = _by_response(found)
        for stored in page:
            question = method.show(stored.loaded)
            metadata = stored.loaded.label.metadata
            for sample, step, call in store.runs.calls_of_item(key, stored.key):
                mine = scores.get((stored.key, sample), [])
                told = [score for score in mine if score.measure == measure] or mine
                response = read_response(call.wire, call.raw)
                row = {
                    "id": f"response:{short(run.id)}/{short(stored.loaded.item.id)}/{sample}",
                    "model": run.respondent,
                    "prompt_method": run.prompt_method,
                    "own_prompt": own_prompt_of(run.settings),
                    "context": context_of(run.settings),
                    "form": form,
                    **_item(stored),
                    "sample": sample,
                    "step": step,
                    "question": question,
                    "response": response.text,
                    "reasoning": response.reasoning,
                    "finish": response.finish,
                    **(_score(told[0]) if step == run.last_step and len(told) == 1 else {}),
                    **({"judge": judge} if judge else {}),
                    **_graded(method, stored, mine if step == run.last_step else ()),
                    **_call(call),
                }
                yield row | {k: v for k, v in metadata.items() if k not in row}


def score_rows(table: ScoreTable) -> Iterator[dict[str, Any]]:
    """Yield a row per score of a table: model, unit, sample, outcome, value, extracted answer."""
    strata = {name: table.stratum_names[name] for name in table.strata}
    is_judged = any(who.judge for who in table.respondents)
    for place, unit in enumerate(table.unit.tolist()):
        who = table.respondents[int(table.respondent[place])]
        value = float(table.value[place])
        yield {
            "model": who.name,
            "prompt_method": who.prompt_method,
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
            "answer_key": table.answer_keys[int(table.answer_key[unit])],
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


def _by_response(
    scores: Mapping[tuple[int, int, str], Sequence[Score]],
) -> Mapping[tuple[int, int], list[Score]]:
    """Scores by (item, sample), of whatever kinds of units."""
    found: dict[tuple[int, int], list[Score]] = defaultdict(list)
    for (item, sample, _kind), group in scores.items():
        found[item, sample] += group
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
    """Return the additional columns of a method that grades files; ``metrics`` reads them."""
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
        "reported_model": call.reported_model,
        "simulated": call.simulated,
        "started_at": started.isoformat(timespec="seconds"),
        "request": call.request_hash.hex(),
    }
