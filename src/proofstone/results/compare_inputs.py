"""Read the two sides of a comparison from a workspace or from result files."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import structs

from proofstone.errors import BadUsage, NotFound, TextPurged, WorkspaceUnusable
from proofstone.files.csv import missing_file
from proofstone.files.tables import SUFFIXES
from proofstone.method import Method, find_method
from proofstone.records.ids import short
from proofstone.records.items import (
    CONTEXT_CHUNK_TOKENS,
    CONTEXT_CHUNKS,
    CONTEXT_INDEX,
    CONTEXT_PAGE_TOKENS,
    CONTEXT_SEARCH,
    CONTEXT_SOURCE,
    CONTEXT_TOKENS,
    CONTEXT_WITHIN,
    LoadedItem,
    context_of,
    own_prompt_of,
    searches,
    shown_name,
    shows_document,
)
from proofstone.records.runs import ANSWER_FORMAT, OUR_SETTINGS, Run
from proofstone.results.audit.audit import Asked, read_results
from proofstone.results.compare import (
    FILE,
    Compared,
    Moved,
    Party,
    Side,
    SideShown,
    TriplesCompared,
    compare_sides,
    is_item_id,
)
from proofstone.results.gate import Gated, GateRule, gate_recorded
from proofstone.results.request import CURRENT, Ask, View
from proofstone.results.table import chosen_scorings, headline, read_scores
from proofstone.results.trace import PURGED
from proofstone.run.forms import select_runs
from proofstone.run.score import score
from proofstone.session.folders import MARK
from proofstone.session.models import family_of_model
from proofstone.session.session import Session, Target, find_target
from proofstone.session.terminal import at_date, minute
from proofstone.store.lookup import KINDS, Found
from proofstone.store.store import Store
from proofstone.wording.messages import counted

_SUFFIXES = (*SUFFIXES, ".eval", ".gz")  # of files of results


_KINDS = ("run", "form", "bank")


_LOOKS = "gate-looks.jsonl"


_MOST_NAMED = 3


_LONGEST = 200  # characters of an item's first words


@dataclass(frozen=True)
class Sides:
    """Both sides of a comparison as ``named`` and read with ``view``.

    Without a ``session`` both are files. ``rescored`` counts runs that were scored again first.
    """

    session: Session | None
    named: tuple[Target | Path, Target | Path]
    view: View
    rescored: int
    before: Side
    after: Side

    @classmethod
    def read(
        cls,
        session: Session | None,
        before: Target | Path,
        after: Target | Path,
        *,
        rescore: bool = False,
        view: View = CURRENT,
        reading: Asked | None = None,
    ) -> Sides:
        """Read both sides.

        ``rescore`` first rescores responses that an older scorer version scored. ``reading``
        describes how to read a file. Raises as ``select_runs``, ``read_scores`` and
        ``read_results`` do.
        """
        named = before, after
        runs: dict[bytes, None] = {}
        if rescore and session is not None:
            runs = dict.fromkeys(run for each in named for run in _stale_runs(session, each))
            for run in runs:
                score(session, f"run:{short(run, 64)}")
        sides = [_side(session, each, view, reading or Asked()) for each in named]
        return cls(session, named, view, len(runs), *sides)

    def told(self, compared: Compared, most: int | None) -> Compared:
        """Return the comparison with notes on its scorers and the beginnings of items.

        ``most`` limits the items won and lost per pair that get a text; None means all.
        """
        if self.session is None:
            return compared
        notes, rescore = compared.notes, ""
        if self.rescored:
            noun = "run was" if self.rescored == 1 else "runs were"
            said = (
                f"{self.rescored} {noun} scored again from stored responses; no API calls were made"
            )
            notes = (said, *notes)
        stale = [
            name
            for name, each in zip("AB", self.named, strict=True)
            if not self.view.scorings and _stale_runs(self.session, each)
        ]
        if stale:
            verb = "was" if len(stale) == 1 else "were"
            rescore = (
                f"{' and '.join(stale)} {verb} scored by another scorer version: "
                "--rescore scores the stored responses with the current one, without API calls"
            )
        moved = [(*pair.won[:most], *pair.lost[:most]) for pair in compared.pairs]
        texts = _texts(
            self.session.store, dict.fromkeys(each.item for one in moved for each in one)
        )

        def worded(items: tuple[Moved, ...]) -> tuple[Moved, ...]:
            return tuple(structs.replace(each, text=texts.get(each.item, "")) for each in items)

        pairs = tuple(
            structs.replace(pair, won=worded(pair.won), lost=worded(pair.lost))
            for pair in compared.pairs
        )
        return structs.replace(compared, notes=notes, rescore=rescore, pairs=pairs)


def compare_targets(
    session: Session | None,
    /,
    before: Target | Path,
    after: Target | Path,
    *,
    rescore: bool = False,
    view: View = CURRENT,
    texts: int | None = None,
    reading: Asked | None = None,
    **asked: Any,
) -> Compared:
    """Compare B with A on their common items; ``str()`` returns what ``compare`` prints.

    Each is a run, a form or a bank (with ``@2026-03-01``: its state at that date), or a file of
    results. Two files need no session. ``rescore`` first rescores stored responses that an older
    scorer version scored, without API calls. ``texts`` is the number of items won and lost whose
    beginnings are included (None: all). ``reading`` describes how to read a file. ``asked`` are
    fields of ``results.request.Ask``.
    """
    sides = Sides.read(session, before, after, rescore=rescore, view=view, reading=reading)
    if session is None and Path(str(before)).resolve() == Path(str(after)).resolve():
        raise BadUsage(
            f"A and B are the same: {after}; no difference is possible",
            hint="name another file as one of the two",
        )
    compared = sides.told(compare_sides(sides.before, sides.after, Ask(**asked)), texts)
    if session is None:
        return compared
    triples = _triples_compared(session, before, after, view, asked)
    return structs.replace(compared, triples=triples)


def gate_run(
    session: Session | None,
    /,
    run: Target | Path,
    baseline: Target | Path,
    *,
    max_drop: float,
    minimum: float | None = None,
    rescore: bool = False,
    texts: int | None = 5,
    reading: Asked | None = None,
    single: bool = False,
    looks: Path | None = None,
    **asked: Any,
) -> Gated:
    """Check a run against a baseline; ``verdict`` is "pass", "fail" or "inconclusive".

    ``max_drop`` and ``minimum`` are points out of 100. Each look at a pair is recorded in the
    workspace or in the file ``looks``. Later looks at the same pair with more items account for it.
    ``single`` declares this look as the only one. Other arguments are as for ``compare_targets``,
    where the baseline is A and the run is B. Raises BadUsage if a side has several models, or if a
    single look is not the first.
    """
    sides = Sides.read(session, baseline, run, rescore=rescore, reading=reading)
    rule = GateRule(max_drop=max_drop / 100, minimum=None if minimum is None else minimum / 100)
    record, at = looks, time.time()
    if session is not None:
        record, at = looks or session.folder / MARK / _LOOKS, session.clock.now()
    gated = gate_recorded(
        sides.before, sides.after, rule, Ask(**asked), record, at=at, single=single
    )
    return structs.replace(gated, compared=sides.told(gated.compared, texts))


# Kinds of targets: a row, a file, or a source.


def is_results_file(target: object) -> bool:
    """Return True if ``target`` is a file or folder of results rather than a row."""
    if isinstance(target, Path):
        return True
    if not isinstance(target, str):
        return False
    path = Path(target)
    return (path.is_file() and bool(path.suffix)) or (
        path.is_dir() and ("/" in target or "\\" in target)
    )


def are_sources(session: Session, *targets: Target | Path) -> bool:
    """Return True if the targets are sources.

    They are if "source:" is given, or if not all of them name something with results. Raises
    BadUsage if one can only be a source and another cannot be one.
    """
    if not any(_says_source(target) for target in targets) and all(
        is_results_file(target) or _is_named(session, target, _KINDS) for target in targets
    ):
        return False
    are = [not is_results_file(each) and _is_named(session, each, ("source",)) for each in targets]
    if any(are) and not all(are):
        raise BadUsage(
            "a source is compared with a source, and results with results",
            hint="name two editions of one document, as 'list source' shows them",
        )
    return all(are)


def _is_named(session: Session, target: Target | Path, kinds: tuple[str, ...]) -> bool:
    """Return True if this name matches one or more rows of these kinds."""
    kind, colon, _name = str(target).partition(":")
    if colon and kind in KINDS and kind not in kinds:
        return False
    named = at_date(target)[0] if isinstance(target, str) and kinds == _KINDS else target
    try:
        find_target(session.store, named, kinds)  # type: ignore[arg-type]
    except NotFound:
        return False
    except BadUsage:
        return True
    return True


def _says_source(target: object) -> bool:
    return isinstance(target, str) and target.startswith("source:")


@contextmanager
def naming_missing_files(*targets: str) -> Iterator[None]:
    """Raise NotFound for a missing file instead of a missing workspace or row.

    A target counts as a file if it is a path or has the suffix of a file of results.
    """
    try:
        yield
    except (NotFound, WorkspaceUnusable) as error:
        missing = [
            target
            for target in targets
            if _is_path(target)
            and (isinstance(error, WorkspaceUnusable) or repr(target) in error.message)
        ]
        if not missing:
            raise
        raise missing_file(missing[0]) from error


def _is_path(target: str) -> bool:
    """Return True if a text that names no existing file or folder looks like a path."""
    path = Path(target)
    is_like_one = "/" in target or "\\" in target or path.suffix.lower() in _SUFFIXES
    return is_like_one and not path.exists()


def _row(session: Session, target: Target | Path) -> Found:
    named = str(target) if isinstance(target, Path) else target
    if isinstance(named, str):
        named = at_date(named)[0]
    return find_target(session.store, named, _KINDS)


def _triples_compared(
    session: Session,
    before: Target | Path,
    after: Target | Path,
    view: View,
    asked: Mapping[str, Any],
) -> TriplesCompared | None:
    """Compare verified triples; None except for two runs of one method."""
    found = [
        find_target(session.store, target, _KINDS)
        for target in (before, after)
        if not isinstance(target, Path) and not is_results_file(target)
        and "@" not in str(target)
    ]  # fmt: skip
    if len(found) < 2 or any(each.kind != "run" for each in found) or found[0].id == found[1].id:
        return None
    try:
        selection = select_runs(session.store, found)
    except BadUsage:  # several methods or recipes share no table
        return None
    method = find_method(selection.method)
    if method.verifying is None:
        return None
    compared: TriplesCompared | None = method.verifying.compare(
        session.store, method, selection, found[0].id, found[1].id, view,
        confidence=asked.get("confidence", 0.95), seed=asked.get("seed", 0),
    )  # fmt: skip
    return compared


# Reading one side, with the factors behind its scores.


def _side(session: Session | None, target: Target | Path, view: View, reading: Asked) -> Side:
    if session is None or is_results_file(target):
        return _file_side(Path(str(target)), reading)
    if isinstance(target, str):
        until = at_date(target)[1]
        view = view if until is None else structs.replace(view, until=until)
    return _runs_side(session, _row(session, target), view)


def _stale_runs(session: Session | None, target: Target | Path) -> list[bytes]:
    """Return the runs whose current scores are by an older scorer version."""
    if session is None or is_results_file(target):
        return []
    selection = select_runs(session.store, [_row(session, target)])
    version = find_method(selection.method).scorer_version
    return [
        run.id
        for key, run in selection.runs
        if (now := session.store.scores.current(key)) is not None and now.scorer_version != version
    ]


def _file_side(path: Path, asked: Asked) -> Side:
    """Return the results in a file as a side."""
    table, measure = read_results([path], asked)
    side = Side(
        shown=SideShown(name=path.name, holds=FILE, n_items=len(table.items)),
        table=table,
        measure=measure,
        parties=(),
    )
    return _with_parties(side, [
        {
            "model": who.name, "prompt_method": who.prompt_method, "measure": measure.name,
            "judge": who.judge,
            "source": str(path),
        }
        for who in table.respondents
    ])  # fmt: skip


def _runs_side(session: Session, found: Found, view: View) -> Side:
    """Return the runs of a row as a side, scored with ``view``."""
    store = session.store
    selection = select_runs(store, [found])
    method = find_method(selection.method)
    chosen = chosen_scorings(store, selection.runs, view)
    if view.until is not None:  # without those that were not scored whole by then
        runs = tuple((key, run) for key, run in selection.runs if key in chosen)
        if not runs:
            raise NotFound(
                f"nothing was scored there by {minute(view.until)}",
                hint="a run that was resumed later counts from then",
            )
        selection = structs.replace(selection, runs=runs)
    family = partial(family_of_model, session)
    table = read_scores(store, method, selection, family=family, view=view)
    sets = ", ".join(shown_name(item_set) for item_set in selection.item_sets[:_MOST_NAMED])
    more = len(selection.item_sets) - _MOST_NAMED
    named = (
        f"{found.name}-{short(found.id, 4)}" if found.name else f"{found.kind}:{short(found.id)}"
    )
    side = Side(
        shown=SideShown(
            name=named + (f" as of {minute(view.until)}" if view.until else ""),
            holds=sets + (f" and {more} more" if more > 0 else ""),
            n_items=len(table.items),
            n_excluded=table.n_excluded,
        ),
        table=table,
        measure=headline(method),
        parties=(),
        method=method.name,
        former=_former(store),
    )
    made, settings = [], []
    for place, who in enumerate(table.respondents):
        own = [(key, run) for key, run in selection.runs if run.id in who.runs]
        versions = {chosen[key].scorer_version for key, _run in own if key in chosen}
        run = own[0][1]
        overridden = table.corrections[place].total if table.corrections else 0
        prompt_method = _prompt_method(run)
        made.append({
            "model": run.respondent,
            "reported": ", ".join(sorted(name for name, _n in who.reported)),
            "endpoint": str(run.settings.get("endpoint", "")),
            "items": side.shown.holds,
            "prompt_method": prompt_method,
            "context": _context(run.settings),
            # A custom template by its name, otherwise a hash of everything that shapes the prompt.
            "template": own_prompt_of(run.settings)
            or f"the method's for {prompt_method} ({short(run.prompt_hash)})",
            "samples": str(run.settings.get("samples", 1)),
            "replicate": run.replicate,
            "scorer": ", ".join(f"version {version}" for version in sorted(versions)),
            "judge": who.judge,
            "corrections": f"{counted(overridden, 'response')} overridden" if overridden else "",
            "measure": side.measure.name,
        })  # fmt: skip
        settings.append({
            name: str(value)
            for name, value in run.settings.items()
            if name not in OUR_SETTINGS or name == ANSWER_FORMAT
        })  # fmt: skip
    return _with_parties(side, made, settings)


def _with_parties(
    side: Side,
    made: Sequence[Mapping[str, str]],
    settings: Sequence[dict[str, str]] | None = None,
) -> Side:
    """Return the side with its models; ``made`` holds the factors of each."""
    parties = [
        Party(
            name=who.name,
            prompt_method=who.prompt_method,
            settings=who.settings,
            simulated=who.simulated,
            runs=tuple(f"run:{short(run)}" for run in who.runs),
            made={name: text for name, text in made[place].items() if text},
            asked=settings[place] if settings else {},
            n_responses=side.sheet.n_responses(place),
            missing=int(side.sheet.missing[place]),
            failed=side.sheet.n_failed(place),
        )
        for place, who in enumerate(side.table.respondents)
    ]
    return replace(side, parties=tuple(parties))


def _former(store: Store) -> dict[str, str]:
    """Map each new version of an item to its first version."""
    direct = store.corrections.former_items()
    first = {}
    for item in direct:
        old = item
        while old in direct:
            old = direct[old]
        first[item.hex()] = old.hex()
    return first


def _prompt_method(run: Run) -> str:
    shots = run.settings.get("shots")
    return f"{run.prompt_method} {shots}-shot" if shots else run.prompt_method


def _context(settings: Mapping[str, Any]) -> str:
    """Return the context setting of the questions as text."""
    context = context_of(settings)
    if searches(context):
        beside = "document and " if shows_document(context) else ""
        source = f" from {settings[CONTEXT_SOURCE]}" if CONTEXT_SOURCE in settings else ""
        source += " in each question's document" if CONTEXT_WITHIN in settings else ""
        most = f"{settings[CONTEXT_CHUNKS]} chunks of {settings[CONTEXT_TOKENS]:,}"
        if CONTEXT_CHUNK_TOKENS in settings:
            of = settings[CONTEXT_CHUNK_TOKENS]
            most = f"{settings[CONTEXT_CHUNKS]} chunks of {of:,}, {settings[CONTEXT_TOKENS]:,}"
        if CONTEXT_PAGE_TOKENS in settings:
            of = settings[CONTEXT_PAGE_TOKENS]
            pages = f"{settings[CONTEXT_CHUNKS]} pages"
            most = f"the first {of:,} tokens of {pages}, {settings[CONTEXT_TOKENS]:,}"
        return (
            f"{beside}retrieved (up to {most} tokens together by {settings[CONTEXT_SEARCH]}"
            f"{source}, sources as of {settings[CONTEXT_INDEX][:8]})"
        )
    if context == "none":
        return "none"
    if context == "document":
        return f"document (up to {settings[CONTEXT_TOKENS]:,} tokens)"
    return f"evidence (up to {settings[CONTEXT_TOKENS]:,} tokens of passages)"


# Beginnings of items.


def _texts(store: Store, items: Iterable[str]) -> dict[str, str]:
    """Return the beginnings of items of this workspace; items of a file have none."""
    found = {}
    ids = [bytes.fromhex(item) for item in items if is_item_id(item)]
    for identity, key in store.items.keys_of(ids).items():
        try:
            loaded = store.items.one(key)
        except TextPurged:
            found[identity.hex()] = PURGED
            continue
        method = find_method(loaded.item.kind.partition(".")[0])
        name = f"{loaded.label.name}: " if loaded.label.name else ""
        found[identity.hex()] = (name + " ".join(_asked(method, loaded).split()))[:_LONGEST]
    return found


def _asked(method: Method, loaded: LoadedItem) -> str:
    """Return an item's question; for composed items, without the instruction line they share."""
    question = str(method.write_item(loaded).get("question") or method.show(loaded))
    head, _line, rest = question.strip().partition("\n")
    return rest if rest.strip() and len(loaded.facts) > 1 else f"{head}\n{rest}"
