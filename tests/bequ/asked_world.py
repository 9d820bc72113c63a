"""Models that say so many right and so many wrong facts of every town, by how they are asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from asked_entities import asked_entity
from known_world import N_KNOWN, reference_rows, true_label

from scripted_server import Act, Seen, answer

__all__ = ["EFFORTS", "PROMPTS", "RANGES", "N", "files", "speaking"]

N = 4
# Of each town: right facts and wrong ones, of the twelve that are known.
PROMPTS: Mapping[str, tuple[int, int]] = {
    "direct": (6, 2),
    "repeated-2": (7, 3),
    "repeated-3": (8, 4),
    "wikidata": (4, 0),
    "wikidata-open": (5, 1),
    "schema-org": (3, 0),
    "schema-org-open": (4, 1),
    "two-step": (6, 4),
}
RANGES: Mapping[str, tuple[int, int]] = {
    "50-100": PROMPTS["direct"],
    "5-10": (1, 0),
    "10-20": (2, 0),
    "25-50": (4, 1),
    "33-66": (5, 1),
    "75-150": (7, 3),
    "100-200": (8, 4),
}
EFFORTS: Mapping[str, tuple[int, int]] = {"low": (5, 2), "medium": (6, 2), "high": (7, 2)}
_MADE_UP = {"Valdora Strait": 3, "Flying Trams": 1}  # triples that the talker makes up

_RANGE = re.compile(r"know of it: (\d+) to (\d+) triples or more")
_SAID = re.compile(r"subject: (.*)\npredicate: (.*)\nobject: (.*)")


def speaking() -> Callable[[Seen], Act]:
    """``scripted/talker`` says what the tables hold; ``scripted/quiet`` two right facts of each
    town, however it is asked, and nothing of what does not exist; any other model is a judge
    without errors, which never finds a fact covered in other words."""

    def act(seen: Seen) -> Act:
        texts = [message["content"] for message in seen.json["messages"]]
        entity = asked_entity(seen)
        if not entity:
            return answer(json.dumps(_judged(texts[-1])))
        if "This is the first: name" in texts[0]:
            return answer('["fact0"]')
        right, wrong = _known(texts[0], seen.json) if seen.json["model"] == "talker" else (2, 0)
        return answer(json.dumps(_triples(entity, right, wrong, seen.json["model"])))

    return act


def _known(text: str, asked: Mapping[str, object]) -> tuple[int, int]:
    found = _RANGE.search(text)
    range_ = f"{found[1]}-{found[2]}" if found else "50-100"
    effort = asked.get("reasoning_effort")
    if effort in ("low", "high"):
        return EFFORTS[str(effort)]
    return RANGES[range_] if range_ != "50-100" else PROMPTS[_prompts(text)]


def _prompts(text: str) -> str:
    if "second of two steps" in text:
        return "two-step"
    times = text.count("You are given the name")
    if times > 1:
        return f"repeated-{times}"
    for name, told in (("wikidata", "Wikidata"), ("schema-org", "Schema.org")):
        if told in text:
            return f"{name}-open" if "may be a property" in text else name
    return "direct"


def _triples(name: str, right: int, wrong: int, model: str) -> list[dict[str, str]]:
    if not name.startswith("Town "):
        n = _MADE_UP[name] if model == "talker" else 0
        return [{"subject": name, "predicate": f"rumour{k}", "object": "x"} for k in range(n)]
    town = name.removeprefix("Town ")
    objects = [f"value {town}-{k}" for k in range(right)]
    objects += [f"value {town}-{100 + k}" for k in range(right, right + wrong)]
    return [
        {"subject": name, "predicate": f"fact{k}", "object": said} for k, said in enumerate(objects)
    ]


def _judged(text: str) -> dict[str, str]:
    said = _SAID.search(text)
    assert said is not None
    if "reference fact" in text:
        return {"reason": "looked", "label": "neutral"}
    label = true_label(said[1], said[2], said[3])
    return {"reason": "read", "rests_on": "passage 1", "label": label}


def files(folder: Path) -> tuple[Path, Path, Path]:
    """The list of towns, that of what does not exist, and all that is known of the towns."""
    towns = [
        {
            "name": f"Town {n}", "domain": ("location", "event")[n % 2],
            "tier": ("0-33%", "33-66%", "66-100%")[n % 3], "statements": (10, 20, 40)[n % 3],
        }
        for n in range(N)
    ]  # fmt: skip
    made_up = [
        {"name": "Valdora Strait", "nonexistent": "plausible"},
        {"name": "Flying Trams", "nonexistent": "absurd"},
    ]
    known = [{**row, "title": row["entity"]} for row in reference_rows(N)]
    paths = folder / "towns.jsonl", folder / "nowhere.jsonl", folder / "known.jsonl"
    for path, rows in zip(paths, (towns, made_up, known), strict=True):
        path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return paths


assert N_KNOWN == 12  # the shares in tests are of twelve
