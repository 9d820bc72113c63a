"""Verifying stored runs: their triples are scored against a reference."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import ExitStack, aclosing, contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path

from msgspec import UNSET, Struct, structs

from proofstone.errors import BadUsage
from proofstone.method import Method, find_method
from proofstone.methods.bequ.entities import ElicitedTriple, KnownTriple
from proofstone.methods.bequ.records import (
    DIRECTIONS,
    Against,
    Direction,
    GivenTriple,
    Group,
    ReferenceRow,
    ReferenceTriple,
    Verdict,
    VerifySettings,
)
from proofstone.methods.bequ.score import TRIPLE
from proofstone.methods.bequ.verification.plan import (
    Asked,
    Gathered,
    Reference,
    Sampled,
    Spool,
    VerifyPlan,
    find_reference,
    known_triples,
    make_plan,
)
from proofstone.methods.bequ.verification.stored_verdicts import counts_of, entity_facts
from proofstone.methods.bequ.verification.verify import (
    QUESTIONS_VERSION,
    Decided,
    Posed,
    decide,
    posed_questions,
)
from proofstone.methods.bequ.views import triple_rows
from proofstone.models.budget import Budget, Spending
from proofstone.models.registry import leaves_to
from proofstone.records.calls import CacheUse, Clock, Embedder
from proofstone.records.ids import canonical_json, content_id, digest, short
from proofstone.records.items import LoadedItem, Unit
from proofstone.records.runs import Run, Score, VerifiedRun, run_label
from proofstone.records.tables import Row
from proofstone.records.verdicts import JudgeQuestion, PanelVerdict
from proofstone.run.dry_run import forecast_of_questions
from proofstone.run.forecast import JudgingForecast
from proofstone.run.judges import Bench, Judges, JudgeSpec, judge_spec, loads_of, seated
from proofstone.run.scorings import Finished, Judging, fill_scoring, pages_to_score, unit_row
from proofstone.search.index import SentenceEncoder
from proofstone.session.askers import session_askers
from proofstone.session.costs import start_spending
from proofstone.session.egress import Loads, let_out
from proofstone.session.progress import Background
from proofstone.session.session import Session, Target, find_target
from proofstone.store.items import StoredItem
from proofstone.store.provenance import Origin
from proofstone.store.scores import ScoreRow, ScoringInfo
from proofstone.store.store import Store

# A run's triples verified as a scoring of it: opened, filled, and complete once all are judged.
#
# It holds what every scoring of the run holds, and beside it one score for each verified triple,
# with what judges said and the text that it rests on. What waits for a judge has none.

_RIGHT = ("entailment", "covered")


class VerifiedTriple(Struct, frozen=True, gc=False, kw_only=True):
    """A triple of the item with the key ``item``, as a unit, with its verdict. ``drawn`` is its
    number in the order of drawing, 0 where all are taken."""

    direction: Direction
    item: int
    unit: Unit
    drawn: int
    verdict: Verdict
    said: PanelVerdict | None


def open_verified(
    store: Store,
    method: Method,
    key: int,
    run: Run,
    against: Against,
    clock: Clock,
    *,
    again: bool = False,
) -> int:
    """The scoring that the verdicts on a run go to: the newest of this label, or a new one, also
    where the run has more replies by now than were there when its triples were drawn."""
    newest = store.scores.newest(key, method.scorer_version, against.label)
    if newest is not None and not again and is_current(store, newest, key, run):
        return newest.key
    settings = canonical_json(against)
    made = store.scores.begin(key, run, method.scorer_version, against.label, clock.now(), settings)
    base = store.scores.newest(key, method.scorer_version, "")
    if base is not None:  # what was read of the replies is there already: the rest is added
        store.scores.copy(base.key, made)
    return made


def is_current(store: Store, scoring: ScoringInfo, key: int, run: Run) -> bool:
    """Whether what a scoring holds is of the sample that would be drawn now."""
    if not store.scores.has_any([scoring.key], DIRECTIONS):
        return True
    return store.scores.n_scored(scoring.key) >= store.runs.count_done(key, run.last_step)


def verified_row(store: Store, method: Method, found: VerifiedTriple) -> ScoreRow:
    """The score of a verified triple as it is stored: 1 where it is entailed or covered, else 0;
    none where the judge's reply held no label."""
    verdict = found.verdict
    is_read = bool(verdict.label)
    score = Score(
        unit=0,
        measure=found.direction,
        outcome="answered" if is_read else "unparsed",
        value=float(verdict.label in _RIGHT) if is_read else None,
        answer=verdict.label,
        basis=verdict.basis,
        flags=(f"drawn {found.drawn}",) if found.drawn else (),
        verdict=_with_passage(found.said, verdict),
    )
    return ScoreRow(unit_row(store, method, found.item, found.unit), found.unit.sample, score)


def _with_passage(said: PanelVerdict | None, verdict: Verdict) -> PanelVerdict | None:
    """What judges said with the text that it rests on; of a rule that text alone, if any."""
    rests_on = verdict.passage if verdict.passage.text else UNSET
    if said is not None:
        return structs.replace(said, rests_on=rests_on)
    if rests_on is UNSET:
        return None
    return PanelVerdict(state="decided", label=verdict.label, rests_on=rests_on)


# Stored runs on one list of entities, gathered to be verified: triples beside a reference.

_PAGE = 500


class SaidAt(Struct, frozen=True, gc=False, array_like=True):
    """A triple as it was said, and where: the key of its item, and the sample."""

    item: int
    sample: int
    triple: ElicitedTriple


Said = Spool[tuple[int, int], SaidAt]


class GatheredRuns:
    """Runs on one list with a reference, and the sample of their triples. A group is a run, by its
    place in ``runs``. What is said of entities that do not exist is made up whatever it says: it is
    not among them."""

    def __init__(self, runs: Sequence[tuple[int, Run]], gathered: Gathered, said: Said) -> None:
        self.runs = runs
        self.gathered = gathered
        self.plan: VerifyPlan
        self._said = said
        self._items: dict[int, StoredItem] = {}
        self._entities: dict[int, int] = {}  # the entity that an item means, by the item's key
        self._meaning: dict[int, list[int]] = {}  # the other way
        self._fictional: set[int] = set()
        self._known = lru_cache(maxsize=4)(lambda entity: known_triples(gathered, entity))
        # Of each run the item and sample of the first reply about an entity.
        self._replied: list[dict[int, tuple[int, int]]] = [{} for _run in runs]

    def n_of(self, group: int) -> int:
        """How many triples of a run are in the sample, of both directions."""
        return self.plan.n_of(group)

    def items_of(self, entity: int) -> list[int]:
        """The keys of the items that mean an entity."""
        return self._meaning.get(entity, [])

    def unit(self, direction: Direction, group: int, entity: int, sampled: Sampled) -> Unit:
        """The unit of a triple of the sample."""
        return self._found(direction, group, entity, sampled)[1]

    def verified(self, decided: Decided) -> VerifiedTriple:
        """A triple with its verdict, as it is scored."""
        posed = decided.posed
        item, unit = self._found(posed.direction, posed.group, posed.entity, posed.sampled)
        return VerifiedTriple(
            direction=posed.direction,
            item=item,
            unit=unit,
            drawn=posed.sampled.drawn,
            verdict=decided.verdict,
            said=decided.said,
        )

    def take(self, store: Store, reference: Reference) -> None:
        """Reads the reference, the list, and what the runs said."""
        reference.take(self.gathered.take_reference)
        for page in store.items.pages(self.runs[0][1].item_set, _PAGE):
            for stored in page:
                facts = entity_facts(stored.loaded)
                self._items[stored.key] = stored
                if facts.is_fictional:
                    self._fictional.add(stored.key)
                entity = self.gathered.find_entity(
                    facts.name, facts.identity, facts.domain, facts.popularity
                )
                self._entities[stored.key] = entity
                self._meaning.setdefault(entity, []).append(stored.key)
        for key, run in self.runs:
            group = self.gathered.begin_group(Group(run.respondent, run.way))
            for finished_page in pages_to_score(store, key, run, None):
                for finished in finished_page:
                    self._take_reply(group, finished)

    def draw(self, settings: VerifySettings) -> None:
        """Draws the sample."""
        asked = Asked(frozenset(self._entities.values()), self._replied)
        self.plan = make_plan(self.gathered, settings, asked)

    def _take_reply(self, group: int, finished: Finished) -> None:
        item = finished.item.key
        entity = self._entities[item]
        self._replied[group].setdefault(entity, (item, finished.sample))
        if item in self._fictional:
            return
        rows = triple_rows(finished.item.loaded, finished.replies)
        self.gathered.take_elicited(
            (Row(f"reply {finished.item.position}", row) for row in rows), group=group
        )
        for row in rows:
            triple = ElicitedTriple(
                subject=row["subject"], predicate=row["predicate"], object=row["object"]
            )
            self._said.add((group, entity), SaidAt(item, finished.sample, triple))

    def _found(
        self, direction: Direction, group: int, entity: int, sampled: Sampled
    ) -> tuple[int, Unit]:
        if direction == "precision":
            said = self._said.read((group, entity), sampled.place)
            loaded = self._items[said.item].loaded
            return said.item, said_unit(loaded, said.triple, said.sample)
        item, sample = self._replied[group][entity]
        known = self._known(entity)[sampled.place]
        loaded = self._items[item].loaded
        return item, known_unit(loaded, known, sampled.place, sample)


@contextmanager
def gathered_runs(
    store: Store,
    method: Method,
    runs: Sequence[tuple[int, Run]],
    reference: Reference,
    settings: VerifySettings,
) -> Iterator[GatheredRuns]:
    """Runs of one list, read and drawn. Raises BadInput for a reference that cannot be read."""
    with ExitStack() as stack:
        given = stack.enter_context(Spool[tuple[int, int], GivenTriple](GivenTriple))
        known = stack.enter_context(Spool[int, ReferenceRow](ReferenceRow))
        said = stack.enter_context(Said(SaidAt))
        found = GatheredRuns(runs, Gathered(given, known), said)
        found.take(store, reference)
        found.draw(settings)
        yield found


# The runs on one list at work: what their scorings lack is posed, judged and stored.


class VerifyingList:
    """Gathered runs and the scoring of each (None: there is none yet). ``waiting`` counts by run
    the triples that were left without a verdict."""

    def __init__(
        self,
        store: Store,
        method: Method,
        found: GatheredRuns,
        scorings: Sequence[int | None],
        embedder: Embedder | None = None,
    ) -> None:
        self.found = found
        self.waiting: Counter[int] = Counter()
        self._store = store
        self._method = method
        self._scorings = scorings
        self._embedder = embedder
        self._places = _Places(store, found, scorings)

    def posed(self) -> Iterator[Posed]:
        """What of the sample has no verdict yet."""
        found = self.found
        return posed_questions(found.gathered, found.plan, self._embedder, self._places.has)

    async def perform(
        self, judging: Judging, stop: asyncio.Event, tell: Callable[[int], None]
    ) -> None:
        """Verifies it, page by page, until a judge cannot be asked any more or ``stop`` is set;
        ``tell`` hears how many more are done."""
        storing: list[asyncio.Task[None]] = []  # none yet, or that of the page before
        async with aclosing(decide(self.posed(), judging.judge)) as pages:
            async for page in pages:
                await asyncio.gather(*storing)
                storing = [asyncio.create_task(asyncio.to_thread(self._store_page, page))]
                tell(len(page))
                if stop.is_set() or judging.is_stopped():
                    break
        await asyncio.gather(*storing)

    def _store_page(self, page: Sequence[Decided]) -> None:
        by_group: dict[int, list[Decided]] = {}
        for each in page:
            if each.verdict.basis == "waiting":
                self.waiting[each.posed.group] += 1
            else:
                by_group.setdefault(each.posed.group, []).append(each)
        for group, decided in by_group.items():
            scoring = self._scorings[group]
            if scoring is not None:
                rows = [
                    verified_row(self._store, self._method, self.found.verified(each))
                    for each in decided
                ]
                self._store.scores.add(scoring, rows)


class _Places:
    """Which triples of the sample have a verdict already: looked up entity by entity."""

    def __init__(self, store: Store, found: GatheredRuns, scorings: Sequence[int | None]) -> None:
        self._store = store
        self._found = found
        self._scorings = scorings
        begun = [key for key in scorings if key is not None]
        self._begun = begun if store.scores.has_any(begun, DIRECTIONS) else []
        self._entity = -1
        self._places: set[tuple[int, str, bytes, int]] = set()

    def has(self, direction: Direction, group: int, entity: int, sampled: Sampled) -> bool:
        """Whether a triple of the sample has its verdict."""
        scoring = self._scorings[group]
        if scoring is None or scoring not in self._begun:
            return False
        if entity != self._entity:
            items = self._found.items_of(entity)
            self._entity = entity
            self._places = self._store.scores.unit_places(self._begun, DIRECTIONS, items)
        unit = self._found.unit(direction, group, entity, sampled)
        key = content_id("unit", [unit.kind, unit.payload])
        return (scoring, direction, key, unit.sample) in self._places


_TRIED = 64  # questions by which the size of all is judged


_USUAL = VerifySettings()


Watch = Callable[[int, int], None]


class _Wanted(Struct, frozen=True):
    """What is to be verified, before anything of it is read: runs by their keys."""

    method: Method
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


def check_judged(run: Run) -> None:
    """Raises BadUsage for a run: judges decide nothing of it without a reference."""
    name = f"run:{short(run.id)}"
    raise BadUsage(
        f"judges verify what {name} volunteered against a reference, and none is named",
        hint=f"proofstone score {name} --judge PROVIDER/NAME --reference BANK (made "
        "by proofstone build reference ENTITIES --corpus ... -m PROVIDER/NAME; or a file)",
    )


def verify_runs(
    session: Session,
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
    wanted = _wanted(session, runs, reference, settings)
    against = wanted.against(_bench_name(session, spec))
    made = {} if again else _whole(session, wanted, against)
    with _opened(session, wanted, against, made) as opened:
        let_out(session, _verify_loads(session, spec, opened))

        async def work(stop: asyncio.Event) -> None:
            spending, names = start_spending(session, budget), list(spec.models)
            async with (
                session_askers(session, names, max_connections, stop, cache, spending) as askers,
                seated(session.store, spec, askers, session.clock) as judging,
            ):
                tell = _Told(watch, opened.n)
                for each in opened.lists:
                    made.update(
                        await _verify(session, opened, each, judging, stop, tell, again=again)
                    )

        if opened.lists:
            Background(work).wait_stoppable(None, on_interrupt or _say_nothing)
    return tuple(made[key] for key in wanted.runs)


def verify_forecast(
    session: Session,
    runs: Sequence[Target],
    *,
    judge: Judges,
    reference: Target | Path,
    settings: VerifySettings = _USUAL,
    again: bool = False,
    max_connections: int | None = None,
) -> JudgingForecast:
    """What ``verify_runs`` would take; nobody is asked and nothing is kept."""

    spec = _judges(judge)
    wanted = _wanted(session, runs, reference, settings)
    against = wanted.against(_bench_name(session, spec))
    whole = {} if again else _whole(session, wanted, against)
    with _opened(session, wanted, against, whole) as opened:

        async def work(stop: asyncio.Event) -> JudgingForecast:
            async with session_askers(session, list(spec.models), max_connections, stop) as askers:
                questions = _Questions(
                    posed
                    for each in opened.lists
                    for posed in _left(session, opened, each, again=again).posed()
                )
                seats = list(askers.values())
                made = forecast_of_questions(questions.put(), 0, spec, seats)
                return structs.replace(made, of=questions.n)

        return Background(work).wait()


def _bench_name(session: Session, spec: JudgeSpec) -> str:
    """How a panel is named in a scoring."""

    async def work(stop: asyncio.Event) -> str:
        async with session_askers(session, list(spec.models), None, stop) as askers:
            return Bench(spec, list(askers.values())).name

    return Background(work).wait()


async def _verify(
    session: Session,
    opened: _Opened,
    found: GatheredRuns,
    judging: Judging,
    stop: asyncio.Event,
    tell: Callable[[int], None],
    *,
    again: bool,
) -> dict[int, VerifiedRun]:
    store, method, against = session.store, opened.wanted.method, opened.against
    scorings = [
        open_verified(store, method, key, run, against, session.clock, again=again)
        for key, run in found.runs
    ]
    for scoring, (key, run) in zip(scorings, found.runs, strict=True):
        await fill_scoring(store, method, scoring, key, run)
    verifying = VerifyingList(store, method, found, scorings, opened.embedder)
    await verifying.perform(judging, stop, tell)
    return {
        key: _made(session, scoring, run, against, found.n_of(group))
        for group, (scoring, (key, run)) in enumerate(zip(scorings, found.runs, strict=True))
    }


def _made(
    session: Session, scoring: int, run: Run, against: Against, wanted: int = 0
) -> VerifiedRun:
    """What came of a run of which so many triples are in the sample; the scoring is whole where
    all of them have a verdict, and then counts as the newest."""
    counts = counts_of(session.store, scoring)
    n = sum(sum(each.values()) for each in counts.values())
    if n >= wanted:
        session.store.scores.complete(scoring, session.clock.now())
    return VerifiedRun(
        run=f"run:{short(run.id)}",
        label=run_label(run),
        scoring=f"scoring:{short(session.store.scores.info(scoring).id)}",
        judges=against.judges,
        reference=against.reference,
        drawn=against.drawn,
        n=n,
        waiting=max(wanted - n, 0),
        counts=counts,
    )


def _newest(session: Session, wanted: _Wanted, against: Against, key: int) -> ScoringInfo | None:
    """The newest scoring of a run that holds what would be drawn now; None where there is
    none."""
    newest = session.store.scores.newest(key, wanted.method.scorer_version, against.label)
    if newest is None or not is_current(session.store, newest, key, wanted.runs[key]):
        return None
    return newest


def _whole(session: Session, wanted: _Wanted, against: Against) -> dict[int, VerifiedRun]:
    """The runs of which nothing is left to do, by their keys: nothing of them is read."""
    found = {key: _newest(session, wanted, against, key) for key in wanted.runs}
    return {
        key: _made(session, newest.key, wanted.runs[key], against)
        for key, newest in found.items()
        if newest is not None and newest.completed_at is not None
    }


def _left(session: Session, opened: _Opened, found: GatheredRuns, *, again: bool) -> VerifyingList:
    """What is left of a list, with the scorings that there are."""
    newest = [
        None if again else _newest(session, opened.wanted, opened.against, key)
        for key, _run in found.runs
    ]
    scorings = [None if each is None else each.key for each in newest]
    method = opened.wanted.method
    return VerifyingList(session.store, method, found, scorings, opened.embedder)


def _wanted(
    session: Session, targets: Sequence[Target], reference: Target | Path, settings: VerifySettings
) -> _Wanted:
    found = [find_target(session.store, target, ("run",)) for target in targets]
    runs = dict(session.store.runs.run(each.id) for each in found)
    method = find_method(min(run.method for run in runs.values()))
    return _Wanted(method, runs, find_reference(session.store, reference), settings)


@contextmanager
def _opened(
    session: Session, wanted: _Wanted, against: Against, whole: Container[int]
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
                gathered_runs(session.store, wanted.method, some, wanted.reference, settings)
            )
            for some in by_list.values()
        ]
        embedder = _embedder(settings) if lists else None
        yield _Opened(wanted, against, tuple(lists), embedder)


def _verify_loads(session: Session, spec: JudgeSpec, opened: _Opened) -> Loads:
    """What judges would be sent: what runs said of a list, and passages of the reference."""

    to = [leaves_to(judge, session.config) for judge in spec.models]
    if not opened.lists or all(each is None or each.is_local for each in to):
        return {}
    origins: list[Origin] = [*opened.wanted.reference.origins()]
    for each in opened.lists:
        origins += session.store.origins.of_set(each.runs[0][1].item_set)
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
    return loads_of(spec, session.config, texts, **about)


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

    return SentenceEncoder()


def _characters(question: JudgeQuestion) -> int:
    return len(question.task) + sum(len(each.text) for each in question.exhibits)


def _say_nothing() -> None:
    pass


_LONGEST = 4_000  # characters of a passage; a whole article is not kept with each of its triples


def said_unit(item: LoadedItem, triple: ElicitedTriple, sample: int) -> Unit:
    """The unit of a triple that was said of an entity."""
    return Unit(item=item, kind=TRIPLE, payload=triple, sample=sample, clusters=_clusters(item))


def known_unit(item: LoadedItem, known: ReferenceTriple, place: int, sample: int) -> Unit:
    """The unit of a reference triple of an entity, looked for in a sample of its replies."""
    passage = known.passage
    payload = KnownTriple(
        predicate=known.predicate,
        object=known.object,
        passage=passage.text if len(passage.text) <= _LONGEST else "",
        source=passage.source,
        title=passage.title,
        url=passage.url,
        place=place,
    )
    return Unit(item=item, kind=KNOWN, payload=payload, sample=sample, clusters=_clusters(item))


def _clusters(item: LoadedItem) -> tuple[tuple[str, bytes], ...]:
    return (("entity", item.item.id),)


KNOWN = "bequ.known"
