"""Replies and entities that nobody hopes for, from the reply to the leaderboard."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

from asked_entities import asked_entity

from scripted_server import Act, Seen, answer
from serving import configure, serving
from told import Proofstone

MANY = 3_000


def row(subject: str, predicate: str, value: Any) -> dict[str, Any]:
    return {"subject": subject, "predicate": predicate, "object": value}


SAID: dict[str, list[dict[str, Any]]] = {
    "Many": [row("Many", f"fact{n}", f"value {n}") for n in range(MANY)],
    "One": [row("One", "fact", "value")],
    "Kinds": [
        row("Kinds", "list", ["a", "b"]),
        row("Kinds", "number", 1.5),
        row("Kinds", "day", "1900"),
        row("Kinds", "nothing", ""),
        row("Kinds", "none", None),
    ],
    "Of others": [row("Somebody else", "fact", "value")],
    "القاهرة": [row("القاهرة", "بلد", "مصر")],
    "東京": [row("東京", "国", "日本")],
    "No article": [row("No article", "fact", "value")],
}
TEXTS = {name: f"{name} value b مصر 日本 1.5." for name in SAID if name != "No article"}


def judged(prompt: str) -> dict[str, str]:
    """Rests on what was not given where an object is the number; all else is entailed."""
    is_chinese = "主语" in prompt
    first = "段落 1" if is_chinese else "passage 1"
    wrong = "passage 77" if "object: 1.5\n" in prompt else first
    return {"reason": "r", "rests_on": wrong, "label": "entailment"}


def act(seen: Seen) -> Act:
    prompt = seen.json["messages"][-1]["content"]
    if seen.json["model"] == "judge":
        return answer(json.dumps(judged(prompt)))
    return answer(json.dumps(SAID[asked_entity(seen)], ensure_ascii=False))


def test_odd_replies_are_verified_as_they_stand(done: Proofstone) -> None:
    """3,000 triples or one, lists and numbers, what is empty, other subjects, other scripts, no
    article: each is counted once and comes to what it should."""
    rows = [{"name": name} for name in SAID]
    Path("list.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    known = [{"entity": name, "text": text} for name, text in TEXTS.items()]
    Path("known.jsonl").write_text("\n".join(map(json.dumps, known)), encoding="utf-8")
    with serving(act) as server:
        configure(Path.cwd(), server.url)
        done("run", "list.jsonl", "-m", "scripted/model")
        (run,) = done("list", "run", "--json").json
        name = f"run:{run['id']}"
        done(
            "grade", name, "--judge", "scripted/judge", "--reference", "known.jsonl",
            "--sample", 60, "--sampling", "entities",
        )  # fmt: skip
    done("export", name, "--what", "triples", "-o", "triples.csv")
    done("export", name, "--what", "verdicts", "-o", "verdicts.csv")
    triples, verdicts = read_csv("triples.csv"), read_csv("verdicts.csv")
    # A list is a triple for each of its texts; what is empty is none.
    once = dict.fromkeys(SAID, 1)
    assert Counter(each["subject_name"] for each in triples) == {**once, "Many": MANY, "Kinds": 4}
    assert len(verdicts) == 60
    came = {(each["subject_name"], each["object"]): each["verdict"] for each in verdicts}
    assert came["Kinds", "1.5"] == "unparsed"
    assert came["No article", "value"] == "neutral"
    for place in (("One", "value"), ("القاهرة", "مصر"), ("東京", "日本"), ("Of others", "value")):
        assert came[place] == "entailment"
    (board,) = done("leaderboard", name, "--json").json["rows"]
    precision = board["measured"]["estimates"]["precision"]
    assert precision["n"] == 60
    assert round(precision["value"] * 60) == 60 - 2


def read_csv(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
