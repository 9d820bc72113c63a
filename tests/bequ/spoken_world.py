"""The known world behind an endpoint: a model that says some of it, another that says nothing of
some towns, and a judge without errors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from asked_entities import asked_entity
from known_world import elicited_rows, is_covered, reference_rows, true_label

from scripted_server import Act, Seen, answer, error

__all__ = ["N", "predicate_of", "reference_file", "speaking", "towns_file", "truthful"]

N = 6
_SAID = re.compile(r"subject: (.*)\npredicate: (.*)\nobject: (.*)")


def predicate_of(text: str) -> str:
    """The predicate of the triple that a judge is asked about."""
    said = _SAID.search(text)
    assert said is not None
    return said[2]


def truthful(text: str) -> dict[str, str] | None:
    """What a judge without errors replies to a question."""
    said = _SAID.search(text)
    assert said is not None
    if "reference fact" in text:
        label = "entailment" if is_covered(said[1], said[2]) else "neutral"
        return {"reason": f"seen: {said[2]}", "label": label}
    label = true_label(said[1], said[2], said[3])
    return {"reason": f"read: {said[2]}", "rests_on": "passage 1", "label": label}


def speaking(
    judge: Callable[[str], dict[str, str] | None] = truthful,
    silent: tuple[str, ...] = ("Town 1",),
    n: int = N,
) -> Callable[[Seen], Act]:
    """``scripted/talker`` says of each town what the known world's model does, ``scripted/quiet``
    the same but of the ``silent`` towns, of which it knows nothing; all others are the judge."""

    def act(seen: Seen) -> Act:
        text = seen.json["messages"][-1]["content"]
        asked = asked_entity(seen)
        if seen.json["model"] in ("talker", "quiet") and asked:
            is_silent = seen.json["model"] == "quiet" and asked in silent
            return answer("[]" if is_silent else json.dumps(_of(asked, n)))
        made = judge(text)
        if made is None:
            return error(400, {"error": {"message": "not this one"}})
        return answer(json.dumps(made))

    return act


def _of(town: str, n: int) -> list[dict[str, str]]:
    return [
        {name: row[name] for name in ("subject", "predicate", "object")}
        for row in elicited_rows(n)
        if row["subject_name"] == town
    ]


def towns_file(folder: Path, n: int = N) -> Path:
    """The list of ``n`` towns."""
    path = folder / "towns.jsonl"
    rows = [
        {"name": f"Town {town}", "domain": "location", "tier": "AB"[town % 2]} for town in range(n)
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return path


def reference_file(folder: Path, n: int = N) -> Path:
    """All that is known of ``n`` towns."""
    path = folder / "known.jsonl"
    lines = [json.dumps({**row, "title": row["entity"]}) for row in reference_rows(n)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
