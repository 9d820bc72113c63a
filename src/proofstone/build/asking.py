"""The question which node below another one a document belongs to: labels from the taxonomy."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from msgspec import Struct, convert

from proofstone.records.ids import digest
from proofstone.records.taxonomy import (
    TAXONOMY_LEVELS,
    SampledSource,
    Taxonomy,
    TaxonomyNode,
    TaxonomyPath,
)
from proofstone.records.verdicts import Exhibit, JudgeQuestion, Label

# A source on its way to its place.


class PlacedRow(Struct, frozen=True):
    """A source with the ``path`` found so far; ``ended`` says why it goes no deeper: none of the
    nodes below fits, the judges did not decide, or the taxonomy ends there."""

    sampled: SampledSource
    path: TaxonomyPath
    ended: str = ""


NONE = "none of these"  # in every language: it is a label among names that are not translated


_INCLUDED = 8  # names below a node that say what it means


class _Words(Struct, frozen=True, forbid_unknown_fields=True):
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
    words = _words()[language]
    level = words.levels[TAXONOMY_LEVELS[len(path)]]
    above = words.above.replace("{path}", " / ".join(path)) if path else ""
    labels = [
        Label(node.name, _meaning(taxonomy, node, words, level)) for node in taxonomy.below(path)
    ]
    return JudgeQuestion(
        task=words.task.replace("{level}", level).replace("{above}", above),
        labels=(*labels, Label(NONE, words.none_means.replace("{level}", level))),
        exhibits=(Exhibit(words.document, _shown(sampled, words)),),
        language=language,
    )


def words_digest() -> str:
    """What a step that asks depends on besides its taxonomy."""
    return digest(_text().encode()).hex()


def _meaning(taxonomy: Taxonomy, node: TaxonomyNode, words: _Words, level: str) -> str:
    below = _names_below(taxonomy, node)
    if not below:
        also = ", ".join(node.also)
        return f"{words.alone.replace('{level}', level)}{f' ({also})' if also else ''}"
    names = "; ".join(below[:_INCLUDED]) + ("; ..." if len(below) > _INCLUDED else "")
    return words.includes.replace("{names}", names)


def _names_below(taxonomy: Taxonomy, node: TaxonomyNode) -> list[str]:
    """The names below a node; those below one of its own name, which says nothing, in its place."""
    names: list[str] = []
    for each in taxonomy.below(node.path):
        names += _names_below(taxonomy, each) if each.name == node.name else [each.name]
    return names


def _shown(sampled: SampledSource, words: _Words) -> str:
    parts = [f"{words.title}: {sampled.source.title}"]
    if sampled.headings:
        parts.append(f"{words.headings}: {'; '.join(sampled.headings)}")
    parts += [f"...\n{excerpt}" for excerpt in sampled.excerpts]
    return "\n\n".join(parts)


@cache
def _words() -> dict[str, _Words]:
    return convert(tomllib.loads(_text()), dict[str, _Words])


@cache
def _text() -> str:
    return (files(__package__) / "questions.toml").read_text(encoding="utf-8")
