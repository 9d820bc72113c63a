"""``start``: a folder of documents, a pilot, ten questions beside their pages, the rest to do."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from encyclo_k.scripted_author import Author
from proofstone.api import create_workspace, open_workspace
from proofstone.documents.sources import Stated
from proofstone.ingest.ingest import IngestReport, NotRead
from proofstone.session.models import model_choices
from proofstone.start.guide import Answers, keep_answers, kept_answers, languages_of, read_documents
from proofstone.start.text import read_lines
from scripted_server import Act, Seen, answer, models_list
from serving import configure, serving
from told import Proofstone

METALS = ("copper", "silver", "iron", "zinc", "tin", "gold", "platinum", "cobalt")
PLACES = ("in the north", "in the south", "by the coast")
AUTHOR = ("--writer", "scripted/author", "--judge", "scripted/judge")
PRICE = 'price = { input = 2.0, output = 10.0, date = "2026-11-01", source = "https://e.x" }'


class Everybody(Author):
    """The author, who also answers questions, always the same."""

    def __call__(self, seen: Seen) -> Act:
        if seen.json["messages"][-1]["content"].endswith("Answer: X"):
            self.asked["question"] += 1
            return answer("Answer: A")
        return super().__call__(seen)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A folder of three books in two subfolders, one file that is broken and one that is none."""
    folder = tmp_path / "Old Manuals"
    for name, place in zip(("a/north.txt", "a/south.txt", "b/coast.md"), PLACES, strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        lines = [
            f"The metal {metal} found {place} conducts heat better than the other {n} metals known."
            for n, metal in enumerate(METALS, start=2)
        ]
        (folder / name).write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    (folder / "b" / "broken.pdf").write_bytes(b"no pdf")
    (folder / "b" / "table.bin").write_bytes(b"\0")
    return folder


@pytest.fixture
def author() -> Iterator[Everybody]:
    """The models scripted/... while a test runs; ``url`` is where they are."""
    everybody = Everybody()
    with serving(everybody) as server:
        everybody.url = server.url  # type: ignore[attr-defined]
        everybody.server = server  # type: ignore[attr-defined]
        yield everybody


@pytest.fixture
def at(tmp_path: Path, author: Everybody) -> Path:
    create_workspace(tmp_path / "work").close()
    configure(tmp_path / "work", author.url)  # type: ignore[attr-defined]
    with (tmp_path / "work" / "proofstone.toml").open("a", encoding="utf-8") as file:
        file.writelines(
            f'[models."scripted/{name}"]\n{PRICE}\n' for name in ("author", "judge", "one")
        )
    return tmp_path / "work"


def started(proofstone: Proofstone, documents: Path, at: Path, *more: object) -> tuple[int, str]:
    told = proofstone("init", "--guided", documents, "-w", at, *AUTHOR, "-m", "scripted/one", *more)
    return told.code, told.out + told.err


def test_a_start_ends_with_questions_cost_and_a_run_file_whose_commands_work(
    documents: Path, at: Path, author: Everybody, proofstone: Proofstone
) -> None:
    """All that is printed as the next step can be typed, and the last of it is a leaderboard."""
    told = proofstone(
        "init", "--guided", documents, "-w", at, *AUTHOR, "-m", "scripted/one",
        "--yes", "--reviewers", "2",
        "--questions", "12", "--pilot", "6",
    )  # fmt: skip
    assert told.code == 0, told.err
    assert "read     3 documents, 0 pages" in told.err
    assert "not read b/broken.pdf: broken.pdf is damaged" in told.err
    assert "left out no documents: 1 .bin" in told.err
    assert max(len(line) for line in told.out.partition("\npage ")[0].splitlines()) <= 80
    assert told.out.count("\n--- ") == 10
    assert "memory: asked with nothing" in told.out
    assert re.search(r"^  statements  .* \(true and false\)$", told.out, re.MULTILINE)
    assert "Of private documents memory should be near chance." in told.out.replace("\n", " ")
    steps = dict(
        line.split(None, 1) for line in told.out.splitlines() if " proofstone " in line[:20]
    )
    assert list(steps) == ["build", "review", "form", "run", "read"]
    assert (at / "old-manuals-run.toml").read_text(encoding="utf-8") == (
        "# Asks the forms of the bank old-manuals, which are to be built first:\n"
        "# proofstone init --guided prints the commands.\n"
        "targets = [\n"
        '    "old-manuals",\n'
        "]\n"
        'context = ["none", "evidence"]\n'
        "\n"
        '[models."scripted/one"]\n'
    )
    made = author.asked["extract"]
    for command in steps.values():
        done = proofstone(*shlex.split(command)[1:])
        assert done.code == 0, done.err
    assert author.asked["extract"] > made > 0
    assert "With the evidence, ranked separately" in done.out


def test_the_same_command_again_asks_nobody(
    documents: Path, at: Path, author: Everybody, proofstone: Proofstone
) -> None:
    options = ("--yes", "--pilot", "6", "--questions", "20")
    first = started(proofstone, documents, at, *options, "--json")
    asked = dict(author.asked)
    again = started(proofstone, documents, at, *options, "--json", "-q")
    assert author.asked == asked
    assert (first[0], again[0]) == (0, 0)
    found = json.loads(again[1])
    assert found["answers"]["languages"] == []
    assert found["build"]["n_inputs"] == found["n_passages"]
    assert found["build"]["spent"]["calls"] == 0
    (asking,) = found["asked"]
    assert (asking["questions"], asking["sampled"]) == (2 * 20, 2 * 10)
    (row,) = found["side_by_side"]
    assert row["gain"]["value"] == row["reading"]["value"] - row["memory"]["value"] == 0
    page = Path(found["page"]).read_text(encoding="utf-8")
    assert page.count("<article>") == 10
    assert "<mark>The metal" in page
    assert "<script" not in page


def test_a_start_within_the_folder_reads_nothing_that_it_wrote(
    documents: Path, author: Everybody, proofstone: Proofstone
) -> None:
    """The documents' folder may be the workspace itself."""
    create_workspace(documents).close()
    configure(documents, author.url)  # type: ignore[attr-defined]
    counts = []
    for _time in range(2):
        code, said = started(proofstone, documents, documents, "--yes", "--pilot", "6", "--json")
        assert code == 0
        counts.append(
            len(json.loads(said[said.index("{") : said.rindex("}") + 1])["read"]["taken"])
        )
    assert counts == [3, 3]


def test_licensed_documents_are_asked_as_one_wants(
    documents: Path, at: Path, proofstone: Proofstone
) -> None:
    """Only private ones are always asked in both ways."""
    options = ("--yes", "--pilot", "6", "--license", "CC0-1.0", "--want", "reading", "-q")
    code, said = started(proofstone, documents, at, *options)
    assert code == 0
    assert "(context evidence)" in said
    assert "reading - memory" not in said
    with open_workspace(at) as workspace:
        assert {run.settings["context"] for _key, run in workspace.store.runs.every()} == {
            "evidence"
        }


def test_without_a_terminal_all_options_to_give_are_named(
    documents: Path, at: Path, proofstone: Proofstone
) -> None:
    code, said = started(proofstone, documents, at, "--want", "both", "--reviewers", "0")
    assert code == 2
    assert said == (
        "error[PS-201]: no terminal for questions, and these options are missing:\n"
        "  --license NAME, or --private\n"
        "  --languages CODE,...\n"
        "  --questions N\n"
        "  --budget AMOUNT (or --budget none)\n"
        "  help: add them, or --yes for the defaults\n"
    )


def test_without_a_model_the_bundled_one_is_offered(
    tmp_path: Path, documents: Path, proofstone: Proofstone
) -> None:
    create_workspace(tmp_path / "bare").close()
    told = proofstone("init", "--guided", documents, "-w", tmp_path / "bare", "--yes", "-q")
    assert told.code == 2
    assert "no model is named that could write statements" in told.err
    assert "--writer PROVIDER/NAME" in told.err
    assert "bundled one" in told.err


def test_private_documents_stay_on_this_machine(
    tmp_path: Path, documents: Path, proofstone: Proofstone
) -> None:
    """The workspace gets a policy, once, and the models of other machines are refused by it."""
    create_workspace(tmp_path / "bare").close()
    wanted = ("--private", "--yes", "--writer", "openai/gpt-5.1", "--judge", "openai/gpt-5.1")
    for _ in range(2):
        told = proofstone(
            "init", "--guided", documents, "-w", tmp_path / "bare", *wanted, "-m", "none"
        )
        assert told.code != 0
    config = (tmp_path / "bare" / "proofstone.toml").read_text(encoding="utf-8")
    assert config.count('[egress]\nhosts = ["local"]\n') == 1


def test_a_running_local_server_is_offered(
    tmp_path: Path, documents: Path, author: Everybody, proofstone: Proofstone
) -> None:
    """What it lists is a choice without a line of configuration for the model."""
    author.server.listing = lambda _seen: models_list("qwen3:8b")  # type: ignore[attr-defined]
    with create_workspace(tmp_path / "bare") as workspace:
        config = f'[providers.ollama]\nbase_url = "{author.url}"\n'  # type: ignore[attr-defined]
        (workspace.folder / "proofstone.toml").write_text(config, encoding="utf-8")
    with open_workspace(tmp_path / "bare") as workspace:
        here = workspace.models_here()
    reported = [name for name in here if name.startswith("ollama/")]
    assert reported == ["ollama/qwen3:8b"]
    (choice, *_more) = model_choices([], [], here)
    assert (choice.name, choice.costs) == (reported[0], "free: a server on this machine")


def test_copies_of_a_document_are_counted_once(
    tmp_path: Path, documents: Path, proofstone: Proofstone
) -> None:
    copy = documents / "b" / "copy of north.txt"
    copy.write_bytes((documents / "a" / "north.txt").read_bytes())
    with create_workspace(tmp_path / "bare") as workspace:
        report = read_documents(workspace, documents, Stated())
        assert len(report.taken) == len({entry.id for entry in report.taken}) == 3
        assert [Path(name).name for name in report.copies] == ["copy of north.txt"]
        assert sum(languages_of(workspace, report).values()) == sum(
            entry.n_passages for entry in report.taken
        )


def test_what_a_missing_reader_needs_is_said() -> None:
    missing = NotRead(
        file="a.pdf", code="PS-211", why="a.pdf is a PDF, and its reader is not installed",
        hint="pip install 'proofstone[pdf]'",
    )  # fmt: skip
    lines = " ".join(read_lines(IngestReport(taken=(), not_read=(missing,)), {}))
    assert "pip install 'proofstone[pdf]'" in " ".join(lines.split())


def test_a_budget_that_is_none_is_refused_before_anything_is_read(
    documents: Path, at: Path, proofstone: Proofstone
) -> None:
    code, said = started(proofstone, documents, at, "--yes", "--budget", "much")
    assert code == 2
    assert "invalid budget 'much'" in said
    assert "read  " not in said


def test_a_folder_without_documents_is_told(
    tmp_path: Path, at: Path, proofstone: Proofstone
) -> None:
    (tmp_path / "empty").mkdir()
    code, said = started(proofstone, tmp_path / "empty", at, "--yes")
    assert code == 2
    assert "there is no document to read" in said


def test_a_reached_budget_ends_the_pilot_and_says_so(
    documents: Path, at: Path, proofstone: Proofstone
) -> None:
    """What was made until then is kept; a larger budget goes on with it."""
    code, said = started(proofstone, documents, at, "--yes", "--pilot", "6", "--budget", "3ktok")
    assert code == 4
    assert "the pilot ended at its budget" in said


def test_answers_are_kept_between_questions(tmp_path: Path) -> None:
    """Those of another folder stand beside them."""
    mark, one, two = tmp_path / "mark", tmp_path / "one", tmp_path / "two"
    mark.mkdir()
    keep_answers(mark, one, Answers(want="memory", license=""))
    keep_answers(mark, two, Answers(want="both"))
    keep_answers(mark, one, Answers(want="memory", license="", people=3))
    assert kept_answers(mark, one) == Answers(want="memory", license="", people=3)
    assert kept_answers(mark, two) == Answers(want="both")
    assert kept_answers(mark, tmp_path) == Answers()


def test_the_build_that_is_printed_takes_the_languages_that_were_chosen(
    documents: Path, at: Path, author: Everybody, proofstone: Proofstone
) -> None:
    """The forecast counts what the printed command then works on: no passage in another language,
    also where a document mixes them."""
    mixed = documents / "a" / "north.txt"
    text = "这种金属在任何时候都能很好地导热，而且比其他金属更好。"
    mixed.write_text(mixed.read_text(encoding="utf-8") + f"\n{text}\n", encoding="utf-8")
    (documents / "chinese.txt").write_text(text, encoding="utf-8")
    told = proofstone(
        "init", "--guided", documents, "-w", at, *AUTHOR, "-m", "none", "--yes", "--pilot", "4",
        "--questions", "4", "--languages", "en-GB", "--json", "-q",
    )  # fmt: skip
    assert told.code == 0, told.err
    found = told.json
    assert found["languages"] == {"en": 3 * 8, "zh": 2}
    assert found["n_passages"] == found["build"]["n_inputs"] == 3 * 8
    command = dict(found["next_steps"])["build"]
    assert " --languages en " in command
    done = proofstone(*shlex.split(command)[1:], "--json")
    assert done.code == 0, done.err
    with open_workspace(at) as workspace:
        bank = workspace.store.knowledge.bank(bytes.fromhex(done.json["bank"]))
        assert {fact.language for fact in bank.facts()} == {"en"}
    assert done.json["funnel"]["steps"][0]["entered"] == 3 * 8


def test_documents_that_were_ingested_stay_the_sources_that_they_are(
    documents: Path, at: Path, proofstone: Proofstone
) -> None:
    """What was stated of them then holds, and it is said; another licence makes other sources."""
    (documents / "meta.csv").write_text(
        "file,title,licence,language,discipline,book\n"
        "north.txt,The North,CC-BY-4.0,zh,Metallurgy,Metals\n"
        "south.txt,The South,CC-BY-4.0,,Metallurgy,Metals\n",
        encoding="utf-8",
    )
    ingested = proofstone("ingest", documents / "a", "--meta", documents / "meta.csv", "-w", at)
    assert ingested.code == 0, ingested.err
    options = ("--yes", "--pilot", "4", "--questions", "4", "--want", "memory", "-m", "none")
    told = proofstone("init", "--guided", documents, "-w", at, *AUTHOR, *options)
    assert told.code == 0, told.err
    assert (
        "kept 2 documents were here, and stay the sources that they are, with what was stated "
        "of them (license: CC-BY-4.0)"
    ) in " ".join(told.err.split())
    with open_workspace(at) as workspace:
        sources = [workspace.find(found.id.hex(), "source").name for found in
                   workspace.store.lookup.every("source")]  # fmt: skip
        assert sorted(sources) == ["The North", "The South", "coast"]
        north = workspace.find("The North", "source").id
        kept = list(workspace.store.knowledge.passages_of(north))
        assert [passage.language for passage in kept] == ["zh"] * 8
        assert workspace.document_of(north).name == "north.txt"
    other = proofstone(
        "init", "--guided", documents, "-w", at, *AUTHOR, *options, "--license", "CC0-1.0"
    )
    assert other.code == 0, other.err
    assert "were here" not in other.err
    with open_workspace(at) as workspace:
        assert len(list(workspace.store.lookup.every("source"))) == 2 * 3


def test_documents_of_an_unknown_license_are_private(
    documents: Path, at: Path, proofstone: Proofstone
) -> None:
    """And it is said, with what changes it; so are documents that count as public."""
    options = ("--yes", "--pilot", "4", "--questions", "4", "--want", "memory", "-m", "none")
    told = proofstone(
        "init",
        "--guided",
        documents,
        "-w",
        at,
        *AUTHOR,
        *options,
        "--license",
        "internal",
        "--json",
    )
    assert (told.json["private"], told.json["contexts"]) == (True, ["none", "evidence"])
    assert "private 3 documents (license 'internal' 3): a license that permits" in " ".join(
        told.err.split()
    )
    told = proofstone(
        "init", "--guided", documents, "-w", at, *AUTHOR, *options, "--license", "public", "--json"
    )
    assert told.json["private"] is False
    assert "public 3 documents (license 'public' 3); --license private changes that" in " ".join(
        told.err.split()
    )


def test_documents_that_all_have_a_licence_are_not_private(
    documents: Path, at: Path, proofstone: Proofstone
) -> None:
    """Also where the licence was stated before the start, and nothing is said of it now."""
    proofstone("ingest", documents, "--license", "CC0-1.0", "-w", at)
    options = ("--yes", "--pilot", "4", "--questions", "4", "--want", "memory", "--json", "-q")
    told = proofstone("init", "--guided", documents, "-w", at, *AUTHOR, "-m", "none", *options)
    assert told.code == 0, told.err
    assert (told.json["private"], told.json["contexts"]) == (False, ["none"])
