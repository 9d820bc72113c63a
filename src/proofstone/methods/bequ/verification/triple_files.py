"""Verify triples of a file: read, sample, judge, measure and write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from proofstone.documents.sources import bare_name
from proofstone.errors import BadUsage
from proofstone.files.tables import read_checked
from proofstone.files.write import check_target, write_rows
from proofstone.methods.bequ.records import (
    BREAKDOWNS,
    DIRECTIONS,
    Measured,
    Verified,
    VerifySettings,
)
from proofstone.methods.bequ.verification.measures import (
    Counted,
    RankedGroups,
    measure_all,
    measure_by,
    rank_by_f1,
    rankable,
    result_tables,
    verdict_row,
)
from proofstone.methods.bequ.verification.people import (
    Checked,
    Corrected,
    PeopleSaid,
    checked_of,
    correct_by_people,
    read_people,
)
from proofstone.methods.bequ.verification.plan import (
    Gathered,
    Spool,
    Told,
    make_plan,
    reference_files,
    take_file,
)
from proofstone.methods.bequ.verification.verify import (
    characters_of,
    embedding_model_of,
    posed_questions,
    question_size,
    verify,
)
from proofstone.models.budget import Budget
from proofstone.records.calls import CacheUse, Judge
from proofstone.records.verdicts import JudgeQuestion
from proofstone.run.judges import Judges, JudgeSpec, judge_spec
from proofstone.run.score import passing_workspace, with_judges
from proofstone.session.permits import AskEgress
from proofstone.session.progress import Background


class Example(Struct, frozen=True):
    """Hold an example of a judge prompt."""

    direction: str
    question: JudgeQuestion


class ToVerify(Struct, frozen=True, kw_only=True):
    """Hold the estimated work of a verification.

    It has the sampled triples, the number decided by rules in each direction, and the number and
    size (characters) of questions per judge. A few questions are included as examples.
    """

    told: Told
    precision: int
    recall: int
    by_rule: Mapping[str, int]
    questions: int
    characters: int
    examples: tuple[Example, ...] = ()


class Verification(Struct, frozen=True, kw_only=True):
    """Hold verification results.

    They are each group's measures, ranks of groups judged in both directions (``ranked.groups`` are
    places in ``measured``), breakdowns, and estimates corrected with human labels. ``waiting``
    triples were not judged, because no judge was set or reachable. ``troubles`` counts the unparsed
    verdicts by reason. ``people_elsewhere`` counts human labels of triples outside this sample.
    """

    told: Told
    settings: VerifySettings
    judge: str
    measured: tuple[Measured, ...]
    ranked: RankedGroups
    parts: tuple[Measured, ...]
    corrected: tuple[Corrected, ...]
    waiting: int
    troubles: Mapping[str, int]
    people_elsewhere: int


class OpenedTriples:
    """Hold both files, read and checked; see ``opened_triples``."""

    def __init__(
        self, gathered: Gathered, settings: VerifySettings, names: tuple[str, str]
    ) -> None:
        self._gathered = gathered
        self._settings = settings
        self._names = names
        self._embedding_model = embedding_model_of(settings)
        self.plan = make_plan(gathered, settings)

    @property
    def n(self) -> int:
        """Return the maximum number of triples that a judge sees."""
        return max(1, self.plan.n_given + self.plan.n_known * len(self.plan.recalled))

    def to_ask(self, show: int = 0) -> ToVerify:
        """Return the estimated work with the first ``show`` questions, without API calls."""
        sides: Counter[str] = Counter()
        by_rule: Counter[str] = Counter()
        characters = 0
        examples: list[Example] = []
        for posed in posed_questions(self._gathered, self.plan, self._embedding_model):
            sides[posed.direction] += 1
            if posed.overridden is not None:
                by_rule[posed.overridden.basis] += 1
            if posed.question is not None:
                characters += characters_of(posed.question)
                sides["asked"] += 1
                if len(examples) < show:
                    examples.append(Example(posed.direction, posed.question))
        return ToVerify(
            told=self._gathered.told(),
            precision=sides["precision"],
            recall=sides["recall"],
            by_rule=dict(sorted(by_rule.items())),
            questions=sides["asked"],
            characters=characters,
            examples=tuple(examples),
        )

    def verify(
        self,
        *,
        judge: Judges = (),
        people: Path | None = None,
        output: Path | None = None,
        tables: Path | None = None,
        folder: Path | None = None,
        ask_egress: AskEgress | None = None,
        max_connections: int | None = None,
        cache: CacheUse = "same",
        budget: Budget | str | None = None,
        watch: Callable[[int, int], None] | None = None,
    ) -> Verification:
        """Judge and measure the sample.

        Verdicts are written to the file ``output``, tables in BeQu's columns to the folder
        ``tables``. Judge responses are stored in the workspace of ``folder`` or its parents;
        without a workspace they are not stored. ``watch`` receives the number of processed triples
        and the total.

        Raises BadInput for invalid human labels, and a judge's error.
        """
        if output is not None:
            check_target(output)
        said = {} if people is None else read_checked(people, read_people)
        spec = judge_spec(judge)
        with Spool[str, Verified](Verified) as kept:
            found = _Found(said, kept)

            async def take(judge: Judge | None) -> None:
                pages = verify(self._gathered, self.plan, judge, self._embedding_model)
                async for page in pages:
                    found.add(page)
                    if watch is not None:
                        watch(len(found.counted), self.n)

            if spec is None:
                Background(lambda _stop: take(None)).wait()
            else:
                posed = posed_questions(self._gathered, self.plan, self._embedding_model)
                with passing_workspace(folder) as session:
                    session.ask_egress = ask_egress
                    with_judges(session,
                        spec, take, names=self._names, n=self.n, about=question_size(posed),
                        max_connections=max_connections,
                        cache=cache, budget=budget,
                    )  # fmt: skip
            made = self._measured(found, spec)
            if output is not None:
                write_rows(output, found.rows(self._gathered))
            if tables is not None:
                tables.mkdir(parents=True, exist_ok=True)
                detailed = {"results_detailed.csv": found.rows(self._gathered)}
                for name, rows in {**result_tables(made.measured, made.parts), **detailed}.items():
                    write_rows(tables / name, rows)
        return made

    def _measured(self, found: _Found, spec: JudgeSpec | None) -> Verification:
        groups, seed = self._gathered.groups, self._settings.seed
        entities = self._gathered.named
        parts = (
            part
            for name in BREAKDOWNS
            for part in measure_by(found.counted, groups, entities, name, seed=seed)
        )
        return Verification(
            told=self._gathered.told(),
            settings=self._settings,
            judge="" if spec is None else ", ".join(spec.models),
            measured=tuple(measure_all(found.counted, groups, seed=seed)),
            ranked=rank_by_f1(found.counted, rankable(found.counted, len(groups)), seed=seed),
            parts=tuple(parts),
            corrected=tuple(correct_by_people(found.checked, groups, seed=seed)),
            waiting=found.waiting,
            troubles=dict(found.troubles.most_common()),
            people_elsewhere=found.people_elsewhere,
        )


class _Found:
    """Count verdicts, and store them on disk for the file of verdicts."""

    def __init__(self, people: Mapping[str, PeopleSaid], kept: Spool[str, Verified]) -> None:
        self.counted = Counted()
        self.checked: list[Checked] = []
        self.waiting = 0
        self.troubles: Counter[str] = Counter()
        self._people = people
        self._seen: set[str] = set()
        self._kept = kept

    @property
    def people_elsewhere(self) -> int:
        """Return the number of human labels whose triples were not in the sample."""
        return len(self._people) - len(self._seen)

    def add(self, page: Sequence[Verified]) -> None:
        """Add a page of verdicts."""
        for each in page:
            self.counted.add(each)
            self._kept.add(each.direction, each)
            self.waiting += each.verdict.basis == "waiting"
            self.troubles.update([each.verdict.trouble] if each.verdict.trouble else [])
            if each.id in self._people:
                self._seen.add(each.id)
            if self._people and (checked := checked_of(each, self._people)) is not None:
                self.checked.append(checked)

    def rows(self, gathered: Gathered) -> Iterator[dict[str, Any]]:
        """Yield one row per triple, precision first, with human labels."""
        groups, entities = gathered.groups, gathered.named
        for direction in DIRECTIONS:
            for place in range(self._kept.count(direction)):
                found = self._kept.read(direction, place)
                row = verdict_row(found, groups, entities)
                said = self._people.get(found.id)
                if said is not None:
                    row["people"], row["is_true"] = said.label, said.is_true
                yield row


@contextmanager
def opened_triples(
    path: Path, reference: Path, settings: VerifySettings, *, encoding: str = ""
) -> Iterator[OpenedTriples]:
    """Read the triples of a file and their reference, sampled by ``settings``.

    The reference is a file of rows, or a folder of such files and of texts named for their
    entities. Raises the errors of reading files.
    """
    with Gathered.opened() as gathered:
        files = list(reference_files(reference))
        _refuse_own(path, files)
        for file in files:
            take_file(gathered.take_reference, file, encoding)
        model = bare_name(path)
        read_checked(
            path, lambda rows: gathered.take_elicited(rows, model=model), encoding=encoding
        )
        yield OpenedTriples(gathered, settings, (path.name, reference.name))


def _refuse_own(path: Path, references: Sequence[Path]) -> None:
    """Raise BadUsage if the triples are their own reference, since each would be entailed."""
    for file in references:
        is_same = file.resolve() == path.resolve()
        is_copy = file.stat().st_size == path.stat().st_size and not is_same
        if is_same or (is_copy and file.read_bytes() == path.read_bytes()):
            raise BadUsage(
                f"{path} is its own reference: every triple would be entailed",
                hint="choose another file: --reference FILE",
            )
