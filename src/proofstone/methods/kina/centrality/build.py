"""Build a representative set: ``build representative-set`` (appendix B).

Models are asked first, once a question; then the selection computes from what they said, and from
the experts' prototypes and labels. Changed thresholds or labels repeat the computation alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, structs

from proofstone.errors import BadInput, BadUsage, CallFailed, Problem
from proofstone.judging.difficulty import (
    DifficultyRule,
    ask_members,
    decide_difficulty,
    filtered_roles,
)
from proofstone.method import read_asked
from proofstone.methods.kina.candidates import Candidate, candidates
from proofstone.methods.kina.centrality.labels import (
    ItemLabel,
    PairLabel,
    read_item_labels,
    read_pair_labels,
)
from proofstone.methods.kina.centrality.pairs import embedded_text
from proofstone.methods.kina.centrality.prototype import Prototype, read_prototypes
from proofstone.methods.kina.centrality.representatives import (
    REASONS,
    Discipline,
    ForPeople,
    Report,
    represent,
)
from proofstone.methods.kina.centrality.settings import Settings, settings_of
from proofstone.methods.kina.centrality.signature import Described, recheck_step, signature_step
from proofstone.methods.kina.centrality.support import Pool
from proofstone.methods.kina.centrality.tables import report_tables
from proofstone.methods.kina.label_rows import whole_id
from proofstone.methods.kina.panel import CONFIG, asked_of, rate
from proofstone.records.builds import (
    BatchRows,
    BatchStep,
    BuildTables,
    Drop,
    Kept,
    Pipeline,
    Step,
    StepBuilder,
    StepContext,
    slots_of,
)
from proofstone.records.ids import digest
from proofstone.records.knowledge import BuiltFact, Role

_ASKED = read_asked("proofstone.methods.kina", "representative_set")
_FILES = ("prototype", "item_labels", "pair_labels")


class Representative(Struct, frozen=True, kw_only=True):
    """A chosen question, with its place in the order of choice from 1, and its marginal gain.

    The first one of a discipline carries the ``report`` on it, the first one of all carries the
    disciplines that are ``left`` to people.
    """

    candidate: Candidate
    place: int
    gain: float
    report: Report | None = None
    left: tuple[ForPeople, ...] = ()


class _Experts(Struct, frozen=True):
    """What experts fixed, with the whole ids of questions."""

    prototypes: Mapping[str, Prototype]
    items: Sequence[ItemLabel]
    pairs: Sequence[PairLabel]


def _rows(inputs: Sequence[str], params: Mapping[str, Any]) -> Iterator[Candidate]:
    """Yield the questions of files or banks, then check that labels and anchors name them."""
    disciplines: dict[str, str] = {}
    for row in candidates(inputs, params):
        disciplines[row.fact().id.hex()] = row.stratum.discipline.casefold()
        yield row
    _read(params, disciplines, whole=True)


def _read(params: Mapping[str, Any], disciplines: Mapping[str, str], *, whole: bool) -> _Experts:
    """Return the experts' files over these ids (with their disciplines).

    Anchors and labels of other questions are wrong if the pool is ``whole``, and else left out: an
    earlier step dropped them. Raises BadInput.
    """
    known = sorted(disciplines)
    prototypes = read_prototypes(Path(params["prototype"]))
    problems = []
    for name, each in prototypes.items():
        found = [whole_id(anchor, known) for anchor in each.lists.anchors]
        problems += [
            Problem(f"anchors of {each.discipline}", f"{anchor!r} is not a question of the pool")
            for anchor, identity in zip(each.lists.anchors, found, strict=True)
            if (not identity and whole) or (identity and disciplines[identity] != name)
        ]
    pairs = read_pair_labels(Path(params["pair_labels"]), known, whole=whole)
    problems += [
        Problem(params["pair_labels"], f"{each.id} and {each.other} are of two disciplines")
        for each in pairs
        if disciplines[each.id] != disciplines[each.other]
    ]
    if problems:
        raise BadInput("The experts' files do not fit the questions.", problems)
    items = read_item_labels(Path(params["item_labels"]), known, whole=whole)
    return _Experts(prototypes, items, pairs)


def difficulty_step(models: Mapping[str, str]) -> Step:
    """Return the step that asks a panel, and notes the share that answers incorrectly."""
    slots = slots_of("panel", models)
    rule = DifficultyRule(len(slots), 1)

    async def ask(row: Described, context: StepContext) -> Kept:
        messages, oracle = asked_of(row.candidate)
        calls = {
            model: partial(context.calls[slot], "panel", messages, oracle=oracle)
            for slot, model in slots.items()
        }
        answers = await ask_members(calls, lambda response: rate(row.candidate, response, context))
        decision = decide_difficulty(answers, rule)
        if decision.missing:
            failed = next(answer for answer in answers if answer.state == "failed")
            raise CallFailed(failed.trouble, f"panel member {failed.member} gave no answer")
        return structs.replace(row, wrong=decision.wrong / rule.n)

    return Step(
        name="difficulty", version=1, takes=Described, work=ask, config=CONFIG,
        asks=tuple(slots),
    )  # fmt: skip


def selection_step(params: Mapping[str, Any], settings: Settings) -> BatchStep:
    """Return the step that chooses the questions of each discipline."""

    def choose(rows: BatchRows, context: StepContext) -> Mapping[int, Kept]:
        every: list[Described] = list(rows)
        ids = [row.candidate.fact().id.hex() for row in every]
        experts = _read(
            params,
            {
                identity: row.candidate.stratum.discipline.casefold()
                for identity, row in zip(ids, every, strict=True)
            },
            whole=False,
        )
        made: dict[int, Kept] = {}
        left: list[ForPeople] = []
        for discipline, places in _disciplines(every, ids, experts, params, context):
            chosen = represent(
                discipline, settings, seed=context.seed, sensitivity=params["sensitivity"] == "yes"
            )
            if chosen.found.empty:
                left.append(ForPeople(discipline.name, len(places), chosen.found.empty))
            made |= {places[at]: Drop(*why) for at, why in chosen.dropped.items()}
            for number, (at, gain) in enumerate(
                zip(chosen.places, chosen.gains, strict=True), start=1
            ):
                made[places[at]] = Representative(
                    candidate=every[places[at]].candidate, place=number, gain=gain,
                    report=chosen.report if number == 1 else None,
                )  # fmt: skip
        for place, kept in made.items():
            if isinstance(kept, Representative):
                made[place] = structs.replace(kept, left=tuple(left))
                break
        return made

    files = {name: digest(Path(params[name]).read_bytes()).hex() for name in _FILES}
    return BatchStep(
        name="selection",
        version=2,
        takes=Described,
        work=choose,
        reasons=REASONS,
        config={
            "settings": settings, "files": files, "size": params["size"],
            "sensitivity": params["sensitivity"],
        },
        reads=("embeddings",),
        draws=True,
    )  # fmt: skip


def _disciplines(
    every: Sequence[Described],
    ids: Sequence[str],
    experts: _Experts,
    params: Mapping[str, Any],
    context: StepContext,
) -> Iterator[tuple[Discipline, list[int]]]:
    """Yield each discipline with the places of its questions, in the order of their ids."""
    if context.embedding is None:
        raise ValueError("the step reads no embeddings")
    of: dict[str, list[int]] = {}
    for place in sorted(range(len(every)), key=ids.__getitem__):
        of.setdefault(every[place].candidate.stratum.discipline.casefold(), []).append(place)
    for name, places in sorted(of.items()):
        own = [ids[place] for place in places]
        prototype = experts.prototypes[name]
        rows = tuple(every[place] for place in places)
        vectors = context.embedding.embed([embedded_text(row) for row in rows])
        anchors = sorted({whole_id(each, own) for each in prototype.lists.anchors} - {""})
        weights = {whole_id(each, own): pi for each, pi in prototype.anchor_weights.items()}
        pool = Pool(
            ids=tuple(own),
            rows=rows,
            vectors=np.asarray(vectors, dtype=np.float64),
            prototype=structs.replace(prototype, anchor_weights=weights),
            anchors=np.array([own.index(anchor) for anchor in anchors], dtype=np.int64),
        )
        within = set(own)
        yield (
            Discipline(
                pool=pool,
                items=tuple(each for each in experts.items if each.id in within),
                pairs=tuple(each for each in experts.pairs if {each.id, each.other} <= within),
                size=prototype.size or params["size"],
            ),
            places,
        )


# The command.


def representative(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """Return the steps: signatures, difficulty with a panel, second readings, selection.

    Raises BadUsage without the experts' files, BadInput if they cannot be read.
    """
    missing = [name for name in _FILES if not params[name]]
    if missing:
        named = ", ".join("--" + name.replace("_", "-") for name in missing)
        raise BadUsage(
            f"a representative set needs what experts fixed: {named}",
            hint="the method's README describes the three files",
        )
    absent = [
        Problem(params[name], "no such file") for name in _FILES if not Path(params[name]).is_file()
    ]
    if absent:
        raise BadInput("cannot read the experts' files", absent)
    settings = settings_of(params)
    prototypes = read_prototypes(Path(params["prototype"]))
    slots = slots_of("panel", models)
    steps: list[Step | BatchStep] = [signature_step(prototypes)]
    notes = []
    if slots:
        steps.append(difficulty_step(models))
    else:
        notes.append("no panel is set (--panel): the difficulty of questions is not a condition")
    if settings.rho:
        steps.append(recheck_step(prototypes, settings.rho))
    steps.append(selection_step(params, settings))
    return Pipeline(
        steps=tuple(steps), gives=Representative, facts=_facts_by(models), notes=tuple(notes)
    )


def _facts_by(
    models: Mapping[str, str],
) -> Callable[[Iterable[Representative]], Iterator[BuiltFact]]:
    roles = (
        *(Role("checked", model) for model in slots_of("reader", models).values()),
        *filtered_roles(slots_of("panel", models)),
    )

    def facts(rows: Iterable[Representative]) -> Iterator[BuiltFact]:
        for row in rows:
            yield BuiltFact(row.candidate.fact(), roles=roles)

    return facts


REPRESENTATIVE_SET = StepBuilder(
    make=representative,
    roles=_ASKED.roles,
    parameters=_ASKED.parameters,
    rows=_rows,
    lists=True,
    suffix="-representative",
    tables=BuildTables(
        Representative,
        lambda rows: report_tables(
            [row.report for row in rows if row.report is not None],
            [each for row in rows for each in row.left],
        ),
    ),
    help="Few questions of each discipline that cover it, with a certificate of how well. A model "
    "reads each question once; experts give prototypes, and labels of few questions and pairs. "
    "'show BANK --statistics' prints the certificate.",
    example="questions --prototype prototype.toml --item-labels items.csv --pair-labels pairs.csv "
    "-m reader=a/one",
)
