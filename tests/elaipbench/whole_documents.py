"""A long document made of numbered facts, and questions on it, each with verbatim evidence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

METALS = ("copper", "silver", "iron", "lead", "tin", "zinc", "nickel", "cobalt")
TITLE = "Eight metals"


def sentence(metal: str, trial: int) -> str:
    """What the document says on one trial of a metal."""
    degrees = 20 + 7 * trial + len(metal)
    return (
        f"In trial {trial} the sample of {metal} softened at {degrees} degrees under load {trial}."
    )


def document(title: str = TITLE, trials: int = 40) -> str:
    """The document's text; at 40 trials about 6,000 tokens."""
    paragraphs = (" ".join(sentence(metal, trial) for metal in METALS) for trial in range(trials))
    return "\n\n".join([title, *paragraphs])


def row(number: int = 0, **changed: Any) -> dict[str, Any]:
    """A row of a question with one correct option."""
    metal = METALS[number % len(METALS)]
    told = sentence(metal, number)
    made = {
        "document": TITLE,
        "question": f"Under which load did {metal} soften in trial {number}?",
        "options": [f"load {number + step}" for step in range(4)],
        "answer": "A",
        "type": "single",
        "difficulty": ("easy", "moderate", "hard")[number % 3],
        "evidence": {"A": [told]},
        "written_by": "model",
    }
    return {name: value for name, value in {**made, **changed}.items() if value is not None}


def several(number: int = 0, **changed: Any) -> dict[str, Any]:
    """A row of a question with two correct options."""
    first, second = METALS[number % 8], METALS[(number + 3) % 8]
    return row(
        number,
        question=f"Which samples are reported for trial {number}?",
        options=[first, second, "gold", "mercury", "platinum"],
        answer="AB",
        type="multiple",
        evidence={"A": [sentence(first, number)], "B": [sentence(second, number)]},
        **changed,
    )


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as JSONL."""
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    return path
