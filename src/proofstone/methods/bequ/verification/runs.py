"""Verify stored runs: score their triples against a reference."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, aclosing, contextmanager
from functools import lru_cache
from pathlib import Path

from msgspec import UNSET, Struct, structs

from proofstone.errors import BadUsage
from proofstone.method import Method, find_method
from proofstone.methods.bequ.entities import ElicitedTriple, KnownTriple
from proofstone.methods.bequ.records import (
    DIRECTIONS,
    Against,
    Direction,
    Group,
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
    embedding_model_of,
    posed_questions,
    question_size,
)
from proofstone.methods.bequ.views import triple_rows
from proofstone.models.budget import Budget, Spending
from proofstone.models.registry import leaves_to
from proofstone.records.calls import CacheUse, EmbeddingModel
from proofstone.records.ids import canonical_json, content_id, digest, short
from proofstone.records.items import Unit
from proofstone.records.runs import Run, Score, VerifiedRun, run_label
from proofstone.records.tables import Row
from proofstone.records.verdicts import JudgeQuestion, PanelVerdict
from proofstone.run.dry_run import forecast_of_questions
from proofstone.run.forecast import JudgingForecast
from proofstone.run.judges import Bench, Judges, JudgeSpec, judge_spec, loads_of, seated
from proofstone.run.scorings import Finished, Judging, fill_scoring, pages_to_score, unit_row
from proofstone.session.askers import session_askers
from proofstone.session.egress import Loads, let_out
from proofstone.session.progress import Background, start_spending
from proofstone.session.session import Session, Target, find_target
from proofstone.store.items import StoredItem
from proofstone.store.provenance import Origin
from proofstone.store.scores import ScoreRow, ScoringInfo
from proofstone.store.store import Store

# Stored runs on one list of entities, collected for verification against a reference.

_PAGE = 500


_LONGEST = 4_000  # characters of a passage; full articles are not stored with each triple


_RIGHT = ("entailment", "covered")


class SaidAt(Struct, frozen=True, gc=False, array_like=True):
    """Hold an elicited triple with the key of its item and its sample number."""

    item: int
    sample: int
    triple: ElicitedTriple


class ListedRuns:
    """Hold runs on one list with a reference, and the sample of their triples.

    A group is a run, by its place in ``runs``. Triples about non-existent entities are
    hallucinations in any case and are excluded.
    """

    def __init__(
        self,
        store: Store,
        method: Method,
        runs: Sequence[tuple[int, Run]],
        gathered: Gathered,
        said: Spool[tuple[int, int], SaidAt],
    ) -> None:
        self.runs = runs
        self.gathered = gathered
        self.plan: VerifyPlan
        self._store = store
        self._method = method
        self._said = said
        self._items: dict[int, StoredItem] = {}
        self._entities: dict[int, int] = {}  # entity by item key
        self._meaning: dict[int, list[int]] = defaultdict(list)  # item key by entity
        self._nonexistent: set[int] = set()
        self._known = lru_cache(maxsize=4)(lambda entity: known_triples(gathered, entity))
        # Item and sample of each run's first response about an entity.
        self._replied: list[dict[int, tuple[int, int]]] = [{} for _run in runs]

    def read(self, reference: Reference, settings: VerifySettings) -> None:
        """Read the reference, the list, and the responses, and sample the triples."""
        reference.take(self.gathered.take_reference)
        for page in self._store.items.pages(self.runs[0][1].item_set, _PAGE):
            for stored in page:
                facts = entity_facts(stored.loaded)
                self._items[stored.key] = stored
                if facts.is_nonexistent:
                    self._nonexistent.add(stored.key)
                entity = self.gathered.find_entity(
                    facts.name, facts.identity, facts.domain, facts.popularity
                )
                self._entities[stored.key] = entity
                self._meaning[entity].append(stored.key)
        for key, run in self.runs:
            group = self.gathered.begin_group(Group(run.respondent, run.prompt_method))
            for finished_page in pages_to_score(self._store, key, run, None):
                for finished in finished_page:
                    self._take_response(group, finished)
        asked = Asked(frozenset(self._entities.values()), self._replied)
        self.plan = make_plan(self.gathered, settings, asked)

    def _take_response(self, group: int, finished: Finished) -> None:
        item = finished.item.key
        entity = self._entities[item]
        self._replied[group].setdefault(entity, (item, finished.sample))
        if item in self._nonexistent:
            return
        rows = triple_rows(finished.item.loaded, finished.responses)
        place = f"response {finished.item.position}"
        self.gathered.take_elicited((Row(place, row) for row in rows), group=group)
        for row in rows:
            said = {name: row[name] for name in ElicitedTriple.__struct_fields__}
            self._said.add((group, entity), SaidAt(item, finished.sample, ElicitedTriple(**said)))

    def unit(
        self, direction: Direction, group: int, entity: int, sampled: Sampled
    ) -> tuple[int, Unit]:
        """Return the item key and the unit of a sampled triple.

        An elicited triple belongs to its own response, a reference triple to a sample of the
        responses about its entity.
        """
        payload: ElicitedTriple | KnownTriple
        if direction == "precision":
            said = self._said.read((group, entity), sampled.place)
            kind, payload, item, sample = TRIPLE, said.triple, said.item, said.sample
        else:
            item, sample = self._replied[group][entity]
            known = self._known(entity)[sampled.place]
            passage = known.passage
            kind = "bequ.known"
            payload = KnownTriple(
                predicate=known.predicate,
                object=known.object,
                passage=passage.text if len(passage.text) <= _LONGEST else "",
                source=passage.source,
                title=passage.title,
                url=passage.url,
                place=sampled.place,
            )
        loaded = self._items[item].loaded
        of_entity = (("entity", loaded.item.id),)
        unit = Unit(item=loaded, kind=kind, payload=payload, sample=sample, clusters=of_entity)
        return item, unit

    def posed(
        self, scorings: Sequence[int | None] = (), embedding_model: EmbeddingModel | None = None
    ) -> Iterator[Posed]:
        """Yield the sampled triples without a verdict in the scoring of each run (None: no
        scoring).
        """
        begun = [key for key in scorings if key is not None]
        if not self._store.scores.has_any(begun, DIRECTIONS):
            return posed_questions(self.gathered, self.plan, embedding_model)

        @lru_cache(maxsize=1)  # triples are ordered by entity
        def places(entity: int) -> set[tuple[int, str, bytes, int]]:
            items = self._meaning.get(entity, [])
            return self._store.scores.unit_places(begun, DIRECTIONS, items)

        def is_done(direction: Direction, group: int, entity: int, sampled: Sampled) -> bool:
            scoring = scorings[group]
            if scoring is None:
                return False
            _item, unit = self.unit(direction, group, entity, sampled)
            key = content_id("unit", [unit.kind, unit.payload])
            return (scoring, direction, key, unit.sample) in places(entity)

        return posed_questions(self.gathered, self.plan, embedding_model, is_done)

    async def perform(
        self,
        scorings: Sequence[int],
        embedding_model: EmbeddingModel | None,
        judging: Judging,
        stop: asyncio.Event,
        tell: Callable[[int], None],
    ) -> None:
        """Verify the remaining triples, page by page, until a judge fails or ``stop`` is set.

        ``tell`` receives the number of triples done with each page.
        """
        storing: list[asyncio.Task[None]] = []  # none yet, or the previous page
        posed = self.posed(scorings, embedding_model)
        async with aclosing(decide(posed, judging.judge)) as pages:
            async for page in pages:
                await asyncio.gather(*storing)
                store = asyncio.to_thread(self._store_page, scorings, page)
                storing = [asyncio.create_task(store)]
                tell(len(page))
                if stop.is_set() or judging.is_stopped():
                    break
        await asyncio.gather(*storing)

    def _store_page(self, scorings: Sequence[int], page: Sequence[Decided]) -> None:
        by_scoring: dict[int, list[ScoreRow]] = defaultdict(list)
        for each in page:
            if each.verdict.basis != "waiting":
                by_scoring[scorings[each.posed.group]].append(self._score_row(each))
        for scoring, rows in by_scoring.items():
            self._store.scores.add(scoring, rows)

    def _score_row(self, decided: Decided) -> ScoreRow:
        """Return the stored score of a verified triple: 1 if entailed or covered, otherwise 0.

        There is none if the judge's response has no valid label. The judges' responses and the
        evidence are stored with it; for a rule, only the evidence, if any.
        """
        posed, verdict, said = decided.posed, decided.verdict, decided.said
        item, unit = self.unit(posed.direction, posed.group, posed.entity, posed.sampled)
        rests_on = verdict.passage if verdict.passage.text else UNSET
        if said is not None:
            said = structs.replace(said, rests_on=rests_on)
        elif rests_on is not UNSET:
            said = PanelVerdict(state="decided", label=verdict.label, rests_on=rests_on)
        is_read = bool(verdict.label)
        score = Score(
            unit=0,
            measure=posed.direction,
            outcome="answered" if is_read else "unparsed",
            value=float(verdict.label in _RIGHT) if is_read else None,
            answer=verdict.label,
            basis=verdict.basis,
            flags=(f"sampled {posed.sampled.drawn}",) if posed.sampled.drawn else (),
            verdict=said,
        )
        return ScoreRow(unit_row(self._store, self._method, item, unit), unit.sample, score)


# A run's verified triples as a scoring: opened, filled, and complete once all are judged.
#
# It has the same scores as every scoring of the run, and one for each verified triple. Triples that
# wait for a judge have no score.

_USUAL = VerifySettings()


Watch = Callable[[int, int], None]


class _Opened(Struct, frozen=True):
    """Hold runs to verify, by key.

    ``whole`` runs are complete and are not read. The others were read and sampled, in one part per
    entry of ``lists``.
    """

    session: Session
    spec: JudgeSpec
    method: Method
    runs: Mapping[int, Run]
    reference: Reference
    against: Against
    whole: Mapping[int, VerifiedRun]
    lists: tuple[ListedRuns, ...]
    embedding_model: EmbeddingModel | None

    @property
    def n(self) -> int:
        """Return the number of triples of all samples."""
        return sum(each.plan.n_of(group) for each in self.lists for group in range(len(each.runs)))


def check_judged(run: Run) -> None:
    """Raise BadUsage for a run: without a reference, judges have nothing to decide."""
    name = f"run:{short(run.id)}"
    raise BadUsage(
        f"judges verify the triples of {name} against a reference, and none is set",
        hint=f"proofstone grade {name} --judge PROVIDER/NAME --reference BANK (made "
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
    """Verify a sample of the triples of runs in both directions against a reference.

    The reference is a bank from ``build reference``, a file or a folder. Each run's verdicts are a
    scoring of it, complete once none waits. The same call resumes an interrupted verification.
    Evaluated models are not called.

    ``watch`` receives the number of processed triples and the total. Raises BadUsage for runs
    without triples. Raises a judge's error after all its verdicts were stored.
    """
    with _opened(session, runs, judge, reference, settings, again=again) as opened:
        let_out(session, _verify_loads(opened))
        made, done = dict(opened.whole), 0

        def tell(more: int) -> None:
            nonlocal done
            done += more
            if watch is not None:
                watch(done, opened.n)

        async def work(stop: asyncio.Event) -> None:
            spec, spending = opened.spec, start_spending(session, budget)
            names = list(spec.models)
            async with (
                session_askers(session, names, max_connections, stop, cache, spending) as askers,
                seated(session.store, spec, askers, session.clock) as judging,
            ):
                for each in opened.lists:
                    scorings = [_begun(opened, key, again=again) for key, _run in each.runs]
                    for scoring, (key, run) in zip(scorings, each.runs, strict=True):
                        await fill_scoring(session.store, opened.method, scoring, key, run)
                    await each.perform(scorings, opened.embedding_model, judging, stop, tell)
                    for group, (key, run) in enumerate(each.runs):
                        wanted = each.plan.n_of(group)
                        made[key] = _made(session, scorings[group], run, opened.against, wanted)

        if opened.lists:
            Background(work).wait_stoppable(None, on_interrupt or (lambda: None))
    return tuple(made[key] for key in opened.runs)


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
    """Estimate the work of ``verify_runs`` without API calls or stored results."""
    with _opened(session, runs, judge, reference, settings, again=again) as opened:
        n = 0

        def questions() -> Iterator[JudgeQuestion]:
            """Count all sampled triples and return the questions for the judge."""
            nonlocal n
            for each in opened.lists:
                found = [None if again else _newest(opened, key) for key, _run in each.runs]
                scorings = [None if newest is None else newest.key for newest in found]
                for posed in each.posed(scorings, opened.embedding_model):
                    n += 1
                    if posed.question is not None:
                        yield posed.question

        async def work(stop: asyncio.Event) -> JudgingForecast:
            names = list(opened.spec.models)
            async with session_askers(session, names, max_connections, stop) as askers:
                slots = list(askers.values())
                made = forecast_of_questions(questions(), 0, opened.spec, slots)
                return structs.replace(made, of=n)

        return Background(work).wait()


@contextmanager
def _opened(
    session: Session,
    targets: Sequence[Target],
    judge: Judges,
    reference: Target | Path,
    settings: VerifySettings,
    *,
    again: bool,
) -> Iterator[_Opened]:
    """Read and sample the runs that are not complete.

    All runs are read if the sample of one depends on the others. Raises BadInput for a reference
    that cannot be read.
    """
    store, spec = session.store, judge_spec(judge)
    if spec is None:
        raise BadUsage("no judge is given", hint="--judge PROVIDER/NAME")
    found = [find_target(store, target, ("run",)) for target in targets]
    runs = dict(store.runs.run(each.id) for each in found)
    method = find_method(min(run.method for run in runs.values()))
    known_by = find_reference(store, reference)

    async def work(stop: asyncio.Event) -> str:
        """Return the panel's name in a scoring."""
        async with session_askers(session, list(spec.models), None, stop) as askers:
            return Bench(spec, list(askers.values())).name

    said = structs.asdict(settings)
    if settings.over == "elicited":  # by any of these runs: other runs sample from other entities
        ids = sorted(run.id for run in runs.values())
        said["over"] = f"elicited:{short(digest(canonical_json(ids)))}"
    against = Against(
        judges=Background(work).wait(),
        reference=known_by.label,
        questions=QUESTIONS_VERSION,
        **said,
    )
    opened = _Opened(session, spec, method, runs, known_by, against, {}, (), None)
    whole = {
        key: _made(session, newest.key, run, against)
        for key, run in runs.items()
        if not again
        and (newest := _newest(opened, key)) is not None
        and newest.completed_at is not None
    }
    left = {key: run for key, run in runs.items() if key not in whole}
    if left and settings.over == "elicited":
        left = dict(runs)
    by_list: dict[bytes, list[tuple[int, Run]]] = defaultdict(list)
    for key, run in left.items():
        by_list[run.item_set].append((key, run))
    with ExitStack() as stack:
        lists = []
        for some in by_list.values():
            gathered = stack.enter_context(Gathered.opened())
            said_at = stack.enter_context(Spool[tuple[int, int], SaidAt](SaidAt))
            lists.append(ListedRuns(store, method, some, gathered, said_at))
            lists[-1].read(known_by, settings)
        embedding_model = embedding_model_of(settings) if lists else None
        yield structs.replace(
            opened, whole=whole, lists=tuple(lists), embedding_model=embedding_model
        )


def _newest(opened: _Opened, key: int) -> ScoringInfo | None:
    """Return the newest scoring of a run with this sample, if any.

    None if the run has more responses now than when its triples were sampled.
    """
    store, run = opened.session.store, opened.runs[key]
    newest = store.scores.newest(key, opened.method.scorer_version, opened.against.label)
    if newest is None or not store.scores.has_any([newest.key], DIRECTIONS):
        return newest
    n_done = store.runs.count_done(key, run.last_step)
    return newest if store.scores.n_scored(newest.key) >= n_done else None


def _begun(opened: _Opened, key: int, *, again: bool) -> int:
    """Return the scoring for a run's verdicts: the newest of this label, or a new one."""
    newest = None if again else _newest(opened, key)
    if newest is not None:
        return newest.key
    session, method, against = opened.session, opened.method, opened.against
    scores, version = session.store.scores, method.scorer_version
    settings, now = canonical_json(against), session.clock.now()
    made = scores.begin(key, opened.runs[key], version, against.label, now, settings)
    base = scores.newest(key, version, "")
    if base is not None:  # parsed responses are already stored; only the rest is added
        scores.copy(base.key, made)
    return made


def _made(
    session: Session, scoring: int, run: Run, against: Against, wanted: int = 0
) -> VerifiedRun:
    """Return the result for a run with this many sampled triples.

    The scoring is complete if all have a verdict, and then counts as the newest.
    """
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


def _verify_loads(opened: _Opened) -> Loads:
    """Describe data sent to judges: elicited triples of a list, and passages of the reference."""
    session, spec, reference = opened.session, opened.spec, opened.reference
    to = [leaves_to(judge, session.config) for judge in spec.models]
    if not opened.lists or all(each is None or each.is_local for each in to):
        return {}
    origins: list[Origin] = [*reference.origins()]
    for each in opened.lists:
        origins += session.store.origins.of_set(each.runs[0][1].item_set)
    posed = (
        posed
        for each in opened.lists
        for posed in each.posed(embedding_model=opened.embedding_model)
    )
    size = question_size(posed)
    about = {"about": size} if size else {}
    return loads_of(spec, session.config, {reference.id: (origins, opened.n)}, **about)
