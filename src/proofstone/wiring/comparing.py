"""Between results: what a workspace says of two of them, its own or a file's."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from proofstone.engines.ingest import SUFFIXES
from proofstone.engines.store import KINDS, Found
from proofstone.errors import (
    BadInput,
    BadUsage,
    NotFound,
    Problem,
    StoreFailed,
    WorkspaceUnusable,
)
from proofstone.identity import short
from proofstone.methods import find_method
from proofstone.stages.corrected import CURRENT, View
from proofstone.stages.dates import at_date
from proofstone.wiring.exporting import Exporting
from proofstone.wiring.folders import MARK
from proofstone.wiring.scoring import Scoring
from proofstone.wiring.targets import Target, find_target

if TYPE_CHECKING:
    from proofstone.records import Plan
    from proofstone.report.between import Compared, Gated, GateRule, Look, Side, TriplesCompared
    from proofstone.stages.audit import Asked
    from proofstone.stages.editions import Editions
    from proofstone.stages.plans import PlanAsked

__all__ = [
    "Comparing",
    "compare_files",
    "gate_files",
    "is_results_file",
    "naming_missing_files",
    "write_moved",
]

_SUFFIXES = (*SUFFIXES, ".eval", ".gz")  # of files of results

_KINDS = ("run", "form", "bank")
_LOOKS = "gate-looks.jsonl"


class Comparing(Scoring, Exporting):
    """Comparisons of what is in a workspace, with each other and with files of results."""

    def compare(
        self,
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
        from proofstone.report.between import Ask, compare_sides  # noqa: PLC0415 - numpy
        from proofstone.stages.comparing import annotated, with_texts  # noqa: PLC0415

        rescored = self._rescored([before, after]) if rescore else 0
        sides = [self._side(target, view, reading) for target in (before, after)]
        compared = compare_sides(sides[0], sides[1], Ask(**asked))
        stale = [] if view.scorings else self._stale([before, after])
        noted = annotated(compared, stale=stale, rescored=rescored)
        triples = self._triples_compared(before, after, view, asked)
        noted = structs.replace(noted, triples=triples)
        return with_texts(self.store, find_method, noted, texts)

    def gate(
        self,
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
        from proofstone.report.between import GateRule  # noqa: PLC0415 - numpy
        from proofstone.stages.comparing import annotated, with_texts  # noqa: PLC0415

        rescored = self._rescored([baseline, run]) if rescore else 0
        sides = [self._side(target, CURRENT, reading) for target in (baseline, run)]
        rule = GateRule(max_drop=max_drop / 100, minimum=None if minimum is None else minimum / 100)
        record = looks or self.folder / MARK / _LOOKS
        gated = _gated(sides, rule, asked, record, at=self.clock.now(), single=single)
        stale = self._stale([baseline, run])
        noted = annotated(gated.compared, stale=stale, rescored=rescored)
        told = with_texts(self.store, find_method, noted, texts)
        return structs.replace(gated, compared=told)

    def plan(self, target: Target, asked: PlanAsked | None = None) -> Plan:
        """Freezes the analysis of a form's or bank's runs, before they are run.

        Raises BadUsage for a measure that is none, or what cannot be a comparison.
        """
        from proofstone.engines.models.redaction import scrubber_of  # noqa: PLC0415
        from proofstone.stages.plans import PlanAsked, freeze_plan  # noqa: PLC0415 - numpy

        found = find_target(self.store, target, ("form", "bank"))
        owner = self.store.items.item_set if found.kind == "form" else self.store.knowledge.bank
        scrubber = scrubber_of(self.config)
        return freeze_plan(
            self.store,
            find_method(owner(found.id).method),
            found,
            asked or PlanAsked(),
            scrub=lambda text: scrubber.raw(text.encode()).decode(),
            clock=self.clock,
        )

    def are_sources(self, *targets: Target | Path) -> bool:
        """Whether these name sources: by "source:", or because not all of them name something with
        results. Raises BadUsage where one can only be a source and another cannot be one."""
        if not any(_says_source(target) for target in targets) and all(
            is_results_file(target) or self._is_named(target, _KINDS) for target in targets
        ):
            return False
        are = [not is_results_file(each) and self._is_named(each, ("source",)) for each in targets]
        if any(are) and not all(are):
            raise BadUsage(
                "a source is compared with a source, and results with results",
                hint="name two editions of one document, as 'list source' shows them",
            )
        return all(are)

    def compare_editions(self, old: Target, new: Target) -> Editions:
        """What of a source still stands in its new edition, and which statements are to go."""
        from proofstone.stages.editions import compare_editions  # noqa: PLC0415

        found = [find_target(self.store, target, ("source",)) for target in (old, new)]
        return compare_editions(self.store, find_method, found[0], found[1])

    def write_editions(self, editions: Editions, path: Path) -> int:
        """Writes the statements of an older edition as a work list; returns how many."""
        from proofstone.stages.work_files import write_work_file  # noqa: PLC0415

        return write_work_file(path, [structs.asdict(row) for row in editions.rows])

    def _is_named(self, target: Target | Path, kinds: tuple[str, ...]) -> bool:
        """Whether something of these kinds has this name (or several have)."""
        kind, colon, _name = str(target).partition(":")
        if colon and kind in KINDS and kind not in kinds:
            return False
        named = at_date(target)[0] if isinstance(target, str) and kinds == _KINDS else target
        try:
            find_target(self.store, named, kinds)  # type: ignore[arg-type]
        except NotFound:
            return False
        except BadUsage:
            return True
        return True

    def _triples_compared(
        self, before: Target | Path, after: Target | Path, view: View, asked: Mapping[str, Any]
    ) -> TriplesCompared | None:
        """What differs in verified triples; None but for two runs of one method."""
        found = [
            find_target(self.store, target, _KINDS)
            for target in (before, after)
            if not isinstance(target, Path) and not is_results_file(target)
            and "@" not in str(target)
        ]  # fmt: skip
        if (
            len(found) < 2
            or any(each.kind != "run" for each in found)
            or found[0].id == found[1].id
        ):
            return None
        from proofstone.stages.summarise import select_runs  # noqa: PLC0415
        from proofstone.stages.triple_differences import compare_triples  # noqa: PLC0415 - numpy

        try:
            selection = select_runs(self.store, found)
        except BadUsage:  # of several methods, or recipes: they stand in no table together
            return None
        method = find_method(selection.method)
        return compare_triples(
            self.store, method, selection, found[0].id, found[1].id, view,
            confidence=asked.get("confidence", 0.95), seed=asked.get("seed", 0),
        )  # fmt: skip

    def _side(self, target: Target | Path, view: View, reading: Asked | None) -> Side:
        from proofstone.stages.audit import Asked as Plain  # noqa: PLC0415 - numpy
        from proofstone.stages.sides import read_file, read_runs  # noqa: PLC0415 - numpy

        if is_results_file(target):
            return read_file(Path(str(target)), reading or Plain())
        if isinstance(target, str):
            until = at_date(target)[1]
            view = view if until is None else structs.replace(view, until=until)
        found = self._row(target)
        return read_runs(self.store, find_method, found, family=self.family_of, view=view)

    def _row(self, target: Target | Path) -> Found:
        named = str(target) if isinstance(target, Path) else target
        if isinstance(named, str):
            named = at_date(named)[0]
        return find_target(self.store, named, _KINDS)

    def _stale(self, targets: list[Target | Path]) -> list[str]:
        """Which of A and B another version than today's scorer scored."""
        return [
            name
            for name, target in zip("AB", targets, strict=True)
            if not is_results_file(target) and self._stale_runs(target)
        ]

    def _stale_runs(self, target: Target | Path) -> list[bytes]:
        from proofstone.stages.sides import stale_runs  # noqa: PLC0415 - numpy

        return stale_runs(self.store, find_method, self._row(target))

    def _rescored(self, targets: list[Target | Path]) -> int:
        """Scores again what an older scorer scored; how many runs that were."""
        stale = [
            run
            for target in targets
            if not is_results_file(target)
            for run in self._stale_runs(target)
        ]
        runs = list(dict.fromkeys(stale))
        for run in runs:
            self.score(f"run:{short(run, 64)}")
        return len(runs)


def compare_files(
    before: Path, after: Path, *, reading: Asked | None = None, **asked: Any
) -> Compared:
    """Two files of results against each other, which needs no workspace."""
    from proofstone.report.between import Ask, compare_sides  # noqa: PLC0415 - numpy
    from proofstone.stages.audit import Asked as Plain  # noqa: PLC0415 - numpy
    from proofstone.stages.sides import read_file  # noqa: PLC0415

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
    from proofstone.report.between import GateRule  # noqa: PLC0415 - numpy
    from proofstone.stages.audit import Asked as Plain  # noqa: PLC0415 - numpy
    from proofstone.stages.sides import read_file  # noqa: PLC0415

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
    from proofstone.report.between import (  # noqa: PLC0415 - numpy
        Ask,
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
    from proofstone.engines.ingest import write_rows  # noqa: PLC0415
    from proofstone.report.between import moved_rows  # noqa: PLC0415

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
