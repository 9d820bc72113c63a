"""A list of entities asked of models of known behaviour: triples counted, shown and exported."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from asked_entities import asked_entity

from proofstone.api import create_workspace
from proofstone.cli import main
from scripted_server import Act, Seen, answer
from serving import configure, serving

ROWS = [
    {"name": "Ada Lovelace", "aliases": ["Ada Byron"], "domain": "person"},
    {"name": "Tax Act, 1974", "domain": "event"},
    {"name": "鲁迅", "domain": "person"},
    {"name": "Nobody Known", "domain": "person"},
    {"name": "Half a Reply", "domain": "event"},
    {"name": "Gulf of Nowhere", "domain": "location", "nonexistent": True},
    {"name": "Flying Trams", "domain": "artifact", "nonexistent": True},
]


def triple(subject: str, predicate: str, said: object) -> str:
    row = {"subject": subject, "predicate": predicate, "object": said}
    return json.dumps(row, ensure_ascii=False)


ADA = [
    triple("Ada Lovelace", "birthPlace", "London"),
    triple("Ada Lovelace", "birth_place", "london"),  # says the same
    triple("Ada Byron", "died", 1852),  # by another name of hers
    triple("Charles Babbage", "knew", "Ada Lovelace"),  # about another
]
# Two triples in brackets; one whose place is cut off; what cannot be read; one of what is not.
SAID = {
    "Ada Lovelace": f"[{', '.join(ADA)}]",
    "Tax Act, 1974": "(Tax Act, 1974, passedIn, Delhi, India)\n(Tax Act, 1974, repealed, 2000)",
    "鲁迅": f'[{triple("鲁迅", "出生地", "绍兴")}, {{"subject": "鲁迅", "predi',
    "Nobody Known": "[]",
    "Half a Reply": "Let me think about what I know of this.",
    "Gulf of Nowhere": f"[{triple('Gulf of Nowhere', 'instanceOf', 'gulf')}]",
    "Flying Trams": "[]",
}


class Speaker:
    """Says of each entity what is written above; counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, seen: Seen) -> Act:
        name = asked_entity(seen)
        self.asked.append(name)
        finish = "length" if name == "鲁迅" else "stop"
        return answer(SAID[name], finish=finish)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "list.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in ROWS), encoding="utf-8")
    return tmp_path


@pytest.fixture
def proofstone(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a command on the workspace in this process and gives what it prints as JSON."""

    def run(*arguments: str) -> Any:
        capsys.readouterr()
        with pytest.raises(SystemExit):
            main([*arguments, "-w", str(folder / "work"), "--json"])
        out, err = capsys.readouterr()
        assert out, err
        return json.loads(out)

    return run


def test_a_list_is_asked_counted_shown_and_exported(
    folder: Path, proofstone: Callable[..., Any]
) -> None:
    """Two entities abstain, of one nothing can be read; 4 of 7 have triples, 7 in all."""
    speaker = Speaker()
    create_workspace(folder / "work").close()
    with serving(speaker) as server:
        configure(folder / "work", server.url)
        target = str(folder / "list.jsonl")
        asked = ("run", target, "-m", "scripted/speaker", "--yes", "--quiet")
        ((first,), (again,)) = (proofstone(*asked) for _ in range(2))
        ranged = proofstone(
            *asked, "--prompt-method", "wikidata,direct", "--range", "5-10", "--limit", "2"
        )
    assert first["run"] == again["run"]
    assert (first["scored"], first["complete"]) == (7, True)
    assert [each["prompt_method"] for each in ranged] == ["wikidata@5-10", "direct@5-10"]
    assert len(speaker.asked) == 7 + 2 + 2

    run = f"run:{first['run']}"
    (table,) = proofstone("show", run, "--statistics")
    (counted,) = table["rows"]
    wanted = {
        "n": 7, "given": 4, "abstained": 2, "unread": 1, "triples": 3 + 2 + 1 + 1,
        "per_entity": (3 + 2 + 1 + 1) / 7, "recovered": 2 + 1, "again": 1, "others": 1,
        "nonexistent": 2, "nonexistent_given": 1, "nonexistent_triples": 1,
    }  # fmt: skip
    assert {name: counted[name] for name in wanted} == pytest.approx(wanted)

    path = folder / "triples.csv"
    proofstone("export", run, "--what", "triples", "-o", str(path))
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:4] == ["subject", "predicate", "object", "subject_name"]
    assert [(row["subject_name"], row["object"], row["said"]) for row in rows] == [
        ("Ada Lovelace", "London", "2"),
        ("Ada Lovelace", "1852", "1"),
        ("Ada Lovelace", "Ada Lovelace", "1"),
        ("Tax Act, 1974", "Delhi, India", "1"),
        ("Tax Act, 1974", "2000", "1"),
        ("鲁迅", "绍兴", "1"),
        ("Gulf of Nowhere", "gulf", "1"),
    ]
    for row in rows:
        whole = SAID[row["subject_name"]]
        assert row["object"] in whole[int(row["start"]) : int(row["end"])]

    shown = proofstone("show", rows[0]["response"])
    assert shown["texts"][-1] == "\n".join(
        [
            "--- what was read of it",
            "3 triples, 1 repeated",
            _line("Ada Lovelace", 0, "Ada Lovelace | birthPlace | London   [elicited 2 times]"),
            _line("Ada Lovelace", 2, "Ada Byron | died | 1852"),
            _line(
                "Ada Lovelace", 3, "Charles Babbage | knew | Ada Lovelace   [about another entity]"
            ),
        ]
    )


PREDICATES = {
    "Ada Lovelace": '["birthPlace", "died"]',
    "Nobody Known": "[]",
    "Half a Reply": "I am not sure what to say of it.",
}


def test_two_steps_ask_for_each_predicate_and_end_where_none_is_named(
    folder: Path, proofstone: Callable[..., Any]
) -> None:
    """Triples of all requests are read together; without predicates the first reply finishes the
    entity, is billed once, and nothing more is asked, also when the command comes again."""
    asked: list[str] = []

    def act(seen: Seen) -> Act:
        name, predicate = asked_entity(seen), ""
        text = seen.json["messages"][-1]["content"]
        if "Predicate: " in text:
            predicate = text.partition("Predicate: ")[2]
        asked.append(f"{name}: {predicate}")
        if not predicate:
            return answer(PREDICATES[name])
        return answer(f"[{triple(name, predicate, 'x' + predicate)}]")

    create_workspace(folder / "work").close()
    rows = [row for row in ROWS if row["name"] in PREDICATES]
    (folder / "some.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with serving(act) as server:
        configure(folder / "work", server.url)
        said = (
            "run",
            str(folder / "some.jsonl"),
            "-m",
            "scripted/m",
            "--prompt-method",
            "two-step",
        )
        ((first,), (again,)) = (proofstone(*said, "--yes", "--quiet") for _ in range(2))
    assert first["run"] == again["run"]
    assert (first["scored"], first["complete"]) == (3, True)
    assert sorted(asked) == [
        "Ada Lovelace: ", "Ada Lovelace: birthPlace", "Ada Lovelace: died", "Half a Reply: ",
        "Nobody Known: ",
    ]  # fmt: skip
    run = f"run:{first['run']}"
    (counted,) = proofstone("show", run, "--statistics")[0]["rows"]
    wanted = {"n": 3, "given": 1, "abstained": 1, "unread": 1, "triples": 2}
    assert {name: counted[name] for name in wanted} == wanted
    path = folder / "triples.csv"
    proofstone("export", run, "--what", "triples", "-o", str(path))
    with path.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert [(row["predicate"], row["object"]) for row in found] == [
        ("birthPlace", "xbirthPlace"), ("died", "xdied"),
    ]  # fmt: skip
    assert int(found[0]["end"]) < int(found[1]["start"])


def _line(name: str, place: int, text: str) -> str:
    start = SAID[name].index(ADA[place])
    return f"{f'{start}-{start + len(ADA[place])}':>13}  {text}"


def test_a_board_ranks_by_who_says_something_and_tells_of_the_fictional(folder: Path) -> None:
    with create_workspace(folder / "work") as workspace, serving(Speaker()) as server:
        configure(workspace.folder, server.url)
        form = workspace.import_form(folder / "list.jsonl", method="bequ")
        assert form.kind == "entities"
        workspace.run(form, models="scripted/speaker")
        board = workspace.leaderboard(form)
    (row,) = board.standings[0].ranked
    shown: Mapping[str, float] = {other.name: other.estimate.value for other in row.others}
    assert row.estimate.value == pytest.approx(4 / 7)
    assert shown["abstained"] == pytest.approx(2 / 7)
    assert shown["given_to_nonexistent"] == pytest.approx(1 / 2)
    assert shown["recovered"] == pytest.approx(3 / 7)
