"""Who a report is for. One for the public holds no text of an item, a passage or a reply.

Such texts are taken out before anything is made of the scores: what never held a text cannot show
it, whichever section, table or figure comes later.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from proofstone.records.scores import Annotated, Judged, ScoreTable
from proofstone.records.tables import Audience

# An answer that says nothing of its question: an option's letter or number, several, a verdict.
_LETTERS = re.compile(r"[A-Za-z0-9]?|[A-Z]([,; ]+[A-Z])+")


_VERDICTS = frozenset({"true", "false", "yes", "no", "correct", "incorrect"})


# A longer name of a group or a label is a text of its own.
_LONGEST_NAME = 80


def table_for(table: ScoreTable, audience: Audience, *, keep: Collection[str] = ()) -> ScoreTable:
    """The scores as the audience may see them.

    For the public, names of items in a file are their numbers (``item 17``, from 1, as they first
    come in it), since a name may be the question itself; ids of our own stay. Answers, right ones
    too, are option letters or numbers, several of them, or true and false; any other is ``answer
    3``, but those to ``keep``. Groups and documents keep names of up to 80
    characters.
    """
    if audience == "internal":
        return table
    documents = table.documents
    if documents is not None:
        documents = replace(documents, names=_short_names(documents.names, "document"))
    masks = _masked_answers((*table.answers, *table.golds), keep)
    return replace(
        table,
        item_names=tuple(f"item {place}" for place, _ in enumerate(table.item_names, start=1)),
        key_names=_masked_keys(table),
        answers=tuple(masks[name] for name in table.answers),
        golds=tuple(masks[name] for name in table.golds),
        stratum_names={
            level: _short_names(names, "group") for level, names in table.stratum_names.items()
        },
        group_names={
            name: _short_names(names, "group") for name, names in table.group_names.items()
        },
        documents=documents,
    )


def _masked_keys(table: ScoreTable) -> Mapping[int, str]:
    """Names of what items share: of a file a key may be a text of its own, as an item's name may;
    ids of our own facts stay."""
    if not table.item_names:
        return table.key_names
    return {key: f"key {place}" for place, key in enumerate(sorted(table.key_names), start=1)}


def judged_for(judged: Judged | None, audience: Audience) -> Judged | None:
    """Labels as the audience may see them: for the public, names of up to 80 characters."""
    if judged is None or audience == "internal":
        return judged
    return replace(judged, labels=_short_names(judged.labels, "label"))


def annotated_for(annotated: Annotated | None, audience: Audience) -> Annotated | None:
    """Several annotators' labels as the audience may see them: for the public without their names,
    which may be people's, and labels of up to 80 characters."""
    if annotated is None or audience == "internal":
        return annotated
    return replace(
        annotated,
        labels=_short_names(annotated.labels, "label"),
        annotators=tuple(
            f"annotator {place}" for place, _ in enumerate(annotated.annotators, start=1)
        ),
    )


def _masked_answers(names: Sequence[str], keep: Collection[str]) -> Mapping[str, str]:
    """Each answer with what stands for it; different ones stay different."""
    texts = [name for name in dict.fromkeys(names) if name not in keep and not _is_closed(name)]
    return {name: name for name in names} | {
        name: f"answer {place}" for place, name in enumerate(texts, start=1)
    }


def _is_closed(name: str) -> bool:
    return _LETTERS.fullmatch(name) is not None or name.lower() in _VERDICTS


def _short_names(names: Sequence[str], word: str) -> tuple[str, ...]:
    return tuple(
        name if len(name) <= _LONGEST_NAME else f"{word} {place}"
        for place, name in enumerate(names, start=1)
    )
