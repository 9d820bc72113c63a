"""One side of a comparison, read: runs, forms or a bank of a workspace, or files of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import structs

from proofstone.engines.store import Found, Store
from proofstone.engines.store.scores import ScoringInfo
from proofstone.errors import NotFound
from proofstone.identity import short
from proofstone.ports import Method
from proofstone.records import (
    ANSWER_FORMAT,
    CONTEXT_CHUNKS,
    CONTEXT_INDEX,
    CONTEXT_SEARCH,
    CONTEXT_SOURCE,
    CONTEXT_TOKENS,
    OUR_SETTINGS,
    Corrections,
    Respondent,
    Run,
    ScoreTable,
    context_of,
    own_prompt_of,
)
from proofstone.report.between import FILE, Party, Side, SideShown
from proofstone.stages.audit import Asked, read_results
from proofstone.stages.corrected import View, chosen_scorings
from proofstone.stages.dates import minute
from proofstone.stages.summarise import Selection, headline, read_scores, select_runs, shown_name
from proofstone.wording import counted

__all__ = ["read_file", "read_runs", "stale_runs"]

_MOST_NAMED = 3


def read_runs(
    store: Store,
    method_of: Callable[[str], Method],
    found: Found,
    *,
    family: Callable[[str], str],
    view: View,
) -> Side:
    """The runs that a row means, with their scores as ``view`` wants them.

    Raises what ``select_runs`` and ``read_scores`` do.
    """
    selection = select_runs(store, [found])
    method = method_of(selection.method)
    chosen = chosen_scorings(store, selection.runs, view)
    if view.until is not None:
        selection = _scored_by_then(selection, chosen, view.until)
    table = read_scores(store, method, selection, family=family, view=view)
    measure = headline(method)
    sets = ", ".join(shown_name(item_set) for item_set in selection.item_sets[:_MOST_NAMED])
    more = len(selection.item_sets) - _MOST_NAMED
    side = Side(
        shown=SideShown(
            name=_spelled(found) + (f" as of {minute(view.until)}" if view.until else ""),
            holds=sets + (f" and {more} more" if more > 0 else ""),
            n_items=len(table.items),
            n_retired=table.n_retired,
        ),
        table=table,
        measure=measure,
        parties=(),
        method=method.name,
        former=_former(store),
    )
    parties = tuple(
        _party(place, who, side, selection, chosen) for place, who in enumerate(table.respondents)
    )
    return replace(side, parties=parties)


def read_file(path: Path, asked: Asked) -> Side:
    """The results in a file, whoever made them; raises what ``read_results`` does."""
    table, measure = read_results([path], asked)
    side = Side(
        shown=SideShown(name=path.name, holds=FILE, n_items=len(table.items)),
        table=table,
        measure=measure,
        parties=(),
    )
    parties = [
        _party_of_file(place, who, side, path) for place, who in enumerate(table.respondents)
    ]
    return replace(side, parties=tuple(parties))


def _party_of_file(place: int, who: Respondent, side: Side, path: Path) -> Party:
    made = {
        "model": who.name, "way": who.way, "measure": side.measure.name,
        "judge": who.judge, "source": str(path),
    }  # fmt: skip
    return Party(
        name=who.name,
        way=who.way,
        settings=who.settings,
        simulated=who.simulated,
        made={name: text for name, text in made.items() if text},
        n_replies=side.sheet.n_replies(place),
        missing=int(side.sheet.missing[place]),
        failed=side.sheet.n_failed(place),
    )


def stale_runs(store: Store, method_of: Callable[[str], Method], found: Found) -> list[bytes]:
    """The runs whose current scores are by another version of the scorer than today's."""
    selection = select_runs(store, [found])
    version = method_of(selection.method).scorer_version
    return [
        run.id
        for key, run in selection.runs
        if (now := store.scores.current(key)) is not None and now.scorer_version != version
    ]


def _scored_by_then(
    selection: Selection, chosen: Mapping[int, ScoringInfo], until: float
) -> Selection:
    """The selection without the runs that were not scored whole by then."""
    runs = tuple((key, run) for key, run in selection.runs if key in chosen)
    if not runs:
        raise NotFound(
            f"nothing was scored there by {minute(until)}",
            hint="a run that was resumed later counts from then",
        )
    return structs.replace(selection, runs=runs)


def _former(store: Store) -> dict[str, str]:
    """Of each new version of an item the first one, which it comes from over all between."""
    direct = store.corrections.former_items()
    first = {}
    for item in direct:
        old = item
        while old in direct:
            old = direct[old]
        first[item.hex()] = old.hex()
    return first


def _party(
    place: int,
    who: Respondent,
    side: Side,
    selection: Selection,
    chosen: Mapping[int, ScoringInfo],
) -> Party:
    runs = [(key, run) for key, run in selection.runs if run.id in who.runs]
    scorings = [chosen[key] for key, _run in runs if key in chosen]
    run = runs[0][1]
    made = {
        "model": run.respondent,
        "served": ", ".join(sorted(name for name, _n in who.served)),
        "endpoint": str(run.settings.get("endpoint", "")),
        "items": side.shown.holds,
        "way": _way(run),
        "context": _context(run),
        "template": _template(run),
        "samples": str(run.settings.get("samples", 1)),
        "replicate": run.replicate,
        "scorer": _scorer(scorings),
        "judge": who.judge,
        "corrections": _ruled(side.table, place),
        "measure": side.measure.name,
    }
    return Party(
        name=who.name,
        way=who.way,
        settings=who.settings,
        simulated=who.simulated,
        runs=tuple(f"run:{short(each)}" for each in who.runs),
        made={name: text for name, text in made.items() if text},
        asked={
            name: str(value)
            for name, value in run.settings.items()
            if name not in OUR_SETTINGS or name == ANSWER_FORMAT
        },
        n_replies=side.sheet.n_replies(place),
        missing=int(side.sheet.missing[place]),
        failed=side.sheet.n_failed(place),
    )


def _way(run: Run) -> str:
    shots = run.settings.get("shots")
    return f"{run.way} {shots}-shot" if shots else run.way


def _context(run: Run) -> str:
    if context_of(run.settings) == "none":
        return "none"
    if context_of(run.settings) == "retrieved":
        return _retrieved(run.settings)
    return f"evidence (up to {run.settings[CONTEXT_TOKENS]:,} tokens of passages)"


def _retrieved(settings: Mapping[str, Any]) -> str:
    """What a search put before each question, in words."""
    source = f" from {settings[CONTEXT_SOURCE]}" if CONTEXT_SOURCE in settings else ""
    return (
        f"retrieved (up to {settings[CONTEXT_CHUNKS]} chunks of {settings[CONTEXT_TOKENS]:,} "
        f"tokens together by {settings[CONTEXT_SEARCH]}{source}, sources as of "
        f"{settings[CONTEXT_INDEX][:8]})"
    )


def _template(run: Run) -> str:
    """A template of a person's own by its name, or the digits of all that shapes the prompt."""
    return own_prompt_of(run.settings) or f"the method's for {_way(run)} ({short(run.prompt_hash)})"


def _scorer(scorings: Sequence[ScoringInfo]) -> str:
    versions = sorted({scoring.scorer_version for scoring in scorings})
    return ", ".join(f"version {version}" for version in versions)


def _ruled(table: ScoreTable, place: int) -> str:
    ruled = table.corrections[place] if table.corrections else Corrections()
    return f"{counted(ruled.total, 'reply', 'replies')} ruled on" if ruled.total else ""


def _spelled(found: Found) -> str:
    if found.name:
        return f"{found.name}-{short(found.id, 4)}"
    return f"{found.kind}:{short(found.id)}"
