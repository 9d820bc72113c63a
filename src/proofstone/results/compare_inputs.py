"""Between results: what a workspace says of two of them, its own or a file's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from proofstone.browse.trace import PURGED
from proofstone.errors import (
    BadInput,
    BadUsage,
    NotFound,
    Problem,
    StoreFailed,
    TextPurged,
    WorkspaceUnusable,
)
from proofstone.files.tables import SUFFIXES
from proofstone.method import Method, find_method
from proofstone.records.ids import short
from proofstone.records.items import (
    CONTEXT_CHUNKS,
    CONTEXT_INDEX,
    CONTEXT_SEARCH,
    CONTEXT_SOURCE,
    CONTEXT_TOKENS,
    LoadedItem,
    context_of,
    own_prompt_of,
)
from proofstone.records.runs import ANSWER_FORMAT, OUR_SETTINGS, Run
from proofstone.records.scores import Corrections, Respondent, ScoreTable
from proofstone.results.audit.audit import Asked, read_results
from proofstone.results.compare import FILE, Compared, Moved, PairCompared, Party, Side, SideShown
from proofstone.results.table import (
    CURRENT,
    Selection,
    View,
    chosen_scorings,
    headline,
    read_scores,
    select_runs,
    shown_name,
)
from proofstone.run.score_runs import score
from proofstone.session.dates import at_date, minute
from proofstone.session.folders import MARK
from proofstone.session.models import family_of_model
from proofstone.session.session import Session
from proofstone.session.targets import Target, find_target
from proofstone.store.lookup import KINDS, Found
from proofstone.store.scores import ScoringInfo
from proofstone.store.store import Store
from proofstone.wording.messages import counted

if TYPE_CHECKING:
    from proofstone.ingest.editions import Editions
    from proofstone.records.runs import Plan
    from proofstone.results.compare import TriplesCompared
    from proofstone.results.gate import Gated, GateRule, Look
    from proofstone.results.plan import PlanAsked


# One side of a comparison, read: runs, forms or a bank of a workspace, or files of results.

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


# What a comparison is told besides its numbers: scorers, and the first words of its items.

_LONGEST = 200


def annotated(compared: Compared, *, stale: Sequence[str], rescored: int) -> Compared:
    """The comparison with what to know of its scorers: how many runs were scored again for it, and
    which of its sides (``stale``, named A and B) another version than today's scored."""
    if rescored:
        noun = "run was" if rescored == 1 else "runs were"
        note = f"{rescored} {noun} scored again from stored replies; nobody was asked"
        compared = structs.replace(compared, notes=(note, *compared.notes))
    if not stale:
        return compared
    verb = "was" if len(stale) == 1 else "were"
    return structs.replace(
        compared,
        rescore=f"{' and '.join(stale)} {verb} scored by another version than today's scorer: "
        "--rescore scores the stored replies with today's, asking nobody",
    )


def with_texts(
    store: Store, method_of: Callable[[str], Method], compared: Compared, most: int | None
) -> Compared:
    """The comparison with the first words of the items that moved: of ``most`` won and lost ones of
    each pair, or of all."""
    moved = [
        item.item
        for pair in compared.pairs
        for items in (pair.won, pair.lost)
        for item in items[:most]
    ]
    texts = _texts(store, method_of, dict.fromkeys(moved))
    return structs.replace(compared, pairs=tuple(_told(pair, texts) for pair in compared.pairs))


def _told(pair: PairCompared, texts: Mapping[str, str]) -> PairCompared:
    def told(items: Sequence[Moved]) -> tuple[Moved, ...]:
        return tuple(structs.replace(each, text=texts.get(each.item, "")) for each in items)

    return structs.replace(pair, won=told(pair.won), lost=told(pair.lost))


def _texts(
    store: Store, method_of: Callable[[str], Method], items: Iterable[str]
) -> dict[str, str]:
    """The first words of items of this workspace; those of a file have none."""
    found = {}
    ids = [bytes.fromhex(item) for item in items if _is_id(item)]
    for identity, key in store.items.keys_of(ids).items():
        try:
            loaded = store.items.one(key)
        except TextPurged:
            found[identity.hex()] = PURGED
            continue
        method = method_of(loaded.item.kind.partition(".")[0])
        name = f"{loaded.label.name}: " if loaded.label.name else ""
        found[identity.hex()] = (name + " ".join(_asked(method, loaded).split()))[:_LONGEST]
    return found


def _asked(method: Method, loaded: LoadedItem) -> str:
    """What an item asks; of one composed of several facts, without the line that all such have."""
    question = str(method.write_item(loaded).get("question") or method.show(loaded))
    head, _line, rest = question.strip().partition("\n")
    return rest if rest.strip() and len(loaded.facts) > 1 else f"{head}\n{rest}"


def _is_id(text: str) -> bool:
    return len(text) == 64 and not set(text) - set("0123456789abcdef")


_SUFFIXES = (*SUFFIXES, ".eval", ".gz")  # of files of results


_KINDS = ("run", "form", "bank")


_LOOKS = "gate-looks.jsonl"


def compare_targets(
    session: Session,
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
    """B against A on the items that both have; ``str()`` of it is what ``compare`` prints.

    Each is a run, a form, a bank (with ``@2026-03-01`` as it stood then), or a file of
    results. ``rescore`` first scores the stored
    replies of runs that an older scorer scored, asking nobody. ``texts``: of how many items
    won and lost the first words are wanted (None: all). ``reading`` says how a
    file is to be read. ``asked``: ``estimand``, ``confidence``, ``seed``.
    """
    from proofstone.results.compare import Ask, compare_sides  # noqa: PLC0415 - numpy

    rescored = _rescored(session, [before, after]) if rescore else 0
    sides = [_side(session, target, view, reading) for target in (before, after)]
    compared = compare_sides(sides[0], sides[1], Ask(**asked))
    stale = [] if view.scorings else _stale(session, [before, after])
    noted = annotated(compared, stale=stale, rescored=rescored)
    triples = _triples_compared(session, before, after, view, asked)
    noted = structs.replace(noted, triples=triples)
    return with_texts(session.store, find_method, noted, texts)


def gate_run(
    session: Session,
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
    """Whether a run may pass: ``verdict`` is "pass", "fail" or "cannot tell".

    ``max_drop`` and ``minimum`` are points of 100. Each look at a pair is recorded in the
    workspace, or in the file ``looks``, and allowed for when the pair is looked at again with
    more items; ``single`` plans this look as the only one. Otherwise as ``compare``, of which
    the baseline is A and the run B. Raises BadUsage where a side has several respondents, or
    where a single look is not the first.
    """
    from proofstone.results.gate import GateRule  # noqa: PLC0415 - numpy

    rescored = _rescored(session, [baseline, run]) if rescore else 0
    sides = [_side(session, target, CURRENT, reading) for target in (baseline, run)]
    rule = GateRule(max_drop=max_drop / 100, minimum=None if minimum is None else minimum / 100)
    record = looks or session.folder / MARK / _LOOKS
    gated = _gated(sides, rule, asked, record, at=session.clock.now(), single=single)
    stale = _stale(session, [baseline, run])
    noted = annotated(gated.compared, stale=stale, rescored=rescored)
    told = with_texts(session.store, find_method, noted, texts)
    return structs.replace(gated, compared=told)


def make_plan(session: Session, target: Target, asked: PlanAsked | None = None) -> Plan:
    """Freezes the analysis of a form's or bank's runs, before they are run.

    Raises BadUsage for a measure that is none, or what cannot be a comparison.
    """
    from proofstone.models.config import scrubber_of  # noqa: PLC0415
    from proofstone.results.plan import PlanAsked, freeze_plan  # noqa: PLC0415 - numpy

    found = find_target(session.store, target, ("form", "bank"))
    owner = session.store.items.item_set if found.kind == "form" else session.store.knowledge.bank
    scrubber = scrubber_of(session.config)
    return freeze_plan(
        session.store,
        find_method(owner(found.id).method),
        found,
        asked or PlanAsked(),
        scrub=lambda text: scrubber.raw(text.encode()).decode(),
        clock=session.clock,
    )


def are_sources(session: Session, *targets: Target | Path) -> bool:
    """Whether these name sources: by "source:", or because not all of them name something with
    results. Raises BadUsage where one can only be a source and another cannot be one."""
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


def editions_compared(session: Session, old: Target, new: Target) -> Editions:
    """What of a source still stands in its new edition, and which statements are to go."""
    from proofstone.ingest.editions import compare_editions  # noqa: PLC0415

    found = [find_target(session.store, target, ("source",)) for target in (old, new)]
    return compare_editions(session.store, find_method, found[0], found[1])


def write_editions(session: Session, editions: Editions, path: Path) -> int:
    """Writes the statements of an older edition as a work list; returns how many."""
    from proofstone.session.written_files import write_work_file  # noqa: PLC0415

    return write_work_file(path, [structs.asdict(row) for row in editions.rows])


def _is_named(session: Session, target: Target | Path, kinds: tuple[str, ...]) -> bool:
    """Whether something of these kinds has this name (or several have)."""
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


def _triples_compared(
    session: Session,
    before: Target | Path,
    after: Target | Path,
    view: View,
    asked: Mapping[str, Any],
) -> TriplesCompared | None:
    """What differs in verified triples; None but for two runs of one method."""
    found = [
        find_target(session.store, target, _KINDS)
        for target in (before, after)
        if not isinstance(target, Path) and not is_results_file(target)
        and "@" not in str(target)
    ]  # fmt: skip
    if len(found) < 2 or any(each.kind != "run" for each in found) or found[0].id == found[1].id:
        return None
    from proofstone.methods.bequ.report.verified_boards import (  # noqa: PLC0415 - numpy
        compare_triples,
    )

    try:
        selection = select_runs(session.store, found)
    except BadUsage:  # of several methods, or recipes: they stand in no table together
        return None
    method = find_method(selection.method)
    return compare_triples(
        session.store, method, selection, found[0].id, found[1].id, view,
        confidence=asked.get("confidence", 0.95), seed=asked.get("seed", 0),
    )  # fmt: skip


def _side(session: Session, target: Target | Path, view: View, reading: Asked | None) -> Side:
    from proofstone.results.audit.audit import Asked as Plain  # noqa: PLC0415 - numpy

    if is_results_file(target):
        return read_file(Path(str(target)), reading or Plain())
    if isinstance(target, str):
        until = at_date(target)[1]
        view = view if until is None else structs.replace(view, until=until)
    found = _row(session, target)
    return read_runs(
        session.store, find_method, found, family=partial(family_of_model, session), view=view
    )


def _row(session: Session, target: Target | Path) -> Found:
    named = str(target) if isinstance(target, Path) else target
    if isinstance(named, str):
        named = at_date(named)[0]
    return find_target(session.store, named, _KINDS)


def _stale(session: Session, targets: list[Target | Path]) -> list[str]:
    """Which of A and B another version than today's scorer scored."""
    return [
        name
        for name, target in zip("AB", targets, strict=True)
        if not is_results_file(target) and _stale_runs(session, target)
    ]


def _stale_runs(session: Session, target: Target | Path) -> list[bytes]:

    return stale_runs(session.store, find_method, _row(session, target))


def _rescored(session: Session, targets: list[Target | Path]) -> int:
    """Scores again what an older scorer scored; how many runs that were."""
    stale = [
        run
        for target in targets
        if not is_results_file(target)
        for run in _stale_runs(session, target)
    ]
    runs = list(dict.fromkeys(stale))
    for run in runs:
        score(session, f"run:{short(run, 64)}")
    return len(runs)


def compare_files(
    before: Path, after: Path, *, reading: Asked | None = None, **asked: Any
) -> Compared:
    """Two files of results against each other, which needs no workspace."""
    from proofstone.results.audit.audit import Asked as Plain  # noqa: PLC0415 - numpy
    from proofstone.results.compare import Ask, compare_sides  # noqa: PLC0415 - numpy

    sides = [read_file(path, reading or Plain()) for path in (before, after)]
    if before.resolve() == after.resolve():
        raise BadUsage(
            f"A and B are the same: {after}; no difference is possible",
            hint="name another file as one of the two",
        )
    return compare_sides(sides[0], sides[1], Ask(**asked))


def gate_files(
    run: Path,
    baseline: Path,
    *,
    max_drop: float,
    minimum: float | None = None,
    reading: Asked | None = None,
    single: bool = False,
    looks: Path | None = None,
    **asked: Any,
) -> Gated:
    """A file of results against another as its baseline; as ``Comparing.gate``, but that looks are
    recorded only in a file ``looks``."""
    from proofstone.results.audit.audit import Asked as Plain  # noqa: PLC0415 - numpy
    from proofstone.results.gate import GateRule  # noqa: PLC0415 - numpy

    sides = [read_file(path, reading or Plain()) for path in (baseline, run)]
    rule = GateRule(max_drop=max_drop / 100, minimum=None if minimum is None else minimum / 100)
    return _gated(sides, rule, asked, looks, at=time.time(), single=single)


def _gated(
    sides: Sequence[Side],
    rule: GateRule,
    asked: Mapping[str, Any],
    record: Path | None,
    *,
    at: float,
    single: bool,
) -> Gated:
    """The gate's answer, with the looks at the same pair that are recorded; this one is added where
    both runs are complete, as no other can pass."""
    from proofstone.results.compare import Ask  # noqa: PLC0415 - numpy
    from proofstone.results.gate import (  # noqa: PLC0415 - numpy
        Look,
        earlier_looks,
        gate_sides,
        look_at,
    )

    baseline, run = sides
    known = [] if record is None else _recorded(record, Look)
    if len(baseline.parties) != 1 or len(run.parties) != 1:
        return gate_sides(baseline, run, rule, Ask(**asked))  # which refuses it
    look = look_at(baseline, run, at=at, single=single)
    earlier = earlier_looks(look, known)
    again = next((each for each in known if each.marks == look.marks), None)
    if again is not None:  # the same look answers the same
        earlier = tuple(each for each in earlier if each.at < again.at)
        single = again.single
    gated = gate_sides(baseline, run, rule, Ask(**asked), earlier=earlier, single=single)
    is_complete = all(side.parties[0].is_complete for side in sides)
    if record is not None and again is None and is_complete and look.n:
        _add(record, look)
    return gated


def _recorded(record: Path, kind: type[Look]) -> list[Look]:
    """The looks of a file, a line each. Raises BadInput naming lines that are none."""
    try:
        lines = record.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadInput(f"cannot read {record}: {error.strerror or error}") from error
    found, problems = [], []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(msgspec.json.decode(line, type=kind))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            problems.append(Problem(f"line {number}", str(error)))
    if problems:
        raise BadInput(f"{record} is no record of looks", problems)
    return found


def _add(record: Path, look: Look) -> None:
    try:
        with record.open("ab") as file:
            file.write(msgspec.json.encode(look) + b"\n")
    except OSError as error:
        raise StoreFailed(
            f"the look could not be recorded in {record}: {error.strerror or error}",
            hint="name a file that you may write to: --looks FILE",
        ) from error


def write_moved(compared: Compared, path: Path) -> int:
    """Writes the items won and lost by the suffix of ``path``; how many there are."""
    from proofstone.files.write import write_rows  # noqa: PLC0415
    from proofstone.results.compare import moved_rows  # noqa: PLC0415

    return write_rows(path, moved_rows(compared))


def is_results_file(target: object) -> bool:
    """Whether this means a file or a folder of results rather than a row."""
    if isinstance(target, Path):
        return True
    if not isinstance(target, str):
        return False
    path = Path(target)
    return (path.is_file() and bool(path.suffix)) or (
        path.is_dir() and ("/" in target or "\\" in target)
    )


@contextmanager
def naming_missing_files(*targets: str) -> Iterator[None]:
    """Raises NotFound with the name of the file, where a workspace or something in it was not found
    and what was named is a path or has the suffix of a file of results."""
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
        names = " and no file ".join(missing)
        where = "no workspace" if isinstance(error, WorkspaceUnusable) else "nothing of that name"
        raise NotFound(
            f"There is no file {names}, and {where} here.", hint="Check the name and the folder."
        ) from error


def _is_path(target: str) -> bool:
    """Whether a text that names no file or folder looks as if it should."""
    path = Path(target)
    is_like_one = "/" in target or "\\" in target or path.suffix.lower() in _SUFFIXES
    return is_like_one and not path.exists()


def _says_source(target: object) -> bool:
    return isinstance(target, str) and target.startswith("source:")
