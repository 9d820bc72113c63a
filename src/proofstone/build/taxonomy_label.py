"""From sources to their places: one step a level, each choosing among the nodes that there are."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from msgspec import Struct, convert, structs

from proofstone.errors import BadUsage
from proofstone.ingest.taxonomy import find_taxonomy, locate
from proofstone.judging.panel import (
    TIED,
    UNJUDGED,
    JudgeSlots,
    judge_slots,
    panel_parameters,
    why_undecided,
)
from proofstone.records.builds import (
    Build,
    Drop,
    Kept,
    ModelRole,
    Pipeline,
    SourcePlace,
    Step,
    StepBuilder,
    StepContext,
)
from proofstone.records.calls import Clock
from proofstone.records.ids import canonical_json, digest
from proofstone.records.knowledge import (
    TAXONOMY_LEVELS,
    SampledSource,
    Stratum,
    Taxonomy,
    TaxonomyLabel,
    TaxonomyNode,
    TaxonomyPath,
    taxonomy_label_id,
)
from proofstone.records.options import Parameter
from proofstone.records.verdicts import Exhibit, JudgeQuestion, Label, PanelVerdict
from proofstone.store.store import Store

# A source on its way to its place.


class PlacedRow(Struct, frozen=True):
    """A source with the ``path`` found so far; ``ended`` says why it goes no deeper: none of the
    nodes below fits, the judges did not decide, or the taxonomy ends there."""

    sampled: SampledSource
    path: TaxonomyPath
    ended: str = ""


NONE = "none of these"  # in every language: it is a label among names that are not translated


_INCLUDED = 8  # names below a node that say what it means


class _Wording(Struct, frozen=True, forbid_unknown_fields=True):
    task: str
    above: str
    none_means: str
    includes: str
    alone: str
    document: str
    title: str
    headings: str
    levels: dict[str, str]


def place_question(taxonomy: Taxonomy, path: TaxonomyPath, sampled: SampledSource) -> JudgeQuestion:
    """Which of the nodes right below ``path`` a source belongs to, or none of them."""
    language = "zh" if sampled.source.language.startswith("zh") else "en"
    words = _wordings()[language]
    level = words.levels[TAXONOMY_LEVELS[len(path)]]
    above = words.above.replace("{path}", " / ".join(path)) if path else ""
    labels = [
        Label(node.name, _meaning(taxonomy, node, words, level)) for node in taxonomy.below(path)
    ]
    return JudgeQuestion(
        task=words.task.replace("{level}", level).replace("{above}", above),
        labels=(*labels, Label(NONE, words.none_means.replace("{level}", level))),
        exhibits=(Exhibit(words.document, _document(sampled, words)),),
        language=language,
    )


def words_digest() -> str:
    """Return a digest of the question texts, part of a step's key."""
    return digest(_questions().encode()).hex()


def _meaning(taxonomy: Taxonomy, node: TaxonomyNode, words: _Wording, level: str) -> str:
    below = _names_below(taxonomy, node)
    if not below:
        also = ", ".join(node.also)
        return f"{words.alone.replace('{level}', level)}{f' ({also})' if also else ''}"
    names = "; ".join(below[:_INCLUDED]) + ("; ..." if len(below) > _INCLUDED else "")
    return words.includes.replace("{names}", names)


def _names_below(taxonomy: Taxonomy, node: TaxonomyNode) -> list[str]:
    """Return the names below a node; those below a child of the same name replace it."""
    names: list[str] = []
    for each in taxonomy.below(node.path):
        names += _names_below(taxonomy, each) if each.name == node.name else [each.name]
    return names


def _document(sampled: SampledSource, words: _Wording) -> str:
    parts = [f"{words.title}: {sampled.source.title}"]
    if sampled.headings:
        parts.append(f"{words.headings}: {'; '.join(sampled.headings)}")
    parts += [f"...\n{excerpt}" for excerpt in sampled.excerpts]
    return "\n\n".join(parts)


@cache
def _wordings() -> dict[str, _Wording]:
    return convert(tomllib.loads(_questions()), dict[str, _Wording])


@cache
def _questions() -> str:
    return (files(__package__) / "questions.toml").read_text(encoding="utf-8")


# Taxonomy labels from a build that judged sources.


def place_sources(
    store: Store, build: Build, places: Iterable[SourcePlace], clock: Clock
) -> tuple[TaxonomyLabel, ...]:
    """Store the taxonomy labels that a build found for sources, and return the valid ones.

    A label that equals the newest one of its source is not stored again. A person's label stays,
    unless the build replaces such labels.
    """
    found = list(places)
    newest = store.taxonomy_labels.in_force([place.source for place in found])
    models = tuple(dict.fromkeys(build.models.values()))
    held: list[TaxonomyLabel] = []
    new: list[TaxonomyLabel] = []
    for place in found:
        former = newest.get(place.source)
        made = TaxonomyLabel(
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
        made = structs.replace(made, id=taxonomy_label_id(made))
        new.append(made)
        held.append(made)
    store.taxonomy_labels.add(new)
    return tuple(held)


def _is_kept(former: TaxonomyLabel, build: Build) -> bool:
    return former.actor is not None and not build.params.get("anew")


def _says(taxonomy_label: TaxonomyLabel) -> tuple[object, ...]:
    return (
        taxonomy_label.stratum,
        taxonomy_label.taxonomy,
        taxonomy_label.models,
        taxonomy_label.build,
    )


_NONE_FITS = "none fits"


PARAMETERS = (
    Parameter(
        name="taxonomy",
        kind="text",
        default="",
        help="Taxonomy: a bundled one ('list taxonomies'), or a CSV or TOML file.",
    ),
    Parameter(
        name="anew",
        kind="flag",
        default=False,
        help="Label all levels again (default: only levels without a label).",
    ),
    *panel_parameters(
        votes="Votes per judge on each level; the majority is the judge's vote.",
        orders="Orders of the nodes in which each vote is asked for; more than half decide.",
        tie="Tie rule of a panel: keep the label of the level above, or drop the source. "
        "Sources without a discipline are dropped.",
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
    """Build strata. This is a ``Maker`` that does not belong to a method."""

    name = "placing"

    def __init__(self) -> None:
        self.pipelines: Mapping[str, StepBuilder] = {
            "strata": StepBuilder(
                make=make_pipeline,
                roles=ROLES,
                parameters=PARAMETERS,
                enters="sources",
                help="Taxonomy labels of sources, chosen level by level. Facts that are built "
                "from a source later get its labels.",
                example="Handbook --taxonomy kina --judge openai/gpt-5.1 --dry-run",
            )
        }


def make_pipeline(params: Mapping[str, Any], models: Mapping[str, str]) -> Pipeline:
    """The steps for a taxonomy. Raises BadUsage without one, and what ``find_taxonomy`` raises."""
    if not params["taxonomy"]:
        raise BadUsage("--taxonomy names where sources are placed", hint="as --taxonomy kina")
    taxonomy = find_taxonomy(params["taxonomy"])
    judges = judge_slots(params, models)
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


def _level_step(taxonomy: Taxonomy, level: str, judges: JudgeSlots) -> Step:
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


def _reasons(depth: int, judges: JudgeSlots) -> tuple[str, ...]:
    """Why a source is dropped at a level."""
    if not depth:
        return (_NONE_FITS, UNJUDGED, *((TIED,) if judges.is_panel else ()))
    return (TIED,) if judges.is_panel and judges.tie == "drop" else ()


def _told(verdict: PanelVerdict) -> str:
    judge_votes = (f"{b.judge}: {b.label or b.trouble or b.state}" for b in verdict.judge_votes)
    return "; ".join(judge_votes)


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
