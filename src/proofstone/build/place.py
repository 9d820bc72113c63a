"""From sources to their places: one step a level, each choosing among the nodes that there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import structs

from proofstone.build.asking import NONE, PlacedRow, place_question, words_digest
from proofstone.errors import BadUsage
from proofstone.ingest.taxonomy import find_taxonomy, locate
from proofstone.judging.panel import (
    TIED,
    UNJUDGED,
    SeatedJudges,
    panel_parameters,
    seated_judges,
    why_undecided,
)
from proofstone.records.banks import Parameter
from proofstone.records.building import (
    Drop,
    Kept,
    ModelRole,
    Pipeline,
    SourcePlace,
    Step,
    StepBuilder,
    StepContext,
)
from proofstone.records.builds import Build
from proofstone.records.calls import Clock
from proofstone.records.ids import canonical_json, digest
from proofstone.records.knowledge import Stratum
from proofstone.records.taxonomy import (
    TAXONOMY_LEVELS,
    Placement,
    SampledSource,
    Taxonomy,
    placement_id,
)
from proofstone.records.verdicts import PanelVerdict
from proofstone.store.store import Store

# Placements from a build that judged where sources stand.


def place_sources(
    store: Store, build: Build, places: Iterable[SourcePlace], clock: Clock
) -> tuple[Placement, ...]:
    """Stores where a build found that sources stand, and returns the placements that hold now. One
    that says what the newest of its source says is not made again; what a person placed stays,
    unless the build places anew."""
    found = list(places)
    newest = store.placements.in_force([place.source for place in found])
    models = tuple(dict.fromkeys(build.models.values()))
    held: list[Placement] = []
    new: list[Placement] = []
    for place in found:
        former = newest.get(place.source)
        made = Placement(
            source=place.source,
            stratum=place.stratum,
            taxonomy=place.taxonomy,
            models=models,
            build=build.id,
            at=clock.now(),
            follows=None if former is None else former.id,
        )
        if former is not None and (_is_kept(former, build) or _says(former) == _says(made)):
            held.append(former)
            continue
        made = structs.replace(made, id=placement_id(made))
        new.append(made)
        held.append(made)
    store.placements.add(new)
    return tuple(held)


def _is_kept(former: Placement, build: Build) -> bool:
    return former.actor is not None and not build.params.get("anew")


def _says(placement: Placement) -> tuple[object, ...]:
    return placement.stratum, placement.taxonomy, placement.models, placement.build


_NONE_FITS = "none fits"


PARAMETERS = (
    Parameter(
        name="taxonomy",
        kind="text",
        default="",
        help="Where sources are placed: a carried taxonomy ('list taxonomy'), or a CSV or TOML "
        "file.",
    ),
    Parameter(
        name="anew",
        kind="flag",
        default=False,
        help="Ask from the top, also where a place was stated; else only what it leaves open.",
    ),
    *panel_parameters(
        votes="Votes of each judge on each level; more than half are its vote.",
        orders="Orders of the nodes in which each vote is asked for; more than half decide.",
        tie="What becomes of a source on which a panel has no majority: keep it at the level "
        "above, or drop it. Without a discipline it is dropped.",
        usual_tie="keep",
    ),
)


ROLES = {
    "judge": ModelRole(
        help="chooses the node that a source belongs to, level by level",
        purpose="judge",
        settings={"temperature": 0.0, "max_tokens": 512},
        panel=True,
    )
}


class Placing:
    """What builds strata: as a ``ports.Maker`` beside the methods, of which it is none."""

    name = "placing"

    def __init__(self) -> None:
        self.pipelines: Mapping[str, StepBuilder] = {
            "strata": StepBuilder(
                make=make_pipeline,
                roles=ROLES,
                parameters=PARAMETERS,
                enters="sources",
                help="The place of each source in a taxonomy, chosen level by level among the "
                "nodes that there are. Facts that are built of a source afterwards stand there.",
            )
        }


def make_pipeline(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """The steps for a taxonomy. Raises BadUsage without one, and what ``find_taxonomy`` raises."""
    if not params["taxonomy"]:
        raise BadUsage("--taxonomy names where sources are placed", hint="as --taxonomy kina")
    taxonomy = find_taxonomy(params["taxonomy"])
    judges = seated_judges(params, models)
    depth = max(len(node.path) for node in taxonomy.nodes)
    levels = TAXONOMY_LEVELS[:depth]
    return Pipeline(
        steps=(
            _stated_step(taxonomy, anew=params["anew"]),
            *(_level_step(taxonomy, level, judges) for level in levels),
        ),
        gives=PlacedRow,
        places=_places_in(taxonomy),
    )


def _stated_step(taxonomy: Taxonomy, *, anew: bool) -> Step:
    """Starts each source from what was stated of it, as far as the taxonomy has that."""

    def start(row: SampledSource, _context: StepContext) -> Kept:
        return PlacedRow(row, () if anew else locate(taxonomy, row.source.stratum).path)

    return Step(
        name="stated",
        version=1,
        takes=SampledSource,
        work=start,
        config={"taxonomy": _key(taxonomy), "anew": anew},
    )


def _level_step(taxonomy: Taxonomy, level: str, judges: SeatedJudges) -> Step:
    """Asks the judges which node of this level a source belongs to; without a discipline it is
    dropped, without a deeper one it stays where it is, unless ties are to drop it."""
    depth = TAXONOMY_LEVELS.index(level)
    drops_ties = judges.tie == "drop"

    async def choose(row: PlacedRow, context: StepContext) -> Kept:
        if row.ended or len(row.path) != depth:
            return row
        if not taxonomy.is_whole(row.path):
            return structs.replace(row, ended="taxonomy ends")
        question = place_question(taxonomy, row.path, row.sampled)
        verdict = await judges.ask(context, level, question, votes=judges.votes)
        if verdict.label and verdict.label != NONE:
            return structs.replace(row, path=(*row.path, verdict.label))
        why = _NONE_FITS if verdict.label else why_undecided(verdict)
        if depth and not (drops_ties and verdict.state == "tied"):
            return structs.replace(row, ended=why)
        return Drop(why, f"{row.sampled.source.title}: {_told(verdict)}")

    config = {"taxonomy": _key(taxonomy), "words": words_digest(), "votes": judges.votes}
    return Step(
        name=level,
        version=2,
        takes=PlacedRow,
        work=choose,
        reasons=_reasons(depth, judges),
        config={**config, **judges.config()},
        asks=judges.asks,
        at_once=16,
    )


def _reasons(depth: int, judges: SeatedJudges) -> tuple[str, ...]:
    """Why a source is dropped at a level."""
    if not depth:
        return (_NONE_FITS, UNJUDGED, *((TIED,) if judges.is_panel else ()))
    return (TIED,) if judges.is_panel and judges.tie == "drop" else ()


def _told(verdict: PanelVerdict) -> str:
    ballots = (f"{b.judge}: {b.label or b.trouble or b.state}" for b in verdict.ballots)
    return "; ".join(ballots)


def _places_in(taxonomy: Taxonomy) -> Any:
    def places(rows: Iterable[PlacedRow]) -> Iterator[SourcePlace]:
        for row in rows:
            levels = dict(zip(TAXONOMY_LEVELS, row.path, strict=False))
            source = row.sampled.source
            stratum = Stratum(**{"book": source.stratum.book, **levels})
            yield SourcePlace(source.id, stratum, taxonomy.name)

    return places


def _key(taxonomy: Taxonomy) -> str:
    """What of a taxonomy a choice depends on: its names and which lists are whole."""
    nodes = [(node.path, node.also, taxonomy.is_whole(node.path)) for node in taxonomy.nodes]
    return digest(canonical_json(nodes)).hex()


PLACING = Placing()
