"""Rows of questions and statements in the form that KINA's files have."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

SOURCE = "Okafor, L. (2014). Rock cycles in brief. Geology Letters, 12(3), 45-61."
PAIRS = ("1, 2", "2, 3", "3, 4", "4, 5", "5, 6", "1, 3", "2, 4", "3, 5", "4, 6", "1, 6")


def combination(number: int = 0, **changed: Any) -> dict[str, Any]:
    """A row of a combination that breaks no rule; statements 2 and 4 are the true ones."""
    hot = 600 + 17 * number
    made: dict[str, Any] = {
        "stem": f"Which statements on granite melted at {hot} kelvin are true?",
        "statements": [
            f"Sample {number} cools to {hot - 10 * step} kelvin after {step} hours."
            for step in range(1, 7)
        ],
        "options": list(PAIRS),
        "answer": "2, 4",
        "explanations": [
            f"Statements {pair} were tested in run {number} against the cooling law."
            for pair in PAIRS
        ],
        "sources": [SOURCE] * 10,
        "pages": [f"{46 + place}" for place in range(10)],
        "question_source": SOURCE,
        "material": "Table 2 of the article",
        "made_by": "people",
        "discipline": "Science",
        "field": "Geology",
        "subfield": "Geochemistry",
        "language": "en",
    }
    return {**made, **changed}


def standard(number: int = 0, **changed: Any) -> dict[str, Any]:
    """A row of a standard question with ten texts as options."""
    made = {
        "stem": f"How long does a beam of {3 + number} metres take to settle?",
        "statements": "",
        "options": [f"{7 + number + 3 * place} seconds" for place in range(10)],
        "answer": "D",
        "discipline": "Engineering",
        "field": "Civil Engineering",
        "subfield": "Structural Engineering",
    }
    return {**combination(number), **made, **changed}


def statement(number: int, *, correct: bool, **changed: Any) -> dict[str, Any]:
    """A row of a true or false statement."""
    made = {
        "statement": f"Ore {number} melts {'above' if correct else 'below'} {300 + number} kelvin.",
        "correct": correct,
        "explanation": f"It was measured in trial {number}.",
        "source": SOURCE,
        "page": str(45 + number % 16),
        "discipline": "Science",
        "field": "Geology",
        "subfield": "Geochemistry",
        "language": "en",
    }
    return {**made, **changed}


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as JSONL and return the path."""
    lines = (json.dumps(dict(row), ensure_ascii=False) for row in rows)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
