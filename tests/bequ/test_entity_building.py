"""``build entities``: from the pages of a wiki to a list that models are asked about."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.dump_files import dump, page
from ingest.zim_files import zim
from proofstone.api import Workspace, create_workspace
from proofstone.build.build import BuildResult
from proofstone.cli import main
from proofstone.errors import BadInput, BadUsage
from proofstone.methods.bequ.entities import Entity
from proofstone.methods.bequ.entity_lists import (
    PIPELINES,
    TIERS,
    Candidate,
    candidates,
    domains_step,
    drawn_candidates,
    rate_prompt,
    thirds_step,
)
from proofstone.records.builds import Drop, StepContext
from scripted_server import Act, Seen, answer
from serving import HurriedClock, configure, serving

SNAPSHOTS = Path(__file__).parent / "snapshots"
_NAME = re.compile(r"The name: (.*)\n")
# What the judge says of a name: informative, clear, suitable, domains.
RATED: dict[str, tuple[int, int, int, list[str]]] = {
    "Copper": (5, 4, 3, ["scientific concept"]),
    "Barren": (2, 5, 5, ["location"]),
    "Vague": (5, 2, 5, ["location"]),
    "List of metals": (5, 5, 2, []),
    "Both": (5, 5, 5, ["location", "event"]),
}


class Rater:
    """Rates by ``RATED``; "Silent" gets prose, "Wild" a rating of 6."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, seen: Seen) -> Act:
        found = _NAME.search(seen.json["messages"][-1]["content"])
        assert found is not None
        self.asked.append(found[1])
        if found[1] == "Silent":
            return answer("It is a fine name.")
        informative, clear, suitable, domains = RATED.get(found[1], (5, 5, 5, ["location"]))
        rated = {"informative": informative, "clear": clear, "suitable": suitable}
        if found[1] == "Wild":
            rated["clear"] = 6
        return answer(json.dumps({**rated, "domains": domains}))


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        yield opened


def article(title: str, number: int, text: str = "", length: int = 2100) -> str:
    body = f"{title} is something. {text}"
    return page(title, body + "More is said. " * (length // 14), number=number)


def wiki(folder: Path) -> Path:
    return dump(
        folder / "wiki.xml",
        article("Copper", 1),
        page("Cu", "#REDIRECT [[Copper]]", redirect="Copper", number=2),
        article("Short", 3, length=1000),
        article("Mercury", 4, "{{disambiguation}}"),
        article("Barren", 5),
        article("Vague", 6),
        article("List of metals", 7),
        article("Both", 8),
        article("Silent", 9),
        article("Wild", 10),
        article("Few", 11),
        article("Town", 12),
    )


def table(folder: Path, rows: list[dict[str, Any]], name: str = "known.json") -> str:
    path = folder / name
    path.write_text(json.dumps(rows), encoding="utf-8")
    return str(path)


def built(workspace: Workspace, inputs: list[str], **params: Any) -> BuildResult:
    return workspace.build_in_steps(
        "entities", inputs, name="list", judge="scripted/judge", **params
    )


def dropped(result: BuildResult) -> dict[str, int]:
    return {reason: n for step in result.funnel.steps for reason, n in step.dropped.items() if n}


def exported(workspace: Workspace, result: BuildResult) -> dict[str, dict[str, Any]]:
    assert result.bank is not None
    file = workspace.folder / "list.jsonl"
    workspace.export(f"bank:{result.bank.id.hex()}", file)
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {row["name"]: row for row in rows}


def test_documents_that_are_each_about_one_entity_are_a_list(
    workspace: Workspace, tmp_path: Path
) -> None:
    """By their titles, else by their files' names; short ones are left out as short articles are,
    and a draw takes of them what it takes of any."""
    folder = tmp_path / "manuals"
    folder.mkdir()
    said = "It is a device of the plant. " * 100
    (folder / "p12.md").write_text(f"# Pump P-12\n\n{said}\n", encoding="utf-8")
    (folder / "Valve V-3.txt").write_text(said, encoding="utf-8")
    (folder / "Cap.txt").write_text("It is small.", encoding="utf-8")
    made = workspace.build_in_steps(
        "entities", [f"folder:{folder}"], name="plant", models="", judge="", least_rating=0
    )
    assert sorted(exported(workspace, made)) == ["Pump P-12", "Valve V-3"]
    drawn = workspace.build_in_steps(
        "entities", [f"folder:{folder}"], name="one", models="", judge="", least_rating=0,
        per_input=1, least_length=0,
    )  # fmt: skip
    assert len(exported(workspace, drawn)) == 1


def test_each_page_is_left_out_for_its_own_reason(workspace: Workspace, tmp_path: Path) -> None:
    """Rules come before the judge, who is asked of nothing that they refuse; what a table knows is
    taken in."""
    known = table(
        tmp_path,
        [
            {"name": "copper", "wikidata": "Q753", "statements": 10},
            {"name": "Few", "statements": 9},
        ],
    )
    rater = Rater()
    with serving(rater) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, [f"dump:{wiki(tmp_path)}"], known=known)
    assert dropped(result) == {
        "article too short": 1, "article of meanings": 1, "too few statements": 1,
        "too little to say": 1, "ambiguous": 1, "not suitable": 1, "not rated": 2,
    }  # fmt: skip
    # Replies that cannot be read are asked for once more.
    assert sorted(rater.asked) == [
        "Barren", "Both", "Copper", "List of metals", "Silent", "Silent", "Town", "Vague", "Wild",
        "Wild",
    ]  # fmt: skip
    rows = exported(workspace, result)
    assert {name: row.get("domain", "") for name, row in rows.items()} == {
        "Copper": "scientific concept", "Both": "", "Town": "location",
    }  # fmt: skip
    copper = rows["Copper"]
    assert [copper[name] for name in ("wikidata", "wikipedia", "page_id", "statements")] == [
        "Q753", "https://m.example/wiki/Copper", "1", 10,
    ]  # fmt: skip
    assert copper["length"] > 2000


def test_what_is_known_is_of_the_entity_that_has_the_title(tmp_path: Path) -> None:
    """A title comes before another's alias; what two entities are named says nothing of either, and
    a Wikidata number that is another says nothing."""
    path = dump(
        tmp_path / "wiki.xml",
        *(page(title, "Text.", number=1) for title in ("Minster", "Mercury", "Mercury (god)")),
    )
    known = table(
        tmp_path,
        [
            {"name": "Ulm Minster", "aliases": "Minster", "wikidata": "Q1", "statements": 1},
            {"name": "Minster", "wikidata": "Q2", "statements": 2},
            {"name": "Mercury", "description": "planet", "statements": 3},
            {"name": "Mercury", "description": "god", "statements": 4},
        ],
    )
    found = candidates([f"dump:{path}"], {"known": known, "corpus": ""})
    assert [row.entity.statements for row in found] == [2, None, 4]
    listed = table(tmp_path, [{"name": "Minster", "wikidata": "Q9"}], "list.json")
    (row,) = candidates([listed], {"known": known, "corpus": f"dump:{path}"})
    assert row.entity.statements is None


def test_pages_are_drawn_by_the_seed(workspace: Workspace, tmp_path: Path) -> None:
    """A larger number keeps those that were drawn; another seed draws others."""
    path = dump(tmp_path / "many.xml", *(article(f"Town {n}", n) for n in range(40)))
    drawn: dict[tuple[int, int], set[str]] = {}
    with serving(Rater()) as server:
        configure(workspace.folder, server.url)
        for seed, n in [(42, 5), (42, 9), (7, 5)]:
            result = built(workspace, [f"dump:{path}"], per_input=n, seed=seed)
            drawn[seed, n] = set(exported(workspace, result))
    assert [len(names) for names in drawn.values()] == [5, 9, 5]
    assert drawn[42, 5] < drawn[42, 9]
    assert drawn[42, 5] != drawn[7, 5]


def test_of_a_list_so_many_are_drawn_before_they_are_looked_up(tmp_path: Path) -> None:
    """In a ZIM file as in a dump, of a list as of a wiki."""
    text = b"<p>A town.</p>"
    rows = [("C", f"Town {n}", f"Town {n}", "text/html", text) for n in range(30)]
    path = zim(tmp_path / "towns.zim", rows)
    names = table(tmp_path, [{"name": f"Town {n}"} for n in range(30)])
    params = {"known": "", "corpus": f"zim:{path}"}
    for name in (names, f"zim:{path}"):
        drawn = [{row.entity.name for row in drawn_candidates(name, params, n, 42)} for n in (4, 8)]
        assert [len(each) for each in drawn] == [4, 8]
        assert drawn[0] < drawn[1]


def test_lists_are_held_against_a_wiki(workspace: Workspace, tmp_path: Path) -> None:
    """A fictional entity with an article is none, whether by title or by redirect; a real one
    without is left out; nobody is asked of fictional ones."""
    made_up = table(
        tmp_path,
        [
            {"name": "Vibranium", "nonexistent": True},
            {"name": "Cu", "nonexistent": True},
            {"name": "Town", "description": "in Utopia"},
            {"name": "Nowhere"},
        ],
        "list.json",
    )
    rater = Rater()
    with serving(rater) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, [made_up], corpus=f"dump:{wiki(tmp_path)}")
    assert dropped(result) == {"no fiction": 1, "no article": 1}
    rows = exported(workspace, result)
    assert set(rows) == {"Vibranium", "Town"}
    assert rows["Vibranium"]["nonexistent"] is True
    assert "wikipedia" not in rows["Vibranium"]
    assert rater.asked == ["Town (in Utopia)"]


def test_a_zim_file_is_a_wiki_too(tmp_path: Path) -> None:
    html = "text/html"
    rows = [
        ("C", "Copper", "Copper", html, b"<p>Copper melts.</p>"),
        ("C", "Cu", "Cu", "redirect", b""),
        ("C", "Tin", "Tin", html, b"<p>Tin melts.</p>"),
        ("M", "Language", "", "text/plain", b"deu"),
    ]
    path = zim(tmp_path / "a.zim", rows)
    found = list(candidates([f"zim:{path}"], {"known": "", "corpus": ""}))
    assert [(row.entity.name, row.language, row.lead) for row in found] == [
        ("Copper", "de", "Copper melts."), ("Tin", "de", "Tin melts."),
    ]  # fmt: skip


def test_a_list_needs_a_wiki_to_be_held_against(tmp_path: Path) -> None:
    entities = table(tmp_path, [{"name": "Tin"}])
    for corpus in ("", f"folder:{tmp_path}"):
        with pytest.raises(BadUsage):
            list(candidates([entities], {"known": "", "corpus": corpus}))


def listed(n: int) -> list[Candidate]:
    """Entities with 0, 1, 2... statements, in two domains in turn."""
    return [
        Candidate(
            entity=Entity(name=f"Town {number}", statements=number),
            domain=("location", "event")[number % 2],
        )
        for number in range(n)
    ]


CONTEXT = StepContext(row=b"", calls={}, seed=42)


def test_thirds_are_of_those_that_are_there() -> None:
    """Of seven with different counts the lowest three are the lowest third, then two, then two;
    fictional ones stay out of it, those without a count are dropped."""
    rows = [
        *listed(7),
        Candidate(entity=Entity(name="Unknown")),
        Candidate(entity=Entity(name="Made up", is_nonexistent=True)),
    ]
    made: Any = thirds_step(0).work(rows, CONTEXT)
    tiers = [made[number].tier for number in range(7)]
    assert tiers == [TIERS[0]] * 3 + [TIERS[1]] * 2 + [TIERS[2]] * 2
    assert made[7] == Drop("statements unknown", "Unknown")
    assert 8 not in made


def test_so_many_are_drawn_of_each_group() -> None:
    """A larger number keeps what was drawn, another seed draws others."""

    def left(step: Any, seed: int = 42) -> set[int]:
        rows = listed(60)
        made = step.work(rows, StepContext(row=b"", calls={}, seed=seed))
        return {n for n in range(60) if not isinstance(made.get(n), Drop)}

    assert len(left(thirds_step(4))) == 3 * 4
    assert left(thirds_step(4)) < left(thirds_step(6))
    of_domains = left(domains_step(5))
    assert sum(n % 2 for n in of_domains) == 5
    assert len(of_domains) == 2 * 5
    assert of_domains != left(domains_step(5), seed=7)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_judge_is_asked_as_it_was_read(language: str) -> None:
    lead = {"en": "Mercury has no moon.", "zh": "水星没有卫星。"}[language]
    entity = Entity(name="Mercury", description="the planet")
    snapshot = SNAPSHOTS / f"ratings.{language}.txt"
    prompt = rate_prompt(Candidate(entity=entity, language=language, lead=lead))
    assert prompt + "\n" == snapshot.read_text(encoding="utf-8")


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main(arguments)
    out, err = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, out, err


def test_the_list_is_asked_as_it_is_and_drawn_from(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command that comes next is a run; a form holds so many, drawn by the seed; exported,
    it is a list that is imported as any."""
    path = dump(tmp_path / "many.xml", *(article(f"Town {n}", n) for n in range(12)))
    folder = str(workspace.folder)
    with serving(Rater()) as server:
        configure(workspace.folder, server.url)
        code, out, err = told(
            capsys, "build", "entities", f"dump:{path}", "--judge", "scripted/judge",
            "--name", "towns", "-w", folder,
        )  # fmt: skip
    assert code == 0, err
    next_one = re.search(r"Fill in: proofstone run (towns-\w+) -m PROVIDER/NAME", err)
    assert next_one is not None, err
    bank = next_one[1]
    forms = workspace.build_form(bank, seeds=[42], name="five", entities=5)
    five = tmp_path / "five.jsonl"
    assert workspace.export(f"form:{forms[0].id.hex()}", five) == 5
    names = {json.loads(line)["name"] for line in five.read_text(encoding="utf-8").splitlines()}
    assert names < {f"Town {n}" for n in range(12)}
    assert told(capsys, "run", bank, "-m", "sim/good", "--dry-run", "-w", folder)[0] == 0
    with pytest.raises(BadInput):
        workspace.build_form(bank, seeds=[42], name="all", entities=13)
    file = tmp_path / "towns.jsonl"
    assert told(capsys, "export", bank, "-o", str(file), "-w", folder)[0] == 0
    code, out, err = told(capsys, "import", str(file), "--as", "entities", "-w", folder, "--json")
    assert code == 0, err
    assert json.loads(out)["rows"] == 12


@pytest.mark.parametrize(
    "wrong", [{"least_rating": 6}, {"per_third": 3}, {"least_length": -1}, {"per_domain": -2}]
)
def test_parameters_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    usual = {parameter.name: parameter.default for parameter in PIPELINES["entities"].parameters}
    with pytest.raises(BadUsage):
        PIPELINES["entities"].make({**usual, **wrong}, {"judge": "scripted/judge"})
