"""``build reference``: what a corpus says of each entity, from its article to rows that
``verify-triples`` takes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.dump_files import dump, page
from ingest.zim_files import zim
from proofstone.api import Workspace, create_workspace
from proofstone.build.build import BuildResult
from proofstone.cli import main
from proofstone.errors import BadInput, BadUsage, NotFound
from proofstone.ingest.ingest import ingest_paths
from proofstone.methods.bequ.bank import About, EntityText, Known, Taken
from proofstone.methods.bequ.entities import is_named
from proofstone.methods.bequ.reference import PIPELINES, entity_texts, passages_step, take_prompt
from proofstone.records.builds import StepContext
from scripted_server import Act, Seen, answer
from serving import HurriedClock, configure, serving

SNAPSHOTS = Path(__file__).parent / "snapshots"
COPPER = "Copper is a metal. Copper melts at 1085 degrees. It was named after Cyprus."
TIN = "Tin melts at 232 degrees. Its ore is cassiterite. Nothing else is said."
ENTITIES = [
    {"name": "Copper", "aliases": "Cu", "wikidata": "Q753", "domain": "scientific concept"},
    {"name": "Stannum", "wikidata": "Q1096"},
    {"name": "Kryptonium"},
    {"name": "Mercury"},
    {"name": "Vibranium", "nonexistent": True},
]
PAGES = (
    page("Copper", f"'''Copper'''{COPPER[6:]}", number=1),
    page("Cu", "#REDIRECT [[Copper]]", redirect="Copper", number=2),
    page("Tin", TIN, number=3),
    page("stannum", "#REDIRECT [[Tin]]", redirect="Tin", number=4),
    page("Mercury", "'''Mercury''' may be:\n* a metal\n{{disambiguation}}", number=5),
    page("Talk:Copper", "Talk of copper.", ns=1, number=6),
)
_NAME = re.compile(r"What it is about: (.*?)(?: \(.*\))?\n")
_FACT = re.compile(r"(melts at|named after|ore is) ([\w ]+)")
_PASSAGE = re.compile(r"\[passage \| begin [0-9a-f]{8}\]\n(.*?)\n\[", re.DOTALL)


class Author:
    """Takes "SUBJECT melts at X" and "named after X" as triples, and says the rest as it is."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, seen: Seen) -> Act:
        prompt = seen.json["messages"][-1]["content"]
        name, passage = _NAME.search(prompt), _PASSAGE.search(prompt)
        assert name is not None
        assert passage is not None
        self.asked.append(passage[1])
        if "mumbled" in passage[1]:
            return answer("There is much that could be said.")
        found = [
            {"subject": name[1], "predicate": predicate, "object": value}
            for predicate, value in re.findall(
                r"(melts at|named after|ore is) ([\w ]+)", passage[1]
            )
        ]
        if "Cyprus" in passage[1]:
            found.append({"subject": "Cyprus", "predicate": "kind", "object": "island"})
        return answer(json.dumps(found))


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        yield opened


def listed(folder: Path, rows: list[dict[str, Any]] | None = None) -> str:
    path = folder / "entities.json"
    path.write_text(json.dumps(ENTITIES if rows is None else rows), encoding="utf-8")
    return str(path)


def built(workspace: Workspace, entities: str, corpus: str, **params: Any) -> BuildResult:
    return workspace.build_in_steps(
        "reference", [entities], name="metals", models="scripted/author", corpus=corpus, **params
    )


def dropped(result: BuildResult) -> dict[str, int]:
    return {reason: n for step in result.funnel.steps for reason, n in step.dropped.items() if n}


def made_zim(folder: Path) -> Path:
    html = "text/html"
    rows = [
        ("C", "Copper", "Copper", html, f"<p>{COPPER}</p>".encode()),
        ("C", "Cu", "Cu", "redirect", b""),
        ("C", "A/Tin", "Stannum", html, f"<p>{TIN}</p>".encode()),
        ("C", "Mercury", "Mercury", html, b'<div class="dmbox">Mercury may be</div>'),
        ("M", "Date", "", "text/plain", b"2024-02-03"),
        ("M", "Language", "", "text/plain", b"eng"),
    ]
    return zim(folder / "metals.zim", rows)


def made_folder(folder: Path) -> Path:
    documents = folder / "documents"
    documents.mkdir()
    (documents / "cu.txt").write_text(COPPER + "\n", encoding="utf-8")
    (documents / "of tin.md").write_text(f"# Stannum\n\n{TIN}\n", encoding="utf-8")
    (documents / "other.txt").write_text("Iron rusts.\n", encoding="utf-8")
    return documents


def test_a_dump_becomes_what_verification_takes(workspace: Workspace, tmp_path: Path) -> None:
    """Redirects are followed; entities without a text are told; a triple about something else is
    dropped; each row has its passage and where that is from."""
    path = dump(tmp_path / "wiki.xml", *PAGES)
    with serving(Author()) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, listed(tmp_path), f"dump:{path}")
    assert dropped(result) == {
        "no article": 1, "article of meanings": 1, "nonexistent": 1, "of something else": 1,
    }  # fmt: skip
    assert result.bank is not None
    rows = exported(workspace, result)
    assert sorted(
        (row["entity"], row.get("predicate", ""), row.get("object", "")) for row in rows
    ) == [
        ("Copper", "", ""),
        ("Copper", "melts at", "1085 degrees"),
        ("Copper", "named after", "Cyprus"),
        ("Stannum", "", ""),
        ("Stannum", "melts at", "232 degrees"),
        ("Stannum", "ore is", "cassiterite"),
    ]
    copper = next(row for row in rows if row.get("object") == "Cyprus")
    assert copper["passage"] == COPPER
    names = ("wikidata_id", "domain", "source", "title", "url", "date")
    assert [copper[name] for name in names] == [
        "Q753", "scientific concept", "wiki", "Copper", "https://m.example/wiki/Copper",
        "2020-01-01",
    ]  # fmt: skip
    assert re.fullmatch("[0-9a-f]{64}", copper["content"])


def exported(workspace: Workspace, result: BuildResult) -> list[dict[str, Any]]:
    """The bank's rows, which make the same bank when they are read again."""
    assert result.bank is not None
    file = workspace.folder / "reference.jsonl"
    workspace.export(f"bank:{result.bank.id.hex()}", file)
    text = file.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("kind", ["zim", "folder"])
def test_a_zim_file_and_a_folder_say_the_same(
    workspace: Workspace, tmp_path: Path, kind: str
) -> None:
    path = made_zim(tmp_path) if kind == "zim" else made_folder(tmp_path)
    with serving(Author()) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, listed(tmp_path), f"{kind}:{path}")
    said = {
        (row["entity"], row["predicate"], row["object"])
        for row in exported(workspace, result)
        if "predicate" in row
    }
    assert said == {
        ("Copper", "melts at", "1085 degrees"), ("Copper", "named after", "Cyprus"),
        ("Stannum", "melts at", "232 degrees"), ("Stannum", "ore is", "cassiterite"),
    }  # fmt: skip


def test_a_list_of_the_workspace_is_an_input_as_its_file_is(
    workspace: Workspace, tmp_path: Path
) -> None:
    """The same list imported and named gives the same bank; what is no list is told with what
    there is."""
    path = dump(tmp_path / "wiki.xml", *PAGES)
    entities = listed(tmp_path)
    with serving(Author()) as server:
        configure(workspace.folder, server.url)
        of_file = built(workspace, entities, f"dump:{path}")
        workspace.import_form(Path(entities), method="bequ")
        of_list = built(workspace, "entities", f"dump:{path}")
    assert of_list.bank == of_file.bank
    with pytest.raises(NotFound) as raised:
        built(workspace, "nothing", f"dump:{path}")
    assert "entities-" in str(raised.value.hint)
    with pytest.raises(NotFound, match=r"file not found: nothing\.csv"):
        built(workspace, "nothing.csv", f"dump:{path}")


def test_what_the_next_command_takes(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command says what to do next; exported, the bank is a reference in a file, and a bank
    again."""
    path = dump(tmp_path / "wiki.xml", *PAGES)
    folder = str(workspace.folder)
    with serving(Author()) as server:
        configure(workspace.folder, server.url)
        code, out, err = told(
            capsys, "build", "reference", listed(tmp_path), "--corpus", f"dump:{path}",
            "-m", "scripted/author", "-w", folder, "--name", "metals",
        )  # fmt: skip
    assert code == 0, err
    assert re.search(r"^bank +metals-\w+ +6 reference", out, re.MULTILINE), out
    bank = re.search(r"Fill in: proofstone grade RUN --judge PROVIDER/NAME --reference (\S+)", err)
    assert bank is not None, err
    reference = tmp_path / "reference.jsonl"
    assert told(capsys, "export", bank[1], "-o", str(reference), "-w", folder)[0] == 0
    triples = tmp_path / "triples.csv"
    triples.write_text(
        "subject,predicate,object,subject_name\nCopper,melts at,1085 degrees,Copper\n"
        "Vibranium,kind,metal,Vibranium\n",
        encoding="utf-8",
    )
    code, out, err = told(
        capsys, "grade", str(triples), "--reference", str(reference), "--dry-run", "--json"
    )
    assert code == 0, err
    asked = json.loads(out)
    assert (asked["precision"], asked["recall"]) == (2, 4)
    again = told(
        capsys, "import", str(reference), "--as", "bank", "-w", folder, "--method", "bequ", "--json"
    )
    assert json.loads(again[1])["bank"] == workspace.find(bank[1], "bank").id.hex(), again


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main(arguments)
    out, err = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, out, err


def test_a_reply_without_triples_costs_its_passage_nothing(
    workspace: Workspace, tmp_path: Path
) -> None:
    """An unreadable reply is asked for again, told, and the passage stays for judges to read; of a
    passage about nothing of the kind the same."""
    path = dump(
        tmp_path / "wiki.xml", page("Copper", "It is mumbled of."), page("Tin", "Nothing of it.")
    )
    entities = listed(tmp_path, [{"name": "Copper"}, {"name": "Tin"}])
    author = Author()
    with serving(author) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, entities, f"dump:{path}")
        again = built(workspace, entities, f"dump:{path}")
    assert dropped(result) == {"unparsed response": 1, "no triple in it": 1}
    assert Counter(author.asked) == {"It is mumbled of.": 2, "Nothing of it.": 1}
    assert sorted(row["text"] for row in exported(workspace, result)) == [
        "It is mumbled of.", "Nothing of it.",
    ]  # fmt: skip
    assert again.bank == result.bank


def test_the_sources_of_a_workspace_are_searched_for_names(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Passages that name an entity as a word are its texts, each naming the passage it stands in; a
    part of a longer word names nothing."""
    document = tmp_path / "Metals.md"
    document.write_text(
        f"# Metals\n\n{COPPER}\n\nCoppery things are red, and cuprous ones too.\n\n{TIN}\n"
        "\nWith Stannum one means what melts at 232 degrees.\n",
        encoding="utf-8",
    )
    ingest_paths(workspace.store, [document], clock=workspace.clock)
    with serving(Author()) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, listed(tmp_path), "sources")
    assert dropped(result) == {"no article": 2, "nonexistent": 1, "of something else": 1}
    said = {
        (row["entity"], row["predicate"], row["object"], row["title"])
        for row in exported(workspace, result)
        if "predicate" in row
    }
    assert said == {
        ("Copper", "melts at", "1085 degrees", "Metals"),
        ("Copper", "named after", "Cyprus", "Metals"),
        ("Stannum", "melts at", "232 degrees", "Metals"),
    }
    assert result.bank is not None
    facts = workspace.store.knowledge.bank(result.bank.id).facts()
    passages = workspace.store.knowledge.passages([fact.passage for fact in facts if fact.passage])
    assert all(fact.payload.passage in passages[fact.passage].text for fact in facts)


def test_what_is_sent_of_the_workspace_is_known_before_it_is() -> None:
    """A step that asks about passages that a search found says that it reads the search: so what
    may leave is looked at for all sources."""
    builder = PIPELINES["reference"]
    usual = {parameter.name: parameter.default for parameter in builder.parameters}
    made = builder.make({**usual, "corpus": "sources"}, {"author": "scripted/author"})
    assert [step.reads for step in made.steps if step.asks] == [("search:bm25",)]


def texts(tmp_path: Path, corpus: str, rows: list[dict[str, Any]]) -> list[EntityText]:
    return list(entity_texts([listed(tmp_path, rows)], {"corpus": corpus}))


def test_names_in_other_scripts_and_cases_find_their_articles(tmp_path: Path) -> None:
    """The description in brackets comes before the name, underscores and case do not count, and the
    address of a page comes before all."""
    path = dump(
        tmp_path / "wiki.xml",
        page("铜", "铜的熔点为1085度。", number=1),
        page("نحاس", "النحاس معدن.", number=2),
        page("Mercury (planet)", "A planet.", number=3),
        page("Mercury", "A god.", number=4),
        page("Iron Man", "A film.", number=5),
        page("Ferrum", "A metal.", number=6),
    )
    rows = [
        {"name": "铜"},
        {"name": "نحاس"},
        {"name": "Mercury", "description": "planet"},
        {"name": "iron_man"},
        {"name": "Iron", "wikipedia": "https://m.example/wiki/Ferrum"},
    ]
    found = texts(tmp_path, f"dump:{path}", rows)
    assert {row.about.name: row.taken.title for row in found if row.taken} == {
        "铜": "铜", "نحاس": "نحاس", "Mercury": "Mercury (planet)", "iron_man": "Iron Man",
        "Iron": "Ferrum",
    }  # fmt: skip


def test_a_document_is_named_for_one_entity_whatever_points_its_name_has(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    for name in ("Dr. No.txt", "Dr.txt", "Zinc.txt"):
        (folder / name).write_text(f"What is said in {name}.\n", encoding="utf-8")
    address = "https://m.example/wiki/Zinc"
    rows = [
        {"name": "Dr. No"},
        {"name": "Zink", "wikipedia": address},
        {"name": "Spelter", "wikipedia": address},
    ]
    found = texts(tmp_path, f"folder:{folder}", rows)
    assert [(row.about.name, row.missing or (row.taken and row.taken.text)) for row in found] == [
        ("Dr. No", "What is said in Dr. No.txt.\n"), ("Zink", "no article"),
        ("Spelter", "no article"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "holds"),
    [
        ("Ulm", "In Ulm.", True), ("Ulm", "Ulmer", False), ("Ulm", "«Ulm»", True),
        ("Ulm", "乌尔姆Ulm是", True), ("Ulm", "Ulmé", False), ("Éire", "béire", False),
        ("Рим", "Прим", False), ("Рим", "в Рим.", True), ("Ρώμη", "Ρώμης", False),
        ("铜", "黄铜矿", True), ("نحاس", "والنحاس", True), ("서울", "서울은", True),
        ("C++", "C++11", True), ("C", "Cu", False),
    ],
)  # fmt: skip
def test_a_name_is_found_as_a_word_where_spaces_part_words(
    name: str, text: str, *, holds: bool
) -> None:
    assert is_named(text, [name]) is holds


def test_what_names_do_not_tell_apart_is_told(tmp_path: Path) -> None:
    """A name that two entities have finds no article for either; two entities that lead to one
    article get none of it; without numbers for both, nothing is begun."""
    path = dump(
        tmp_path / "wiki.xml",
        page("Mercury", "A god.", number=1),
        page("Tin", TIN, number=2),
        page("Stannum", "#REDIRECT [[Tin]]", redirect="Tin", number=3),
        page("Zinn", "#REDIRECT [[Gone]]", redirect="Gone", number=4),
    )
    rows = [
        {"name": "Mercury", "description": "planet", "wikidata": "Q308"},
        {"name": "Mercury", "description": "element", "wikidata": "Q925"},
        {"name": "Tin"},
        {"name": "Stannum"},
        {"name": "Zinn"},
    ]
    found = texts(tmp_path, f"dump:{path}", rows)
    assert [(row.missing, row.sought) for row in found] == [
        ("no article", "looked up Mercury (planet); not Mercury, shared with other entities"),
        ("no article", "looked up Mercury (element); not Mercury, shared with other entities"),
        ("article of several entities", "Tin: Stannum"),
        ("article of several entities", "Tin: Tin"),
        ("no article", "looked up Zinn; a redirect to Gone, which does not exist"),
    ]  # fmt: skip
    rows[1].pop("wikidata")
    with pytest.raises(BadInput) as told_of:
        texts(tmp_path, f"dump:{path}", rows)
    assert [problem.where for problem in told_of.value.problems] == ['entity "Mercury"']


def test_an_article_of_two_megabytes_is_cut_at_its_sentences() -> None:
    """Every sentence is in one passage, none of which is longer than asked for."""
    sentences = [f"Of copper fact number {number} is true." for number in range(60_000)]
    text = " ".join(sentences)
    assert len(text) > 2_000_000
    row = EntityText(about=About(name="Copper"), taken=Taken(text=text, source="wiki"))
    made = passages_step(200).work(row, StepContext(row=b"", calls={}))
    assert isinstance(made, list)
    passages = [each.taken.text for each in made if not each.is_asked]
    assert " ".join(passages) == text
    assert max(len(each) for each in passages) <= 4 * 200
    assert all(each.endswith(" is true.") for each in passages)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_prompts_are_as_they_were_read_for_references(language: str) -> None:
    about = About(name='The "Mercury"', description="the planet", aliases=("Mercurius", "Hermes"))
    text = {"en": "It has no moon.", "zh": "它没有卫星。"}[language]
    row = Known(about=about, taken=Taken(text=text, source="wiki", language=language))
    snapshot = SNAPSHOTS / f"reference.{language}.txt"
    assert take_prompt(row) + "\n" == snapshot.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("corpus", "error"),
    [
        ("", BadUsage),
        ("wiki.xml", BadUsage),
        ("dump:", BadUsage),
        ("dump:absent.xml", NotFound),
        ("zim:.", BadUsage),
    ],
)
def test_a_corpus_that_is_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, corpus: str, error: type[Exception]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error):
        list(entity_texts([listed(tmp_path)], {"corpus": corpus}))
