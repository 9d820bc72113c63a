"""Verifying stored runs: the part of a workspace that scores their triples against a reference."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from proofstone.engines.store import Origin
from proofstone.engines.store.scores import ScoringInfo
from proofstone.errors import BadUsage
from proofstone.identity import canonical_json, digest, short
from proofstone.methods import find_method
from proofstone.methods.bequ.verification import (
    QUESTIONS_VERSION,
    Posed,
    VerifySettings,
    posed_questions,
)
from proofstone.ports import Elicits, Embedder, Method, Verifies
from proofstone.records import JudgeQuestion, Run, run_label
from proofstone.records.against import Against
from proofstone.stages.judging import Bench
from proofstone.stages.score import Judging, fill_scoring
from proofstone.stages.verified_scoring import is_current, open_verified
from proofstone.wiring.asking import Asking
from proofstone.wiring.background import Background
from proofstone.wiring.gathered_runs import GatheredRuns, VerifiesRuns, gathered_runs
from proofstone.wiring.judging import Judges, judge_spec, loads_of, seated
from proofstone.wiring.references import Reference, find_reference
from proofstone.wiring.targets import Target, find_target
from proofstone.wiring.verifying_list import VerifyingList

if TYPE_CHECKING:
    from proofstone.engines.models import Budget, CacheUse, Spending
    from proofstone.stages.judging import JudgeSpec
    from proofstone.stages.judging_forecast import JudgingForecast
    from proofstone.wiring.egress import Loads

__all__ = ["VerifiedRun", "VerifyingRuns", "check_judged", "verifying_method"]

_TRIED = 64  # questions by which the size of all is judged
_USUAL = VerifySettings()

Watch = Callable[[int, int], None]


class VerifiedRun(Struct, frozen=True, kw_only=True):
    """A run that was verified: its scoring, how many of its triples have a verdict and how many
    wait, and what they came to by direction."""

    run: str
    label: str
    scoring: str
    judges: str
    reference: str
    drawn: str
    n: int
    waiting: int
    counts: Mapping[str, Mapping[str, int]]


class _Wanted(Struct, frozen=True):
    """What is to be verified, before anything of it is read: runs by their keys."""

    method: VerifiesRuns
    runs: Mapping[int, Run]
    reference: Reference
    settings: VerifySettings

    def against(self, judges: str) -> Against:
        """What the scorings are known by."""
        said = structs.asdict(self.settings)
        if said["over"] == "elicited":  # of any of these runs: others draw from other entities
            ids = sorted(run.id for run in self.runs.values())
            said["over"] = f"elicited:{short(digest(canonical_json(ids)))}"
        return Against(
            judges=judges, reference=self.reference.label, questions=QUESTIONS_VERSION, **said
        )


class _Opened(Struct, frozen=True):
    """Runs that were read and drawn: a part for each list of entities."""

    wanted: _Wanted
    against: Against
    lists: tuple[GatheredRuns, ...]
    embedder: Embedder | None

    @property
    def n(self) -> int:
        """The triples of all samples."""
        return sum(each.n_of(group) for each in self.lists for group in range(len(each.runs)))


def verifying_method(method: Method) -> VerifiesRuns:
    """A method as one whose runs can be verified. Raises BadUsage."""
    if isinstance(method, Verifies) and isinstance(method, Elicits):
        return method
    raise BadUsage(
        f"runs of {method.name} hold no triples to verify against a reference",
        hint="leave --reference and what belongs to it away",
    )


def check_judged(method: Method, run: Run) -> None:
    """Raises BadUsage for a run of which judges decide nothing without a reference."""
    if isinstance(method, Verifies):
        name = f"run:{short(run.id)}"
        raise BadUsage(
            f"judges verify what {name} volunteered against a reference, and none is named",
            hint=f"proofstone score {name} --judge PROVIDER/NAME --reference BANK (made "
            "by proofstone build reference ENTITIES --corpus ... -m PROVIDER/NAME; or a file)",
        )


class VerifyingRuns(Asking):
    """The part of a workspace that verifies what stored runs said."""

    def verify_runs(
        self,
        runs: Sequence[Target],
        *,
        judge: Judges,
        reference: Target | Path,
        settings: VerifySettings = _USUAL,
        again: bool = False,
        max_connections: int | None = None,
        cache: CacheUse = "same",
        budget: Budget | str | Spending | None = None,
        watch: Watch | None = None,
        on_interrupt: Callable[[], None] | None = None,
    ) -> tuple[VerifiedRun, ...]:
        """Verifies a sample of what runs said, both ways, against a reference: a bank that ``build
        reference`` made, a file or a folder. Each run's verdicts are a scoring of it, complete once
        none waits; the same call goes on where it was left. Asks no contestant.

        ``watch`` hears how many triples were looked at, and of how many. Raises BadUsage for runs
        whose replies hold no triples, and what stopped a judge once all that it said is kept.
        """
        spec = _judges(judge)
        wanted = self._wanted(runs, reference, settings)
        against = wanted.against(self._bench_name(spec))
        made = {} if again else self._whole(wanted, against)
        with self._opened(wanted, against, made) as opened:
            self._clear(self._verify_loads(spec, opened))

            async def work(stop: asyncio.Event) -> None:
                spending, names = self.spending(budget), list(spec.models)
                async with (
                    self._askers(names, max_connections, stop, cache, spending) as askers,
                    seated(self.store, spec, askers, self.clock) as judging,
                ):
                    tell = _Told(watch, opened.n)
                    for each in opened.lists:
                        made.update(
                            await self._verify(opened, each, judging, stop, tell, again=again)
                        )

            if opened.lists:
                Background(work).wait_stoppable(None, on_interrupt or _say_nothing)
        return tuple(made[key] for key in wanted.runs)

    def verify_forecast(
        self,
        runs: Sequence[Target],
        *,
        judge: Judges,
        reference: Target | Path,
        settings: VerifySettings = _USUAL,
        again: bool = False,
        max_connections: int | None = None,
    ) -> JudgingForecast:
        """What ``verify_runs`` would take; nobody is asked and nothing is kept."""
        from proofstone.stages.judging_forecast import forecast_of_questions  # noqa: PLC0415

        spec = _judges(judge)
        wanted = self._wanted(runs, reference, settings)
        against = wanted.against(self._bench_name(spec))
        whole = {} if again else self._whole(wanted, against)
        with self._opened(wanted, against, whole) as opened:

            async def work(stop: asyncio.Event) -> JudgingForecast:
                async with self._askers(list(spec.models), max_connections, stop) as askers:
                    questions = _Questions(
                        posed
                        for each in opened.lists
                        for posed in self._left(opened, each, again=again).posed()
                    )
                    seats = list(askers.values())
                    made = forecast_of_questions(questions.put(), 0, spec, seats)
                    return structs.replace(made, of=questions.n)

            return Background(work).wait()

    def _bench_name(self, spec: JudgeSpec) -> str:
        """How a panel is named in a scoring."""

        async def work(stop: asyncio.Event) -> str:
            async with self._askers(list(spec.models), None, stop) as askers:
                return Bench(spec, list(askers.values())).name

        return Background(work).wait()

    async def _verify(
        self,
        opened: _Opened,
        found: GatheredRuns,
        judging: Judging,
        stop: asyncio.Event,
        tell: Callable[[int], None],
        *,
        again: bool,
    ) -> dict[int, VerifiedRun]:
        store, method, against = self.store, opened.wanted.method, opened.against
        scorings = [
            open_verified(store, method, key, run, against, self.clock, again=again)
            for key, run in found.runs
        ]
        for scoring, (key, run) in zip(scorings, found.runs, strict=True):
            await fill_scoring(store, method, scoring, key, run)
        verifying = VerifyingList(store, method, found, scorings, opened.embedder)
        await verifying.perform(judging, stop, tell)
        return {
            key: self._made(scoring, run, against, found.n_of(group))
            for group, (scoring, (key, run)) in enumerate(zip(scorings, found.runs, strict=True))
        }

    def _made(self, scoring: int, run: Run, against: Against, wanted: int = 0) -> VerifiedRun:
        """What came of a run of which so many triples are in the sample; the scoring is whole where
        all of them have a verdict, and then counts as the newest."""
        counts = self.store.verified.counts(scoring)
        n = sum(sum(each.values()) for each in counts.values())
        if n >= wanted:
            self.store.scores.complete(scoring, self.clock.now())
        return VerifiedRun(
            run=f"run:{short(run.id)}",
            label=run_label(run),
            scoring=f"scoring:{short(self.store.scores.info(scoring).id)}",
            judges=against.judges,
            reference=against.reference,
            drawn=against.drawn,
            n=n,
            waiting=max(wanted - n, 0),
            counts=counts,
        )

    def _newest(self, wanted: _Wanted, against: Against, key: int) -> ScoringInfo | None:
        """The newest scoring of a run that holds what would be drawn now; None where there is
        none."""
        newest = self.store.scores.newest(key, wanted.method.scorer_version, against.label)
        if newest is None or not is_current(self.store, newest, key, wanted.runs[key]):
            return None
        return newest

    def _whole(self, wanted: _Wanted, against: Against) -> dict[int, VerifiedRun]:
        """The runs of which nothing is left to do, by their keys: nothing of them is read."""
        found = {key: self._newest(wanted, against, key) for key in wanted.runs}
        return {
            key: self._made(newest.key, wanted.runs[key], against)
            for key, newest in found.items()
            if newest is not None and newest.completed_at is not None
        }

    def _left(self, opened: _Opened, found: GatheredRuns, *, again: bool) -> VerifyingList:
        """What is left of a list, with the scorings that there are."""
        newest = [
            None if again else self._newest(opened.wanted, opened.against, key)
            for key, _run in found.runs
        ]
        scorings = [None if each is None else each.key for each in newest]
        method = opened.wanted.method
        return VerifyingList(self.store, method, found, scorings, opened.embedder)

    def _wanted(
        self, targets: Sequence[Target], reference: Target | Path, settings: VerifySettings
    ) -> _Wanted:
        found = [find_target(self.store, target, ("run",)) for target in targets]
        runs = dict(self.store.runs.run(each.id) for each in found)
        names = sorted({run.method for run in runs.values()})
        methods = [verifying_method(find_method(name)) for name in names]
        if not methods:
            raise BadUsage("no run is named", hint="proofstone list run")
        return _Wanted(methods[0], runs, find_reference(self.store, reference), settings)

    @contextmanager
    def _opened(
        self, wanted: _Wanted, against: Against, whole: Container[int]
    ) -> Iterator[_Opened]:
        """The runs that are not whole, read and drawn; all of them where the sample of one rests on
        what the others said."""
        left = {key: run for key, run in wanted.runs.items() if key not in whole}
        if left and wanted.settings.over == "elicited":
            left = dict(wanted.runs)
        by_list: dict[bytes, list[tuple[int, Run]]] = {}
        for key, run in left.items():
            by_list.setdefault(run.item_set, []).append((key, run))
        settings = wanted.settings
        with ExitStack() as stack:
            lists = [
                stack.enter_context(
                    gathered_runs(self.store, wanted.method, some, wanted.reference, settings)
                )
                for some in by_list.values()
            ]
            embedder = _embedder(settings) if lists else None
            yield _Opened(wanted, against, tuple(lists), embedder)

    def _verify_loads(self, spec: JudgeSpec, opened: _Opened) -> Loads:
        """What judges would be sent: what runs said of a list, and passages of the reference."""
        from proofstone.engines.models import leaves_to  # noqa: PLC0415

        to = [leaves_to(judge, self.config) for judge in spec.models]
        if not opened.lists or all(each is None or each.is_local for each in to):
            return {}
        origins: list[Origin] = [*opened.wanted.reference.origins()]
        for each in opened.lists:
            origins += self.store.origins.of_set(each.runs[0][1].item_set)
        posed = islice(
            (
                posed
                for each in opened.lists
                for posed in posed_questions(each.gathered, each.plan, opened.embedder)
            ),
            _TRIED,
        )
        sizes = [_characters(each.question) for each in posed if each.question is not None]
        about = {"about": sum(sizes) // len(sizes)} if sizes else {}
        texts = {opened.wanted.reference.id: (origins, opened.n)}
        return loads_of(spec, self.config, texts, **about)


class _Told:
    """Counts what is done, for whoever watches."""

    def __init__(self, watch: Watch | None, of: int) -> None:
        self._watch = watch
        self._of = of
        self._done = 0

    def __call__(self, more: int) -> None:
        self._done += more
        if self._watch is not None:
            self._watch(self._done, self._of)


class _Questions:
    """The questions among what is posed, all of which is counted."""

    def __init__(self, posed: Iterator[Posed]) -> None:
        self.n = 0
        self._posed = posed

    def put(self) -> Iterator[JudgeQuestion]:
        """Those that a judge would be asked."""
        for each in self._posed:
            self.n += 1
            if each.question is not None:
                yield each.question


def _judges(judge: Judges) -> JudgeSpec:
    spec = judge_spec(judge)
    if spec is None:
        raise BadUsage("nobody is to judge", hint="--judge PROVIDER/NAME")
    return spec


def _embedder(settings: VerifySettings) -> Embedder | None:
    if settings.way == "bm25":
        return None
    from proofstone.engines.retrieval import SentenceEncoder  # noqa: PLC0415

    return SentenceEncoder()


def _characters(question: JudgeQuestion) -> int:
    return len(question.task) + sum(len(each.text) for each in question.exhibits)


def _say_nothing() -> None:
    pass
